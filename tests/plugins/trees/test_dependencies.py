"""Dependencies of constructions, of all our own trees, of deep and wide ones, and of GUM."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from time import process_time

import numpy as np
import pytest
from constructions import STANFORD, UNIVERSAL
from hypothesis import given, settings
from hypothesis import strategies as st
from spectralnlp_trees import SCHEMES, Dependencies, to_dependencies

from spectralnlp import Parse
from spectralnlp.errors import ConfigError, InputError
from spectralnlp.text.tokens import Sentence
from spectralnlp.trees import Tree, english_head, read_brackets, read_trees, strip_traces

_ARC = re.compile(r"([\w:]+)\(([^\s]+), ([^\s]+)\)(?: |$)")


def _tree(brackets: str) -> Tree:
    (tree,) = read_brackets([brackets])
    return tree


def _shown(found: Dependencies) -> str:
    """The arcs as the tables write them."""
    seen: Counter[str] = Counter()
    names = []
    for word in found.words:
        seen[word] += 1
        names.append(word if seen[word] == 1 else f"{word}-{seen[word]}")
    return " ".join(
        f"{relation}({'0' if head < 0 else names[head]}, {name})"
        for name, head, relation in zip(names, found.heads, found.relations, strict=True)
        if relation != "punct"
    )


def _check_tree(found: Dependencies) -> None:
    """One root, and every word reaches it."""
    assert [relation == "root" for relation in found.relations] == [head == -1 for head in found.heads]
    assert found.heads.count(-1) == 1
    reached = {found.root}
    for start in range(len(found)):
        path = []
        word = start
        while word not in reached:
            assert word not in path[-len(found) :][:1], "a circle"
            path.append(word)
            assert len(path) <= len(found)
            word = found.heads[word]
        reached.update(path)


@pytest.mark.parametrize(("what", "brackets", "expected"), UNIVERSAL, ids=[row[0] for row in UNIVERSAL])
def test_universal_dependencies(what: str, brackets: str, expected: str) -> None:
    found = to_dependencies(_tree(brackets))
    assert sorted(_ARC.findall(_shown(found))) == sorted(_ARC.findall(expected))


@pytest.mark.parametrize(("what", "brackets", "expected"), STANFORD, ids=[row[0] for row in STANFORD])
def test_stanford_dependencies(what: str, brackets: str, expected: str) -> None:
    found = to_dependencies(_tree(brackets), "stanford")
    assert sorted(_ARC.findall(_shown(found))) == sorted(_ARC.findall(expected))


def test_universal_parts_of_speech() -> None:
    tree = _tree(
        "(S (NP (DT That)) (VP (VBZ is) (RB not) (NP (NP (DT the) (NN thing)) (SBAR (IN that) (S (NP (NN "
        "someone)) (VP (VBZ has) (S (VP (TO to) (VP (VB do)))))))))(. .))"
    )
    assert " ".join(to_dependencies(tree).universal_tags) == (
        "PRON AUX PART DET NOUN SCONJ PRON VERB PART VERB PUNCT"
    )


def test_function_tags_traces_and_roots_make_no_difference() -> None:
    with_ = _tree(
        "( (S (NP-SBJ-1 (PRP He)) (VP (VBZ wants) (S (NP-SBJ (-NONE- *-1)) (VP (TO to) (VP (VB go)))))))"
    )
    without = _tree("(S (NP (PRP He)) (VP (VBZ wants) (S (VP (TO to) (VP (VB go))))))")
    assert to_dependencies(with_) == to_dependencies(without)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_our_own_trees_become_trees(own_corpora: Path, scheme: str) -> None:
    n_trees = 0
    for path in sorted((own_corpora / "treebank").glob("*.mrg")):
        for tree in read_trees(path):
            spoken = strip_traces(tree)
            assert spoken is not None
            found = to_dependencies(tree, scheme)
            _check_tree(found)
            assert len(found) == len(spoken.words())
            n_trees += 1
    assert n_trees > 100


def test_trees_of_other_languages(own_corpora: Path) -> None:
    for path in sorted((own_corpora / "formats").iterdir()):
        for tree in read_trees(path):
            if strip_traces(tree) is not None:
                found = to_dependencies(tree, "heads")
                _check_tree(found)
                assert set(found.relations) <= {"root", "dep", "punct"}


_LABELS = st.sampled_from(
    [
        "S",
        "VP",
        "NP",
        "PP",
        "SBAR",
        "SBARQ",
        "SQ",
        "SINV",
        "ADJP",
        "ADVP",
        "QP",
        "WHNP",
        "WHADVP",
        "PRN",
        "FRAG",
        "UCP",
        "CONJP",
        "INTJ",
        "X",
    ]
)
_TAGS = st.sampled_from(
    [
        "NN",
        "NNP",
        "DT",
        "JJ",
        "IN",
        "TO",
        "VB",
        "VBZ",
        "VBN",
        "VBG",
        "MD",
        "CC",
        ",",
        ".",
        ":",
        "CD",
        "$",
        "HYPH",
        "WP",
        "WDT",
        "WRB",
        "POS",
        "EX",
        "PRP",
        "UH",
        "RP",
        "FW",
    ]
)
_WORDS = st.sampled_from(
    [
        "is",
        "be",
        "it",
        "there",
        "of",
        "course",
        "you",
        "know",
        "I",
        "mean",
        "at",
        "least",
        "such",
        "as",
        "in",
        "order",
        "'s",
        "to",
        "by",
        "what",
        "not",
    ]
)
_TREES = st.recursive(
    st.builds(lambda tag, word: Tree(tag, word=word), _TAGS, _WORDS),
    lambda below: st.builds(Tree, _LABELS, st.lists(below, min_size=1, max_size=5)),
    max_leaves=25,
)


@settings(max_examples=150, deadline=None)
@given(_TREES, st.sampled_from(SCHEMES))
def test_any_tree_becomes_a_tree(tree: Tree, scheme: str) -> None:
    found = to_dependencies(tree, scheme)
    _check_tree(found)
    assert len(found) == len(tree.words())
    rows = [line.split("\t") for line in found.to_conllu().splitlines() if line and line[0] != "#"]
    assert [len(row) for row in rows] == [10] * len(found)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("label", ["VP", "S", "NP"])
def test_deep_and_wide_trees_take_linear_time(label: str, scheme: str) -> None:
    n = 20_000
    deep = wide = Tree("NN", word="a")
    for _ in range(n):
        deep = Tree(label, [Tree("MD", word="can"), deep])
    wide = Tree(label, [Tree("NN", word="a"), Tree(",", word=",")] * (n // 2))
    started = process_time()
    for tree in (deep, wide):
        assert to_dependencies(tree, scheme).heads.count(-1) == 1
    assert process_time() - started < 20


def test_conllu() -> None:
    tree = _tree(
        "(S (NP (PRP It)) (PRN (-LRB- -LRB-) (ADVP (RB still)) (-RRB- -RRB-)) (VP (VBZ rains)) (. .))"
    )
    expected = """\
