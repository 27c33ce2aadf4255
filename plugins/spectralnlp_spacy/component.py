"""What the components share: a model that is loaded when needed, trained in closed form, and saved.

A component holds one model of the core: what ``spectralnlp.load`` gives. A subclass says what it learns from
(`_training_corpus`), what its model makes of documents (`predict`) and where that goes (`set_annotations`).
"""

from __future__ import annotations

import tempfile
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

import srsly
from spacy import util
from spacy.language import Language
from spacy.pipeline.pipe import Pipe
from spacy.tokens import Doc
from spacy.training import Example, validate_get_examples
from spacy.vocab import Vocab

import spectralnlp
from spectralnlp import registry
from spectralnlp.corpus import Corpus
from spectralnlp.errors import SpectralError
from spectralnlp_spacy.errors import ComponentError, Errors

Scores = dict[str, Any]
GetExamples = Callable[[], Iterable[Example]]
Losses = dict[str, float]
MODEL = "model"


class Settings(NamedTuple):
    """What a component learns with.

    Args:
        estimator: name of an estimator, as ``spectralnlp plugins`` lists it.
        values: its hyper-parameters; ``preset`` names a preset.
    """

    estimator: str
    values: Mapping[str, Any]


class SpectralPipe(Pipe):
    """Base of the components.

    Class attributes:
        task: the task of the core whose models the component holds.
        needed: what examples have to be annotated with, for errors.
        writes_to: names of the settings that say where the component writes.
    """

    task: ClassVar[str]
    needed: ClassVar[str]
    writes_to: ClassVar[str | None] = None

    def __init__(
        self,
        vocab: Vocab,
        name: str,
        *,
        model: str | None,
        estimator: str,
        settings: Mapping[str, Any],
        scorer: Callable[..., Scores] | None,
    ) -> None:
        self.vocab = vocab
        self.name = name
        self.source = model
        self.learner = Settings(estimator, dict(settings))
        self.scorer = scorer
        self.model: Any | None = None
        self.cfg: dict[str, Any] = {}

    # -----------------------------------------------------------------------------------------------------
    # The model

    def ready(self) -> Any:
        """The model of the core, loaded at the first call.

        Raises:
            ComponentError: there is none, or it cannot be loaded.
        """
        if self.model is None:
            if self.source is None:
                raise ComponentError(Errors.SN002.format(name=self.name))
            self.model = self._load(self.source)
        return self.model

    def _load(self, source: str | Path) -> Any:
        try:
            model = spectralnlp.load(source)
        except SpectralError as error:
            message = Errors.SN001.format(name=self.name, model=str(source), reason=error)
            raise ComponentError(message) from error
        if model.task != self.task:
            message = Errors.SN004.format(name=self.name, kind=model.task, task=self.task, model=source)
            raise ComponentError(message)
        return model

    @property
    def is_trainable(self) -> bool:
        """True: by `initialize`; `update` does nothing."""
        return True

    @property
    def labels(self) -> tuple[str, ...]:
        """What the model can assign; empty until it is loaded, which the first document or `ready` does."""
        # spaCy asks on loading a pipeline, before the model that belongs to it is there.
        return () if self.model is None else self._labels()

    @abstractmethod
    def _labels(self) -> tuple[str, ...]:
        """The labels of the model."""

    # -----------------------------------------------------------------------------------------------------
    # Annotating

    @abstractmethod
    def predict(self, docs: Sequence[Doc]) -> Sequence[Any]:
        """What the model makes of a batch of documents, which stay as they are; one value for each."""

    @abstractmethod
    def set_annotations(self, docs: Sequence[Doc], predictions: Sequence[Any]) -> None:
        """Write predictions into the documents."""

    def __call__(self, doc: Doc) -> Doc:
        """Annotate one document."""
        for _ in self.pipe([doc], batch_size=1):
            pass
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Annotate a stream of documents, a batch at a time."""
        handle = self.get_error_handler()
        for docs in util.minibatch(stream, size=batch_size):
            try:
                self.set_annotations(docs, self.predict(docs))
            except Exception as error:  # whatever it is, the pipeline's error handler decides
                handle(self.name, self, docs, error)
            else:
                yield from docs

    # -----------------------------------------------------------------------------------------------------
    # Learning

    def initialize(self, get_examples: GetExamples, *, nlp: Language | None = None) -> None:
        """Train the model in closed form. The estimator and its settings are those of the config.

        Args:
            get_examples: gives the annotated examples.
            nlp: the pipeline.

        Raises:
            ComponentError: no example has the annotation that it takes, or the estimator cannot do with it.
        """
        validate_get_examples(get_examples, f"{type(self).__name__}.initialize")
        examples = list(get_examples())
        corpus = self._training_corpus([example.reference for example in examples])
        if corpus is None:
            message = Errors.SN003.format(name=self.name, needed=self.needed, n_examples=len(examples))
            raise ComponentError(message)
        self._train(corpus)

    @abstractmethod
    def _training_corpus(self, docs: Sequence[Doc]) -> Corpus[Any] | None:
        """What the core's task learns from, taken from gold documents; None if they have nothing."""

    def _train(self, corpus: Corpus[Any]) -> None:
        try:
            learner = make_estimator(self.learner)
            if learner.task != self.task:
                raise ComponentError(
                    Errors.SN007.format(
                        estimator=self.learner.estimator, task=learner.task, name=self.name, needed=self.task
                    )
                )
            self.model = registry.tasks.get(self.task)().train(learner, corpus)
        except ComponentError:
            raise
        except SpectralError as error:
            raise ComponentError(Errors.SN005.format(name=self.name, reason=error)) from error

    def update(
        self, examples: Iterable[Example], *, drop: float = 0.0, sgd: Any = None, losses: Losses | None = None
    ) -> Losses:
        """Do nothing: all there is to learn was learned by `initialize`. The loss stays 0."""
        losses = {} if losses is None else losses
        losses.setdefault(self.name, 0.0)
        return losses

    # -----------------------------------------------------------------------------------------------------
    # Saving

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Write a folder with the model of the core in it: safetensors and JSON."""
        if self.model is not None or self.source is not None:
            util.to_disk(path, {MODEL: self.ready().save}, exclude)
        else:
            util.to_disk(path, {}, exclude)

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> Self:
        """Read what `to_disk` wrote."""

        def read(folder: Path) -> None:
            if folder.exists():
                self.model = self._load(folder)

        util.from_disk(path, {MODEL: read}, exclude)
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """The files of `to_disk` in one string of bytes."""
        with tempfile.TemporaryDirectory(prefix="spectralnlp-") as folder:
            self.to_disk(Path(folder) / self.name, exclude=exclude)
            model = Path(folder) / self.name / MODEL
            files = {each.name: each.read_bytes() for each in sorted(model.glob("*"))}
        packed: bytes = srsly.msgpack_dumps(files)
        return packed

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> Self:
        """Read what `to_bytes` gave."""
        files = srsly.msgpack_loads(data)
        if files and MODEL not in exclude:
            with tempfile.TemporaryDirectory(prefix="spectralnlp-") as folder:
                for name, content in files.items():
                    (Path(folder) / Path(name).name).write_bytes(content)
                self.model = self._load(folder)
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        # For worker processes: settings as they are, the model as its files, without what can be made again.
        state = {key: value for key, value in vars(self).items() if key != MODEL}
        return _rebuild, (type(self), state, None if self.model is None else self.to_bytes())


def _rebuild(kind: type[SpectralPipe], state: dict[str, Any], model: bytes | None) -> SpectralPipe:
    pipe = kind.__new__(kind)
    vars(pipe).update(state, model=None)
    return pipe if model is None else pipe.from_bytes(model)


def make_estimator(learner: Settings) -> Any:
    """An estimator of the core.

    Raises:
        SpectralError: there is none of that name, or a setting makes no sense.
    """
    from spectralnlp.estimator import check_params

    kind = registry.estimators.get(learner.estimator)
    values = dict(learner.values)
    preset = values.pop("preset", None)
    return kind(**check_params(kind, values)) if preset is None else kind.from_preset(preset, **values)


def check_alone(pipe: SpectralPipe, nlp: Language) -> None:
    """See that no other component of the pipeline writes to the same place.

    Raises:
        ComponentError: one does; names it and what can be done.
    """
    setting = pipe.writes_to
    for name, other in nlp.components:
        if type(other) is type(pipe) and (
            setting is None or getattr(other, setting) == getattr(pipe, setting)
        ):
            place = "the same annotation" if setting is None else f"{setting} = {getattr(pipe, setting)!r}"
            raise ComponentError(
                Errors.SN006.format(name=pipe.name, other=name, place=place, setting=setting or "task")
            )


def first_words(words: Iterable[str], n: int = 8) -> str:
    """The beginning of a sentence, for errors."""
    shown = list(islice(words, n + 1))
    return " ".join(shown[:n]) + (" …" if len(shown) > n else "")
