"""Models that learn further and forget, where what they were learned from was kept beside them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar, Self, cast

from spectralnlp import registry
from spectralnlp.storage import StorableModel, StoredModel


class ChangingModel(StorableModel):
    """A model that can be changed if its moments or its examples were kept (``train --keep-moments``).

    Attributes:
        folder: where the model was read; None for a model that was not.
        digest: of the model that was read there; see `StoredModel`.
        kept: what the model was learned from; None for a model that was read, or trained without it.
    """

    folder: ClassVar[Path | None] = None
    digest: ClassVar[str] = ""
    kept: ClassVar[Any] = None

    @classmethod
    def from_stored(cls, stored: StoredModel) -> Self:
        """The model in a folder; errors as of `StorableModel.from_stored`."""
        model = super().from_stored(stored)
        object.__setattr__(model, "folder", Path(stored.path))
        object.__setattr__(model, "digest", stored.digest)
        return model

    @property
    def name(self) -> str:
        """What the model is called: its folder, or what it was trained by."""
        return super().name if self.folder is None else self.folder.name

    def __repr__(self) -> str:
        files = [] if self.folder is None else [each for each in self.folder.glob("*") if each.is_file()]
        size = f", {sum(each.stat().st_size for each in files) / 1e6:.0f} MB" if files else ""
        return super().__repr__().replace(">", f"{size}>")

    def as_changeable(self, other: Self) -> Self:
        """Return another form of this model, which can be changed as this one can."""
        for name in ("folder", "digest", "kept"):
            object.__setattr__(other, name, getattr(self, name))
        return other

    def taken_over_by(self, changed: Self) -> Self:
        """Return a changed model with what this one has beside what was learned; by default, nothing.

        Args:
            changed: by `update` or `forget`.
        """
        return changed

    def update(
        self, X: Any, y: Any = None, *, again: bool = False, skip_known: bool = False, whole: bool = False
    ) -> Self:
        """Return the model that has learned from further examples, too; this one stays as it is.

        Args:
            X: examples: trees, tagged sentences, texts, symbols; or texts or sentences whose labels or tags
                are ``y``.
            y: labels of texts, tags of sentences; None where X holds them, or there are none.
            again: add examples that are in the model once more.
            skip_known: leave them out.
            whole: learn all again, where learning could go on from what was learned before.

        Raises:
            ConfigError: nothing was kept of what the model was learned from.
            InputError: an example is in the model already, which is named; or there are none.
        """
        return cast(Self, _verbs().update(self, X, y, again=again, skip_known=skip_known, whole=whole))

    def forget(self, X: Any, y: Any = None) -> Self:
        """Return the model that never saw some examples; this one stays as it is.

        Args:
            X: as of `update`; they must be as they were learned from.
            y: as of `update`.

        Raises:
            ConfigError: nothing was kept of what the model was learned from, or the model can only grow.
            InputError: an example was never there, which is named; or nothing would be left.
        """
        return cast(Self, _verbs().forget(self, X, y))

    def save(
        self,
        path: str | Path,
        *,
        compact: bool = False,
        overwrite: bool = False,
        keep_moments: bool = False,
    ) -> None:
        """Write a model folder; see :func:`spectralnlp.storage.save_model`.

        Args:
            path: the folder to make.
            compact: numbers in half precision, where the model can bear it: half the size, two digits.
            overwrite: whether a model that is there may be replaced.
            keep_moments: whether what the model was learned from is written beside it, as it was kept; it
                reveals the data.

        Raises:
            ConfigError: the place cannot be written, or is taken; or nothing was kept.
        """
        if keep_moments:
            _verbs().save(self, path, overwrite=overwrite)
        else:
            super().save(path, compact=compact, overwrite=overwrite)


def _verbs() -> Any:
    return registry.changes.get("models")
