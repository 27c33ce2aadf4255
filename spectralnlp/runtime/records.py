"""Tables and records as corpora: what pandas, polars and Hugging Face's datasets hold."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from os import PathLike
from typing import Any

from spectralnlp.errors import InputError
from spectralnlp.runtime.corpus import Corpus, MappedCorpus, as_corpus


def as_record_corpus(data: Any, convert: Callable[[Mapping[str, Any]], Any]) -> Corpus[Any]:
    """Make a corpus of examples, some of which may be records: mappings of names to values.

    Args:
        data: as of `as_corpus`; or columns by name, as a mapping or a data frame, whose rows are records.
        convert: makes an example of a record; a function that workers can be sent.

    Raises:
        ConfigError: as of `as_corpus`.
        InputError: columns of different length.
    """
    if isinstance(data, Corpus | str | bytes | PathLike):
        return as_corpus(data)
    columns = _columns(data)
    if columns is not None:
        data = _rows(columns)
    if isinstance(data, Collection) and not isinstance(next(iter(data), None), Mapping):
        return as_corpus(data)
    return MappedCorpus(as_corpus(data), partial(_example, convert))


def take_field(record: Mapping[str, Any], *names: str) -> Any:
    """Return the value of the first of some names that a record has.

    Raises:
        InputError: it has none of them.
    """
    for name in names:
        if name in record:
            return record[name]
    there = ", ".join(map(str, record)) or "nothing"
    raise InputError(f"a record without {' or '.join(names)}", hint=f"it has {there}")


def _columns(data: Any) -> dict[str, list[Any]] | None:
    """Columns of a mapping or of a data frame, by name; None for anything else."""
    names = list(data) if isinstance(data, Mapping) else getattr(data, "columns", None)
    if names is None or not hasattr(data, "__getitem__"):
        return None
    return {str(name): list(data[name]) for name in names}


def _rows(columns: Mapping[str, list[Any]]) -> list[dict[str, Any]]:
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        raise InputError(f"columns of different length: {lengths}")
    rows: Iterator[tuple[Any, ...]] = zip(*columns.values(), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows]


def _example(convert: Callable[[Mapping[str, Any]], Any], example: Any) -> Any:
    return convert(example) if isinstance(example, Mapping) else example
