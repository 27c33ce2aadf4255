"""uvicorn's HTTP protocol with errors in JSON, a time limit and a maximum number of connections."""

from __future__ import annotations

import json
from asyncio import TimerHandle, Transport
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

# Maximum number of open connections; further ones are closed.
_MAX_CONNECTIONS = 200


class Protocol(H11Protocol):
    """uvicorn's HTTP protocol that answers invalid HTTP in JSON and closes idle connections.

    Args:
        uvicorn: positional arguments that uvicorn passes to its protocols.
        patience: seconds within which the request line and headers of the next request must arrive.
        more: keyword arguments that uvicorn passes to its protocols.
    """

    def __init__(self, *uvicorn: Any, patience: float, **more: Any) -> None:
        super().__init__(*uvicorn, **more)
        self._patience = patience
        self._waiting: TimerHandle | None = None

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """Accept a connection, or close it if there are too many."""
        super().connection_made(transport)
        if len(self.connections) > _MAX_CONNECTIONS:
            transport.close()
        else:
            self._wait_for_request()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the timer of a closed connection."""
        if self._waiting is not None:
            self._waiting.cancel()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        """Start the timer within which the head of the next request must arrive completely."""
        self._wait_for_request()
        super().on_response_complete()

    def data_received(self, data: bytes) -> None:
        """Handle received bytes, unless the connection is being closed after an error."""
        if not self.transport.is_closing():
            super().data_received(data)

    def _wait_for_request(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
        self._waiting = self.loop.call_later(self._patience, self._close_silent)

    def _close_silent(self) -> None:
        if self._is_silent() and not self.transport.is_closing():
            self.transport.close()

    def _is_silent(self) -> bool:
        request: Any = self.cycle  # uvicorn sets it with the first request
        return request is None or request.response_complete

    def send_400_response(self, msg: str) -> None:
        """Answer invalid HTTP with an error, if no response has begun, and close the connection."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            body = json.dumps({"error": "not a valid HTTP request"}).encode()
            headers = [
                (b"content-type", b"application/json"),
                (b"content-length", str(len(body)).encode()),
                (b"connection", b"close"),
            ]
            events: list[Any] = [
                h11.Response(status_code=400, headers=headers, reason=b"Bad Request"),
                h11.Data(data=body),
                h11.EndOfMessage(),
            ]
            self.transport.write(b"".join(self.conn.send(event) or b"" for event in events))
        self.transport.close()
