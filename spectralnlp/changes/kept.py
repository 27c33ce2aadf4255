"""Moments and ledger of documents beside a model, which let it change, and how both came about."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, cast, get_type_hints

from annotated_types import Ge

from spectralnlp import registry
from spectralnlp.changes.ledger import Ledger, Salt
from spectralnlp.changes.rare_words import times_or_less
from spectralnlp.display import one_line
from spectralnlp.errors import ConfigError, ModelError, RegistryError, SpectralError
from spectralnlp.estimator import Estimator, State, Unlearning
from spectralnlp.models import moments_folder
from spectralnlp.models.changing import ChangingModel
from spectralnlp.runtime import InMemoryCorpus, Moments
from spectralnlp.storage import (
    StoredValues,
    load_kept_moments,
    load_model,
    model_digest,
    read_kept_header,
    save_kept_moments,
    staged,
)
from spectralnlp.tasks.task import DocumentUnit, Task

_Threshold = Annotated[int, Ge(0)]


@dataclass(frozen=True)
class KeptMoments:
    """The moments of a model and the documents in them.

    Attributes:
        estimator: its registered name.
        settings: its hyper-parameters.
        reading: how data is read, keyword arguments of the task's ``read``.
        unit: what a document is, ``file`` or ``line``.
        moments: of the task; their parameters are settled (head rules, say, that were ``auto``).
        ledger: the documents in them.
        description: what the model card begins with.
        state: where learning can go on from; None where the model is learned again.
        keep_words_above: words that were seen so often or less stand under other names; 0 if none does.

    Examples:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from spectralnlp import HMM, InMemoryCorpus, changes
        >>> first = InMemoryCorpus([["a", "b"], ["b", "a"]])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     changes.train("hmm", HMM(n_states=1), first).save(Path(folder) / "model")
        ...     kept = changes.KeptMoments.load(Path(folder) / "model", "update")
        ...
        >>> kept.estimator, kept.settings["n_states"]
        ('hmm', 1)
    """

    estimator: str
    settings: Mapping[str, Any]
    reading: Mapping[str, Any]
    unit: DocumentUnit
    moments: Moments[Any]
    ledger: Ledger
    description: str = ""
    state: State | None = None
    keep_words_above: int = 0

    __repr__ = one_line

    @property
    def learner(self) -> Estimator[Any]:
        """Make an unfitted estimator with the settings."""
        made: Estimator[Any] = registry.estimators.get(self.estimator)(**self.settings)
        return made

    @property
    def task(self) -> Task:
        """The task of the estimator."""
        return task_of(self.learner)

    def save(self, model: Any, path: str | Path, *, overwrite: bool = False) -> None:
        """Write a model folder with these moments beside the model.

        Args:
            model: what the task made of the moments.
            path: the folder to make.
            overwrite: whether a model that is there may be replaced.

        Raises:
            ConfigError: it cannot be written, or is taken.
        """
        arrays = {f"moments.{name}": each for name, each in self.moments.arrays().items()}
        arrays |= {f"ledger.{name}": each for name, each in self.ledger.arrays().items()}
        if self.state is not None:
            arrays |= {f"state.{name}": each for name, each in self.state.arrays().items()}
        described = {
            "estimator": self.estimator,
            "settings": dict(self.settings),
            "reading": dict(self.reading),
            "documents": {"unit": self.unit, "number": len(self.ledger), "salts": self.ledger.salts},
            "moments": self.moments.parameters(),
            "description": self.description,
            "keep_words_above": self.keep_words_above,
        }
        with staged(path, overwrite=overwrite) as folder:
            model.save(folder)
            save_kept_moments(folder, described, arrays)

    @classmethod
    def load(cls, folder: Path, verb: str) -> KeptMoments:
        """Read the moments beside the model in a folder.

        Args:
            folder: of the model.
            verb: what is to be done with it, for the errors.

        Raises:
            ConfigError: there is nothing, and never was.
            ModelError: it is truncated, changed, or of another model or version.
            RegistryError: the estimator is not installed.
        """
        stored = load_kept_moments(moments_folder(folder), folder)
        if stored is None:
            raise _nothing_kept(folder, verb)
        described, arrays = stored
        estimator = described.take("estimator", str)
        settings = described.take("settings", Mapping[str, Any])
        reading, documents = described.take("reading", Mapping[str, Any]), described.part("documents")
        learner, empty = _empty_moments(estimator, settings, described)
        _check_reading(task_of(learner), reading, described)
        unit = documents.take("unit", DocumentUnit)
        own = arrays.part("moments.")
        moments = _of_parameters(empty, described.part("moments"))
        moments.check_arrays(own)
        moments = moments.restored(own.all())
        ledger = Ledger.from_arrays(
            documents.take("salts", tuple[Salt, ...]),
            arrays.part("ledger."),
            in_order=moments.first_log() is not None,
        )
        state = arrays.part("state.")
        return cls(
            estimator=estimator,
            settings=settings,
            reading=reading,
            unit=unit,
            moments=moments,
            ledger=ledger,
            description=described.take("description", str),
            state=learner.read_state(state) if state.all() else None,
            keep_words_above=described.take("keep_words_above", _Threshold, 0),
        )


def _empty_moments(
    estimator: str, settings: Mapping[str, Any], described: StoredValues
) -> tuple[Estimator[Any], Moments[Any]]:
    """An unfitted estimator with the settings in a file, and its empty moments.

    Raises:
        ModelError: it does not have these settings.
        RegistryError: it is not installed.
    """
    kind: type[Estimator[Any]] = registry.estimators.get(estimator)
    try:
        learner = kind.from_settings({}, settings)
        learner.validate()
        return learner, task_of(learner).init_kept_moments(learner, InMemoryCorpus([]))
    except ConfigError as error:
        raise described.error("settings", f"is refused: {error.what}") from error


def _of_parameters(empty: Moments[Any], parameters: StoredValues) -> Moments[Any]:
    """Empty moments with the parameters in a file.

    Raises:
        ModelError: they cannot be.
    """
    try:
        return empty.with_stored_parameters(parameters)
    except ModelError:
        raise
    except SpectralError as error:
        raise parameters.error("", f"is refused: {error.what}") from error


def _check_reading(task: Task, reading: Mapping[str, Any], described: StoredValues) -> None:
    """Refuse keyword arguments that the task's ``read`` does not have, or of another type."""
    hints = get_type_hints(task.read)
    for name in reading:
        if name not in hints or name in ("inputs", "on_bad", "return"):
            raise described.error(f"reading.{name}", "means nothing to the task")
        described.part("reading").take(name, hints[name])


