"""Pinned sections: models other than parsers, and sketches, that commands train, change and apply."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .digests import digest
from .items import CORPORA, Item, Section, command, scratch
from .trainings import some_text

_INTENTS, _EWT = CORPORA / "intents", CORPORA / "tagging" / "ewt"
_N_TEXTS, _N_QUESTIONS, _N_SENTENCES = 3000, 600, 1500


def models(known: Mapping[str, Item]) -> Iterator[Item]:
    """Yield results to pin for estimators of sequences, vectors, topics, tags and intents."""
    with scratch() as folder:
        first, second, third = _texts(folder)
        sentences = [_tagged(folder, number) for number in range(3)]
        questions = [_questions(folder, number) for number in range(3)]
        for name, parts, settings, applied in (
            ("hmm", sentences, "n_states=4", None),
            ("hmm", sentences, "preset=tutorial,n_states=4", None),
            ("hmm-em", sentences, "n_states=4", None),
            ("rhmm", sentences, "", None),
            ("tagger", sentences, "column=upos", ("tag", first)),
            ("eigenwords", (first, second, third), "vocabulary=2000,dimensions=20", ("neighbours", "the")),
            ("topics", (first, second, third), "n_topics=4", ("topics", first)),
            ("intent", questions, "", ("classify", first)),
            ("intent", questions, "featurizer=dcot", ("classify", first)),
        ):
            yield from _changed(folder, name, parts, settings, applied)
        for name in ("dcot", "tmpca", "sent", "hashed-ngrams", "frequent-directions"):
            out = folder / f"{name}-model"
            found = command("train", name, first, "-o", out, scratch=folder)
            yield Item(f"{name}: trained", {"command": found, "arrays": _arrays(out)})
            rows = folder / "rows.npz"
            found = command("transform", out, second, "-o", rows, scratch=folder)
            yield Item(f"{name}: transform", {"command": found, "arrays": _matrix(rows)})


def _changed(
    folder: Path, name: str, parts: Any, settings: str, applied: tuple[Any, ...] | None
) -> Iterator[Item]:
    """Yield items of a model that is trained, updated, reduced and merged, and of its application."""
    a, b, c, merged, plain = (folder / each for each in ("a", "b", "c", "merged", "plain"))
    first, second, third = parts
    options = [text for each in settings.split(",") if each for text in ("--set", each)]
    keep = ["--keep-moments", "--overwrite", *(("--documents", "file") if name != "intent" else ())]
    changes: dict[str, tuple[Path, list[object]]] = {
        "trained": (plain, ["train", name, first, second, "-o", plain, "--overwrite", *options]),
        "trained, kept": (a, ["train", name, first, "-o", a, *keep, *options]),
        "updated": (b, ["update", a, second, "-o", b]),
        "updated again": (b, ["update", b, second, "-o", b]),
        "updated, known": (b, ["update", b, second, third, "-o", b, "--skip-known"]),
        "forgot": (c, ["forget", b, second, "-o", c]),
        "forgot unknown": (c, ["forget", c, second, "-o", c]),
        "other": (c, ["train", name, third, "-o", c, *keep, *options]),
        "merged": (merged, ["merge", a, c, "-o", merged]),
    }
    for title, (out, arguments) in changes.items():
        if arguments[0] != "train" and out != arguments[1]:
            _remove(out)
        found = command(*arguments, scratch=folder)
        yield Item(f"{name} {settings}: {title}", {"command": found, "arrays": _arrays(out)})
    _remove(merged)
    yield Item(f"{name} {settings}: info", command("info", plain, scratch=folder))
    yield Item(f"{name} {settings}: inspect", command("inspect", plain, scratch=folder))
    yield Item(f"{name} {settings}: evaluate", command("evaluate", plain, third, scratch=folder))
    if applied is not None:
        verb, *arguments = applied
        chosen = ["-m", plain, *arguments] if verb in ("tag", "classify") else [plain, *arguments]
        yield Item(f"{name} {settings}: {verb}", command(verb, *chosen, scratch=folder))
        if verb in ("tag", "classify"):
            again = command(verb, *chosen, "--format", "json", scratch=folder)
            yield Item(f"{name} {settings}: {verb}, json", again)


def sketches(known: Mapping[str, Item]) -> Iterator[Item]:
    """Yield results to pin for sketches of files of all formats, their changes, and leverage scores."""
    with scratch() as folder:
        files = {form: [_rows(folder, form, number) for number in range(3)] for form in _FORMS}
        texts = _texts(folder)
        for name in ("frequent-directions", "gaussian", "countsketch", "osnap", "srht"):
            for keep in ((), ("--keep-moments",)):
                yield from _sketched(folder, name, files["npy"], "--size", 16, *keep)
            yield from _sketched(folder, name, texts, "--size", 16, "--columns", 512, "--keep-moments")
        for form, paths in files.items():
            yield from _sketched(folder, "frequent-directions", paths, "--size", 8)
            for method in ("gram", "countsketch"):
                options = ("--method", method, *(("--columns", 32) if form in ("tsv", "txt") else ()))
                yield _scores(folder, paths, *options)
        yield _scores(folder, [folder / "missing.npy"])
        for bad, text in (
            ("short.csv", "a,b\n1,2\n3\n"), ("words.csv", "1,2\n3,x\n"), ("nan.csv", "1,2\n3,nan\n")
        ):  # fmt: skip
            (folder / bad).write_text(text)
            yield _scores(folder, [folder / bad])


_FORMS = ("npy", "npz", "csv", "parquet", "tsv", "txt")


def _sketched(folder: Path, name: str, paths: Any, *options: object) -> Iterator[Item]:
    """Yield items of a sketch that is made, updated, reduced and merged."""
    a, b, c, d = (folder / each for each in ("sketch-a", "sketch-b", "sketch-c", "sketch-d"))
    first, second, third = paths
    key = f"{name} {first.suffix} {' '.join(map(str, options))}"
    base = ("--sketch", name, *options)
    for title, out, arguments in (
        ("made", a, ("sketch", first, second, "-o", a, *base)),
        ("updated", b, ("update", a, third, "-o", b)),
        ("updated again", b, ("update", b, third, "-o", b)),
        ("forgot", c, ("forget", b, second, "-o", c)),
        ("forgot unknown", c, ("forget", c, second, "-o", c)),
        ("other", d, ("sketch", third, "-o", d, *base)),
        ("merged", folder / "merged", ("merge", a, d, "-o", folder / "merged")),
        ("merged, shared", folder / "merged-2", ("merge", a, b, "-o", folder / "merged-2")),
    ):
        found = command(*arguments, scratch=folder)
        yield Item(f"{key}: {title}", {"command": found, "arrays": _arrays(out)})
    yield Item(f"{key}: info", command("info", a, scratch=folder))
    for each in (a, b, c, d, folder / "merged", folder / "merged-2"):
        _remove(each)


def _scores(folder: Path, paths: Any, *options: object) -> Item:
    found = command("leverage", *paths, *options, scratch=folder)
    return Item(f"leverage {paths[0].name} {' '.join(map(str, options))}", found)


def _rows(folder: Path, form: str, number: int) -> Path:
    """Write rows of numbers, or labelled texts, as a file of a format, and return its path."""
    rng = np.random.default_rng(number)
    rows = rng.poisson(1.0, size=(300, 24)).astype(np.float64)
    path = folder / f"rows-{number}.{form}"
    if form == "npy":
        np.save(path, rows)
    elif form == "npz":
        from scipy import sparse

        sparse.save_npz(path, sparse.csr_matrix(rows))
    elif form == "csv":
        np.savetxt(path, rows, delimiter=",", fmt="%g")
    elif form == "parquet":
        import pyarrow
        import pyarrow.parquet

        table = pyarrow.table({f"c{column}": rows[:, column] for column in range(rows.shape[1])})
        pyarrow.parquet.write_table(table, path)
    else:
        lines = some_text(300 * (number + 1))[300 * number :]
        start = "label\t" if form == "tsv" else ""
        _write(path, (f"{start}{line.strip()}" for line in lines))
    return path


def _texts(folder: Path) -> list[Path]:
    """Write three files of text, one of them compressed, and return their paths."""
    lines = [line.strip() for line in some_text(3 * _N_TEXTS)]
    paths = [folder / f"text-{number}.txt" for number in range(3)]
    for number, path in enumerate(paths):
        _write(path, lines[number * _N_TEXTS : (number + 1) * _N_TEXTS])
    packed = folder / "text-2.txt.gz"
    packed.write_bytes(gzip.compress(paths[2].read_bytes(), mtime=0))
    return [paths[0], paths[1], packed]


def _tagged(folder: Path, number: int) -> Path:
    """Write sentences of EWT, and return the path of the file."""
    blocks = (_EWT / "en_ewt-ud-train.conllu").read_text(encoding="utf-8").split("\n\n")
    path = folder / f"sentences-{number}.conllu"
    chosen = blocks[number * _N_SENTENCES : (number + 1) * _N_SENTENCES]
    path.write_text("\n\n".join(chosen) + "\n\n", encoding="utf-8")
    return path


def _questions(folder: Path, number: int) -> Path:
    """Write labelled questions, and return the path of the file."""
    path = folder / f"questions-{number}.tsv"
    lines = _lines(_INTENTS / "hwu64" / "train.tsv")
    _write(path, lines[number :: len(lines) // _N_QUESTIONS])
    return path


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def _write(path: Path, lines: Any) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _remove(folder: Path) -> None:
    """Remove a model folder, if it exists."""
    if folder.exists():
        for each in folder.iterdir():
            each.unlink()
        folder.rmdir()


def _arrays(folder: Path) -> Any:
    """Return digests of all arrays in a model folder by file and name; None if there is no folder."""
    from safetensors.numpy import load_file

    if not folder.exists():
        return None
    found: dict[str, Any] = {}
    for path in sorted(folder.glob("*.safetensors")):
        arrays = {n: array for n, array in load_file(path).items() if not n.startswith("ledger.")}  # salted
        found[path.name] = {name: digest(array) for name, array in sorted(arrays.items())}
    for path in sorted(folder.glob("*.json")):
        found[path.name] = sorted(json.loads(path.read_text(encoding="utf-8")))
    return found


def _matrix(path: Path) -> Any:
    """Return digests of the arrays of a file of rows; None if there is none."""
    if not path.exists():
        return None
    with np.load(path) as arrays:
        return {name: digest(arrays[name]) for name in arrays.files if name != "format"}


SECTIONS: dict[str, Section] = {"models": models, "sketches": sketches}
