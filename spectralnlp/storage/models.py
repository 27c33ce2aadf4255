"""The base class of models of every task, which saves and loads model folders."""

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
    """A model that can be saved as a folder and read back from it.

    Subclasses define in `to_stored` and `read_stored` which values and arrays the folder contains. This class
    writes and reads the files, in the same way for all models.

    Attributes:
        task: name of the task that loads the model.
        noun: how messages refer to the model, such as ``a parser``.
        card: the model card, in Markdown.
    """

    task: ClassVar[str]
    noun: ClassVar[str]
    card: str

    @abstractmethod
    def to_stored(self, *, compact: bool = False) -> tuple[dict[str, Any], Mapping[str, Array]]:
        """Return the JSON values for ``model.json``, and the arrays by name.

        Args:
            compact: whether to store numbers as float16, where the model allows it.
        """

    @classmethod
    @abstractmethod
    def read_stored(cls, metadata: StoredValues, arrays: StoredArrays, card: str) -> Self:
        """Build a model from its stored values and arrays.

        Raises:
            ModelError: an array or a JSON value is missing or invalid.
            SpectralError, ValueError: arrays and values are inconsistent.
        """

    def save(self, path: str | Path, *, compact: bool = False, overwrite: bool = False) -> None:
        """Write a model folder; see :func:`spectralnlp.storage.save_model`.

        Args:
            path: the folder to write.
            compact: whether to store numbers as float16, where the model allows it, which halves the
                size and changes scores slightly.
            overwrite: whether an existing model may be replaced.

        Raises:
            ConfigError: the folder cannot be written, or exists and may not be replaced.
        """
        metadata, arrays = self.to_stored(compact=compact)
        save_model(
            path, kind=self.task, metadata=metadata, arrays=arrays, card=self.card, overwrite=overwrite
        )

    @property
    @abstractmethod
    def summary(self) -> str:
        """The size of the model in a few words, for its ``repr``, such as ``3 grammars, 62 labels``."""

    @property
    @abstractmethod
    def info(self) -> Mapping[str, Any]:
        """Properties of the model, by name, as the command ``info`` shows them."""

    @property
    def name(self) -> str:
        """The name of the estimator that trained the model; empty if it is not known."""
        return str(self.info.get("estimator", ""))

    def __repr__(self) -> str:
        return cut_line(f"<{type(self).__name__} {self.name}".rstrip() + f": {self.summary}>")

    def _repr_html_(self) -> str:
        return html_table(self.info.items(), repr(self))

    def __reduce__(self) -> tuple[Any, ...]:
        # For worker processes: only the fields, because caches may be ten times as large.
        return unpacked, (type(self), packed(self))

    @classmethod
    def from_stored(cls, stored: StoredModel) -> Self:
        """Return the model that a folder holds.

        Raises:
            ModelError: the folder lacks something that the model needs, which the message names.
        """
        try:
            return cls.read_stored(stored.values, stored.checked, stored.card)
        except ModelError:
            raise
        except (SpectralError, ValueError) as error:
            what = f"not {cls.noun}: {cut(str(error), 200)}"
            raise ModelError(what, path=stored.path, hint="train it again") from error
