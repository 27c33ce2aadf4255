"""The span scorer: jackknife, gradients, and how it stays with its parser."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from spectralnlp import load
from spectralnlp.errors import ConfigError, InputError, ModelError
from spectralnlp.estimators.lpcfg import LPCFG
from spectralnlp.estimators.lpcfg.learner import LPCFGLearner
from spectralnlp.estimators.parser.component import folds_of
from spectralnlp.estimators.parser.gold_spans import GoldSpans
from spectralnlp.estimators.parser.parsers import LPCFGParser
from spectralnlp.estimators.parser.span_kernels import GRADIENTS, ROOT, learn_epoch
from spectralnlp.estimators.parser.span_scorer import SpanScoring, _divisions
from spectralnlp.estimators.parser.span_training import describe_all
from spectralnlp.inference.trees.labels import SharedLabels
from spectralnlp.inference.trees.parsing import ForestParser
from spectralnlp.inference.trees.rescoring.corpus import NO_BRACKET, NOT_AN_OPTION, Example, ExampleTable
from spectralnlp.inference.trees.rescoring.options import SpanOptions
from spectralnlp.inference.trees.rescoring.scores import (
    N_NUMBERS,
    describe_span,
    make_workspace,
    score_span,
)
from spectralnlp.inference.trees.rescoring.span_values import likely_brackets
from spectralnlp.inference.trees.rescoring.templates import N_BUCKETS, template_table
from spectralnlp.inference.trees.rescoring.tokens import TokenReader, hash_name
from spectralnlp.inference.trees.rescoring.values import LabelValues
from spectralnlp.inference.trees.sentence import Forests, SentenceInput
from spectralnlp.jit import kernel
from spectralnlp.models.parser import Parser
from spectralnlp.parameters import GrammarSet, SpanScorer, WordClusters
from spectralnlp.runtime import InMemoryCorpus, accumulate, use_engine
from spectralnlp.storage import StoredArrays, StoredValues
from spectralnlp.tasks.parsing import ParsingTask, gold_sentence
from spectralnlp.text.annotations import Annotations
from spectralnlp.trees import Tree

NEVER_OFF = (SpanScoring, "least_trees", 1)


@pytest.fixture(scope="module")
def trees(own_treebank: Path) -> list[Tree]:
    return [*ParsingTask().read([own_treebank / "train.mrg"]), Tree("UH", word="Yes")]


@pytest.fixture(scope="module")
def scored(trees: list[Tree]) -> Parser:
    """A parser with a scorer, of few trees."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(*NEVER_OFF)
        return ParsingTask().train(LPCFGParser(), InMemoryCorpus(trees))


def test_folds_go_by_document_or_by_block() -> None:
    documents = np.repeat(np.arange(20), 3)
    folds = folds_of(documents, 4)
    assert all(len(set(folds[documents == d].tolist())) == 1 for d in range(20))
    assert np.bincount(folds).tolist() == [15] * 4
    few = folds_of(np.repeat([0, 1], 50), 5)  # fewer than five documents a fold
    assert np.bincount(few).tolist() == [20] * 5
    assert (np.diff(few) != 0).sum() == 24
    assert len(folds_of(np.empty(0, np.int32), 3)) == 0


