"""Annotation project: a folder with a document for each text, locked by one process at a time."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from spectralnlp.errors import ConfigError, InputError
from spectralnlp.text.conventions import Conventions
from spectralnlp.text.sentences import read_tokenized, split_sentences
from spectralnlp.text.tokenizer import Tokenizer
from spectralnlp.trees import Tree, cleaned, read_trees, strip_traces
from spectralnlp_annotate.documents import TREES, Document

_LOCK = ".lock"
_MAX_BYTES = 20_000_000


class Text(NamedTuple):
    """Text to annotate.

    Attributes:
        path: path of the file, whose name is the name of the document.
        content: content of the file.
    """

    path: Path
    content: bytes


def read_texts(paths: Iterable[Path]) -> list[Text]:
    """Read text files, and return each with its path and its content as bytes.

    Raises:
        ConfigError: a file cannot be read.
        InputError: two texts have the same name, or a text is too long.
    """
    texts: dict[str, Text] = {}
    for path in paths:
        if path.stem in texts:
            what = f"another text has the name {path.stem!r}: {texts[path.stem].path}"
            raise InputError(what, path=path, hint="rename one of them")
        try:
            with open(path, "rb") as file:
                content = file.read(_MAX_BYTES + 1)
        except OSError as error:
            raise ConfigError(f"cannot read the text: {error.strerror}", path=path) from error
        if len(content) > _MAX_BYTES:
            raise InputError(f"a text of more than {_MAX_BYTES:,} bytes", path=path, hint="cut it into parts")
        texts[path.stem] = Text(path, content)
    return list(texts.values())


class Project:
    """Annotation project: the documents in a folder.

    Args:
        folder: path of the folder, which is created if necessary.

    Attributes:
        documents: documents in the order in which their texts were added.

    Raises:
        ConfigError: the folder cannot be used, or is locked by another process.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.documents: list[Document] = []
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise ConfigError(f"cannot use the folder: {error.strerror}", path=folder) from error
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._lock)
            hint = "end it, or name another folder"
            raise ConfigError("another process annotates in this folder", path=folder, hint=hint) from error

    def add(self, texts: Iterable[Text], tokenizer: Tokenizer, *, tokenized: bool = False) -> None:
        """Open the annotated documents of some texts, or create those that do not exist yet.

        Args:
            texts: texts with different names; files with the extension ``.mrg`` hold trees to be corrected.
            tokenizer: splits new texts into sentences and tokens.
            tokenized: whether texts have one sentence per line, with spaces between tokens.

        Raises:
            ConfigError: a file cannot be written.
            InputError: a text has changed since its document was created, or has no sentence; the file of
                accepted trees would overwrite an input; or a journal is damaged.
        """
        for text in texts:
            if text.path.resolve() == (self.folder / f"{text.path.stem}{TREES}").resolve():
                what = "the accepted trees would overwrite these"
                raise InputError(what, path=text.path, hint="name another folder with `output`")
            document = Document(self.folder, text.path.stem)
            if document.is_new and text.path.suffix == TREES:
                trees = _trees(text)
                document.begin(text.content, [each.words() for each in cleaned(trees)], trees)
            elif document.is_new:
                document.begin(text.content, list(_sentences(text, tokenizer, tokenized)))
            else:
                document.check_text(text.content, text.path)
            self.documents.append(document)

    def places(self) -> Iterator[tuple[int, int]]:
        """Yield (index of the document, index of the sentence) for all sentences."""
        for number, document in enumerate(self.documents):
            for sentence in range(len(document)):
                yield number, sentence

    def accepted(self) -> list[str]:
        """Return the accepted trees in brackets, in the order of the texts."""
        return [each.tree for document in self.documents for each in document if each.tree is not None]

    def close(self) -> None:
        """Close the documents and unlock the folder."""
        for document in self.documents:
            document.close()
        os.close(self._lock)


def plain_tokenizer(texts: Iterable[Text]) -> Tokenizer:
    """Return a tokenizer for texts in a language for which there is no model.

    Args:
        texts: the texts, from which the tokenizer learns conventions, such as how brackets are written.
    """
    words = (word for text in texts for word in text.content.decode("utf-8", "replace").split())
    return Tokenizer(Conventions.learn(words))


def _trees(text: Text) -> list[Tree]:
    trees = [each for each in read_trees(text.path) if strip_traces(each) is not None]
    if not trees:
        raise InputError("no trees in this file", path=text.path)
    return trees


def _sentences(text: Text, tokenizer: Tokenizer, tokenized: bool) -> Iterator[Sequence[str]]:
    try:
        lines = text.content.decode("utf-8-sig").splitlines(keepends=True)
    except UnicodeDecodeError as error:
        line = text.content[: error.start].count(b"\n") + 1
        raise InputError("the text is not UTF-8", path=text.path, line=line, hint="convert it") from error
    read = read_tokenized(lines, tokenizer, text.path) if tokenized else split_sentences(lines, tokenizer)
    n = 0
    for sentence in read:
        if sentence is not None:
            n += 1
            yield sentence.words
    if not n:
        raise InputError("the text has no sentence", path=text.path, hint="give one with words")