def kept_of(model: ChangingModel, verb: str) -> KeptMoments:
    """Return what a model was learned from, as it was kept.

    Raises:
        ConfigError: nothing was kept.
        ModelError: what lies beside the model is damaged, or another model lies there now.
    """
    if model.kept is not None:
        kept: KeptMoments = model.kept
        return kept
    if model.folder is None:
        what = f"a model that was trained without `keep_moments` cannot {verb}"
        raise ConfigError(what, hint="train it with `spectralnlp.changes.train`, or load one that was")
    if model_digest(model.folder) != model.digest:
        raise ModelError("changed since the model was loaded", path=model.folder, hint="load it again")
    return KeptMoments.load(model.folder, verb)


def kept_if_any(model: ChangingModel) -> KeptMoments | None:
    """Return what a model was learned from; None if nothing was kept. Errors as of `KeptMoments.load`."""
    if model.kept is None and (
        model.folder is None or read_kept_header(moments_folder(model.folder)) is None
    ):
        return None
    return kept_of(model, "explain")


def task_of(estimator: Estimator[Any]) -> Task:
    """Return the task that an estimator serves."""
    return cast(Task, registry.tasks.get(estimator.task)())


def unlearning_of(estimator: type[Estimator[Any]], moments: Moments[Any]) -> Unlearning:
    """Class of unlearning of these moments: the estimator's, but logs are replayed, and not all subtract."""
    if estimator.unlearning != "exact":
        return estimator.unlearning
    if not moments.can_forget:
        return "merge-only"
    return "exact" if moments.first_log() is None else "replay"


def check_keeps(name: str, estimator: Estimator[Any]) -> None:
    """Refuse an estimator of which nothing can be kept.

    Raises:
        ConfigError: it is one, or another estimator has this name.
    """
    if not isinstance(estimator, registry.estimators.get(name)):
        what = f"{name} is not the name of {type(estimator).__name__}"
        raise ConfigError(what, hint=f"make the estimator by `registry.estimators.get({name!r})`")
    if type(estimator).unlearning == "none":
        what = f"{name} learns from the examples themselves: it cannot keep moments"
        raise ConfigError(what, hint="train it again on all the data")


def about_changes(folder: Path, about: Mapping[str, Any]) -> dict[str, str]:
    """Return, for ``info``, the class of a model and whether moments are kept.

    Args:
        folder: of the model.
        about: the model's, where its estimator's class is named.
    """
    header = read_kept_header(moments_folder(folder))
    if header is None:
        found = estimator_named(about.get("estimator"))
        return {} if found is None else {"incremental update": found.unlearning, "moments": "not kept"}
    described = header.part("metadata")
    documents, size = described.part("documents"), header.part("arrays").take("size", int)
    number, unit = documents.take("number", int), documents.take("unit", DocumentUnit)
    kept = f"{number:,} documents ({unit}s), {size / 1e6:.1f} MB"
    if above := described.take("keep_words_above", _Threshold, 0):
        kept += f", words seen {times_or_less(above)} replaced"
    settings = described.take("settings", Mapping[str, Any])
    name = described.take("estimator", str)
    _, empty = _empty_moments(name, settings, described)
    learner = registry.estimators.get(name)
    return {"incremental update": unlearning_of(learner, empty), "moments": f"kept, of {kept}"}


def _nothing_kept(folder: Path, verb: str) -> ConfigError:
    """Make the error for a model without moments: none were kept, or its estimator keeps none."""
    stored = load_model(folder)
    name = str(stored.metadata.get("about", {}).get("estimator", stored.kind))
    kind = estimator_named(name)
    if kind is None or kind.unlearning == "none":
        what = f"{folder}: a model by {name} keeps nothing, so it cannot {verb}"
        return ConfigError(what, hint="train it again on all the data")
    hint = "train it again with `keep_moments`"
    if "en" in registry.models and folder == Path(registry.models.get("en")):
        hint = "pip install ./grammars/en_moments, in a clone of spectralnlp's repository"
    return ConfigError(f"{folder} keeps no moments, so it cannot {verb}", hint=hint)


def estimator_named(name: object) -> type[Estimator[Any]] | None:
    """Return the registered estimator that models name in their ``about``; None if none has this name."""
    for registered in (*registry.estimators.names(), *registry.featurizers.names()):
        with suppress(RegistryError):
            kind: type[Estimator[Any]] = registry.estimators.get(registered)
            if kind.known_as == name:
                return kind
    return None
