"""Kept moments: training statistics and a ledger of documents, stored with a model for later updates."""

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
from spectralnlp.estimator import Estimator, Resumable, State, Unlearning
from spectralnlp.models import folder_of, moments_folder
from spectralnlp.runtime import Corpus, InMemoryCorpus, Moments, accumulate
from spectralnlp.storage import (
    StoredValues,
    load_kept_moments,
    load_model,
    read_kept_header,
    save_kept_moments,
    staged,
)
from spectralnlp.tasks.task import DocumentUnit, Task

_Threshold = Annotated[int, Ge(0)]


@dataclass(frozen=True)
class KeptMoments:
    """The moments (training statistics) of a model, and a ledger of the documents that they come from.

    Attributes:
        estimator: registered name of the estimator.
        settings: hyper-parameters of the estimator.
        reading: keyword arguments of the task's method ``read`` with which the training data were read.
        unit: unit of documents, ``file`` or ``line``.
        moments: the training statistics; where a setting is ``auto``, they record the value that was chosen.
        ledger: ledger of the documents.
        description: beginning of the model card.
        state: state from which learning can continue; None if the model is always learned from scratch.
        keep_words_above: words with this count or less were replaced by pseudo-words; 0 if none were.

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
        """A new, unfitted estimator with the settings of the model."""
        made: Estimator[Any] = registry.estimators.get(self.estimator)(**self.settings)
        return made

    @property
    def task(self) -> Task:
        """The task, such as parsing, whose models the estimator trains."""
        return task_of(self.learner)

    def save(self, model: Any, path: str | Path, *, overwrite: bool = False) -> None:
        """Write a model folder, with these moments (training statistics) in separate files.

        Args:
            model: the model that was solved from the moments.
            path: the folder to create.
            overwrite: whether an existing model may be replaced.

        Raises:
            ConfigError: the folder cannot be written, or exists.
        """
        arrays = {f"moments.{name}": each for name, each in self.moments.arrays().items()}
        arrays |= {f"ledger.{name}": each for name, each in self.ledger.arrays().items()}
        if self.state is not None:
            arrays |= {f"state.{name}": each for name, each in self.state.arrays().items()}
        metadata = {
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
            save_kept_moments(folder, metadata, arrays)

    @classmethod
    def load(cls, folder: Path, verb: str) -> KeptMoments:
        """Read the moments (training statistics) that are stored with the model in a folder.

        Args:
            folder: folder of the model.
            verb: the intended operation, for error messages.

        Raises:
            ConfigError: no moments were kept.
            ModelError: the moments are truncated, changed, or belong to another model or version.
            RegistryError: the estimator is not installed.
        """
        stored = load_kept_moments(moments_folder(folder), folder)
        if stored is None:
            raise _nothing_kept(folder, verb)
        metadata, arrays = stored
        estimator = metadata.take("estimator", str)
        settings = metadata.take("settings", Mapping[str, Any])
        reading, documents = metadata.take("reading", Mapping[str, Any]), metadata.part("documents")
        learner, empty = _empty_moments(estimator, settings, metadata)
        _check_reading(task_of(learner), reading, metadata)
        unit = documents.take("unit", DocumentUnit)
        stored_part = arrays.part("moments.")
        moments = _of_parameters(empty, metadata.part("moments"))
        moments.check_arrays(stored_part)
        moments = moments.restored(stored_part.all())
        ledger = Ledger.from_arrays(
            documents.take("salts", tuple[Salt, ...]),
            arrays.part("ledger."),
            in_order=moments.first_replay_log() is not None,
        )
        state = arrays.part("state.")
        return cls(
            estimator=estimator,
            settings=settings,
            reading=reading,
            unit=unit,
            moments=moments,
            ledger=ledger,
            description=metadata.take("description", str),
            state=learner.read_state(state) if isinstance(learner, Resumable) and state.all() else None,
            keep_words_above=metadata.take("keep_words_above", _Threshold, 0),
        )


def _empty_moments(
    estimator: str, settings: Mapping[str, Any], metadata: StoredValues
) -> tuple[Estimator[Any], Moments[Any]]:
    """Return an unfitted estimator with stored settings, and empty moments for it.

    Args:
        estimator: registered name of the estimator.
        settings: hyper-parameters of the estimator.
        metadata: stored metadata, from which the settings were read; its file is named in error messages.

    Raises:
        ModelError: the settings are invalid.
        RegistryError: the estimator is not installed.
    """
    kind: type[Estimator[Any]] = registry.estimators.get(estimator)
    try:
        learner = kind.from_settings({}, settings)
        learner.validate()
        return learner, task_of(learner).init_kept_moments(learner, InMemoryCorpus([]))
    except ConfigError as error:
        raise metadata.error("settings", f"is refused: {error.what}") from error


def _of_parameters(empty: Moments[Any], parameters: StoredValues) -> Moments[Any]:
    """Return empty moments made with stored arguments of the constructor.

    Args:
        empty: empty moments of the same class.
        parameters: the stored arguments by name.

    Raises:
        ModelError: the arguments are invalid.
    """
    try:
        return empty.with_stored_parameters(parameters)
    except ModelError:
        raise
    except SpectralError as error:
        raise parameters.error("", f"is refused: {error.what}") from error


def _check_reading(task: Task, reading: Mapping[str, Any], metadata: StoredValues) -> None:
    """Raise ModelError if a stored argument of the task's ``read`` is unknown or has the wrong type."""
    hints = get_type_hints(task.read)
    for name in reading:
        if name not in hints or name in ("inputs", "on_bad", "return"):
            raise metadata.error(f"reading.{name}", "means nothing to the task")
        metadata.part("reading").take(name, hints[name])


