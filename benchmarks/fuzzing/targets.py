"""Fuzzer targets: classes of inputs, each with a valid input, its mutations, and commands to run on them.

This module has the targets for models; `file_targets` has those for data.
"""

from __future__ import annotations

import hashlib
import io
import json
import shutil
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from safetensors.numpy import load, save

from benchmarks.fuzzing.mutations import mutated_arrays, mutated_bytes, mutated_json
from spectralnlp.cli.app import run
from spectralnlp.storage import load_kept_moments

CORPORA = Path(__file__).resolve().parents[2] / "corpora"

TEXT = "The keeper climbs the stairs every evening. Did the blorfish leave (early) at 3:30?\n"
TREES = "(S (NP (DT The) (NN blorfish)) (VP (VBD left)) (. .))\n" * 2
TOKENS = "The keeper climbs the stairs .\nthe cat saw this dog .\n"


class Target(ABC):
    """Base class of targets: a class of inputs to fuzz, and the commands to run on them.

    Attributes:
        name: name on the command line and in the report.
    """

    name: str

    @abstractmethod
    def write(self, random: Random, folder: Path) -> None:
        """Write a mutated input into an empty folder."""

    @abstractmethod
    def run(self, folder: Path) -> int:
        """Run commands on the input, and return the first exit status that is not 0, else 0."""

    def warm_up(self, folder: Path) -> None:
        """Run the commands on a valid input in this process, so that children have all kernels and modules.

        Raises:
            SystemExit: the input was not accepted.
        """
        self.write_sound(folder)
        said = io.StringIO()
        with redirect_stdout(io.StringIO()), redirect_stderr(said):
            status = self.run(folder)
        if status:
            raise SystemExit(f"{self.name}: the sound input ended with {status}: {said.getvalue()}")

    @abstractmethod
    def write_sound(self, folder: Path) -> None:
        """Write a valid input into an empty folder."""

    def left_behind(self, folder: Path) -> Iterator[str]:
        """Yield the names of temporary files that a failed command should have deleted."""
        return (each.name for each in folder.iterdir() if each.name.endswith(".tmp"))


def first_failure(*commands: list[str]) -> int:
    """Run commands until one fails, and return its exit status; 0 if none fails."""
    return next((status for command in commands if (status := run(command))), 0)


# ---------------------------------------------------------------------------------------------------------
# Model folders


@dataclass
class Model(Target):
    """Fuzzer target for a model folder whose arrays, header, JSON or card are mutated, with matching digests.

    Attributes:
        name: kind of model.
        path: valid model folder.
        commands: commands to run, in which ``MODEL`` stands for the folder.
        kept: whether to mutate the moments (training statistics) that are stored with the model, instead of
            the model.
    """

    name: str
    path: Path
    commands: tuple[tuple[str, ...], ...]
    kept: bool = False

    def __post_init__(self) -> None:
        self._files = {each.name: each.read_bytes() for each in sorted(self.path.iterdir())}
        stem = ("moments.safetensors", "moments.json") if self.kept else ("arrays.safetensors", "model.json")
        self._arrays_name, self._header_name = stem
        self._header = json.loads(self._files[self._header_name])
        if (
            self.kept
        ):  # decompressed, which the reader also accepts, because mutated compressed bytes rarely decompress
            kept = load_kept_moments(self.path)
            assert kept is not None
            self._files[self._arrays_name] = save(kept[1].all())
            self._header["arrays"] = _digest(self._files[self._arrays_name])
            self._files[self._header_name] = json.dumps(self._header).encode()
        self._arrays = load(self._files[self._arrays_name])

    def write(self, random: Random, folder: Path) -> None:
        """Write a copy of the model with mutated files, or with mutated arrays and JSON, into a folder."""
        files = dict(self._files)
        header = self._header
        what = random.random()
        if what < 0.6:
            mutated = mutated_arrays(random, self._arrays)
            files[self._arrays_name] = save({n: np.asarray(a, order="C") for n, a in mutated.items()})
        elif what < 0.7:
            files[self._arrays_name] = mutated_bytes(random, files[self._arrays_name])
        raw = files[self._arrays_name]
        if random.random() < 0.98:  # otherwise the digest does not match
            header = {**header, "arrays": _digest(raw)}
        text = json.dumps(header, indent=1)
        if 0.7 <= what < 0.97:
            text = self._with_digests(mutated_json(random, self._values(header)), header)
        elif what >= 0.97:
            name = random.choice(sorted(files))
            files[name] = mutated_bytes(random, files[name])
        if what < 0.97:
            files[self._header_name] = text.encode("utf-8", "surrogateescape")
        model = folder / "model"
        model.mkdir()
        for name, content in files.items():
            (model / name).write_bytes(content)

    @staticmethod
    def _values(header: dict[str, Any]) -> Any:
        """Return the part of a model file's header to mutate, its metadata."""
        return header["metadata"]

    def _with_digests(self, text: str, header: dict[str, Any]) -> str:
        others = json.dumps({key: value for key, value in header.items() if key != "metadata"}, indent=1)
        return f'{others[:-2]},\n "metadata": {text}\n}}'

    def write_sound(self, folder: Path) -> None:
        """Copy the valid model folder into a folder."""
        shutil.copytree(self.path, folder / "model")

    def run(self, folder: Path) -> int:
        """Run the commands with the model in a folder; return the first exit status that is not 0, else 0."""
        (folder / "text.txt").write_text(TEXT, encoding="utf-8")
        (folder / "tokens.txt").write_text(TOKENS, encoding="utf-8")
        places = {"MODEL": str(folder / "model"), "OUT": str(folder / "out")}
        (folder / "trees.mrg").write_text(TREES, encoding="utf-8")
        places |= {"TREES": str(folder / "trees.mrg")}
        places |= {"TEXT": str(folder / "text.txt"), "TOKENS": str(folder / "tokens.txt")}
        return first_failure(*([places.get(word, word) for word in command] for command in self.commands))


