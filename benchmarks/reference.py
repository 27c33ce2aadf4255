"""The reference page docs/api.md: public names, and hyper-parameters of every estimator as they are declared.

python -m benchmarks.reference           # write the page
python -m benchmarks.reference --check   # only say whether it is up to date
"""

from __future__ import annotations

import argparse
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import spectralnlp
import spectralnlp.testing
from spectralnlp import registry
from spectralnlp.estimator import Estimator
from spectralnlp.hyperparameters import hyperparameters

PAGE = Path(__file__).parent.parent / "docs" / "api.md"
HEAD = """# Reference

Written by `python -m benchmarks.reference` from docstrings and declarations; do not edit it by hand.

A name is public if it stands in `spectralnlp.__all__` or in the `__all__` of a package below it; all others
may change without notice. `help(spectralnlp.train)` says more than this page.
"""


def first_line(value: Any) -> str:
    """The first sentence of a docstring, for a cell of a table."""
    text = (inspect.getdoc(value) or "").split("\n\n")[0]
    return cell(re.sub(r":\w+:`~?(?:[\w.]*\.)?(\w+)`", r"`\1`", text))


def cell(text: str) -> str:
    """A text as a cell of a table."""
    return " ".join(text.split()).replace("``", "`").replace("|", "\\|")


def names(module: ModuleType) -> Iterator[str]:
    """A table of the public names of a module."""
    yield "| name | |"
    yield "| --- | --- |"
    for name in module.__all__:
        if name == "__version__":
            yield f"| `{name}` | The version of the package. |"
            continue
        value = getattr(module, name)
        call = "()" if inspect.isfunction(value) else ""
        is_text = inspect.isclass(value) or inspect.isfunction(value)
        about = first_line(value) if is_text else "Checks by name, to run one by one."
        yield f"| `{name}{call}` | {about} |"


def estimator(name: str, kind: type[Estimator[Any]]) -> Iterator[str]:
    """A section on an estimator: what it is, presets, hyper-parameters."""
    bare = name.partition(".v")[0]
    yield f"\n### `{bare}`: {kind.__name__}\n"
    yield f"{first_line(kind)}\n"
    yield f"Task `{kind.task}`; unlearning: {kind.unlearning}."
    if kind.presets:
        yield ""
    for preset, settings in kind.presets.items():
        text = ", ".join(f"{key}={value!r}" for key, value in settings.items())
        yield f"- `preset={preset}`: `{text}`"
    declared = hyperparameters(kind)
    if declared:
        yield from ["", "| hyper-parameter | type | default | |", "| --- | --- | --- | --- |"]
        for each in declared.values():
            default = f"`{each.default!r}`"
            yield f"| `{each.name}` | {cell(each.type)} | {cell(default)} | {cell(each.help)} |"


def page() -> str:
    """The whole page."""
    lines = [HEAD, "## `spectralnlp`\n", *names(spectralnlp)]
    lines += ["\n## `spectralnlp.testing`\n", *names(spectralnlp.testing)]
    lines += ["\n## Estimators\n", "The settings of `spectralnlp train NAME --set KEY=VALUE`, and of Python."]
    for entry in registry.estimators.describe():
        if entry.status == "ok" and entry.distribution.startswith("spectralnlp "):
            lines += estimator(entry.name, registry.estimators.get(entry.name))
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write the page, or compare it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="exit with 1 if it is out of date")
    if parser.parse_args().check:
        sys.exit(int(PAGE.read_text(encoding="utf-8") != page()))
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