def task_of(estimator: Estimator[Any]) -> Task:
    """Return the task, such as parsing, whose models an estimator trains."""
    return cast(Task, registry.tasks.get(estimator.task)())


def unlearning_of(estimator: type[Estimator[Any]], moments: Moments[Any]) -> Unlearning:
    """Return how documents can be added to a model and removed from it, given its kept moments.

    The result is the attribute ``unlearning`` of the estimator, with one exception: ``exact`` becomes
    ``merge-only`` if the moments cannot subtract documents, and ``replay`` if they store the examples.
    """
    if estimator.unlearning != "exact":
        return estimator.unlearning
    if not moments.can_forget:
        return "merge-only"
    return "exact" if moments.first_replay_log() is None else "replay"


def check_keeps(name: str, estimator: Estimator[Any]) -> None:
    """Check that moments (training statistics) of an estimator can be stored beside a model.

    Raises:
        ConfigError: the estimator has no moments to keep, or ``name`` belongs to another estimator.
    """
    shown = registry.estimators.shown(name)
    if not isinstance(estimator, registry.estimators.get(name)):
        what = f"{shown} is not the name of {type(estimator).__name__}"
        raise ConfigError(what, hint=f"make the estimator by `registry.estimators.get({name!r})`")
    if type(estimator).unlearning == "none":
        what = f"{shown} learns from the examples themselves: it cannot keep moments"
        raise ConfigError(what, hint="train it again on all the data")


def about_changes(folder: Path, about: Mapping[str, Any]) -> dict[str, str]:
    """Return what ``spectralnlp info`` shows on a model's updates: which are possible, which data were kept.

    Args:
        folder: folder of the model.
        about: the model's metadata ``about``, which names the estimator.
    """
    header = read_kept_header(moments_folder(folder))
    if header is None:
        found = estimator_named(about.get("estimator"))
        return {} if found is None else {"incremental update": found.unlearning, "moments": "not kept"}
    metadata = header.part("metadata")
    documents, size = metadata.part("documents"), header.part("arrays").take("size", int)
    number, unit = documents.take("number", int), documents.take("unit", DocumentUnit)
    kept = f"{number:,} documents ({unit}s), {size / 1e6:.1f} MB"
    if above := metadata.take("keep_words_above", _Threshold, 0):
        kept += f", words seen {times_or_less(above)} replaced"
    settings = metadata.take("settings", Mapping[str, Any])
    name = metadata.take("estimator", str)
    _, empty = _empty_moments(name, settings, metadata)
    learner = registry.estimators.get(name)
    return {"incremental update": unlearning_of(learner, empty), "moments": f"kept, of {kept}"}


def _nothing_kept(folder: Path, verb: str) -> ConfigError:
    """Return the error for changing a model whose training statistics (moments) were not kept."""
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
    """Return the registered estimator class with a display name, or None if there is none.

    Args:
        name: display name, from the key ``estimator`` of a model's metadata.
    """
    for registered in (*registry.estimators.names(), *registry.featurizers.names()):
        with suppress(RegistryError):
            kind: type[Estimator[Any]] = registry.estimators.get(registered)
            if kind.display_name == name:
                return kind
    return None


def moments_of(estimator: Estimator[Any], corpus: Corpus[Any]) -> Moments[Any]:
    """Compute the moments (training statistics) of a treebank, for `adapt` if the model has not kept them.

    Args:
        estimator: an unfitted estimator.
        corpus: trees of the treebank.

    Raises:
        ConfigError: moments of this estimator cannot be kept.

    Examples:
        >>> import spectralnlp
        >>> from spectralnlp import PCFG, changes
        >>> trees = spectralnlp.read_treebank("corpora/treebank/dev.mrg")
        >>> changes.moments_of(PCFG(), trees).can_forget
        True
    """
    task = task_of(estimator)
    examples = task.examples(estimator, corpus)
    moments = accumulate(task.init_kept_moments(estimator, examples), examples)
    moments.renumber()
    return moments


def estimator_of(model: str, settings: Mapping[str, str] | None = None) -> Estimator[Any]:
    """Return an unfitted estimator with the settings that a model was trained with.

    Args:
        model: folder of a model, or name of an installed one.
        settings: settings to change; maps names to values as text.

    Raises:
        ConfigError: the model's metadata do not name its estimator and settings, the estimator is not
            installed, or there is no such setting.

    Examples:
        >>> from spectralnlp import changes
        >>> changes.estimator_of("en").task
        'parsing'
    """
    about = load_model(folder_of(model)).values.about()
    kind, values = estimator_named(about.get("estimator")), about.get("parameters")
    if kind is not None and isinstance(values, Mapping):
        known = {key: each for key, each in values.items() if key in kind().get_params()}
        return kind.from_settings(settings or {}, known)
    what = "the model does not say by which estimator and settings it was trained"
    raise ConfigError(what, hint="train a model, and adapt that")
