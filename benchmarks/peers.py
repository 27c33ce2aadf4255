"""Score other parsers for comparison: the Berkeley parser's stored trees, and NLTK's ViterbiParser."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from time import perf_counter
from types import FrameType
from typing import Any

from spectralnlp.runtime import Corpus
from spectralnlp.scoring import score_trees
from spectralnlp.tasks.parsing import ParsingTask
from spectralnlp.trees import Tree, add_root, read_brackets, read_trees

BERKELEY = {"wsj": "berkeley-sm5", "gum": "berkeley-sm4"}
SHORT = (5, 12)  # least and most tokens of the sentences for NLTK
UNKNOWN = "<unknown>"  # replaces words that occur at most once in training, for NLTK


def treebank(folder: Path, skipped: set[str] | None = None) -> Corpus[Tree]:
    """Return the valid trees of a folder; errors of invalid ones are added to ``skipped``."""
    errors = set[str]() if skipped is None else skipped
    return ParsingTask().read([folder], on_bad=lambda error: errors.add(str(error)))


@dataclass(frozen=True)
class Scores:
    """EVALB scores of a parser in percent, and the number of sentences for which it has no tree."""

    f1: float
    f1_40: float
    accuracy: float
    skipped: int


def berkeley(name: str, golden: Path) -> Scores | None:
    """Return the scores of the Berkeley parser's stored trees; None if a treebank has none."""
    predicted = golden / f"{name}-dev.{BERKELEY.get(name)}.mrg"
    if not predicted.exists():
        return None
    # The parser writes ``(())`` for a sentence without a parse, which ``read_trees`` would refuse.
    lines = predicted.read_text(encoding="utf-8").splitlines()
    trees = [None if line.strip() in ("(())", "()") else next(read_brackets([line])) for line in lines]
    scored = score_trees(read_trees(golden / f"{name}-dev.gold.mrg"), trees)
    overall, short = scored.overall, scored.short
    return Scores(overall.f1, short.f1, overall.tagging_accuracy, overall.skipped)


@dataclass(frozen=True)
class SpotCheck:
    """Result of parsing a few sentences one by one; ``sentences`` is the number parsed within the limit."""

    sentences: int
    seconds: float
    f1: float


def short_sentences(dev: Path, wanted: int) -> list[str]:
    """Return the first short trees of a treebank as bracketed text, the shortest first."""
    trees = (tree for tree in treebank(dev) if SHORT[0] <= len(tree.words()) <= SHORT[1])
    chosen = sorted(islice(trees, wanted), key=lambda tree: len(tree.words()))
    return [str(add_root(tree)) for tree in chosen]


def spot_check(
    parse: Callable[[list[str]], Tree | None], gold: Sequence[str], limit: float | None = None
) -> SpotCheck:
    """Time and score a parser on a few sentences.

    Args:
        parse: function that returns the tree of a list of words, or None.
        gold: bracketed gold trees.
        limit: limit in seconds; unfinished sentences do not count.
    """
    trees = [next(read_brackets([text])) for text in gold]
    predicted: list[Tree | None] = []
    seconds = 0.0
    for tree in trees:
        started = perf_counter()
        try:
            with _time_limit(None if limit is None else limit - seconds):
                parsed = parse(tree.words())
        except TimeoutError:
            break
        seconds += perf_counter() - started
        predicted.append(None if parsed is None else _with_words(parsed, tree.words()))
    f1 = score_trees(trees[: len(predicted)], predicted).overall.f1 if predicted else 0.0
    return SpotCheck(len(predicted), seconds, f1)


@contextmanager
def _time_limit(seconds: float | None) -> Iterator[None]:
    """Raise TimeoutError after some seconds (on the main thread of Unix only)."""
    if seconds is None:
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 1e-3))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def nltk_viterbi(train: Path, gold: Sequence[str], limit: float) -> SpotCheck:
    """Score NLTK's ViterbiParser with a plain PCFG of the training trees, as in the NLTK book.

    Args:
        train: training trees.
        gold: bracketed gold trees of the sentences to parse.
        limit: limit in seconds for all sentences.
    """
    from nltk import Nonterminal, ViterbiParser, induce_pcfg

    trees = [add_root(tree) for tree in treebank(train)]
    counts = Counter(word for tree in trees for word in tree.words())
    known = {word for word, count in counts.items() if count > 1}
    productions: list[Any] = []
    for tree in trees:
        binary = _with_words(tree, [word if word in known else UNKNOWN for word in tree.words()]).to_nltk()
        binary.collapse_unary(collapsePOS=True)
        binary.chomsky_normal_form(horzMarkov=0)
        productions += binary.productions()
    parser = ViterbiParser(induce_pcfg(Nonterminal("TOP"), productions))

    def parse(words: list[str]) -> Tree | None:
        best = next(parser.parse([word if word in known else UNKNOWN for word in words]), None)
        if best is None:
            return None
        best.un_chomsky_normal_form()
        return Tree.from_nltk(best)

    return spot_check(parse, gold, limit)


def _with_words(tree: Tree, words: Sequence[str]) -> Tree:
    left = iter(words)
    return tree.fold(lambda node, below: Tree(node.label, below, None if below else next(left)))
