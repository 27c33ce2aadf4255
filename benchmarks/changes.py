"""Compare the cost of adding or forgetting one percent of the data with that of training again.

    python -m benchmarks.changes                       # all of them
    python -m benchmarks.changes pcfg lpcfg eigenwords

Each model is trained with kept moments on all of its data, and on all but about one percent; the rest is
then added to the second model and removed again. *observing* is reading and counting, which grows with the
data; *whole* is the time from the files to the model in memory, including loading of kept moments. Models
that should be equal are compared byte by byte.
"""

from __future__ import annotations

from benchmarks import report  # first: it sets the number of threads  # isort: skip

import gzip
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from spectralnlp import changes, registry
from spectralnlp.changes import Change, KeptMoments
from spectralnlp.estimator import Estimator
from spectralnlp.runtime import Corpus, expand_inputs
from spectralnlp.storage import ARRAYS

WSJ, GUM = report.CORPORA / "treebanks" / "wsj" / "train", report.CORPORA / "treebanks" / "gum" / "train"
TEXT = report.CORPORA / "text" / "english_10m.txt.gz"
SHARE = 0.01

CASES: dict[str, tuple[str, dict[str, Any], Path, str]] = {
    "pcfg-wsj": ("pcfg.v1", {}, WSJ, "WSJ sample, 160 files"),
    "pcfg": ("pcfg.v1", {}, GUM, "GUM, 177 files"),
    "lpcfg": ("lpcfg.v1", {}, WSJ, "WSJ sample, 160 files"),
    "eigenwords": ("eigenwords.v1", {}, TEXT, "English, 10 M tokens"),
}


def measure(case: str, folder: Path) -> list[list[object]]:
    """Return the table rows of one model, with the costs of training again, adding and removing data.

    Args:
        case: name of the model.
        folder: folder for models and data.
    """
    name, settings, data, what = CASES[case]
    estimator: Estimator[Any] = registry.estimators.get(name)(**settings)
    rest, some = split(data, folder)
    _train(name, estimator, some)  # compiles kernels and imports modules before timing
    whole, anew = _train(name, estimator, [*rest, *some])
    part, _ = _train(name, estimator, rest)
    part.save(folder / "rest")

    started = time.perf_counter()
    kept = KeptMoments.load(folder / "rest", "be updated")
    added = changes.update(
        kept, _read(estimator, some), add_known=True
    )  # lines of text are repeated in the data
    adding = time.perf_counter() - started
    started = time.perf_counter()
    taken = changes.forget(added.kept, _read(estimator, some))
    taking = time.perf_counter() - started

    rows: list[list[object]] = []
    for verb, change, seconds, same in (
        ("train anew on all", whole, anew, None),
        ("add 1 %", added, adding, _same(added, whole, folder)),
        ("forget 1 %", taken, taking, _same(taken, part, folder)),
    ):
        observing, total = (
            f"{whole.observe_seconds / change.observe_seconds:.0f} ×",
            f"{anew / seconds:.1f} ×",
        )
        checked = {None: None, True: "yes", False: "NO"}[same]
        what_verb = f"`{name.partition('.')[0]}`, {what}: {verb}"
        rows.append(
            [what_verb, f"{change.observe_seconds:.3f} s", observing, f"{seconds:.2f} s", total, checked]
        )
    return rows


def split(data: Path, folder: Path) -> tuple[list[Path], list[Path]]:
    """Split data into files with all but about one percent, and with that one percent."""
    if data.is_dir():
        files = [Path(path) for path in expand_inputs([data])]
        size = {path: path.stat().st_size for path in files}
        wanted, some = SHARE * sum(size.values()), list[Path]()
        for path in sorted(files, key=lambda path: size[path], reverse=True):
            if sum(size[each] for each in some) + size[path] <= wanted:
                some.append(path)
        return [path for path in files if path not in some], some
    with gzip.open(data, "rt", encoding="utf-8") as file:
        lines = file.readlines()
    cut = round((1 - SHARE) * len(lines))
    rest, some_lines = folder / "rest.txt", folder / "some.txt"
    rest.write_text("".join(lines[:cut]), encoding="utf-8")
    some_lines.write_text("".join(lines[cut:]), encoding="utf-8")
    return [rest], [some_lines]


def _read(estimator: Estimator[Any], files: Sequence[Path]) -> Corpus[Any]:
    task = registry.tasks.get(estimator.task)()
    return task.read(files, reader="tokens" if estimator.task == "vectors" else "auto")


def _train(name: str, estimator: Estimator[Any], files: Sequence[Path]) -> tuple[Change, float]:
    started = time.perf_counter()
    reading = {"reader": "tokens" if estimator.task == "vectors" else "auto"}
    change = changes.train(name, estimator, _read(estimator, files), reading=reading)
    return change, time.perf_counter() - started


def _same(left: Change, right: Change, folder: Path) -> bool:
    """Return whether the arrays of two models are equal byte by byte."""
    for name, change in (("left", left), ("right", right)):
        change.save(folder / name, overwrite=True)
    return (folder / "left" / ARRAYS).read_bytes() == (folder / "right" / ARRAYS).read_bytes()


def main() -> None:
    parser = report.argument_parser(__doc__)
    parser.add_argument("cases", nargs="*", help=f"of {', '.join(CASES)}")
    asked = parser.parse_args().cases or list(CASES)
    print(report.machine())
    header = ["", "observing", "less", "whole", "less", "same bytes"]
    for case in asked:
        with tempfile.TemporaryDirectory() as folder:
            print(f"\n{report.table(header, measure(case, Path(folder)))}", flush=True)


if __name__ == "__main__":
    main()
