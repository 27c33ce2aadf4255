"""The application behind ``spectralnlp serve``: its paths, and what every answer has."""

from __future__ import annotations

import asyncio
import sys
from importlib.resources import files

from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from spectralnlp_spacy.serve.limits import Limits
from spectralnlp_spacy.serve.openapi import ERRORS, describe_interface
from spectralnlp_spacy.serve.pool import WorkerPool
from spectralnlp_spacy.serve.requests import BadRequestError, ClientDisconnect, read_text, wait_for_leaving

HOSTS = ("127.0.0.1", "localhost")
# Nothing is loaded from anywhere, and what is typed goes nowhere but here.
_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
_RETRY_AFTER = {"Retry-After": "1"}


def make_application(pool: WorkerPool, limits: Limits, port: int) -> ASGIApp:
    """Return the application.

    Args:
        pool: analyses texts.
        limits: of requests.
        port: that it is reached by.
    """
    page = (files(__package__) / "page.html").read_bytes()
    interface = describe_interface(limits)

    async def show_page(request: Request) -> Response:
        return Response(page, media_type="text/html")

    async def show_interface(request: Request) -> Response:
        return JSONResponse(interface)

    async def show_icon(request: Request) -> Response:
        return Response(status_code=204)

    async def analyse(request: Request) -> Response:
        text = await read_text(request, limits)
        work = asyncio.ensure_future(pool.analyse(text))
        leaving = asyncio.ensure_future(wait_for_leaving(request))
        try:
            await asyncio.wait({work, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                raise ClientDisconnect
            status, content = work.result()
        finally:
            work.cancel()
            leaving.cancel()
        headers = _RETRY_AFTER if status == 503 else None
        return Response(content, status, headers, media_type="application/json")

    routes = [
        Route("/", show_page),
        Route("/openapi.json", show_interface),
        Route("/favicon.ico", show_icon),
        Route("/analyse", analyse, methods=["POST"]),
    ]
    handlers = {HTTPException: _answer_wrong_path, BadRequestError: _answer_bad_request}
    return Guard(Starlette(routes=routes, exception_handlers=handlers), port)  # type: ignore[arg-type]


async def _answer_wrong_path(request: Request, error: HTTPException) -> Response:
    hints = {404: "texts go to /analyse, and /openapi.json says how", 405: "not this method"}
    what = hints.get(error.status_code, error.detail)
    return JSONResponse({"error": what}, error.status_code, dict(error.headers or {}))


async def _answer_bad_request(request: Request, error: BadRequestError) -> Response:
    # What is left of a body that was not read is no request.
    return JSONResponse({"error": error.what}, error.status, {"Connection": "close"})


class Guard:
    """Lets requests in that are meant for this server, and gives every answer its headers.

    Args:
        application: answers them.
        port: of the server.
    """

    def __init__(self, application: ASGIApp, port: int) -> None:
        self._application = application
        self._known = {f"{name}:{port}" for name in HOSTS}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        started = False

        async def send_with_headers(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        answer = self._application
        if not self._is_meant(Headers(scope=scope)):
            answer = JSONResponse({"error": ERRORS[403]}, 403, {"Connection": "close"})
        try:
            await answer(scope, receive, send_with_headers)
        except ClientDisconnect:
            pass
        except Exception as error:  # whatever it is, the others are answered all the same
            print(f"spectralnlp: a request failed: {error!r:.200}", file=sys.stderr, flush=True)
            if not started:
                await JSONResponse({"error": ERRORS[500]}, 500)(scope, receive, send_with_headers)

    def _is_meant(self, headers: Headers) -> bool:
        """Whether this server was meant: a page elsewhere may have let its name point here."""
        origin = headers.get("origin")
        return headers.get("host") in self._known and (
            origin is None or origin.removeprefix("http://") in self._known
        )
