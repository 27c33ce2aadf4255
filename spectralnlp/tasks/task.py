"""Base class of tasks, which define how models of one kind are trained, evaluated, compared and loaded."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol, TypeAlias

from spectralnlp import __version__
from spectralnlp.display import Report
from spectralnlp.errors import ConfigError
from spectralnlp.estimator import Estimator, Resumable, State
from spectralnlp.progress import timed_passes
from spectralnlp.runtime import Corpus, Inputs, Moments, OnBad, as_record_corpus
from spectralnlp.storage import StoredModel
from spectralnlp.tasks.samples import sample_text

ProgressCallback = Callable[[str], None]
DocumentUnit: TypeAlias = Literal["file", "line"]

# Settings that are paths; models contain what they use from them.
_PATHS = frozenset(["annotations", "eigenwords", "featurizer", "silver", "unlabelled", "vectors"])


class Comparison(Protocol):
    """Protocol of the significance tests that `Task.compare` returns; ``str()`` gives a readable summary."""

    def to_flat_dict(self) -> Mapping[str, float | int | str]:
        """Return the figures of the significance test by name."""


class FolderChanges(Protocol):
    """Protocol of objects that update and merge saved models whose folders contain their training statistics.

    The models of the plugin ``spectralnlp_sketch`` are saved in this way. All other models have their
    statistics in separate files, and are updated by the same code for every task. Each method reads model
    folders, writes the changed model to the folder ``output``, and calls ``report`` with a line about the
    result. If the change is impossible, it raises a ConfigError and writes nothing.
    """

    def update(self, folder: Path, inputs: Sequence[str], output: Path, report: ProgressCallback) -> None:
        """Add the data of files ``inputs`` to the model in ``folder``; write the result to ``output``."""

    def forget(self, folder: Path, inputs: Sequence[str], output: Path, report: ProgressCallback) -> None:
        """Remove the data of files ``inputs`` from a model; write the changed model to ``output``."""

    def merge(self, folders: Sequence[Path], output: Path, report: ProgressCallback) -> None:
        """Merge models that were trained on different data, and write the result to ``output``."""


def silent(line: str) -> None:
    """Ignore a line of progress; the default progress callback."""


class Task(ABC):
    """Base class of tasks: a kind of model and its operations, registered in ``spectralnlp.tasks``.

    A task whose models come from fitted estimators implements `read`, `wrap`, `training_counts` and `load`,
    and inherits `train` and `solve`. Its models are dataclasses with the fields ``about`` and ``card``.

    A task may add keyword arguments to `read`, `read_gold` and `evaluate`. The command line passes on the
    options that the user gave, and reports an error for an option that the task does not take.

    Class attributes:
        name: name of the task, under which it is registered and which is stored in its models.
        documents: units of data that can be removed from a trained model, ``file`` or ``line``. If there are
            two, users choose one when they train; the first is the default.
        training_data: template of a phrase about the training data, with names of `training_counts` in
            braces, such as ``{training trees:,} trees``.
        default_card: first lines of a model card, in Markdown, for models without a description.

    Examples:
        >>> from spectralnlp import registry
        >>> task = registry.tasks.get("sequences")()
        >>> next(iter(task.read("corpora/text/tokenized.txt")))[:3]
        ['The', 'keeper', 'climbs']
    """

    name: ClassVar[str]
    documents: ClassVar[tuple[DocumentUnit, ...]] = ("file",)
    training_data: ClassVar[str] = "data of its own"
    default_card: ClassVar[str] = "# A model"

    @abstractmethod
    def read(self, inputs: Inputs, *, reader: str = "auto", on_bad: OnBad | None = None) -> Corpus[Any]:
        """Read training data for estimators of the task.

        Args:
            inputs: files, folders or globs.
            reader: name of a reader; ``auto`` to recognise the format.
            on_bad: called with the error of each invalid example, which is skipped; None to raise it.

        Subclasses may take further arguments. Tasks on plain text take ``text_column``: the name of a table's
        column, or its number (from 1) in tab-separated lines. Tasks on treebanks take ``encoding``: the
        encoding of the files, or None for the default of the treebank format.
        """

    def resolve_reader(self, inputs: Inputs, reader: str) -> str:
        """Return the name of the reader that `read` uses for some inputs.

        The name is stored in models, so that later data can be read in the same way. This base class returns
        ``reader`` unchanged. A subclass may replace ``auto`` by the reader for the format of the inputs.

        Args:
            inputs: files, folders or globs.
            reader: name of a reader, or ``auto``.
        """
        return reader

    def read_gold(self, inputs: Inputs, *, reader: str = "auto", on_bad: OnBad | None = None) -> Corpus[Any]:
        """Read evaluation data for models of the task; by default the same as `read`."""
        return self.read(inputs, reader=reader, on_bad=on_bad)

    def in_memory(self, data: Any) -> Corpus[Any]:
        """Make a corpus of examples in memory: a list or other collection, an iterator, or a corpus.

        Args:
            data: the examples, or another object that contains them. If the task has
                `from_record`, examples may be records (mappings of names to values), and a data frame or
                columns by name give one record per row.

        Raises:
            ConfigError: the data is a path or a text, or not iterable.
            InputError: a record lacks a value; the message has its number.
        """
        return as_record_corpus(data, self.as_example)

    def as_example(self, given: Any) -> Any:
        """Return what is given in memory as an example: a record is converted; estimators check the rest."""
        return self.from_record(given) if isinstance(given, Mapping) else given

    def from_record(self, record: Mapping[str, Any]) -> Any:
        """Make an example from a record.

        Args:
            record: values by name, such as ``text`` and ``label``.

        Raises:
            ConfigError: the task does not take records.
            InputError: a value is missing.
        """
        raise ConfigError(f"a mapping is no example for {self.name}")

    def train(
        self,
        estimator: Estimator[Any],
        corpus: Corpus[Any],
        *,
        report: ProgressCallback = silent,
        description: str = "",
    ) -> Any:
        """Fit an estimator and return the model, which has ``save``, ``info`` and ``task``.

        Args:
            estimator: an estimator of this task.
            corpus: training data, as `read` returns it.
            report: called with a line for each pass and its time, and for each remark.
            description: Markdown for the model card.
        """
        for line in corpus.remarks(training=True):
            report(line)
        examples = self.examples(estimator, corpus)
        with timed_passes(report):
            fitted = estimator.fit(examples)
        return self.to_model(fitted, report=report, description=description)

    def to_model(self, fitted: Any, *, report: ProgressCallback = silent, description: str = "") -> Any:
        """Convert a fitted estimator to a model, with metadata (``about``) and a model card (``card``).

        Args:
            fitted: the estimator.
            report: called with a line for each remark of the estimator.
            description: Markdown for the model card.
        """
        for line in fitted.remarks():
            report(line)
        model, counts = self.wrap(fitted), self.training_counts(fitted)
        about = {
            "estimator": fitted.display_name,
            "parameters": self.shown_parameters(fitted),
            **counts,
            "spectralnlp": __version__,
        }
        card = _model_card(about, self.training_data.format_map(about), description, self.default_card)
        return replace(model, about=about, card=card)

    def wrap(self, fitted: Any) -> Any:
        """Convert a fitted estimator to a model, without the metadata that `to_model` adds.

        Raises:
            ConfigError: models of this task do not come from fitted estimators.
        """
        raise ConfigError(f"models for {self.name} are not trained from estimators")

    def training_counts(self, fitted: Any) -> dict[str, Any]:
        """Return figures that describe the training data, by name, such as ``training trees``."""
        return {}

    def shown_parameters(self, fitted: Any) -> dict[str, Any]:
        """Return the hyper-parameters as the model card shows them: paths are reduced to their last part."""
        parameters = {name: as_stored(value) for name, value in fitted.get_params().items()}
        for name in _PATHS & parameters.keys():
            parameters[name] = _without_folders(parameters[name])
        return parameters

    def examples(self, estimator: Estimator[Any], corpus: Corpus[Any]) -> Corpus[Any]:
        """Convert a corpus that `read` returned to the examples that an estimator is fitted to.

        This base class returns the corpus unchanged.
        """
        return corpus

    def words_in(self, example: Any) -> Sequence[str]:
        """Return the words of an example, so that rare words can be counted and replaced.

        Raises:
            ConfigError: examples of this task have no words that can be replaced.
        """
        raise ConfigError(f"rare words cannot be renamed for {self.name}", hint="leave out keep_words_above")

    def with_words(self, example: Any, words: Sequence[str]) -> Any:
        """Return a copy of an example with new words, one for each old word.

        Raises:
            ConfigError: examples of this task have no words that can be replaced.
        """
        return self.words_in(example)

    def init_kept_moments(self, estimator: Estimator[Any], corpus: Corpus[Any]) -> Moments[Any]:
        """Return empty moments (training statistics) for a model that can be updated later.

        The caller adds the training data to these moments, and passes them to `solve`.

        Args:
            estimator: an estimator of this task, which defines the moments.
            corpus: examples, as `examples` returns them; settings of the moments may depend on the first
                ones.

        Raises:
            ConfigError: the estimator has no moments: it needs the examples themselves.
        """
        return estimator.init_kept_moments(corpus)

    def remarks_on_gold(self, model: Any, corpus: Corpus[Any]) -> list[str]:
        """Return warnings about gold data that does not suit a model, such as data in another language."""
        return []

    def remarks_on_more(self, moments: Any, more: Any) -> list[str]:
        """Return warnings about data that is added to the kept training statistics (moments) of a model.

        Args:
            moments: the kept moments.
            more: moments of the added data.
        """
        return []

    def solve(
        self,
        estimator: Estimator[Any],
        moments: Any,
        *,
        state: State | None = None,
        report: ProgressCallback = silent,
        description: str = "",
    ) -> Any:
        """Train a model as `train` does, but from kept training statistics (moments) instead of a corpus.

        Args:
            estimator: an unfitted estimator.
            moments: the kept moments.
            state: earlier solution from which training continues; None to train from scratch.
            report: see `train`.
            description: see `train`.
        """
        with timed_passes(report):
            if state is not None and isinstance(estimator, Resumable):
                estimator.resume_training(moments, state)
            else:
                estimator.solve_kept(moments)
        return self.to_model(estimator, report=report, description=description)

    @abstractmethod
    def load(self, stored: StoredModel) -> Any:
        """Return the model that a folder holds."""

    def folder_changes(self) -> FolderChanges | None:
        """Return an object that updates and merges saved models which contain their training statistics.

        Returns None if models of this task store these statistics (moments) separately, or not at all.
        """
        return None

    def evaluate(self, model: Any, corpus: Corpus[Any]) -> Report:
        """Score a model on gold data, and return a report; some tasks score sentences in parallel.

        Args:
            model: a model, as `train` or `load` returns it.
            corpus: gold data, as `read_gold` returns it.

        Raises:
            ConfigError: models of this task have no score.
        """
        raise ConfigError(f"models for {self.name} have no score on gold data")

    def transformed(self, model: Any, inputs: Inputs) -> Iterator[Any]:
        """Yield rows of numbers for what is in files, block by block, for the command ``transform``.

        Args:
            model: a model whose method ``get_feature_names_out`` names the columns.
            inputs: files, folders or globs.

        Raises:
            ConfigError: models of this task give no rows.
        """
        raise ConfigError(f"a model for {self.name}, not a featurizer or a CCA")

    def sample(self) -> str:
        """Return made-up training data: the text of a small file that `read` can read."""
        return sample_text()

    def write_sample(self, folder: Path) -> list[Path]:
        """Write made-up training data, which `read` can read, to a folder; return the paths of the files."""
        path = folder / "sample.txt"
        path.write_text(self.sample(), encoding="utf-8")
        return [path]

    def warm_up(self, model: Any) -> None:  # noqa: B027 (most models have no kernels)
        """Use a model on made-up data, so that its numba functions are compiled; by default, do nothing.

        Args:
            model: a model, as `train` or `load` returns it.
        """

    def compare(self, report: Any, other: Any) -> Comparison:
        """Test whether two models differ significantly, given their reports on the same data.

        Raises:
            ConfigError: this task has no such test.
        """
        raise ConfigError(f"there is no test between two models for {self.name}", hint="evaluate each alone")


def as_stored(value: Any) -> Any:
    """Return the value that a setting has after it was stored as JSON and loaded: tuples become lists."""
    return list(value) if isinstance(value, tuple) else value


def _without_folders(value: Any) -> Any:
    """Return the last part of a path, or of each path in a list; other values are returned unchanged."""
    if isinstance(value, list):
        return [_without_folders(each) for each in value]
    return Path(value).name if isinstance(value, str) else value


def _model_card(about: Mapping[str, Any], data: str, description: str, default: str) -> str:
    """Return a model card in Markdown.

    Args:
        about: metadata of the model: package version, estimator, and the estimator's parameters.
        data: the training data in words, such as ``171 trees of 1,530 tokens``.
        description: Markdown that opens the card.
        default: Markdown that opens the card if the description is empty.
    """
    parameters = "\n".join(f"| `{name}` | `{value}` |" for name, value in about["parameters"].items())
    return f"""{description.strip() or default}

## Training

spectralnlp {about["spectralnlp"]}, estimator `{about["estimator"]}`, {data}.

| setting | value |
|---|---|
{parameters}

If `moments.safetensors` lies beside the model, it reveals what the model was learned from; the model works
without it.
"""