def _digest(raw: bytes) -> dict[str, Any]:
    return {"size": len(raw), "sha256": hashlib.sha256(raw).hexdigest()}


def train_models(root: Path, names: tuple[str, ...] = ()) -> dict[str, Model]:
    """Return targets for model folders, by name; models that ``root`` lacks are trained on small corpora."""
    kinds = {name: each for name, each in _kinds(root).items() if not names or name in names}
    targets = {}
    for name, (arguments, commands) in kinds.items():
        for kind in (name, *_needed(arguments, root)):
            path = root / kind.replace(" ", "-")
            if not path.exists():
                _train(root, kind, path)
        kept = name.startswith("moments of ")
        targets[name] = Model(name, root / name.replace(" ", "-"), commands, kept)
    return targets


def _needed(arguments: list[str], root: Path) -> list[str]:
    """Return the kinds of models that a command needs, as the arguments name their folders."""
    return [
        kind for kind in ("eigenwords", "operators") if any(str(root / kind) in each for each in arguments)
    ]


def _train(root: Path, kind: str, path: Path) -> None:
    arguments, _ = _kinds(root)[kind]
    for needed in _needed(arguments, root):
        if not (root / needed).exists():
            _train(root, needed, root / needed)
    if arguments[0] == "compact":
        import spectralnlp

        source = root / arguments[1]
        if not source.exists():
            _train(root, arguments[1], source)
        spectralnlp.load(source).save(path, compact=True)
        return
    root.mkdir(parents=True, exist_ok=True)
    trees = root / "trees.mrg"
    trees.write_text((CORPORA / "treebank" / "train.mrg").read_text(encoding="utf-8") * 3, encoding="utf-8")
    command = "sketch" if arguments[0] == "sketch" else "train"
    rest = arguments[1:] if command == "sketch" else arguments
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        status = run([command, *rest, "-o", str(path)])
    if status:
        raise SystemExit(f"training {kind} ended with {status}")


_PARSE = (
    ("info", "MODEL"),
    ("inspect", "MODEL"),
    ("parse", "-m", "MODEL", "TEXT", "--scores"),
    ("parse", "-m", "MODEL", "TOKENS", "--tokenized", "--k", "3", "--decoder", "max-rule"),
)
_TAG = (("info", "MODEL"), ("tag", "-m", "MODEL", "TEXT", "--scores"))
_UPDATE = (("info", "MODEL"), ("update", "MODEL", "TOKENS", "-o", "OUT"))
_UPDATE_TREES = (("info", "MODEL"), ("update", "MODEL", "TREES", "-o", "OUT"))
_ASK = ("explain", "MODEL", "--tokens", "The keeper climbs the stairs .")
_EXPLAIN_TREES = (("info", "MODEL"), (*_ASK, "--bracket", "0", "2", "NP"))
_EXPLAIN_TAGS = (("info", "MODEL"), (*_ASK, "--token", "2"))
_EXPLAIN_TEXTS = (("info", "MODEL"), ("explain", "MODEL", "--text", "when does the boat leave"))

