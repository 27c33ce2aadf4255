"""Rules for dependency relations within English clauses.

Source: https://universaldependencies.org/u/overview/simple-syntax.html.
"""

from __future__ import annotations

from spectralnlp_trees.dependencies.content_heads import is_adverbial_noun, is_existential, takes_verb
from spectralnlp_trees.dependencies.nominals import has_clause, is_finite, parenthetical
from spectralnlp_trees.dependencies.phrase_heads import DEPTH
from spectralnlp_trees.dependencies.phrases import Phrase
from spectralnlp_trees.dependencies.words import (
    ADJECTIVAL,
    ADVERBIAL_FUNCTIONS,
    ADVERBIAL_SUBORDINATORS,
    ALWAYS_TELLING,
    ASKING,
    AUXILIARY_TAGS,
    BE,
    CLAUSES,
    COMPLEMENTISERS,
    CONTROL,
    LINKING,
    NOMINAL,
    NOUN_TAGS,
    REFLEXIVES,
    SAYING,
    TELLING,
    VERB_TAGS,
)

_TABLE = {
    **dict.fromkeys(["RB", "RBR", "RBS", "ADVP", "WRB", "WHADVP"], "advmod"),
    **dict.fromkeys(["PRT", "RP"], "compound:prt"),
    **dict.fromkeys(["UH", "INTJ"], "discourse"),
    **dict.fromkeys(["WHPP"], "obl"),
    **dict.fromkeys(["IN", "TO"], "mark"),
    **dict.fromkeys(["LS", "LST"], "discourse"),
    **dict.fromkeys(["SINV", "SQ", "SBARQ", "FRAG", "X", "UCP"], "parataxis"),
    **dict.fromkeys(["WHADJP"], "advmod"),
    "CC": "cc",
    "CONJP": "cc",
    "EX": "expl",
    "CD": "obj",
    "DT": "obj",
    "PRP": "obj",
    "JJ": "xcomp",
    "SYM": "dep",
    "POS": "case",
    "$": "obj",
    "QP": "obj",
    "FW": "obj",
}
_VERBLESS = ("FRAG", "X", "INTJ", "PRN", "UCP", "ROOT", "TOP", "", "LST", "META", "NP")


def clause_relation(child: Phrase, node: Phrase, pivot: Phrase | None, governor: Phrase) -> str:
    """Return the dependency relation of a child of a clause, verb phrase or fragment to the predicate.

    Args:
        child: a child that is not the head.
        node: the clause, verb phrase or fragment.
        pivot: the head child; None if the head word is outside the phrase.
        governor: the head word, which is the predicate.
    """
    category = child.category
    if category in AUXILIARY_TAGS and category != "TO":
        return _verb_relation(child, pivot)
    if category == "PRN":
        relation = parenthetical(child, governor)
        return {
            "appos": "parataxis",
            "nmod": "obl",
            "acl:relcl": "advcl",
            "amod": "advcl",
            "nmod:unmarked": "parataxis",
        }.get(relation, relation)
    if "VOC" in child.functions:
        return "vocative"
    if category in NOMINAL or category in NOUN_TAGS:
        return _nominal_relation(child, node, pivot, governor)
    if category in ("PP", "WHPP"):
        return _prepositional(child, node, governor)
    if category == "ADVP" and child.first.word == "at" and len(child.children) == 2:
        return "obl"
    if category in ("S", "SBAR", "VP", "SQ", "SINV", "SBARQ"):
        return _clausal_relation(child, node, pivot, governor)
    if category == "ADVP":
        return _adverbial(child)
    if category in ADJECTIVAL:
        return "xcomp" if child.head > governor.index and node.category in ("VP", "SQ") else "advcl"
    return _TABLE.get(category, "dep")


def _adverbial(child: Phrase) -> str:
    word = child.lexical
    if len(child.children) == 1 and word.category in ("RP", "UH"):
        return "compound:prt" if word.category == "RP" else "discourse"
    return "advmod"


def _verb_relation(child: Phrase, pivot: Phrase | None) -> str:
    if child.category == "MD" or child.word not in BE:
        return "aux" if takes_verb(child) else "dep"
    return "aux" if pivot is not None and pivot.category in ("VP", *VERB_TAGS) else "cop"


# ---------------------------------------------------------------------------------------------------------
# Noun phrases


