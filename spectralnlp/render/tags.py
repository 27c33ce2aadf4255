"""Output formats of tagged sentences: ``tagged``, ``conllu`` and ``json``."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from spectralnlp.errors import ConfigError
from spectralnlp.text.spans import Scheme, spans_of
from spectralnlp.text.tokens import Sentence

# Arguments: sentence, tags, their scheme, their probabilities or None. Returns text without a final newline.
TagRenderer = Callable[[Sentence, Sequence[str], Scheme, "Sequence[float] | None"], str]

UNIVERSAL = frozenset(
    {
        "ADJ",
        "ADP",
        "ADV",
        "AUX",
        "CCONJ",
        "DET",
        "INTJ",
        "NOUN",
        "NUM",
        "PART",
        "PRON",
        "PROPN",
        "PUNCT",
        "SCONJ",
        "SYM",
        "VERB",
        "X",
    }
)
_XPOS, _UPOS, _MISC = 4, 3, 9


def tag_renderer(name: str) -> TagRenderer:
    """Return the function that writes tagged sentences in an output format.

    Raises:
        ConfigError: the format does not exist.
    """
    formats = {"tagged": _tagged, "conllu": to_conllu, "json": _json}
    if name not in formats:
        raise ConfigError(f"no output format {name!r}", hint=f"choose from {', '.join(formats)}")
    return formats[name]


def _tagged(
    sentence: Sentence, tags: Sequence[str], scheme: Scheme, confidence: Sequence[float] | None
) -> str:
    """Return ``word_TAG`` pairs separated by spaces; spaces within a word become underscores.

    With ``confidence``, a pair is followed by the probability of the tag: ``word_TAG:0.987``. ``scheme`` is
    ignored.
    """
    words = (word.replace(" ", "_") for word in sentence.words)
    if confidence is None:
        return " ".join(f"{word}_{tag}" for word, tag in zip(words, tags, strict=True))
    return " ".join(f"{word}_{tag}:{p:.3f}" for word, tag, p in zip(words, tags, confidence, strict=True))


def to_conllu(
    sentence: Sentence,
    tags: Sequence[str],
    scheme: Scheme = "tags",
    confidence: Sequence[float] | None = None,
    *,
    comments: Mapping[str, str] | None = None,
) -> str:
    """Return a tagged sentence in CoNLL-U.

    Universal tags become UPOS, tags that encode spans go to MISC, and all other tags become XPOS. The text
    ends in a line break; ``print`` adds the empty line that CoNLL-U needs after a sentence.

    Args:
        sentence: the sentence.
        tags: one tag per word.
        scheme: the tags' encoding: plain tags, or an encoding of spans.
        confidence: probability of each tag; None to leave it out.
        comments: values of further comment lines ``# name = value``, by name.
    """
    lines = [f"# text = {text_of(sentence)}"]
    lines += [f"# {name} = {value}" for name, value in (comments or {}).items()]
    for number, (token, tag) in enumerate(zip(sentence.tokens, tags, strict=True), 1):
        fields = [str(number), token.text, *"________"]
        notes = []
        if scheme != "tags":
            notes.append(f"Tag={tag}")
        else:
            fields[_UPOS if tag in UNIVERSAL else _XPOS] = str(tag)
        if confidence is not None:
            notes.append(f"Confidence={confidence[number - 1]:.3f}")
        if number < len(sentence) and sentence.tokens[number].start == token.end:
            notes.append("SpaceAfter=No")
        fields[_MISC] = "|".join(notes) or "_"
        lines.append("\t".join(fields))
    return "\n".join([*lines, ""])


def text_of(sentence: Sentence) -> str:
    """Return the tokens of a sentence, joined by a space wherever the text had whitespace between them."""
    text, end = "", sentence.start
    for token in sentence.tokens:
        text += (" " if token.start > end else "") + token.text
        end = token.end
    return text


def _json(sentence: Sentence, tags: Sequence[str], scheme: Scheme, confidence: Sequence[float] | None) -> str:
    return json.dumps(to_dict(sentence, tags, scheme, confidence), ensure_ascii=False)


def to_dict(
    sentence: Sentence, tags: Sequence[str], scheme: Scheme, confidence: Sequence[float] | None
) -> dict[str, Any]:
    """Return a tagged sentence as a dictionary for JSON.

    Each item of ``tokens`` has ``text``, ``start``, ``end``, ``tag`` and, if known, ``confidence``. If the
    tags encode spans, there is a list ``spans``, whose items have ``label``, ``start`` and ``end``. Offsets
    are in characters. See `to_conllu` for the arguments.
    """
    tokens: list[dict[str, Any]] = [
        {"text": token.text, "start": token.start, "end": token.end, "tag": tag}
        for token, tag in zip(sentence.tokens, tags, strict=True)
    ]
    if confidence is not None:
        for token, p in zip(tokens, confidence, strict=True):
            token["confidence"] = round(float(p), 4)
    result: dict[str, Any] = {"tokens": tokens}
    if scheme != "tags":
        result["spans"] = [
            {"label": label, "start": sentence.tokens[first].start, "end": sentence.tokens[end - 1].end}
            for first, end, label in spans_of(tags)
        ]
    return result
