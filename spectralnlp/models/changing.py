"""Base class of models to which data can be added, and from which data can be removed, after training."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self, cast

from spectralnlp import registry
from spectralnlp.errors import ConfigError, RegistryError
from spectralnlp.storage import StorableModel


class SavedModel(Protocol):
    """Where a model was loaded from and what was kept in training, by which the model can be changed."""

    @property
    def model(self) -> Any:
        """The model as it was loaded or trained."""

    @property
    def folder(self) -> Path | None:
        """The folder from which the model was loaded; None if it was trained in this process."""

    def kept(self, verb: str) -> Any:
        """Return the training statistics or examples that were kept, from memory or from the folder.

        Args:
            verb: the intended operation, such as ``be updated``, for error messages.

        Raises:
            ConfigError: nothing was kept.
            ModelError: what was kept is damaged, or the folder has another model now.
        """

    def kept_if_any(self) -> Any:
        """Return what `kept` returns; None if nothing was kept."""

    def update(self, model: Any, X: Any, y: Any, **options: Any) -> Any:
        """Return a model that has also learned from further examples; see `ChangingModel.update`."""

    def forget(self, model: Any, X: Any, y: Any) -> Any:
        """Return a model that has not learned from some examples; see `ChangingModel.forget`."""

    def save(self, model: Any, path: str | Path, *, overwrite: bool) -> None:
        """Write a model folder with what was kept; see `ChangingModel.save`."""


@dataclass(frozen=True, eq=False, repr=False)
class ChangingModel(StorableModel):
    """A model that can be updated if its training statistics or examples were kept (``--keep-moments``).

    Attributes:
        saved: the folder that the model was loaded from, and what was kept in training; None if the model was
            neither loaded nor trained with kept statistics. Not saved, compared or sent to other processes.
            A copy with other fields than `settings` changed is another model, to which it does not apply.
        settings: names of the fields that training does not determine, such as the tagger of a parser.
    """

    saved: SavedModel | None = field(default=None, compare=False, kw_only=True)
    settings: ClassVar[tuple[str, ...]] = ()

    @property
    def _own_saved(self) -> SavedModel | None:
        """``saved``, if it applies to this model."""
        if self.saved is None:
            return None
        learned = (each.name for each in fields(self) if each.name not in {"saved", *self.settings})
        same = all(getattr(self, name) is getattr(self.saved.model, name) for name in learned)
        return self.saved if same else None

    def _saved(self, verb: str) -> SavedModel:
        if (saved := self._own_saved) is None:
            what = f"a model that was trained without `keep_moments`, or altered since, cannot {verb}"
            raise ConfigError(what, hint="train it with `spectralnlp.changes.train`, or load one that was")
        return saved

    def kept(self, verb: str) -> Any:
        """Return the training statistics or examples that were kept; see `SavedModel.kept`."""
        return self._saved(verb).kept(verb)

    def kept_if_any(self) -> Any:
        """Return the training statistics or examples that were kept; None if none were kept.

        Raises:
            ModelError: what was kept is damaged, or the folder has another model now.
        """
        return None if (saved := self._own_saved) is None else saved.kept_if_any()

    @property
    def folder(self) -> Path | None:
        """The folder from which the model was loaded; None if it was not loaded."""
        return None if (saved := self._own_saved) is None else saved.folder

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

    def __reduce__(self) -> tuple[Any, ...]:
        return super().__reduce__() if self.saved is None else replace(self, saved=None).__reduce__()

    def with_settings_of(self, original: Self) -> Self:
        """Return this model with the `settings` of ``original``, from which it was made by an update."""
        return replace(self, **{name: getattr(original, name) for name in self.settings})

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
        saved, options = self._saved("be updated"), {"add_known": add_known, "skip_known": skip_known}
        return cast(Self, saved.update(self, X, y, **options, from_scratch=from_scratch))

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
        return cast(Self, self._saved("forget").forget(self, X, y))

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
            self._saved("be kept with its moments").save(self, path, overwrite=overwrite)
        else:
            super().save(path, compact=compact, overwrite=overwrite)