def _nominal_relation(child: Phrase, node: Phrase, pivot: Phrase | None, governor: Phrase) -> str:
    if child.last.category == "EX":
        return "expl"
    if "SBJ" in child.functions and node.category != "VP":
        return _subject(node)
    if node.category in ("SBAR", "SBARQ") and _is_question(child):
        return filler_relation(child, node)
    if child.functions & ADVERBIAL_FUNCTIONS:
        return "obl:unmarked"
    if node.category == "VP" and child.head > governor.index:
        return _object(child, node, governor)
    if node.category in ("SQ", "SINV", "S", "SBAR"):
        return _outside_verb_phrase(child, node, governor)
    if node.category in _VERBLESS or node.category not in ("VP", "S"):
        return "obl:unmarked" if is_adverbial_noun(child) else "parataxis"
    return "obl:unmarked"


def _is_question(child: Phrase) -> bool:
    return child.category == "WHNP" or child.first.category in ("WDT", "WP", "WP$")


def _subject(node: Phrase) -> str:
    return "nsubj:outer" if _has_clausal_predicate(node) else "nsubj"


def _has_clausal_predicate(node: Phrase) -> bool:
    """Return whether a copula links the subject to a clause: *the problem is that it rains*."""
    link: Phrase | None = node
    for _ in range(DEPTH):
        if link is None:
            return False
        if link.category in ("VP", "SQ") and link.pivot is not None and link.pivot.category in CLAUSES:
            below = link.pivot.lexical.category
            return below not in ("WP", "WRB", "WDT")
        link = link.pivot
    return False


def _outside_verb_phrase(child: Phrase, node: Phrase, governor: Phrase) -> str:
    if any("SBJ" in each.functions for each in node.children):
        return "obl:unmarked" if is_adverbial_noun(child) else "dislocated"
    after = list(child.after())
    nearest = next((each for each in after if each.category in ("VP", "NP", *AUXILIARY_TAGS)), None)
    if child.head > governor.index and node.category == "SINV":
        return "nsubj"
    if node.category == "SQ":
        first = next((each for each in node.children if each.category == "NP"), None)
        return _subject(node) if first is child else "obj"
    if nearest is not None and nearest.category == "NP" and any(each.category == "VP" for each in after):
        return "obl:unmarked" if is_adverbial_noun(child) else "dislocated"
    if child.head > governor.index:
        return "obl:unmarked" if is_adverbial_noun(child) else "parataxis"
    return _subject(node)


def _object(child: Phrase, node: Phrase, governor: Phrase) -> str:
    later = [
        each for each in child.after() if each.category == "NP" and not each.functions & ADVERBIAL_FUNCTIONS
    ]
    earlier = [each for each in child.before() if each.category == "NP"]
    if "PRD" in child.functions or governor.word in LINKING:
        return "xcomp" if not is_adverbial_noun(child) or "PRD" in child.functions else "obl:unmarked"
    if governor.word in BE and is_existential(node) and not earlier:
        return "nsubj"
    if is_adverbial_noun(child) and (child.functions or earlier or _is_day(child)):
        return "obl:unmarked"
    if later and not earlier and not is_adverbial_noun(later[0]):
        return "obj" if later[0].is_word(*REFLEXIVES) else "iobj"
    if child.is_word(*REFLEXIVES) and earlier:
        return "obl:unmarked"
    if governor.word in TELLING and not earlier and (governor.word in ALWAYS_TELLING or _has_message(child)):
        return "iobj"
    return "obj"


def _has_message(child: Phrase) -> bool:
    """Return whether a verb's object is followed by a clause or *about*: *him* in *tell him that …*.

    Such an object is an addressee (`iobj`) of verbs like *tell*.
    """
    following = next((each for each in child.after() if not each.is_punctuation), None)
    return following is not None and (following.category in CLAUSES or following.first.word == "about")


def _is_day(child: Phrase) -> bool:
    return child.lexical.word in ("today", "tonight", "tomorrow", "yesterday")


def filler_relation(child: Phrase, node: Phrase) -> str:
    """Return the relation of a question word or relative pronoun to the predicate of its clause."""
    clause = next((each for each in node.children if each.category in ("S", "SQ", "SINV")), None)
    if clause is None or "SBJ" in child.functions or not has_subject(clause):
        return "nsubj"
    return "obj"


def has_subject(clause: Phrase) -> bool:
    """Return whether a clause has its own subject."""
    for _ in range(DEPTH):
        if len(clause.children) != 1 or clause.children[0].category != "S":
            break
        clause = clause.children[0]
    for each in clause.groups[0] if clause.groups else clause.children:
        if each.category in ("NP", "SBAR", "S") and "SBJ" in each.functions:
            return True
        if each.category == "NP" and not each.functions & ADVERBIAL_FUNCTIONS and clause.pivot is not each:
            return True
        if each.category == "S" and clause.groups:
            return any(below.category == "NP" for below in each.children)
    return False


# ---------------------------------------------------------------------------------------------------------
# Prepositional phrases and clauses


