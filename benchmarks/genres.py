"""Measure F1 of a model by genre of GUM, taken from file names such as ``GUM_news_….ptb``.

python -m benchmarks.genres
python -m benchmarks.genres --model models/mine
"""

from __future__ import annotations

from benchmarks import experiment, report  # first: it sets the number of threads  # isort: skip

import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import PurePosixPath

from spectralnlp import load
from spectralnlp.runtime import expand_inputs
from spectralnlp.runtime.files import Location
from spectralnlp.scoring import EvalbScore, ParseReport
from spectralnlp.tasks.parsing import ParsingTask

GENRE = re.compile(r"^[A-Z]+_([a-z]+)_")
#: Genres with non-commercial licences, on which the shipped grammar was not trained.
CLOSED = frozenset({"essay", "fiction", "letter", "podcast", "whow"})
HEADER = ("genre", "sentences", "words", "recall", "precision", "F1", "exact", "tags")


def by_genre(paths: Iterable[Location]) -> Mapping[str, list[Location]]:
    """Return the files of each genre in alphabetical order of genres, without files that have no genre."""
    found = defaultdict(list)
    for path in paths:
        if genre := GENRE.match(PurePosixPath(path).name):
            found[genre[1]].append(path)
    return dict(sorted(found.items()))


def row_of(name: str, scored: EvalbScore) -> list[object]:
    """Return the table row of a genre.

    Args:
        name: name of the genre.
        scored: EVALB score of its sentences.
    """
    return [
        name,
        f"{scored.sentences:,}",
        f"{scored.words:,}",
        *(f"{percentage:.2f}" for percentage in (scored.recall, scored.precision, scored.f1)),
        f"{scored.complete_match:.1f}",
        f"{scored.tagging_accuracy:.2f}",
    ]


def total(reports: Iterable[ParseReport]) -> EvalbScore:
    """Return the EVALB score over the sentences of all reports."""
    return EvalbScore.total(chain.from_iterable(each.counts for each in reports))


def main() -> None:
    """Run the benchmark with the arguments of the command line, and print its table."""
    parser = experiment.argument_parser(__doc__, treebank="gum")
    parser.add_argument("--model", default="en", metavar="NAME|PATH", help="what parses; default en")
    arguments = parser.parse_args()
    dev = experiment.folder_of(arguments) / "dev"
    files = by_genre(expand_inputs([dev]))
    if not files:
        sys.exit(f"{dev}: no file is called GUM_GENRE_…; genres are read from names")
    experiment.print_heading("genres")
    model, task = load(arguments.model), ParsingTask()
    reports = {}
    for genre, paths in files.items():
        reports[genre] = task.evaluate(
            model, task.read(paths, on_bad=lambda error: experiment.note(str(error)))
        )
        experiment.note(f"{genre}: F1 {reports[genre].overall.f1:.2f}")
    rows = [row_of(genre + " *" * (genre in CLOSED), each.overall) for genre, each in reports.items()]
    for name, chosen in (
        ("**without \\***", [genre for genre in reports if genre not in CLOSED]),
        ("**\\***", [genre for genre in reports if genre in CLOSED]),
        ("**all**", list(reports)),
    ):
        rows.append(row_of(name, total(reports[genre] for genre in chosen)))
    signature = next(iter(reports.values())).signature
    print(f"### `{arguments.model}` by genre, {arguments.treebank} dev, {signature}\n")
    print(f"{report.table(HEADER, rows)}\n\n\\* texts for non-commercial use, not in the training of `en`.")


if __name__ == "__main__":
    main()
