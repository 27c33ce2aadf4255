"""Reproduce the steps of a tutorial on spectral parsing on our treebanks: the F1 that each ingredient adds.

The first table goes from the plain algorithm to the default settings, adding one ingredient per row. The
second follows the tutorial's own steps with its number of states. The third compares sets of features with
observed annotation. Settings that the registry or an estimator does not have are left out and named.

    python -m benchmarks.ladder
    python -m benchmarks.ladder --treebank gum --seeds 5
"""

from __future__ import annotations

from benchmarks import experiment, report  # first: it sets the number of threads  # isort: skip

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from benchmarks.parsing import Result, Setting
from spectralnlp import registry
from spectralnlp.errors import SpectralError


@dataclass(frozen=True)
class Step:
    """Step of the sequence of improvements in the tutorial of Cohen et al. 2013; a row of a table.

    Args:
        name: description of the step.
        setting: estimator and settings as text, ``ESTIMATOR[:KEY=VALUE,…]``.
        published: F1 in the tutorial on section 22, trained on some forty thousand trees with m = 32.
    """

    name: str
    setting: str
    published: float | None = None


TUTORIAL = "lpcfg:preset=tutorial"
NAIVE = f"{TUTORIAL},scaling=false,smoothing=false"
SHRUNK = f"{TUTORIAL},shrinkage=0.15"
RICH = f"{SHRUNK},features=rich"
WORDS = f"{RICH},keep_rare_words=true"
PRICED = f"{WORDS},decoder=mbr"
LADDER = (
    Step("nothing", f"{NAIVE},absolute_marginals=false", 55.09),
    Step("+ absolute marginals", NAIVE, 80.23),
    Step("+ scaling", f"{TUTORIAL},smoothing=false", 86.47),
    Step("+ smoothing", TUTORIAL, 88.82),
    Step("+ shrinkage", SHRUNK),
    Step("+ rich features", RICH),
    Step("+ rare words smoothed, not replaced", WORDS),
    Step("+ brackets at a price", PRICED),
    Step("+ unary chains compressed", f"{PRICED},unaries=compress"),
    Step("+ up to 24 states, by counts; no pruner", "lpcfg:grammars=tensors,pruner_states=0"),
    Step("clusters in place of tensors; pruner", "lpcfg:grammars=clusters"),
    Step("tensors + clusters; pruner", "lpcfg:grammars=tensors+clusters"),
    Step("tensors + clusters twice; pruner", "lpcfg"),
    Step("EM from random states", "lpcfg-em:n_states=16", 88.56),
    Step("pool", "lpcfg:preset=best"),
)
# The tutorial's steps, and its number of states (``preset=tutorial`` has 8).
TUTORIAL_RUNGS, TUTORIAL_STATES = LADDER[:4], 32
FEATURES = (
    Step("simple features", f"{TUTORIAL},features=simple", 88.07),
    Step("all features", TUTORIAL, 88.82),
    Step("rich features", f"{TUTORIAL},features=rich"),
    Step("simple features, else default", "lpcfg:features=simple"),
    Step("rich features, default", "lpcfg"),
    Step("parent and sibling annotation", "pcfg", 82.59),
    Step("plain PCFG", "pcfg:preset=plain@viterbi", 68.62),
)
HEADER = ("", "setting", "tutorial", "F1", "F1 ≤ 40", "tags", "training s", "sentences/s")


def why_absent(text: str) -> str | None:
    """Return why a setting cannot be trained here; None if it can."""
    setting = Setting.read(text)
    try:
        registry.estimators.get(setting.estimator).from_settings(setting.params)
    except SpectralError as error:
        return str(error)
    return None


def row_of(step: Step, runs: Sequence[Result]) -> list[object]:
    """Return the table row of a step: our scores, and those published in the tutorial."""
    return [
        step.name,
        f"`{step.setting}`",
        None if step.published is None else f"{step.published:.2f}",
        experiment.mean_spread([run.f1 for run in runs]),
        f"{mean(run.f1_40 for run in runs):.2f}",
        f"{mean(run.accuracy for run in runs):.2f}",
        f"{mean(run.seconds for run in runs):.1f}",
        f"{mean(run.sentences_per_second for run in runs):.0f}",
    ]


class Measured:
    """Results of training with settings, computed at first use and cached."""

    def __init__(self, folder: Path, seeds: int) -> None:
        self.folder, self.seeds = folder, seeds
        self._runs: dict[str, list[Result]] = {}

    def __getitem__(self, text: str) -> list[Result]:
        if text not in self._runs:
            train, dev = self.folder / "train", self.folder / "dev"
            self._runs[text] = experiment.runs_of(Setting.read(text), self.seeds, train, dev)
        return self._runs[text]


def print_rungs(title: str, measured: Measured) -> None:
    """Print the steps of the tutorial, with the states of ``preset=tutorial`` and with the published ones."""
    rows = []
    for step in TUTORIAL_RUNGS:
        settings = (step.setting, f"{step.setting},n_states={TUTORIAL_STATES}")
        f1 = [experiment.mean_spread([run.f1 for run in measured[setting]]) for setting in settings]
        rows.append([step.name, f"{step.published:.2f}", *f1])
    header = ("", f"tutorial, m = {TUTORIAL_STATES}", "m = 8", f"m = {TUTORIAL_STATES}")
    print(f"### {title}\n\n{report.table(header, rows)}\n", flush=True)


def print_steps(title: str, steps: Sequence[Step], measured: Measured) -> None:
    """Print a table of steps, and below it the steps that were left out."""
    absent = {step: reason for step in steps if (reason := why_absent(step.setting)) is not None}
    rows = [row_of(step, measured[step.setting]) for step in steps if step not in absent]
    print(f"### {title}\n\n{report.table(HEADER, rows)}\n", flush=True)
    for step, reason in absent.items():
        print(f"Left out: {step.name}, `{step.setting}`: {reason}\n", flush=True)


def main() -> None:
    """Run the benchmark with the arguments of the command line, and print its tables."""
    parser = experiment.argument_parser(__doc__)
    experiment.add_seeds(parser)
    arguments = parser.parse_args()
    measured = Measured(experiment.folder_of(arguments), arguments.seeds)
    experiment.print_heading("ladder")
    print_steps(f"The ladder, {arguments.treebank} dev", LADDER, measured)
    print_rungs(f"The tutorial's rungs by number of states, {arguments.treebank} dev", measured)
    print_steps(f"Features and annotation, {arguments.treebank} dev", FEATURES, measured)


if __name__ == "__main__":
    main()
