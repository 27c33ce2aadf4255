"""What this plugin complains of: errors of one line, and warnings."""

from __future__ import annotations

from spectralnlp.errors import ConfigError, InputError


class MatrixError(InputError, ValueError):
    """Rows that cannot be used: a NaN, an infinity, another width. A ValueError, as scikit-learn expects."""


class SizeError(ConfigError, ValueError):
    """A hyper-parameter that makes no sense. A ValueError, as scikit-learn expects."""


class SketchWarning(UserWarning):
    """A result that may be worse than it looks: too few rows for a sketch, a matrix near to singular."""


class TextError(InputError, ValueError):
    """Texts or labels that cannot be used. A ValueError, as scikit-learn expects."""
