"""``spectralnlp transform``: turn texts, or rows of one of two views, into rows of numbers."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import typer

from spectralnlp.cli.options import TextColumn, accepted
from spectralnlp.errors import ConfigError, InputError

SUFFIXES = (".npy", ".npz", ".parquet")


def transform(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A trained featurizer, or a CCA.")],
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="Texts, one a line, .gz too; for a CCA, rows of numbers. There is a row for each.",
        ),
    ],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FILE", help="A .npy, a sparse .npz or a .parquet file."),
    ],
    text_column: TextColumn = None,
    reader: Annotated[
        str | None, typer.Option(metavar="NAME", help="CCA: format of the files, such as npy.")
    ] = None,
    view: Annotated[
        str | None, typer.Option(metavar="x|y", help="CCA: which view the files are of; default x.")
    ] = None,
) -> None:
    """Turn texts, or rows of one of two views, into rows of numbers with a trained model."""
    from spectralnlp import load
    from spectralnlp.registry import tasks
    from spectralnlp.runtime import import_parquet, rereadable

    if output.suffix not in SUFFIXES:
        what = f"rows go to {', '.join(SUFFIXES)} files"
        raise ConfigError(what, path=output, hint="choose one by its suffix")
    if output.suffix == ".parquet":
        import_parquet()
    loaded = load(model)
    task = tasks.get(loaded.task)()
    how = {"text_column": ("--text-column", text_column), "reader": ("--reader", reader)}
    options = accepted(task, "transformed", {**how, "view": ("--view", view)})
    blocks = iter(task.transformed(loaded, rereadable(inputs), **options))
    first = next(blocks, None)
    if first is None:
        raise InputError("nothing to transform", path=inputs[0], hint="give a file with something in it")
    if output.suffix != ".npz" and not hasattr(first, "flags"):
        raise ConfigError(f"sparse rows of {first.shape[1]:,} columns", hint="write them to an .npz file")
    n = _write(output, chain([first], blocks), loaded)
    print(f"{output}: {n:,} rows of {first.shape[1]:,} columns")


def _write(output: Path, blocks: Iterator[Any], model: Any) -> int:
    """Write rows to a file, and return the number of rows.

    Args:
        output: the file; its suffix determines the format: ``.npy``, ``.npz`` or ``.parquet``.
        blocks: matrices, dense or sparse, with the same columns; their rows are written one after the other.
        model: the model, which names the columns.
    """
    from spectralnlp.cli.console import whole_file

    writers = {".npy": _write_npy, ".npz": _write_npz, ".parquet": _write_parquet}
    with whole_file(output) as path:
        try:
            return writers[output.suffix](path, blocks, model)
        except OSError as error:
            raise ConfigError(f"cannot write the output: {error.strerror or error}", path=output) from error


def _write_npy(path: Path, blocks: Iterator[Any], model: Any) -> int:
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


def _write_npz(path: Path, blocks: Iterator[Any], model: Any) -> int:
    import scipy.sparse as sp

    rows = sp.vstack([sp.csr_matrix(block) for block in blocks], format="csr")
    with path.open("wb") as file:
        sp.save_npz(file, rows)
    return int(rows.shape[0])


def _write_parquet(path: Path, blocks: Iterator[Any], model: Any) -> int:
    from spectralnlp.runtime import import_parquet

    pa, pq = import_parquet()
    names, n, first = [str(name) for name in model.get_feature_names_out()], 0, next(blocks)
    schema = pa.schema([(name, pa.from_numpy_dtype(first.dtype)) for name in names])
    with pq.ParquetWriter(path, schema) as writer:
        for block in chain([first], blocks):
            writer.write_table(pa.table([pa.array(each) for each in block.T], schema=schema))
            n += len(block)
    return n
