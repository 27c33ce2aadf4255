"""``spectralnlp transform``: turn texts into rows of numbers with a trained featurizer."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spectralnlp.cli.options import TextColumn
from spectralnlp.errors import ConfigError, InputError

if TYPE_CHECKING:
    from spectralnlp.models.features import Features

BATCH = 1024
SUFFIXES = (".npy", ".npz", ".parquet")


def transform(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A trained featurizer.")],
    texts: Annotated[
        list[str], typer.Argument(metavar="FILE...", help="Texts, one a line, .gz too; a row for each line.")
    ],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FILE", help="A .npy, a sparse .npz or a .parquet file."),
    ],
    text_column: TextColumn = None,
) -> None:
    """Turn texts into rows of numbers with a trained featurizer."""
    from spectralnlp import load
    from spectralnlp.registry import tasks
    from spectralnlp.runtime import import_parquet, rereadable

    if output.suffix not in SUFFIXES:
        what = f"rows go to {', '.join(SUFFIXES)} files"
        raise ConfigError(what, path=output, hint="choose one by its suffix")
    if output.suffix == ".parquet":
        import_parquet()
    features = load(model)
    if features.task != "features":
        raise ConfigError(f"{model} is a model for {features.task}, not a featurizer")
    corpus = tasks.get("features")().read(rereadable(texts), text_column=text_column)
    blocks = _blocks(features, corpus)
    first = next(blocks, None)
    if first is None:
        raise InputError("no texts to transform", path=texts[0], hint="give text, one a line")
    if output.suffix != ".npz" and not hasattr(first, "flags"):
        raise ConfigError(f"sparse rows of {first.shape[1]:,} columns", hint="write them to an .npz file")
    n = _write(output, chain([first], blocks), features)
    print(f"{output}: {n:,} rows of {first.shape[1]:,} columns")


def _blocks(features: Features, corpus: Any) -> Iterator[Any]:
    for batch in corpus.batches(BATCH):
        yield features.transform(batch.examples)


def _write(output: Path, blocks: Iterator[Any], features: Features) -> int:
    """Write rows of features to a file, and return the number of rows.

    Args:
        output: the file; its suffix determines the format: ``.npy``, ``.npz`` or ``.parquet``.
        blocks: matrices, dense or sparse, with the same columns; their rows are written one after the other.
        features: description of the columns.
    """
    from spectralnlp.cli.console import whole_file

    writers = {".npy": _write_npy, ".npz": _write_npz, ".parquet": _write_parquet}
    with whole_file(output) as path:
        try:
            return writers[output.suffix](path, blocks, features)
        except OSError as error:
            raise ConfigError(f"cannot write the output: {error.strerror or error}", path=output) from error


def _write_npy(path: Path, blocks: Iterator[Any], features: Features) -> int:
    """Write a dense matrix to an .npy file block by block, then write its number of rows into the header."""
    import numpy as np

    n, first = 0, next(blocks)
    header = {"descr": np.lib.format.dtype_to_descr(first.dtype), "fortran_order": False}
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, {**header, "shape": (0, first.shape[1])})
        for block in chain([first], blocks):
            file.write(np.ascontiguousarray(block).data)
            n += len(block)
        file.seek(0)  # numpy pads the header, so the larger size fits
        np.lib.format.write_array_header_1_0(file, {**header, "shape": (n, first.shape[1])})
    return n


def _write_npz(path: Path, blocks: Iterator[Any], features: Features) -> int:
    import scipy.sparse as sp

    rows = sp.vstack([sp.csr_matrix(block) for block in blocks], format="csr")
    with path.open("wb") as file:
        sp.save_npz(file, rows)
    return int(rows.shape[0])


def _write_parquet(path: Path, blocks: Iterator[Any], features: Features) -> int:
    from spectralnlp.runtime import import_parquet

    pa, pq = import_parquet()
    names, n, first = [str(name) for name in features.get_feature_names_out()], 0, next(blocks)
    schema = pa.schema([(name, pa.from_numpy_dtype(first.dtype)) for name in names])
    with pq.ParquetWriter(path, schema) as writer:
        for block in chain([first], blocks):
            writer.write_table(pa.table([pa.array(each) for each in block.T], schema=schema))
            n += len(block)
    return n
