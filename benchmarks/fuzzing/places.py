"""Fuzzer target that puts devices, pipes, links and the like in place of each file that a command uses."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import ClassVar

import scipy.sparse as sp

from benchmarks.fuzzing.targets import CORPORA, TREES, Target, first_failure

_PIPES = ("pipe", "half a pipe", "an empty pipe")
_DEVICES = ("zero", "urandom", "full", "null", "random")
KINDS = (*_PIPES, *_DEVICES, "memory", "folder", "loop", "nowhere", "socket", "sparse", "itself", "missing")
_MAX_SECONDS = 60  # that the other end of a pipe waits

# Each word that begins with HERE/ is a file, or a model folder with files; one of them is replaced.
COMMANDS = tuple(
    line.split()
    for line in (
        "parse -m HERE/pcfg HERE/text.txt",
        "parse -m HERE/pcfg HERE/tokens.txt --tokenized --constraints HERE/constraints -o HERE/out",
        "parse -m HERE/pcfg HERE/text.txt -o HERE/out.svg --format svg",
        "classify -m HERE/intents HERE/text.txt",
        "train pcfg HERE/trees.mrg --map HERE/map --card HERE/card.md --config HERE/config -o HERE/out",
        "train pcfg HERE/trees.mrg --dev HERE/dev.mrg --keep-moments -o HERE/out",
        "train intent HERE/texts.tsv --unlabelled HERE/text.txt -o HERE/out",
        "train hmm HERE/tokens.txt --set n_states=2 -o HERE/out",
        "update HERE/moments-of-pcfg HERE/trees.mrg -o HERE/out",
        "forget HERE/moments-of-pcfg HERE/trees.mrg",
        "merge HERE/moments-of-pcfg HERE/moments-of-pcfg -o HERE/out",
        "adapt HERE/moments-of-lpcfg HERE/trees.mrg --partial HERE/partial -o HERE/out",
        "adapt HERE/moments-of-lpcfg HERE/trees.mrg --unlabelled HERE/text.txt -o HERE/out",
        "evaluate HERE/pcfg HERE/trees.mrg --prm HERE/prm",
        "score HERE/trees.mrg HERE/dev.mrg --prm HERE/prm",
        "convert HERE/trees.mrg --to heads-conllu -o HERE/out",
        "search NP HERE/trees.mrg HERE/dev.mrg -o HERE/out",
        "search NP -m HERE/pcfg HERE/text.txt",
        "measure HERE/trees.mrg",
        "compare HERE/trees.mrg HERE/dev.mrg --map HERE/map --html HERE/out.html",
        "diff HERE/trees.mrg HERE/dev.mrg",
        "audit HERE/trees.mrg",
        "sketch HERE/matrix.npz --size 4 -o HERE/out",
        "sketch HERE/text.txt --size 4 --columns 64 -o HERE/out",
        "leverage HERE/matrix.npz -o HERE/out",
        "info HERE/pcfg",
        "inspect HERE/pcfg",
        "explain HERE/moments-of-pcfg --tokens The.keeper --bracket 0 1 NP --trees HERE/trees.mrg",
        "package HERE/pcfg --licence MIT -o HERE/out",
    )
)


@dataclass
class Places(Target):
    """Fuzzer target for one file of a command, replaced by something else, such as a pipe or a device.

    Attributes:
        models: folder of the models that commands name.
    """

    models: Path
    name: str = "device"
    needed: ClassVar[tuple[str, ...]] = ("pcfg", "intents", "moments of pcfg", "moments of lpcfg")

    def write(self, random: Random, folder: Path) -> None:
        """Write the files of a random command into a folder, and replace one by something else."""
        arguments = random.choice(COMMANDS)
        self._write_files(folder, arguments)
        places = list(self._places(folder, arguments))
        place, kind = random.choice(places), random.choice(KINDS)
        if kind in _PIPES:
            content = place.read_bytes() if place.is_file() else TREES.encode()
            content = {"half a pipe": content[: len(content) // 2], "an empty pipe": b""}.get(kind, content)
            (folder / "content").write_bytes(content)
        if place.is_dir():
            shutil.rmtree(place)
        place.unlink(missing_ok=True)
        _make(place, kind)
        asked = {"arguments": arguments, "place": str(place), "kind": kind}
        (folder / "asked").write_text(json.dumps(asked), encoding="utf-8")

    def write_sound(self, folder: Path) -> None:
        """Write the files of the first command, unchanged, into a folder."""
        self._write_files(folder, COMMANDS[0])
        asked = {"arguments": COMMANDS[0], "place": "", "kind": ""}
        (folder / "asked").write_text(json.dumps(asked), encoding="utf-8")

    def _write_files(self, folder: Path, arguments: list[str]) -> None:
        contents = {
            "trees.mrg": TREES.encode() * 3,
            "dev.mrg": TREES.encode() * 3,
            "text.txt": (CORPORA / "text" / "lighthouse.txt").read_bytes()[:300],
            "tokens.txt": (CORPORA / "text" / "tokenized.txt").read_bytes(),
            "texts.tsv": (CORPORA / "intents" / "dev.tsv").read_bytes(),
            "constraints": b"{}\n" * 6,
            "partial": b'{"tokens": ["The", "blorfish", "left", "."], "brackets": [[0, 2, "NP"]]}\n',
            "map": b"label\tNP\tNX\n",
            "card.md": b"A model.\n",
            "config": b"[estimator]\nhorizontal = 1\n",
            "prm": b"DELETE_LABEL TOP\n",
        }
        for name, content in contents.items():
            (folder / name).write_bytes(content)
        sp.save_npz(folder / "matrix.npz", sp.eye(8, format="csr"))
        for name in {each[5:] for each in arguments if each.startswith("HERE/")} - {*contents}:
            if (self.models / name).is_dir():
                shutil.copytree(self.models / name, folder / name)

    @staticmethod
    def _places(folder: Path, arguments: list[str]) -> Iterator[Path]:
        for word in arguments:
            if word.startswith("HERE/"):
                path = folder / word[5:]
                yield path
                if path.is_dir():
                    yield from sorted(path.iterdir())

    def run(self, folder: Path) -> int:
        """Run the command, with a process at the other end of the pipe if there is one."""
        asked = json.loads((folder / "asked").read_text(encoding="utf-8"))
        arguments = [each.replace("HERE", str(folder)) for each in asked["arguments"]]
        if asked["kind"] not in _PIPES:
            return first_failure(arguments)
        place = Path(asked["place"])
        content = None if place.name.startswith("out") else (folder / "content").read_bytes()
        with _other_end(place, content):
            return first_failure(arguments)


def _make(place: Path, kind: str) -> None:
    """Put something other than a regular file in a file's place.

    Args:
        place: path of the file.
        kind: what to put there, such as a pipe or a link.
    """
    match kind:
        case "pipe" | "half a pipe" | "an empty pipe":
            os.mkfifo(place)
        case "memory":
            place.symlink_to("/proc/self/mem")
        case "folder":
            place.mkdir()
        case "loop":
            place.symlink_to(place)
        case "nowhere":
            place.symlink_to("/nowhere/at/all")
        case "itself":
            place.symlink_to(place.parent)
        case "socket":
            with socket.socket(socket.AF_UNIX) as made, suppress(OSError):  # the path may be too long
                made.bind(str(place))
        case "sparse":
            with place.open("wb") as file:
                file.truncate(1 << 40)
        case "missing":
            pass
        case _:
            place.symlink_to(f"/dev/{kind}")


@contextmanager
def _other_end(place: Path, content: bytes | None) -> Iterator[None]:
    """Return a context in which a process writes into a pipe once, when somebody reads it, or reads it.

    Args:
        place: path of the pipe.
        content: what to write; None to read.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(_MAX_SECONDS)
        with suppress(OSError):
            place.read_bytes() if content is None else place.write_bytes(content)
        os._exit(0)
    try:
        yield
    finally:
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
