"""Fuzzer targets for data files: treebanks, texts, tables and matrices."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np
import scipy.sparse as sp

from benchmarks.fuzzing.mutations import EXPORT_PIECES, PIECES, XML_PIECES, mutated_arrays, mutated_bytes
from benchmarks.fuzzing.targets import CORPORA, Target, first_failure, set_options


@dataclass
class Files(Target):
    """Fuzzer target for a data file whose bytes are mutated, and commands that read it.

    Attributes:
        name: name of the target.
        contents: suffixes and bytes of valid files.
        commands: function that returns the commands to run on the path of a mutated file.
        longest: maximum number of bytes; only a part of longer files is used.
        most_copies: maximum number of repetitions of a part; limited because long valid input takes long as
            well.
        pieces: byte strings to insert.
    """

    name: str
    contents: tuple[tuple[str, bytes], ...]
    commands: Callable[[Path, Path], tuple[list[str], ...]]
    longest: int = 1 << 20
    most_copies: int = 30
    pieces: tuple[bytes, ...] = PIECES

    def write(self, random: Random, folder: Path) -> None:
        """Write a mutation of one of the files, or of a part of it, into a folder."""
        suffix, content = random.choice(self.contents)
        first = random.randrange(max(len(content) - self.longest, 0) + 1)
        content = content[first : first + self.longest]
        mutated = mutated_bytes(random, content, most_copies=self.most_copies, pieces=self.pieces)
        (folder / f"input{suffix}").write_bytes(mutated)

    def write_sound(self, folder: Path) -> None:
        """Write the first valid file into a folder."""
        suffix, content = self.contents[0]
        (folder / f"input{suffix}").write_bytes(content)

    def run(self, folder: Path) -> int:
        """Run the commands on the file in a folder; return the first exit status that is not 0, else 0."""
        (path,) = folder.glob("input*")
        return first_failure(*self.commands(path, folder / "out"))


@dataclass
class Matrices(Target):
    """Fuzzer target for ``.npy`` and ``.npz`` matrices with mutated bytes, arrays, shapes or dtypes."""

    name: str = "matrix"

    def write(self, random: Random, folder: Path) -> None:
        """Write a mutated matrix file into a folder."""
        rng = np.random.default_rng(random.getrandbits(32))
        sparse = sp.random(30, 12, 0.3, format="csr", random_state=rng)
        suffix = random.choice((".npy", ".npz", ".npz"))
        buffer = io.BytesIO()
        if suffix == ".npy":
            np.save(
                buffer, sparse.toarray().astype(random.choice(("f8", "f4", "c16", "i8", "O", "M8[s]", "?")))
            )
        elif random.random() < 0.5:
            sp.save_npz(buffer, sparse, compressed=random.random() < 0.5)
        else:
            arrays = {
                "indices": sparse.indices,
                "indptr": sparse.indptr,
                "data": sparse.data.astype(random.choice(("f8", "c16", "i8"))),
                "shape": np.array(sparse.shape),
                "format": np.array(b"csr"),
            }
            name = random.choice(("indices", "indptr", "data", "shape"))
            arrays |= mutated_arrays(random, {name: arrays[name]})
            np.savez(buffer, **arrays)
        content = buffer.getvalue()
        if random.random() < 0.5:
            content = mutated_bytes(random, content)
        (folder / f"input{suffix}").write_bytes(content)

    def write_sound(self, folder: Path) -> None:
        """Write a valid sparse matrix file into a folder."""
        sp.save_npz(folder / "input.npz", sp.random(30, 12, 0.3, format="csr", random_state=0))

    def run(self, folder: Path) -> int:
        """Sketch the matrix in a folder twice and compute its leverage scores; return the exit status."""
        (path,) = (str(each) for each in folder.glob("input*"))
        out = str(folder / "out")
        return first_failure(
            ["sketch", path, "-o", out, "--size", "4"],
            ["sketch", path, "-o", out, "--size", "4", "--sketch", "countsketch"],
            ["leverage", path, "-o", str(folder / "scores")],
        )


# A file in the format of each treebank, whose reader is a target of that name.
READERS = {
    "penn": ("treebank/dev.mrg", PIECES),
    "masc": ("formats/english.masc.mrg", (*PIECES, "\u00a0".encode(), b"( (", b"(CODE <")),
    "ontonotes": ("formats/english.gold_conll", PIECES),
    "keyaki": ("formats/japanese.psd", PIECES),
    "farpahc": ("formats/faroese.psd", PIECES),
    "icepahc": ("formats/icelandic.psd", PIECES),
    "sequoia": ("formats/french.mrg", PIECES),
    "icon": ("formats/indonesian.mrg", PIECES),
    "cess": ("treebank/spanish.mrg", PIECES),
    "spmrl": ("formats/german.spmrl.ptb", PIECES),
    "chinese": ("formats/chinese.fid", PIECES),
    "negra": ("formats/german.negra", (*PIECES, *EXPORT_PIECES)),
    "export": ("formats/german.export", (*PIECES, *EXPORT_PIECES)),
    "tiger": ("formats/german.tiger.xml", PIECES + XML_PIECES),
    "alpino": ("formats/dutch.alpino.xml", PIECES + XML_PIECES),
}


def _tables() -> dict[str, bytes]:
    """Return the labelled texts of the corpora as tables, by suffix."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    lines = (CORPORA / "intents" / "dev.tsv").read_text(encoding="utf-8").splitlines()
    rows = [dict(zip(("label", "text"), line.split("\t"), strict=True)) for line in lines]
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), buffer)
    csv = 'text,label\n"a ""quoted"", text\nof two lines",weather\n'
    csv += "".join(f"{row['text']},{row['label']}\n" for row in rows)
    return {
        "csv": csv.encode(),
        "tsv": (CORPORA / "intents" / "train.tsv").read_bytes(),
        "jsonl": "".join(json.dumps(row) + "\n" for row in rows).encode(),
        "parquet": buffer.getvalue(),
    }


