"""Compare the speed of sentence splitting with tokenisation, in MB/s, with NLTK's word tokeniser.

NLTK's sentence splitter needs a download, so its word tokeniser gets whole lines, which is less work.

    python -m benchmarks.tokenizer
"""

from __future__ import annotations

from benchmarks import report  # first: it sets the number of threads  # isort: skip

import argparse
from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path
from time import perf_counter

from spectralnlp.runtime import open_text
from spectralnlp.text.sentences import split_sentences
from spectralnlp.text.tokenizer import Tokenizer


def ours(lines: Iterable[str]) -> int:
    """Split lines into sentences and tokens by this package, and return the number of tokens."""
    return sum(len(sentence) for sentence in split_sentences(lines, Tokenizer()))


def nltk_words(lines: Iterable[str]) -> int:
    """Split lines into tokens by NLTK, and return the number of tokens."""
    from nltk.tokenize import NLTKWordTokenizer

    tokenize = NLTKWordTokenizer().tokenize
    return sum(len(tokenize(line)) for line in lines)


def main() -> None:
    """Run the benchmark with the arguments of the command line, and print its table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpora", type=Path, default=Path("../shared/corpora"), metavar="DIR")
    parser.add_argument("--lines", type=int, default=10_000, metavar="N", help="of imdb_unsup.txt.gz")
    arguments = parser.parse_args()
    with open_text(arguments.corpora / "text" / "imdb_unsup.txt.gz") as stream:
        lines = [f"{line}\n" for line in islice(stream, arguments.lines)]
    megabytes = sum(len(line.encode()) for line in lines) / 1e6
    peers: list[tuple[str, Callable[[Iterable[str]], int]]] = [("sentences and tokens", ours)]
    if report.version_of("nltk"):
        peers.append(("NLTK, tokens only", nltk_words))
    timed = []
    for name, count in peers:
        count(lines[:10])  # imports modules and fills caches
        started = perf_counter()
        n_tokens = count(lines)
        timed.append((name, n_tokens, perf_counter() - started))
    rows = [
        [name, f"{n:,}", f"{seconds:.2f}", f"{megabytes / seconds:.2f}", f"{timed[-1][2] / seconds:.2f}"]
        for name, n, seconds in timed
    ]
    print(f"{report.machine()} {megabytes:.1f} MB of reviews, one thread.\n")
    print(report.table(("", "tokens", "s", "MB/s", "times as fast as the last"), rows))


if __name__ == "__main__":
    main()
