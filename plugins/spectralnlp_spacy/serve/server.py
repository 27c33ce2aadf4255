"""Server of ``spectralnlp serve`` on the loopback interface: a browser page and its JSON interface."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from spectralnlp_web import LoopbackServer

from spectralnlp_spacy.serve.application import make_application
from spectralnlp_spacy.serve.limits import Limits
from spectralnlp_spacy.serve.pool import WorkerPool
from spectralnlp_spacy.serve.worker import Setup


class Server:
    """Server of a browser page that shows the analysis of texts, for this machine only.

    Args:
        models: name of a spaCy pipeline, or names of spectralnlp models.
        port: port to listen on; 0 for any free port.
        k: maximum number of trees shown per sentence.
        lang: language of the text; used for spectralnlp models only.
        limits: limits of requests.

    Raises:
        ConfigError: the port is in use.
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
        """Load the models and serve until `stop` is called or the process is interrupted.

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
        """Make `run` return; call from another thread."""
        self._server.stop()
