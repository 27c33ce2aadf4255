"""Compare sentence splitting of raw text by rules and by a learned model: F1 of brackets and of ends.

A parser keeps its grammar and gets a model of sentence ends from a treebank (for GUM, the genres on which
`en` is trained). ``evaluate --raw`` scores it without and with the model on dev sets and on GUM's other
genres.

    python -m benchmarks.sentence_ends
    python -m benchmarks.sentence_ends --test wsj/dev craft/dev
"""

from __future__ import annotations

from benchmarks import report  # first: it sets the number of threads  # isort: skip

import argparse
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from time import process_time

from spectralnlp import load
from spectralnlp.estimators.lpcfg.estimator import LPCFG
from spectralnlp.estimators.parser.sentence_ends import train_sentence_ends
from spectralnlp.estimators.shared.treebank import Treebank
from spectralnlp.models.parser import Parser
from spectralnlp.parameters import SentenceEndModel
from spectralnlp.runtime import accumulate
from spectralnlp.tasks.parsing import ParsingTask
from spectralnlp.trees.treelog import TreeLog

# Genres of GUM with non-commercial licences, on which `en` is not trained.
CLOSED = re.compile(r"GUM_(?:fiction|essay|letter|podcast|whow)_")
GUM, OTHER_GENRES = "gum/train", "GUM's other genres"


def learned(parser: Parser, files: Sequence[Path]) -> SentenceEndModel | None:
    """Return a model of sentence ends, trained on files of trees with the likeliest tags of a lexicon."""
    trees, estimator = ParsingTask().read(files), LPCFG()
    moments = estimator.init_moments(trees)
    accumulate(moments, trees)
    log = moments.parts["head"]
    assert isinstance(log, TreeLog)
    started = process_time()
    table = Treebank.of([log]).first
    model = train_sentence_ends(table, log.documents(), parser.coarse, random_state=0)
    seconds = process_time() - started
    print(f"{table.n_trees:,} trees, {seconds:.1f} CPU seconds of training; ", end="")
    print("none learned" if model is None else f"threshold {model.threshold}", end="\n\n")
    return model


def row(name: str, parser: Parser, files: Sequence[Path]) -> list[object]:
    """Return the table row of a parser, scored on the raw text of trees."""
    task = ParsingTask()
    flat = task.evaluate(parser, task.read(files), raw=True).to_flat_dict()
    kinds = ("f1", "boundary_f1", "boundary_precision", "boundary_recall")
    return [name, *(f"{flat[kind]:.2f}" for kind in kinds), flat["sentences"], flat["predicted_sentences"]]


def main() -> None:
    """Run the benchmark with the arguments of the command line, and print its table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpora", type=Path, default=Path("../shared/corpora"), metavar="DIR")
    parser.add_argument("--model", default="en", metavar="NAME|PATH", help="the parser")
    parser.add_argument("--train", default=GUM, metavar="TREEBANK", help="under treebanks/")
    parser.add_argument("--test", nargs="*", default=["gum/dev", "wsj/dev"], metavar="TREEBANK")
    arguments = parser.parse_args()
    treebanks = arguments.corpora / "treebanks"
    files = sorted((treebanks / arguments.train).iterdir())
    tests = {name: [treebanks / name] for name in arguments.test}
    if arguments.train == GUM:
        tests[OTHER_GENRES] = [file for file in files if CLOSED.search(file.name)]
        files = [file for file in files if not CLOSED.search(file.name)]
    by_rule = replace(load(arguments.model), sentence_ends=None)
    print(report.machine(), end=" ")
    with_ends = replace(by_rule, sentence_ends=learned(by_rule, files))
    rows = []
    for name, paths in tests.items():
        rows += [row(f"{name}, by rule", by_rule, paths), row(f"{name}, learned", with_ends, paths)]
    print(report.table(("", "F1", "ends", "precision", "recall", "sentences", "found"), rows))


if __name__ == "__main__":
    main()
