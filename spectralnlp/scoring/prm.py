"""EVALB parameter files, which list the labels to delete and the equivalent labels and words."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from dataclasses import astuple, dataclass, field
from functools import cached_property
from pathlib import Path

from spectralnlp.display import one_line
from spectralnlp.errors import InputError
from spectralnlp.runtime import read_short_text


@dataclass(frozen=True)
class EvalbParameters:
    """Settings of bracket scoring, as in an EVALB parameter file (``.prm``).

    Args:
        name: name of these parameters in the signatures of reports; ignored in comparisons.
        delete_labels: preterminals deleted with their words, and constituents whose
            bracket alone is deleted (``DELETE_LABEL``).
        delete_labels_for_length: preterminals that do not count towards the length of a
            sentence (``DELETE_LABEL_FOR_LENGTH``).
        quote_labels: tags that parsers confuse on the words ``'``, ``"`` and ``/``; if only one of the two
            trees would delete such a word, it is kept in both (``QUOTE_LABEL``).
        eq_labels: pairs of labels that match, in either direction (``EQ_LABEL``).
        eq_words: pairs of words that match, in either direction (``EQ_WORD``).
        labelled: whether labels have to match (``LABELED``).
        cutoff_len: maximum number of tokens of the short sentences, whose scores are also reported separately
            (``CUTOFF_LEN``).

    Examples:
        >>> from spectralnlp.scoring import COLLINS, EvalbParameters
        >>> "TOP" in COLLINS.delete_labels, EvalbParameters(labelled=False).cutoff_len
        (True, 40)
    """

    name: str = field(default="custom", compare=False)
    delete_labels: frozenset[str] = frozenset()
    delete_labels_for_length: frozenset[str] = frozenset()
    quote_labels: frozenset[str] = frozenset()
    eq_labels: frozenset[tuple[str, str]] = frozenset()
    eq_words: frozenset[tuple[str, str]] = frozenset()
    labelled: bool = True
    cutoff_len: int = 40

    __repr__ = one_line

    def same_label(self, a: str, b: str) -> bool:
        """Whether two labels are equal or declared equivalent (not transitively, as in EVALB)."""
        return a == b or (a, b) in self.eq_labels or (b, a) in self.eq_labels

    def same_word(self, a: str, b: str) -> bool:
        """Whether two words are equal or declared equivalent."""
        return a == b or (a, b) in self.eq_words or (b, a) in self.eq_words

    @cached_property
    def delete_brackets(self) -> frozenset[str]:
        """Labels whose brackets are not scored: `delete_labels`, and labels equivalent to one of these.

        Words, in contrast, are left out only if `delete_labels` contains their tag itself.
        """
        deleted = self.delete_labels
        return deleted.union(
            (a for a, b in self.eq_labels if b in deleted), (b for a, b in self.eq_labels if a in deleted)
        )

    @cached_property
    def signature(self) -> str:
        """A string that identifies the settings, such as ``COLLINS``.

        For settings other than those of `COLLINS`, it is their name and a digest.
        """
        if self == COLLINS:
            return COLLINS.name
        settings = [sorted(value) if isinstance(value, frozenset) else value for value in astuple(self)[1:]]
        return f"{self.name}#{hashlib.sha256(repr(settings).encode()).hexdigest()[:8]}"


# The settings of EVALB's ``COLLINS.prm``, which almost all published scores use.
COLLINS = EvalbParameters(
    name="COLLINS",
    delete_labels=frozenset({"TOP", "-NONE-", ",", ":", "``", "''", "."}),
    delete_labels_for_length=frozenset({"-NONE-"}),
    eq_labels=frozenset({("ADVP", "PRT")}),
)

# Number of values of each keyword.
_N_VALUES = {
    "DELETE_LABEL": 1,
    "DELETE_LABEL_FOR_LENGTH": 1,
    "QUOTE_LABEL": 1,
    "EQ_LABEL": 2,
    "EQ_WORD": 2,
    "LABELED": 1,
    "CUTOFF_LEN": 1,
    # These control EVALB's printing and error limit; they are accepted but have no effect here.
    "DEBUG": 1,
    "MAX_ERROR": 1,
}
_NUMERIC = frozenset({"LABELED", "CUTOFF_LEN", "DEBUG", "MAX_ERROR"})


def read_prm(path: str | Path) -> EvalbParameters:
    """Read an EVALB parameter file; as in EVALB, no label is deleted unless the file lists it.

    Raises:
        InputError: the file cannot be read, or a line has an unknown keyword, a wrong number of values, or a
            value that is not a number where one is expected.

    Examples:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from spectralnlp.scoring import read_prm
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = (Path(folder) / "own.prm").write_text("DELETE_LABEL TOP")
        ...     parameters = read_prm(Path(folder) / "own.prm")
        ...
        >>> sorted(parameters.delete_labels)
        ['TOP']
    """
    path = Path(path)
    text = read_short_text(path, "EVALB parameters")

    values_of: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip() and not line.startswith("#"):
            try:
                keyword, values = _read_line(line)
            except ValueError as error:
                raise InputError(str(error), path=path, line=number) from None
            values_of[keyword].append(values)

    return EvalbParameters(
        name=path.stem,
        delete_labels=frozenset(value for (value,) in values_of["DELETE_LABEL"]),
        delete_labels_for_length=frozenset(value for (value,) in values_of["DELETE_LABEL_FOR_LENGTH"]),
        quote_labels=frozenset(value for (value,) in values_of["QUOTE_LABEL"]),
        eq_labels=frozenset((a, b) for a, b in values_of["EQ_LABEL"]),
        eq_words=frozenset((a, b) for a, b in values_of["EQ_WORD"]),
        labelled=_last_number(values_of["LABELED"], default=1) != 0,
        cutoff_len=_last_number(values_of["CUTOFF_LEN"], default=40),
    )


def _read_line(line: str) -> tuple[str, tuple[str, ...]]:
    keyword, *values = line.split()
    if keyword not in _N_VALUES:
        raise ValueError(f"unknown EVALB parameter {keyword!r}")
    if len(values) != _N_VALUES[keyword]:
        raise ValueError(f"{keyword} takes {_N_VALUES[keyword]} value(s), found {len(values)}")
    if keyword in _NUMERIC and not (values[0].isascii() and values[0].isdigit() and len(values[0]) < 10):
        raise ValueError(f"{keyword} takes a whole number, found {values[0]!r}")
    return keyword, tuple(values)


def _last_number(lines: list[tuple[str, ...]], *, default: int) -> int:
    return int(lines[-1][0]) if lines else default
