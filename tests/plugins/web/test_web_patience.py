"""How long the server waits for connections that say little."""

from __future__ import annotations

import socket
import threading
import time

import pytest

pytest.importorskip("uvicorn")
from spectralnlp_web import LoopbackServer
from starlette.responses import PlainTextResponse


@pytest.mark.parametrize("requests", [0, 1, 2])
def test_bytes_now_and_then_do_not_keep_a_connection(requests: int) -> None:
    server, ready = LoopbackServer(0, patience=0.4), threading.Event()
    run = threading.Thread(
        target=server.run, args=(PlainTextResponse("yes"),), kwargs={"on_ready": ready.set}, daemon=True
    )
    run.start()
    assert ready.wait(20)
    time.sleep(0.2)
    with socket.create_connection(("127.0.0.1", server.port), timeout=5) as connection:
        request = f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n".encode()
        for _ in range(requests):
            connection.sendall(request)
            _wait_for_answer(connection)
        connection.settimeout(0.1)
        closed = False
        for byte in request[:40]:  # 4 seconds
            try:
                connection.sendall(bytes([byte]))
                closed = connection.recv(1000) == b""
            except TimeoutError:
                continue
            except ConnectionError:
                closed = True
            if closed:
                break
    server.stop()
    run.join(20)
    assert closed


def _wait_for_answer(connection: socket.socket) -> None:
    answer = b""
    while not answer.endswith(b"yes"):
        answer += connection.recv(10_000)
