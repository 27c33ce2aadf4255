"""Find the scripts of characters, which help to split text that has no blanks between words."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

# Scripts whose languages write no blank between words: Thai, Lao, Tibetan, Burmese, Khmer, kana, Chinese.
_CONTINUOUS = re.compile(
    "[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]"
)


def is_continuous(text: str) -> bool:
    """Whether a text has a character of a script whose languages write no blanks between words.

    Examples:
        >>> from spectralnlp.text.scripts import is_continuous
        >>> is_continuous("\u706f\u53f0"), is_continuous("lighthouse")
        (True, False)
    """
    return _CONTINUOUS.search(text) is not None


@lru_cache(maxsize=1 << 16)
def script_of(character: str) -> str:
    """Return the script of a letter, such as ``HIRAGANA``, or the Unicode category of another character."""
    category = unicodedata.category(character)
    return unicodedata.name(character, category).split(" ")[0] if category[0] == "L" else category
