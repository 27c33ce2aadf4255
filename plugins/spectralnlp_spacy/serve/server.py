"""A server of one page on the loopback interface, with the standard library alone."""

from __future__ import annotations

import json
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any

from spacy.language import Language

from spectralnlp.errors import ConfigError, SpectralError
from spectralnlp_spacy.serve.analysis import Analyst

HOST = "127.0.0.1"
MAX_BODY = 64 * 1024
# Nothing is loaded from anywhere, and what is typed goes nowhere but here.
_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


class Server(ThreadingHTTPServer):
    """Serves the page and answers it.

    Args:
        nlp: the pipeline.
        port: to listen on; 0 for one that is free.
        k: how many trees of a sentence are shown.

    Raises:
        ConfigError: the port is taken.
    """

    daemon_threads = True

    def __init__(self, nlp: Language, *, port: int, k: int) -> None:
        self.analyst = Analyst(nlp, k)
        self.page = (files(__package__) / "page.html").read_bytes()
        try:
            super().__init__((HOST, port), _Handler)
        except OSError as error:
            hint = "`port` 0 takes one that is free"
            raise ConfigError(f"cannot listen on port {port}: {error.strerror}", hint=hint) from error

    @property
    def address(self) -> str:
        """Address to open in the browser."""
        return f"http://{HOST}:{self.server_port}/"


class _Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"
    timeout = 60

    def do_GET(self) -> None:
        """The page."""
        if not self._is_ours():
            self._fail(HTTPStatus.FORBIDDEN, "this page is for this machine alone")
        elif self.path == "/":
            self._send(HTTPStatus.OK, self.server.page, "text/html; charset=utf-8")
        elif self.path == "/favicon.ico":
            self._send(HTTPStatus.NO_CONTENT, b"", "image/x-icon")
        else:
            self._fail(HTTPStatus.NOT_FOUND, "there is one page, /")

    def do_POST(self) -> None:
        """The analysis of a text."""
        length = int(self.headers.get("Content-Length") or 0)
        if not self._is_ours() or not 0 < length <= MAX_BODY:
            self.close_connection = True
            self._fail(HTTPStatus.FORBIDDEN, "too long, or not from this page")
            return
        body = self.rfile.read(length)
        if self.path != "/analyse":
            self._fail(HTTPStatus.NOT_FOUND, "texts go to /analyse")
            return
        try:
            text = json.loads(body)["text"]
            answer = self.server.analyst.analyse(str(text))
        except (ValueError, KeyError, TypeError):
            self._fail(HTTPStatus.BAD_REQUEST, 'send {"text": "…"}')
        except SpectralError as error:
            self._fail(HTTPStatus.BAD_REQUEST, str(error))
        else:
            self._json(HTTPStatus.OK, answer)

    def _is_ours(self) -> bool:
        """Whether this server was meant: a page elsewhere may have let its name point here."""
        known = {f"{name}:{self.server.server_port}" for name in (HOST, "localhost")}
        origin = self.headers.get("Origin")
        return self.headers.get("Host") in known and (
            origin is None or origin.removeprefix("http://") in known
        )

    def _json(self, status: HTTPStatus, content: dict[str, Any]) -> None:
        self._send(status, json.dumps(content, ensure_ascii=False).encode(), "application/json")

    def _fail(self, status: HTTPStatus, what: str) -> None:
        self._json(status, {"error": what})

    def _send(self, status: HTTPStatus, body: bytes, kind: str) -> None:
        self.send_response(status)
        headers = {
            "Content-Type": kind,
            "Content-Length": str(len(body)),
            "Content-Security-Policy": _POLICY,
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Cache-Control": "no-store",
        }
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: what was typed stays between the page and the pipeline."""
