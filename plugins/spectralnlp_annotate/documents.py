"""Documents: the annotated sentences of one text, their journal, and the file of accepted trees.

The journal is authoritative: its first line has the tokens of all sentences, and each further line is an
edit. The file of trees is rewritten from it, one tree per line in the order of the text. Trees that were to
be corrected keep their functions and empty elements.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from spectralnlp.errors import ConfigError, InputError
from spectralnlp.trees import Tree, clean, read_brackets, strip_root, with_annotation
from spectralnlp_annotate.edits import AnnotatedSentence, EditError
from spectralnlp_annotate.journal import Journal

_FORMAT = 1
JOURNAL, TREES = ".journal", ".mrg"


class Document:
    """Annotated sentences of a text.

    Args:
        folder: folder of the document's files.
        name: name of the text without its extension.

    Attributes:
        remarks: a message for each line of the journal that is not a valid edit and was skipped.

    Raises:
        ConfigError: a file cannot be read or written.
        InputError: the first line of the journal is invalid.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self.name = name
        self._trees = folder / f"{name}{TREES}"
        self._journal = Journal(folder / f"{name}{JOURNAL}")
        self._histories: list[_History] = []
        self._annotated: list[Tree] = []  # the trees to be corrected, as they were read
        self.remarks: list[str] = []
        if self._journal.entries:
            self._replay()

    @property
    def is_new(self) -> bool:
        """Whether the document has no sentences yet."""
        return not self._histories

    def begin(
        self, text: bytes, sentences: Sequence[Sequence[str]], trees: Sequence[Tree] | None = None
    ) -> None:
        """Set the sentences of a new document, and write its files.

        Args:
            text: content of the text file.
            sentences: tokens of each sentence.
            trees: tree of each sentence, to be corrected, with functions and empty elements; None to start
                from the parser's trees.
        """
        header: dict[str, Any] = {
            "format": _FORMAT,
            "text": _digest(text),
            "sentences": [list(each) for each in sentences],
        }
        if trees is not None:
            header["trees"] = [str(each) for each in trees]
        self._journal.append(header)
        self._digest = _digest(text)
        self._begin(header)
        self._write_trees()

    def check_text(self, text: bytes, path: Path) -> None:
        """Check that a text has not changed since the document was created from it.

        Raises:
            InputError: the text has changed.
        """
        if self._digest != _digest(text):
            hint = "name another folder with `output`, or put the old text back"
            raise InputError(
                f"the text has changed since {self._journal.path} was begun", path=path, hint=hint
            )

    def __len__(self) -> int:
        return len(self._histories)

    def __getitem__(self, number: int) -> AnnotatedSentence:
        return self._histories[number].now

    def __iter__(self) -> Iterator[AnnotatedSentence]:
        return (each.now for each in self._histories)

    def can(self, number: int) -> dict[str, bool]:
        """Return whether an edit of a sentence can be undone (key ``undo``) and redone (key ``redo``)."""
        history = self._histories[number]
        return {"undo": bool(history.past), "redo": bool(history.future)}

    def preview(self, number: int, edit: Mapping[str, Any]) -> AnnotatedSentence:
        """Return a sentence as it would be after an edit, without applying the edit.

        Args:
            number: index of the sentence.
            edit: an edit as `AnnotatedSentence.edited` takes it, or ``undo`` or ``redo``.

        Raises:
            EditError: the edit does not fit the sentence.
        """
        return self._histories[number].after(edit)

    def apply(self, number: int, edit: Mapping[str, Any]) -> AnnotatedSentence:
        """Apply an edit, write it to disk, and return the changed sentence.

        Args:
            number: index of the sentence.
            edit: an edit as `AnnotatedSentence.edited` takes it, or ``undo`` or ``redo``.

        Raises:
            EditError: the edit does not fit the sentence.
            ConfigError: the edit cannot be written; then it has not been applied.
        """
        changed = self._histories[number].after(edit)
        entry = {"sentence": number, "at": datetime.now(UTC).isoformat("T", "seconds"), **edit}
        trees = [each.tree for each in self]
        trees[number] = changed.tree
        # If the disk is too full for the trees, the journal must not record that they changed.
        with nullcontext() if changed.tree == self[number].tree else self._new_trees(trees):
            self._journal.append(entry)
            self._histories[number].take(edit)
        return changed

    def close(self) -> None:
        """Close the journal."""
        self._journal.close()

    def _begin(self, header: Mapping[str, Any]) -> None:
        """Set the sentences as they are before any edit, from the first line of the journal."""
        sentences = [_sentence_of(words) for words in header["sentences"]]
        self._annotated = list(read_brackets(header.get("trees", [])))
        if self._annotated:
            plain = map(clean, self._annotated)
            sentences = [
                each if tree is None else each.with_tree(tree)
                for each, tree in zip(sentences, plain, strict=True)
            ]
        self._histories = [_History(each) for each in sentences]

    def _replay(self) -> None:
        header, *entries = self._journal.entries
        try:
            if header is None:
                raise ValueError("the first line is not a JSON object")
            if header["format"] != _FORMAT:
                raise ValueError(f"format {header['format']!r} is not supported, only {_FORMAT}")
            self._digest = str(header["text"])
            self._begin(header)
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(
                f"not a journal of annotations: {error}", path=self._journal.path, line=1
            ) from error
        for line, entry in enumerate(entries, 2):
            try:
                self._replay_edit(entry or {})
            except EditError as error:
                self.remarks.append(f"{self._journal.path}:{line}: {error.what}; the line was skipped")
        self._write_trees()

    def _replay_edit(self, entry: Mapping[str, Any]) -> None:
        edit = {name: value for name, value in entry.items() if name not in ("sentence", "at")}
        number = entry.get("sentence")
        if not isinstance(number, int) or not 0 <= number < len(self):
            raise EditError("not an edit of a sentence")
        self._histories[number].take(edit)

    def _write_trees(self) -> None:
        with self._new_trees([each.tree for each in self]):
            pass

    @contextmanager
    def _new_trees(self, trees: Iterable[str | None]) -> Iterator[None]:
        """Write accepted trees to a new file; it replaces the old one if the ``with`` block succeeds."""
        accepted = "".join(
            f"{self._with_annotation(number, tree)}\n"
            for number, tree in enumerate(trees)
            if tree is not None
        )
        partial = self._trees.with_name(f".{self._trees.name}.partial")
        try:
            partial.write_text(accepted, encoding="utf-8")
            yield
            os.replace(partial, self._trees)
        except OSError as error:
            raise ConfigError(f"cannot write the trees: {error.strerror}", path=self._trees) from error
        finally:
            partial.unlink(missing_ok=True)

    def _with_annotation(self, number: int, tree: str) -> str:
        """Return an accepted tree with functions and empty elements of the tree that was to be corrected."""
        if not self._annotated:
            return tree
        (accepted,) = read_brackets([tree])
        try:
            return str(with_annotation(strip_root(accepted), self._annotated[number]))
        except InputError:  # words were split or joined
            return tree


