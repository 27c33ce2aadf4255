"""Classify a parser's errors by type, and measure the time that this takes.

An installed model parses the gold tokens of GUM's dev part; the table has one row per type of error.

    python -m benchmarks.comparison
    python -m benchmarks.comparison --model models/mine --html errors.html
"""

from __future__ import annotations

from benchmarks import experiment, report  # first: it sets the number of threads  # isort: skip

from pathlib import Path
from time import process_time

from spectralnlp_trees import analyse, as_page
from spectralnlp_trees.comparison.parsing import trees_over

from benchmarks.genres import GENRE
from spectralnlp import load
from spectralnlp.runtime import expand_inputs
from spectralnlp.trees import cleaned, read_trees


def main() -> None:
    """Run the benchmark with the arguments of the command line, and print its tables."""
    options = experiment.argument_parser(__doc__, treebank="gum")
    options.add_argument("--model", default="en", metavar="NAME|PATH", help="what parses; default en")
    options.add_argument("--html", type=Path, metavar="FILE", help="write a page, too")
    arguments = options.parse_args()
    experiment.print_heading("comparison")
    files = expand_inputs([experiment.folder_of(arguments) / "dev"])
    found = [(tree, GENRE.match(Path(file).name)) for file in files for tree in cleaned(read_trees(file))]
    gold = [tree for tree, _ in found]
    groups = ["" if genre is None else genre[1] for _, genre in found]
    parser = load(arguments.model)
    started = process_time()
    trees = trees_over(parser, gold)
    parsing = process_time() - started
    started = process_time()
    analysis = analyse(gold, trees, groups=groups)
    rows = [
        [str(each.type), f"{each.errors:,}", f"{each.brackets:,}", f"{each.share:.1f}"]
        for each in analysis.by_type()
    ]
    seconds = process_time() - started
    score = analysis.score
    print(
        f"{score.sentences:,} sentences, F1 {score.f1:.2f}, {analysis.n_wrong:,} wrong brackets in "
        f"{analysis.n_errors:,} errors. Parsed in {parsing:.1f} s, compared in {seconds:.1f} s.\n"
    )
    print(report.table(("type of error", "errors", "brackets", "% of brackets"), rows), "\n")
    rows = [
        [name, f"{part.score.sentences:,}", f"{part.score.f1:.2f}", str(part.by_type()[0].type)]
        for name, part in [*analysis.by_length(), *analysis.by_group()]
    ]
    print(report.table(("tokens, or genre", "sentences", "F1", "commonest error"), rows), "\n")
    if arguments.html is not None:
        title = f"{arguments.model} on {arguments.treebank}"
        arguments.html.write_text(as_page([analysis], [arguments.model], title=title), encoding="utf-8")


if __name__ == "__main__":
    main()
