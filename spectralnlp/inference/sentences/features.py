"""Hashed features of the gaps between the tokens of a text, for finding sentence ends.

A feature is a hash of its template number and its values; the low bits are the index of its weight. The
values describe the tokens between the last sentence end and the gap, and the next few tokens after the gap.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from spectralnlp.inference.trees.hashing import GOLDEN, mix
from spectralnlp.jit import kernel, kernel_part
from spectralnlp.parameters import Offsets

# Number of tokens after a gap that features may look at.
AHEAD = 12

# Number of features of a gap.
N_FEATURES = 66

# Cases of tokens: small letters only, an initial capital, capitals only, a single capital letter, no letter
# but a digit, neither letter nor digit, and all others.
SMALL, CAPITAL, CAPITALS, LETTER, NUMBER, MARK, MIXED = range(7)

# Kinds of tokens, a bit each. ``NEVER_FIRST``: no sentence begins with it. ``POINTS``: a mark whose meaning
# depends on whether whitespace precedes or follows it; ``UPRIGHT``: such a mark that is a quotation mark.
VERB, OPENS, CLOSES, STOP, NEVER_FIRST, POINTS, UPRIGHT = (1 << bit for bit in range(7))

# The value of a token beyond the sentence or the text; other values are at least 0.
OUTSIDE = -1

_MAX_DEPTH = 3
_FAR = 20  # number of tokens before a gap that are searched for the word after it


class TextTokens(NamedTuple):
    """Tokens of a text, encoded as numbers.

    Attributes:
        word: int64 (n_tokens,); hash of the lowercased word, or of a rare word's signature. For dashes
            and upright quotation marks, it also encodes on which sides there is whitespace.
        name: int64 (n_tokens,); hash of the lowercased word.
        tag, second: int64 (n_tokens,); codes of the word's most and second most probable tag.
        case: int64 (n_tokens,); one of the constants ``SMALL``, ``CAPITAL`` and so on.
        kind: int64 (n_tokens,); sum of the bits ``VERB``, ``OPENS`` and so on that apply to the token.
        rule: int64 (n_tokens,); 1 where rule-based splitting ends a sentence before the token, else 0.
        free: int64 (n_tokens,); 1 or 2 where the model decides, not the rules: whitespace precedes the token,
            and a sentence can begin with it (it is not ``NEVER_FIRST``). 2 if no mark shows an end.
    """

    word: Offsets
    name: Offsets
    tag: Offsets
    second: Offsets
    case: Offsets
    kind: Offsets
    rule: Offsets
    free: Offsets


class SentencePrefix(NamedTuple):
    """Summary of a sentence from its beginning up to a gap between tokens.

    Attributes:
        start: index of the sentence's first token.
        previous: :func:`code_of_last` of the previous sentence's last token; OUTSIDE if there is none.
        verb: 1 if the sentence has a verb, else 0.
        capitals, smalls: number of words that begin with a capital, and number of ``SMALL`` words.
        depth: number of open brackets and quotations, at most three.
    """

    start: int
    previous: int
    verb: int
    capitals: int
    smalls: int
    depth: int


@kernel_part
def begin(start: Any, previous: Any) -> SentencePrefix:
    """Return the `SentencePrefix` of a sentence without tokens, to which `extend` adds them.

    Args:
        start, previous: see `SentencePrefix`.
    """
    return SentencePrefix(start, previous, 0, 0, 0, 0)


@kernel_part
def extend(prefix: Any, case: Any, kind: Any) -> SentencePrefix:
    """Return the `SentencePrefix` (features of a sentence's first tokens) after one more token.

    Args:
        prefix: the `SentencePrefix` before the token.
        case, kind: case and kind of the token, see `TextTokens`.
    """
    verb, depth = prefix.verb, prefix.depth
    capitals, smalls = prefix.capitals, prefix.smalls
    if case in (CAPITAL, CAPITALS, LETTER):
        capitals += 1
    elif case == SMALL:
        smalls += 1
    if kind & VERB:
        verb = 1
    if kind & OPENS:
        depth = min(depth + 1, _MAX_DEPTH)
    elif kind & CLOSES:
        depth = max(depth - 1, 0)
    return SentencePrefix(prefix.start, prefix.previous, verb, capitals, smalls, depth)


@kernel_part
def code_of_last(name: Any, case: Any) -> Any:
    """Return a code of a sentence's last token, which helps to find the end of the next sentence.

    The code is the hash of a punctuation mark, or the case (`TextTokens`) of any other token.
    """
    return name if case == MARK else case


@kernel_part
def _share_of_smalls(prefix: Any) -> int:
    """Return a class of the share of lower-case words in a sentence so far: 0 none, 1 up to a third, 2 more.

    Args:
        prefix: summary of the sentence, with counts of lower-case and capitalised words.
    """
    if prefix.smalls == 0:
        return 0
    return 1 if prefix.smalls * 2 <= prefix.capitals else 2


@kernel_part
def _at(values: Any, place: Any, first: Any, last: Any) -> Any:
    """Return the value of a token, or OUTSIDE if its index is not in ``first:last``."""
    return values[place] if first <= place < last else OUTSIDE


@kernel_part
def _count_class(n: Any) -> int:
    """Map a count to a class, for use as a feature: 0 to 4 each have a class, then classes grow wider."""
    if n <= 4:
        return int(n)
    if n <= 9:
        return 5 if n <= 6 else 6
    if n <= 22:
        return 7 if n <= 14 else 8
    return 9 if n <= 35 else 10


@kernel_part
def _feature(template: int, a: Any, b: Any, c: Any, d: Any) -> Any:
    code = mix(np.uint64(template) * GOLDEN, np.uint64(a + 1))
    code = mix(code, np.uint64(b + 1))
    code = mix(code, np.uint64(c + 1))
    return np.uint32(mix(code, np.uint64(d + 1)))


@kernel
def _write_neighbours(text, start, gap, last, codes):
    """Write features 0 to 31: words, tags and cases of the tokens next to the gap; see `gap_features`."""
    w, t, c, rule = text.word, text.tag, text.case, text.rule[gap]
    w3, w2, w1 = _at(w, gap - 3, start, last), _at(w, gap - 2, start, last), w[gap - 1]
    t3, t2, t1 = _at(t, gap - 3, start, last), _at(t, gap - 2, start, last), t[gap - 1]
    c3, c2, c1 = _at(c, gap - 3, start, last), _at(c, gap - 2, start, last), c[gap - 1]
    w_0, w_1, w_2 = w[gap], _at(w, gap + 1, start, last), _at(w, gap + 2, start, last)
    t_0, t_1, t_2 = t[gap], _at(t, gap + 1, start, last), _at(t, gap + 2, start, last)
    c_0, c_1, c_2 = c[gap], _at(c, gap + 1, start, last), _at(c, gap + 2, start, last)
    t_3, c_3 = _at(t, gap + 3, start, last), _at(c, gap + 3, start, last)
    codes[0] = _feature(0, w1, 0, 0, 0)
    codes[1] = _feature(1, w_0, 0, 0, 0)
    codes[2] = _feature(2, w1, w_0, 0, 0)
    codes[3] = _feature(3, w2, w1, c_0, 0)
    codes[4] = _feature(4, w_0, w_1, c1, 0)
    codes[5] = _feature(5, w3, w2, w1, 0)
    codes[6] = _feature(6, w_0, w_1, w_2, 0)
    codes[7] = _feature(7, w2, w1, w_0, 0)
    codes[8] = _feature(8, w1, c_0, rule, 0)
    codes[9] = _feature(9, w1, t_0, c_0, 0)
    codes[10] = _feature(10, t1, w_0, c_0, 0)
    codes[11] = _feature(11, w1, c_0, c_1, 0)
    codes[12] = _feature(12, c1, w_0, rule, 0)
    codes[13] = _feature(13, w2, c1, c_0, 0)
    codes[14] = _feature(14, w_1, c_0, t1, 0)
    codes[15] = _feature(15, w_1, t_0, c1, 0)
    codes[16] = _feature(16, rule, w_0, w_1, 0)
    codes[17] = _feature(17, t1, t_0, rule, 0)
    codes[18] = _feature(18, t1, c_0, t_0, c1)
    codes[19] = _feature(19, t2, t1, t_0, 0)
    codes[20] = _feature(20, t1, t_0, t_1, 0)
    codes[21] = _feature(21, t2, t1, t_0, t_1)
    codes[22] = _feature(22, t_0, t_1, t_2, 0)
    codes[23] = _feature(23, t3, t2, t1, 0)
    codes[24] = _feature(24, t_0, t_1, t_2, t_3)
    codes[25] = _feature(25, t_0, text.second[gap], t1, text.second[gap - 1])
    codes[26] = _feature(26, rule, c_0, 0, 0)
    codes[27] = _feature(27, c1, c_0, c_1, 0)
    codes[28] = _feature(28, c2, c1, c_0, c_1)
    codes[29] = _feature(29, c_0, c_1, c_2, c_3)
    codes[30] = _feature(30, c3, c2, c1, c_0)
    codes[31] = _feature(31, 0, 0, 0, 0)


@kernel
def _write_sentence(text, prefix, gap, last, codes):
    """Write features 32 to 51: properties of a sentence that would end at the gap; see `gap_features`."""
    start, previous, verb, depth = prefix.start, prefix.previous, prefix.verb, prefix.depth
    rule, w1, t1, c1 = text.rule[gap], text.word[gap - 1], text.tag[gap - 1], text.case[gap - 1]
    w_0, c_0, c_1 = text.word[gap], text.case[gap], _at(text.case, gap + 1, start, last)
    ws, ts, cs, length = text.word[start], text.tag[start], text.case[start], _count_class(gap - start)
    small = _share_of_smalls(prefix)
    same = 1 if text.name[gap] == text.name[start] else 0
    again = _again(text, start, gap, last)
    codes[32] = _feature(32, length, rule, 0, 0)
    codes[33] = _feature(33, length, verb, c_0, rule)
    codes[34] = _feature(34, length, verb, c_0, c1)
    codes[35] = _feature(35, length, t1, c_0, 0)
    codes[36] = _feature(36, verb, small, c_0, c1)
    codes[37] = _feature(37, small, c1, c_0, c_1)
    codes[38] = _feature(38, ws, verb, c_0, 0)
    codes[39] = _feature(39, ws, length, c_0, 0)
    codes[40] = _feature(40, ts, verb, text.tag[gap], c_0)
    codes[41] = _feature(41, cs, small, c_0, length)
    codes[42] = _feature(42, depth, w1, c_0, 0)
    codes[43] = _feature(43, depth, rule, c_0, 0)
    codes[44] = _feature(44, depth, w_0, c1, 0)
    codes[45] = _feature(45, previous, rule, c_0, 0)
    codes[46] = _feature(46, previous, ws, c_0, 0)
    codes[47] = _feature(47, previous, length, verb, c_0)
    codes[48] = _feature(48, previous, w1, c_0, 0)
    codes[49] = _feature(49, same, w_0, t1, length)
    codes[50] = _feature(50, again, same, c_0, verb)
    codes[51] = _feature(51, again, c1, c_0, small)


@kernel
def _again(text, start, gap, last):
    """Return how many of the two words after a gap also occur, in this order, shortly before it.

    Returns:
        2 for both words, 1 for the first word alone, 0 for neither. It is also 0 if the token after the gap
        is a lower-case word or a punctuation mark.
    """
    if text.case[gap] == SMALL or text.case[gap] == MARK:
        return 0
    again = 0
    for i in range(max(start, gap - _FAR), gap):
        if text.name[i] == text.name[gap]:
            again = 1
            if i + 1 < gap and gap + 1 < last and text.name[i + 1] == text.name[gap + 1]:
                return 2
    return again


@kernel
def _write_ahead(text, prefix, gap, last, codes):
    """Write features 52 to 65: distances to the next verb, full stop, lower-case and capitalised word.

    See `gap_features` for the arguments.
    """
    verb_at, stop_at, small_at, capital_at = AHEAD, AHEAD, AHEAD, AHEAD
    for i in range(min(AHEAD, last - gap) - 1, -1, -1):
        case, kind = text.case[gap + i], text.kind[gap + i]
        if kind & STOP:
            stop_at = i
        if kind & VERB:
            verb_at = i
        if case == SMALL:
            small_at = i
        if i > 0 and case in (CAPITAL, CAPITALS):
            capital_at = i
    clause = 2 if verb_at > stop_at else 1 if verb_at == AHEAD else 0  # 0: a verb comes before any stop
    verb_at, stop_at, small_at, capital_at = (
        _count_class(verb_at),
        _count_class(stop_at),
        _count_class(small_at),
        _count_class(capital_at),
    )
    verb, rule = prefix.verb, text.rule[gap]
    w1, t1, c1 = text.word[gap - 1], text.tag[gap - 1], text.case[gap - 1]
    w_0, t_0, c_0 = text.word[gap], text.tag[gap], text.case[gap]
    small = _share_of_smalls(prefix)
    codes[52] = _feature(52, verb, small, c_0, clause)
    codes[53] = _feature(53, verb, clause, verb_at, c_0)
    codes[54] = _feature(54, verb_at, stop_at, c_0, rule)
    codes[55] = _feature(55, small_at, capital_at, c_0, small)
    codes[56] = _feature(56, small_at, verb, c1, c_0)
    codes[57] = _feature(57, c1, c_0, stop_at, verb_at)
    codes[58] = _feature(58, c1, c_0, small_at, verb_at)
    codes[59] = _feature(59, t1, small_at, verb, c_0)
    codes[60] = _feature(60, verb, clause, t_0, t1)
    codes[61] = _feature(61, verb, t_0, _at(text.tag, gap + 1, gap, last), t1)
    codes[62] = _feature(62, w_0, verb, c1, 0)
    codes[63] = _feature(63, w_0, clause, c1, verb)
    codes[64] = _feature(64, w1, verb, clause, c_0)
    codes[65] = _feature(65, t_0, verb_at, c1, c_0)


@kernel
def gap_features(text, prefix, gap, last, codes):
    """Compute the hashed features of a gap between tokens, which decide if a sentence ends there.

    Args:
        text: TextTokens.
        prefix: SentencePrefix; summary of the sentence up to the gap.
        gap: index of the token after the gap.
        last: number of tokens in the text.
        codes: uint32 (N_FEATURES,); output, the features.
    """
    _write_neighbours(text, prefix.start, gap, last, codes)
    _write_sentence(text, prefix, gap, last, codes)
    _write_ahead(text, prefix, gap, last, codes)


@kernel
def gap_score(text, prefix, gap, last, weights, codes):
    """Return the log-odds of a sentence end at a gap, and write the features of the gap to ``codes``.

    Args:
        text, prefix, gap, last, codes: as for `gap_features`.
        weights: float32 (2^n,); weights of hashed features.
    """
    gap_features(text, prefix, gap, last, codes)
    mask = np.uint32(len(weights) - 1)
    score = 0.0
    for code in codes:
        score += weights[code & mask]
    return score
