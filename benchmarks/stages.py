"""Profile a parser by stage: CPU microseconds per word of each stage, on one thread.

Sentences are parsed twice and timed the second time, when caches are filled. The time of a stage does not
include that of the stages that it calls.

    python -m benchmarks.stages en ../shared/corpora/treebanks/gum/dev --every 4
"""

from __future__ import annotations

from benchmarks import report  # first: it sets the number of threads  # isort: skip

from collections import defaultdict
from collections.abc import Callable
from time import thread_time
from typing import Any

import spectralnlp
from spectralnlp.inference.trees import open_cells, parsing, pool, scored_forest
from spectralnlp.inference.trees.parsing import ForestParser
from spectralnlp.models import parser as parsers
from spectralnlp.models.tag_evidence import TagEvidence
from spectralnlp.tasks.parsing import gold_sentence

STAGES: tuple[tuple[Any, str, str], ...] = (
    (parsers.Parser, "_parse", "the rest"),
    (TagEvidence, "weights", "tagger"),
    (ForestParser, "look_up", "words and tags looked up"),
    (ForestParser, "open_cells", "features of tokens for open cells"),
    (open_cells, "_all_marginals", "marginals of cells"),
    (ForestParser, "infer", "charts and forests handed on"),
    (parsing, "inside", "coarse inside"),
    (parsing, "build_forest", "coarse outside, forest"),
    (parsing, "score", "thinned forests handed on"),
    (scored_forest, "leaf_vectors", "vectors of words"),
    (scored_forest, "score_forest", "inside and outside of grammars"),
    (scored_forest, "prune_forest", "thinning"),
    (parsers, "rescore", "span scorer"),
    (pool, "span_posteriors", "posteriors of spans"),
    (pool.Pool, "decode", "decoding"),
    (parsers, "constituents_of", "posteriors of constituents"),
)


class Stopwatch:
    """Stopwatch for parsing stages; the time of a stage excludes that of stages that it calls."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self._inner: list[float] = []

    def timed(self, function: Callable[..., Any], stage: str) -> Callable[..., Any]:
        """Return a wrapper of a function that adds its time to that of a stage."""

        def call(*args: Any, **settings: Any) -> Any:
            started = thread_time()
            self._inner.append(0.0)
            try:
                return function(*args, **settings)
            finally:
                seconds, inner = thread_time() - started, self._inner.pop()
                self.seconds[stage] += seconds - inner
                if self._inner:
                    self._inner[-1] += seconds

        return call


def main() -> None:
    """Run the benchmark with the arguments of the command line, and print its table."""
    options = report.argument_parser(__doc__)
    options.add_argument("model")
    options.add_argument("trees")
    options.add_argument("--every", type=int, default=1, help="parse each so-manieth sentence")
    given = options.parse_args()
    parser = spectralnlp.load(given.model)
    gold = list(spectralnlp.read_treebank(given.trees))[:: given.every]
    sentences = [gold_sentence(tree, parser.conventions) for tree in gold]
    n_words = sum(len(tree.words()) for tree in gold)
    for _ in parser.parse_many(sentences):
        pass
    watch = Stopwatch()
    for owner, name, stage in STAGES:
        setattr(owner, name, watch.timed(getattr(owner, name), stage))
    for _ in parser.parse_many(sentences):
        pass
    total = sum(watch.seconds.values())
    rows = [
        (stage, f"{1e6 * watch.seconds[stage] / n_words:.1f}", f"{100 * watch.seconds[stage] / total:.0f}")
        for _, _, stage in STAGES
    ]
    rows.append(("all", f"{1e6 * total / n_words:.0f}", "100"))
    print(f"{report.machine()} Model `{given.model}`, {len(gold):,} sentences, {n_words:,} words.\n")
    print(report.table(("stage", "µs a word", "%"), rows))


if __name__ == "__main__":
    main()
