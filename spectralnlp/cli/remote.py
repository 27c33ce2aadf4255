"""Models at work where another engine runs, or to be taken up again: workers get names, and give text.

A command that streams examples through a model describes what it does with them in a subclass of `OnWorkers`;
`results` runs it on the engine that was asked for, and writes down what is finished in a checkpoint.
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
from spectralnlp.cli.models import NO_TAGGER, own_tagger
from spectralnlp.errors import ConfigError

if TYPE_CHECKING:
    from spectralnlp.cli.engines import Where
    from spectralnlp.text.tokenizer import Tokenizer
    from spectralnlp.text.tokens import Sentence

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class OnWorkers(ABC, Generic[T, R]):
    """A model and the work to do with it, by name, to send to workers: they have models of their own.

    Args:
        model: its name, or its folder as workers see it.
        fingerprint: what `fingerprint_of` says of it here.
    """

    model: str
    fingerprint: str
    # Lines in a task and in an entry of the journal, about.
    batch_size: ClassVar[int] = 1024

    @classmethod
    def of(cls, model: str, **what: Any) -> Self:
        """Describe the work, with the fingerprint that the model has here."""
        named = cls(model, "", **what)
        return replace(named, fingerprint=fingerprint_of(*named.models()))

    def models(self) -> Sequence[str]:
        """Return the names of all models that must be the same everywhere."""
        return [self.model]

    @abstractmethod
    def __call__(self, task: Sequence[T]) -> Sequence[R]:
        """Return, on a worker, the results of a task, JSON values."""

    def results(self, where: Where, tasks: Iterable[Sequence[T]]) -> Iterator[Sequence[R]]:
        """Return the results of each task, in order; they are kept in the current checkpoint, if any.

        Args:
            where: the engine.
            tasks: a stream, the same whenever it is started.

        Raises:
            ConfigError: a worker's model is another one, or the checkpoint is of other work.
        """
        from spectralnlp.runtime import map_resumable

        # A journal knows the model by its contents, wherever it lies.
        about = {**asdict(self), "model": self.fingerprint}
        del about["fingerprint"]
        with where.running():
            yield from map_resumable(self, tasks, about, chunk_size=1)

    def cut(
        self, files: Sequence[str], may_cut: Callable[[str], bool] | None = None
    ) -> Iterator[list[Block]]:
        """Read files as tasks; see `spectralnlp.cli.blocks.blocks`."""
        return blocks(files, self.batch_size, may_cut)

    def loaded(self, load: Callable[..., Any], **options: Any) -> Any:
        """Return, on a worker, what a function makes of the model's name; it is called once.

        Args:
            load: a function of a module, of the name and options that can be hashed.
            options: its options.

        Raises:
            ConfigError: the model is not the one that was meant.
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
    """Return a digest of models' descriptions, which hold digests of their numbers."""
    from spectralnlp.models import folder_of
    from spectralnlp.storage import META

    digest = hashlib.sha256()
    for model in models:
        digest.update(hashlib.sha256((folder_of(model) / META).read_bytes()).digest())
    return digest.hexdigest()[:16]


@dataclass(frozen=True)
class ParseToText(OnWorkers["Block", "tuple[str, str | None] | None"]):
    """Text to parses, written, and why each is a fallback if it is one; None for a blank tokenized line.

    Args:
        tokenized, tagged: how the text is written, as for `spectralnlp.cli.texts.sentences`.
        tagger, fixed_tags: as for ``load_parser``.
        decoder, k: as for ``Parser.parse_many``.
        form, scores: how a parse is written.
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
        """Return the parser, and the tagger that it listens to: the one named, or the model's own."""
        tagger = own_tagger(self.model) if self.tagger is None else self.tagger
        return [self.model] if tagger in (None, NO_TAGGER) else [self.model, tagger]

    def __call__(self, task: Sequence[Block]) -> list[tuple[str, str | None] | None]:
        """Split, parse and write."""
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
    """Text to tagged text; nothing for a blank tokenized line.

    Args:
        tokenized: how the text is written, as for `spectralnlp.cli.texts.sentences`.
        form, scores: how tags are written.
    """

    tokenized: bool = False
    form: str = "tagged"
    scores: bool = False

    def __call__(self, task: Sequence[Block]) -> list[str]:
        """Split, tag and write."""
        from spectralnlp.cli.models import load_for

        tagger = self.loaded(load_for, method="tag", verb="tag")
        sentences = in_blocks(task, tagger.tokenizer, tokenized=self.tokenized)
        return tagged_text(tagger, list(sentences), self.form, self.scores)


def in_blocks(task: Sequence[Block], tokenizer: Tokenizer, **written: Any) -> Iterator[Sentence | None]:
    """Yield the sentences of blocks; options as of `Block.sentences`."""
    for block in task:
        yield from block.sentences(tokenizer, **written)


def cutter(model: str) -> Callable[[str], bool]:
    """Return a function that says after which lines raw text may be cut, by the conventions of a model.

    The model is not loaded: workers do that.
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
    """Write sentences with their tags, with ``scores`` how probable they are; nothing for None."""
    from spectralnlp.render.tags import tag_renderer

    render = tag_renderer(form)
    words = [sentence.forms for sentence in batch if sentence is not None]
    tags = iter(tagger.best_tags(words))
    confidence = iter(tagger.confidence(words) if scores else [None] * len(words))
    return [
        "" if sentence is None else render(sentence, next(tags), tagger.scheme, next(confidence))
        for sentence in batch
    ]
