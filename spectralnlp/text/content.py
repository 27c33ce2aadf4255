"""Words for bags of words."""

from __future__ import annotations

import re

_WORD = re.compile(r"[^\W\d_]{2,}(?:['’][^\W\d_]+)?")


def content_words(text: str) -> list[str]:
    """Return the words of a text in lower case: two letters or more, also after an apostrophe; no numbers."""
    return _WORD.findall(text.lower())
