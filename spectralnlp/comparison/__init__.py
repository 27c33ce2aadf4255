"""Comparison of trees."""

from __future__ import annotations

from spectralnlp.comparison.errors import Repair, TreeError, TreeErrors, find_errors
from spectralnlp.comparison.kinds import ErrorType

__all__ = ["ErrorType", "Repair", "TreeError", "TreeErrors", "find_errors"]
