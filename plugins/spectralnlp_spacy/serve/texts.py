"""Read and check the bodies of requests: a text to analyse, or a bracket to explain."""

from __future__ import annotations

from typing import Any

from spectralnlp_web import BadRequestError, read_json
from starlette.requests import Request

from spectralnlp_spacy.serve.limits import Limits

FIELD = "text"
_EXAMPLE = f'send {{"{FIELD}": "…"}}'
_QUESTION = 'send {"words": ["It", "is", "cold"], "bracket": [1, 3, "VP"]}'


async def read_text(request: Request, limits: Limits) -> str:
    """Return the text in a request's body.

    Raises:
        BadRequestError: the body is invalid or too long.
        ClientDisconnect: the client closed the connection.
    """
    value = await _read_fields(request, limits, (FIELD,), _EXAMPLE)
    text = value.get(FIELD)
    if not isinstance(text, str):
        raise BadRequestError(422, f"{FIELD!r} is missing or not a string; {_EXAMPLE}")
    _check_characters(text, FIELD, limits)
    return text


async def read_question(request: Request, limits: Limits) -> dict[str, Any]:
    """Return the sentence (``words``) and the ``bracket`` of a request to explain a bracket.

    The bracket is a list: index of its first word, index of the first word after it, and label.

    Raises:
        BadRequestError: the body is invalid or too long.
        ClientDisconnect: the client closed the connection.
    """
    value = await _read_fields(request, limits, ("words", "bracket"), _QUESTION)
    words, bracket = value.get("words"), value.get("bracket")
    if not isinstance(words, list) or not words or not all(isinstance(each, str) and each for each in words):
        raise BadRequestError(422, f"'words' is missing or not a list of words; {_QUESTION}")
    if not isinstance(bracket, list) or list(map(type, bracket)) != [int, int, str]:
        raise BadRequestError(422, f"'bracket' is missing or not start, end and label; {_QUESTION}")
    if len(words) > limits.tokens:
        raise BadRequestError(413, f"{len(words):,} words; give at most {limits.tokens:,}")
    _check_characters(" ".join([*words, bracket[2]]), "words", limits)
    return {"words": words, "bracket": bracket}


async def _read_fields(
    request: Request, limits: Limits, fields: tuple[str, ...], example: str
) -> dict[str, Any]:
    """Return the JSON object in a request's body, which must have certain fields and no others.

    Args:
        request: the request.
        limits: limits of requests.
        fields: names of the fields.
        example: a valid body, quoted in error messages.
    """
    value = await read_json(request, most=limits.body, seconds=limits.seconds, example=example)
    if not isinstance(value, dict):
        raise BadRequestError(422, f"the JSON is not an object; {example}")
    unknown = sorted(value.keys() - set(fields))
    if unknown:
        raise BadRequestError(422, f"unknown field {unknown[0][:100]!r}; {example}")
    return value


def _check_characters(text: str, field: str, limits: Limits) -> None:
    if len(text) > limits.characters:
        raise BadRequestError(413, f"a text of {len(text):,} characters; give at most {limits.characters:,}")
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise BadRequestError(422, f"{field!r} has an unpaired surrogate")
