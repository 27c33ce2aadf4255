"""A folder of annotations: a document for each text, for one process at a time."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from spectralnlp.errors import ConfigError, InputError
from spectralnlp.text.sentences import read_tokenized, split_sentences
from spectralnlp.text.tokenizer import Tokenizer
from spectralnlp_annotate.documents import Document

_LOCK = ".lock"
_MOST_BYTES = 20_000_000


class Project:
    """The documents of a folder.

    Args:
        folder: is made if it is not there.

    Attributes:
        documents: in the order in which their texts were given.

    Raises:
        ConfigError: the folder cannot be used, or another process annotates there.
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

    def add(self, texts: Iterable[Path], tokenizer: Tokenizer, *, tokenized: bool = False) -> None:
        """Open the documents of texts, those that were begun before as they were left.

        Args:
            texts: files of UTF-8.
            tokenizer: splits new ones into sentences and tokens.
            tokenized: they are split already: a sentence a line, blanks between tokens.

        Raises:
            ConfigError: a file cannot be read or written.
            InputError: two texts of one name; a text that is too long, changed since it was begun, or empty.
        """
        names: dict[str, Path] = {}
        for path in texts:
            if path.stem in names:
                what = f"another text has the name {path.stem!r}: {names[path.stem]}"
                raise InputError(what, path=path, hint="rename one of them")
            names[path.stem] = path
        for name, path in names.items():
            content = _read(path)
            document = Document(self.folder, name)
            if document.is_new:
                document.begin(content, list(_sentences(content, path, tokenizer, tokenized)))
            else:
                document.check_text(content, path)
            self.documents.append(document)

    def places(self) -> Iterator[tuple[int, int]]:
        """Yield the document and the number of each sentence, in the order of the texts."""
        for number, document in enumerate(self.documents):
            for sentence in range(len(document)):
                yield number, sentence

    def accepted(self) -> list[str]:
        """The accepted trees, in the order of the texts."""
        return [each.tree for document in self.documents for each in document if each.tree is not None]

    def close(self) -> None:
        """Let others annotate here."""
        for document in self.documents:
            document.close()
        os.close(self._lock)


def _sentences(
    content: bytes, path: Path, tokenizer: Tokenizer, tokenized: bool
) -> Iterator[Sequence[str]]:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise InputError("the text is not UTF-8", path=path, line=line, hint="convert it") from error
    lines = text.splitlines(keepends=True)
    read = read_tokenized(lines, tokenizer, path) if tokenized else split_sentences(lines, tokenizer)
    n = 0
    for sentence in read:
        if sentence is not None and sentence.words:
            n += 1
            yield sentence.words
    if not n:
        raise InputError("the text has no sentence", path=path, hint="give one with words")


def _read(path: Path) -> bytes:
    try:
        with open(path, "rb") as file:
            content = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"cannot read the text: {error.strerror}", path=path) from error
    if len(content) > _MOST_BYTES:
        raise InputError(f"a text of more than {_MOST_BYTES:,} bytes", path=path, hint="cut it into parts")
    return content
