"""Base class of the spaCy components, each of which loads, trains and saves one spectralnlp model.

A subclass defines the training data (`_training_corpus`), the predictions of the model for documents
(`predict`) and how they are written to documents (`set_annotations`).
"""

from __future__ import annotations

import hashlib
import tempfile
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

import srsly
from spacy import util
from spacy.language import Language
from spacy.pipeline.pipe import Pipe
from spacy.tokens import Doc
from spacy.training import Example, validate_examples
from spacy.vocab import Vocab

import spectralnlp
from spectralnlp import changes, registry
from spectralnlp.errors import SpectralError
from spectralnlp.runtime import Corpus
from spectralnlp.storage import ARRAYS, CARD, META, MOMENTS, MOMENTS_META, kind_of
from spectralnlp_spacy.errors import ComponentError, Errors
from spectralnlp_spacy.settings import AUTO, PipeSettings, UpdatedSettings

GetExamples = Callable[[], Iterable[Example]]
Losses = dict[str, float]
Files = dict[str, bytes]
MODEL = "model"
FILES = (ARRAYS, META, CARD)
KEPT_FILES = (MOMENTS, MOMENTS_META)


class Origin(NamedTuple):
    """Source of a component's model: the folder from which it was loaded, or its files in memory.

    Args:
        folder: folder of the model; None if the files are in memory.
        digest: SHA-256 of the folder's ``model.json``, which contains the digest of the arrays.
        kept: content of the files by name; None for a folder.
    """

    folder: Path | None
    digest: bytes
    kept: Files | None = None

    @classmethod
    def of(cls, folder: Path) -> Self:
        """Return the origin of a model that was just loaded from a folder."""
        return cls(folder, _digest(folder))

    def files(self, names: Iterable[str]) -> Files | None:
        """Return files of the model by name; None if the folder is gone or has changed."""
        if self.folder is None:
            return self.kept
        return _read_files(self.folder, names) if _digest(self.folder) == self.digest else None


