"""Convert tables and records to corpora: data of pandas, polars and Hugging Face's datasets."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from os import PathLike
from typing import Any

from spectralnlp.errors import InputError
from spectralnlp.runtime.corpus import Corpus, MappedCorpus, as_corpus
from spectralnlp.runtime.tables import TEXT_NAMES


def as_record_corpus(data: Any, convert: Callable[[Mapping[str, Any]], Any]) -> Corpus[Any]:
    """Return data as a corpus of examples; records (mappings from names to values) are converted.

    Args:
        data: examples or records, see `as_corpus`; or a table of records, as a data frame or a mapping from
            names to columns.
        convert: converts a record to an example; a function that can be sent to workers.

    Raises:
        ConfigError: as for `as_corpus`.
        InputError: columns differ in length.
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
    """Return the value of a record's field that may have one of several names.

    Args:
        record: values by field name.
        names: possible names of the field; the first one that the record has is used.

    Raises:
        InputError: the record has no field with any of ``names``.
    """
    for name in names:
        if name in record:
            return record[name]
    there = ", ".join(map(str, record)) or "nothing"
    raise InputError(f"a record without {' or '.join(names)}", hint=f"it has {there}")


def take_text(record: Mapping[str, Any]) -> str:
    """Return the text of a record, which is in its field ``text`` or a similar one (`TEXT_NAMES`).

    Raises:
        InputError: the record has no such field, or it is not a string, such as a missing value.
    """
    text = take_field(record, *TEXT_NAMES)
    if not isinstance(text, str):
        what = f"the text of a record is {type(text).__name__}, not a string"
        raise InputError(what, hint="leave out records without a text")
    return text


def _columns(data: Any) -> dict[str, list[Any]] | None:
    """Return the columns of a mapping or a data frame, by name; None for other data."""
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
