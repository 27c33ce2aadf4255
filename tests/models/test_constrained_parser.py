"""Parsers under constraints: every decoder obeys, and what cannot be obeyed is refused with the reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spectralnlp.errors import InputError
from spectralnlp.estimators.lpcfg import LPCFG
from spectralnlp.estimators.pcfg.estimator import PCFG
from spectralnlp.inference.trees.decoders import Decoder, ForestDecoder, MBRDecoder
from spectralnlp.inference.trees.scored_forest import ScoredForest
from spectralnlp.inference.trees.spans import Span, SpanPosteriors, decode_spans
from spectralnlp.models.parser import ANY_TAG, NO_DERIVATION, Parser
from spectralnlp.parameters import Ints
from spectralnlp.runtime import InMemoryCorpus, use_engine
from spectralnlp.tasks.parsing import ParsingTask
from spectralnlp.text.constraints import ConstraintError, Constraints
from spectralnlp.text.tokens import Sentence
from spectralnlp.trees import Tree, read_brackets, strip_root
from spectralnlp.trees.parse import Parse

WORDS = ["The", "keeper", "saw", "the", "old", "ship", "in", "the", "harbor", "."]
Brackets = list[tuple[int, int, str | None]]


@pytest.fixture(scope="module")
def pool(own_treebank: Path) -> Parser:
    task = ParsingTask()
    return task.train(LPCFG(binarisations="head+right+left^1"), task.read([own_treebank / "train.mrg"]))


@pytest.fixture(scope="module")
def dev(own_treebank: Path) -> list[Tree]:
    return list(ParsingTask().read([own_treebank / "dev.mrg"]))


def check_obeys(tree: Tree, brackets: Brackets, forbidden: Brackets, tags: dict[int, str]) -> None:
    spans = strip_root(tree).spans()

    def has(start: int, end: int, label: str | None) -> bool:
        return any((i, j) == (start, end) and label in (None, name) for name, i, j in spans)

    assert all(has(*each) for each in brackets), (str(tree), brackets)
    assert not any(has(*each) for each in forbidden), (str(tree), forbidden)
    assert all(tree.tags()[token] == tag for token, tag in tags.items()), (str(tree), tags)


def random_constraints(
    parser: Parser, tree: Tree, rng: np.random.Generator
) -> tuple[Brackets, Brackets, dict[int, str]]:
    """Some brackets of another tree of the sentence, some random ones, and a random tag."""
    n, labels = len(tree.words()), [None, *parser.phrases]

    def anywhere(most: int) -> Brackets:
        ends = [sorted(rng.choice(n + 1, 2, replace=False).tolist()) for _ in range(rng.integers(most + 1))]
        return [(i, j, labels[rng.integers(len(labels)) if rng.random() < 0.5 else 0]) for i, j in ends]

    known = [span for span in strip_root(tree).spans() if rng.random() < 0.2]
    brackets = [(i, j, label if rng.random() < 0.5 else None) for label, i, j in known]
    tags = {int(rng.integers(n)): parser.tags[rng.integers(len(parser.tags))]} if rng.random() < 0.3 else {}
    return [*brackets, *anywhere(1)], anywhere(2), tags


def check_parser(parser: Parser, trees: Sequence[Tree], decoder: str | None, k: int = 1) -> tuple[int, int]:
    """Parse under random constraints; return how many were obeyed and how many refused."""
    rng, obeyed, refused = np.random.default_rng(3), 0, 0
    for tree in trees:
        brackets, forbidden, tags = random_constraints(parser, tree, rng)
        try:
            parse = parser.parse_tokens(
                tree.words(), tags, brackets=brackets, forbidden=forbidden, decoder=decoder, k=k
            )
        except ConstraintError:
            refused += 1
            continue
        obeyed += 1
        for each in (parse.tree, *(alternative.tree for alternative in parse.alternatives)):
            check_obeys(each, brackets, forbidden, tags)
        for start, end, label in brackets:
            posteriors = [c.posterior for c in parse.constituents if (c.start, c.end) == (start, end)]
            assert posteriors
            if label is not None:
                own = [c for c in parse.constituents if (c.label, c.start, c.end) == (label, start, end)]
                assert own[0].posterior == pytest.approx(1.0, abs=1e-5)
    return obeyed, refused


@pytest.mark.parametrize("decoder", ["mbr", "max-rule", "labelled-recall"])
def test_every_decoder_obeys(parser: Parser, dev: list[Tree], decoder: str) -> None:
    obeyed, refused = check_parser(parser, dev[:40], decoder)
    assert obeyed > 20
    assert refused > 0  # brackets that cross, at least


def test_viterbi_and_k_best_obey(parsers: dict[str, Parser], dev: list[Tree]) -> None:
    assert check_parser(parsers["pcfg"], dev[:30], "viterbi")[0] > 15
    assert check_parser(parsers["lpcfg"], dev[:30], "mbr", k=3)[0] > 15


def test_a_pool_obeys(pool: Parser, dev: list[Tree]) -> None:
    assert check_parser(pool, dev[:60], None)[0] > 20


def test_constraints_of_the_best_tree_do_not_change_it(parser: Parser, dev: list[Tree]) -> None:
    for tree in dev[:15]:
        free = parser.parse_tokens(tree.words())
        if free.fallback is None:
            brackets = [(c.start, c.end, c.label) for c in free.constituents]
            tags = dict(enumerate(free.tree.tags()))
            bound = parser.parse_tokens(tree.words(), tags, brackets=brackets)
            assert bound.tree == free.tree
            assert bound.fallback is None
            assert bound.log_probability is not None
            assert free.log_probability is not None
            # Less is pruned where less is possible. Where weights are negative, terms of a sum may cancel.
            if not any(grammar.is_signed for grammar in parser.grammars):
                assert bound.log_probability <= free.log_probability + 0.01


def test_forbidding_a_span_is_forbidding_each_label(parsers: dict[str, Parser]) -> None:
    parser = parsers["pcfg"]
    one = parser.parse_tokens(WORDS, forbidden=[(6, 9)])
    each = parser.parse_tokens(WORDS, forbidden=[(6, 9, label) for label in parser.phrases])
    assert one.tree == each.tree
    assert one.log_probability == each.log_probability


def test_shares_of_a_bracket_and_its_absence_make_one(parsers: dict[str, Parser]) -> None:
    parser = replace(parsers["plain pcfg"], pruning=replace(parsers["plain pcfg"].pruning, beam=0.0))
    free = parser.parse_tokens(WORDS).log_probability
    parts = [
        parser.parse_tokens(WORDS, **{how: [(2, 6)]}).log_probability for how in ("brackets", "forbidden")
    ]
    assert None not in (free, *parts)
    assert np.logaddexp(*parts) == pytest.approx(free, abs=1e-3)  # but for what is pruned


def test_given_tags_of_some_words(parsers: dict[str, Parser]) -> None:
    for parser in parsers.values():
        parse = parser.parse_tokens(WORDS, {2: "NN", 5: "VB"})
        assert [parse.tree.tags()[i] for i in (2, 5)] == ["NN", "VB"]


def test_batches_take_sentences_with_constraints(parsers: dict[str, Parser]) -> None:
    parser = parsers["lpcfg"]
    constraints = [None, Constraints.of([(2, 6, "VP")]), Constraints(), Constraints.of((), [(0, 2)])]
    with use_engine("threads", jobs=2):
        found = list(parser.parse_many([WORDS] * 4, constraints=constraints))
    expected = [
        parser.parse_tokens(WORDS),
        parser.parse_tokens(WORDS, brackets=[(2, 6, "VP")]),
        parser.parse_tokens(WORDS),
        parser.parse_tokens(WORDS, forbidden=[(0, 2)]),
    ]
    assert [each.tree for each in found] == [each.tree for each in expected]
    for items, given in (([WORDS], []), ([WORDS], constraints), ([" ".join(WORDS)], [constraints[1]])):
        with pytest.raises(InputError, match="constraints"):
            list(parser.parse_many(items, constraints=given))


# ---------------------------------------------------------------------------------------------------------
# Refusals


@pytest.mark.parametrize(
    ("given", "what"),
    [
        ({"brackets": [(0, 11)]}, "bracket (0, 11) reaches beyond the sentence, which has 10 tokens"),
        ({"brackets": [(0, 3, "NX")]}, "'NX' is no phrase of the model; did you mean"),
        ({"brackets": [(0, 3), (2, 5)]}, "cross"),
        ({"tags": {1: "NOUN"}}, "the model has no tag 'NOUN'"),
        ({"forbidden": [(0, 10)]}, "no tree of the model meets forbidden bracket (0, 10); leave it out"),
        (
            {"brackets": [(0, 2), (2, 6)], "forbidden": [(0, 10), (1, 3)], "tags": {1: "NN"}},
            "no tree of the model meets forbidden bracket (0, 10); leave it out",
        ),
    ],
)
def test_refusals_say_why(pool: Parser, parsers: dict[str, Parser], given: dict[str, Any], what: str) -> None:
    for parser in (pool, parsers["pcfg"], parsers["tutorial"]):
        with pytest.raises(ConstraintError) as refusal:
            parser.parse_tokens(WORDS, **given)
        assert what in str(refusal.value)
        assert "\n" not in str(refusal.value)


def test_two_that_are_possible_alone_are_named_together() -> None:
    text = "(S (A (X a) (Y b)) (Z c))\n(S (X a) (B (Y b) (X a)))\n(S (A (X a) (Y b)) (Y b))"
    parser = ParsingTask().train(PCFG(), InMemoryCorpus(read_brackets(text.splitlines())))
    words = ["a", "b", "c"]
    assert str(parser.parse_tokens(words).tree) == "(TOP (S (A (X a) (Y b)) (Z c)))"
    assert parser.parse_tokens(words, {2: "X"}, brackets=[(1, 3)]).tree.tags() == ["X", "Y", "X"]
    with pytest.raises(ConstraintError) as refusal:
        parser.parse_tokens(words, {2: "X"}, brackets=[(0, 3), (0, 2, "A")])
    assert str(refusal.value) == (
        "no tree of the model meets bracket (0, 2, 'A') together with tag 'X' of token 2; "
        "leave one of them out"
    )


def test_a_sentence_without_any_tree_gets_one_that_obeys() -> None:
    text = "(S (A (X a) (Y b)) (Z c))\n(S (A (X a) (Y b)) (Y b))"
    parser = ParsingTask().train(PCFG(), InMemoryCorpus(read_brackets(text.splitlines())))
    words = ["a", "b", "c", "a", "c"]
    assert parser.parse_tokens(words).fallback == NO_DERIVATION
    parse = parser.parse_tokens(
        words, {0: "Z"}, brackets=[(1, 4, "S"), (1, 3), (4, 5, "A")], forbidden=[(0, 4)]
    )
    assert parse.fallback == NO_DERIVATION
    assert str(parse.tree) == "(TOP (Z a) (S (A (Y b) (Z c)) (X a)) (A (Z c)))"
    assert [(c.label, c.start, c.end) for c in parse.constituents] == parse.tree.spans()[1:]


def test_constraints_that_need_other_tags_say_so(parsers: dict[str, Parser]) -> None:
    found = [parsers["pcfg"].parse_tokens(WORDS, brackets=[(start, start + 2, "VP")]) for start in range(9)]
    assert {parse.fallback for parse in found} >= {None, ANY_TAG}


class Deaf(ForestDecoder):
    """A third party's decoder that knows nothing of constraints."""

    can_pool = True

    def decode(self, scored: ScoredForest) -> Ints:
        return MBRDecoder().decode(scored)

    def decode_pool(self, posteriors: SpanPosteriors) -> list[Span]:
        return decode_spans(replace(posteriors, limits=None), gamma=0.9, tag_weight=0.3)


