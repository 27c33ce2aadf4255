"""Ledger of a model's training documents, stored as salted hashes that reveal no text.

A hash shows whether a given document is in the model, but does not reveal the document. However, whoever has
the ledger can test guesses, and short lines are easy to guess. The salt prevents only two things: looking up
hashes in precomputed tables, and comparing the ledgers of two models.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray

from spectralnlp.runtime import Array, Batch, Moments, symbol_names
from spectralnlp.storage import Matching, StoredArrays, int_array
from spectralnlp.tasks.task import DocumentUnit
from spectralnlp.text.ngrams import Ngrams
from spectralnlp.trees import Tree

Digests = NDArray[np.uint8]

WIDTH = 16  # bytes of a hash
# A salt: the bytes of a key as hexadecimal digits.
Salt = Annotated[str, Matching(r"([0-9a-f]{2}){1,64}")]
_SUM_WIDTH = 32  # bytes of the hashes that are summed over the examples of a file
_MODULUS = 1 << 8 * _SUM_WIDTH


def new_salt() -> str:
    """Return a new random salt for a model, as hexadecimal digits."""
    return secrets.token_hex(WIDTH)


@dataclass(frozen=True)
class _Run:
    """Hashes of the lines of consecutive examples.

    Attributes:
        digests: the hashes of all lines, concatenated.
        sizes: int64 (n_examples,); number of bytes of hashes of each example.
    """

    digests: bytes
    sizes: NDArray[np.int64]


class DocumentDigests(Moments[Any]):
    """Hashes of the documents of a corpus, in order; each document has one hash for each salt.

    The hash of a line is computed from its words. For a file, each example is hashed together with its index
    in the file; these hashes are summed modulo 2^256, and the sum is hashed (AdHash; Bellare and Micciancio
    1997, "A new paradigm for collision-free hashing: incrementality at reduced cost"). Because sums can be
    merged, several workers may read parts of the same file.

    Args:
        salts: salts as hexadecimal digits.
        unit: unit of documents, ``file`` or ``line``.
    """

    def __init__(self, salts: Sequence[str], unit: DocumentUnit) -> None:
        self.salts = list(salts)
        self.unit: DocumentUnit = unit
        self._lines: dict[tuple[int, int], _Run] = {}
        self._files: dict[int, list[int]] = {}

    def observe(self, batch: Batch[Any]) -> None:
        """Hash a batch of examples; if documents are files, add the hashes to the sum of the batch's file."""
        keys = [bytes.fromhex(salt) for salt in self.salts]
        if self.unit == "line":
            found = [
                b"".join(blake2b(line, key=key, digest_size=WIDTH).digest() for line in lines for key in keys)
                for lines in batch.mapped(_lines)
            ]
            if found:
                sizes = np.array([len(each) for each in found], np.int64)
                self._lines[batch.document_index, batch.start] = _Run(b"".join(found), sizes)
        elif len(batch):
            sums = self._files.setdefault(batch.document_index, [0] * len(keys))
            for row, lines in enumerate(batch.mapped(_lines), batch.start):
                text = b"\n".join([str(row).encode(), *lines])
                for number, key in enumerate(keys):
                    digest = blake2b(text, key=key, digest_size=_SUM_WIDTH).digest()
                    sums[number] = (sums[number] + int.from_bytes(digest, "little")) % _MODULUS

    def digests(self) -> Digests:
        """Return the hashes in the order of the corpus, uint8 (n_documents, n_salts, `WIDTH`)."""
        if self.unit == "line":
            joined = b"".join(self._lines[place].digests for place in sorted(self._lines))
        else:
            joined = b"".join(
                blake2b(total.to_bytes(_SUM_WIDTH, "little"), digest_size=WIDTH).digest()
                for document in sorted(self._files)
                for total in self._files[document]
            )
        return np.frombuffer(joined, np.uint8).reshape(-1, len(self.salts), WIDTH)

    def places(self) -> NDArray[np.int64]:
        """Return the position in the corpus of each document of `digests`, int64 (n_documents, 2).

        The first column is the index of the file, the second the index of the example in the file (0 if
        documents are files).
        """
        if self.unit == "file":
            return np.array([(file, 0) for file in sorted(self._files)], np.int64).reshape(-1, 2)
        examples = self.arrays()["places"]
        n_lines = examples[:, 2] // (WIDTH * len(self.salts))
        return np.repeat(examples[:, :2], n_lines, axis=0)

    def arrays(self) -> dict[str, Array]:
        """Return the hashes as arrays for storage.

        If documents are lines, ``places`` is int64 (n_examples, 3): index of the file, index of the example
        in the file, and number of bytes of the example's hashes; ``lines`` (uint8) has the hashes. If
        documents are files, ``files`` (int64) has their indices, and ``sums`` (uint8) the sums of hashes.
        """
        places = [
            (document, start + row, size)
            for (document, start), run in sorted(self._lines.items())
            for row, size in enumerate(run.sizes.tolist())
        ]
        files = sorted(self._files)
        sums = [total.to_bytes(_SUM_WIDTH, "little") for file in files for total in self._files[file]]
        return {
            "places": np.array(places, np.int64).reshape(-1, 3),
            "lines": self.digests().reshape(-1) if self.unit == "line" else np.empty(0, np.uint8),
            "files": np.array(files, np.int64),
            "sums": np.frombuffer(b"".join(sums), np.uint8),
        }

    def _restore(self, arrays: Mapping[str, Array]) -> None:
        lines, sums = arrays["lines"].tobytes(), arrays["sums"].tobytes()
        start = 0
        for document, row, length in arrays["places"].tolist():
            self._lines[document, row] = _Run(lines[start : start + length], np.array([length]))
            start += length
        each = [int.from_bytes(sums[i : i + _SUM_WIDTH], "little") for i in range(0, len(sums), _SUM_WIDTH)]
        n = len(self.salts)
        for number, document in enumerate(arrays["files"].tolist()):
            self._files[document] = each[n * number : n * (number + 1)]

    def _add(self, other: Self) -> None:
        self._lines |= other._lines
        for document, theirs in other._files.items():
            ours = self._files.get(document, [0] * len(theirs))
            self._files[document] = [(a + b) % _MODULUS for a, b in zip(ours, theirs, strict=True)]


