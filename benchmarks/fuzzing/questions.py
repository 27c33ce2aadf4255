"""Fuzzer target: mutated questions to ``spectralnlp explain``, for models with and without moments."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import ClassVar

from benchmarks.fuzzing.mutations import mutated_bytes
from benchmarks.fuzzing.targets import Target, first_failure

_SENTENCE, _TEXT = "The keeper climbs the stairs .", "when does the boat leave"
_NUMBERS = (-1, 0, 1, 2, 3, 4, 5, 6, 7, 1 << 31, 1 << 63)
_LABELS = (
    "NP",
    "VP",
    "S",
    "TOP",
    "DT",
    "VBZ",
    "price",
    "@NP",
    "np",
    "",
    " ",
    "(",
    "a" * 5000,
    "\u6f22",
    "\udcff",
)


@dataclass
class Questions(Target):
    """Fuzzer target for questions about a bracket, a tag or a label, with mutated arguments.

    Attributes:
        root: folder of the models.
    """

    root: Path
    name: str = "question"
    models: ClassVar[tuple[str, ...]] = (
        "moments of clusters",
        "moments of tagger",
        "moments of intents",
        "pcfg",
        "tagger",
        "intents",
    )

    def write(self, random: Random, folder: Path) -> None:
        """Write mutated arguments of the command ``explain`` into a folder."""
        asked = self._question(random, random.choice(self.models))
        if random.random() < 0.3:
            asked += random.choice((["--limit", str(random.choice(_NUMBERS))], ["--recount"], ["--json"]))
        if random.random() < 0.1:
            asked += random.choice(
                (["--label", "NP"], ["--token", "0"], ["--text", _TEXT], ["--trees", "none.mrg"])
            )
        (folder / "question.json").write_text(json.dumps(asked), encoding="utf-8")

    def _question(self, random: Random, model: str) -> list[str]:
        def mutated(text: str) -> str:
            whole = text.encode()
            changed = whole if random.random() < 0.5 else mutated_bytes(random, whole, most_copies=8)
            return changed[:1000].decode("utf-8", "surrogateescape").replace("\0", "")

        asked, kind = [str(self.root / model.replace(" ", "-"))], model.rpartition(" ")[2]
        label = random.choice(_LABELS)
        if kind == "intents":
            return [*asked, "--text", mutated(_TEXT), *random.choice(([], ["--label", label]))]
        asked += ["--tokens", mutated(_SENTENCE)]
        first, last = (str(random.choice(_NUMBERS)) for _ in range(2))
        if kind == "tagger":
            return [*asked, "--token", first, *random.choice(([], ["--label", label]))]
        return [*asked, "--bracket", first, last, label]

    def write_sound(self, folder: Path) -> None:
        """Write valid arguments of the command ``explain``, for the first model, into a folder."""
        asked = [str(self.root / self.models[0].replace(" ", "-")), "--tokens", _SENTENCE]
        (folder / "question.json").write_text(
            json.dumps([*asked, "--bracket", "0", "2", "NP"]), encoding="utf-8"
        )

    def run(self, folder: Path) -> int:
        """Run the command ``explain`` with the arguments in a folder, and return its exit status."""
        asked: list[str] = json.loads((folder / "question.json").read_text(encoding="utf-8"))
        return first_failure(["explain", *asked])
