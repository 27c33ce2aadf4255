"""The contract of tasks: read, train, evaluate, compare, load."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol, TypeAlias

from spectralnlp import __version__
from spectralnlp.display import Report
from spectralnlp.errors import ConfigError
from spectralnlp.estimator import Estimator, State
from spectralnlp.progress import timed_passes
from spectralnlp.runtime import Corpus, Inputs, Moments, OnBad, as_record_corpus
from spectralnlp.storage import StoredModel
from spectralnlp.tasks.card import model_card
from spectralnlp.tasks.samples import sample_text

ProgressCallback = Callable[[str], None]
DocumentUnit: TypeAlias = Literal["file", "line"]

# Settings that name files and folders; what was learned from them is in the model.
_PATHS = frozenset(["eigenwords", "featurizer", "unlabelled", "vectors"])


class Comparison(Protocol):
    """The result of `Task.compare`; ``str`` of it is for readers."""

    def to_flat_dict(self) -> Mapping[str, float | int | str]:
        """Return one flat dictionary."""


class OwnChanges(Protocol):
    """Updates and unlearning of models that hold their moments themselves, folder in and folder out.

    Each method raises a ConfigError in one line for what it cannot do, and writes nothing then. ``report`` is
    called with a line about the result.
    """

    def update(self, folder: Path, inputs: Sequence[str], output: Path, report: ProgressCallback) -> None:
        """Add the data of files."""

    def forget(self, folder: Path, inputs: Sequence[str], output: Path, report: ProgressCallback) -> None:
        """Take out the data of files."""

    def merge(self, folders: Sequence[Path], output: Path, report: ProgressCallback) -> None:
        """Join models of different data."""


def silent(line: str) -> None:
    """Ignore a line: the progress callback of those who want none."""


class Task(ABC):
    """A kind of model, and what can be done with one: an entry point in ``spectralnlp.tasks``.

    A task whose models come from fitted estimators writes `read`, `wrap`, `training_counts` and `load`, and
    inherits `train` and `solve`. Its models are dataclasses with the fields ``about`` and ``card``.

    A task may give `read`, `read_gold` and `evaluate` keyword arguments of its own. The command line passes
    an option on only if it was given, and refuses it in one line where the task does not name it.

    Class attributes:
        name: as the entry point calls it, and as models of the task are marked when they are saved.
        documents: what can be added to a model and taken out: a ``file`` or a ``line``, the usual one first.
        training_data: one phrase about the training data, with names of `training_counts` in braces, such as
            ``{training trees:,} trees``.
        default_card: the first lines of a model card, Markdown, where there is no description.

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
        """Read what estimators of the task learn from.

        Args:
            inputs: files, folders and globs.
            reader: how to read them; ``auto`` to recognise it.
            on_bad: called for each bad example, which is then left out; None to stop at the first.

        Tasks that read plain text also take ``text_column``: name of a table's column, or its number (from 1)
        in lines with tabs. Those that read treebanks take ``encoding``: of the files; None for what is usual.
        """

    def settled_reader(self, inputs: Inputs, reader: str) -> str:
        """Return the reader by which more data is read as these inputs are, in place of ``auto``."""
        return reader

    def read_gold(self, inputs: Inputs, *, reader: str = "auto", on_bad: OnBad | None = None) -> Corpus[Any]:
        """Read what models of the task are evaluated on; as `read` does, unless the task says otherwise."""
        return self.read(inputs, reader=reader, on_bad=on_bad)

    def in_memory(self, data: Any) -> Corpus[Any]:
        """Make a corpus of examples that are in memory: a list, a collection, an iterator, a corpus.

        Args:
            data: the examples, or what the task knows to find them in. Examples may be records, mappings of
                names to values, if the task has `from_record`; a data frame, or columns by name, gives a
                record a row.

        Raises:
            ConfigError: it is a path, a text or no iterable.
        """
        return as_record_corpus(data, self.from_record)

    def from_record(self, record: Mapping[str, Any]) -> Any:
        """Make an example of a record.

        Args:
            record: values by name, such as ``text`` and ``label``.

        Raises:
            ConfigError: the task learns from no records.
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
        """Fit an estimator and make a model of it, which has ``save``, ``info`` and ``task``.

        Args:
            estimator: one of this task.
            corpus: what `read` gave.
            report: called with a line for each pass, its time, and for what else there is to know.
            description: Markdown for the model card.
        """
        for line in corpus.remarks(training=True):
            report(line)
        examples = self.examples(estimator, corpus)
        with timed_passes(report):
            fitted = estimator.fit(examples)
        return self.described(fitted, report=report, description=description)

    def described(self, fitted: Any, *, report: ProgressCallback = silent, description: str = "") -> Any:
        """Make a model of a fitted estimator, that says what it was made from; arguments as of `train`."""
        for line in fitted.remarks():
            report(line)
        about = {
            "estimator": fitted.known_as,
            "parameters": self.shown_parameters(fitted),
            **self.training_counts(fitted),
            "spectralnlp": __version__,
        }
        card = model_card(about, self.training_data.format_map(about), description, self.default_card)
        return replace(self.wrap(fitted), about=about, card=card)

    def wrap(self, fitted: Any) -> Any:
        """Make a model of a fitted estimator; its ``about`` and ``card`` are filled in afterwards.

        Raises:
            ConfigError: models of this task are not made of fitted estimators.
        """
        raise ConfigError(f"models for {self.name} are not trained from estimators")

    def training_counts(self, fitted: Any) -> dict[str, int]:
        """Return how much data an estimator was fitted to, by name, for ``info``."""
        return {}

    def shown_parameters(self, fitted: Any) -> dict[str, Any]:
        """Return the hyper-parameters for ``info`` and the model card; of paths only the last parts."""
        parameters = {name: as_stored(value) for name, value in fitted.get_params().items()}
        for name in _PATHS & parameters.keys():
            parameters[name] = _without_folders(parameters[name])
        return parameters

    def examples(self, estimator: Estimator[Any], corpus: Corpus[Any]) -> Corpus[Any]:
        """Return what the estimator is fitted to: what `read` gave, unless the task says otherwise."""
        return corpus

    def is_example(self, example: Any) -> bool:
        """Whether something is what estimators are fitted to; by default they find out themselves."""
        return True

    def words_in(self, example: Any) -> Sequence[str]:
        """Return the words of what estimators are fitted to.

        Raises:
            ConfigError: its words cannot be told apart, or cannot be replaced.
        """
        raise ConfigError(f"rare words cannot be renamed for {self.name}", hint="leave out keep_words_above")

    def with_words(self, example: Any, words: Sequence[str]) -> Any:
        """Return an example with other words, as many; errors as of `words_in`."""
        return self.words_in(example)

    def init_kept_moments(self, estimator: Estimator[Any], corpus: Corpus[Any]) -> Moments[Any]:
        """Return empty moments for `solve`: those of the estimator, unless the task says otherwise.

        Args:
            estimator: one of this task.
            corpus: what `examples` gave, for settings that the first of them decide.

        Raises:
            ConfigError: the estimator learns from the examples themselves.
        """
        return estimator.init_kept_moments(corpus)

    def remarks_on_gold(self, model: Any, corpus: Corpus[Any]) -> list[str]:
        """Return lines about gold data that do not suit a model, such as those of another language."""
        return []

    def remarks_on_more(self, moments: Any, more: Any) -> list[str]:
        """Return lines about data that is added to kept moments, for users to know.

        Args:
            moments: kept.
            more: those of the data.
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
        """Make a model as `train` does, from kept moments in place of a corpus.

        Args:
            estimator: an unfitted one.
            moments: kept.
            state: where learning goes on from; None to learn all again.
            report: as of `train`.
            description: as of `train`.
        """
        with timed_passes(report):
            if state is None:
                estimator.solve_kept(moments)
            else:
                estimator.solve_further(moments, state)
        return self.described(estimator, report=report, description=description)

    @abstractmethod
    def load(self, stored: StoredModel) -> Any:
        """Return the model in a folder."""

    def own_changes(self) -> OwnChanges | None:
        """Return the updates of models that hold their moments; None where moments lie beside them."""
        return None

    def evaluate(self, model: Any, corpus: Corpus[Any]) -> Report:
        """Score a model on what `read_gold` gave, with the current engine where it helps.

        Args:
            model: what `train` or `load` gave.
            corpus: gold data.

        Raises:
            ConfigError: models of this task have no score.
        """
        raise ConfigError(f"models for {self.name} have no score on gold data")

    def sample(self) -> str:
        """Return the text of a small file that `read` reads, enough to train on: made-up sentences."""
        return sample_text()

    def try_out(self, model: Any) -> None:  # noqa: B027 (most models have no kernels)
        """Do what commands and users do with a model, so that its kernels are compiled; by default, nothing.

        Args:
            model: what `train` or `load` gave.
        """

    def compare(self, report: Any, other: Any) -> Comparison:
        """Test whether two models differ, from their reports on the same data.

        Raises:
            ConfigError: this task has no such test.
        """
        raise ConfigError(f"there is no test between two models for {self.name}", hint="evaluate each alone")


def as_stored(value: Any) -> Any:
    """Return a setting as it will be read from a file: a tuple as a list."""
    return list(value) if isinstance(value, tuple) else value


def _without_folders(value: Any) -> Any:
    """Return paths as their last parts; None as it is."""
    if isinstance(value, list):
        return [_without_folders(each) for each in value]
    return Path(value).name if isinstance(value, str) else value