Kind = tuple[list[str], tuple[tuple[str, ...], ...]]


def set_options(**values: object) -> list[str]:
    return [word for name, value in values.items() for word in ("--set", f"{name}={value}")]


def _kinds(root: Path) -> dict[str, Kind]:
    """Return, for each kind of model, the arguments of ``train`` and the commands to run with it."""
    trees, text = str(root / "trees.mrg"), str(CORPORA / "text" / "lighthouse.txt")
    few_trees, tokens = str(CORPORA / "treebank" / "dev.mrg"), str(CORPORA / "text" / "tokenized.txt")
    words = str(root / "eigenwords")
    small = set_options(n_states=4, em_iterations=2, pruner_states=2, eigenwords=words)
    tagger = set_options(eigenwords=words, epochs=1)
    mixed = set_options(models="tensors+clusters", n_states=3, n_clusters=3)
    score = ("evaluate", "MODEL", "TOKENS")
    kinds: dict[str, Kind] = {
        "eigenwords": (
            ["eigenwords", text, *set_options(dimensions=4, min_count=1, clusters=3)],
            (("info", "MODEL"), ("neighbours", "MODEL", "the", "Thekla")),
        ),
        "operators": (["hmm", tokens, *set_options(n_states=3, min_count=1)], (("info", "MODEL"), score)),
        "hidden": (["hmm-em", tokens, *set_options(n_states=3, iterations=2)], (("info", "MODEL"), score)),
        "pcfg": (["pcfg", few_trees], _PARSE),
        "parser": (
            ["lpcfg", trees, *small, *set_options(binarisations="head+left", grammars="tensors+clusters")],
            _PARSE,
        ),
        "compact parser": (["compact", "parser"], _PARSE),
        "tagger": (["tagger", few_trees, *tagger], _TAG),
        "compact tagger": (["compact", "tagger"], _TAG),
        "rhmm": (["rhmm", few_trees, *mixed], _TAG),
        "topics": (
            ["topics", text, *set_options(n_topics=2, min_documents=1, max_share=0.9)],
            (("info", "MODEL"), ("topics", "MODEL"), ("topics", "MODEL", "TEXT")),
        ),
        "intents": (
            ["intent", str(CORPORA / "intents" / "dev.tsv")],
            (("info", "MODEL"), ("classify", "-m", "MODEL", "TEXT", "--format", "json")),
        ),
        "sketch": (
            ["sketch", text, "--size", "4", "--columns", "64"],
            (("info", "MODEL"), ("sketch", "TEXT", "-o", "OUT", "--columns", "64")),
        ),
    }
    for name, arguments, commands in (
        ("pcfg", ["pcfg", few_trees], _UPDATE_TREES),
        ("lpcfg", ["lpcfg", few_trees, *set_options(preset="tutorial", n_states=3)], _UPDATE_TREES),
        ("clusters", ["lpcfg", few_trees, *set_options(grammars="clusters", n_states=2)], _EXPLAIN_TREES),
        ("tagger", ["tagger", few_trees, *set_options(epochs=1)], _EXPLAIN_TAGS),
        ("intents", ["intent", str(CORPORA / "intents" / "dev.tsv")], _EXPLAIN_TEXTS),
        ("rhmm", ["rhmm", few_trees, *mixed], _UPDATE_TREES),
        ("hmm", ["hmm", tokens, *set_options(n_states=3, min_count=1)], _UPDATE),
        ("eigenwords", ["eigenwords", text, *set_options(dimensions=4, min_count=1)], _UPDATE),
        ("topics", ["topics", text, *set_options(n_topics=2, min_documents=1, max_share=0.9)], _UPDATE),
    ):
        kinds[f"moments of {name}"] = ([*arguments, "--keep-moments"], commands)
    return kinds


def clear(folder: Path) -> None:
    """Delete everything in a folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
