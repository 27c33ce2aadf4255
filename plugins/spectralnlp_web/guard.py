"""Which requests are answered, and the headers of every answer."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

Handler = Callable[[Request, HTTPException], Awaitable[Response]]

_HOSTS = ("127.0.0.1", "localhost")
HOST = _HOSTS[0]
NOT_MEANT = "The request is meant for another host, or comes from a page elsewhere."
FAILED = "The analysis failed; the server goes on."

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


class Guard:
    """Lets requests in that are meant for this server, and gives every answer its headers.

    Args:
        application: answers them.
        port: of the server.
    """

    def __init__(self, application: ASGIApp, port: int) -> None:
        self._application = application
        self._known = {f"{name}:{port}" for name in _HOSTS}

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
            answer = JSONResponse({"error": NOT_MEANT}, 403, {"Connection": "close"})
        try:
            await answer(scope, receive, send_with_headers)
        except ClientDisconnect:
            pass
        except Exception as error:  # whatever it is, the others are answered all the same
            print(f"spectralnlp: a request failed: {error!r:.200}", file=sys.stderr, flush=True)
            if not started:
                await JSONResponse({"error": FAILED}, 500)(scope, receive, send_with_headers)

    def _is_meant(self, headers: Headers) -> bool:
        """Whether this server was meant: a page elsewhere may have let its name point here."""
        origin = headers.get("origin")
        return headers.get("host") in self._known and (
            origin is None or origin.removeprefix("http://") in self._known
        )


def wrong_path_handler(hint: str) -> Handler:
    """Return what answers a request for a path that is not there, or by a method that it does not take.

    Args:
        hint: what there is.
    """

    async def answer(request: Request, error: HTTPException) -> Response:
        hints = {404: hint, 405: "not this method"}
        what = hints.get(error.status_code, error.detail)
        return JSONResponse({"error": what}, error.status_code, dict(error.headers or {}))

    return answer
