"""Readers of formats other than Penn's: files written for this project, what they become, and bad input."""

from __future__ import annotations

from pathlib import Path

import pytest

import spectralnlp
from spectralnlp.errors import ConfigError, InputError
from spectralnlp.testing import check_reader
from spectralnlp.trees import ReadingChanges, Tree, clean, count_changes, read_trees, recognise
from spectralnlp.trees.readers import (
    ALPINO,
    BRACKETS,
    CHINESE,
    EXPORT,
    ONTONOTES,
    PENN_HELSINKI,
    PTB,
    SPMRL,
    TIGER_XML,
)
from spectralnlp.trees.readers.recognition import changes_of

READERS = {
    "icelandic.psd": PENN_HELSINKI,
    "japanese.psd": PENN_HELSINKI,
    "faroese.psd": PENN_HELSINKI,
    "dutch.alpino.xml": ALPINO,
    "english.masc.mrg": PTB,
    "english.gold_conll": ONTONOTES,
    "french.mrg": PTB,
    "indonesian.mrg": BRACKETS,
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
    "japanese.psd": [
        "(IP (PP (NP (N 港)) (P に)) (PP (NP (NUMCLP (NUM 三) (CL 隻))) (P も)) (VB 入っ) (AXD た) (PU 。))",
        "(CP (-LRB- 「) (IP (NP (NP (N 灯台)) (CONJP (NP (N 船)))) (NP (IP (ADJI 古い)) (N もの)) "
        "(AX だ) (PU 。)) (-RRB- 」))",
    ],
    "faroese.psd": [
        "(IP (NP (N-N bátur$) (D-N $in)) (VBDI sigldi) (PP (P av) (NP (NS-D vág-num))) (, ,) "
        "(CONJP (CONJ og) (IP (VBDI kom) (ADVP (ADV aftur)))) (. .))",
        "(CP (WNP (WPRO-N hvør)) (IP (VBDI tendraði) (NP (N-A lampu$) (D-A $na))) (. ?))",
    ],
    "dutch.alpino.xml": [
        "(top (smain (noun Boten) (np (det de) (noun visser)) (verb wil) (inf (verb schilderen))) (punct .))",
        "(top (conj (pp (vz Aan) (noun boord)) (let ,) (mwu (prep met) (noun ingang) (prep van))))",
    ],
    "english.masc.mrg": [
        "(S (EDITED (NP (PRP I))) (NP (PRP I)) (VP (VBP see) (NP (NP (DT a) (NN boat)) (PP (IN of) "
        "(NP (NP (NNP Aldeby) (POS 's)) (NN harbour))))) (. .))",
        "(FRAG (NP (NNP Thekla)) (, ,) (SBARQ (WHNP (WP who)) (SQ (VP (VBD lit) (NP (PRP it))))) (SU /))",
    ],
    "english.gold_conll": [
        "(S (NP (DT The) (NN keeper)) (VP (VBD left) (NP (NNP Aldeby)) (PRN (-LRB- -LRB-) "
        "(ADVP (RB again)) (-RRB- -RRB-))) (. .))",
        "(FRAG (WHADVP (WRB Why)) (. ?))",
    ],
    "french.mrg": [
        "(SENT (PP (P Depuis) (NP (DET trois) (NC jours))) (PONCT ,) (NP (DET le) (NC phare) (Srel (NP "
        "(PROREL qu')) (VN (CLS-SUJ elle) (V garde)))) (VN (CLR se) (V tait)) (PONCT .))",
        "(SENT (VN (CLS-SUJ Nous) (V attendons)) (Ssub (CS parce_que) (NP (DET la) (NC marée)) (VN (V "
        "monte)) (PP (P+D au) (NP (NC nord-ouest) (PONCT -LRB-) (NP (NPP Aldeby)) (PONCT -RRB-)))) "
        "(PONCT !))",
    ],
    "indonesian.mrg": [
        "(S (NP (NP (NNO penjaga) (NNO mercusuar)) (RPN (PRR yang) (VP (VBI tinggal) (PP (PPO di) (NNP "
        "Aldeby))))) (VP (TAME sudah) (VP (VBT melihat) (NP (NUM tiga) (NNO kapal)))) (PUN .))",
        '(SINV (PUN ") (S (NP (PRN kami)) (VP (VBI menunggu))) (PUN ,) (PUN ") (VP (VBI kata)) '
        "(NP (PRK nya)) (PUN .))",
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
    assert [str(tree) for tree in cleaned if tree is not None] == CLEANED[name]
    assert [str(tree) for tree in spectralnlp.read_treebank(formats / name)] == CLEANED[name]


def test_every_file_is_tested(formats: Path) -> None:
    assert {path.name for path in formats.iterdir()} == set(READERS)


@pytest.mark.parametrize("name", READERS)
def test_the_promises_of_readers(formats: Path, name: str) -> None:
    text = (formats / name).read_text("utf-8")
    bad = BAD[name][0]
    in_xml = bad.removeprefix("<corpus>").removesuffix("</corpus>")
    outer = next((tag for tag in ("<body>", "<treebank>") if tag in text), None)
    bad_text = bad + text if outer is None else text.replace(outer, outer + in_xml, 1)
    check_reader(READERS[name], text, bad_text=bad_text)


# For each format, a bad tree to be put before good ones, and how it is refused.
BAD = {
    "icelandic.psd": (
        "( (IP-MAT (NP-SBJ (N-N skip-skip) (VBDI fór-fara)) (ID A,.1))\n",
        "unbalanced brackets",
    ),
    "japanese.psd": ("( (IP-MAT (NP-SBJ (N 船) (VB 来る)) (ID 1;JP))\n", "unbalanced brackets"),
    "faroese.psd": ("( (IP-MAT (NP-SBJ (N-N bátur) (VBDI kom)) (ID A,.1))\n", "unbalanced brackets"),
    "dutch.alpino.xml": ("<alpino_ds><node id='0'/></alpino_ds>", "neither word nor parts"),
    "english.masc.mrg": ("( (S (NP (DT a) (NN boat)) (VP (VBD left)))\n", "unbalanced brackets"),
    "english.gold_conll": ("a 0 0 b X (TOP(S* - - - - * -\n\n", "unbalanced brackets"),
    "french.mrg": ("( (SENT (NP (NC phare) (PONCT .)))\n", "unbalanced brackets"),
    "indonesian.mrg": ("(S (NP (NNO kapal))\n", "unbalanced brackets"),
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
            "( (VERSION (FORMAT dash)))\n( (METADATA (A (B some words here))))\n"
            "( (IP-MAT (CODE {COM:with blanks}) (FRAG (CODE x)) (NP-SBJ (N-1 a-a)) "
            "(NP-OB1 ) (VB *)) (ID A,1))\n"
        )
        (tree,) = read(tmp_path, text)
        assert str(tree) == "( (IP-MAT (NP-SBJ (N a)) (NP-OB1 (-NONE- 0)) (VB (-NONE- *))))"
        assert str(clean(tree)) == "(IP (NP (N a)))"

    def test_line_breaks_and_notes_that_are_phrases_go(self, tmp_path: Path) -> None:
        text = "( (CODE (SYM A) (. .)) (ID A,1))\n( (NP (N a) (LINEBREAK <L>) (CODE (N c)) (N b)) (ID A,2))\n"
        assert [str(tree) for tree in read(tmp_path, text)] == ["( (NP (N a) (N b)))"]

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


@pytest.mark.parametrize("name", ["german.export", "german.tiger.xml"])
def test_raised_nodes_are_counted(formats: Path, name: str) -> None:
    expected = ReadingChanges(trees=4, discontinuous=2, raised=2, attached=1)
    assert count_changes(formats / name) == expected


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("japanese.psd", "left out: 3 notes on the text, 6 empty elements"),
        ("faroese.psd", "left out: 3 notes on the text, 2 empty elements"),
        (
            "dutch.alpino.xml",
            "left out: 1 empty elements; 1 of 2 trees with crossing branches made continuous: "
            "1 nodes raised, 1 attached from the root",
        ),
        ("german.spmrl.ptb", ""),
    ],
)
def test_what_is_left_out_is_said(formats: Path, name: str, line: str) -> None:
    assert str(count_changes(formats / name)) == line
    assert changes_of([formats / name]) == ([line] if line else [])


