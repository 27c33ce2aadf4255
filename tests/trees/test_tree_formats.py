"""Readers of formats other than Penn's: files written for this project, what they become, and bad input."""

from __future__ import annotations

from pathlib import Path

import pytest

import spectralnlp
from spectralnlp.errors import ConfigError, InputError
from spectralnlp.testing import check_reader
from spectralnlp.trees import Tree, clean, count_discontinuities, read_trees, recognise
from spectralnlp.trees.readers import CHINESE, EXPORT, PENN_HELSINKI, PTB, SPMRL, TIGER_XML

READERS = {
    "icelandic.psd": PENN_HELSINKI,
    "chinese.fid": CHINESE,
    "german.export": EXPORT,
    "german.negra": EXPORT,
    "german.tiger.xml": TIGER_XML,
    "german.spmrl.ptb": SPMRL,
}
GERMAN = [
    "(TOP (S (NP (ART Das) (NN Boot)) (VAFIN hat) (VP (NP (ART den) (NN Hafen)) (VVPP erreicht))) ($. .))",
    "(TOP (S (NP (ART Den) (NN Lotsen)) (VAFIN hat) (PIS niemand) (VP (VVPP gesehen))) ($. .))",
    "(TOP (S (NP (ART Eine) (NN Lampe)) (VVFIN brennt) ($, ,) (S (PRELS die) (ADJD hell) (VAFIN ist))) "
    "($-LRB- -LRB-) (ADV sehr) ($-LRB- -RRB-) ($. .))",
    "(CNP (NN Schiffe) (KON und) (NN Boote))",
]
CLEANED = {
    "icelandic.psd": [
        "(IP (NP (N-N Skip$) (D-N $ið)) (VBDI sigldi) (PP (P út) (PP (P á) (NP (N-A fjörð$) (D-A $inn)))) "
        "(. .))",
        "(IP (NP (PRO-N Hún)) (VBPI sér) (CP (C að) (IP (NP (N-N vitavörður$) (D-N $inn)) (BEPI er) "
        "(NEG ekki) (ADVP (ADV heima)))) (. .))",
        "(IP (CONJ En) (BEDI var) (ADVP (ADV þó)) (ADJP (ADJ-N glaður)) (, ,) (CP (C þegar) (IP (NP "
        "(NS-N bátar$) (D-N $nir)) (VBDI komu))) (. .))",
        "(CP (WNP (WPRO-A Hvern)) (IP (VBDI sástu) (PP (P á) (NP (N-D bryggju$) (D-D $nni)))) (. ?))",
        "(NP (N-N Lampi$) (D-N $nn) (CP (C sem) (IP (VBPI logar) (PP (P í) (NP (NPR-D Efra-Vík))))) (. .))",
    ],
    "chinese.fid": [
        "(NP (NP (NR 东港)) (NP (NN 灯塔)))",
        "(IP (NP (NN 渔船)) (VP (ADVP (AD 已经)) (VP (VV 离开) (AS 了) (NP (NN 港口)))) (PU 。))",
        "(IP (VP (PP (P 在) (LCP (NP (NN 桥)) (LC 上))) (VP (VV 看见) (NP (CP (IP (VP (VA 红))) (DEC 的)) "
        "(NP (NN 灯))))) (PU 。))",
    ],
    "german.export": GERMAN,
    "german.negra": GERMAN,
    "german.tiger.xml": GERMAN,
    "german.spmrl.ptb": [
        "(S (NP (ART Das) (NN Boot)) (VVFIN liegt) (PP (APPR im) (NN Hafen)))",
        "(S (PPER Sie) (VVFIN wartet) (PROAV darauf) ($, ,) (S (KOUS dass) (NP (ART die) (NN Flut)) "
        "(VVFIN kommt)))",
        "(NP (NN Nebel) (PP (APPR über) (NE Aldeby)))",
    ],
}


@pytest.fixture
def formats(own_corpora: Path) -> Path:
    return own_corpora / "formats"


@pytest.mark.parametrize("name", READERS)
def test_own_files_are_recognised_and_read(formats: Path, name: str) -> None:
    assert recognise(formats / name) is READERS[name]
    cleaned = [clean(tree) for tree in read_trees(formats / name)]
    assert [str(tree) for tree in cleaned] == CLEANED[name]
    assert [str(tree) for tree in spectralnlp.read_treebank(formats / name)] == CLEANED[name]


