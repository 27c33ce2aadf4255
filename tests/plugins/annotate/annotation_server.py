"""A server for annotating four sentences, in a thread."""

from __future__ import annotations

import threading
from pathlib import Path

SENTENCES = (
    "The keeper climbs the stairs every evening.",
    "The old keeper saw the boat with a lamp.",
    "Visitors come by boat when the tide is high.",
    "It is cold.",
)


class Running:
    """A server in a thread, and its project."""

    def __init__(
        self,
        parser_folder: Path | None,
        folder: Path,
        *,
        order: str = "file",
        every: int = 1000,
        pause: float = 1000.0,
    ) -> None:
        from spectralnlp_annotate.application import make_application
        from spectralnlp_annotate.background import Background
        from spectralnlp_annotate.project import Project, read_texts
        from spectralnlp_annotate.session import Session
        from spectralnlp_annotate.training import NO_MODEL, flat_parser
        from spectralnlp_web import LoopbackServer

        import spectralnlp

        text = folder / "text.txt"
        text.write_text(" ".join(SENTENCES) + "\n")
        begun = NO_MODEL if parser_folder is None else str(parser_folder)
        flat = [sentence.rstrip(".").split() for sentence in SENTENCES]
        parser = flat_parser(flat) if parser_folder is None else spectralnlp.load(parser_folder)
        self.project = Project(folder / "work")
        self.project.add(read_texts([text]), parser.tokenizer)
        self.session = Session(self.project, parser, order)
        self.background = Background(self.session, begun, every, pause)
        self._server = LoopbackServer(0)
        self.port, self.address = self._server.port, self._server.address
        ready = threading.Event()
        application = make_application(self.session, self.background)
        run = (application, self.background.start, ready.set, self.background.stop)
        self._thread = threading.Thread(target=self._server.run, args=run, daemon=True)
        self._thread.start()
        assert ready.wait(60)

    def stop(self) -> None:
        """End the server."""
        self._server.stop()
        self._thread.join(30)
        assert not self._thread.is_alive()
        self.project.close()
