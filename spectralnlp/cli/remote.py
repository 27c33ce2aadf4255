"""Apply a model to a stream of inputs on several workers; interrupted commands can be continued.

Models are not sent to workers: each worker loads them by name. A command defines a subclass of `OnWorkers`,
which says what a worker does with a batch of inputs (a task). Its method `results` runs the tasks on the
chosen execution engine, and stores the results of finished tasks in the checkpoint.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

from spectralnlp.cli.blocks import Block, blocks
from spectralnlp.cli.models import NO_TAGGER, installed_tagger
from spectralnlp.errors import ConfigError

if TYPE_CHECKING:
    from spectralnlp.text.tokenizer import Tokenizer
    from spectralnlp.text.tokens import Sentence

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class OnWorkers(ABC, Generic[T, R]):
    """Base class of functions sent to worker processes, which load a model and apply it to batches of inputs.

    Args:
        model: name of the model, or its folder on the workers.
        fingerprint: result of `fingerprint_of` for the models in this process.
    """

    model: str
    fingerprint: str
    # Approximate number of lines in a task, which is one entry of the journal.
    batch_size: ClassVar[int] = 1024

    @classmethod
    def of(cls, model: str, **what: Any) -> Self:
        """Return an instance with the fingerprint of the models that are installed in this process.

        Workers compare this fingerprint with that of their own models.

        Args:
            model: name or folder of the model.
            what: values of the other fields of the class, by name.
        """
        named = cls(model, "", **what)
        return replace(named, fingerprint=fingerprint_of(*named.models()))

    def models(self) -> Sequence[str]:
        """Return the names of all models that must be identical on all workers."""
        return [self.model]

    @abstractmethod
    def __call__(self, task: Sequence[T]) -> Sequence[R]:
        """Apply the model to a batch of inputs on a worker, and return the results as JSON values."""

    def results(self, tasks: Iterable[Sequence[T]]) -> Iterator[Sequence[R]]:
        """Yield the results of each task (batch of inputs) in order, computed on the current engine.

        Results are stored in the current checkpoint, if any.

        Args:
            tasks: stream of tasks, identical in every run.

        Raises:
            ConfigError: a worker's model differs, or the checkpoint is that of another command.
        """
        from spectralnlp.runtime import map_resumable

        # A journal identifies the model by its contents, not by its folder.
        about = {**asdict(self), "model": self.fingerprint}
        del about["fingerprint"]
        yield from map_resumable(self, tasks, about, chunk_size=1)

    def cut(
        self, files: Sequence[str], may_cut: Callable[[str], bool] | None = None
    ) -> Iterator[list[Block]]:
        """Read files, and yield tasks: lists of blocks of lines; see `spectralnlp.cli.blocks.blocks`."""
        return blocks(files, self.batch_size, may_cut)

    def loaded(self, load: Callable[..., Any], **options: Any) -> Any:
        """Load the model on a worker by calling ``load``; return the cached result on later calls.

        Args:
            load: module-level function that takes the model's name and the options.
            options: hashable options of ``load``.

        Raises:
            ConfigError: the worker's model differs from that of the process that sent the task.
        """
        return _loaded(load, self.model, tuple(self.models()), self.fingerprint, **options)


def batches(examples: Iterable[T], size: int) -> Iterator[list[T]]:
    """Cut a stream into batches of ``size`` examples; the last may be shorter."""
    stream = iter(examples)
    while batch := list(islice(stream, size)):
        yield batch


@cache
def _loaded(
    load: Callable[..., Any], model: str, models: Sequence[str], fingerprint: str, **options: Any
) -> Any:
    if fingerprint_of(*models) != fingerprint:
        raise ConfigError(f"a worker's model {model} is another one", hint="install the same everywhere")
    return load(model, **options)


def fingerprint_of(*models: str) -> str:
    """Return a digest of the models' metadata files, which contain digests of their parameters."""
    from spectralnlp.models import folder_of
    from spectralnlp.storage import META

    digest = hashlib.sha256()
    for model in models:
        digest.update(hashlib.sha256((folder_of(model) / META).read_bytes()).digest())
    return digest.hexdigest()[:16]


