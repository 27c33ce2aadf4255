"""Fuzzer targets for settings and options of training, for constraints of a parse, and for partial trees."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.fuzzing.commands import LONG, Case, Commands, mutated_text
from benchmarks.fuzzing.mutations import mutated_bytes, mutated_json
from benchmarks.fuzzing.patterns import LETTERS, draw_rewrite, draw_search
from benchmarks.fuzzing.targets import CORPORA, TREES, Target
from spectralnlp import load_parser, registry
from spectralnlp.errors import SpectralError
from spectralnlp.hyperparameters import hyperparameters


@dataclass
class Calls(Commands):
    """Fuzzer target for constraints that are passed to `Parser.parse_tokens`, each line of a file some."""

    def run(self, folder: Path) -> int:
        """Parse the sentence with the constraints of each line; return 2 if one is refused, else 0."""
        parser = load_parser(self.sound[0])
        for line in (folder / "lines").read_text(encoding="utf-8", errors="surrogateescape").splitlines():
            try:
                value = json.loads(line)
            except (ValueError, RecursionError):
                continue
            value = value if isinstance(value, dict) else {"brackets": value}
            named = {name: value[name] for name in ("brackets", "forbidden", "tags") if name in value}
            tags = named.get("tags")
            if isinstance(tags, dict):
                named["tags"] = {int(k) if k.isdecimal() and len(k) < 30 else k: v for k, v in tags.items()}
            try:
                parser.parse_tokens(_SENTENCE, **named)
            except SpectralError as error:
                print(f"spectralnlp: {error}", file=sys.stderr)
                return 2
        return 0


# ---------------------------------------------------------------------------------------------------------
# Settings and options of `train`

_SETTINGS = (
    *(
        "",
        " ",
        "null",
        "None",
        "true",
        "nan",
        "inf",
        "-inf",
        "0",
        "-0",
        "-1",
        "1",
        "2",
        "0.5",
        "1e308",
        "1e-308",
    ),
    *("1e999", LONG, f"-{LONG}", f"1.{LONG}", "9" * 19, str(2**63), str(2**31), "1_0", "0x10", "٣", "x"),
    *("[" * 5000, "{" * 5000, "[]", "{}", "[[[[[]]]]]", "[1, 2]", "[2, 1]", "[0, 0]", "[1]", "[1, 2, 3]"),
    *(
        '"x"',
        '"\\ud800"',
        "\udcff",
        "x" * 50_000,
        "+" * 3000,
        "tensors+" * 500,
        "../../etc/passwd",
        "/dev/zero",
    ),
    *("head+left", "right^1", "clusters", "tensors", "a\nb", "=", "a=b", "[null]", '{"a": 1}', "[nan, inf]"),
)
_USUAL = ("0", "1", "2", "3", "5", "0.0", "0.5", "1.0", "true", "false", "null", "[1, 1]", "[2, 5]")
_ESTIMATORS = {
    "pcfg": "trees.mrg",
    "lpcfg": "trees.mrg",
    "rhmm": "trees.mrg",
    "tagger": "trees.mrg",
    "hmm": "tokens.txt",
    "hmm-em": "tokens.txt",
    "eigenwords": "tokens.txt",
    "topics": "tokens.txt",
    "intent": "texts.tsv",
}
# Values that keep a sound training short.
_SMALL = {"lpcfg": ("preset=tutorial", "n_states=2"), "tagger": ("epochs=1",), "hmm-em": ("iterations=2",)}


def _options(data: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return (
        ("--encoding", ("utf-8", "utf-16", "utf-7", "base64", "rot13", "idna", "x" * 5000, "", "undefined")),
        ("--memory", ("1", "0", "-1", "1GB", "1e9", "nan", "9" * 24, f"{LONG}GB", "1.5.5MB", "1MB ", "")),
        ("--weight", tuple(f"{data}={each}" for each in ("2", "0", "-1", "nan", "1e308", LONG, ""))),
        ("--weight", ("", "=", "=2", "nowhere=2", "x" * 5000)),
        ("--reader", ("auto", "ptb", "psd", "export", "alpino", "../x", "", LONG)),
        ("--keep-words-above", ("0", "1", "-1", LONG)),
        ("--text-column", ("text", "0", "1", "2", "-1", LONG, "", "nowhere")),
        ("--label-column", ("label", "0", "1", "2", LONG, "")),
        ("--documents", ("file", "line", "", LONG)),
        ("--jobs", ("1", "0", "-1", LONG, "x")),
        ("--checkpoint", ("HERE/trees.mrg/x", "/dev/null", "\udcff")),
    )


def _train(random: Random) -> Case:
    name = random.choice(list(_ESTIMATORS))
    data = f"HERE/{_ESTIMATORS[name]}"
    settings = [*hyperparameters(registry.estimators.get(name)), "preset"]
    small = [word for each in _SMALL.get(name, ()) for word in ("--set", each)]
    arguments, files = ["train", name, data, "-o", "HERE/model", *small], {}
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        key, value = random.choice(settings), random.choice(_SETTINGS if random.random() < 0.6 else _USUAL)
        if random.random() < 0.2:
            key, value = random.choice(
                ((mutated_text(random, key), value), (key, mutated_text(random, value)))
            )
        if random.random() < 0.15:
            lines = f"[estimator]\n{key} = {value}\n"
            files["config"] = mutated_text(random, lines).encode("utf-8", "surrogateescape")
            arguments += ["--config", "HERE/config"]
        elif random.random() < 0.3:
            option, values = random.choice(_options(data))
            arguments += [option, random.choice(values)]
        else:
            arguments += ["--set", f"{key}={value}"]
    return arguments, files


# ---------------------------------------------------------------------------------------------------------
# Constraints of a parse, and partial trees

_SENTENCE = [
    "The",
    "keeper",
    "climbs",
    "the",
    "stairs",
    "every",
    "evening",
    ",",
    "and",
    "the",
    "blorfish",
    "left",
    "early",
    ".",
]
_PLACES = (
    -1,
    0,
    1,
    2,
    3,
    4,
    5,
    6,
    7,
    8,
    9,
    10,
    11,
    12,
    13,
    14,
    15,
    1 << 31,
    1 << 64,
    10**400,
    1.5,
    True,
    None,
    "1",
)
_NAMES: tuple[Any, ...] = (
    "NP",
    "VP",
    "S",
    "PP",
    "DT",
    "TOP",
    "NP-SBJ",
    "",
    "(",
    "np",
    "@NP",
    "x" * 5000,
    "\ud800",
    None,
    1,
    [],
)


def _span(random: Random, n: int) -> list[Any]:
    if random.random() < 0.03:
        return [random.choice(_PLACES) for _ in range(random.choice((0, 1, 2, 2, 3)))]
    start, end = sorted(random.sample(range(n + 1), 2))
    return [start, end] if random.random() < 0.5 else [start, end, random.choice(_NAMES[:4])]


def _constraints(random: Random, n: int) -> dict[str, Any]:
    many = (0, 0, 1, 1, 2, 8) if random.random() < 0.95 else (n * n,)
    value: dict[str, Any] = {
        "brackets": [_span(random, n) for _ in range(random.choice(many))],
        "forbidden": [_span(random, n) for _ in range(random.choice(many))],
        "tags": {
            str(random.randrange(n)): random.choice(("NN", "DT", "VBD"))
            for _ in range(random.choice((0, 1, 3)))
        },
    }
    if random.random() < 0.1:
        value["tags"] = {str(random.choice((*_PLACES, LONG))): random.choice(_NAMES)}
    if random.random() < 0.1:
        value["brackets"].append([*random.choice(([0, 3], [2, 5])), random.choice(_NAMES)])
    return {name: each for name, each in value.items() if random.random() < 0.8}


def _lines(random: Random, values: list[Any]) -> bytes:
    lines = [mutated_json(random, each) if random.random() < 0.15 else json.dumps(each) for each in values]
    raw = "".join(line.replace("\n", " ") + "\n" for line in lines).encode("utf-8", "surrogateescape")
    return mutated_bytes(random, raw) if random.random() < 0.15 else raw


def _parse(model: str) -> Callable[[Random], Case]:
    def draw(random: Random) -> Case:
        sentences = [_SENTENCE * random.choice((1, 1, 1, 4)), _SENTENCE[: random.choice((1, 3, 14))]]
        raw = _lines(random, [_constraints(random, len(each)) for each in sentences])
        tagged = random.random() < 0.1
        text = "".join(" ".join(f"{w}_NN" if tagged else w for w in each) + "\n" for each in sentences)
        more = random.choice(
            ([], [], ["--k", "3"], ["--format", "json", "--scores"], ["--decoder", "viterbi"])
        )
        arguments = ["parse", "-m", model, "HERE/text", "--constraints", "HERE/lines", *more]
        return [*arguments, "--tagged" if tagged else "--tokenized"], {"lines": raw, "text": text.encode()}

    return draw


def _values(random: Random) -> Case:
    return [], {"lines": _lines(random, [_constraints(random, len(_SENTENCE)) for _ in range(2)])}


def _adapt(model: str) -> Callable[[Random], Case]:
    def draw(random: Random) -> Case:
        tokens: Any = random.choice(
            (_SENTENCE, _SENTENCE, _SENTENCE[:1], ["lamp"] * 300, [], [""], "a b", None)
        )
        values = [{"tokens": tokens, **_constraints(random, len(tokens or "a b"))} for _ in range(2)]
        weight = [] if random.random() < 0.8 else ["--weight", random.choice(_SETTINGS[:23])]
        arguments = ["adapt", model, "HERE/trees.mrg", "--partial", "HERE/lines", "-o", "HERE/model", *weight]
        return arguments, {"lines": _lines(random, values)}

    return draw


def command_targets(models: Path) -> dict[str, Target]:
    """Return targets for patterns, settings, constraints and partial trees, with models in a folder."""
    line, trees = json.dumps({"tokens": _SENTENCE, "brackets": [[0, 2, "NP"]]}).encode(), TREES.encode()
    pcfg, kept = str(models / "pcfg"), str(models / "moments-of-lpcfg")
    data = {
        "trees.mrg": trees * 5 + f"(S (NP ({LETTERS} {LETTERS}) (NN b)) (VP (VBD left)))".encode(),
        "tokens.txt": (CORPORA / "text" / "tokenized.txt").read_bytes(),
        "texts.tsv": (CORPORA / "intents" / "dev.tsv").read_bytes(),
    }
    constraint = {"text": " ".join(_SENTENCE).encode(), "lines": b'{"brackets": [[0, 2, "NP"]]}'}
    sound = ["parse", "-m", pcfg, "HERE/text", "--tokenized", "--constraints", "HERE/lines"]
    adapt = ["adapt", kept, "HERE/trees.mrg", "--partial", "HERE/lines", "-o", "HERE/model"]
    return {
        each.name: each
        for each in (
            Commands("pattern", ["search", "NP < /^N(.)/#1%a", "HERE/trees.mrg"], draw_search, data),
            Commands(
                "rewrite",
                ["rewrite", "--do", "relabel a NP-X", "--", "NP=a", "HERE/trees.mrg"],
                draw_rewrite,
                data,
            ),
            Commands("settings", ["train", "pcfg", "HERE/trees.mrg", "-o", "HERE/model"], _train, data),
            Commands("constraints", sound, _parse(pcfg), constraint),
            Calls("dictionaries", [pcfg], _values, constraint),
            Commands("partial", adapt, _adapt(kept), {"trees.mrg": trees, "lines": line}),
        )
    }
