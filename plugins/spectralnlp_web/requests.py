"""Read and check the JSON bodies of requests."""

from __future__ import annotations

import asyncio
import json

from starlette.requests import Request
from starlette.responses import JSONResponse, Response


class BadRequestError(Exception):
    """Error of an invalid request.

    Args:
        status: HTTP status of the response.
        what: error message, a single line.
    """

    def __init__(self, status: int, what: str) -> None:
        super().__init__(what)
        self.status = status
        self.what = what


async def read_json(request: Request, *, most: int, seconds: float, example: str) -> object:
    """Read the body of a request, and return its JSON value.

    Args:
        request: a request whose body has not been read.
        most: maximum length of the body, in bytes.
        seconds: seconds within which the body must arrive.
        example: a valid body, quoted in error messages.

    Raises:
        BadRequestError: the content type or the body is not JSON in UTF-8, or the body is too long or late.
        ClientDisconnect: the client closed the connection.
    """
    _check_type(request.headers.get("content-type", ""))
    try:
        async with asyncio.timeout(seconds):
            body = await _read_body(request, most)
    except TimeoutError as error:
        raise BadRequestError(408, f"the body did not arrive within {seconds:g} seconds") from error
    return _decode(body, example)


async def wait_for_leaving(request: Request) -> None:
    """Wait until the client closes the connection; call this after reading the request's body."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def answer_bad_request(request: Request, error: BadRequestError) -> Response:
    """Return the error response to an invalid request, which also closes the connection.

    Otherwise the server would read the rest of the invalid body as the next request.
    """
    return JSONResponse({"error": error.what}, error.status, {"Connection": "close"})


def _check_type(content_type: str) -> None:
    kind, *parameters = (part.strip().lower() for part in content_type.split(";"))
    charsets = {value.strip('"') for name, _, value in map(_halves, parameters) if name == "charset"}
    if kind != "application/json" or not charsets <= {"utf-8", "utf8"}:
        raise BadRequestError(415, "send Content-Type: application/json, in UTF-8")


def _halves(parameter: str) -> tuple[str, str, str]:
    return parameter.partition("=")


async def _read_body(request: Request, most: int) -> bytes:
    too_long = BadRequestError(413, f"the body is too long: at most {most:,} bytes")
    if int(request.headers.get("content-length", 0)) > most:  # the server accepts digits only
        raise too_long
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > most:
            raise too_long
    return bytes(body)


def _decode(body: bytes, example: str) -> object:
    try:
        value: object = json.loads(body.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise BadRequestError(400, f"the body is not UTF-8; {example}") from error
    except RecursionError as error:
        raise BadRequestError(400, f"the JSON is nested too deep; {example}") from error
    except ValueError as error:
        raise BadRequestError(400, f"the body is not JSON: {str(error)[:100]}; {example}") from error
    return value


__all__ = ["BadRequestError", "answer_bad_request", "read_json", "wait_for_leaving"]
