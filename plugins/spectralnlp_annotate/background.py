"""Learning while one works: a process of low priority learns what was accepted, and its model takes over.

After every few sentences it learns in seconds; when the annotator pauses, in full. Nothing waits for it, and
it can be lost at any time: what was accepted is in the journals.
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
# An answer holds a number for each sentence of a text.
_LONGEST_ANSWER = 2**24


class Background:
    """Learns from the accepted trees of a session.

    Args:
        session: takes the models.
        base: name or folder of the model to begin with.
        every: sentences accepted before the next model is made.
        pause: seconds without an edit after which all that was accepted is learned in full.
    """

    def __init__(self, session: Session, base: str, every: int, pause: float = 60.0) -> None:
        self._session = session
        self._base = base
        self._every = every
        self._pause = pause
        self._process: Process | None = None
        self._task: asyncio.Task[None] | None = None
        self._edited = asyncio.Event()
        self._asked: list[str] = []  # trees that were sent to be learned
        self._in_full = True  # whether all of them were learned from as well as can be
        self._state: dict[str, Any] = {"now": False, "trees": 0, "error": None}

    def state(self) -> dict[str, Any]:
        """Whether it learns just now, how many trees the model knows, and what went wrong last."""
        return dict(self._state)

    async def start(self) -> None:
        """Start the process; its first answer says where the annotator best begins."""
        self._task = asyncio.create_task(self._work())

    def look(self) -> None:
        """See whether there is something to learn, for an edit was made."""
        self._edited.set()

    async def stop(self) -> None:
        """End the process."""
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
                if not isinstance(error, SpectralError):  # an answer; else the process is of no more use
                    await self._end()
            self._state.update(now=False)
            in_full = await self._await_pause()

    async def _await_pause(self) -> bool:
        """Wait until enough has been accepted (False), or no edit comes and there is more to learn (True)."""
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
        """Ask for a model of what is accepted now, and hand it to the session."""
        project = self._session.project
        trees = project.accepted()
        self._asked, self._in_full = trees, True  # what fails is not tried again
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
            raise ConnectionError("the process that learns ended")
        answer: dict[str, Any] = json.loads(line)
        return answer

    async def _end(self) -> None:
        if self._process is not None:
            await end_process(self._process)
            self._process = None


def _loaded(folder: Path) -> Any:
    parser: Any = spectralnlp.load(folder)
    parser.parse_tokens(["It", "is"])  # makes ready what the first sentence would wait for
    return parser
