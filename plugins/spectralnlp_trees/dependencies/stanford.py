"""Convert Universal Dependencies to basic Stanford Dependencies.

Source of the relations: M.-C. de Marneffe and C. D. Manning, Stanford typed dependencies manual (2008,
revised 2016). Unlike in Universal Dependencies, prepositions are heads of their nouns, the copula is the head
of a predicate that is a prepositional phrase, and the last word of a name is its head.
"""

from __future__ import annotations

from spectralnlp_trees.dependencies.arcs import Arcs
from spectralnlp_trees.dependencies.words import ADVERBIAL_NOUNS, NOT, word_set

_RENAMED = {
    "nsubj:pass": "nsubjpass",
    "nsubj:outer": "nsubj",
    "csubj:pass": "csubjpass",
    "csubj:outer": "csubj",
    "aux:pass": "auxpass",
    "obj": "dobj",
    "acl:relcl": "rcmod",
    "advcl:relcl": "rcmod",
    "acl": "vmod",
    "nummod": "num",
    "compound": "nn",
    "flat": "nn",
    "nmod:desc": "nn",
    "compound:prt": "prt",
    "det:predet": "predet",
    "cc:preconj": "preconj",
    "nmod:poss": "poss",
    "fixed": "mwe",
    **dict.fromkeys(["vocative", "list", "orphan", "dislocated", "reparandum"], "dep"),
}
_OBLIQUE = ("obl", "nmod", "obl:agent", "obl:unmarked", "nmod:unmarked")
# Dependents that a noun keeps when a copula replaces it as the head of the clause.
_OF_NOUN = word_set(
    "det amod compound nummod flat nmod nmod:poss nmod:desc nmod:unmarked acl acl:relcl appos case "
    "fixed conj cc cc:preconj det:predet"
)


def to_stanford(arcs: Arcs) -> None:
    """Convert a dependency tree from Universal to Stanford Dependencies in place."""
    below = _dependents(arcs)
    for index in range(len(arcs.heads)):
        _lift_prepositions(arcs, index, below[index])
    _turn_names(arcs)
    for index, relation in enumerate(arcs.relations):
        arcs.relations[index] = _renamed(arcs, index, relation)
    arcs.mend()


def _dependents(arcs: Arcs) -> list[list[int]]:
    below: list[list[int]] = [[] for _ in arcs.heads]
    for index, head in enumerate(arcs.heads):
        if head >= 0:
            below[head].append(index)
    return below


def _lift_prepositions(arcs: Arcs, index: int, below: list[int]) -> None:
    """Make the prepositions that depend on a word its heads: *in* heads *house* in *in the house*.

    Args:
        arcs: dependency tree to convert.
        index: index of the word.
        below: indices of its dependents.
    """
    relations, words = arcs.relations, arcs.words
    cases = [each for each in below if relations[each] == "case" and words[each].category != "POS"]
    gerund = words[index].category == "VBG" and relations[index] in ("advcl", "acl")
    cases += [each for each in below if gerund and relations[each] == "mark" and words[each].category == "IN"]
    possessive = [each for each in below if relations[each] == "case" and words[each].category == "POS"]
    for each in possessive:
        relations[each] = "possessive"
    if not cases:
        return
    upper, relation = cases[0], relations[index]
    copula = next((each for each in below if relations[each] == "cop"), None)
    if copula is not None:
        _replace(arcs, index, copula, below)
        arcs.connect(upper, copula, "prep")
    else:
        arcs.heads[upper] = arcs.heads[index]
        relations[upper] = "prep" if relation in (*_OBLIQUE, "advcl", "acl") else relation
    for lower in cases[1:]:
        arcs.connect(lower, upper, "pcomp")
        upper = lower
    arcs.connect(index, upper, "pcomp" if gerund else "pobj")


def _replace(arcs: Arcs, index: int, copula: int, below: list[int]) -> None:
    """Make a copula the head of its predicate: in *she is at home*, *is* becomes the head of *she* and *at*.

    Args:
        arcs: dependency tree to convert.
        index: index of the predicate's noun, *home*.
        copula: index of the copula.
        below: indices of the noun's dependents.
    """
    arcs.heads[copula], arcs.relations[copula] = arcs.heads[index], arcs.relations[index]
    for each in below:
        if each != copula and arcs.heads[each] == index and arcs.relations[each] not in _OF_NOUN:
            arcs.heads[each] = copula


def _turn_names(arcs: Arcs) -> None:
    """Make the last word of each name its head, as in Stanford Dependencies, instead of the first."""
    last: dict[int, int] = {}
    for index, relation in enumerate(arcs.relations):
        if relation == "flat" and arcs.heads[index] < index:
            last[arcs.heads[index]] = index
    for index, head in enumerate(arcs.heads):
        if head in last and index != last[head]:
            arcs.heads[index] = last[head]
    for first, end in last.items():
        arcs.heads[end], arcs.relations[end] = arcs.heads[first], arcs.relations[first]
        arcs.heads[first], arcs.relations[first] = end, "nn"


def _renamed(arcs: Arcs, index: int, relation: str) -> str:
    word = arcs.words[index]
    head = arcs.words[arcs.heads[index]] if arcs.heads[index] >= 0 else None
    if relation == "mark" and word.category == "TO":
        return "aux"
    if relation == "case":
        return "dep"
    if relation == "advmod" and word.word in NOT:
        return "neg"
    if relation == "advmod" and head is not None and head.category == "CD":
        return "quantmod"
    if relation == "compound" and word.category == "CD":
        return "number"
    if relation == "xcomp" and word.category in ("JJ", "JJR", "JJS"):
        return "acomp"
    if relation in _OBLIQUE:
        return "tmod" if word.word in ADVERBIAL_NOUNS else "npadvmod"
    return _RENAMED.get(relation, relation)
