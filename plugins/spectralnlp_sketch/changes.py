"""Add files to saved sketches, remove files from them, and merge sketches.

Frequent directions can be updated and merged, but no rows can be removed. Linear sketches are sums, from
which a file's rows can be subtracted again if their random numbers depend on the file's content and not on
the order of files (option ``--keep-moments`` of the command ``sketch``). The result is exact for integer rows
such as counts; for other numbers a rounding error of about 1e-16 of the largest sum remains. From Gaussian
sketches no rows can be removed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from spectralnlp import registry
from spectralnlp.errors import ConfigError, InputError
from spectralnlp.linalg import one_blas_thread
from spectralnlp.runtime import expand_inputs, rereadable
from spectralnlp.storage import load_model
from spectralnlp_sketch.files import SavedSketch, save_sketch
from spectralnlp_sketch.row_files import FileRows


def update(folder: Path, inputs: Sequence[str], output: Path, report: Callable[[str], None]) -> None:
    """Add the rows of files to a saved sketch; the result equals a sketch of all files in one run.

    Args:
        folder: folder of the sketch.
        inputs: files to add.
        output: folder to write.
        report: progress callback, called with a line of text.

    Raises:
        ConfigError: the sketch cannot be updated.
        InputError: a file is in the sketch already (the message names it), or there are no rows.
        MatrixError: the width of rows differs, or rows are not finite.
    """
    saved = _changeable(folder, "be updated")
    before, corpus = saved.sketch.n_rows_, _rows(saved, inputs)
    if saved.documents is not None:
        known = [number in saved.documents for number in corpus.numbers]
        _refuse(corpus, known, "in the sketch already", "leave it out")
    _observe(saved.sketch.moments_, corpus)
    saved.sketch.finish()
    if saved.sketch.n_rows_ == before:
        raise InputError("no rows to add", path=corpus.paths[0])
    documents = None if saved.documents is None else saved.documents.union(corpus.numbers)
    _save(saved, output, documents)
    report(f"{output}: {before:,} rows and {saved.sketch.n_rows_ - before:,} more")


def forget(folder: Path, inputs: Sequence[str], output: Path, report: Callable[[str], None]) -> None:
    """Remove the rows of files from a saved sketch; the result equals a sketch of the remaining files.

    Args:
        folder: folder of the sketch.
        inputs: files to remove.
        output: folder to write.
        report: progress callback, called with a line of text.

    Raises:
        ConfigError: files cannot be removed from this sketch.
        InputError: a file is not in the sketch (the message names it), or no file would be left.
    """
    saved = _changeable(folder, "forget")
    if saved.documents is None:
        shown = registry.sketches.shown(saved.name)
        what = f"a sketch by {shown} cannot forget: its rows cannot be told apart any more"
        raise ConfigError(what, hint="sketch the files again without these")
    corpus = _rows(saved, inputs)
    unknown = [number not in saved.documents for number in corpus.numbers]
    _refuse(corpus, unknown, "not in the sketch", "give files as they were then, to the byte")
    left = saved.documents.difference(corpus.numbers)
    if not left:
        raise InputError("nothing would be left of the sketch", hint="delete it")
    gone = saved.sketch.moments_.empty_like()
    _observe(gone, corpus)
    saved.sketch.moments_.subtract(gone)
    saved.sketch.finish()
    _save(saved, output, left)
    report(f"{output}: {saved.sketch.n_rows_:,} rows, and {int(gone.n_rows):,} less")


def merge(folders: Sequence[Path], output: Path, report: Callable[[str], None]) -> None:
    """Merge saved sketches of different rows; their error bounds add up.

    Args:
        folders: folders of the sketches.
        output: folder to write.
        report: progress callback, called with a line of text.

    Raises:
        ConfigError: the sketches differ in a setting (the message names it), or cannot be merged.
        InputError: a file is in several of the sketches.
    """
    first, *others = (_changeable(folder, "be merged") for folder in folders)
    documents = first.documents
    for folder, other in zip(folders[1:], others, strict=True):
        _check_alike(first, other)
        if documents is not None and other.documents is not None:
            n_shared = len(documents & other.documents)
            if n_shared:
                what = f"in more than one of the sketches: {n_shared:,} file{'s' * (n_shared > 1)}"
                raise InputError(what, path=folder, hint="take them out with 'spectralnlp forget'")
            documents |= other.documents
        with one_blas_thread():
            first.sketch.merge(other.sketch)
    _save(first, output, documents)
    report(f"{output}: {first.sketch.n_rows_:,} rows of {len(folders)} sketches")


def _changeable(folder: Path, verb: str) -> SavedSketch:
    """Load a saved sketch, and check that files can be added or removed.

    Args:
        folder: folder of the sketch.
        verb: the intended change, for error messages.

    Raises:
        ConfigError: the random numbers of the sketch depend on the order of its files, not on their content.
        ModelError: the folder holds no sketch, or a damaged one.
    """
    saved = SavedSketch.of(load_model(folder))
    if saved.sketch.depends_on_row_numbers and saved.documents is None:
        what = f"a {type(saved.sketch).__name__} made without `keep_moments` cannot {verb}"
        raise ConfigError(what, path=folder, hint="sketch its files again with `keep_moments`")
    return saved


def _rows(saved: SavedSketch, inputs: Sequence[str]) -> FileRows:
    return FileRows(expand_inputs(rereadable(inputs)), saved.reading, by_content=saved.documents is not None)


def _observe(moments: Any, corpus: FileRows) -> None:
    with one_blas_thread():
        for batch in corpus.batches(moments.batch_size):
            moments.observe(batch)


def _save(saved: SavedSketch, output: Path, documents: frozenset[int] | None) -> None:
    with one_blas_thread():
        save_sketch(saved.sketch, output, saved.name, saved.reading, documents)


def _refuse(corpus: FileRows, which: Sequence[bool], what: str, hint: str) -> None:
    """Raise InputError if some files cannot be used; the message names the first of them.

    Args:
        corpus: the files.
        which: for each file, whether it cannot be used.
        what: what is wrong with the file, for the message.
        hint: advice in the message.
    """
    if any(which):
        n, of = sum(which), len(which)
        counted = f"{what}, the first of {n:,} among {of:,} file{'s' * (of > 1)}"
        raise InputError(counted, path=corpus.paths[which.index(True)], hint=hint)


def _check_alike(first: SavedSketch, other: SavedSketch) -> None:
    if first.name != other.name:
        names = (registry.sketches.shown(each.name) for each in (first, other))
        raise ConfigError(f"cannot merge sketches by {' and by '.join(names)}")
    ours, theirs = (
        {**each.sketch.get_params(), "columns": each.reading.n_columns, "ngrams": each.reading.ngrams}
        for each in (first, other)
    )
    differing = [
        f"{name} ({ours[name]!r} and {theirs[name]!r})" for name in ours if ours[name] != theirs[name]
    ]
    if differing:
        raise ConfigError(f"cannot merge sketches that differ in {', '.join(differing)}")