class SpectralPipe(Pipe):
    """Base class of the spaCy components, such as the parser and the tagger.

    Args:
        vocab: vocabulary of the pipeline.
        name: name of the component in the pipeline; None for the name of its factory.
        settings: settings of the component; None for the defaults.

    Class attributes:
        factory: name by which spaCy creates the component, such as ``spectral_parser``.
        settings_type: class of the settings.
        task: task of spectralnlp, such as ``parsing``, whose models the component uses.
        place_setting: name of the setting that controls where the component writes; None if there is none.
    """

    factory: ClassVar[str]
    settings_type: ClassVar[type[PipeSettings]]
    task: ClassVar[str]
    place_setting: ClassVar[str | None] = None

    def __init__(self, vocab: Vocab, name: str | None = None, settings: PipeSettings | None = None) -> None:
        settings = settings or self.settings_type()  # type: ignore[call-arg]
        self.vocab = vocab
        self.name = name or self.factory
        self.source = settings.model
        self.estimator = settings.estimator
        self.settings = dict(settings.settings)
        self.keep_examples = isinstance(settings, UpdatedSettings) and settings.keep_examples
        self.scorer = settings.scorer
        self.model: Any | None = None
        self.cfg: dict[str, Any] = {}
        self._origin: Origin | None = None
        self._configure(settings)

    @abstractmethod
    def _configure(self, settings: Any) -> None:
        """Check and store the settings that are specific to this component."""

    # -----------------------------------------------------------------------------------------------------
    # The model

    def ready(self) -> Any:
        """Return the model, which is loaded on the first call.

        Raises:
            ComponentError: there is no model, or it cannot be loaded.
        """
        if self.model is None:
            source = self._usual_model() if self.source is None else self._named_model()
            if source is None:
                installed = ", ".join(self._installed()) or "none of this kind"
                how = registry.how_to_install(self.vocab.lang)
                message = Errors.SN002.format(
                    name=self.name,
                    lang=self.vocab.lang,
                    how="" if how is None else f" ({how})",
                    installed=installed,
                )
                raise ComponentError(message)
            self.load(source)
        return self.model

    def _named_model(self) -> str | None:
        """Return the name or folder of the model in the setting ``model``.

        With ``auto`` it is the installed model for the language. Returns None if there is no such model.
        """
        return self._model_of_language() if self.source == AUTO else self.source

    def _usual_model(self) -> str | None:
        """Return the name of an installed model to use if the setting ``model`` names none.

        Returns None if the component has no default model.
        """
        return None

    def _model_of_language(self) -> str | None:
        """Return the name of the installed model for the pipeline's language; None if there is none."""
        return None

    def _installed(self) -> list[str]:
        """Return the names of the installed models that the component could use."""
        names = []
        for name in registry.models.bare_names():
            with suppress(SpectralError):
                if kind_of(registry.models.get(name)) == self.task:
                    names.append(name)
        return names

    def check_source(self) -> None:
        """Check that the model named in the config exists and is for the right task, without loading it.

        Raises:
            ComponentError: the model does not exist, or is for another task.
        """
        source = self._named_model()
        if source is None:
            return
        try:
            folder = _folder(source) or Path(source)
            kind = kind_of(folder if folder.exists() else registry.models.get(source))
        except SpectralError as error:
            message = Errors.SN001.format(name=self.name, model=source, reason=error)
            raise ComponentError(message) from error
        self._check_kind(kind, source)

    def _check_kind(self, kind: str, source: str | Path) -> None:
        if kind != self.task:
            message = Errors.SN004.format(name=self.name, kind=kind, task=self.task, model=source)
            raise ComponentError(message)

    def load(self, source: str | Path) -> None:
        """Load the model from a folder or, given a name, the installed model of that name.

        Raises:
            ComponentError: the model cannot be loaded, or is for another task.
        """
        try:
            model = spectralnlp.load(source)
            folder = _folder(source)
        except SpectralError as error:
            message = Errors.SN001.format(name=self.name, model=str(source), reason=error)
            raise ComponentError(message) from error
        self._check_kind(model.task, source)
        if self.keep_examples and folder is not None and (folder / MOMENTS_META).exists():
            model = replace(model, saved=model.saved.read())
        self.model, self._origin = model, None if folder is None else Origin.of(folder)

    @property
    def _files(self) -> tuple[str, ...]:
        return FILES + KEPT_FILES if self.keep_examples else FILES

    @property
    def is_trainable(self) -> bool:
        """Always True, since spaCy can train the component by `initialize`."""
        return True

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels that the model can assign; empty until the model has been loaded (see `ready`)."""
        # spaCy asks for labels while it loads a pipeline, before the component's model is loaded.
        return () if self.model is None else self._labels()

    @abstractmethod
    def _labels(self) -> tuple[str, ...]:
        """Return the labels that the loaded model can assign."""

    @property
    @abstractmethod
    def place(self) -> str:
        """Attribute that the component writes to, such as ``token.tag_``, to name it in messages."""

    @property
    @abstractmethod
    def needed(self) -> str:
        """Annotation that training examples must have, as text for messages."""

    # -----------------------------------------------------------------------------------------------------
    # Annotating

    @abstractmethod
    def predict(self, docs: Sequence[Doc]) -> Sequence[Any]:
        """Return the model's prediction for each document of a batch, without changing the documents."""

    @abstractmethod
    def set_annotations(self, docs: Sequence[Doc], predictions: Sequence[Any]) -> None:
        """Write predictions to documents.

        Args:
            docs: documents to annotate.
            predictions: the result of `predict` for these documents.
        """

    def __call__(self, doc: Doc) -> Doc:
        """Annotate one document with the predictions of the model, and return it."""
        for _ in self.pipe([doc], batch_size=1):
            pass
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Annotate a stream of documents in batches, and yield the documents."""
        handle = self.get_error_handler()
        for docs in util.minibatch(stream, size=batch_size):
            try:
                self.set_annotations(docs, self.predict(docs))
            except Exception as error:  # of any class: the pipeline's error handler decides
                handle(self.name, self, docs, error)
            else:
                yield from docs

    # -----------------------------------------------------------------------------------------------------
    # Learning

    def initialize(self, get_examples: GetExamples, *, nlp: Language | None = None) -> None:
        """Train the model with the estimator and settings of the config.

        If there are no examples, as with ``spacy assemble``, and a model is loaded or named in the config,
        nothing is trained.

        Args:
            get_examples: function that returns the annotated examples.
            nlp: pipeline that contains the component.

        Raises:
            ComponentError: no example has the required annotation, or the training fails.
        """
        examples = list(get_examples())
        validate_examples(examples, f"{type(self).__name__}.initialize")
        if _are_stand_ins(examples) and not self._is_empty():
            return
        corpus = self._training_corpus([example.reference for example in examples])
        if corpus is None:
            message = Errors.SN003.format(name=self.name, needed=self.needed, n_examples=len(examples))
            raise ComponentError(message)
        self._train(corpus)

    @abstractmethod
    def _training_corpus(self, docs: Sequence[Doc]) -> Corpus[Any] | None:
        """Convert gold documents to a training corpus; return None if they lack the required annotation."""

    def _train(self, corpus: Corpus[Any]) -> None:
        try:
            learner = registry.estimators.get(self.estimator).from_settings({}, self.settings)
            if learner.task != self.task:
                raise ComponentError(
                    Errors.SN007.format(
                        estimator=self.estimator, task=learner.task, name=self.name, needed=self.task
                    )
                )
            if self.keep_examples:
                self.model = changes.train(self.estimator, learner, corpus).model
            else:
                self.model = registry.tasks.get(self.task)().train(learner, corpus)
            self._origin = None
        except ComponentError:
            raise
        except SpectralError as error:
            raise ComponentError(Errors.SN005.format(name=self.name, reason=error)) from error

    def update(
        self, examples: Iterable[Example], *, drop: float = 0.0, sgd: Any = None, losses: Losses | None = None
    ) -> Losses:
        """Learn from new examples if ``keep_examples`` is set; otherwise do nothing.

        The model then equals one that is trained on all examples at once (see docs/unlearning.md). Examples
        that the model has learned from before are ignored. The loss is always 0.

        Raises:
            ComponentError: there is no model, or the training fails.
        """
        losses = {} if losses is None else losses
        losses.setdefault(self.name, 0.0)
        if self.keep_examples:
            examples = list(examples)
            validate_examples(examples, f"{type(self).__name__}.update")
            corpus = self._training_corpus([example.reference for example in examples])
            if corpus is not None:
                try:
                    self.model = self.ready().update(corpus, skip_known=True)
                except SpectralError as error:
                    raise ComponentError(Errors.SN005.format(name=self.name, reason=error)) from error
                self._origin = None
        return losses

    def finish_update(self, sgd: Any) -> None:
        """Do nothing; spaCy calls this to apply gradients, and there are none."""

    # -----------------------------------------------------------------------------------------------------
    # Saving

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Write a folder that contains the spectralnlp model folder (safetensors and JSON)."""

        def write(folder: Path) -> None:
            folder.mkdir(parents=True, exist_ok=True)
            for name, content in self._stored().items():
                (folder / name).write_bytes(content)

        util.to_disk(path, {} if self._is_empty() else {MODEL: write}, exclude)

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> Self:
        """Load the model from a folder that `to_disk` wrote."""

        def read(folder: Path) -> None:
            if folder.exists():
                self.load(folder)

        util.from_disk(path, {MODEL: read}, exclude)
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Return the files of the model as one bytes object."""
        left_out = self._is_empty() or MODEL in exclude
        packed: bytes = srsly.msgpack_dumps({} if left_out else self._stored())
        return packed

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> Self:
        """Load the model from bytes that `to_bytes` returned."""
        files: Files = srsly.msgpack_loads(data)
        if files and MODEL not in exclude:
            with tempfile.TemporaryDirectory(prefix="spectralnlp-") as folder:
                for name in set(self._files) & set(files):
                    (Path(folder) / name).write_bytes(files[name])
                self.load(folder)
            self._origin = Origin(None, b"", files)
        return self

    def _is_empty(self) -> bool:
        return self.model is None and self._named_model() is None

    def _stored(self) -> Files:
        """Return the contents of the model's files, by name, for saving the component.

        If the files that the model was loaded from are unchanged, they are copied. This is faster than saving
        the model anew, which would also round its numbers a second time.
        """
        model = self.ready()
        files = None if self._origin is None else self._origin.files(self._files)
        if files is None:
            with tempfile.TemporaryDirectory(prefix="spectralnlp-") as folder:
                model.save(Path(folder) / MODEL, keep_moments=self.keep_examples)
                files = _read_files(Path(folder) / MODEL, self._files)
            self._origin = Origin(None, b"", files)
        return files

    def __reduce__(self) -> tuple[Any, ...]:
        # For worker processes: attributes are copied, the model is sent as its files.
        state = {key: value for key, value in vars(self).items() if key not in (MODEL, "_origin")}
        return _rebuild, (type(self), state, None if self.model is None else self.to_bytes())


def _folder(source: str | Path) -> Path | None:
    """Return the local folder of a model, given by path or installed name; None if there is none."""
    if (Path(source) / META).exists():
        return Path(source)
    return Path(registry.models.get(str(source))) if str(source) in registry.models else None


def _digest(folder: Path) -> bytes:
    path = folder / META
    return hashlib.sha256(path.read_bytes()).digest() if path.exists() else b""


def _read_files(folder: Path, names: Iterable[str]) -> Files:
    return {name: (folder / name).read_bytes() for name in names if (folder / name).exists()}


def _are_stand_ins(examples: Sequence[Example]) -> bool:
    """Return whether these are the placeholder examples that spaCy makes if ``nlp.initialize`` gets none."""
    return len(examples) == 1 and [token.text for token in examples[0].reference] == ["x", "y", "z"]


def _rebuild(kind: type[SpectralPipe], state: dict[str, Any], model: bytes | None) -> SpectralPipe:
    pipe = kind.__new__(kind)
    vars(pipe).update(state, model=None, _origin=None)
    return pipe if model is None else pipe.from_bytes(model)


def check_alone(pipe: SpectralPipe, nlp: Language) -> None:
    """Check that no other component of the same type in the pipeline writes to the same attribute.

    Raises:
        ComponentError: another component writes to this attribute; the message names the component and a
            remedy.
    """
    for name, other in nlp.components:
        if type(other) is type(pipe) and other.place == pipe.place:
            remedy = f", or give one another {pipe.place_setting} in its config" if pipe.place_setting else ""
            message = Errors.SN006.format(name=pipe.name, other=name, place=pipe.place, remedy=remedy)
            raise ComponentError(message)