@dataclass(frozen=True)
class ParseToText(OnWorkers["Block", "tuple[str, str | None] | None"]):
    """Function for workers that parses sentences and returns each parse as text in an output format.

    The result for a sentence is a pair: the text, and the reason if the tree is only a fallback instead of
    the grammar's best tree (else None). The result for a blank line of tokenised text is None.

    Args:
        tokenized, tagged: format of the text, as in `spectralnlp.cli.texts.sentences`.
        tagger, fixed_tags: arguments of ``load_parser``.
        decoder, k: arguments of ``Parser.parse_many``.
        form, scores: output format, and whether to include scores.
    """

    tokenized: bool = False
    tagged: bool = False
    tagger: str | None = None
    fixed_tags: bool = False
    decoder: str | None = None
    k: int = 1
    form: str = "ptb"
    scores: bool = False
    batch_size: ClassVar[int] = 32

    def models(self) -> Sequence[str]:
        """Return the name of the parser and, if it uses a tagger, the name of that tagger."""
        tagger = installed_tagger(self.model) if self.tagger is None else self.tagger
        return [self.model] if tagger in (None, NO_TAGGER) else [self.model, tagger]

    def __call__(self, task: Sequence[Block]) -> list[tuple[str, str | None] | None]:
        """Split blocks of lines into sentences, parse them, and return each parse as text."""
        from spectralnlp.cli.models import load_parser
        from spectralnlp.render import renderer
        from spectralnlp.runtime import use_engine

        parser = self.loaded(load_parser, tagger=self.tagger, fixed_tags=self.fixed_tags)
        render = renderer(self.form)
        sentences = in_blocks(
            task, parser.tokenizer, tokenized=self.tokenized, tagged=self.tagged, known=parser.tags
        )
        with use_engine("serial"):
            return [
                None if parse is None else (render(parse, self.scores), parse.fallback)
                for parse in parser.parse_many(sentences, decoder=self.decoder, k=self.k)
            ]


@dataclass(frozen=True)
class TagToText(OnWorkers["Block", str]):
    """Function for workers that tags sentences and returns each as text in an output format.

    The result is an empty string for a blank line of tokenised text.

    Args:
        tokenized: format of the text, as in `spectralnlp.cli.texts.sentences`.
        form, scores: output format, and whether to include probabilities.
    """

    tokenized: bool = False
    form: str = "tagged"
    scores: bool = False

    def __call__(self, task: Sequence[Block]) -> list[str]:
        """Split blocks of lines into sentences, tag them, and return each sentence as text."""
        from spectralnlp.cli.models import load_for

        tagger = self.loaded(load_for, method="tag", verb="tag")
        sentences = in_blocks(task, tagger.tokenizer, tokenized=self.tokenized)
        return tagged_text(tagger, list(sentences), self.form, self.scores)


def in_blocks(task: Sequence[Block], tokenizer: Tokenizer, **written: Any) -> Iterator[Sentence | None]:
    """Yield the sentences of blocks of lines, one block after the other.

    Args:
        task: the blocks.
        tokenizer: tokenizer with the model's conventions.
        written: further arguments of `Block.sentences`, which tell how the text is written.
    """
    for block in task:
        yield from block.sentences(tokenizer, **written)


def cutter(model: str) -> Callable[[str], bool]:
    """Return a function that tells whether raw text may be cut after a line, so that no sentence is split.

    The function follows the conventions of a model's treebank. Only the header of the model is read, because
    this process does not need the model itself.

    Args:
        model: name or folder of the model.
    """
    from spectralnlp.models import folder_of
    from spectralnlp.storage import read_header
    from spectralnlp.text.conventions import Conventions
    from spectralnlp.text.sentences import may_cut
    from spectralnlp.text.tokenizer import Tokenizer

    conventions = read_header(folder_of(model))["metadata"].get("conventions")
    known = None if conventions is None else Conventions.from_dict(conventions)
    tokenizer = Tokenizer(known) if known is not None and known.words_apart else None
    return partial(may_cut, tokenizer=tokenizer)


def tagged_text(tagger: Any, batch: Sequence[Sentence | None], form: str, scores: bool) -> list[str]:
    """Tag sentences, and return each of them as text in an output format.

    Args:
        tagger: the tagger.
        batch: the sentences; None becomes an empty text.
        form: output format.
        scores: whether to include probabilities.
    """
    from spectralnlp.render.tags import tag_renderer

    render = tag_renderer(form)
    words = [sentence.forms for sentence in batch if sentence is not None]
    tags = iter(tagger.best_tags(words))
    confidence = iter(tagger.confidence(words) if scores else [None] * len(words))
    return [
        "" if sentence is None else render(sentence, next(tags), tagger.scheme, next(confidence))
        for sentence in batch
    ]
