"""Content heads of English phrases, as Universal Dependencies define them.

The head of a clause is the predicate, not an auxiliary or copula; the head of a prepositional phrase is the
noun; the head of a coordination is the first conjunct
(https://universaldependencies.org/u/overview/syntax.html).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from spectralnlp.trees import Tree
from spectralnlp_trees.dependencies.coordination import conjunct_groups
from spectralnlp_trees.dependencies.phrase_heads import (
    DEPTH,
    WIDTH,
    adjectival,
    adverbial,
    any_head,
    conjunction,
    first_of,
    interjection,
    noun_phrase,
    prepositional,
    quantity,
)
from spectralnlp_trees.dependencies.phrases import Phrase, working_copy
from spectralnlp_trees.dependencies.words import (
    ADJECTIVAL,
    ADJECTIVE_TAGS,
    ADVERBIAL,
    ADVERBIAL_NOUNS,
    AUXILIARY_TAGS,
    BE,
    CLAUSES,
    DO,
    GET,
    HAVE,
    NOMINAL,
    PREPOSITIONAL,
    THINKING,
    VERB_TAGS,
    WH_PHRASES,
    word_set,
)

_SMALL_CLAUSE = ("VP", "ADJP", "NP", "PP", "ADVP", "UCP", "SBAR", "S", "VB", "VBG", "VBN")


def find_heads(nodes: Iterable[Phrase]) -> None:
    """Find the head of every node of a tree, and store it in the node.

    The attribute `pivot` becomes the node's head child, `head` the index of its head word in the sentence,
    and `lexical` the preterminal of that word.

    Args:
        nodes: nodes of a tree, children before their parent.
    """
    for node in nodes:
        if node.children:
            pivot = node.children[0] if len(node.children) == 1 else content_head(node)
            node.pivot, node.head, node.lexical = pivot, pivot.head, pivot.lexical
            if node.category in ("SBARQ", "SBAR") and len(node.children) > 1:
                _make_predicate(node)


def content_head_words(tree: Tree) -> list[int]:
    """Return the index of the head word of each node of an English tree, in the order of `Tree.nodes`."""
    nodes, _ = working_copy(tree)
    find_heads(nodes)
    heads: list[int] = []
    stack = [nodes[-1]]
    while stack:
        node = stack.pop()
        heads.append(node.head)
        stack.extend(reversed(node.children))
    return heads


def content_head(node: Phrase) -> Phrase:
    """Return the head child of a phrase with several children; their heads must have been found before."""
    if len(node.children) > WIDTH:
        return next((each for each in node.children if not each.is_punctuation), node.children[0])
    node.groups = conjunct_groups(node)
    return head_among(node, node.groups[0] if node.groups else _without_punctuation(node))


def head_among(node: Phrase, children: list[Phrase]) -> Phrase:
    """Choose the head among some children of a phrase, by the rules for the category of the phrase."""
    if len(children) == 1:
        return children[0]
    if is_abandoned(children[0]):
        children = children[1:]
    find = _FINDERS.get(node.category, any_head)
    return find(node, children)


def is_abandoned(child: Phrase) -> bool:
    """Return whether a phrase is broken off by a dash and begun again: *any* in *any — any time*."""
    following = next(child.after(), None)
    if following is None or following.category != ":" or not following.word.startswith(("-", "–", "—")):
        return False
    again = next((each for each in child.after() if not each.is_punctuation), None)
    return again is not None and again.first.word == child.first.word


def _without_punctuation(node: Phrase) -> list[Phrase]:
    """Return the children that are not punctuation, or all children if all are punctuation."""
    return [each for each in node.children if not each.is_punctuation] or node.children


# ---------------------------------------------------------------------------------------------------------
# Clauses


def _verb_phrase(node: Phrase, children: list[Phrase]) -> Phrase:
    verb = first_of(children, AUXILIARY_TAGS)
    if verb is None:
        return first_of(children, ("VP",)) or first_of(children, ADJECTIVAL | NOMINAL) or children[0]
    after = children[children.index(verb) + 1 :]
    if takes_verb(verb):
        main = first_of(after, ("VP",)) or first_of(after, VERB_TAGS)
        if main is not None and not (verb.word in HAVE and main.category in VERB_TAGS):
            return main
    if verb.word in BE and verb.category in VERB_TAGS and not is_existential(node):
        return _predicate(after) or verb
    return verb


def takes_verb(verb: Phrase) -> bool:
    """Return whether a verb that precedes a verb phrase is its auxiliary."""
    if verb.category in ("MD", "TO") or verb.word in BE | HAVE | DO:
        return True
    return verb.word in GET and any(each.category == "VP" and _is_participle(each) for each in verb.after())


def _is_participle(phrase: Phrase) -> bool:
    return phrase.lexical.category in ("VBN", "VBD")


def _predicate(after: list[Phrase]) -> Phrase | None:
    """Return the predicate that a copula links to the subject, from the phrases after the copula."""
    marked = next((each for each in after if "PRD" in each.functions), None)
    if marked is not None:
        return marked
    for categories in (
        ADJECTIVAL | ADJECTIVE_TAGS,
        NOMINAL,
        PREPOSITIONAL,
        ("UCP",),
        CLAUSES,
        ADVERBIAL,
        ("VP",),
    ):
        for each in reversed(after) if categories is ADVERBIAL else after:
            if each.last.word in _NO_PREDICATES or each.first.category == "RP":
                continue
            if each.category in categories and not (categories is NOMINAL and is_adverbial_noun(each)):
                return each
    return None


# Adverbs that are never predicates: if one follows a copula alone, the predicate is elided.
_NO_PREDICATES = word_set(
    "too so also not just still really probably usually actually already always never n't"
)


def is_adverbial_noun(phrase: Phrase) -> bool:
    """Return whether a noun phrase is an adjunct of time, place or manner, by function tags or its head."""
    if phrase.functions & _ADVERBIAL_NOMINAL:
        return True
    return phrase.lexical.word in ADVERBIAL_NOUNS


_ADVERBIAL_NOMINAL = frozenset(["TMP", "ADV", "LOC", "MNR", "DIR", "EXT"])


def is_existential(node: Phrase) -> bool:
    """Return whether the clause around a verb phrase has existential *there* as its subject."""
    clause: Phrase | None = node
    for _ in range(DEPTH):
        if clause is None or clause.category != "VP":
            break
        clause = clause.parent
    if clause is None:
        return False
    return any(each.last.category == "EX" for each in clause.children if each.category == "NP")


def _clause(node: Phrase, children: list[Phrase]) -> Phrase:
    verbal = first_of(children, ("VP",))
    reported = first_of(children, ("S", "SQ", "SBARQ", "SINV"))
    if reported is not None and verbal is not None and _is_reported(reported, verbal, children):
        return reported
    if verbal is not None:
        return verbal
    marked = next((each for each in children if "PRD" in each.functions), None)
    if marked is not None:
        return marked
    clause = first_of(children, ("S", "SINV", "SQ"))
    if clause is not None and is_aside(clause):
        clause = next((each for each in clause.after() if each.category in ("S", "SQ", "SINV")), clause)
    if clause is not None:
        return clause
    verb = first_of(children, VERB_TAGS)
    if verb is not None:
        return _inverted(node, children)
    rest = [each for each in children if "SBJ" not in each.functions]
    if len(rest) < len(children) or children[0].category == "NP":
        small = [each for each in rest if each.category in _SMALL_CLAUSE]
        if small:
            return small[-1] if small[-1].category not in CLAUSES else small[0]
    return any_head(node, children)


def is_aside(clause: Phrase) -> bool:
    """Return whether a clause consists of *you know*, *I mean* or the like."""
    first, last = clause.first, clause.last
    return last.index == first.index + 1 and first.word in ("you", "i") and last.word in THINKING


def _is_reported(clause: Phrase, verbal: Phrase, children: list[Phrase]) -> bool:
    """Return whether a clause is what a verb after it reports: *It is cold* in *It is cold, he thought*.

    Args:
        clause: the clause.
        verbal: the verb phrase after it.
        children: children of the sentence.
    """
    if children.index(clause) > children.index(verbal) or verbal.lexical.word not in THINKING:
        return False
    if any(each.category in ("``", "''") for each in clause.after()):
        return False
    return not any(each.category in ("S", "SBAR", "SQ", "SBARQ", "NP") for each in verbal.children)


def _inverted(node: Phrase, children: list[Phrase]) -> Phrase:
    """Return the head child of a question or another clause whose verb precedes its subject."""
    verb = first_of(children, AUXILIARY_TAGS)
    if verb is None:
        return _clause(node, children) if first_of(children, ("VP", "S")) else any_head(node, children)
    after = children[children.index(verb) + 1 :]
    main = first_of(after, ("VP",))
    if main is not None:
        return main
    if verb.word not in BE or is_existential(node):
        return verb
    subject = next((each for each in after if each.category in NOMINAL), None)
    marked = next((each for each in children if "PRD" in each.functions), None)
    return marked or _predicate([each for each in after if each is not subject]) or verb


def _subordinate(node: Phrase, children: list[Phrase]) -> Phrase:
    clause = first_of(children, ("S", "SQ", "SINV", "SBARQ", "VP", "FRAG"))
    question = first_of(children, WH_PHRASES)
    if children[0].category == "NP" and children[0].first.word in ("what", "whatever", "whoever"):
        question = children[0]
    if question is not None and question is children[0] and is_free_relative(node, question):
        return question
    return clause or first_of(children, ("SBAR",)) or question or any_head(node, children)


def is_free_relative(node: Phrase, question: Phrase) -> bool:
    """Return whether a clause is a free relative, such as *what you see* or *how it works*.

    Args:
        node: the clause.
        question: its question word or phrase.
    """
    if node.category != "SBAR":
        return False
    parent = node.parent
    for _ in range(DEPTH):
        if parent is None or parent.category != "SBAR":
            break
        parent = parent.parent
    if parent is None or (parent.category in ("NP", "NX", "WHNP") and parent.children[0] is not node):
        return False
    word = question.first.word
    if word in ("what", "how", "why", "whatever", "wherever", "whoever", "whichever", "however"):
        return not (question.category == "WHADVP" and word == "however")
    if word == "where" or word == "who" or question.first.category in ("WDT", "WP"):
        return parent.category != "S" or "SBJ" in node.functions
    return False


def _make_predicate(node: Phrase) -> None:
    """Make the question word the head of a clause in which it is the predicate: *what* in *what it is*.

    Args:
        node: a clause with a question word; unchanged if the verb is no copula or has another predicate.
    """
    question = next((each for each in node.children if each.category in WH_PHRASES), None)
    verb = node.lexical
    if question is None or node.pivot is question or verb.word not in BE or is_existential_below(node):
        return
    if question.category == "WHNP" and "SBJ" in question.functions:
        return
    chain: Phrase | None = node
    has_subject = False
    links: list[Phrase] = []
    while chain is not None and chain.children and len(links) < DEPTH:
        links.append(chain)
        has_subject |= chain is not node and any(each.category == "NP" for each in chain.children)
        chain = chain.pivot
    if has_subject:
        node.pivot = question
        for link in links:
            link.head, link.lexical = question.head, question.lexical
            if link is not node:
                link.pivot = None


def is_existential_below(node: Phrase) -> bool:
    """Return whether a clause, or a phrase on its chain of head children, has the subject *there*."""
    link: Phrase | None = node
    for _ in range(DEPTH):
        if link is None:
            return False
        if any(each.category == "NP" and each.last.category == "EX" for each in link.children):
            return True
        link = link.pivot
    return False


_FINDERS: dict[str, Callable[[Phrase, list[Phrase]], Phrase]] = {
    "VP": _verb_phrase,
    "S": _clause,
    "SQ": _inverted,
    "SINV": _clause,
    "SBAR": _subordinate,
    "SBARQ": _subordinate,
    "PP": prepositional,
    "WHPP": prepositional,
    "ADJP": adjectival,
    "WHADJP": adjectival,
    "ADVP": adverbial,
    "WHADVP": adverbial,
    "QP": quantity,
    "CONJP": conjunction,
    "INTJ": interjection,
    **dict.fromkeys(["NP", "NX", "NML", "NAC", "WHNP"], noun_phrase),
}
