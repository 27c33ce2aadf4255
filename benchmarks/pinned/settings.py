"""Pinned sections: training with each preset and setting of the grammar estimators, and error messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from .digests import digests_of
from .items import Item, Section, command, scratch, succeed

_TREES = "corpora/treebank/train.mrg"
_PRESETS = {
    "lpcfg": ("tutorial", "fast", "best"),
    "lpcfg-em": (),
    "pcfg": ("plain", "annotated"),
}
# Values for text settings, and for settings whose range excludes the values that `_another` tries. The folder
# of eigenwords is inserted later.
_VALUES: Mapping[str, tuple[str, ...]] = {
    "grammars": ("clusters", "tensors", "clusters+clusters"),
    "features": ("tutorial",),
    "binarisations": ("left", "right", "head^1", "head+left"),
    "binarisation": ("left", "right^1"),
    "direction": ("left", "right"),
    "unaries": ("collapse",),
    "heads": ("english", "neutral"),
    "signatures": ("english", "neutral"),
    "decoder": ("max-rule", "labelled-recall", "viterbi"),
    "start": ("clusters",),
    "horizontal": ("0", "-1"),
    "vertical": ("0", "2"),
    "smoothing": ("0.0", "false"),
    "pruner_states": ("0", "4"),
    "em_iterations": ("0", "4"),
    "iterations": ("3",),
    "unlabelled": ("corpora/text/lighthouse.txt",),
}


def settings(known: Mapping[str, Item]) -> Iterator[Item]:
    """Yield results to pin for training with each preset and each setting."""
    with scratch() as folder:
        words = folder / "eigenwords"
        text = "corpora/text/lighthouse.txt"
        few = ("--set", "dimensions=5", "--set", "min_count=1")
        succeed("train", "eigenwords", text, "-o", words, *few)
        for estimator, presets in _PRESETS.items():
            usual = _trained(estimator, estimator, folder)
            yield usual
            for preset in presets:
                yield _trained(f"{estimator}: preset={preset}", estimator, folder, f"preset={preset}")
            yield from _each_setting(estimator, usual.value["parameters"], folder, words)
            if "fast" in presets:
                some = ("preset=fast", "n_states=3", "random_state=2")
                yield _trained(f"{estimator}: {' '.join(some)}", estimator, folder, *some)


def _each_setting(estimator: str, defaults: Mapping[str, Any], folder: Path, words: Path) -> Iterator[Item]:
    """Yield a result to pin for each setting, which alone is changed to a value other than its default.

    Args:
        estimator: name of the estimator.
        defaults: settings with their default values.
        folder: folder for data and models.
        words: file of words for settings that need one.
    """
    for name, default in defaults.items():
        for value in (str(words),) if name == "eigenwords" else _VALUES.get(name) or (_another(default),):
            # A value that only one of the estimators accepts is pinned for both.
            key = f"{estimator}: {name}={Path(value).name}"
            yield _trained(key, estimator, folder, f"{name}={value}", may_fail=True)


def _another(default: Any) -> str:
    """Return, as text, a valid value of a setting other than its default."""
    if isinstance(default, bool):
        return str(not default).lower()
    if isinstance(default, int):
        return str(default + 1)
    if isinstance(default, float):
        return repr(default / 2 if default else 0.5)
    raise TypeError(f"no other value of {default!r}: add one to the table")


def _trained(key: str, estimator: str, folder: Path, *given: str, may_fail: bool = False) -> Item:
    """Train an estimator on a few made-up trees, and return the result to pin.

    Args:
        key: key of the result.
        estimator: name of the estimator.
        folder: folder for data and model.
        given: settings of the command.
        may_fail: whether an error message is a valid result.
    """
    import spectralnlp

    options = [word for each in given for word in ("--set", each)]
    arguments = ("train", estimator, _TREES, "-o", folder / "model", "--overwrite", *options)
    found = (
        command(*arguments, scratch=folder) if may_fail else {"stdout": succeed(*arguments, scratch=folder)}
    )
    if found.get("status"):
        return Item(key, found)
    parser = spectralnlp.load(str(folder / "model"))
    # The settings are followed by times of passes, which threads report in any order.
    lines = [line for line in found["stdout"].splitlines() if not line.endswith("SECONDS")]
    return Item(key, {"parameters": parser.about["parameters"], "output": lines, "parts": digests_of(parser)})


# ---------------------------------------------------------------------------------------------------------
# Errors

_WRONG = (
    *(
        "n_stats=3",
        "n_states=0",
        "n_states=x",
        "n_states",
        "n_states=2.5",
        "=3",
        "preset=slow",
        "grammars=trees",
    ),
    *(
        "binarisations=up",
        "features=poor",
        "heads=greek",
    ),
    *("span_scorer=yes", "closed_cells=2", "sentence_ends=no", "eigenwords=nowhere", "decoder=best"),
    *("em_iterations=1001", "start=top", "vertical=-1", "direction=up", "random_state=-1", "iterations=0"),
)


def errors(known: Mapping[str, Item]) -> Iterator[Item]:
    """Yield the error messages for invalid settings."""
    with scratch() as folder:
        for estimator in (*_PRESETS, "lpgfc"):
            for wrong in _WRONG if estimator in _PRESETS else ("n_states=3",):
                arguments = (
                    "train",
                    estimator,
                    _TREES,
                    "-o",
                    folder / "model",
                    "--overwrite",
                    "--set",
                    wrong,
                )
                found = command(*arguments, scratch=folder)
                yield Item(f"{estimator}: {wrong}", {"status": found["status"], "error": found.get("error")})


SECTIONS: dict[str, Section] = {"settings": settings, "errors": errors}
