"""Middleware that refuses requests for other hosts, and adds security headers to every response."""

from __future__ import annotations

import sys

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_HOSTS = ("127.0.0.1", "localhost")
HOST = _HOSTS[0]
NOT_MEANT = "The request is meant for another host, or comes from a page elsewhere."
FAILED = "The analysis failed; the server keeps running."

# The page may not load anything from other servers, nor send data to them.
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
    """ASGI middleware that refuses requests for other hosts or from other origins, and adds security headers.

    Args:
        application: the application that answers the accepted requests.
        port: port of the server.
    """

    def __init__(self, application: ASGIApp, port: int) -> None:
        self._application = application
        self._known = {f"{name}:{port}" for name in _HOSTS}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request or refuse it, and log an unexpected error."""
        started = False

        async def send_with_headers(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        answer = self._application
        if not self._names_this_server(Headers(scope=scope)):
            answer = JSONResponse({"error": NOT_MEANT}, 403, {"Connection": "close"})
        try:
            await answer(scope, receive, send_with_headers)
        except ClientDisconnect:
            pass
        except Exception as error:  # of any class: the server must keep running
            print(f"spectralnlp: a request failed: {error!r:.200}", file=sys.stderr, flush=True)
            if not started:
                await JSONResponse({"error": FAILED}, 500)(scope, receive, send_with_headers)

    def _names_this_server(self, headers: Headers) -> bool:
        """Return whether the Host and Origin headers name this server; this prevents DNS rebinding."""
        origin = headers.get("origin")
        return headers.get("host") in self._known and (
            origin is None or origin.removeprefix("http://") in self._known
        )
