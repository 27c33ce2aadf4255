"""Base class of fuzzer targets for the arguments of commands."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from benchmarks.fuzzing.mutations import mutated_bytes
from benchmarks.fuzzing.targets import Target, first_failure

LONG = "9" * 5000

Case = tuple[list[str], dict[str, bytes]]


@dataclass
class Commands(Target):
    """Fuzzer target for the arguments of a command, and for files that they name.

    Attributes:
        name: name of the target.
        sound: valid arguments; in each, ``HERE`` stands for the folder of the case.
        draw: returns mutated arguments, and the content of mutated files by name.
        files: contents of valid files by name.
    """

    name: str
    sound: list[str]
    draw: Callable[[Random], Case]
    files: dict[str, bytes] = field(default_factory=dict)

    def write(self, random: Random, folder: Path) -> None:
        """Write mutated arguments and files into a folder."""
        self._write(folder, *self.draw(random))

    def write_sound(self, folder: Path) -> None:
        """Write the valid arguments and files into a folder."""
        self._write(folder, self.sound, {})

    def _write(self, folder: Path, arguments: list[str], files: dict[str, bytes]) -> None:
        for name, content in (self.files | files).items():
            (folder / name).write_bytes(content)
        plain = [each.replace("\0", "") for each in arguments]  # no system passes such
        (folder / "arguments").write_text(json.dumps(plain), encoding="utf-8")

    def run(self, folder: Path) -> int:
        """Run the command with the arguments in a folder, and return its exit status."""
        arguments: list[str] = json.loads((folder / "arguments").read_text(encoding="utf-8"))
        return first_failure([each.replace("HERE", str(folder)) for each in arguments])


def mutated_text(random: Random, text: str, longest: int = 20_000) -> str:
    """Return a text whose bytes are mutated, as the system would pass it to a program."""
    changed = mutated_bytes(random, text.encode("utf-8", "surrogateescape"), most_copies=8)
    return changed[:longest].decode("utf-8", "surrogateescape")