def test_functions_of_keyaki(tmp_path: Path) -> None:
    text = "( (IP-MAT (PP;* (P は)) (NP;*OB1* (N 船)) (PRN;* (N あ)) (ANT;{A+B} *)) (ID 1;JP))\n"
    (tree,) = read(tmp_path, text)
    assert str(tree) == "( (IP-MAT (PP (P は)) (NP-OB1 (N 船)) (PRN (N あ)) (ANT (-NONE- *))))"


@pytest.mark.parametrize("brackets", ["-", "(NP))", "(NP** )"])
def test_columns_of_ontonotes_without_brackets_are_refused(tmp_path: Path, brackets: str) -> None:
    line = f"bc/a 0 0 it PRP {brackets} - - - - * -\n"
    with pytest.raises(InputError, match=r"file:2.* text outside brackets: 'bc/a'"):
        read(tmp_path, f"#begin document (bc/a); part 000\n{line}", ONTONOTES)


@pytest.mark.parametrize(
    ("name", "labels"),
    [
        ("german.export", {"NP-SB", "PIS-SB", "VAFIN-HD", "$."}),
        ("german.tiger.xml", {"NP-SB", "PIS-SB", "VAFIN-HD", "$."}),
        ("dutch.alpino.xml", {"np-su", "noun-hd", "smain"}),
    ],
)
def test_functions_are_in_labels_where_they_are_wanted(formats: Path, name: str, labels: set[str]) -> None:
    wanted = list(read_trees(formats / name, functions=True))
    assert labels <= {node.label for tree in wanted for node in tree.nodes()}
    plain = list(read_trees(formats / name))
    assert [tree.words() for tree in wanted] == [tree.words() for tree in plain]
    assert not any(label.endswith(("-SB", "-su", "-hd")) for tree in plain for label in tree.tags())
    (line,) = set(changes_of([formats / name], clean=False)) - set(changes_of([formats / name]))
    assert line == "labels have functions, as NP-SB: @NP is NP with any"


