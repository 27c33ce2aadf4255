"""Extract the content words of a text, for bag-of-words models."""

from __future__ import annotations

import re

_WORD = re.compile(r"[^\W\d_]{2,}(?:['’][^\W\d_]+)?")


def content_words(text: str) -> list[str]:
    """Return the lower-cased words of two or more letters in a text, such as ``don't``, without numbers."""
    return _WORD.findall(text.lower())
