"""The tagger with three seeds, beside its preset ``perceptron`` with the same vectors, on dev.

Vectors of each task were chosen inside train (``docs/experiments.md``): eigenwords of all English text here,
or of the Spanish training sets, of words in small letters, of words as they are written, or twice as long.
Parts of speech are also learned with ``text``: a first tagger tags the text that the vectors are of, and
universal ones with ``finer=xpos``.
Seconds are of the CPU, one thread; tagging begins with empty tables, and its speed is of the last seed.

    python -m benchmarks.tagger_seeds
    python -m benchmarks.tagger_seeds --task wnut --seeds 2 --sentences 500
    python -m benchmarks.tagger_seeds --task upos --row finer
"""

from __future__ import annotations

from benchmarks import report  # first: it sets the number of threads  # isort: skip

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from time import process_time
from typing import Any

from benchmarks.experiment import mean_spread
from benchmarks.taggers import TASKS, Ours, measure, say, unlabelled, warm_up
from spectralnlp.estimators.eigenwords import Eigenwords
from spectralnlp.tasks.task import silent
from spectralnlp.tasks.vectors import VectorsTask

VECTORS: dict[str, dict[str, Any]] = {"small": {}, "cased": {"lowercase": False}, "long": {"dimensions": 100}}
CHOSEN: dict[str, dict[str, Sequence[str]]] = {
    "upos": {"eigenwords": ["long"]},
    "xpos": {"eigenwords": ["long"]},
    "chunks": {"eigenwords": ["small", "cased"], "eigentokens": ["small"]},
    "wnut": {"eigenwords": ["small", "cased"], "clusters": ["small", "cased"]},
    "spanish": {"eigenwords": ["small", "cased"], "clusters": ["small", "cased"]},
}
LOSSES: dict[str, dict[str, Any]] = {
    "`preset=perceptron`": {"loss": "perceptron", "epochs": 10, "spans": "given"},
    "`tagger`": {},
}
WITH_TEXT = "… and `text`"
WITH_FINER = "… and `finer=xpos`"
TAGGED_TEXT = ("upos", "xpos")


def train_vectors(kind: str, language: str, folder: Path) -> str:
    """Eigenwords of a kind, in a new folder."""
    task, started = VectorsTask(), process_time()
    files = unlabelled(language, folder)
    vectors = task.train(Eigenwords(clusters=500, **VECTORS[kind]), task.read(files), report=silent)
    path = Path(tempfile.mkdtemp(dir=folder)) / kind
    vectors.save(path)
    say(f"{kind} eigenwords of {language}: {process_time() - started:.1f} s")
    return str(path)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--task", action="append", choices=TASKS, help="repeatable; default all")
    parser.add_argument("--row", metavar="TEXT", help="rows whose names hold this; default all")
    parser.add_argument("--seeds", type=int, default=3, metavar="N", help="runs of each; mean ± deviation")
    parser.add_argument("--sentences", type=int, metavar="N", help="learn from so many only")
    arguments = parser.parse_args()
    print(f"{report.machine()} One thread.\n", flush=True)
    rows: list[list[Any]] = []
    learned: dict[tuple[str, str], str] = {}
    with tempfile.TemporaryDirectory() as name:
        for task in arguments.task or TASKS:
            data = TASKS[task]
            settings: dict[str, Any] = {"eigentokens": []}
            for use, kinds in CHOSEN[task].items():
                for kind in kinds:
                    if (kind, data.language) not in learned:
                        learned[kind, data.language] = train_vectors(kind, data.language, Path(name))
                settings[use] = [learned[kind, data.language] for kind in kinds]
            warm_up(Path(settings["eigenwords"][0]))
            train = data.read("train", arguments.sentences)
            gold = [each for each in data.read("dev") if each[0]]
            rivals = LOSSES
            if task in TAGGED_TEXT:
                text = [str(path) for path in unlabelled(data.language, Path(name))]
                rivals = {**LOSSES, WITH_TEXT: {"text": text}}
                if task == "upos":
                    annotated = data.annotated("train", arguments.sentences)
                    finer = {"annotated": annotated, "column": "upos", "finer": "xpos"}
                    rivals[WITH_FINER] = {"text": text, **finer}
            for row, loss in rivals.items():
                if arguments.row and arguments.row not in row:
                    continue
                runs = [
                    measure(f"{task}, {row} {seed}", Ours(**settings, **loss, random_state=seed), train, gold)
                    for seed in range(arguments.seeds)
                ]
                scores = mean_spread([run.score for run in runs])
                unknown = mean(run.scores.accuracy_unknown for run in runs)
                seconds = mean(run.training for run in runs)
                rows.append([data.title, row, scores, f"{unknown:.1f}", f"{seconds:.1f}", runs[-1].speed])
    header = ("", "", "accuracy or F1", "unknown words", "training s", "words/s")
    print(report.table(header, rows), flush=True)


if __name__ == "__main__":
    main()
