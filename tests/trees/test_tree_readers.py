from __future__ import annotations

import gzip
import os
import pickle
import threading

import pytest

import spectralnlp
from spectralnlp import registry
from spectralnlp.errors import InputError, RegistryError
from spectralnlp.trees import NltkCorpus, Tree, from_nltk_corpus, read_trees, recognise
from spectralnlp.trees.readers import BRACKETS, CESS_ESP, CRAFT, GUM, PTB

SAMPLES = {
    "ptb": (PTB, "\n( (S \n    (NP-SBJ (NNP Ana) )\n    (VP (VBZ sings) )\n    (. .) ))\n"),
    "gum": (GUM, "(ROOT\n  (S\n    (NP-SBJ (NNP Ana))\n    (VP (VBZ sings))\n    (. .)))"),
    "craft": (CRAFT, "( (S (NP-SBJ (NNP Ana)) (VP (VBZ sings)) (. .)) )\n"),
    "cess": (
        CESS_ESP,
        "\n(\n  (S\n    (sn.e-SUJ *0*)\n    (grup.verb\n      (vmip3s0 canta cantar))\n"
        "    (sn-CD\n      (grup.nom.ms\n        (Fpa -Fpa- -Fpa-)\n"
        "        (np0000a Perú_y_Chile Perú_y_Chile)\n"
        "        (Fe -fe- -fe-)))\n    (Fp . .)))\n",
    ),
    "brackets": (BRACKETS, "(S (NP (NNP Ana)) (VP (VBZ sings)) (. .))\n"),
}


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_treebanks_are_recognised(tmp_path, name, end):
    reader, text = SAMPLES[name]
    path = tmp_path / "some.file"
    path.write_bytes(text.replace("\n", end).encode(reader.encoding))
    assert recognise(path) is reader
    assert list(read_trees(path)) == list(read_trees(path, reader)) == list(reader.read(path))


def test_cess_keeps_words_not_lemmas(tmp_path):
    path = tmp_path / "a.tbf"
    path.write_bytes(SAMPLES["cess"][1].encode("iso-8859-15"))
    (tree,) = CESS_ESP.read(path)
    assert tree.words() == ["*0*", "canta", "-LRB-", "Perú_y_Chile", '"', "."]


@pytest.mark.parametrize(
    "text",
    ["(S the dog)\n", "(sn (NN dog))", "(S (NP big dog) (NN x))", "(S (sn (NN- big dog)))", "words", ""],
)
def test_nothing_else_is_taken_for_cess(tmp_path, text):
    path = tmp_path / "a.mrg"
    path.write_text(text)
    assert recognise(path) is not CESS_ESP


def test_gzip_and_byte_order_mark(tmp_path):
    path = tmp_path / "a.mrg.gz"
    path.write_bytes(gzip.compress(b"\xef\xbb\xbf" + SAMPLES["gum"][1].encode()))
    assert recognise(path) is GUM
    assert [tree.words() for tree in read_trees(path)] == [["Ana", "sings", "."]]


def test_a_pipe_is_read_once(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_text, args=(SAMPLES["ptb"][1],))
    writer.start()
    assert [tree.words() for tree in read_trees(path)] == [["Ana", "sings", "."]]
    writer.join()


def test_errors_name_the_file(tmp_path):
    path = tmp_path / "a.mrg"
    path.write_bytes("(S (NN cañón))\n(S (NN x))\n".encode("iso-8859-15"))
    with pytest.raises(InputError, match=r"a\.mrg:1: .*not utf-8"):
        list(read_trees(path))
    path.write_text("(S (NN x))\n(S (NN y)\n")
    with pytest.raises(InputError, match=r"a\.mrg:2 \(sentence 2\): unbalanced"):
        list(read_trees(path))
    with pytest.raises(InputError, match="missing"):
        list(read_trees(tmp_path / "missing"))


def test_bad_trees_can_be_skipped(tmp_path):
    path = tmp_path / "a.mrg"
    path.write_text("(S (NN x))\n(S (NP dog (NN y)))\n(S (NN z))\n")
    skipped: list[InputError] = []
    assert [tree.words() for tree in read_trees(path, on_bad=skipped.append)] == [["x"], ["z"]]
    assert [error.line for error in skipped] == [2]


def test_unknown_readers_are_refused(tmp_path):
    path = tmp_path / "a.mrg"
    path.write_text("(S (NN x))")
    with pytest.raises(RegistryError, match="no reader is called 'klingon'"):
        list(read_trees(path, "klingon"))


def test_readers_can_be_sent_to_workers():
    assert pickle.loads(pickle.dumps(CESS_ESP)) == CESS_ESP


class FakeCorpus:
    def __init__(self, *parsed):
        self.parsed = parsed

    def parsed_sents(self):
        return self.parsed


def test_nltk_corpora():
    tree = Tree("S", [Tree("NN", word="x")])
    assert list(from_nltk_corpus(FakeCorpus(tree.to_nltk(), tree.to_nltk()))) == [tree, tree]


class FakeFiles:
    """A corpus reader of two files, as NLTK's are: ``parsed_sents`` takes their names."""

    def __init__(self, **files):
        self.files = files

    def fileids(self):
        return list(self.files)

    def parsed_sents(self, name=None):
        return [tree for each in self.files if name in (None, each) for tree in self.files[each]]


