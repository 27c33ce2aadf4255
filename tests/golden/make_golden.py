"""Write the golden predictions: run this with the code whose predictions are to be kept.

python tests/golden/make_golden.py              # the spectralnlp beside this Python
python tests/golden/make_golden.py --command /path/to/other/spectralnlp --only lpcfg
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from golden_cases import CASES, predictions

HERE = Path(__file__).resolve().parent
CORPORA = HERE.parent.parent / "corpora"


def main() -> None:
    """Write a file for each case."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    beside = str(Path(sys.executable).with_name("spectralnlp"))
    parser.add_argument("--command", default=beside, metavar="PATH", help="the program that predicts")
    parser.add_argument("--only", nargs="*", default=list(CASES), metavar="CASE")
    arguments = parser.parse_args()

    def run(command: Sequence[str]) -> str:
        done = subprocess.run([arguments.command, *command], stdout=subprocess.PIPE, text=True, check=True)
        return done.stdout

    with TemporaryDirectory() as models:
        for name in arguments.only:
            text = predictions(name, run, CORPORA, Path(models))
            (HERE / f"{name}.txt").write_text(text, encoding="utf-8")
            print(f"{name}: {len(text)} characters", file=sys.stderr)


if __name__ == "__main__":
    main()