def test_every_file_is_tested(formats: Path) -> None:
    assert {path.name for path in formats.iterdir()} == set(READERS)


@pytest.mark.parametrize("name", READERS)
def test_the_promises_of_readers(formats: Path, name: str) -> None:
    text = (formats / name).read_text("utf-8")
    bad = BAD[name][0]
    in_xml = bad.removeprefix("<corpus>").removesuffix("</corpus>")
    bad_text = text.replace("<body>", f"<body>{in_xml}", 1) if "<body>" in text else bad + text
    check_reader(READERS[name], text, bad_text=bad_text)


# For each format, a bad tree to be put before good ones, and how it is refused.
BAD = {
    "icelandic.psd": (
        "( (IP-MAT (NP-SBJ (N-N skip-skip) (VBDI fór-fara)) (ID A,.1))\n",
        "unbalanced brackets",
    ),
    "chinese.fid": ("<DOC>\n<S ID=9>\n( (NP (NN 灯)\n</S>\n", "unbalanced brackets"),
    "german.export": (
        "#FORMAT 4\n#BOS 7\nBoot\tBoot\tNN\t--\tNK\t500\n#EOS 7\n",
        "hangs from 500, which is missing",
    ),
    "german.negra": (
        "#FORMAT 3\n#BOS 7\nBoot\tNN\t--\tNK\t500\n#EOS 7\n",
        "hangs from 500, which is missing",
    ),
    "german.tiger.xml": ("<corpus><s><graph root='a'/></s></corpus>", "missing"),
    "german.spmrl.ptb": ("(S (NN##a=b## x)\n", "unbalanced brackets"),
}