def nltk_trees():
    nltk = pytest.importorskip("nltk")
    texts = ["( (S (NP-SBJ (-NONE- *)) (VP-X (V a))))", "(S (NP (N b)) (V c))"]
    return [nltk.Tree.fromstring(text) for text in texts]


CLEANED = ["(S (VP (V a)))", "(S (NP (N b)) (V c))"]


def test_nltk_corpora_are_cleaned_a_document_a_file():
    first, second = nltk_trees()
    corpus = NltkCorpus(FakeFiles(one=[first], two=[second]))
    assert [each.document for each in corpus.partitions()] == ["one", "two"]
    assert [str(tree) for tree in corpus] == CLEANED
    assert [str(tree) for tree in spectralnlp.read_treebank(FakeFiles(one=[first, second]))] == CLEANED


@pytest.mark.parametrize("make", [lambda trees: FakeCorpus(*trees), list, tuple, iter])
def test_models_learn_from_nltk(make):
    parser = spectralnlp.train("pcfg", make(nltk_trees()))
    assert parser.about["training trees"] == 2
    assert parser.parse_tokens(["b", "c"], None) is not None
    report = spectralnlp.evaluate(parser, make(nltk_trees()))
    assert report.to_flat_dict()["f1"] == 100.0


def test_a_corpus_reader_of_nltk_itself(own_treebank, monkeypatch):
    nltk = pytest.importorskip("nltk")
    nltk_readers = pytest.importorskip("nltk.corpus.reader")
    # Corpus readers of late versions open files below the folders of NLTK's data only.
    monkeypatch.setattr(nltk.data, "path", [str(own_treebank)])
    corpus = nltk_readers.BracketParseCorpusReader(str(own_treebank), r".*\.mrg")
    read = spectralnlp.read_treebank(corpus)
    assert [each.document for each in read.partitions()] == ["dev.mrg", "spanish.mrg", "train.mrg"]
    names = [own_treebank / name for name in corpus.fileids()]
    assert list(read) == list(spectralnlp.read_treebank(names))
    view = corpus.parsed_sents("dev.mrg")
    task = registry.tasks.get("parsing")()
    assert list(task.read(view)) == list(spectralnlp.read_treebank(own_treebank / "dev.mrg"))
    # Workers are sent partitions.
    assert len(list(pickle.loads(pickle.dumps(read.partitions()[1])))) == 25


def test_tasks_read_nltk():
    task = registry.tasks.get("parsing")()
    assert [str(tree) for tree in task.read(FakeFiles(one=nltk_trees()))] == CLEANED
    assert [str(tree) for tree in task.read(nltk_trees())] == CLEANED
    sentences = list(registry.tasks.get("tagging")().in_memory(FakeFiles(one=nltk_trees())))
    assert [sentence.tagged() for sentence in sentences] == [(("a",), ("V",)), (("b", "c"), ("N", "V"))]


def test_bad_nltk_trees_can_be_skipped():
    nltk = pytest.importorskip("nltk")
    files = FakeFiles(one=[nltk.Tree("S", ["x", nltk.Tree("NN", ["y"])]), *nltk_trees()], two=["no tree"])
    skipped: list[InputError] = []
    assert [str(tree) for tree in spectralnlp.read_treebank(files, on_bad=skipped.append)] == CLEANED
    assert [(error.path, error.sentence) for error in skipped] == [("one", 1), ("two", 1)]
    with pytest.raises(InputError, match=r"two \(sentence 1\): a str is no constituency tree"):
        list(from_nltk_corpus(files, "two"))


def test_nltk_corpora_with_bad_trees():
    nltk = pytest.importorskip("nltk")
    bad = nltk.Tree("S", ["x", nltk.Tree("NN", ["y"])])
    with pytest.raises(InputError, match="sentence 1: a leaf without a preterminal"):
        list(from_nltk_corpus(FakeCorpus(bad)))
    with pytest.raises(InputError, match="sentence 1"):
        list(from_nltk_corpus(FakeCorpus(nltk.Tree("S", []))))
    with pytest.raises(InputError, match=r"no parsed_sents\(\)"):
        list(from_nltk_corpus(object()))


def test_readers_of_plugins_recognise_their_files_before_ours(tmp_path, monkeypatch):
    class Named:
        def sniff(self, beginning):
            return beginning.startswith("one\t(")

        def read(self, path, on_bad=None):
            yield Tree("S", [Tree("NN", word="named")])

    class Blind:
        def read(self, path, on_bad=None):
            yield Tree("S", [Tree("NN", word="blind")])

    monkeypatch.setattr(registry.readers, "_local", {"named.v1": Named(), "blind.v1": Blind()})
    registry.readers._forget()
    path = tmp_path / "named.txt"
    path.write_text("one\t(S (NN a))\n")
    assert isinstance(recognise(path), Named)
    assert [tree.words() for tree in read_trees(path)] == [["named"]]
    path.write_text("(S (NN a))\n")
    assert not isinstance(recognise(path), Named)
    monkeypatch.undo()
    registry.readers._forget()
