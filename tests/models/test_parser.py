"""A parser as users see it: text in, trees out, whatever the text is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from spectralnlp.errors import ConfigError, InputError, RegistryError
from spectralnlp.estimators.lpcfg import LPCFG
from spectralnlp.estimators.pcfg.estimator import PCFG
from spectralnlp.inference.trees.parsing import ForestParser, Pruning
from spectralnlp.inference.trees.sentence import Forests, SentenceInput
from spectralnlp.models.parser import ANY_TAG, COARSE_ONLY, NO_DERIVATION, Parser
from spectralnlp.render.jsonl import to_dict
from spectralnlp.runtime import InMemoryCorpus, use_engine
from spectralnlp.tasks.parsing import ParsingTask
from spectralnlp.text.tokens import Sentence
from spectralnlp.trees import Tree, read_brackets, strip_root
from spectralnlp.trees.parse import IN_PIECES, Parse

TEXT = "The keeper climbs the stairs. Marta saw the old ship, and she waited in the harbor!"
DECODERS = ["mbr", "max-rule", "labelled-recall"]


def trained(estimator: PCFG | LPCFG, text: str) -> Parser:
    return ParsingTask().train(estimator, InMemoryCorpus(read_brackets(text.splitlines())))


def check(parse: Parse, words: Iterable[str]) -> None:
    """Check the properties of every parse, a fallback or not."""
    words = list(words)
    assert parse.tree.label == "TOP"
    assert len(parse.tree.words()) == len(words) == len(parse.sentence)
    for c in parse.constituents:
        assert 0 <= c.start < c.end <= len(words)
        assert 0 <= c.posterior <= 1
    if parse.fallback != NO_DERIVATION:
        assert [(c.label, c.start, c.end) for c in parse.constituents] == parse.tree.spans()[1:]
        assert parse.log_probability is not None
        assert np.isfinite(parse.log_probability)


def test_text_becomes_trees(parser: Parser) -> None:
    first, second = parser.parse(TEXT)
    check(first, ["The", "keeper", "climbs", "the", "stairs", "."])
    check(
        second,
        ["Marta", "saw", "the", "old", "ship", ",", "and", "she", "waited", "in", "the", "harbor", "!"],
    )
    assert str(first.tree) == (
        "(TOP (S (NP (DT The) (NN keeper)) (VP (VBZ climbs) (NP (DT the) (NNS stairs))) (. .)))"
    )
    assert first.fallback is None
    assert [TEXT[t.start : t.end] for t in second.sentence.tokens] == second.sentence.words
    assert parser.parse("") == []


def test_it_learned_its_treebank(parser: Parser, own_treebank: Path) -> None:
    task = ParsingTask()
    train, dev = (
        task.evaluate(parser, task.read([own_treebank / name])).to_flat_dict()
        for name in ("train.mrg", "dev.mrg")
    )
    assert train["f1"] > 85
    assert dev["f1"] > 75
    assert dev["failures"] == 0


@pytest.mark.parametrize("decoder", DECODERS)
def test_every_decoder_serves_every_grammar(parser: Parser, decoder: str) -> None:
    for parse in parser.parse(TEXT, decoder=decoder):
        check(parse, parse.sentence.words)


def test_viterbi_is_for_grammars_without_negative_parameters(parsers: dict[str, Parser]) -> None:
    for parse in parsers["pcfg"].parse(TEXT, decoder="viterbi"):
        check(parse, parse.sentence.words)
    with pytest.raises(ConfigError, match="viterbi"):
        parsers["tutorial"].parse(TEXT, decoder="viterbi")


def test_a_decoder_that_is_not_there(parser: Parser) -> None:
    with pytest.raises(RegistryError, match="mind-reading"):
        parser.parse(TEXT, decoder="mind-reading")


def test_two_threads_give_what_one_gives(parser: Parser, own_treebank: Path) -> None:
    trees = ParsingTask().read([own_treebank / "dev.mrg"])
    sentences = [None, *(Sentence.from_words(tree.words()) for tree in trees), None]
    one = list(parser.parse_many(sentences))
    with use_engine("threads", jobs=2):
        two = list(parser.parse_many(sentences))
    assert one == two
    assert one[0] is one[-1] is None


def test_parsing_is_lazy(parser: Parser) -> None:
    def endless() -> Iterable[Sentence]:
        while True:
            yield Sentence.from_words(["The", "keeper", "waited", "."])

    for engine, options in (("serial", {}), ("threads", {"jobs": 2})):
        with use_engine(engine, **options):
            stream = parser.parse_many(endless())
            assert next(stream) == next(stream)


# ---------------------------------------------------------------------------------------------------------
# Given tags


def test_given_tags_are_obeyed(parser: Parser) -> None:
    words = ["The", "keeper", "climbs", "the", "stairs", "."]
    free = parser.parse_tokens(words)
    tags = ["DT", "NN", "NNS", "DT", "NNS", "."]
    assert free.tree.tags() != tags
    parse = parser.parse_tokens(words, tags)
    assert parse.tree.tags() == tags
    check(parse, words)
    assert parser.parse_tokens(words, free.tree.tags()).tree == free.tree


def test_an_unknown_tag_is_refused(parser: Parser) -> None:
    words = ["The", "keeper", "climbs", "the", "stairs", "."]
    with pytest.raises(InputError, match="no tag 'ZZZ'"):
        parser.parse_tokens(words, ["ZZZ"] * 6)


# ---------------------------------------------------------------------------------------------------------
# Odd input


@pytest.mark.parametrize(
    "words",
    [
        ["("],
        [")", "("],
        ["/"],
        ["a/b", "*"],
        ["🐈"],
        ["👩‍👩‍👧", "saw", "the", "🐈", "."],
        ["\u00a0x"],
        ["NP"],
        ["-LRB-"],
        ["@"],
        ["^"],
        ["a^b", "c+d", "\\"],
        ["the"],
        ["THE", "KEEPER"],
        ["."] * 5,
        ["``", "''"],
        ["漢字"],
    ],
    ids=" ".join,
)
def test_odd_tokens_are_parsed(parser: Parser, words: list[str]) -> None:
    for decoder in (None, *DECODERS):
        parse = parser.parse_tokens(words, decoder=decoder)
        check(parse, words)
        (again,) = read_brackets([str(parse.tree)])
        assert again.tags() == parse.tree.tags()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "kind"), [("pcfg", "prose"), ("lpcfg", "one noun")])
def test_four_hundred_tokens(name: str, kind: str, parsers: dict[str, Parser]) -> None:
    prose = [
        "The",
        "keeper",
        "saw",
        "the",
        "ship",
        "in",
        "the",
        "harbor",
        ",",
        "and",
        "she",
        "waited",
        "in",
        "the",
        "morning",
        "for",
        "the",
        "old",
        "boat",
        "and",
    ]
    words = {"prose": (prose * 25)[:400], "one noun": ["ship"] * 400}[kind]
    parse = parsers[name].parse_tokens(words)
    check(parse, words)
    assert parse.fallback != NO_DERIVATION


def test_a_unary_chain_of_a_thousand_is_learned() -> None:
    chain = "(X " * 500 + "(Y " * 500 + "(N deep)" + ")" * 1000
    chain = f"(S {chain} (V goes))"
    for estimator in (PCFG(), PCFG(unaries="collapse"), LPCFG(), LPCFG.from_preset("tutorial")):
        parser = trained(estimator, f"{chain}\n(S (X (N it)) (V goes))")
        parse = parser.parse_tokens(["deep", "goes"])
        assert parse.tree.words() == ["deep", "goes"]
        assert parser.tree_log_probability(next(read_brackets([chain]))) > -np.inf


# ---------------------------------------------------------------------------------------------------------
# Fallbacks


def test_no_derivation_gives_a_flat_tree() -> None:
    parser = trained(PCFG(), "(S (A a) (B b))\n(S (A a) (C c))")
    parse = parser.parse_tokens(["a", "b", "c"])
    assert parse.fallback == NO_DERIVATION
    assert [child.is_preterminal for child in parse.tree.children] == [True] * 3
    assert parse.tree.words() == ["a", "b", "c"]
    assert parse.log_probability is None
    assert parse.constituents == ()
    assert parser.log_probability(["a", "b", "c"]) == -np.inf
    assert parser.parse_tokens(["a", "b"]).fallback is None
    assert parser.parse_tokens(["x", "y", "z"], ["A", "A", "C"]).tree.tags() == ["A", "A", "C"]


FREQUENT = "(S (X (D d) (N n)) (VP (V v) (X (P p) (Q q))))\n" * 40


def test_a_tag_that_was_never_seen_is_tried_when_nothing_else_derives() -> None:
    parse = trained(PCFG.from_preset("plain"), FREQUENT).parse_tokens(["n", "d", "v", "p", "q"])
    assert parse.fallback == ANY_TAG
    assert parse.tree.label == "TOP"
    assert parse.tree.children[0].label == "S"


def test_the_coarse_grammar_helps_where_the_fine_one_cannot() -> None:
    parser = trained(PCFG(), FREQUENT)
    assert parser.parse_tokens(["d", "n", "v", "p", "q"]).fallback is None
    parse = parser.parse_tokens(["p", "q", "v", "d", "n"])
    assert parse.fallback == COARSE_ONLY
    assert str(parse.tree) == "(TOP (S (X (P p) (Q q)) (VP (V v) (X (D d) (N n)))))"


def test_fallbacks_are_counted() -> None:
    task, parser = ParsingTask(), trained(PCFG(), FREQUENT)
    gold = [
        "(S (X (P p) (Q q)) (VP (V v) (X (D d) (N n))))",  # coarse only
        "(S (X (D d) (N n)) (VP (V v) (X (P p) (Q q))))",
        "(S (D d))",  # no derivation
    ]
    assert task.evaluate(parser, InMemoryCorpus(read_brackets(gold))).failures == 2


# ---------------------------------------------------------------------------------------------------------
# Probabilities


def test_a_sentence_is_as_probable_as_its_trees_together() -> None:
    treebank = """
    (S (S (N a) (V b)) (S (N a) (V b)))
    (S (S (N a) (V b)) (V b))
    (S (N a) (S (V a) (N b)))
    (S (N b) (V a))
    """

    def trees(start: int, end: int, words: tuple[str, ...]) -> list[Tree]:
        """Every binary tree over S, N and V."""
        found = [Tree(tag, word=words[start]) for tag in "NV"] if end == start + 1 else []
        for split in range(start + 1, end):
            pairs = product(trees(start, split, words), trees(split, end, words))
            found += [Tree("S", [left, right]) for left, right in pairs]
        return found

    for estimator in (
        PCFG.from_preset("plain"),
        LPCFG(pruner_states=0, grammars="tensors", nodes_per_state=0.0),
    ):
        parser = replace(trained(estimator, treebank), pruning=Pruning(0.0, 0.0, 0.0, 0.0, 0.0))
        for words in product("ab", repeat=4):
            total = sum(np.exp(parser.tree_log_probability(tree)) for tree in trees(0, 4, words))
            assert np.exp(parser.log_probability(words)) == pytest.approx(total)


def test_trees_that_the_grammar_does_not_have(parser: Parser) -> None:
    parse = parser.parse("The keeper climbs the stairs.")[0]
    assert (
        -np.inf
        < parser.tree_log_probability(parse.tree)
        == parser.tree_log_probability(strip_root(parse.tree))
    )
    assert parser.tree_log_probability(Tree("S", [Tree("ZZ", word="the")])) == -np.inf
    nonsense = Tree("S", [Tree(".", word="."), Tree("NN", word="ship"), Tree(".", word=".")])
    assert parser.tree_log_probability(nonsense) == -np.inf


def test_log_probabilities_of_parses(parser: Parser) -> None:
    for parse in parser.parse(TEXT):
        assert parser.log_probability(parse.sentence.words) == pytest.approx(parse.log_probability)
    likely, unlikely = ["The", "keeper", "waited", "."], ["waited", "The", ".", "keeper"]
    assert parser.log_probability(likely) > parser.log_probability(unlikely)


# ---------------------------------------------------------------------------------------------------------
# Other formats


def test_json_constituents_nest_and_cover(parser: Parser) -> None:
    for parse in parser.parse(TEXT):
        record = to_dict(parse)
        spans = [(c["start"], c["end"]) for c in record["constituents"]]
        assert spans[0] == (0, len(record["tokens"]))
        for number, (start, end) in enumerate(spans):
            for later_start, later_end in spans[number + 1 :]:
                inside = start <= later_start and later_end <= end
                assert inside or later_end <= start or end <= later_start, "a later span is below or apart"
        for c in record["constituents"]:
            covered = TEXT[c["start_char"] : c["end_char"]]
            assert covered.startswith(record["tokens"][c["start"]]["text"])
            assert covered.endswith(record["tokens"][c["end"] - 1]["text"])


def test_nltk_and_back(parser: Parser) -> None:
    pytest.importorskip("nltk")
    for parse in parser.parse(TEXT):
        theirs = parse.tree.to_nltk()
        assert theirs.leaves() == parse.tree.words()
        assert Tree.from_nltk(theirs) == parse.tree


def test_inspection_names_what_the_grammar_has(parser: Parser) -> None:
    (noun,) = parser.inspect("NN")
    assert noun.symbol == "NN"
    assert noun.n_states == len(noun.states)
    words = {word for state in noun.states for word, _ in state.words}
    assert words & {"harbor", "ship", "keeper", "boat", "lamp", "lighthouse"}
    (phrase,) = parser.inspect("NP")
    assert any("NP -> DT NN" in [rule for rule, _ in state.rules] for state in phrase.states)
    assert len(parser.inspect()) == len(parser.coarse.symbols)
    with pytest.raises(ConfigError, match="ZZZ"):
        parser.inspect("ZZZ")


def test_a_sentence_beyond_the_longest_is_parsed_in_pieces(parser: Parser) -> None:
    short = replace(parser, max_length=7)
    line = "the keeper climbs the stairs , and the lamp is ready ; Marta saw the old ship in the harbor ."
    words = line.split()
    whole, parse = parser.parse_tokens(words), short.parse_tokens(words, k=3)
    assert (whole.fallback, parse.fallback) == (None, IN_PIECES)
    check(parse, words)
    parts = [
        short.parse_tokens(words[start:end], k=3) for start, end in ((0, 6), (6, 12), (12, 19), (19, 21))
    ]
    assert parse.tree.children == tuple(child for each in parts for child in each.tree.children)
    assert parse.log_probability == pytest.approx(sum(each.log_probability or 0 for each in parts))
    scores = [each.score for each in parse.alternatives]
    assert scores == sorted(scores, reverse=True)
    assert len({str(each.tree) for each in parse.alternatives}) == 3
    assert scores[0] == pytest.approx(sum(each.alternatives[0].score for each in parts))
    assert short.parse_tokens(words[:7]) == parser.parse_tokens(words[:7])


def test_pieces_of_the_same_words_are_parsed_once(parser: Parser, monkeypatch: pytest.MonkeyPatch) -> None:
    inferred, infer = list[int](), ForestParser.infer

    def counted(self: ForestParser, sentence: SentenceInput) -> Forests:
        inferred.append(len(sentence.words))
        return infer(self, sentence)

    monkeypatch.setattr(ForestParser, "infer", counted)
    parse = replace(parser, max_length=7).parse_tokens(["lamp"] * 38)
    assert inferred == [7, 3]
    check(parse, ["lamp"] * 38)
    inferred.clear()
    text = ", " * 2500  # of several sentences
    assert len(replace(parser, max_length=7).parse(text)) > 2
    assert len(inferred) < 10
    alone = parser.parse_tokens(["lamp"] * 7)
    assert parse.tree.children[: len(alone.tree.children)] == alone.tree.children


def test_a_sentence_with_constraints_is_parsed_as_a_whole(parser: Parser) -> None:
    words = ["the", "keeper", "climbs", "the", "stairs", "and", "the", "lamp", "is", "ready"]
    parse = replace(parser, max_length=4).parse_tokens(words, brackets=[(2, 5)])
    check(parse, words)
    assert parse == parser.parse_tokens(words, brackets=[(2, 5)])
