"""Fuzzer target: mutated HTTP requests to ``spectralnlp serve``, which runs in its own process."""

from __future__ import annotations

import atexit
import json
import os
import re
import socket
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import h11

from benchmarks.fuzzing.isolation import MAX_SECONDS
from benchmarks.fuzzing.mutations import mutated_bytes, mutated_json
from benchmarks.fuzzing.targets import CORPORA, Target

_MAIN = "import sys; from spectralnlp.cli import main; sys.exit(main())"
_SECONDS = 2  # the server's time limit for an analysis
_MAX_TURNS = 600  # maximum waits of 0.1 s for an answer
_STATUSES = (200, 204, 400, 403, 404, 405, 408, 413, 415, 422, 501, 503, 504)

_LENGTHS = ("abc", "1e3", "-1", "0", "1", "+5", "5, 5", "5, 6", "9" * 30, "0x10", "", "99999999999")
_TYPES = ("text/plain", "application/json; charset=utf-16", "", ";", "application/json;charset", "\x0b")
_HEADERS = (
    ("Transfer-Encoding", ("chunked", "gzip", "chunked, chunked", "identity")),
    ("Origin", ("http://evil.example", "null", "http://localhost")),
    ("Expect", ("100-continue", "nothing")),
    ("Upgrade", ("websocket", "h2c")),
    ("Connection", ("close", "upgrade", "keep-alive, upgrade", "x" * 3000)),
    ("Host", ("evil.example", "", "127.0.0.1")),
    ("X" * 5000, ("y" * 70_000, "\u00e9", "")),
)
_TEXTS = (
    "",
    " \n\t" * 100,
    "( " * 600,
    ")" * 1500,
    "a " * 500,
    "a" * 2000,
    "a" * 2001,
    "." * 1999,
    "\u0301" * 900,
    "\U0001f9ff\u200d" * 400,
    "a\x00b\x1b[2J\u2028\u2029\ufeff",
    "-LRB- -RRB- * *T*-1 0 (S (NP x))",
    "\u6f22\u5b57" * 300,
    "\u05d0\u202e abc \u202c" * 100,
    "No. 5 e.g. U.S. 3:30 p.m.?!" * 60,
)