class _History:
    """History of a sentence: past states for undo, the present state, and future states for redo."""

    def __init__(self, first: AnnotatedSentence) -> None:
        self.past: list[AnnotatedSentence] = []
        self.now = first
        self.future: list[AnnotatedSentence] = []

    def after(self, edit: Mapping[str, Any]) -> AnnotatedSentence:
        """Return the state of the sentence after an edit, without applying the edit."""
        if edit.get("do") in ("undo", "redo"):
            if len(edit) > 1:
                raise EditError(f"{edit['do']} has no fields", hint=f'send {{"do": "{edit["do"]}"}}')
            states = self.past if edit["do"] == "undo" else self.future
            if not states:
                raise EditError(f"nothing to {edit['do']}")
            return states[-1]
        return self.now.edited(edit)

    def take(self, edit: Mapping[str, Any]) -> None:
        """Apply an edit, which may be ``undo`` or ``redo``; its result becomes the present state."""
        new = self.after(edit)
        if edit.get("do") == "undo":
            self.future.append(self.now)
            self.past.pop()
        else:
            self.past.append(self.now)
            if edit.get("do") == "redo":
                self.future.pop()
            else:
                self.future.clear()
        self.now = new


def _sentence_of(words: object) -> AnnotatedSentence:
    if not isinstance(words, list) or not words or not all(isinstance(word, str) for word in words):
        raise ValueError("a sentence is not a list of words")
    return AnnotatedSentence(words=tuple(words))


def _digest(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()