def test_tags_of_empty_elements_are_said_where_these_stay(tmp_path: Path) -> None:
    text = "( (IP-MAT (NP-SBJ *pro*) (VBD came) (. .)) (ID A,1))\n"
    (tree,) = read(tmp_path, text)
    assert str(tree) == "( (IP-MAT (NP-SBJ (-NONE- *pro*)) (VBD came) (. .)))"
    _, line = changes_of([tmp_path / "file"], clean=False)
    assert line == "empty elements are under a tag, -NONE-: NP << /pro/, not NP < /pro/"


class TestPenn:
    """The ways of MASC, of the French treebank and of ICON."""

    def test_notes_of_transcriptions_go(self, tmp_path: Path) -> None:
        text = (
            "( (CODE <TURN>))\n\n( (S (EDITED (CODE <disfluency>) (PRP I)\n (CODE </disfluency>)) "
            "(NP-SBJ (PRP I)) (VP (VBP saw) (NP (NN boat-1) (CD 0))) (X (CODE <x>)) (SU /)))\n"
        )
        (tree,) = read(tmp_path, text)
        assert (
            str(clean(tree))
            == "(S (EDITED (PRP I)) (NP (PRP I)) (VP (VBP saw) (NP (NN boat-1) (CD 0))) (SU /))"
        )
        assert recognise(tmp_path / "file") is PTB
        assert count_changes(tmp_path / "file") == ReadingChanges(notes=4)

    def test_speakers_and_marks_of_disfluencies_go(self, tmp_path: Path) -> None:
        """The ways of Switchboard, in which no line of a speaker is a sentence."""
        text = (
            "( (CODE (SYM SpeakerA1) (. .)))\n"
            "( (S (EDITED (RM (-DFL- \\[)) (NP-SBJ (PRP I)) (IP (-DFL- \\+)))"
            " (NP-SBJ (PRP I)) (RS (-DFL- \\])) (VP (VBP row)) (LINEBREAK <L>) (. .) (-DFL- E_S)))\n"
        )
        (tree,) = read(tmp_path, text)
        assert str(clean(tree)) == "(S (EDITED (NP (PRP I))) (NP (PRP I)) (VP (VBP row)) (. .))"
        assert count_changes(tmp_path / "file") == ReadingChanges(notes=6)

    def test_non_breaking_spaces_between_brackets(self, tmp_path: Path) -> None:
        text = (
            "( (NP (NN boat)\n\u00a0 \u00a0\u00a0(PP (IN of)\n\t\u00a0 (NP (CD 10\u00a0000) (NNS keys)))))\n"
        )
        (tree,) = read(tmp_path, text)
        assert str(tree) == "( (NP (NN boat) (PP (IN of) (NP (CD 10\u00a0000) (NNS keys)))))"

    def test_an_inner_bracket_without_label_groups_nothing(self, tmp_path: Path) -> None:
        text = (
            "( (S (ADVP (RB how))\n     ( (S (NP (NN rain))\n  (VP (VBD fell))))\n  (. .)))\n( (NP (NN b)))\n"
        )
        trees = read(tmp_path, text)
        assert [str(tree) for tree in trees] == [
            "( (S (ADVP (RB how)) (S (NP (NN rain)) (VP (VBD fell))) (. .)))",
            "( (NP (NN b)))",
        ]

    def test_functions_and_compounds_of_french(self, tmp_path: Path) -> None:
        text = "( (SENT (PP-A_OBJ (P près_de) (NP (DET d'_autres) (NC ports))) (Ssub-MOD (CS alors_que))))\n"
        (tree,) = read(tmp_path, text)
        expected = "(SENT (PP (P près_de) (NP (DET d'_autres) (NC ports))) (Ssub (CS alors_que)))"
        assert str(clean(tree)) == expected


