"""NEGRA export and TigerXML: malformed sentences, and crossing branches made continuous."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spectralnlp.errors import InputError
from spectralnlp.tasks.tagging import TaggingTask
from spectralnlp.trees import Tree, read_brackets, read_trees, recognise, strip_traces
from spectralnlp.trees.readers import EXPORT, TIGER_XML, ReadingChanges
from spectralnlp.trees.readers.raising import continuous
from spectralnlp.trees.readers.sentence_graph import SentenceGraph


def export(*sentences: str) -> str:
    """Sentences, one a text of nodes apart by '/', fields by blanks: word tag edge parent."""
    lines = []
    for number, sentence in enumerate(sentences, 1):
        lines.append(f"#BOS {number} 0 0 0")
        for node in sentence.split("/"):
            name, label, edge, parent = node.split()
            lines.append("\t".join([name, label, "--", edge, parent]))
        lines.append(f"#EOS {number}")
    return "\n".join(lines) + "\n"


GOOD = "a A HD 500/#500 S -- 0"


def read_export(tmp_path: Path, text: str) -> list[str]:
    path = tmp_path / "a.export"
    path.write_text(text, encoding="utf-8")
    return [str(tree) for tree in EXPORT.read(path)]


@pytest.mark.parametrize(
    ("sentence", "message"),
    [
        ("a A HD 501/#500 S -- 0", r":6 \(sentence 2\): node of word 1 hangs from 501, which is missing"),
        ("a A HD 500/#500 S -- 501/#501 S -- 500", r":7 \(sentence 2\): node 500 is above itself"),
        ("a A HD 500/#500 S -- 500", r"node 500 is above itself"),
        ("a A HD 500/#500 S -- 0/#501 S -- 0", r":8 \(sentence 2\): phrase 501 has nothing below it"),
        ("a A HD 500/#500 S -- 0/#500 S -- 0", r":8 \(sentence 2\): a second node 500"),
        ("a A HD x/#500 S -- 0", r":6 \(sentence 2\): 'x' is no number of a parent"),
        ("#500 S -- 0", "a sentence without words"),
    ],
)
def test_bad_export_sentences(tmp_path: Path, sentence: str, message: str) -> None:
    path = tmp_path / "a.export"
    path.write_text(export(GOOD, sentence, GOOD), encoding="utf-8")
    with pytest.raises(InputError, match=message):
        list(EXPORT.read(path))
    errors: list[InputError] = []
    assert len(list(EXPORT.read(path, errors.append))) == 2
    assert len(errors) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("#FORMAT 7\n" + export(GOOD), ":1: export format '7'; formats 3 and 4"),
        ("(S (NN a))\n", ":1: a line outside sentences"),
        ("#EOS 3\n", ":1: an #EOS 3 that ends nothing"),
        ("#BOS 1\na\tA\t--\tHD\t0\n", r":1 \(sentence 1\): #BOS 1 has no #EOS by the end of the file"),
        ("#BOS 1\na\tA\t--\tHD\t0\n#BOS 2\n", "#BOS 1 has no #EOS before that of line 3"),
        ("#BOS 1\na\tA\t--\tHD\t0\n#EOS 2\n", ":3 .*: #BOS 1 ends with #EOS 2"),
        ("#BOS 1\na\tA\tHD\t0\n#EOS 1\n", ":2 .*: 4 columns, 5 are the least"),
        ("#FORMAT 4\n" + export(GOOD), ":3 .*: 5 columns, 6 are the least"),
    ],
)
def test_bad_export_files(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_export(tmp_path, text)


def test_reading_goes_on_after_an_unclosed_sentence(tmp_path: Path) -> None:
    path = tmp_path / "a.export"
    path.write_text("#BOS 1\nx\tA\t--\tHD\t0\n" + export(GOOD, GOOD), encoding="utf-8")
    errors: list[InputError] = []
    assert [str(tree) for tree in EXPORT.read(path, errors.append)] == ["( (S (A a)))"] * 2
    assert len(errors) == 1


def test_export_is_recognised_by_its_first_sentence(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("%% word\ttag\n%% more\n" + export(GOOD).replace("OS 1", "OS s1.a"), encoding="utf-8")
    assert recognise(path) is EXPORT
    assert [str(tree) for tree in read_trees(path)] == ["( (S (A a)))"]
    assert [each.tags() for each in EXPORT.read(path)] == [["A"]]
    (sentence,) = TaggingTask().read(path)
    assert sentence.tagged() == (("a",), ("A",))


def test_export_fields(tmp_path: Path) -> None:
    words = "#\tSYM\t--\tHD\t500\tSB\t501 %% comment\nNew York\tNE\t--\t--\t500\n"
    text = f"%% a comment\n#BOS 1\n{words}#500\tX\t--\t--\t0\n#EOS 1"
    assert read_export(tmp_path, text) == ["( (X (SYM #) (NE New_York)))"]


def xml(body: str) -> str:
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<corpus><body>\n{body}\n</body></corpus>\n'


def sentence(terminals: str, nonterminals: str, root: str = "p") -> str:
    return f'<s id="s"><graph root="{root}">\n{terminals}\n{nonterminals}\n</graph></s>'


T = '<t id="a" word="x" pos="X"/>'
NT = '<nt id="p" cat="S"><edge label="HD" idref="a"/></nt>'


def read_xml(tmp_path: Path, text: str) -> list[str]:
    path = tmp_path / "a.xml"
    path.write_text(text, encoding="utf-8")
    return [str(tree) for tree in TIGER_XML.read(path)]


def test_tiger_xml(tmp_path: Path) -> None:
    text = xml(sentence(T, NT) + "\n" + sentence('<t id="a" word="a b(&amp;" pos="$("/>', "", root="a"))
    assert read_xml(tmp_path, text) == ["( (S (X x)))", "( ($-LRB- a_b-LRB-&))"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (sentence(T, NT.replace('"a"', '"b"')), r":5 \(sentence 1\): node b is missing, which p is above"),
        (sentence(T, NT, "q"), "the root, q, is missing"),
        (
            sentence(T, NT + '<nt id="q" cat="X"><edge label="HD" idref="p"/></nt>'),
            "phrase q is not under the root",
        ),
        (
            sentence(
                T,
                '<nt id="p" cat="S"><edge label="HD" idref="a"/><edge label="X" idref="q"/></nt>'
                '<nt id="q" cat="X"><edge label="HD" idref="p"/></nt>',
            ),
            "node p is above itself",
        ),
        (
            sentence(T, NT + '<nt id="q" cat="X"><edge label="HD" idref="a"/></nt>'),
            "node a has two parents, p and q",
        ),
        (sentence(T + T, NT), "a second node a"),
        (sentence('<t id="a" word="x"/>', NT), "<t> without 'pos'"),
        (sentence('<t id="a" word="" pos="X"/>', NT), "a word is missing"),
        (sentence("", ""), "the root, p, is missing"),
        (sentence(T, '<nt id="p" cat="S"/>'), "not under the root|nothing below"),
        ('<s id="s"></s>', "a sentence without a graph"),
    ],
)
def test_bad_tiger_sentences(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "a.xml"
    path.write_text(xml(text + "\n" + sentence(T, NT)), encoding="utf-8")
    with pytest.raises(InputError, match=rf"sentence 1.*{message}|{message}"):
        list(TIGER_XML.read(path))
    errors: list[InputError] = []
    assert [str(tree) for tree in TIGER_XML.read(path, errors.append)] == ["( (S (X x)))"]
    assert len(errors) == 1


def test_words_that_hang_from_nothing_are_attached_as_in_export(tmp_path: Path) -> None:
    words = "".join(f'<t id="{name}" word="{name}" pos="{name.upper()}"/>' for name in "abcd")
    edges = '<edge label="HD" idref="a"/><edge label="MO" idref="c"/>'
    phrase = f'<nt id="p" cat="S">{edges}</nt>'
    nodes = "a A HD 500/b B -- 0/c C MO 500/d D -- 0/#500 S -- 0"
    expected = ["( (S (A a) (B b) (C c)) (D d))"]
    assert (
        read_xml(tmp_path, xml(sentence(words, phrase))) == expected == read_export(tmp_path, export(nodes))
    )
    root = '<nt id="r" cat="VROOT"><edge label="--" idref="p"/></nt>'
    assert read_xml(tmp_path, xml(sentence(words, phrase + root, "r"))) == expected
    assert "1 attached from the root" in str(TIGER_XML.changes(tmp_path / "a.xml"))


BOMB = '<!DOCTYPE c [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>\n<corpus><s>&b;</s></corpus>'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (BOMB, "a.xml:1: a document type or an entity is declared; remove"),
        (
            '<?xml version="1.0"?>\n<!DOCTYPE corpus SYSTEM "http://example.org/x.dtd">\n<corpus/>',
            ":2: a document type",
        ),
        ("<html><body/></html>", ":1: an XML file of <html>, not TigerXML"),
        ('<corpus><body><subcorpus external="file:b.xml"/></body></corpus>', "in another file, file:b.xml"),
        (xml(sentence(T, NT))[:-30], r":\d \(sentence 1\): not well-formed XML"),
        ("<corpus>\n<s>\n</corpus>", r":3 \(sentence 1\): not well-formed XML: mismatched tag"),
        ("<corpus>&nbsp;</corpus>", "undefined entity"),
        ('<?xml version="1.0" encoding="martian"?><corpus/>', "no encoding is called 'martian'"),
        ('<?xml version="1.0" encoding="utf-16"?><corpus/>', "utf-16 cannot be read line by line"),
    ],
)
def test_bad_xml(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_xml(tmp_path, text)
    errors: list[InputError] = []
    list(TIGER_XML.read(tmp_path / "a.xml", errors.append))
    assert len(errors) == 1


def test_encodings_of_xml(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    text = xml(sentence(T.replace('"x"', '"Brücke"'), NT))
    path.write_bytes(text.replace("UTF-8", "ISO-8859-1").encode("iso-8859-1"))
    assert [tree.words() for tree in TIGER_XML.read(path)] == [["Brücke"]]
    path.write_bytes(text.encode("iso-8859-1"))
    with pytest.raises(
        InputError, match=r"a\.xml:4: .*not UTF-8; it reads as iso-8859-1: name it with encoding"
    ):
        list(TIGER_XML.read(path))
    assert [tree.words() for tree in TIGER_XML.with_encoding("iso-8859-1").read(path)] == [["Brücke"]]


# A verb phrase whose object stands first and whose head stands last, with a comma that hangs from the root.
@pytest.mark.parametrize(
    ("nodes", "tree"),
    [
        # The object is raised out of a verb phrase.
        (
            "o O OA 500/f F HD 501/s S SB 501/v V HD 500/#500 VP OC 501/#501 S -- 0",
            "( (S (O o) (F f) (S s) (VP (V v))))",
        ),
        # Punctuation is attached before anything is raised, so that it breaks nothing.
        (
            "a A HD 500/, , -- 0/b B MO 500/. . -- 0/#500 S -- 0",
            "( (S (A a) (, ,) (B b)) (. .))",
        ),
        # Two marks in a row go to the same phrase.
        (
            "a A HD 500/, , -- 0/- - -- 0/b B MO 500/#500 S -- 0",
            "( (S (A a) (, ,) (- -) (B b)))",
        ),
        # Over two levels: the part is raised until nothing crosses.
        (
            "o O OA 500/f F HD 502/v V HD 500/w W HD 501/#500 VP OC 501/#501 VP OC 502/#502 S -- 0",
            "( (S (O o) (F f) (VP (VP (V v)) (W w))))",
        ),
        # The head decides, wherever it stands; without one, the look of the labels.
        (
            "n NN NK 500/v V HD 501/r R MO 500/#500 NP SB 501/#501 S -- 0",
            "( (S (NP (NN n)) (V v) (R r)))",
        ),
        (
            "n X NK 500/v V HD 501/r R HD 500/#500 NP SB 501/#501 S -- 0",
            "( (S (X n) (V v) (NP (R r))))",
        ),
    ],
)
def test_crossing_branches(tmp_path: Path, nodes: str, tree: str) -> None:
    assert read_export(tmp_path, export(nodes)) == [tree]


@st.composite
def graphs(draw: st.DrawFn) -> SentenceGraph:
    n_words, n_phrases = draw(st.integers(1, 8)), draw(st.integers(1, 5))
    # A phrase hangs from an earlier one or from the root; each has a word of its own, if there are enough.
    above = [draw(st.integers(-1, phrase - 1)) for phrase in range(n_phrases)]
    n_words = max(n_words, n_phrases)
    order = draw(st.permutations(range(n_words)))
    over = [
        phrase if phrase < n_phrases else draw(st.integers(-1, n_phrases - 1)) for phrase in range(n_words)
    ]
    number = [-1 if phrase < 0 else phrase + n_words for phrase in [*(over[i] for i in order), *above]]
    functions = [draw(st.sampled_from(["HD", "MO"])) for _ in number]
    labels = [f"w{i}" for i in range(n_words)] + [f"P{i}" for i in range(n_phrases)]
    return SentenceGraph([f"x{i}" for i in range(n_words)], labels, functions, number)


@given(graphs())
def test_every_node_is_in_the_continuous_tree_once(graph: SentenceGraph) -> None:
    counts = ReadingChanges()
    tree = continuous(graph, counts)
    assert tree.words() == graph.words
    assert sorted(node.label for node in tree.nodes() if node is not tree) == sorted(graph.labels)
    # What is continuous already comes back as it is.
    again = ReadingChanges()
    assert continuous(as_graph(tree), again) == tree
    assert (again.raised, again.attached) == (0, 0)
    assert bool(counts.raised) == bool(counts.discontinuous)


@given(graphs())
def test_nodes_are_only_raised(graph: SentenceGraph) -> None:
    counts = ReadingChanges()
    after = as_graph(continuous(graph, counts))
    before = {label: parents_of(graph, label) for label in graph.labels}
    if counts.attached:
        return
    for label in graph.labels:
        above = parents_of(after, label)
        assert set(above) <= set(before[label])
        assert above == [each for each in before[label] if each in above]


def parents_of(graph: SentenceGraph, label: str) -> list[str]:
    found, node = [], graph.parents[graph.labels.index(label)]
    while node >= 0:
        found.append(graph.labels[node])
        node = graph.parents[node]
    return found


def as_graph(tree: Tree) -> SentenceGraph:
    words = tree.preterminals()
    nodes = [*words, *(node for node in tree.nodes() if node is not tree and node.word is None)]
    number = {id(node): index for index, node in enumerate(nodes)}
    number[id(tree)] = -1
    parents = {id(child): number[id(node)] for node in tree.nodes() for child in node.children}
    return SentenceGraph(
        words=tree.words(),
        labels=[node.label for node in nodes],
        functions=["" for _ in nodes],
        parents=[parents[id(node)] for node in nodes],
    )


# The marked head is neither the first child nor like its phrase, and other parts are raised.
MARKED = (
    "Boote NN SB 501/bald ADV HD 501/sinken VVFIN OC 501/heute ADV MO 500/alle PIAT NK 501/"
    "#500 S -- 0/#501 VP OC 500"
)


def test_marked_heads_are_heads(tmp_path: Path) -> None:
    path = tmp_path / "a.export"
    path.write_text(export(MARKED), encoding="utf-8")
    (tree,) = EXPORT.read(path)
    assert str(tree) == "( (S (VP (NN Boote) (ADV bald) (VVFIN sinken)) (ADV heute) (PIAT alle)))"
    for rules in ("neutral", "english"):
        heads = tree.heads(rules)
        assert {label: heads[n] for n, label in enumerate(node.label for node in tree.nodes())}["VP"] == 1
    stripped = strip_traces(tree)
    assert stripped is not None
    assert stripped.heads("neutral") == tree.heads("neutral")
    (same,) = read_brackets([str(tree)])
    assert same == tree
    assert same.heads("neutral") != tree.heads("neutral")