TABLE_PIECES = (
    b'"',
    b'","',
    b'\n""\n',
    b"," * 3000,
    b"text,label\n",
    b'{"text": 1}\n',
    b"{" * 3000,
    b"[" * 100_000,
)


def file_targets(models: Path) -> dict[str, Target]:
    """Return the targets for data files.

    Args:
        models: folder of the models with which texts are analysed.
    """
    treebanks = [*sorted((CORPORA / "treebank").iterdir()), *sorted((CORPORA / "formats").iterdir())]
    texts = [each for each in sorted((CORPORA / "text").iterdir()) if each.name != "tagged.txt"]
    conll2009 = b"1\tCats\tcat\tcat\tNNS\tNNS\t_\t_\t2\t2\tSBJ\tSBJ\t_\t_\n\n"
    conll2012 = b"#begin document (a); part 000\na\t0\t0\tIt\tPRP\t*\t-\t-\t-\t-\t*\t-\n\n#end document\n"
    conll = b"1\tThe\tthe\tDET\tDT\t_\t2\tdet\t_\t_\n2\tkeeper\tkeeper\tNOUN\tNN\t_\t0\troot\t_\t_\n\n"

    def read(paths: list[Path]) -> tuple[tuple[str, bytes], ...]:
        return tuple((each.suffix, each.read_bytes()) for each in paths)

    def parse(path: Path, out: Path) -> tuple[list[str], ...]:
        return (
            ["parse", "-m", str(models / "pcfg"), str(path)],
            ["parse", "-m", str(models / "pcfg"), str(path), "--tokenized", "--format", "json"],
            ["classify", "-m", str(models / "intents"), str(path)],
        )

    def train_trees(path: Path, out: Path) -> tuple[list[str], ...]:
        return (["train", "pcfg", str(path), "-o", str(out)], ["score", str(path), str(path)])

    def use_trees(path: Path, out: Path) -> tuple[list[str], ...]:
        return (
            ["convert", str(path), "--to", "heads-conllu", "--skip-bad"],
            ["search", "__ < __", str(path)],
        )

    def train_tagged(path: Path, out: Path) -> tuple[list[str], ...]:
        return (["train", "rhmm", str(path), "-o", str(out), *set_options(n_states=2)],)

    def use_table(path: Path, out: Path) -> tuple[list[str], ...]:
        return (
            ["train", "intent", str(path), "-o", str(out), *set_options(calibration=False)],
            ["classify", str(out), str(path)],
        )

    def parse_conllu(path: Path, out: Path) -> tuple[list[str], ...]:
        return (["parse", "-m", "en", "--conllu", str(path)],)

    return {
        each.name: each
        for each in (
            Files("treebank", read(treebanks), train_trees),
            *(
                Files(name, read([CORPORA / file]), use_trees, pieces=pieces)
                for name, (file, pieces) in READERS.items()
            ),
            Files("text", read(texts), parse, longest=1000, most_copies=8),
            Files(
                "conll",
                ((".conllu", conll * 30), (".conll09", conll2009 * 30), (".conll12", conll2012 * 30)),
                train_tagged,
            ),
            Files("evidence", ((".conllu", conll * 3),), parse_conllu, longest=1000, most_copies=8),
            *(
                Files(name, ((f".{name}", content),), use_table, longest=3000, pieces=PIECES + TABLE_PIECES)
                for name, content in _tables().items()
            ),
            Matrices(),
        )
    }