# sent_id = 1
# text = It ( still ) rains .
1	It	_	PRON	PRP	_	5	expl	_	_
2	(	_	PUNCT	-LRB-	_	3	punct	_	_
3	still	_	ADV	RB	_	5	advmod	_	_
4	)	_	PUNCT	-RRB-	_	3	punct	_	_
5	rains	_	VERB	VBZ	_	0	root	_	_
6	.	_	PUNCT	.	_	5	punct	_	_
"""
    assert to_dependencies(tree).to_conllu({"sent_id": "1"}) == expected
    assert tree.to_conllu("ud").splitlines()[2:] == expected.splitlines()[2:]
    parse = Parse(tree, Sentence.from_words(["It", "(", "still", ")", "rains", "."]), None, (), None)
    assert parse.to_conllu("ud").splitlines()[2:] == expected.splitlines()[2:]
    assert "\tnsubj\t" not in parse.to_conllu("heads")


def test_heads_of_nodes() -> None:
    tree = _tree("(S (NP (PRP It)) (VP (VBZ is) (ADJP (JJ late))))")
    labels = [node.label for node in tree.nodes()]
    assert dict(zip(labels, tree.heads("english"), strict=True))["S"] == 1
    assert dict(zip(labels, tree.heads("content"), strict=True))["S"] == 2
    assert tree.heads(english_head) == tree.heads("english") == tree.heads()
    assert _tree("(S-ADV (NP-SBJ (PRP It)) (VP-1 (VBZ is)))").heads("english")[0] == 1
    assert _tree("(NN a)").heads("neutral") == [0]


def test_errors_are_one_line() -> None:
    tree = _tree("(S (NP (PRP It)))")
    with pytest.raises(ConfigError, match="no dependency scheme 'x'; choose from ud, stanford, heads"):
        to_dependencies(tree, "x")
    with pytest.raises(ConfigError, match="no head rules are called 'x'"):
        tree.heads("x")
    with pytest.raises(InputError, match="a tree without words"):
        to_dependencies(_tree("(S (-NONE- *))"))


@pytest.mark.parametrize(
    ("brackets", "expected"),
    [
        # Commas: to the unit behind that depends backwards, else to the one in front.
        ("(S (PP (IN In) (NP (NN spring))) (, ,) (NP (PRP they)) (VP (VBP sing)) (. .))", ", spring . sing"),
        ("(S (NP (PRP They)) (VP (VBP sing) (, ,) (S (VP (VBG smiling)))) (. .))", ", smiling . sing"),
        ("(S (NP (NNS hats) (, ,) (NNS coats) (CC and) (NNS bags)) (VP (VBP sell)))", ", coats"),
        ("(S (NP (PRP It)) (, ,) (ADVP (RB now)) (, ,) (VP (VBZ rains)) (. !))", ", It , now ! rains"),
        # Pairs: to what they enclose.
        ("(S (`` ``) (S (NP (PRP It)) (VP (VBZ rains))) (, ,) ('' '') (NP (PRP he)) (VP (VBD said)) (. .))",
         "`` rains , rains '' rains . said"),
        ("(NP (NN rain) (PRN (-LRB- -LRB-) (NP (JJ deep) (NN snow)) (-RRB- -RRB-)))", "( snow ) snow"),
        ("(NP (: --) (NN rain) (: --))", "-- rain -- rain"),
        ("(X (. .) (. .) (NN a))", ". a . a"),
        ("(X (. .) (. !))", "! ."),
    ],
)  # fmt: skip
def test_heads_of_punctuation(brackets: str, expected: str) -> None:
    found = to_dependencies(_tree(brackets))
    words = zip(found.words, found.heads, found.relations, strict=True)
    shown = [f"{word} {found.words[head]}" for word, head, relation in words if relation == "punct"]
    assert " ".join(shown) == expected


@pytest.mark.parametrize("word", ["&", "%", "+", "5", "#"])
def test_symbols_are_no_punctuation(word: str) -> None:
    tree = _tree(f"(NP (NN a) (CONJ {word}) (NN b) (PONCT ;))")
    assert to_dependencies(tree, "heads").relations == ("root", "dep", "dep", "punct")
    assert to_dependencies(tree).relations[1] != "punct"


@pytest.mark.corpus
def test_gum_reaches_what_is_promised(shared: Path) -> None:
    from benchmarks.dependencies import converted, sentences

    pairs = sentences(shared / "corpora", "dev")
    scores, _ = converted((tree for tree, _ in pairs), [gold for _, gold in pairs])
    assert all(np.greater_equal(scores.percentages, (93, 90, 92, 89.5)))


TIGER = """\
<corpus><body><s id="s1"><graph root="s1_501"><terminals>
<t id="s1_1" word="Boote" pos="NN"/>
<t id="s1_2" word="bald" pos="ADV"/>
<t id="s1_3" word="sinken" pos="VVFIN"/>
</terminals><nonterminals><nt id="s1_501" cat="S">
<edge label="SB" idref="s1_1"/><edge label="MO" idref="s1_2"/><edge label="HD" idref="s1_3"/>
</nt></nonterminals></graph></s></body></corpus>
"""


def test_heads_that_a_treebank_marks(tmp_path: Path) -> None:
    from spectralnlp_trees import count

    path = tmp_path / "a.xml"
    path.write_text(TIGER)
    (tree,) = read_trees(path)
    assert to_dependencies(tree, "heads").heads == (2, 2, -1)
    assert (count([tree], "S <# VVFIN"), count([tree], "S <# NN")) == (1, 0)
