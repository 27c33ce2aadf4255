"""FastAPI applications with one page and a JSON interface, whose errors are ``{"error": "…"}``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.routing import Route

from spectralnlp_web.bodies import LimitedBodies
from spectralnlp_web.guard import FAILED


def make_page_application(
    page: bytes,
    *,
    title: str,
    description: str,
    version: str,
    hint: str,
    examples: Mapping[str, str],
    values: Mapping[str, str],
    most: int,
    seconds: float,
) -> FastAPI:
    """Make a FastAPI application that serves a page at ``/``, to which routes of a JSON interface are added.

    ``/openapi.json`` describes the interface; there is no documentation page, as FastAPI's loads scripts from
    another server.

    Args:
        page: the page, HTML in UTF-8.
        title, description, version: title, description and version of the interface.
        hint: error text for an unknown path, which names the valid paths.
        examples: for each endpoint, by the function's name, a valid body, quoted in error messages.
        values: for each field of a body, the value that it must have, for error messages.
        most: maximum length of a body, in bytes.
        seconds: seconds within which a body must arrive.
    """

    async def show_page(request: Request) -> Response:
        return Response(page, media_type="text/html")

    async def show_icon(request: Request) -> Response:
        return Response(status_code=204)

    async def refuse(request: Request, error: HTTPException) -> Response:
        if error.status_code == 400:
            return _answer(400, f"{_unreadable(error.__cause__)}; {_example(request, examples)}")
        what = {404: hint, 405: "method not allowed"}.get(error.status_code, error.detail)
        return _answer(error.status_code, what, error.headers)

    async def refuse_invalid(request: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        if first["loc"][0] != "body":
            return _answer(404, hint)
        status, what = _invalid(first, values)
        return _answer(status, what if status == 413 else f"{what}; {_example(request, examples)}")

    async def fail(request: Request, error: Exception) -> Response:
        return _answer(500, FAILED)

    handlers: Any = {HTTPException: refuse, RequestValidationError: refuse_invalid, Exception: fail}
    application = FastAPI(
        title=title,
        description=description,
        version=version,
        docs_url=None,
        redoc_url=None,
        routes=[Route("/", show_page), Route("/favicon.ico", show_icon)],
        exception_handlers=handlers,
    )
    application.add_middleware(LimitedBodies, most=most, seconds=seconds)
    return application


def _answer(status: int, what: str, headers: Mapping[str, str] | None = None) -> Response:
    """Return the response to a refused request, which also closes the connection.

    Otherwise the server would read the rest of an invalid body as the next request.

    Args:
        status: HTTP status.
        what: error message, a single line.
        headers: further headers.
    """
    return JSONResponse({"error": what}, status, {**(headers or {}), "Connection": "close"})


def _example(request: Request, examples: Mapping[str, str]) -> str:
    return examples[request.scope["endpoint"].__name__]


def _unreadable(cause: BaseException | None) -> str:
    if isinstance(cause, UnicodeDecodeError):
        return "the body is not UTF-8"
    if isinstance(cause, RecursionError):
        return "the JSON is nested too deep"
    return f"the body is not JSON: {str(cause)[:100]}"


def _invalid(error: Mapping[str, Any], values: Mapping[str, str]) -> tuple[int, str]:
    """Return the status and the message of an error that pydantic found in a body.

    Args:
        error: the error, as ``RequestValidationError.errors`` returns it.
        values: for each field, the value that it must have.
    """
    kind, place, context = error["type"], error["loc"], error.get("ctx", {})
    if kind == "json_invalid":
        return 400, f"the body is not JSON: {context['error']}"
    if len(place) == 1:
        return (
            (400, "the body is not JSON: empty") if kind == "missing" else (422, "the JSON is not an object")
        )
    field = str(place[1])
    if kind == "extra_forbidden":
        return 422, f"unknown field {field[:100]!r}"
    if kind == "string_unicode":
        return 422, f"{field!r} has an unpaired surrogate"
    if kind == "string_too_long":
        most = context["max_length"]
        return 413, f"a text of {len(error['input']):,} characters; give at most {most:,}"
    if kind == "too_long" and context["field_type"] == "List":
        return 413, f"{context['actual_length']:,} {field}; give at most {context['max_length']:,}"
    return 422, f"{field!r} is missing or not {values.get(field, 'valid')}"