def lines_of(example: Any) -> Iterator[bytes]:
    """Yield the lines of an example as UTF-8 bytes, to be hashed.

    Lines without words are skipped, and a run of blanks becomes a single one. Only ASCII blanks separate
    words, as in word counting, so that documents with different counts have different hashes.

    Args:
        example: a tree, text of several lines, words, words with tags, counted n-grams, a named tuple of
            JSON values, such as a text and its label, or rows of numbers.

    Raises:
        InputError: a word or tag is neither a string nor an integer.
    """
    if isinstance(example, Tree):
        yield _utf8(str(example))
    elif isinstance(example, str):
        for line in _utf8(example).split(b"\n"):
            if words := line.split():
                yield b" ".join(words)
    elif isinstance(example, Ngrams):
        for ngram, count in zip(example.words, example.counts.tolist(), strict=True):
            yield _utf8(f"{' '.join(ngram)}\t{count}")
    elif hasattr(example, "_fields") or _has_rows(example):
        yield _utf8(json.dumps(example, ensure_ascii=False, default=_numbers))
    elif isinstance(example, tuple | list) and len(example) == 2 and isinstance(example[0], tuple | list):
        yield _utf8("\t".join(" ".join(symbol_names(column)) for column in example))
    else:
        yield _utf8(" ".join(symbol_names(example)))


def _lines(example: Any) -> list[bytes]:
    return list(lines_of(example))


def _has_rows(example: Any) -> bool:
    """Return whether the first item of an example is an array or a sparse matrix."""
    first = example[0] if isinstance(example, tuple | list) and example else None
    return hasattr(first, "dtype") and not isinstance(first, np.generic)


def _numbers(row: Any) -> Any:
    """Return the numbers of an array, or of a sparse matrix, as lists."""
    return (row.toarray() if hasattr(row, "toarray") else row).tolist()


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "replace")


