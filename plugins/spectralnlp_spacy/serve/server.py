"""A server on the loopback interface: a page, and a JSON interface behind it."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Sequence

import uvicorn

from spectralnlp.errors import ConfigError
from spectralnlp_spacy.serve.application import HOSTS, make_application
from spectralnlp_spacy.serve.limits import Limits
from spectralnlp_spacy.serve.pool import WorkerPool
from spectralnlp_spacy.serve.protocol import Protocol
from spectralnlp_spacy.serve.worker import Setup

HOST = HOSTS[0]


class Server:
    """Serves the page and answers texts, from this machine alone.

    Args:
        models: a spaCy pipeline, or models of the core.
        port: to listen on; 0 for one that is free.
        k: how many trees of a sentence are shown.
        lang: language of the text, for models of the core.
        limits: of requests.

    Raises:
        ConfigError: the port is taken.
    """

    def __init__(
        self, models: Sequence[str], *, port: int, k: int, lang: str = "en", limits: Limits | None = None
    ) -> None:
        self.setup = Setup(models=models, lang=lang, k=k, limits=limits or Limits())
        self._socket = _listen(port)
        self.port: int = self._socket.getsockname()[1]
        self._server: _Server | None = None

    @property
    def address(self) -> str:
        """Address to open in the browser."""
        return f"http://{HOST}:{self.port}/"

    def run(self, on_ready: Callable[[], None] = lambda: None) -> None:
        """Load the models and answer until `stop`, or an interrupt.

        Args:
            on_ready: called once the models are loaded.

        Raises:
            ConfigError: the models cannot be loaded.
            KeyboardInterrupt: the process was interrupted.
        """
        with self._socket:
            asyncio.run(self._run(on_ready))

    def stop(self) -> None:
        """Let `run` come to its end; for another thread."""
        if self._server is not None:
            self._server.should_exit = True

    async def _run(self, on_ready: Callable[[], None]) -> None:
        pool = WorkerPool(self.setup)
        try:
            await pool.start()
            config = uvicorn.Config(
                make_application(pool, self.setup.limits, self.port),
                http=Protocol,
                ws="none",
                lifespan="off",
                interface="asgi3",
                log_config=None,
                log_level="critical",  # what was typed stays between the page and the models
                access_log=False,
                proxy_headers=False,
                server_header=False,
                timeout_graceful_shutdown=1,
            )
            self._server = _Server(config, pool)
            on_ready()
            await self._server.serve(sockets=[self._socket])
        finally:
            await pool.stop()


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, pool: WorkerPool) -> None:
        super().__init__(config)
        self._pool = pool

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await super().shutdown(sockets)
        await self._pool.stop()  # before uvicorn raises the signal again that it took


def _listen(port: int) -> socket.socket:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((HOST, port))
        listening.listen(128)
    except OSError as error:
        listening.close()
        hint = "`port` 0 takes one that is free"
        raise ConfigError(f"cannot listen on port {port}: {error.strerror}", hint=hint) from error
    return listening
