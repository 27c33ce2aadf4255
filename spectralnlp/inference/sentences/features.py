"""Hashed features of the gaps between the tokens of a text, for telling where sentences end.

A feature is a number made of its template and its values; its low bits say which weight it has.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spectralnlp.inference.trees.hashing import GOLDEN, mix
from spectralnlp.jit import jitable, kernel

# Tokens after a gap that are looked at.
AHEAD = 12

# Cases of tokens.
LOWER, CAPITAL, CAPITALS, LETTER, NUMBER, MARK, MIXED = range(7)

# Kinds of tokens, a bit each.
VERB, OPENS, CLOSES, STOP = 1, 2, 4, 8

# In place of a value beyond the text or the sentence.
_OUTSIDE = -1

Codes = NDArray[np.uint32]


class TextTokens(NamedTuple):
    """Tokens of a text, as numbers.

    Attributes:
        word: int64 (n_tokens,); the word in small letters, or the class of a rare one.
        tag, second: int64 (n_tokens,); the likeliest tag of the word, and the next.
        case: int64 (n_tokens,).
        kind: int64 (n_tokens,); bits.
        rule: int64 (n_tokens,); whether the rules end a sentence before each token.
        name: int64 (n_tokens,); a number for the word in small letters, rare or not.
    """

    word: NDArray[np.int64]
    tag: NDArray[np.int64]
    second: NDArray[np.int64]
    case: NDArray[np.int64]
    kind: NDArray[np.int64]
    rule: NDArray[np.int64]
    name: NDArray[np.int64]


class SoFar(NamedTuple):
    """The sentence before a gap, from its first token on.

    Attributes:
        verb: 1 if it has a verb.
        capitals, smalls: how many of its words begin with a capital, or with a small letter.
        depth: how many brackets and quotations are open.
    """

    verb: int
    capitals: int
    smalls: int
    depth: int


@jitable
def begin():
    """The state before the first token of a sentence."""
    return SoFar(0, 0, 0, 0)


@jitable
def extend(so_far, case, kind):
    """The state after one more token."""
    verb = 1 if kind & VERB else so_far.verb
    capitals = so_far.capitals + (1 if (case == CAPITAL or case == CAPITALS or case == LETTER) else 0)
    smalls = so_far.smalls + (1 if case == LOWER else 0)
    depth = so_far.depth
    if kind & OPENS:
        depth = min(depth + 1, 3)
    if kind & CLOSES:
        depth = max(depth - 1, 0)
    return SoFar(verb, capitals, smalls, depth)


@jitable
def _at(values, place, first, last):
    return values[place] if first <= place < last else _OUTSIDE


@jitable
def _few(n):
    """Classes of counts: one each up to 4, then ever wider ones."""
    if n <= 4:
        return n
    return 5 if n <= 6 else 6 if n <= 9 else 7 if n <= 14 else 8 if n <= 22 else 9 if n <= 35 else 10


@jitable
def _feature(number, a, b, c, d):
    code = mix(np.uint64(number) * GOLDEN, np.uint64(a + 2))
    code = mix(code, np.uint64(b + 2))
    code = mix(code, np.uint64(c + 2))
    return np.uint32(mix(code, np.uint64(d + 2)))


N_FEATURES = 76


@kernel
def gap_features(x, start, gap, last, so_far, previous, codes):
    """Write the features of a sentence that ends before a token.

    Args:
        x: TextTokens.
        start: first token of the sentence.
        gap: the token after the gap.
        last: after the last token of the text that may be looked at.
        so_far: SoFar.
        previous: last word of the sentence before this one; _OUTSIDE if there is none.
        codes: uint32 (N_FEATURES,); written.
    """
    w, t, u, c = x.word, x.tag, x.second, x.case
    w3, w2, w1 = _at(w, gap - 3, start, last), _at(w, gap - 2, start, last), _at(w, gap - 1, start, last)
    w_0, w_1, w_2 = w[gap], _at(w, gap + 1, start, last), _at(w, gap + 2, start, last)
    t3, t2, t1 = _at(t, gap - 3, start, last), _at(t, gap - 2, start, last), _at(t, gap - 1, start, last)
    t_0, t_1, t_2 = t[gap], _at(t, gap + 1, start, last), _at(t, gap + 2, start, last)
    t_3 = _at(t, gap + 3, start, last)
    c3, c2, c1 = _at(c, gap - 3, start, last), _at(c, gap - 2, start, last), _at(c, gap - 1, start, last)
    c_0, c_1, c_2 = c[gap], _at(c, gap + 1, start, last), _at(c, gap + 2, start, last)
    c_3 = _at(c, gap + 3, start, last)
    u1, u_0 = _at(u, gap - 1, start, last), u[gap]
    rule, verb, depth = x.rule[gap], so_far.verb, so_far.depth
    n = gap - start
    long = _few(n)
    ws, ts, cs = w[start], t[start], c[start]
    # Whether all words of the sentence are small, capitals, or how they are mixed.
    small = 0 if so_far.smalls == 0 else 1 if so_far.smalls * 2 <= so_far.capitals else 2
    stop_at, verb_at, small_at, capital_at = AHEAD, AHEAD, AHEAD, AHEAD
    for j in range(min(AHEAD, last - gap) - 1, -1, -1):
        if x.kind[gap + j] & STOP:
            stop_at = j
        if x.kind[gap + j] & VERB:
            verb_at = j
        if c[gap + j] == LOWER:
            small_at = j
        if j > 0 and (c[gap + j] == CAPITAL or c[gap + j] == CAPITALS):
            capital_at = j
    clause = 2 if verb_at > stop_at else 1 if verb_at == AHEAD else 0
    verb_at, stop_at, small_at, capital_at = _few(verb_at), _few(stop_at), _few(small_at), _few(capital_at)
    same = 1 if x.name[gap] == x.name[start] else 0
    again = 0  # whether the next word, or the one after it, stands in the sentence
    if c_0 != LOWER and c_0 != MARK:
        for j in range(max(start, gap - 20), gap):
            if x.name[j] == x.name[gap]:
                again = 1
                if j + 1 < gap and gap + 1 < last and x.name[j + 1] == x.name[gap + 1]:
                    again = 2
    codes[0] = _feature(0, 0, 0, 0, 0)
    codes[1] = _feature(1, rule, c_0, 0, 0)
    codes[2] = _feature(2, w1, 0, 0, 0)
    codes[3] = _feature(3, w_0, 0, 0, 0)
    codes[4] = _feature(4, w1, w_0, 0, 0)
    codes[5] = _feature(5, w2, w1, c_0, 0)
    codes[6] = _feature(6, w_0, w_1, c1, 0)
    codes[7] = _feature(7, t1, t_0, rule, 0)
    codes[8] = _feature(8, t1, c_0, t_0, c1)
    codes[9] = _feature(9, t2, t1, t_0, 0)
    codes[10] = _feature(10, t1, t_0, t_1, 0)
    codes[11] = _feature(11, t2, t1, t_0, t_1)
    codes[12] = _feature(12, t_0, t_1, t_2, 0)
    codes[13] = _feature(13, t3, t2, t1, 0)
    codes[14] = _feature(14, c1, c_0, c_1, 0)
    codes[15] = _feature(15, c2, c1, c_0, c_1)
    codes[16] = _feature(16, c_0, c_1, c_2, c_3)
    codes[17] = _feature(17, w1, c_0, rule, 0)
    codes[18] = _feature(18, w1, t_0, c_0, 0)
    codes[19] = _feature(19, t1, w_0, c_0, 0)
    codes[20] = _feature(20, w1, c_0, c_1, 0)
    codes[21] = _feature(21, c1, w_0, rule, 0)
    codes[22] = _feature(22, long, rule, 0, 0)
    codes[23] = _feature(23, long, verb, c_0, rule)
    codes[24] = _feature(24, long, verb, c_0, c1)
    codes[25] = _feature(25, long, t1, c_0, 0)
    codes[26] = _feature(26, verb, small, c_0, c1)
    codes[27] = _feature(27, small, c1, c_0, c_1)
    codes[28] = _feature(28, verb, small, c_0, clause)
    codes[29] = _feature(29, verb, clause, verb_at, c_0)
    codes[30] = _feature(30, verb_at, stop_at, c_0, rule)
    codes[31] = _feature(31, small_at, capital_at, c_0, small)
    codes[32] = _feature(32, small_at, verb, c1, c_0)
    codes[33] = _feature(33, ws, verb, c_0, 0)
    codes[34] = _feature(34, ws, long, c_0, 0)
    codes[35] = _feature(35, ts, verb, t_0, c_0)
    codes[36] = _feature(36, cs, small, c_0, long)
    codes[37] = _feature(37, depth, w1, c_0, 0)
    codes[38] = _feature(38, depth, rule, c_0, 0)
    codes[39] = _feature(39, depth, w_0, c1, 0)
    codes[40] = _feature(40, previous, rule, c_0, 0)
    codes[41] = _feature(41, previous, ws, c_0, 0)
    codes[42] = _feature(42, previous, long, verb, c_0)
    codes[43] = _feature(43, previous, w1, c_0, 0)
    codes[44] = _feature(44, same, w_0, 0, 0)
    codes[45] = _feature(45, same, t1, c_0, long)
    codes[46] = _feature(46, w2, c1, c_0, 0)
    codes[47] = _feature(47, w_1, c_0, t1, 0)
    codes[48] = _feature(48, w_1, t_0, c1, 0)
    codes[49] = _feature(49, t_0, u_0, t1, u1)
    codes[50] = _feature(50, t_0, t_1, t_2, t_3)
    codes[51] = _feature(51, verb, t_0, t_1, t1)
    codes[52] = _feature(52, verb, clause, t_0, t1)
    codes[53] = _feature(53, w_0, verb, c1, 0)
    codes[54] = _feature(54, w_0, clause, c1, verb)
    codes[55] = _feature(55, w1, verb, clause, c_0)
    codes[56] = _feature(56, w3, w2, w1, 0)
    codes[57] = _feature(57, w_0, w_1, w_2, 0)
    codes[58] = _feature(58, c3, c2, c1, c_0)
    codes[59] = _feature(59, c1, c_0, stop_at, verb_at)
    codes[60] = _feature(60, c1, c_0, small_at, verb_at)
    codes[61] = _feature(61, t1, small_at, verb, c_0)
    codes[62] = _feature(62, again, same, c_0, verb)
    codes[63] = _feature(63, again, c1, c_0, small)
    codes[64] = _feature(64, rule, w_0, w_1, 0)
    codes[65] = _feature(65, w2, w1, w_0, 0)
    titled = 1 if so_far.smalls == 0 else 2 if so_far.smalls <= 2 else 3
    codes[66] = _feature(66, titled, c1, c_0, small_at)
    codes[67] = _feature(67, min(so_far.smalls, 6), min(so_far.capitals, 6), c_0, c1)
    codes[68] = _feature(68, c1, c_0 * 8 + max(c_1, 0), verb_at, verb)
    codes[69] = _feature(69, t1, c_0 * 8 + max(c_1, 0), verb_at, verb)
    codes[70] = _feature(70, t_0, c_0 * 8 + max(c_1, 0), c1, verb_at)
    codes[71] = _feature(71, stop_at, clause, verb, c1 * 8 + c_0)
    codes[72] = _feature(72, t_1, verb_at, c1 * 8 + c_0, verb)
    codes[73] = _feature(73, previous, small, c1 * 8 + c_0, clause)
    codes[74] = _feature(74, rule, x.name[gap], c1, 0)
    codes[75] = _feature(75, x.name[gap - 1], x.name[gap], 0, 0)


@kernel
def gap_score(x, start, gap, last, so_far, previous, weights, codes):
    """Log-odds of a sentence that ends before a token; arguments as of :func:`gap_features`."""
    gap_features(x, start, gap, last, so_far, previous, codes)
    mask = np.uint32(len(weights) - 1)
    score = 0.0
    for code in codes:
        score += weights[code & mask]
    return score
