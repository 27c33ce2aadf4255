"""Errors that users see: one line that says what is wrong, where, and what to do."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable
from pathlib import Path

_PARAMETER = re.compile(r"(?<!`)`([A-Za-z_]\w*)`(?!`)")

# Parts of system messages that mean that memory has run out.
_NO_MEMORY = (
    "annot allocate memory",
    "failed to map segment",
    "can't start new thread",
    "without exception set",
    "without setting an exception",
    "Unable to allocate",
    "Could not find/load shared object",
)
_RAISED_FOR_WANT_OF_MEMORY = (SystemError, ImportError, OSError, RuntimeError)

# ValueError of Python's compiler that could not allocate a node of the syntax tree of a module.
_NO_NODE = re.compile(r"field '\w+' is required for [A-Z]\w+")

# Maximum lengths, in characters: of a word in a message, of a path or a hint, and of the whole line.
_LONGEST_WORD, _LONGEST_PART, _LONGEST = 120, 300, 1000


def replace_parameters(message: str, name_of: Callable[[str], str]) -> str:
    """Rewrite the parameter names that stand in backticks in a message.

    Args:
        message: text such as ``raise `memory` or lower max_words``.
        name_of: returns what to write for a parameter's name.
    """
    return _PARAMETER.sub(lambda match: name_of(match[1]), message)


def _cut(text: str, size: int) -> str:
    return text if len(text) <= size else f"{text[: size - 1]}…"


def shortened(message: str, size: int = _LONGEST) -> str:
    """Return a message on one line; cut long words, because a message may quote a token of any length.

    Args:
        message: the message.
        size: maximum number of characters of the result.
    """
    return _cut(" ".join(_cut(word, _LONGEST_WORD) for word in message.split()), size)


class SpectralError(Exception):
    """Base class of errors caused by the input or the settings, not by a bug.

    ``str`` gives one line, which the command line prints before it exits with status 2. In ``what`` and
    ``hint``, a parameter that is also an option of the command line stands in backticks; ``str`` drops the
    backticks (``memory``), and the command line writes the option (``--memory``).

    Args:
        what: what is wrong, without a full stop.
        path: the file with the error.
        line: line number, from 1.
        sentence: sentence (or tree) number within the file, from 1.
        hint: what to do about it.

    Examples:
        >>> import spectralnlp
        >>> try:
        ...     spectralnlp.load("no-such-model")
        ... except spectralnlp.SpectralError as error:
        ...     print(type(error).__name__, "no-such-model" in str(error))
        ...
        ModelError True
    """

    def __init__(
        self,
        what: str,
        *,
        path: str | Path | None = None,
        line: int | None = None,
        sentence: int | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(what)
        self.what = what
        self.path = path
        self.line = line
        self.sentence = sentence
        self.hint = hint

    def __str__(self) -> str:
        return replace_parameters(self.message, lambda name: name)

    @property
    def message(self) -> str:
        """The error on one line, with parameters in backticks."""
        where = "" if self.path is None else _cut(str(self.path), _LONGEST_PART)
        if self.line is not None:
            where += f":{self.line}" if where else f"line {self.line}"
        if self.sentence is not None:
            where += f" (sentence {self.sentence})" if where else f"sentence {self.sentence}"
        before = f"{where}: " if where else ""
        after = f"; {_cut(self.hint, _LONGEST_PART)}" if self.hint else ""
        what = shortened(self.what, _LONGEST - len(before) - len(after))
        return " ".join(f"{before}{what}{after}".split())

    def __reduce__(self) -> tuple[object, ...]:
        # Keyword arguments do not survive Exception's own pickling, which worker processes use.
        return _rebuild, (type(self), self.what, self.path, self.line, self.sentence, self.hint)


def _rebuild(
    kind: type[SpectralError],
    what: str,
    path: str | Path | None,
    line: int | None,
    sentence: int | None,
    hint: str | None,
) -> SpectralError:
    return kind(what, path=path, line=line, sentence=sentence, hint=hint)


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether an error was caused by a lack of memory, even if it is not a MemoryError.

    For example, numpy may raise a SystemError, and the loader of shared libraries an ImportError.
    """
    if isinstance(error, ValueError):
        return _NO_NODE.fullmatch(str(error)) is not None
    says_so = any(each in str(error) for each in _NO_MEMORY)
    return isinstance(error, MemoryError) or (says_so and isinstance(error, _RAISED_FOR_WANT_OF_MEMORY))


class InputError(SpectralError):
    """Error for data that cannot be read: unbalanced brackets, a wrong encoding, a missing file."""


class ModelError(SpectralError):
    """Error for a model folder that is missing, truncated or of an unsupported version."""


class ConfigError(SpectralError):
    """Error for an invalid option, setting or configuration file."""


class RegistryError(SpectralError):
    """Error for a name that is not registered, or a plugin that is broken or not installed."""


class NotFittedError(SpectralError):
    """Error for using an estimator before ``fit`` was called."""


def resolved(path: str | Path) -> Path:
    """Return an absolute path without symbolic links, for a file or folder to be written.

    Raises:
        ConfigError: a link leads to itself.
    """
    try:
        os.stat(path)  # raises the same in all versions of Python, unlike `Path.resolve`
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise ConfigError("the link leads to itself", path=path, hint="give another folder") from error
    return Path(path).resolve()
