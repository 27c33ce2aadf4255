"""The corpora written for this project are what ``corpora/README.md`` says they are.

They are checked with a reader of a few lines, apart from the package's own, so that neither hides the
other's mistakes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

TREEBANK_SIZES = {"train.mrg": 171, "dev.mrg": 30, "spanish.mrg": 25}
TAG_NAMES = (
    "CC CD DT EX IN JJ JJR JJS MD NN NNS NNP NNPS PDT POS PRP PRP$ RB RP TO UH VB VBD VBG VBN VBP VBZ "
    "WDT WP WRB $ , . : `` '' -LRB- -RRB- -NONE-"
)
PTB_TAGS = set(TAG_NAMES.split())
PHRASE_NAMES = "ADJP ADVP ADVP|PRT FRAG INTJ NP PP PRN PRT QP S SBAR SBARQ SINV SQ VP WHADVP WHNP WHPP"
PTB_PHRASES = set(PHRASE_NAMES.split())
EVERYDAY_TAGS = PTB_TAGS - {"-NONE-"} | {"FW", "HYPH", "LS", "RBR", "SYM", "WP$"}
EVERYDAY_PHRASES = PTB_PHRASES - {"ADVP|PRT"} | {"LST", "UCP", "WHADJP"}


def constituents(path: Path) -> Iterator[list[tuple[str, list[str]]]]:
    """For each tree, (label, words or labels of the children) of each node, children first."""
    stack: list[tuple[str, list[str]]] = []
    closed: list[tuple[str, list[str]]] = []
    for bracket, token in re.findall(r"(\(|\))|([^\s()]+)", path.read_text(encoding="utf-8")):
        if bracket == "(":
            stack.append(("", []))
        elif token:
            assert stack, f"{token!r} outside any tree"
            label, children = stack[-1]
            stack[-1] = (label, [*children, token]) if label else (token, children)
        else:
            assert stack, "a bracket closes nothing"
            node = stack.pop()
            closed.append(node)
            if stack:
                stack[-1][1].append(f"({node[0]}")
            else:
                yield closed
                closed = []
    assert not stack, "a bracket is never closed"


def preterminals(nodes: list[tuple[str, list[str]]]) -> list[tuple[str, str]]:
    return [(label, children[0]) for label, children in nodes if not children[0].startswith("(")]


def words(path: Path) -> list[list[str]]:
    return [[w for tag, w in preterminals(nodes) if tag != "-NONE-"] for nodes in constituents(path)]


def sentences(path: Path) -> list[str]:
    return [" ".join(sentence) for sentence in words(path)]


def category(label: str) -> str:
    return re.split(r"[-=]", label)[0] if not label.startswith("-") else label


@pytest.mark.parametrize("name", TREEBANK_SIZES)
def test_trees_are_whole(own_treebank: Path, name: str) -> None:
    trees = list(constituents(own_treebank / name))
    assert len(trees) == TREEBANK_SIZES[name]
    for nodes in trees:
        for label, children in nodes:
            leaves = [child for child in children if not child.startswith("(")]
            assert children, f"nothing under {label!r}"
            assert not leaves or len(children) == 1, f"a leaf without a tag of its own: {label} {children}"


@pytest.mark.parametrize("name", ["train.mrg", "dev.mrg"])
def test_labels_are_those_of_the_penn_treebank(own_treebank: Path, name: str) -> None:
    for nodes in constituents(own_treebank / name):
        tags = {tag for tag, _ in preterminals(nodes)}
        assert tags <= PTB_TAGS
        phrases = {category(label) for label, children in nodes if label and children[0].startswith("(")}
        assert phrases <= PTB_PHRASES


@pytest.mark.parametrize("name", ["train.mrg", "dev.mrg"])
def test_no_phrase_stands_over_itself_alone(own_treebank: Path, name: str) -> None:
    for nodes in constituents(own_treebank / name):
        for label, children in nodes:
            assert not (len(children) == 1 and children[0].startswith("(") and children[0][1:] == label)


def test_sentences_are_ordinary_and_all_different(own_treebank: Path) -> None:
    names = ("train.mrg", "dev.mrg")
    every = [sentence for name in names for sentence in sentences(own_treebank / name)]
    assert len(set(every)) == len(every)
    assert {2, 30} == {min(s.count(" ") + 1 for s in every), max(s.count(" ") + 1 for s in every)}


def test_what_a_reader_must_cope_with_is_there(own_treebank: Path) -> None:
    text = (own_treebank / "train.mrg").read_text(encoding="utf-8")
    for wanted in ("( (S\n", "\n(S ", "-NONE- *T*-1", "-NONE- 0", "NP-SBJ", "-LRB- -LRB-", "`` ``", "'' ''"):
        assert wanted in text
    assert text.count("(ADVP|PRT ") == 1


def test_nearly_every_word_of_dev_is_in_train(own_treebank: Path) -> None:
    known = {word for sentence in words(own_treebank / "train.mrg") for word in sentence}
    tokens = [word for sentence in words(own_treebank / "dev.mrg") for word in sentence]
    unknown = [word for word in tokens if word not in known]
    assert 0 < len(unknown) <= 0.05 * len(tokens), unknown


def test_spanish_is_utf8_and_one_tree_a_line(own_treebank: Path) -> None:
    lines = (own_treebank / "spanish.mrg").read_text(encoding="utf-8").splitlines()
    assert len(lines) == TREEBANK_SIZES["spanish.mrg"]
    assert all(line.count("(") == line.count(")") for line in lines)
    assert "lámpara" in lines[1]


def test_text_has_what_makes_splitting_hard(own_corpora: Path) -> None:
    text = (own_corpora / "text" / "lighthouse.txt").read_text(encoding="utf-8")
    for wanted in ("Mrs. ", "a.m.", "$84.20", "31.5", "(", '"', "...", "hand-held", "\n\n", "can't"):
        assert wanted in text


def test_tokenised_and_tagged_lines(own_corpora: Path) -> None:
    tokenized = (own_corpora / "text" / "tokenized.txt").read_text(encoding="utf-8").splitlines()
    assert len(tokenized) == 10
    assert tokenized.count("") == 1
    tagged = (own_corpora / "text" / "tagged.txt").read_text(encoding="utf-8").split()
    assert {pair.rpartition("_")[2] for pair in tagged} <= PTB_TAGS
    assert "test_parser_NN" in tagged


def test_every_file_is_described(own_corpora: Path) -> None:
    described = (own_corpora / "README.md").read_text(encoding="utf-8")
    for path in own_corpora.glob("*/*"):
        assert f"{path.name}`" in described, path


def everyday_table(own_corpora: Path) -> dict[str, list[str]]:
    """The cells behind each category in the README's table: train, dev, example, F1, exact trees, tags."""
    text = (own_corpora / "everyday" / "README.md").read_text(encoding="utf-8")
    rows = (line.strip("|").split("|") for line in text.splitlines() if re.match(r"\| \w+ \| \d", line))
    return {row[0].strip(): [cell.strip() for cell in row[1:]] for row in rows}


