"""Errors and warnings of the package; each error has a one-line message."""

from __future__ import annotations

import sys
import warnings

from spectralnlp.errors import ConfigError, InputError


class MatrixError(InputError, ValueError):
    """Error for rows that cannot be used, for example with NaN, infinity or the wrong width.

    It is a ValueError, as scikit-learn expects.
    """


class SizeError(ConfigError, ValueError):
    """Error for an invalid value of a hyper-parameter; a ValueError, as scikit-learn expects."""


class SketchWarning(UserWarning):
    """Warning that a result may be inaccurate, for example for a sketch with few rows."""


class TextError(InputError, ValueError):
    """Error for texts or labels that cannot be used; a ValueError, as scikit-learn expects."""


def warn(message: str) -> None:
    """Issue a `SketchWarning` that points at the line that called the package."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("spectralnlp"):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, SketchWarning, stacklevel=level)
