"""Record results (pins) at one commit and check at another that they have not changed.

    python -m benchmarks.pins write ../pins
    python -m benchmarks.pins compare ../pins --only parses trainings

``--only parses`` selects the section of that name or, if there is none, all sections with that prefix. A
section is a file of JSON lines in the folder, one item per line, and is written when it is complete.
``compare`` computes the items again, reports differences, and exits with status 1 if there are any;
differences in the section ``errors`` are only reported. Pins contain text of corpora that may not be
redistributed: keep them out of the repository. Corpora are in ``$SPECTRALNLP_SHARED/corpora``, by default
``../shared/corpora``.

To compute with another installation of spectralnlp, run this file by its path with that one's Python::

    ../venv-before/bin/python benchmarks/pins.py write ../pins

All accesses to attributes of parsers are in one place, ``pinned/digests.py: parts_of``.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

# Read by the numerical libraries, which are imported later.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

_PACKAGE = "benchmarks.pinned" if __package__ else "pinned"
_MODULES = ("trainings", "settings", "parses", "retries", "commands", "others")
_LENIENT = ("errors",)
_SHOWN = 10  # maximum number of differing items to show


def sections() -> dict[str, Any]:
    """Return, by name, the functions that compute the items of each section of pins."""
    return {
        name: section
        for module in _MODULES
        for name, section in import_module(f"{_PACKAGE}.{module}").SECTIONS.items()
    }


def write(folder: Path, name: str, section: Any) -> bool:
    """Compute a section of pins and write it to a folder.

    Args:
        folder: folder of the pins.
        name: name of the section.
        section: function that yields its items.
    """
    path = folder / f"{name}.jsonl"
    partial = path.with_suffix(".partial")
    n_items = 0
    with partial.open("w", encoding="utf-8") as file:
        for item in section({}):
            n_items += 1
            print(json.dumps(item, ensure_ascii=False), file=file, flush=True)
    partial.replace(path)
    print(f"{name}: {n_items:,} items, {path.stat().st_size:,} bytes", end="")
    return True


def compare(folder: Path, name: str, section: Any) -> bool:
    """Compute a section of pins again, report differences, and return whether there are none.

    Args:
        folder: folder of the pins.
        name: name of the section.
        section: function that yields its items.
    """
    path = folder / f"{name}.jsonl"
    if not path.exists():
        print(f"{name}: not pinned", end="")
        return False
    item_of = import_module(f"{_PACKAGE}.items").Item
    pinned: dict[str, Any] = {}
    with path.open(encoding="utf-8") as file:
        for line in file:
            item = item_of(*json.loads(line))
            pinned[item.key] = item
    differing: list[str] = []
    seen = set()
    for item in section(pinned):
        seen.add(item.key)
        if item.key not in pinned:
            differing.append(f"{item.key}: new")
            continue
        value = json.loads(json.dumps(item.value))
        if (where := next(differences(pinned[item.key].value, value), None)) is not None:
            differing.append(f"{item.key}: {where}")
    differing += [f"{key}: missing" for key in pinned if key not in seen]
    equal = "all equal" if not differing else f"{len(differing):,} DIFFER"
    print(f"{name}: {len(pinned):,} items, {equal}", end="")
    for line in differing[:_SHOWN]:
        print(f"\n    {line}", end="")
    return not differing or name in _LENIENT


def differences(before: Any, after: Any, path: str = "") -> Iterator[str]:
    """Yield descriptions of the differences between two JSON values, each with its path and both values."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in {**before, **after}:
            if key not in before or key not in after:
                yield f"{path}.{key} {'new' if key not in before else 'missing'}"
            else:
                yield from differences(before[key], after[key], f"{path}.{key}")
    elif isinstance(before, list) and isinstance(after, list):
        if path.endswith(".output"):  # the order of printed settings may change
            before, after = sorted(before), sorted(after)
        for number, (old, new) in enumerate(zip(before, after, strict=False)):
            yield from differences(old, new, f"{path}[{number}]")
        if len(before) != len(after):
            yield f"{path}: {len(before)} and {len(after)} elements"
    elif type(before) is not type(after) or before != after:
        yield f"{path}: {_shown(before, after)}"


def _shown(before: Any, after: Any) -> str:
    """Return two values as text; of long texts, only the part around the first difference."""
    if isinstance(before, str) and isinstance(after, str):
        here = next((n for n, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), 0)
        before, after = (each[max(here - 30, 0) : here + 50] for each in (before, after))
    return f"{before!r} → {after!r}"


def main() -> int:
    """Write pins, or compare them with new results, as the command line says."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("write", "compare"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="+", metavar="SECTION", help="beginnings of names of sections")
    arguments = parser.parse_args()
    import spectralnlp

    print(f"{arguments.what}: with {spectralnlp.__file__}", flush=True)
    found = sections()
    chosen = list(found)
    if arguments.only:
        wanted = [
            [each] if each in found else [n for n in found if n.startswith(each)] for each in arguments.only
        ]
        if not all(wanted):
            sys.exit(f"no such section: there are {', '.join(found)}")
        chosen = [name for name in found if any(name in names for names in wanted)]
    folder = arguments.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    os.chdir(
        import_module(f"{_PACKAGE}.items").ROOT
    )  # commands print the corpora's paths relative to this folder
    run = {"write": write, "compare": compare}[arguments.what]
    equal = True
    for name in chosen:
        started, wall = process_time(), perf_counter()
        equal &= run(folder, name, found[name])
        took = f"{process_time() - started:.0f} CPU s, {perf_counter() - wall:.0f} s"
        print(f" ({took})", flush=True)
    return 0 if equal else 1


if __name__ == "__main__":
    sys.exit(main())
