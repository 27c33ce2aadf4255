"""One way to save a model and to load it, for models of every task."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Self

from spectralnlp.display import cut as cut_line
from spectralnlp.display import html_table
from spectralnlp.errors import ModelError, SpectralError
from spectralnlp.storage.arrays import Array, StoredArrays
from spectralnlp.storage.folders import StoredModel, save_model
from spectralnlp.storage.pickling import packed, unpacked
from spectralnlp.storage.values import StoredValues, cut


class StorableModel(ABC):
    """A model that writes itself as a folder and is read back from one.

    A subclass says in `to_stored` and `read_stored` what the folder holds; files, their order and their
    errors are the same for all.

    Attributes:
        task: name of the task that loads the model.
        noun: the model in a message, ``a parser``.
        card: the model card, Markdown.
    """

    task: ClassVar[str]
    noun: ClassVar[str]
    card: str

    @abstractmethod
    def to_stored(self, *, compact: bool = False) -> tuple[dict[str, Any], Mapping[str, Array]]:
        """The JSON values of ``model.json``, and the arrays by name.

        Args:
            compact: numbers in half precision, where the model can bear it.
        """

    @classmethod
    @abstractmethod
    def read_stored(cls, metadata: StoredValues, arrays: StoredArrays, card: str) -> Self:
        """The model that gave these.

        Raises:
            ModelError: an array or a JSON value is missing or not as it must be.
            SpectralError, ValueError: they do not fit together.
        """

    def save(self, path: str | Path, *, compact: bool = False, overwrite: bool = False) -> None:
        """Write a model folder; see :func:`spectralnlp.storage.save_model`.

        Args:
            path: the folder to make.
            compact: numbers in half precision, where the model can bear it: half the size, two digits.
            overwrite: whether a model that is there may be replaced.

        Raises:
            ConfigError: the place cannot be written, or is taken.
        """
        metadata, arrays = self.to_stored(compact=compact)
        save_model(
            path, kind=self.task, metadata=metadata, arrays=arrays, card=self.card, overwrite=overwrite
        )

    @property
    @abstractmethod
    def summary(self) -> str:
        """How large the model is, in a few words for its ``repr``: ``3 grammars, 62 labels``."""

    @property
    @abstractmethod
    def info(self) -> Mapping[str, Any]:
        """Properties of the model, by name."""

    @property
    def name(self) -> str:
        """What the model is called: its folder, or what it was trained by; empty where neither is known."""
        return str(self.info.get("estimator", ""))

    def __repr__(self) -> str:
        return cut_line(f"<{type(self).__name__} {self.name}".rstrip() + f": {self.summary}>")

    def _repr_html_(self) -> str:
        return html_table(self.info.items(), repr(self))

    def __reduce__(self) -> tuple[Any, ...]:
        # For worker processes: the fields, without what can be made again, which may be ten times as large.
        return unpacked, (type(self), packed(self))

    @classmethod
    def from_stored(cls, stored: StoredModel) -> Self:
        """The model in a folder.

        Raises:
            ModelError: the folder does not hold what the model needs; says what.
        """
        try:
            return cls.read_stored(stored.values, stored.checked, stored.card)
        except ModelError:
            raise
        except (SpectralError, ValueError) as error:
            what = f"not {cls.noun}: {cut(str(error), 200)}"
            raise ModelError(what, path=stored.path, hint="train it again") from error
