"""Correct the relations of a converted dependency tree: passives, expletives, fixed expressions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from spectralnlp_trees.dependencies.arcs import Arcs
from spectralnlp_trees.dependencies.phrases import Phrase
from spectralnlp_trees.dependencies.words import BE, GET, MULTIWORD, Expression, word_set

# Number of words to either side of a word among which its dependents are searched.
WINDOW = 200

_PASSIVE_SUBJECTS = {"nsubj": "nsubj:pass", "csubj": "csubj:pass"}


def refine(arcs: Arcs) -> None:
    """Apply all corrections of this module to a dependency tree in place."""
    for correct in _CORRECTIONS:
        correct(arcs)


def _around(index: int, arcs: Arcs) -> range:
    return range(max(0, index - WINDOW), min(len(arcs.words), index + WINDOW))


def mark_passives(arcs: Arcs) -> None:
    """Give auxiliaries, subjects and agents of passive participles their passive relations."""
    words, heads, relations = arcs.words, arcs.heads, arcs.relations
    last: dict[int, int] = {}
    for index, relation in enumerate(relations):
        if relation == "aux" and index < heads[index]:
            last[heads[index]] = index
    passive = set()
    for verb, auxiliary in last.items():
        if words[verb].category in ("VBN", "VBD") and words[auxiliary].word in BE | GET:
            relations[auxiliary] = "aux:pass"
            passive.add(verb)
    for index, relation in enumerate(relations):
        verb = heads[index]
        if relation in _PASSIVE_SUBJECTS:
            if verb in passive or (
                words[verb].category == "VBN"
                and verb not in last
                and relations[verb] == "conj"
                and heads[verb] in passive
            ):
                relations[index] = _PASSIVE_SUBJECTS[relation]
        elif relation == "case" and words[index].word == "by" and relations[verb] == "obl":
            participle = heads[verb]
            reduced = words[participle].category == "VBN" and participle not in last
            if (participle in passive or reduced) and _is_agent(arcs.words[verb]):
                relations[verb] = "obl:agent"


def _is_agent(noun: Phrase) -> bool:
    """Return whether a noun after *by* can be a passive's agent.

    A number can be one only if its phrase has the function tag ``LGS`` (logical subject).
    """
    phrase = noun.parent
    return noun.category != "CD" or (phrase is not None and "LGS" in phrase.functions)


def mark_expletives(arcs: Arcs) -> None:
    """Give *it* the relation `expl` if it is the subject of a weather verb or stands for a later clause.

    The clause that *it* stands for (*to see* in *it is good to see*) gets the relation `csubj`.
    """
    words, heads, relations = arcs.words, arcs.heads, arcs.relations
    for index, relation in enumerate(relations):
        if relation in ("nsubj", "nsubj:pass") and words[index].word == "it":
            predicate = heads[index]
            if words[predicate].word in _WEATHER:
                relations[index] = "expl"
                continue
            clause = _extraposed(arcs, predicate)
            if clause is not None:
                relations[index] = "expl"
                relations[clause] = "csubj"


_WEATHER = frozenset(["rain", "rains", "rained", "raining", "snow", "snows", "snowed", "snowing"])
_SEEMING = word_set("seems seem seemed appears appear appeared turns turned takes took take happens happened")


def _extraposed(arcs: Arcs, predicate: int) -> int | None:
    """Return the extraposed clause that *it* stands for, or None: *to see* in *it is good to see*."""
    words, heads, relations = arcs.words, arcs.heads, arcs.relations
    copular = any(
        relations[i] == "cop" and heads[i] == predicate for i in range(max(0, predicate - WINDOW), predicate)
    )
    adjective = words[predicate].category in ("JJ", "JJR", "JJS")
    for index in range(predicate + 1, min(len(words), predicate + WINDOW)):
        if heads[index] != predicate:
            continue
        if relations[index] in ("csubj", "csubj:pass"):
            return index
        marked = [
            words[i].word for i in range(predicate, index) if heads[i] == index and relations[i] == "mark"
        ]
        if relations[index] not in ("xcomp", "ccomp", "advcl"):
            continue
        subordinate = relations[index] == "ccomp" or not _SUBORDINATORS.isdisjoint(marked)
        if copular and adjective and subordinate:
            return index
        # "it takes an hour to", "it seems that", but not "it seems to rain"
        expected = "to" if words[predicate].word.startswith("t") else "that"
        if words[predicate].word in _SEEMING and expected in marked:
            return index
    return None


_SUBORDINATORS = frozenset(["to", "that", "for", "na"])


def demote_asides(arcs: Arcs) -> None:
    """Attach *I mean* and *you know* to the clause after them, as parataxis."""
    words, heads, relations = arcs.words, arcs.heads, arcs.relations
    for index in range(1, len(words) - 1):
        if (words[index - 1].word, words[index].word) not in (("i", "mean"), ("you", "know")):
            continue
        clause = next(
            (
                i
                for i in range(index + 1, min(len(words), index + WINDOW))
                if heads[i] == index and relations[i] in ("ccomp", "parataxis", "xcomp")
            ),
            None,
        )
        if clause is None or heads[index - 1] != index or words[clause].category in ("WP", "WRB"):
            continue
        if any(
            heads[i] == clause and words[i].word in ("that", "if", "whether") and relations[i] == "mark"
            for i in range(index, clause)
        ):
            continue
        if any(relations[i] in ("aux", "neg", "obj") and heads[i] == index for i in _around(index, arcs)):
            continue
        heads[clause], relations[clause] = heads[index], relations[index]
        for each in _around(index, arcs):
            if heads[each] == index and each not in (clause, index - 1):
                heads[each] = clause
        heads[index], relations[index] = clause, "parataxis"


def attach_at_least(arcs: Arcs) -> None:
    """Attach *at* to *least* in *at least*, and *least* to the word that it modifies, as `obl` or `nmod`."""
    words, heads, relations = arcs.words, arcs.heads, arcs.relations
    for index in range(len(words) - 1):
        if words[index].word == "at" and words[index + 1].word in ("least", "most", "first", "last"):
            least, governor = index + 1, heads[index + 1] if heads[index + 1] != index else heads[index]
            if governor < 0 or governor == index:
                continue
            if words[least].word in ("first", "last") and heads[index] != least:
                continue
            following = index + 2
            if following < len(words) and words[following].category == "CD" and heads[following] != least:
                governor = following
            heads[index], relations[index] = least, "case"
            if governor != least:
                heads[least] = governor
                relations[least] = (
                    "nmod"
                    if words[governor].category in ("CD", "NN", "NNS", "NNP", "$")
                    and relations[governor] != "root"
                    else "obl"
                )


def join_fixed(arcs: Arcs) -> None:
    """Join the words of fixed expressions that function as one word, such as *because of*, *as well as*."""
    index = 0
    while index < len(arcs.words):
        candidates = MULTIWORD.get(arcs.words[index].word, ())
        matched = next((each for each in candidates if _matches(arcs, index, each)), None)
        if matched is not None and _join(arcs, index, matched):
            index += len(matched.words)
        else:
            index += 1


def _join(arcs: Arcs, first: int, expression: Expression) -> bool:
    heads, relations = arcs.heads, arcs.relations
    inside = range(first, first + len(expression.words))
    outer = [each for each in inside if heads[each] not in inside]
    if len({heads[each] for each in outer}) > 1 and not _promote_content_word(arcs, outer):
        return False
    chosen = outer[-1]
    for each in _around(first, arcs):
        if each not in inside and heads[each] in inside:
            heads[each] = first
    relation = expression.relation or relations[chosen]
    if relation == "case" and relations[chosen] == "mark":
        relation = "mark"
    relations[first] = relation if heads[chosen] >= 0 else "root"
    heads[first] = heads[chosen]
    for each in inside[1:]:
        heads[each], relations[each] = first, "fixed"
    return True


def _promote_content_word(arcs: Arcs, outer: Sequence[int]) -> bool:
    """Make the noun after a fixed expression the head of the expression: *beauty* in *due to its beauty*.

    The tree is changed only if the expression has two outer words, and the first of them (*due*) is the head
    of the noun.

    Args:
        arcs: dependency tree to correct.
        outer: indices of the outer words of the expression: those whose heads are outside the expression.

    Returns:
        Whether the tree was changed.
    """
    heads, relations = arcs.heads, arcs.relations
    upper, lower = outer[0], outer[-1]
    content = heads[lower]
    if len(outer) != 2 or heads[content] != upper or arcs.words[upper].category == "VBG":
        return False
    for each in _around(upper, arcs):
        if heads[each] == upper:
            heads[each] = content
    heads[content], relations[content] = heads[upper], relations[upper]
    heads[upper] = content
    return True


def _matches(arcs: Arcs, index: int, expression: Expression) -> bool:
    if (
        expression.tag == "NN"
        and index
        and arcs.words[index - 1].category in ("DT", "WDT", "JJ", "PDT", "WP", "PRP$")
    ):
        return False
    words = arcs.words[index : index + len(expression.words)]
    if [each.word for each in words] != list(expression.words):
        return False
    if expression.tag and words[0].category != expression.tag:
        return False
    return not (
        expression.before
        and (
            index + len(words) >= len(arcs.words)
            or arcs.words[index + len(words)].category not in expression.before
        )
    )


def mark_repairs(arcs: Arcs) -> None:
    """Mark a word that is immediately repeated as `reparandum` of its repetition."""
    words, heads, relations = arcs.words, arcs.heads, arcs.relations
    for index, each in enumerate(words[:-1]):
        following = index + 1
        if words[following].is_punctuation and following < len(words) - 1:
            following += 1
        if words[following].is_punctuation:
            continue
        again = words[following]
        same = each.word == again.word and each.category == again.category and each.category in _REPEATED
        adjacent = heads[index] == following or heads[index] == heads[following] != -1
        if same and adjacent and heads[following] != index and not _has_dependents(arcs, index):
            heads[index], relations[index] = following, "reparandum"


_REPEATED = word_set("DT PRP CC IN VBD VBZ VBP MD TO PRP$ WP WDT EX WRB")


def _has_dependents(arcs: Arcs, index: int) -> bool:
    return any(arcs.heads[i] == index and arcs.relations[i] != "punct" for i in _around(index, arcs))


def attach_et_al(arcs: Arcs) -> None:
    """Attach *al.* in *et al.* as a conjunct to the name before it."""
    words, heads = arcs.words, arcs.heads
    for index in range(1, len(words) - 1):
        if words[index].word == "et" and words[index + 1].word in ("al.", "al"):
            name = index - 1
            while arcs.relations[name] in ("flat", "punct") and heads[name] < name and heads[name] >= 0:
                name = heads[name]
            if heads[index + 1] >= 0 and heads[name] not in (index, index + 1):
                arcs.connect(index, index + 1, "cc")
                arcs.connect(index + 1, name, "conj")


_CORRECTIONS: tuple[Callable[[Arcs], None], ...] = (
    demote_asides,
    attach_et_al,
    attach_at_least,
    join_fixed,
    mark_passives,
    mark_expletives,
    mark_repairs,
)