@pytest.mark.parametrize("name", READERS)
def test_bad_trees_are_located(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(BAD[name][0], encoding="utf-8")
    with pytest.raises(InputError, match=rf"{name}:\d \(sentence 1\): .*{BAD[name][1]}"):
        list(read_trees(path, READERS[name]))


def read(tmp_path: Path, text: str, reader: object = "auto") -> list[Tree]:
    path = tmp_path / "file"
    path.write_text(text, encoding="utf-8")
    return list(read_trees(path, reader))  # type: ignore[arg-type]


class TestPennHelsinki:
    def test_without_lemmas_words_keep_their_hyphens(self, tmp_path: Path) -> None:
        text = "( (IP-MAT (NP-SBJ (PRO$ his) (N good-will)) (VBD ended) (. .)) (ID A,1.2))\n"
        (tree,) = read(tmp_path, text)
        assert tree.words() == ["his", "good-will", "ended", "."]

    def test_lemmas_are_seen_without_marks_of_the_treebank(self, tmp_path: Path) -> None:
        (tree,) = read(tmp_path, "( (IP-MAT (NP-SBJ (PRO-N Hún-hún)) (VBPI sér-sjá) (. .-.)))\n")
        assert tree.words() == ["Hún", "sér", "."]

    @pytest.mark.parametrize(
        ("leaf", "word"),
        [
            ("hús-hús", "hús"),
            ("---", "-"),
            ("-----", "--"),
            (".-.", "."),
            ("*-*", "*"),
            ("<dash/>-<dash/>", "-"),
            ("15<percent/>-15<percent/>", "15%"),
            ("<unheard/>-<unheard/>", "<unheard/>"),
            ("o-já-o-já", "o-já"),
            ("og", "og"),
            ("0-0", "0"),
        ],
    )
    def test_leaves(self, tmp_path: Path, leaf: str, word: str) -> None:
        rest = "(N a-a) (N b-b) (N c-c) (N d-d) (N e-e)"
        (tree,) = read(tmp_path, f"( (NP (X {leaf}) {rest}) (ID A,1))\n")
        assert tree.words() == [word, "a", "b", "c", "d", "e"]

    def test_what_is_not_text_goes(self, tmp_path: Path) -> None:
        text = (
            "( (VERSION (FORMAT dash)))\n( (CODE <heading>))\n( (METADATA (A (B some words here))))\n"
            "( (IP-MAT (CODE {COM:with blanks}) (FRAG (CODE x)) (NP-SBJ (N-1 a-a)) "
            "(NP-OB1 ) (VB *)) (ID A,1))\n"
        )
        (tree,) = read(tmp_path, text)
        assert str(tree) == "( (IP-MAT (NP-SBJ (N a)) (NP-OB1 (-NONE- 0)) (VB (-NONE- *))))"
        assert str(clean(tree)) == "(IP (NP (N a)))"

    def test_two_words_are_no_leaf(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match=r"file:3 \(sentence 2\): not a leaf of this treebank: 'b c'"):
            read(tmp_path, "( (NP (N a-a)) (ID A,1))\n\n( (NP\n (N b c)) (ID A,2))\n")

    def test_a_wrong_encoding_in_the_first_lines(self, tmp_path: Path) -> None:
        path = tmp_path / "a.psd"
        path.write_bytes("( (NP (N-N bátur-bátur)) (ID A,1))\n".encode("iso-8859-1"))
        with pytest.raises(InputError, match="reads as iso-8859-1: name it with encoding"):
            list(read_trees(path))
        errors: list[InputError] = []
        assert list(read_trees(path, on_bad=errors.append)) == []
        assert len(errors) == 1
        (tree,) = read_trees(path, encoding="iso-8859-1")
        assert tree.words() == ["bátur"]


class TestChinese:
    def test_encodings(self, tmp_path: Path, formats: Path) -> None:
        path = tmp_path / "chtb_0001.fid"
        path.write_bytes((formats / "chinese.fid").read_text("utf-8").encode("gb18030"))
        with pytest.raises(InputError, match="not utf-8; it reads as gb18030: name it with encoding"):
            list(read_trees(path))
        assert [str(clean(tree)) for tree in read_trees(path, encoding="gb18030")] == CLEANED["chinese.fid"]

    def test_wrappers_on_the_line_of_a_tree(self, tmp_path: Path) -> None:
        text = "<DOC>\n<DATE> x\n y </DATE>\n<S ID=1>( (NP (NN a)) )</S>\n<S ID=2>\n( (NP (NN b)) ) </S>\n"
        assert [tree.words() for tree in read(tmp_path, text, CHINESE)] == [["a"], ["b"]]

    def test_files_without_wrappers(self, tmp_path: Path) -> None:
        text = "<DOC>\n<TEXT>\n( (NP (NN a)) )\n\n( (NP (NN b)) )\n</TEXT>\n</DOC>\n"
        assert [tree.words() for tree in read(tmp_path, text)] == [["a"], ["b"]]

    def test_text_without_brackets_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match=r"file:3.*text outside brackets: '上海'"):
            read(tmp_path, "<DOC>\n<S ID=1>\n上海\n</S>\n", CHINESE)


def test_spmrl_features(tmp_path: Path) -> None:
    text = "(SENT (NP-SUJ (DET##g=f|n=s## La) (-X##a## -) (NC-SUJ##n=s|x=# b## mer)) (PONCT . ))\n"
    text = text.replace("# b", "#b")
    (tree,) = read(tmp_path, text)
    assert str(tree) == "(SENT (NP-SUJ (DET La) (-X -) (NC mer)) (PONCT .))"


def test_penn_trees_are_not_taken_for_others(tmp_path: Path) -> None:
    path = tmp_path / "a.mrg"
    path.write_text("( (S (NP-SBJ (NN well-known) (CD 0)) (VP (VBZ is) (SYM ##)) (. .)))\n")
    assert recognise(path) is PTB


def test_an_encoding_for_a_reader_that_has_none(tmp_path: Path) -> None:
    class Other:
        def read(self, path: object, on_bad: object = None) -> list[Tree]:
            return []

    with pytest.raises(ConfigError, match="Other cannot be given an encoding"):
        list(read_trees(tmp_path / "x", Other(), encoding="koi8-r"))  # type: ignore[arg-type]


def test_discontinuities_are_counted(formats: Path) -> None:
    counts = count_discontinuities(formats / "german.export")
    assert counts == count_discontinuities(formats / "german.tiger.xml")
    assert counts is not None
    assert (counts.trees, counts.discontinuous, counts.raised, counts.attached) == (4, 2, 2, 1)
    assert count_discontinuities(formats / "icelandic.psd") is None
