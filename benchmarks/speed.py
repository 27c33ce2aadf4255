"""Compare the speed and accuracy of a parser with and without its model of open chart cells.

The model predicts which spans may be constituents; the parser considers (opens) only the cells of these.

Sentences of a treebank are parsed on one thread and timed in CPU seconds, after a first one that loads the
kernels. The treebank's words are also cut into sentences of given lengths; for these only inference is timed,
not decoding, and memory is the peak of the process so far. ``--glue N`` joins neighbouring sentences to ones
of N words or more, with their trees side by side, as if sentence splitting had failed. The second table shows
the speed by sentence length, with closed cells if the model has them.

    python -m benchmarks.speed MODEL TREES
    python -m benchmarks.speed MODEL TREES --glue 200 --lengths
    python -m benchmarks.speed MODEL TREES --lengths 40 80 160 320 1000 5000 --closed-only
"""

from __future__ import annotations

from benchmarks import report  # first: it sets the number of threads  # isort: skip

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from statistics import mean
from time import process_time

import spectralnlp
from spectralnlp.models.components import OPEN_CELLS
from spectralnlp.models.parser import Parser
from spectralnlp.scoring import COLLINS, score_trees
from spectralnlp.tasks import parsing
from spectralnlp.trees import Tree, add_root

LONG = 40
LENGTHS = ((1, 10), (11, 20), (21, 40), (41, 80), (81, None))
REPEATS = 3


def main() -> None:
    """Time a parser on a treebank, and print a table for all sentences and one by length."""
    options = report.argument_parser(__doc__)
    options.add_argument("model")
    options.add_argument("trees")
    options.add_argument("--every", type=int, default=1, help="parse each so-manieth sentence")
    options.add_argument("--lengths", type=int, nargs="*", default=[40, 80, 160, 320, 1000])
    options.add_argument("--glue", type=int, default=1, metavar="N", help="words of a sentence, at least")
    options.add_argument("--closed-only", action="store_true")
    given = options.parse_args()
    parser = spectralnlp.load(given.model)
    gold = glued((add_root(tree) for tree in spectralnlp.read_treebank(given.trees)), given.glue)
    ways = {"closed": parser} if given.closed_only else {"open": without_cells(parser), "closed": parser}
    rows = [(name, *whole(way, gold[:: given.every])) for name, way in ways.items()]
    print(f"{report.machine()} Model `{given.model}`.\n")
    print(
        report.table(("cells", "sentences/s", "again", "F1", f"F1 over {LONG}", "fallbacks"), rows),
        end="\n\n",
    )
    groups = by_length(parser, gold)
    print(report.table(("sentences of", "number", "words", "sentences/s", "words/s"), groups), end="\n\n")
    words = [word for tree in gold for word in tree.words()]
    lengths = [(n, *long_sentence(parser, words, n)) for n in given.lengths]
    if lengths:
        print(report.table(("words", "seconds", "open cells", "peak MiB"), lengths))


def without_cells(parser: Parser) -> Parser:
    """Return the parser without its model of open cells, so that it considers all spans."""
    rest = {name: each for name, each in parser.components.items() if name != OPEN_CELLS}
    return replace(parser, components=rest)


def glued(trees: Iterable[Tree], n_words: int) -> list[Tree]:
    """Join neighbouring trees to trees of ``n_words`` words or more; an incomplete rest is left out."""
    joined, parts, n = [], list[Tree](), 0
    for tree in trees:
        parts.extend(tree.children)
        n += len(tree.words())
        if n >= n_words:
            joined.append(Tree(tree.label, parts))
            parts, n = [], 0
    return joined


def whole(parser: Parser, gold: Sequence[Tree]) -> tuple[str, ...]:
    """Return table cells of a parser: sentences per second at the first and second parse, F1, and fallbacks.

    F1 is given for all sentences and for long ones.
    """
    sentences = [parsing.gold_sentence(tree, parser.conventions) for tree in gold]
    parser.parse_tokens(["a", "b", "c"])
    started = process_time()
    parses = [parse for parse in parser.parse_many(sentences) if parse is not None]
    seconds = process_time() - started
    started = process_time()
    for _ in parser.parse_many(sentences):
        pass
    again = process_time() - started
    predicted = zip(gold, parses, strict=True)
    pairs = [(tree, parsing._with_words(parse.tree, tree.words())) for tree, parse in predicted]
    long = [pair for pair in pairs if len(pair[0].words()) > LONG]
    f1, f1_long = (
        score_trees([tree for tree, _ in some], [found for _, found in some], COLLINS, tags="gold").f1
        for some in (pairs, long)
    )
    fallbacks = sum(parse.fallback is not None for parse in parses)
    speeds = (f"{len(gold) / taken:.0f}" for taken in (seconds, again))
    return *speeds, f"{f1:.2f}", f"{f1_long:.2f}", str(fallbacks)


def by_length(parser: Parser, gold: Sequence[Tree]) -> Iterator[tuple[str, ...]]:
    """Yield a table row for each range of sentence lengths, with sentences and words per second."""
    for least, most in LENGTHS:
        sentences = [
            parsing.gold_sentence(tree, parser.conventions)
            for tree in gold
            if least <= len(tree.words()) <= (most or len(tree.words()))
        ]
        if not sentences:
            continue
        started = process_time()
        n_words = sum(len(parse.tree.words()) for parse in parser.parse_many(sentences) if parse is not None)
        seconds = process_time() - started
        name = f"{least} to {most} words" if most else f"{least} words and more"
        yield (
            name,
            f"{len(sentences):,}",
            f"{n_words:,}",
            f"{len(sentences) / seconds:.0f}",
            f"{n_words / seconds:,.0f}",
        )


def long_sentence(parser: Parser, words: Sequence[str], n: int) -> tuple[str, ...]:
    """Parse sentences of n words, and return table cells: inference seconds, open cells, peak memory so far.

    Args:
        parser: the parser.
        words: words of a text, from which the sentences are cut.
        n: number of words of a sentence.
    """
    seconds, n_cells = [], 0
    for start in range(0, REPEATS * n, n):
        forms = parser.conventions.forms([words[(start + place) % len(words)] for place in range(n)])
        started = process_time()
        given = parser.forest_parser.open_cells(parser.forest_parser.look_up(forms))
        parser.forest_parser.infer(given)
        seconds.append(process_time() - started)
        if given.cell_marginals is not None and given.cells is not None:
            n_cells = len(given.cells.start)
    return f"{mean(seconds):.3f}", str(n_cells), f"{report.peak_megabytes():.0f}"


if __name__ == "__main__":
    main()
