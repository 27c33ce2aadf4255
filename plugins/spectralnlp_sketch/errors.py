"""Errors of one line, and warnings."""

from __future__ import annotations

import sys
import warnings

from spectralnlp.errors import ConfigError, InputError


class MatrixError(InputError, ValueError):
    """Rows that cannot be used: a NaN, an infinity, another width. A ValueError, as scikit-learn expects."""


class SizeError(ConfigError, ValueError):
    """A hyper-parameter that makes no sense. A ValueError, as scikit-learn expects."""


class SketchWarning(UserWarning):
    """A result that may be worse than it looks: too few rows for a sketch, a matrix near to singular."""


class TextError(InputError, ValueError):
    """Texts or labels that cannot be used. A ValueError, as scikit-learn expects."""


def warn(message: str) -> None:
    """Warn with a `SketchWarning` at the line that called the package."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("spectralnlp"):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, SketchWarning, stacklevel=level)