def _prepositional(child: Phrase, node: Phrase, governor: Phrase) -> str:
    if has_clause(child):
        return "ccomp" if child.first.category == "RP" and governor.word in BE else "advcl"
    if node.category in _VERBLESS and governor.category in NOUN_TAGS:
        return "nmod"
    return "obl"


def _clausal_relation(child: Phrase, node: Phrase, pivot: Phrase | None, governor: Phrase) -> str:
    if (
        child.lexical.category in ("WP", "WRB", "WDT")
        and child.category == "SBAR"
        and _is_nominal_clause(child)
    ):
        if "SBJ" in child.functions or (node.category != "VP" and child.head < governor.index):
            return "nsubj"
        return "obj"
    if "SBJ" in child.functions:
        return "csubj"
    if child.functions & (ADVERBIAL_FUNCTIONS | {"PRP"}):
        return "advcl"
    relative = node.category in ("SBAR", "SBARQ") and pivot is not None
    if relative and pivot is not None and pivot.category in ("WHNP", "WHADVP", "NP"):
        return "acl:relcl" if governor.category in ("WP", "NN", "NNS", "WDT") else "advcl:relcl"
    if node.category in ("S", "SINV") and child.head > governor.index:
        return (
            "advcl"
            if child.category in ("SBAR", "VP") or not (is_finite(child) or _is_imperative(child))
            else "parataxis"
        )
    if node.category in ("S", "SINV", "SQ", "SBARQ"):
        return _clause_before(child, node)
    if node.category == "VP":
        if child.category == "SBAR":
            return _subordinate(child, governor)
        return _complement(child, node, governor)
    return "parataxis"


def _is_nominal_clause(child: Phrase) -> bool:
    return child.pivot is not None and child.pivot.category.startswith("WH")


def _clause_before(child: Phrase, node: Phrase) -> str:
    following = next((each for each in child.after() if not each.is_punctuation), None)
    if child.category == "SBAR":
        first = child.first.word
        return (
            "csubj"
            if following is not None and following.category == "VP" and first in ("that", "whether")
            else "advcl"
        )
    if (
        following is not None
        and following.category == "VP"
        and child.category in ("S", "VP")
        and not is_finite(child)
    ):
        comma = next((each for each in child.after()), None)
        return "csubj" if comma is following and not has_subject(node) else "advcl"
    if is_finite(child) or _is_imperative(child):
        is_reported = any(
            each.category in ("VP", *VERB_TAGS) and each.lexical.word in SAYING for each in child.after()
        )
        return "ccomp" if node.category == "SINV" or is_reported else "parataxis"
    return "advcl"


def _is_imperative(clause: Phrase) -> bool:
    verb = clause.lexical
    return verb.category == "VB" and not has_subject(clause) and clause.first.category != "TO"


def _subordinate(child: Phrase, governor: Phrase) -> str:
    first = child.first
    if first.word in ("if", "whether") and first.category == "IN":
        return "ccomp" if first.word == "whether" or governor.word in ASKING else "advcl"
    if first.word == "that" or (
        child.children[0].category not in ("IN", "WHADVP", "WHNP", "WHPP", "ADVP", "RB")
    ):
        if first.category == "TO" or not is_finite(child):
            return "advcl" if any(each.is_punctuation for each in child.before()) else "xcomp"
        return "ccomp"
    if first.word in ADVERBIAL_SUBORDINATORS:
        return "advcl"
    return "advcl" if first.word not in COMPLEMENTISERS else "ccomp"


def raised_subject(child: Phrase) -> Phrase | None:
    """Return the subject of an embedded clause if it is also the object of the verb above; else None.

    Example: *people* is such a subject in *allow people to go*.
    """
    if child.category != "S" or child.parent is None or child.parent.category != "VP" or child.groups:
        return None
    if child.parent.pivot is child or child.functions & (ADVERBIAL_FUNCTIONS | {"SBJ"}) or is_finite(child):
        return None
    if len(child.children) < 2 or child.pivot is None:
        return None
    first = child.children[0]
    return first if first.category == "NP" and first is not child.pivot else None


def _complement(child: Phrase, node: Phrase, governor: Phrase) -> str:
    """Return the relation of a clause without a subordinator to the verb before it, such as ``xcomp``.

    Args:
        child: the clause.
        node: its parent.
        governor: the verb.
    """
    if is_finite(child):
        return "ccomp"
    if any(each.is_punctuation for each in child.before()):
        return "advcl"
    if is_existential(node):
        return "acl"
    has_object = any(each.category == "NP" for each in child.before())
    return "advcl" if has_object and governor.word not in CONTROL else "xcomp"