def test_a_decoder_that_knows_no_constraints_obeys(pool: Parser, monkeypatch: pytest.MonkeyPatch) -> None:
    def make(name: str, settings: object) -> Decoder:
        return Deaf()

    monkeypatch.setattr("spectralnlp.models.parser.make_decoder", make)
    parse = pool.parse_tokens(WORDS, brackets=[(1, 6)], forbidden=[(0, 2)], decoder="deaf")
    check_obeys(parse.tree, [(1, 6, None)], [(0, 2, None)], {})


def test_long_sentences_obey(parsers: dict[str, Parser]) -> None:
    words = [word for _ in range(25) for word in [*WORDS[:-1], ","]]
    for n in (200, 250):
        parse: Parse = parsers["lpcfg"].parse_tokens(words[:n], brackets=[(3, 190), (100, 150, "NP")])
        check_obeys(parse.tree, [(3, 190, None), (100, 150, "NP")], [], {})


def test_sentences_carry_constraints(parsers: dict[str, Parser]) -> None:
    sentence = Sentence.from_words(WORDS)
    bound = replace(sentence, constraints=Constraints.of([(2, 6, "VP")]))
    free, found = parsers["pcfg"].parse_many([sentence, bound])
    assert (found.tree == free.tree) == (("VP", 2, 6) in free.tree.spans())
    assert ("VP", 2, 6) in found.tree.spans()
