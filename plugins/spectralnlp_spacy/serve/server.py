"""A server on the loopback interface: a page, and a JSON interface behind it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from spectralnlp_web import LoopbackServer

from spectralnlp_spacy.serve.application import make_application
from spectralnlp_spacy.serve.limits import Limits
from spectralnlp_spacy.serve.pool import WorkerPool
from spectralnlp_spacy.serve.worker import Setup


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
        self._server = LoopbackServer(port)
        self.port = self._server.port

    @property
    def address(self) -> str:
        """Address to open in the browser."""
        return self._server.address

    def run(self, on_ready: Callable[[], None] = lambda: None) -> None:
        """Load the models and answer until `stop`, or an interrupt.

        Args:
            on_ready: called once the models are loaded.

        Raises:
            ConfigError: the models cannot be loaded.
            KeyboardInterrupt: the process was interrupted.
        """
        pool = WorkerPool(self.setup)
        application = make_application(pool, self.setup.limits)
        self._server.run(application, on_start=pool.start, on_ready=on_ready, on_stop=pool.stop)

    def stop(self) -> None:
        """Let `run` come to its end; for another thread."""
        self._server.stop()