@pytest.mark.parametrize(
    "documents", [np.arange(90) // 2, np.zeros(90, np.int32)], ids=["documents", "blocks"]
)
def test_divisions_into_folds_differ(documents: np.ndarray) -> None:
    one, two, three = (folds_of(documents, 3, repetition) for repetition in range(3))
    for a, b in ((one, two), (one, three), (two, three)):
        assert np.bincount(a * 3 + b, minlength=9).min() >= 6  # of ten if evenly


@pytest.mark.parametrize(
    ("n_words", "divisions"), [(500, 3), (60_000, 2), (75_000, 1), (140_000, 1), (300_000, 1)]
)
def test_small_treebanks_are_divided_more_often(n_words: int, divisions: int) -> None:
    table = SimpleNamespace(word=np.append(np.zeros(n_words, np.int32), [-1] * 500))
    assert _divisions(table) == divisions  # type: ignore[arg-type]


def marked_with(tree: Tree, document: int) -> Tree:
    """The tree with the number of its document behind every word."""
    return tree.fold(
        lambda node, below: Tree(node.label, below, None if below else f"{node.word}-{document}")
    )


def test_no_document_is_shown_to_the_grammar_that_parses_it(
    trees: list[Tree], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(*NEVER_OFF)
    marked = [
        tree.fold(
            lambda node, below, n=n: Tree(node.label, below, None if below else f"{node.word}-{n // 2}")
        )
        for n, tree in enumerate(trees[:60])
    ]
    seen: list[tuple[set[str], list[str]]] = []
    plain = LPCFGLearner.learn

    def learn(self: LPCFGLearner) -> tuple[GrammarSet, ...]:
        sets = plain(self)
        if self.trees.first.n_trees < 60:
            grammars = [self.coarse[0], *sets[0].grammars]
            words = {word for grammar in grammars for word in grammar.lexicon.words}
            seen.append(({word.rsplit("-", 1)[1] for word in words}, []))
        return sets

    infer = ForestParser.infer

    def spy(self: ForestParser, sentence: SentenceInput) -> Forests:
        if seen:
            seen[-1][1].append(sentence.words[0].rsplit("-", 1)[1])
        return infer(self, sentence)

    monkeypatch.setattr(LPCFGLearner, "learn", learn)
    monkeypatch.setattr(ForestParser, "infer", spy)
    documents = [InMemoryCorpus(marked[at : at + 2]) for at in range(0, 60, 2)]

    class Documents(InMemoryCorpus[Tree]):
        def partitions(self) -> list[object]:  # type: ignore[override]
            return [
                replace(next(iter(each.partitions())), document_index=n, document=f"d{n}")
                for n, each in enumerate(documents)
            ]

    LPCFGParser(em_iterations=0).fit(Documents(marked))
    assert len(seen) == 9  # three folds of three divisions
    assert sum(len(parsed) for _, parsed in seen) == 180
    assert all(not known & set(parsed) for known, parsed in seen)


def one_example() -> tuple[ExampleTable, LabelValues]:
    names = ("DT", "NN", "NP", "X")
    options = SpanOptions(
        start=np.array([0, 0], np.int32),
        end=np.array([2, 3], np.int32),
        first=np.array([0, 2, 3]),
        label=np.array([2, 3, 2], np.int32),
        posterior=np.array([[0.5, 0.6], [0.2, 0.1], [0.9, 0.8]]),
        tag=np.array([0, 1, 1], np.int32),
        cell_odds=np.array([1.5, -2.0]),
    )
    tokens = TokenReader(lambda _: False, names, WordClusters.none().of).read(
        ["the", "old", "sea"], options.tag
    )
    labels = LabelValues(
        name=np.array([hash_name(name) for name in names], np.uint64),
        bottom=np.arange(4, dtype=np.int32),
        head_score=np.zeros((4, 4), np.float32),
        head_is_last=np.ones((4, 4), bool),
    )
    return ExampleTable.of([Example(options, tokens, np.array([1, -1], np.int32))]), labels


def loss(examples: ExampleTable, labels: LabelValues, weights: np.ndarray, numbers: np.ndarray) -> float:
    options, table = examples.options, template_table()
    work, total = kernel(make_workspace)(options.first, len(table)), 0.0
    brackets = kernel(likely_brackets)(options, 0, 2, examples.tokens, labels)
    describe, score = kernel(describe_span), kernel(score_span)
    for s, gold in enumerate(examples.gold.tolist()):
        describe(s, options, examples.tokens, labels, brackets, table, work)
        n_options = int(options.first[s + 1] - options.first[s])
        log_sum = score(n_options, weights, numbers, work)
        total += log_sum - (float(work.score[gold - options.first[s]]) if gold >= 0 else 0.0)
    return total


def test_gradients_are_finite_differences() -> None:
    examples, labels = one_example()
    table = template_table()
    metadata, buckets = describe_all(examples, labels, table)
    state, numbers = np.zeros((len(buckets), 3), np.float32), np.zeros((N_NUMBERS, 3))
    order, rates = np.array([0]), (1e-9, 1e6, 1.0)
    # So strong a penalty, and so low a rate, that weights stay at zero and gradients add up.
    learn_epoch(metadata, examples.spans, examples.gold, order, len(table), state, numbers, rates)
    features = np.flatnonzero(state[:, ROOT])
    assert len(features) > 200
    rng, step = np.random.default_rng(0), 1e-3
    weights, none = np.zeros(N_BUCKETS), np.zeros(N_NUMBERS)
    for feature in rng.choice(features, 30, replace=False).tolist():
        sides = []
        for sign in (1, -1):
            weights[buckets[feature]] = sign * step
            sides.append(loss(examples, labels, weights, none))
            weights[buckets[feature]] = 0.0
        assert (sides[0] - sides[1]) / (2 * step) == pytest.approx(float(state[feature, GRADIENTS]), abs=1e-5)


def test_rare_features_are_left_out() -> None:
    examples, labels = one_example()
    every, buckets = describe_all(examples, labels, template_table())
    frequent, kept = describe_all(examples, labels, template_table(), min_count=2)
    assert 0 < len(kept) < len(buckets)
    np.testing.assert_array_equal(kept, buckets[np.bincount(every.features) >= 2])
    np.testing.assert_array_equal(frequent.numbers, every.numbers)
    options = (np.split(each.features, each.starts[1:-1]) for each in (every, frequent))
    for before, after in zip(*options, strict=True):
        np.testing.assert_array_equal(kept[after], buckets[before][np.isin(buckets[before], kept)])


def test_gold_spans_are_those_of_the_trees(trees: list[Tree]) -> None:
    estimator = LPCFG(em_iterations=0).fit(InMemoryCorpus(trees))
    moments = estimator.init_moments(InMemoryCorpus(trees))
    log = accumulate(moments, InMemoryCorpus(trees)).parts["head"]
    shared = SharedLabels.of([estimator.coarse_])
    gold = GoldSpans.of(log.table(), shared)  # type: ignore[attr-defined]
    for number, tree in enumerate(trees):
        rows = gold.tree == number
        found = set(zip(gold.start[rows].tolist(), gold.end[rows].tolist(), strict=True))
        assert found == {(start, end) for _, start, end in tree.spans()}
        lowest = {(start, end): label for label, start, end in tree.spans() if end - start > 1}
        for start, end, label in zip(gold.start[rows], gold.end[rows], gold.label[rows], strict=True):
            if label < len(shared.names) and end - start > 1:
                assert shared.names[label] == lowest[start, end]


def test_gold_options_are_those_of_gold_spans() -> None:
    gold = GoldSpans(*(np.array(column) for column in ([3, 3, 3], [0, 0, 1], [2, 3, 3], [7, 9, 5])))
    options = one_example()[0].options._replace(
        start=np.array([0, 0, 2, 0], np.int32),
        end=np.array([1, 2, 3, 3], np.int32),
        first=np.array([0, 1, 3, 4, 6]),
        label=np.array([7, 5, 7, 9, 8, 6], np.int32),
    )
    assert gold.options(3, options).tolist() == [NO_BRACKET, 2, NO_BRACKET, NOT_AN_OPTION]
    assert gold.options(2, options).tolist() == [NO_BRACKET] * 4


def test_switched_off_and_too_small_are_the_same(trees: list[Tree]) -> None:
    corpus = InMemoryCorpus(trees)
    small, off = LPCFGParser().fit(corpus), LPCFGParser(span_scorer=False).fit(corpus)
    assert small.components_ == off.components_ == {}
    ours, theirs = (each.grammar_.grammar_sets_[0].to_arrays() for each in (small, off))
    assert all(np.array_equal(array, theirs[name]) for name, array in ours.items())


def test_same_seed_same_bytes_and_the_disk(trees: list[Tree], scored: Parser, tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(*NEVER_OFF)
        again = ParsingTask().train(LPCFGParser(), InMemoryCorpus(trees))
    for name, parser in (("a", scored), ("b", again)):
        parser.save(tmp_path / name)
    arrays = [(tmp_path / name / "arrays.safetensors").read_bytes() for name in "ab"]
    assert arrays[0] == arrays[1]
    words = ["The", "keeper", "walks", "along", "the", "shore", "."]
    loaded = load(tmp_path / "a")
    assert "span_scorer" in loaded.components
    assert loaded.parse_tokens(words).tree == scored.parse_tokens(words).tree
    half = tmp_path / "half"
    scored.save(half, compact=True)
    assert load(half).parse_tokens(words).tree.words() == words


def chain_of(tree: Tree) -> Annotations:
    """Annotations in which each token depends on the one before it."""
    n = len(tree.words())
    return Annotations(range(-1, n - 1), ["ROOT", *["dep"] * (n - 1)], tree.tags())


@pytest.fixture(scope="module")
def annotated(trees: list[Tree], tmp_path_factory: pytest.TempPathFactory) -> Parser:
    """The parser of ``scored``, with annotations of two thirds of the trees in training."""
    file = tmp_path_factory.mktemp("annotations") / "chains.conllu"
    with file.open("w") as lines:
        print("# generator = chains", file=lines)
        for tree in trees[: 2 * len(trees) // 3]:
            for number, (word, tag) in enumerate(zip(tree.words(), tree.tags(), strict=True), 1):
                word = {"-LRB-": "(", "-RRB-": ")", "``": '"', "''": '"'}.get(word, word)
                relation = "dep" if number > 1 else "ROOT"
                print(number, word, "_", "_", tag, "_", number - 1, relation, "_", "_", sep="\t", file=lines)
            print(file=lines)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(*NEVER_OFF)
        return ParsingTask().train(LPCFGParser(annotations=str(file)), InMemoryCorpus(trees))


def test_annotations_change_nothing_without_them(
    scored: Parser, annotated: Parser, trees: list[Tree]
) -> None:
    ours, theirs = (each.components["span_scorer"] for each in (annotated, scored))
    for name in ("features", "weights", "number_weights"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))
    assert (ours.scheme, theirs.annotated) == (None, None)
    assert not np.array_equal(ours.annotated.features, ours.features)
    for tree in trees[-10:]:
        found, expected = (each.parse_tokens(tree.words()) for each in (annotated, scored))
        assert (found.tree, found.constituents) == (expected.tree, expected.constituents)


def test_annotations_are_evidence(annotated: Parser, trees: list[Tree], tmp_path: Path) -> None:
    tree = trees[0]
    annotated.save(tmp_path / "a")
    loaded = load(tmp_path / "a")
    assert loaded.annotation_scheme == annotated.annotation_scheme
    assert annotated.annotation_scheme is not None
    assert annotated.annotation_scheme.name == "chains"
    assert annotated.annotation_scheme.labels == ("ROOT", "dep")
    plain = annotated.parse_tokens(tree.words())
    told = annotated.parse_tokens(tree.words(), annotations=chain_of(tree))
    again = loaded.parse_tokens(tree.words(), annotations=chain_of(tree))
    assert told.constituents != plain.constituents
    assert (again.tree, len(again.constituents)) == (told.tree, len(told.constituents))
    many = annotated.parse_many([tree.words()] * 2, annotations=[chain_of(tree), None])
    assert [each.constituents for each in many] == [told.constituents, plain.constituents]


def test_annotations_of_another_scheme_are_refused(
    annotated: Parser, scored: Parser, trees: list[Tree]
) -> None:
    tree = trees[0]
    chain = chain_of(tree)
    other = replace(chain, labels=["root", *["dep"] * (len(chain) - 1)])
    with pytest.raises(InputError, match="the annotations have 'root', unlike those of chains in training"):
        annotated.parse_tokens(tree.words(), annotations=other)
    with pytest.raises(InputError, match=r"\d+ tokens, and annotations of \d+"):
        annotated.parse_tokens([*tree.words(), "!"], annotations=chain)
    with pytest.raises(InputError, match="item 2: "):
        list(annotated.parse_many([["Yes"], ["No"]], annotations=[None, chain]))
    with pytest.raises(InputError, match="item 2 has no annotations"):
        list(annotated.parse_many([tree.words()] * 2, annotations=[chain]))
    told, plain = scored.parse_tokens(tree.words(), annotations=other), scored.parse_tokens(tree.words())
    assert told.constituents == plain.constituents  # a parser without a scheme ignores them


def test_annotations_in_an_evaluation(
    annotated: Parser, scored: Parser, trees: list[Tree], tmp_path: Path
) -> None:
    file = tmp_path / "one.conllu"
    file.write_text("1\tYes\t_\t_\tUH\t_\t0\tROOT\t_\t_\n")
    task, gold = ParsingTask(), InMemoryCorpus(trees[-3:])
    report = task.evaluate(annotated, gold, annotations=[str(file)])
    assert len(report.counts) == 3
    with pytest.raises(ConfigError, match="trained without annotations"):
        task.evaluate(scored, gold, annotations=[str(file)])
    with pytest.raises(ConfigError, match="exclude each other"):
        task.evaluate(annotated, gold, annotations=[str(file)], raw=True)
    with pytest.raises(InputError, match=r"none of the 2 sentences has annotations"):
        task.evaluate(annotated, InMemoryCorpus(trees[:2]), annotations=[str(file)])


def test_annotations_of_other_sentences_are_refused(
    trees: list[Tree], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "other.conllu"
    file.write_text("1\tUnheard\t_\t_\tJJ\t_\t0\tROOT\t_\t_\n\n")
    monkeypatch.setattr(*NEVER_OFF)
    with pytest.raises(InputError, match=r"none of the \d+ sentences has annotations"):
        ParsingTask().train(LPCFGParser(annotations=str(file)), InMemoryCorpus(trees))
    with pytest.raises(ConfigError, match="only the span scorer uses"):
        LPCFGParser(annotations=str(file), span_scorer=False).fit(InMemoryCorpus(trees))


def test_a_scorer_of_fewer_numbers_is_read(scored: Parser) -> None:
    """Those that are not known to it weigh nothing."""
    scorer = scored.components["span_scorer"]
    stored = scorer.to_arrays()
    stored["number_weights"] = stored["number_weights"][:8]
    metadata = StoredValues(scorer.to_json())
    read = SpanScorer.from_arrays(StoredArrays(stored), metadata, n_buckets=N_BUCKETS, n_numbers=N_NUMBERS)
    assert read.number_weights[8:].tolist() == [0.0] * (N_NUMBERS - 8)
    np.testing.assert_allclose(read.number_weights[:8], scorer.number_weights[:8], rtol=1e-6)
    stored["number_weights"] = np.zeros(N_NUMBERS + 1, np.float32)
    with pytest.raises(ModelError, match=f"number_weights has {N_NUMBERS + 1} numbers"):
        SpanScorer.from_arrays(StoredArrays(stored), metadata, n_buckets=N_BUCKETS, n_numbers=N_NUMBERS)


def test_it_works_with_all_that_parses(scored: Parser, trees: list[Tree]) -> None:
    words, tags = trees[0].words(), trees[0].tags()
    parse = scored.parse_tokens(words, tags)
    assert parse.tree.tags() == tags
    assert all(0.0 <= c.posterior <= 1.0 for c in parse.constituents)
    for decoder in ("mbr", "max-rule", "labelled-recall", "viterbi"):
        assert scored.parse_tokens(words, decoder=decoder).tree.words() == words
    (best,) = scored.parse_many([gold_sentence(trees[0], scored.conventions)], k=5)
    assert best is not None
    assert best.alternatives[0].tree == best.tree
    gains = [each.score for each in best.alternatives]
    assert gains == sorted(gains, reverse=True)
    pool = Parser.join([scored, scored])
    assert pool.parse_tokens(words).tree == scored.parse_tokens(words).tree


def test_a_grammar_of_another_treebank_can_be_rescored(scored: Parser, own_treebank: Path) -> None:
    """Labels go by name: one that the scorer never saw has no features of its own."""
    task = ParsingTask()
    other = task.train(LPCFG(em_iterations=0), task.read([own_treebank / "dev.mrg"]))
    words = ["The", "keeper", "walks", "."]
    assert replace(other, components=scored.components).parse_tokens(words).tree.words() == words


def test_nothing_is_gained_from_shuffled_labels(
    trees: list[Tree], own_treebank: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A scorer that learns which spans are brackets from noise does not make trees better."""
    rng = np.random.default_rng(0)

    def any_option(self: GoldSpans, tree: int, options: SpanOptions) -> np.ndarray:
        """One of each span's options, or no bracket."""
        drawn = rng.integers(-1, np.diff(options.first))
        return np.where(drawn < 0, -1, options.first[:-1] + drawn).astype(np.int32)

    monkeypatch.setattr(*NEVER_OFF)
    monkeypatch.setattr(GoldSpans, "options", any_option)
    task = ParsingTask()
    with use_engine("serial"):  # so that the shuffles come in one order
        parser = task.train(LPCFGParser(em_iterations=0), InMemoryCorpus(trees))
    dev = task.read([own_treebank / "dev.mrg"])
    plain = task.evaluate(replace(parser, components={}), dev).overall
    assert task.evaluate(parser, dev).overall.f1 <= plain.f1