@dataclass(frozen=True)
class Ledger:
    """Hashes of the training documents of a model.

    Attributes:
        salts: salts as hexadecimal digits; one for each of the merged models.
        digests: hashes, uint8 (n_documents, `WIDTH`).
        salt: index of the salt of each hash, uint8 (n_documents,).
        in_order: whether the documents are in the order of training examples stored with the model; otherwise
            they are sorted by hash, which reveals nothing about the data.
    """

    salts: tuple[str, ...]
    digests: Digests
    salt: NDArray[np.uint8]
    in_order: bool

    @classmethod
    def of(cls, digests: DocumentDigests, *, in_order: bool) -> Ledger:
        """Return a ledger of the documents of a corpus; a document is stored as its hash with the first salt.

        Args:
            digests: hashes of the documents with all salts of the ledger.
            in_order: see the class.
        """
        found = digests.digests()[:, 0]
        ledger = cls(tuple(digests.salts), found, np.zeros(len(found), np.uint8), in_order)
        return ledger._settled()

    def __len__(self) -> int:
        return len(self.digests)

    def known(self, digests: Digests) -> NDArray[np.bool_]:
        """Return whether documents are in the ledger, bool (n,).

        Args:
            digests: uint8 (n, n_salts, `WIDTH`); hash of each document with each salt of the ledger.
        """
        if not len(self) or not len(digests):
            return np.zeros(len(digests), bool)
        found: NDArray[np.bool_] = np.isin(self._keys(digests), self._stored_keys())
        return np.asarray(found.any(axis=1))

    def joined(self, other: Ledger) -> Ledger:
        """Return a ledger of the documents of this ledger and another, with the salts of both ledgers."""
        salts = tuple(dict.fromkeys(self.salts + other.salts))
        numbers = np.array([salts.index(salt) for salt in other.salts] or [0], np.uint8)
        return replace(
            self,
            salts=salts,
            digests=np.concatenate([self.digests, other.digests]),
            salt=np.concatenate([self.salt, numbers[other.salt]]),
        )._settled()

    def shared(self, other: Ledger) -> int:
        """Return how many documents of another ledger are in this one.

        Documents that were hashed with different salts cannot be compared, and are not counted.
        """
        ours = {(self.salts[s], d.tobytes()) for s, d in zip(self.salt.tolist(), self.digests, strict=True)}
        theirs = zip(other.salt.tolist(), other.digests, strict=True)
        return sum((other.salts[salt], digest.tobytes()) in ours for salt, digest in theirs)

    def without(
        self, digests: Digests, unit: DocumentUnit
    ) -> tuple[Ledger, NDArray[np.bool_], NDArray[np.int64], list[int]]:
        """Return a ledger without some documents.

        If documents are files, all copies of a file are removed; if they are lines, a single equal line is.

        Args:
            digests: uint8 (n, n_salts, `WIDTH`); hashes of the documents to remove, with each salt.
            unit: unit of documents, ``file`` or ``line``.

        Returns:
            The new ledger; bool (n_documents,), whether each document of this ledger is kept; int64 (n,), how
            many documents of this ledger each element of ``digests`` removes; and the indices of elements of
            ``digests`` that are not in this ledger.
        """
        places: dict[bytes, list[int]] = {}
        for place, key in enumerate(self._stored_keys()):
            places.setdefault(key.tobytes(), []).append(place)
        kept, times, unknown = np.ones(len(self), bool), np.zeros(len(digests), np.int64), []
        for number, keys in enumerate(self._keys(digests)):
            found = [left for key in keys if (left := places.get(key.tobytes())) is not None]
            here = [place for left in found for place in left]
            if unit == "file":
                for left in found:
                    left.clear()
            elif here:
                here = [next(left for left in found if left).pop()]
            if not here and (unit == "line" or not found):
                unknown.append(number)
            kept[here], times[number] = False, len(here)
        return replace(self, digests=self.digests[kept], salt=self.salt[kept]), kept, times, unknown

    def arrays(self) -> dict[str, Array]:
        """Return the ledger as arrays for storage, which `from_arrays` reads.

        ``digests``: uint8 (n_documents, `WIDTH`), hashes. ``salt``: uint8 (n_documents,), index of each
        hash's salt.
        """
        return {"digests": self.digests, "salt": self.salt}

    @classmethod
    def from_arrays(cls, salts: Sequence[str], arrays: StoredArrays, *, in_order: bool) -> Ledger:
        """Make a ledger from stored arrays, which the method `arrays` has returned.

        Args:
            salts: salts of the ledger.
            arrays: the stored arrays.
            in_order: see the class.

        Raises:
            ModelError: an array is malformed.
        """
        sized = arrays.part(n_salts=len(salts))
        digests = sized.take("digests", int_array("n_documents", WIDTH, dtype="uint8"))
        salt = sized.take("salt", int_array("n_documents", dtype="uint8", below="n_salts"))
        return cls(tuple(salts), digests, salt, in_order)

    def _settled(self) -> Ledger:
        if self.in_order or not len(self):
            return self
        order = np.lexsort((*self.digests.T[::-1], self.salt))
        return replace(self, digests=self.digests[order], salt=self.salt[order])

    def _keys(self, digests: Digests) -> NDArray[Any]:
        """Return a key for each hash, by which to look up documents in the ledger, bytes (n, n_salts).

        A key consists of the index of a salt, and of the document's hash with this salt.

        Args:
            digests: uint8 (n, n_salts, `WIDTH`); hash of each document with each salt of the ledger.
        """
        numbers = np.broadcast_to(np.arange(len(self.salts), dtype=np.uint8), digests.shape[:2])
        return _as_keys(np.concatenate([numbers[..., None], digests], axis=2))

    def _stored_keys(self) -> NDArray[Any]:
        return _as_keys(np.concatenate([self.salt[:, None], self.digests], axis=1))


def _as_keys(rows: NDArray[np.uint8]) -> NDArray[Any]:
    """Convert each row of bytes to a single value, so that rows can be compared and looked up."""
    contiguous = np.ascontiguousarray(rows)
    return contiguous.view(np.dtype((np.void, rows.shape[-1])))[..., 0]