def test_everyday_trees_are_whole_and_labelled_alike(own_corpora: Path) -> None:
    for path in (own_corpora / "everyday").rglob("*.mrg"):
        trees = list(constituents(path))
        assert len(trees) == len(path.read_text(encoding="utf-8").splitlines())
        for nodes in trees:
            leaves = preterminals(nodes)
            assert {tag for tag, _ in leaves} <= EVERYDAY_TAGS, path
            phrases = {label for label, children in nodes if children[0].startswith("(")}
            assert phrases <= EVERYDAY_PHRASES, path
            for label, children in nodes:
                assert len(children) > 0
                assert children != [f"({label}"], f"{path}: {label} over itself alone"
                assert len(children) == 1 or all(child.startswith("(") for child in children)


def test_everyday_sentences_are_those_of_the_table_and_all_different(own_corpora: Path) -> None:
    everyday = own_corpora / "everyday"
    table = everyday_table(own_corpora)
    assert {path.stem for path in everyday.rglob("*.mrg")} == set(table) - {"all"}
    seen = []
    for name, cells in table.items():
        if name == "all":
            continue
        train, dev = (sentences(everyday / part / f"{name}.mrg") for part in ("train", "dev"))
        assert [len(train), len(dev)] == [int(cell) for cell in cells[:2]]
        assert cells[2] in train + dev
        seen += train + dev
        for annotator in ("first", "second"):
            annotated = sentences(everyday / "annotations" / annotator / f"{name}.mrg")
            assert annotated[2::4] == dev
            assert [s for i, s in enumerate(annotated) if i % 4 != 2] == train
    assert len(seen) == len(set(seen)) == 800
    assert [str(sum(int(table[n][i]) for n in table if n != "all")) for i in (0, 1)] == table["all"][:2]


def test_the_agreement_is_that_of_the_table(own_corpora: Path) -> None:
    from spectralnlp.scoring import score_trees
    from spectralnlp.trees.readers import read_trees

    annotations = own_corpora / "everyday" / "annotations"
    table = everyday_table(own_corpora)
    first, second = (
        {name: list(read_trees(annotations / part / f"{name}.mrg")) for name in table if name != "all"}
        for part in ("first", "second")
    )
    for trees in (first, second):
        trees["all"] = [tree for name in table if name != "all" for tree in trees[name]]
    for name, cells in table.items():
        scores = score_trees(first[name], second[name]).overall
        figures = (scores.f1, scores.complete_match, scores.tagging_accuracy)
        assert cells[3:] == [f"{figure:.1f}" for figure in figures], name
