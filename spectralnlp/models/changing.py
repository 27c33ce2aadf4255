"""Base class of models to which data can be added, and from which data can be removed, after training."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar, Self, cast

from spectralnlp import registry
from spectralnlp.errors import RegistryError
from spectralnlp.storage import StorableModel, StoredModel


class ChangingModel(StorableModel):
    """A model that can be updated if its training statistics or examples were kept (``--keep-moments``).

    Attributes:
        folder: the folder from which the model was loaded; None if it was not loaded.
        digest: digest of the loaded model; see `StoredModel`.
        kept: training statistics or examples in memory; None if the model was loaded from a folder, or if
            none were kept in training.
    """

    folder: ClassVar[Path | None] = None
    digest: ClassVar[str] = ""
    kept: ClassVar[Any] = None

    @classmethod
    def from_stored(cls, stored: StoredModel) -> Self:
        """Build a model from a model folder that was read, and set the model's `folder` and `digest`.

        Raises:
            ModelError: the folder lacks something that the model needs. The message names it.
        """
        model = super().from_stored(stored)
        object.__setattr__(model, "folder", Path(stored.path))
        object.__setattr__(model, "digest", stored.digest)
        return model

    @property
    def name(self) -> str:
        """Name under which the model is installed, or the name of its folder.

        A model that was not loaded has the name of its estimator.
        """
        if self.folder is None:
            return super().name
        installed = self.folder.name.replace("_", "-")
        with suppress(RegistryError):  # two packages claim the name
            if installed in registry.models and Path(registry.models.get(installed)) == self.folder:
                return installed
        return self.folder.name

    def __repr__(self) -> str:
        files = [] if self.folder is None else [each for each in self.folder.glob("*") if each.is_file()]
        size = sum(each.stat().st_size for each in files)
        text = f"{size / 1e6:.0f} MB" if size >= 1e6 else f"{size / 1e3:.0f} kB"
        return super().__repr__().replace(">", f", {text}>" if files else ">")

    def as_changeable(self, other: Self) -> Self:
        """Copy this model's folder, digest and kept statistics to a variant of it, and return the variant.

        The variant can then be updated like the model itself.

        Args:
            other: a variant of this model, such as a parser with another tagger; changed in place.
        """
        for name in ("folder", "digest", "kept"):
            object.__setattr__(other, name, getattr(self, name))
        return other

    def with_settings_of(self, original: Self) -> Self:
        """Return this model with those settings of ``original`` that training does not determine.

        An example is the tagger of a parser. The base class has no such settings, and returns the model
        unchanged.

        Args:
            original: the model from which this model was made by an update.
        """
        return self

    def update(
        self,
        X: Any,
        y: Any = None,
        *,
        add_known: bool = False,
        skip_known: bool = False,
        from_scratch: bool = False,
    ) -> Self:
        """Return a new model that has also learned from further examples; this model does not change.

        Args:
            X: the new examples: trees, tagged sentences, texts or symbol sequences.
            y: labels of the texts, or tags of the sentences, in ``X``; None if ``X`` contains them or there
                are none.
            add_known: whether examples from which the model has learned already are counted once more.
            skip_known: whether such examples are left out.
            from_scratch: whether to train from scratch, even if training could continue from this model.

        Raises:
            ConfigError: the model's moments or examples were not kept.
            ModelError: the folder has changed since the model was loaded.
            InputError: there are no examples; or the model has learned from an example already, and neither
                ``add_known`` nor ``skip_known`` is set. The message names the example.
        """
        return cast(
            Self,
            _methods().update(
                self, X, y, add_known=add_known, skip_known=skip_known, from_scratch=from_scratch
            ),
        )

    def forget(self, X: Any, y: Any = None) -> Self:
        """Return a new model that has not learned from the given examples; this model does not change.

        Args:
            X: the examples to forget, in the form that `update` takes; equal to examples that were learned.
            y: labels of texts, or tags of sentences; None if ``X`` contains them or there are none.

        Raises:
            ConfigError: the model's moments or examples were not kept, or the model cannot forget.
            ModelError: the folder has changed since the model was loaded.
            InputError: there are no examples to forget; the model has not learned from an example, which the
                message names; or no examples would be left.
        """
        return cast(Self, _methods().forget(self, X, y))

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
            path: the folder to write.
            compact: whether to store numbers as float16, where the model allows it, which halves the
                size and changes scores slightly.
            overwrite: whether an existing model may be replaced.
            keep_moments: whether to write the kept moments or examples beside the model. They reveal the
                training data.

        Raises:
            ConfigError: the folder cannot be written, or exists and may not be replaced; or
                ``keep_moments`` is set, but neither moments nor examples were kept.
        """
        if keep_moments:
            _methods().save(self, path, overwrite=overwrite)
        else:
            super().save(path, compact=compact, overwrite=overwrite)


def _methods() -> Any:
    return registry.changes.get("models")
