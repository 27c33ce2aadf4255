"""Background training: a low-priority process trains the session's parser on the accepted trees.

After every few accepted sentences the parser is updated, in seconds. When the annotator pauses, it is trained
in full, which means that its span scorer learns from all accepted trees. The annotator never waits for the
process. If the process dies, no tree is lost, because the accepted trees are in the journals.
"""

from __future__ import annotations

import asyncio
import json
from asyncio.subprocess import Process
from pathlib import Path
from typing import Any

from spectralnlp_web import end_process, start_process

import spectralnlp
from spectralnlp.errors import SpectralError
from spectralnlp_annotate.ordering import Place
from spectralnlp_annotate.session import Session

MODEL = "model"
_LEARNER = "spectralnlp_annotate.learner"
# Maximum length of an answer in bytes; it holds a number for each sentence of the texts.
_LONGEST_ANSWER = 2**24


class Background:
    """Background training on the accepted trees of a session.

    Args:
        session: session that receives the models.
        base: name or folder of the model to start with.
        every: number of newly accepted sentences after which the model is updated.
        pause: seconds without an edit after which the model is trained in full on all accepted trees.
    """

    def __init__(self, session: Session, base: str, every: int, pause: float = 60.0) -> None:
        self._session = session
        self._base = base
        self._every = every
        self._pause = pause
        self._process: Process | None = None
        self._task: asyncio.Task[None] | None = None
        self._edited = asyncio.Event()
        self._asked: list[str] = []  # trees of the last request
        self._in_full = True  # whether the last model was trained in full on them
        self._state: dict[str, Any] = {"now": False, "trees": 0, "error": None}

    def state(self) -> dict[str, Any]:
        """Return whether training is running, the number of trees learned from and the last error."""
        return dict(self._state)

    async def start(self) -> None:
        """Start training in the background, and compute in which order sentences should be annotated."""
        self._task = asyncio.create_task(self._work())

    def look(self) -> None:
        """Start training if enough trees were accepted since the last training; call after each edit."""
        self._edited.set()

    async def stop(self) -> None:
        """Stop training and end the process."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        await self._end()

    async def _work(self) -> None:
        in_full = False
        while True:
            self._state.update(now=True)
            try:
                await self._learn(in_full)
                self._state.update(error=None)
            except (SpectralError, ConnectionError, ValueError) as error:
                self._state.update(error=f"nothing was learned: {error}")
                if not isinstance(error, SpectralError):  # other errors mean that the process is unusable
                    await self._end()
            self._state.update(now=False)
            in_full = await self._await_pause()

    async def _await_pause(self) -> bool:
        """Wait until it is time to train again, and return whether to train on all accepted trees in full.

        Returns:
            False for an update, after enough trees have been accepted; True if the annotator pauses and
            the model has not learned from all accepted trees in full.
        """
        while True:
            self._edited.clear()
            new = len(set(self._session.project.accepted()) ^ set(self._asked))
            if new >= self._every:
                return False
            try:
                async with asyncio.timeout(self._pause if new or not self._in_full else None):
                    await self._edited.wait()
            except TimeoutError:
                return True

    async def _learn(self, in_full: bool) -> None:
        """Have the background process train a model on the accepted trees, and pass the model to the session.

        Args:
            in_full: whether the span scorer learns from all trees, which takes longer.
        """
        project = self._session.project
        trees = project.accepted()
        self._asked, self._in_full = trees, True  # a failed request is not repeated
        places = [(d, n) for d, n in project.places() if project.documents[d][n].tree is None]
        learned = project.folder / MODEL
        request = {
            "base": self._base,
            "trees": trees,
            "in_full": in_full,
            "learned": str(learned),
            "open": [list(project.documents[d][n].words) for d, n in places],
        }
        answer = await self._ask(request)
        if "error" in answer:
            raise SpectralError(answer["error"])
        gains: dict[Place, float] = dict(zip(places, answer["gains"], strict=False))
        parser = await asyncio.to_thread(_loaded, learned) if trees else None
        self._session.take_model(parser, gains)
        self._in_full = answer["in_full"]
        self._state.update(trees=len(trees), seconds=answer["seconds"])

    async def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        if self._process is None:
            self._process = await start_process(_LEARNER, longest_line=_LONGEST_ANSWER)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write((json.dumps(request) + "\n").encode())
        await self._process.stdin.drain()
        line = await self._process.stdout.readline()
        if not line:
            raise ConnectionError("the learning process ended")
        answer: dict[str, Any] = json.loads(line)
        return answer

    async def _end(self) -> None:
        if self._process is not None:
            await end_process(self._process)
            self._process = None


def _loaded(folder: Path) -> Any:
    parser: Any = spectralnlp.load(folder)
    parser.parse_tokens(["It", "is"])  # prepares the parser, so that the first sentence need not wait
    return parser