@dataclass
class Requests(Target):
    """Fuzzer target for requests to a server with one model, which is started at first use.

    Attributes:
        model: folder of the model.
        name: name of the target.
    """

    model: Path
    name: str = "request"
    _port: int = 0
    _server: subprocess.Popen[str] | None = None
    _complaints: Path = field(default_factory=lambda: Path("serve-complaints"))

    def warm_up(self, folder: Path) -> None:
        """Start the server and send a valid request."""
        self._complaints = self.model.parent / "serve-complaints"
        command = [sys.executable, "-c", _MAIN, "serve", str(self.model), "--port", "0"]
        with self._complaints.open("wb") as complaints:
            server = subprocess.Popen(
                [*command, "--seconds", str(_SECONDS)], stdout=subprocess.PIPE, stderr=complaints, text=True
            )
        self._server = server
        atexit.register(self.close)
        assert server.stdout is not None
        found = re.search(r":(\d+)/", server.stdout.readline())
        if found is None:
            raise SystemExit(f"{self.name}: no server: {self._complaints.read_text()}")
        self._port = int(found[1])
        super().warm_up(folder)

    def close(self) -> None:
        """Stop the server."""
        if self._server is not None and self._server.stdout is not None:
            self._server.kill()
            self._server.wait()
            self._server.stdout.close()
            self._server = None

    def write_sound(self, folder: Path) -> None:
        """Write a valid HTTP request into a folder."""
        (folder / "request").write_bytes(self._request({"text": "The keeper climbs the stairs."}, {}))

    def write(self, random: Random, folder: Path) -> None:
        """Write an HTTP request with an unusual text, JSON body, headers or bytes into a folder."""
        what = random.random()
        body: Any = {"text": "The keeper climbs the stairs every evening. Did the blorfish leave?"}
        headers: dict[str, str] = {}
        if what < 0.25:
            body = self._text(random)
        elif what < 0.5:
            body = mutated_json(random, body).encode("utf-8", "surrogateescape")
        elif what < 0.75:
            headers = self._headers(random)
        content = self._request(body, headers, path=self._path(random))
        if what >= 0.7:
            content = mutated_bytes(random, content)
        if random.random() < 0.05:
            content *= random.choice((2, 20))  # pipelined requests
        (folder / "request").write_bytes(content)

    def _text(self, random: Random) -> dict[str, str]:
        text = random.choice(_TEXTS)
        if random.random() < 0.5:
            raw = mutated_bytes(random, (CORPORA / "text" / "lighthouse.txt").read_bytes()[:1500])
            text = raw.decode("utf-8", "replace")[: random.choice((1999, 2000, 5000))]
        return {"text": text}

    def _headers(self, random: Random) -> dict[str, str]:
        headers = {}
        for _ in range(random.choice((1, 1, 2))):
            match random.randrange(4):
                case 0:
                    headers["Content-Length"] = random.choice(_LENGTHS)
                case 1:
                    headers["Content-Type"] = random.choice(_TYPES)
                case _:
                    name, values = random.choice(_HEADERS)
                    headers[name] = random.choice(values)
        return headers

    def _path(self, random: Random) -> str:
        if random.random() < 0.9:
            return "POST /analyse"
        others = (
            "GET /",
            "GET /openapi.json",
            "HEAD /",
            "GET /%ff%00",
            "POST /",
            "PUT /analyse",
            "GET //../..",
        )
        return random.choice(
            (*others, "OPTIONS *", "TRACE /analyse", "GET http://evil.example/", "CONNECT a:1")
        )

    def _request(self, body: Any, headers: dict[str, str], path: str = "POST /analyse") -> bytes:
        raw = (
            body
            if isinstance(body, bytes)
            else json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        )
        lines = {
            "Host": f"127.0.0.1:{self._port}",
            "Content-Type": "application/json",
            "Content-Length": str(len(raw)),
            **headers,
        }
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        return f"{path} HTTP/1.1\r\n{head}\r\n".encode() + raw

    def run(self, folder: Path) -> int:
        """Send the request in a folder to the server; if the server refuses it, print a line and return 2."""
        content = (folder / "request").read_bytes()
        said = self._complaints.stat().st_size
        assert self._server is not None
        before = _cpu_seconds(self._server.pid)
        status, body = self._answer(content)
        seconds = _cpu_seconds(self._server.pid) - before
        complaints = self._complaints.read_bytes()[said:].decode("utf-8", "replace")
        if seconds > MAX_SECONDS or "Traceback" in complaints or status not in (0, *_STATUSES):
            line = f"status {status} after {seconds:.1f} s of CPU time; the server wrote {complaints!r}"
            return _complain(line, 1)
        if status in (0, 200, 204):
            return 0
        what = json.loads(body)["error"] if body else "an error without a body"
        return _complain(f"spectralnlp: {status}, {what}", 2)

    def _answer(self, content: bytes) -> tuple[int, bytes]:
        """Send a request, and return status and body of the first answer.

        If the server closes the connection without an answer, the status is 0 for an incomplete request and
        -1 for a complete one; if it does neither in time, -2. Time in which the machine is suspended or busy
        does not count.
        """
        client = h11.Connection(h11.CLIENT)
        method = b"HEAD" if content.startswith(b"HEAD ") else b"GET"  # answers to HEAD have no body
        client.send(h11.Request(method=method, target=b"/", headers=[("Host", "a")]))
        client.send(h11.EndOfMessage())
        is_incomplete = _is_incomplete(content)
        status, body, turns = 0, b"", 0
        with socket.create_connection(("127.0.0.1", self._port), timeout=30) as connection:
            with suppress(ConnectionError):  # the server may have closed the connection
                connection.sendall(content)
                if is_incomplete:
                    connection.shutdown(socket.SHUT_WR)
            connection.settimeout(0.1)
            try:
                while not isinstance(event := client.next_event(), h11.EndOfMessage):
                    if event is h11.NEED_DATA:
                        try:
                            client.receive_data(connection.recv(65536))
                        except TimeoutError:
                            turns += 1
                            if turns == _MAX_TURNS:
                                return -2, b""
                    elif isinstance(event, h11.Response):
                        status = event.status_code
                    elif isinstance(event, h11.Data):
                        body += event.data
            except (ConnectionError, h11.RemoteProtocolError):  # the server closed the connection
                if not is_incomplete and len(content) < 65536:
                    return -1, b""
        return status, body


def _cpu_seconds(server: int) -> float:
    """Return the CPU seconds of a process and its children, including those that have ended."""
    ticks = 0
    for each in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # the process has ended
            number, rest = each.read_text().split(" (", 1)
            fields = rest.rsplit(") ", 1)[1].split()
            if server in (int(number), int(fields[1])):
                ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def _is_incomplete(content: bytes) -> bool:
    """Return whether a request is incomplete, so that a server waits for more."""
    if not content:
        return True
    server = h11.Connection(h11.SERVER)
    server.receive_data(content)
    try:
        while True:
            event = server.next_event()
            if event is h11.NEED_DATA:
                return True
            if isinstance(event, h11.EndOfMessage | h11.ConnectionClosed) or event is h11.PAUSED:
                return False
    except h11.RemoteProtocolError:
        return False


def _complain(line: str, status: int) -> int:
    print(line[:1000], file=sys.stderr)
    return status