class TestAlpino:
    @pytest.mark.parametrize(
        ("nodes", "message"),
        [
            ("<node id='0' cat='top'><node id='1' cat='np'/></node>", "node 1 has neither word nor parts"),
            ("<node id='0' word='a' pos='x' begin='0'><node id='1' index='1'/></node>", "a word and parts"),
            ("<node id='0' cat='top'><node id='1' word='a' pos='x'/></node>", "'' is no position of a word"),
            ("<node id='0'><node id='1' word='a' pos='x' begin='9999999999'/></node>", "no position"),
            ("<node id='0' cat='top'><node id='1' begin='0' word='a'/></node>", "without 'pos'"),
            ("<node id='0'><node id='1'><node id='2' begin='0' pos='x' word='a'/></node></node>", "'cat'"),
            ("<node id='0'><node id='1' begin='0' pos='x' word=''/></node>", "a word is missing"),
            ("<node id='0'><node id='1' index='1'/></node>", "a sentence without words"),
            ("<node><node id='1' index='1'/></node>", "without 'id'"),
            ("<node id='0' word='a' pos='x' begin='0'/><node id='1'/>", "a second root"),
            (
                "<node id='0'><node id='1' begin='0' pos='x' word='a'/>"
                "<node id='1' begin='1' pos='x' word='b'/></node>",
                "a second node 1",
            ),
            ("", "a sentence without words"),
        ],
    )
    def test_bad_sentences(self, tmp_path: Path, nodes: str, message: str) -> None:
        good = (
            "<alpino_ds><node id='0' cat='top'><node id='1' begin='0' pos='x' word='a'/></node></alpino_ds>\n"
        )
        path = tmp_path / "a.xml"
        path.write_text(f"<treebank>\n{good}<alpino_ds>{nodes}</alpino_ds>\n{good}</treebank>", "utf-8")
        with pytest.raises(InputError, match=rf"a\.xml:3 \(sentence 2\): .*{message}"):
            list(read_trees(path))
        errors: list[InputError] = []
        assert [str(tree) for tree in read_trees(path, on_bad=errors.append)] == ["(top (x a))"] * 2
        assert len(errors) == 1

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("<!DOCTYPE x [<!ENTITY a 'b'>]><alpino_ds/>", "a document type or an entity is declared"),
            (
                "<?xml version='1.0'?><!DOCTYPE alpino_ds SYSTEM 'file:///etc/passwd'><alpino_ds/>",
                "a document type",
            ),
            ("<alpino_ds><node id='0'>&a;</node></alpino_ds>", "not well-formed XML"),
            ("<alpino_ds><node id='0'>", "not well-formed XML"),
            ("<?xml version='1.0' encoding='x-none'?><alpino_ds/>", "x-none"),
        ],
    )
    def test_bad_files(self, tmp_path: Path, text: str, message: str) -> None:
        with pytest.raises(InputError, match=message):
            read(tmp_path, text, ALPINO)

    def test_other_encodings(self, tmp_path: Path) -> None:
        text = (
            "<alpino_ds><node id='0'><node id='1' begin='0' pos='n' word='coördinatie'/></node></alpino_ds>"
        )
        path = tmp_path / "a.xml"
        path.write_bytes(f"<?xml version='1.0' encoding='iso-8859-1'?>{text}".encode("iso-8859-1"))
        (tree,) = read_trees(path)
        assert tree.words() == ["coördinatie"]
        path.write_bytes(text.encode("utf-16"))
        with pytest.raises(InputError, match="UTF-16"):
            list(read_trees(path, ALPINO))


def test_a_long_line_is_looked_at_once() -> None:
    # With time that grows with the square of its length, this would take hours.
    assert not ONTONOTES.sniff("#begin document " + "a" * 3_000_000 + " 1 0 x y z")
