"""Steps that ``benchmarks.before_after`` times; run as a script by the Python of either version.

The script uses only functions that both versions have, and prints the CPU seconds of the step alone, after
imports, reading of data and compilation of kernels.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path
from time import process_time
from typing import Any

Work = Callable[[], Any]


def trees(corpora: Path, n: int) -> list[Any]:
    """Return the first trees of the WSJ sample."""
    from spectralnlp import registry

    task = registry.tasks.get("parsing")()
    return list(islice(task.read([str(corpora / "treebanks" / "wsj" / "train")]), n))


def corpus(examples: Iterable[Any]) -> Any:
    """Return examples as an in-memory corpus, with the class of the installed version."""
    try:
        from spectralnlp.runtime import InMemoryCorpus
    except ImportError:
        from spectralnlp.corpus import InMemoryCorpus  # type: ignore[import-not-found,no-redef]
    return InMemoryCorpus(examples)


def fitting(name: str, examples: list[Any], few: int) -> Work:
    """Return a function that fits an estimator; its kernels are compiled first, on a few examples."""
    from spectralnlp import registry

    kind, data = registry.estimators.get(name), corpus(examples)
    kind().fit(corpus(examples[:few]))
    return lambda: kind().fit(data)


def start(corpora: Path) -> Work:
    """Return a function that imports the command-line application."""
    return lambda: __import__("spectralnlp.cli.app")


def load(corpora: Path) -> Work:
    """Return a function that loads the English grammar."""
    from spectralnlp import load as load_model

    return lambda: load_model("en")


def parse(corpora: Path) -> Work:
    """Return a function that parses 60 sentences with the English grammar."""
    from spectralnlp import load as load_model

    parser, words = load_model("en"), [tree.words() for tree in trees(corpora, 70)]
    parser.parse_tokens(words[0])
    return lambda: [parser.parse_tokens(each) for each in words[10:]]


def tag(corpora: Path) -> Work:
    """Return a function that tags 2,000 sentences with the English tagger."""
    from spectralnlp import load as load_model

    tagger, words = load_model("en-tagger"), [tree.words() for tree in trees(corpora, 2000)]
    tagger.best_tags(words[:5])
    return lambda: tagger.best_tags(words)


def train_pcfg(corpora: Path) -> Work:
    """Return a function that fits the estimator ``pcfg`` to 2,000 trees."""
    return fitting("pcfg", trees(corpora, 2000), 40)


def train_lpcfg(corpora: Path) -> Work:
    """Return a function that fits the estimator ``lpcfg`` to 1,500 trees."""
    return fitting("lpcfg", trees(corpora, 1500), 40)


def train_tagger(corpora: Path) -> Work:
    """Return a function that fits the estimator ``tagger`` to 600 sentences."""
    return fitting("tagger", [(tree.words(), tree.tags()) for tree in trees(corpora, 600)], 5)


def train_hmm(corpora: Path) -> Work:
    """Return a function that fits the estimator ``hmm`` to 3,000 sentences."""
    return fitting("hmm", [tree.words() for tree in trees(corpora, 3000)], 100)


def train_eigenwords(corpora: Path) -> Work:
    """Return a function that fits the estimator ``eigenwords`` to 3,000 sentences."""
    return fitting("eigenwords", [" ".join(tree.words()) for tree in trees(corpora, 3000)], 100)


STEPS: dict[str, tuple[str, Callable[[Path], Work]]] = {
    "start": ("import the command line", start),
    "load": ("load `en`", load),
    "parse": ("parse 60 sentences with `en`", parse),
    "tag": ("tag 2,000 sentences with `en-tagger`", tag),
    "pcfg": ("train `pcfg`, 2,000 trees", train_pcfg),
    "lpcfg": ("train `lpcfg`, 1,500 trees", train_lpcfg),
    "tagger": ("train `tagger`, 600 sentences", train_tagger),
    "hmm": ("train `hmm`, 3,000 sentences", train_hmm),
    "eigenwords": ("train `eigenwords`, 3,000 sentences", train_eigenwords),
}


def main() -> None:
    """Time the step that the command line names, and print its seconds."""
    warnings.simplefilter("ignore")
    work = STEPS[sys.argv[1]][1](Path(sys.argv[2]))
    started = process_time()
    work()
    print(process_time() - started)


if __name__ == "__main__":
    main()
