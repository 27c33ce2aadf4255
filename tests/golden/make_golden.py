"""Write the golden predictions: run this with the code whose predictions are to be kept.

python tests/golden/make_golden.py
python tests/golden/make_golden.py --only lpcfg pcfg-plain
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import golden_arrays
import golden_cases

HERE = Path(__file__).resolve().parent
CORPORA = HERE.parent.parent / "corpora"
ARRAYS = HERE / "arrays.json"


def main() -> None:
    """Write a file for each case of the command line, and one for all arrays."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = [*golden_cases.CASES, *golden_arrays.CASES]
    parser.add_argument("--only", nargs="*", default=names, choices=names, metavar="CASE")
    wanted = parser.parse_args().only
    arrays = json.loads(ARRAYS.read_text(encoding="utf-8")) if ARRAYS.exists() else {}
    for name in wanted:
        with TemporaryDirectory() as models:
            if name in golden_cases.CASES:
                text = golden_cases.predictions(name, run, CORPORA, Path(models))
                (HERE / f"{name}.txt").write_text(text, encoding="utf-8")
            else:
                arrays[name] = golden_arrays.CASES[name].predict(CORPORA, Path(models))
        print(name, file=sys.stderr)
    lines = [f"{json.dumps(name)}: {_written(arrays[name])}" for name in golden_arrays.CASES]
    ARRAYS.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def run(command: Sequence[str]) -> str:
    """What the spectralnlp beside this Python prints."""
    program = str(Path(sys.executable).with_name("spectralnlp"))
    done = subprocess.run([program, *command], stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout


def _written(arrays: golden_arrays.Arrays) -> str:
    """JSON with a line for each text, and one for all the numbers of an array, in six digits."""
    return "{\n" + ",\n".join(f"  {json.dumps(name)}: {_row(row)}" for name, row in arrays.items()) + "\n}"


def _row(row: list[Any]) -> str:
    if row and isinstance(row[0], str):
        return "[\n" + ",\n".join(f"    {json.dumps(each, ensure_ascii=False)}" for each in row) + "\n  ]"
    return json.dumps([float(f"{each:.6g}") for each in row])


if __name__ == "__main__":
    main()
