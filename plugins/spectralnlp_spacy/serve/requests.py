"""Requests of ``spectralnlp serve``: their bodies, checked before anything is done for them."""

from __future__ import annotations

import asyncio
import json

from starlette.requests import ClientDisconnect, Request

from spectralnlp_spacy.serve.limits import Limits

FIELD = "text"
_EXAMPLE = f'send {{"{FIELD}": "…"}}'


class BadRequestError(Exception):
    """A request that is not answered.

    Args:
        status: of HTTP.
        what: what is wrong, in one line.
    """

    def __init__(self, status: int, what: str) -> None:
        super().__init__(what)
        self.status = status
        self.what = what


async def read_text(request: Request, limits: Limits) -> str:
    """Return the text that a request brings.

    Raises:
        BadRequestError: it brings none, or too much.
        ClientDisconnect: the client went away.
    """
    _check_type(request.headers.get("content-type", ""))
    try:
        async with asyncio.timeout(limits.seconds):
            body = await _read_body(request, limits.body)
    except TimeoutError as error:
        raise BadRequestError(408, f"the body did not come within {limits.seconds:g} seconds") from error
    return _check_text(_decode(body), limits)


async def wait_for_leaving(request: Request) -> None:
    """Return when the client has gone away; the body has been read."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _check_type(content_type: str) -> None:
    kind, *parameters = (part.strip().lower() for part in content_type.split(";"))
    charsets = {value.strip('"') for name, _, value in map(_halves, parameters) if name == "charset"}
    if kind != "application/json" or not charsets <= {"utf-8", "utf8"}:
        raise BadRequestError(415, "send Content-Type: application/json, in UTF-8")


def _halves(parameter: str) -> tuple[str, str, str]:
    return parameter.partition("=")


async def _read_body(request: Request, most: int) -> bytes:
    too_long = BadRequestError(413, f"the body is too long: at most {most:,} bytes")
    if int(request.headers.get("content-length", 0)) > most:  # the server takes digits only
        raise too_long
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > most:
            raise too_long
    return bytes(body)


def _decode(body: bytes) -> object:
    try:
        value: object = json.loads(body.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise BadRequestError(400, f"the body is not UTF-8; {_EXAMPLE}") from error
    except RecursionError as error:
        raise BadRequestError(400, f"the JSON is nested too deep; {_EXAMPLE}") from error
    except ValueError as error:
        raise BadRequestError(400, f"the body is not JSON: {str(error)[:100]}; {_EXAMPLE}") from error
    return value


def _check_text(value: object, limits: Limits) -> str:
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


__all__ = ["BadRequestError", "ClientDisconnect", "read_text", "wait_for_leaving"]
