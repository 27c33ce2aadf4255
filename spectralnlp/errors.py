"""The errors that users see: one line that says what is wrong, where, and what to do."""

from __future__ import annotations

from pathlib import Path


class SpectralError(Exception):
    """Base of every error that is the input's fault, not the program's.

    The command line prints it as one line and exits with 2.

    Args:
        what: what is wrong, without a full stop.
        path: the file it was found in.
        line: line number, from 1.
        sentence: sentence (or tree) number within the file, from 1.
        hint: what to do about it.
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
        where = "" if self.path is None else str(self.path)
        if self.line is not None:
            where += f":{self.line}" if where else f"line {self.line}"
        if self.sentence is not None:
            where += f" (sentence {self.sentence})" if where else f"sentence {self.sentence}"
        message = f"{where}: {self.what}" if where else self.what
        message = f"{message}; {self.hint}" if self.hint else message
        return " ".join(message.split())

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


class InputError(SpectralError):
    """Data that cannot be read: unbalanced brackets, a wrong encoding, a missing file."""


class ModelError(SpectralError):
    """A model folder that is missing, truncated or of another version."""


class ConfigError(SpectralError):
    """An option, setting or configuration file that makes no sense."""


class RegistryError(SpectralError):
    """A name that nothing is registered under, or a plugin that is broken or not installed."""


class NotFittedError(SpectralError):
    """An estimator that was asked for results before ``fit``."""
