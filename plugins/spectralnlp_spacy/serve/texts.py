"""The text that a request brings, checked before anything is done with it."""

from __future__ import annotations

from spectralnlp_web import BadRequestError, read_json
from starlette.requests import Request

from spectralnlp_spacy.serve.limits import Limits

FIELD = "text"
_EXAMPLE = f'send {{"{FIELD}": "…"}}'


async def read_text(request: Request, limits: Limits) -> str:
    """Return the text that a request brings.

    Raises:
        BadRequestError: it brings none, or too much.
        ClientDisconnect: the client went away.
    """
    value = await read_json(request, most=limits.body, seconds=limits.seconds, example=_EXAMPLE)
    if not isinstance(value, dict):
        raise BadRequestError(422, f"the JSON is not an object; {_EXAMPLE}")
    unknown = sorted(value.keys() - {FIELD})
    if unknown:
        raise BadRequestError(422, f"unknown field {unknown[0][:100]!r}; {_EXAMPLE}")
    text = value.get(FIELD)
    if not isinstance(text, str):
        raise BadRequestError(422, f"{FIELD!r} is missing or no string; {_EXAMPLE}")
    if len(text) > limits.characters:
        raise BadRequestError(413, f"a text of {len(text):,} characters; give at most {limits.characters:,}")
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise BadRequestError(422, f"{FIELD!r} has half a character: a surrogate without the other")
    return text
