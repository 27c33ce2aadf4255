"""Run an ASGI application on the loopback interface, for requests from this machine only."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from functools import partial

import uvicorn
from starlette.types import ASGIApp

from spectralnlp.errors import ConfigError
from spectralnlp_web.guard import HOST, Guard
from spectralnlp_web.protocol import Protocol


async def _nothing() -> None:
    pass


class LoopbackServer:
    """Server that answers requests from this machine only.

    Args:
        port: port to listen on; 0 for any free port.
        patience: seconds within which the head of a request must arrive; then the connection is closed.

    Raises:
        ConfigError: the port is in use.
    """

    def __init__(self, port: int, patience: float = 20.0) -> None:
        self._socket = _listen(port)
        self.port: int = self._socket.getsockname()[1]
        self._patience = patience
        self._server: _Server | None = None

    @property
    def address(self) -> str:
        """Address to open in the browser."""
        return f"http://{HOST}:{self.port}/"

    def run(
        self,
        application: ASGIApp,
        on_start: Callable[[], Awaitable[None]] = _nothing,
        on_ready: Callable[[], None] = lambda: None,
        on_stop: Callable[[], Awaitable[None]] = _nothing,
    ) -> None:
        """Serve until `stop` is called or the process is interrupted.

        Args:
            application: the application that answers the requests.
            on_start: awaited before the first request is accepted.
            on_ready: called after ``on_start``, just before requests are accepted.
            on_stop: awaited at the end, also after an error.

        Raises:
            KeyboardInterrupt: the process was interrupted.
        """
        with self._socket:
            asyncio.run(self._run(application, on_start, on_ready, on_stop))

    def stop(self) -> None:
        """Make `run` return; call from another thread."""
        if self._server is not None:
            self._server.should_exit = True

    async def _run(
        self,
        application: ASGIApp,
        on_start: Callable[[], Awaitable[None]],
        on_ready: Callable[[], None],
        on_stop: Callable[[], Awaitable[None]],
    ) -> None:
        try:
            await on_start()
            config = uvicorn.Config(
                Guard(application, self.port),
                http=partial(Protocol, patience=self._patience),  # type: ignore[arg-type]
                ws="none",
                lifespan="off",
                interface="asgi3",
                log_config=None,
                log_level="critical",  # texts of users must not appear in logs
                access_log=False,
                proxy_headers=False,
                server_header=False,
                timeout_graceful_shutdown=1,
            )
            self._server = _Server(config, on_stop)
            on_ready()
            await self._server.serve(sockets=[self._socket])
        finally:
            await on_stop()


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, on_stop: Callable[[], Awaitable[None]]) -> None:
        super().__init__(config)
        self._on_stop = on_stop

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await super().shutdown(sockets)
        await self._on_stop()  # before uvicorn raises the captured signal again


def _listen(port: int) -> socket.socket:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((HOST, port))
        listening.listen(128)
    except OSError as error:
        listening.close()
        hint = "`port` 0 selects a free port"
        raise ConfigError(f"cannot listen on port {port}: {error.strerror}", hint=hint) from error
    return listening
