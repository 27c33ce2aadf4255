"""HTTP as uvicorn speaks it, with errors in JSON and little patience."""

from __future__ import annotations

import json
from asyncio import Transport
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

# Seconds after which a connection that brought no request is closed.
_PATIENCE = 20.0
# Connections at once; the next is closed.
_MOST_CONNECTIONS = 200


class Protocol(H11Protocol):
    """uvicorn's protocol; what is no HTTP is answered in JSON, and who says nothing is not waited for."""

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """Begin a connection, if there are not too many."""
        super().connection_made(transport)
        if len(self.connections) > _MOST_CONNECTIONS:
            transport.close()
        else:
            self.loop.call_later(_PATIENCE, self._close_silent)

    def data_received(self, data: bytes) -> None:
        """Take bytes, unless an error has been answered and the connection is being closed."""
        if not self.transport.is_closing():
            super().data_received(data)

    def _close_silent(self) -> None:
        if self._is_silent() and not self.transport.is_closing():
            self.transport.close()

    def _is_silent(self) -> bool:
        request: Any = self.cycle  # uvicorn sets it with the first request
        return request is None

    def send_400_response(self, msg: str) -> None:
        """Say what is wrong, if an answer can still begin, and close the connection."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            body = json.dumps({"error": "this is no HTTP request"}).encode()
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
