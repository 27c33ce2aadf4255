"""JSON lines: one object per sentence, described by ``parse.schema.json`` next to this module.

- ``tokens``: ``text`` as in the input, ``form`` as the grammar reads it, ``tag``, and ``start`` and ``end``,
  character offsets into the input;
- ``constituents``: ``label``, ``start`` and ``end`` in tokens, ``start_char`` and ``end_char`` in
  characters, ``posterior``; parents before children, unary chains kept;
- ``tree``: the bracketed tree;
- ``log_probability``: natural logarithm of the sentence's probability;
- ``fallback``: null if the tree is the grammar's best one; otherwise a text that says why it is not;
- ``alternatives``: ``tree`` and ``score`` of the k best trees, if more than one was requested.

Ends are exclusive. Numbers that are not finite are null. Scores are always included.
"""

from __future__ import annotations

import json
import math
from typing import Any

from spectralnlp.render.parsed import ParsedSentence


def render(parse: ParsedSentence, scores: bool = True) -> str:
    """Return the parse as one line of JSON; ``scores`` is ignored, because scores are always included."""
    return json.dumps(to_dict(parse), ensure_ascii=False, allow_nan=False)


def to_dict(parse: ParsedSentence) -> dict[str, Any]:
    """Return the parse as dictionaries, lists, strings and numbers."""
    tokens = parse.sentence.tokens
    return {
        "tokens": [
            {"text": token.text, "form": token.form, "tag": tag, "start": token.start, "end": token.end}
            for token, tag in zip(tokens, parse.tree.tags(), strict=True)
        ],
        "constituents": [
            {
                "label": c.label,
                "start": c.start,
                "end": c.end,
                "start_char": tokens[c.start].start,
                "end_char": tokens[c.end - 1].end,
                "posterior": _finite(c.posterior),
            }
            for c in parse.constituents
        ],
        "tree": str(parse.tree),
        "log_probability": _finite(parse.log_probability),
        "fallback": parse.fallback,
        "alternatives": [
            {"tree": str(each.tree), "score": _finite(each.score)} for each in parse.alternatives
        ],
    }


def _finite(number: float | None) -> float | None:
    return float(number) if number is not None and math.isfinite(number) else None
