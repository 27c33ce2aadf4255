"""Models trained on the small corpora of this project, and the arrays that each predicts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from spectralnlp_sketch.intent.task import IntentTask

import spectralnlp
from spectralnlp import Corpus

# Names of arrays, and what is in them: numbers, or trees, tags and labels.
Arrays = Mapping[str, list[Any]]

TRAIN, DEV = "treebank/train.mrg", "treebank/dev.mrg"
TEXT, TOKENS, INTENTS = "text/lighthouse.txt", "text/tokenized.txt", "intents/unlabelled.txt"


def parses(parser: Any, corpora: Path) -> Arrays:
    """Trees of tokens and of raw text, probabilities of tokens and of their constituents, scores."""
    given = list(parser.parse_many(tokens_in(corpora)))
    raw = chain.from_iterable(parser.parse_many(lines_of(corpora / TEXT)))
    return {
        "trees": [str(parse.tree) for parse in chain(given, raw)],
        "log_probabilities": [parse.log_probability for parse in given],
        "posteriors": [each.posterior for parse in given for each in parse.constituents],
        "dev": scores(parser, corpora / DEV),
    }


def k_best_parses(parser: Any, corpora: Path) -> Arrays:
    best = [tree for parse in parser.parse_many(tokens_in(corpora), k=3) for tree in parse.alternatives]
    trees, gains = [str(each.tree) for each in best], [each.score for each in best]
    return {**parses(parser, corpora), "k best": trees, "gains": gains}


def likeliest_parses(parser: Any, corpora: Path) -> Arrays:
    found = chain.from_iterable(parser.parse_many(lines_of(corpora / TEXT), decoder="viterbi"))
    return {**parses(parser, corpora), "viterbi": [str(parse.tree) for parse in found]}


def scores_of_spanish(parser: Any, corpora: Path) -> Arrays:
    return {"train": scores(parser, corpora / "treebank/spanish.mrg")}


def tags(tagger: Any, corpora: Path) -> Arrays:
    tagged = list(chain.from_iterable(tagger.tag_many(lines_of(corpora / TEXT), scores=True)))
    return {
        "tags": [" ".join(map("_".join, each)) for each in tagged],
        "confidence": [number for each in tagged for number in each.confidence],
        "dev": scores(tagger, corpora / DEV),
    }


def sequences(model: Any, corpora: Path) -> Arrays:
    return {"train": scores(model, corpora / TOKENS), "other text": scores(model, corpora / TEXT)}


def labels(classifier: Any, corpora: Path) -> Arrays:
    found = list(classifier.classify_many(lines_of(corpora / INTENTS)))
    return {
        "labels": [each.label for each in found],
        "probabilities": [number for each in found for number in each.scores.tolist()],
        "dev": scores(classifier, corpora / "intents/dev.tsv"),
    }


def scores(model: Any, gold: Path) -> list[float]:
    """The numbers of a report, but for times."""
    found = spectralnlp.evaluate(model, gold).to_flat_dict()
    return [float(found[name]) for name in found if "second" not in name and is_number(found[name])]


def is_number(value: object) -> bool:
    return isinstance(value, int | float)


def lines_of(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def tokens_in(corpora: Path) -> list[list[str]]:
    return [line.split() for line in lines_of(corpora / TOKENS) if line]


def labelled_and_unlabelled(corpora: Path) -> Corpus[Any]:
    return IntentTask().read([corpora / "intents/train.tsv"], unlabelled=[corpora / INTENTS])


def eigenwords(corpora: Path, models: Path) -> str:
    """A folder of word vectors with clusters, for those that learn from them."""
    words = {"min_count": 1, "dimensions": 8, "clusters": 5}
    spectralnlp.train("eigenwords", corpora / TEXT, **words).save(models / "eigenwords")
    return str(models / "eigenwords")


@dataclass(frozen=True)
class ArrayCase:
    """A model and what it is asked.

    Args:
        estimator: its registered name.
        train: what it learns from: a file in the folder ``corpora``, or what a function of that folder gives.
        ask: computes arrays, of the model and the folder ``corpora``.
        settings: hyper-parameters.
        from_words: settings whose value is a folder of `eigenwords`.
    """

    estimator: str
    train: str | Callable[[Path], Corpus[Any]]
    ask: Callable[[Any, Path], Arrays]
    settings: Mapping[str, Any] = field(default_factory=dict)
    from_words: tuple[str, ...] = ()

    def predict(self, corpora: Path, models: Path) -> Arrays:
        """Train, save, load and ask.

        Args:
            corpora: the folder of the small corpora.
            models: an empty folder for models.
        """
        words = dict.fromkeys(self.from_words, eigenwords(corpora, models)) if self.from_words else {}
        data = corpora / self.train if isinstance(self.train, str) else self.train(corpora)
        spectralnlp.train(self.estimator, data, **self.settings, **words).save(models / "asked")
        return self.ask(spectralnlp.load(models / "asked"), corpora)


CASES: Mapping[str, ArrayCase] = {
    "pcfg": ArrayCase("pcfg", TRAIN, k_best_parses),
    "pcfg-plain": ArrayCase("pcfg", TRAIN, parses, {"preset": "plain"}),
    "lpcfg-fast": ArrayCase("lpcfg", TRAIN, likeliest_parses, {"preset": "fast"}),
    "lpcfg-best": ArrayCase("lpcfg", TRAIN, parses, {"preset": "best"}),
    "lpcfg-tutorial": ArrayCase("lpcfg", TRAIN, parses, {"preset": "tutorial"}),
    "lpcfg-spanish": ArrayCase("lpcfg", "treebank/spanish.mrg", scores_of_spanish),
    "lpcfg-em": ArrayCase("lpcfg-em", TRAIN, parses, {"iterations": 5}),
    "hmm-tutorial": ArrayCase("hmm", TOKENS, sequences, {"preset": "tutorial", "n_states": 3}),
    "hmm-em": ArrayCase("hmm-em", TOKENS, sequences, {"preset": "random", "n_states": 3, "iterations": 5}),
    "tagger-vectors": ArrayCase("tagger", TRAIN, tags, from_words=("eigenwords",)),
    "rhmm": ArrayCase("rhmm", TRAIN, tags),
    "rhmm-tutorial": ArrayCase("rhmm", TRAIN, tags, {"preset": "tutorial"}),
    "intent-unlabelled": ArrayCase("intent", labelled_and_unlabelled, labels),
}

# Parts of two trees that a model finds equally good, so that the processor's rounding decides.
TIES = (("(ADVP (RB never)) (VP (VBD asked)", "(VP (ADVP (RB never)) (VBD asked)"),)


def differences(found: Arrays, golden: Arrays) -> list[str]:
    """Compare arrays: trees and labels exactly, numbers with room for another machine's rounding.

    Numbers may differ by two thousandths, or by one in the fourth decimal; of `TIES`, either may be found.

    Returns:
        A line for each array that differs.
    """
    lines = [] if found.keys() == golden.keys() else [f"found {[*found]}, not {[*golden]}"]
    for name in found.keys() & golden.keys():
        lines += _difference(name, found[name], golden[name])
    return lines


def _difference(name: str, found: list[Any], golden: list[Any]) -> list[str]:
    if len(found) != len(golden):
        return [f"{name}: {len(found)} were found, {len(golden)} are golden"]
    pairs = zip(found, golden, strict=True)
    if any(isinstance(each, str) for each in golden):
        differ = [(ours, theirs) for ours, theirs in pairs if settled(ours) != settled(theirs)]
    else:
        close = np.isclose(found, golden, rtol=2e-3, atol=1.01e-4)
        differ = [pair for pair, same in zip(pairs, close, strict=True) if not same]
    return [f"{name}:\nfound:  {ours}\ngolden: {theirs}" for ours, theirs in differ[:1]]


def settled(text: str) -> str:
    """A text in which one of the `TIES` stands for either."""
    for one, other in TIES:
        text = text.replace(other, one)
    return text
