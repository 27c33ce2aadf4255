"""Learning while one works: a process of low priority learns what was accepted, and its model takes over.

Nothing waits for it, and it can be lost at any time: what was accepted is in the journals.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from asyncio.subprocess import PIPE, Process
from contextlib import suppress
from pathlib import Path
from typing import Any

import spectralnlp
from spectralnlp.errors import SpectralError
from spectralnlp_annotate.ordering import Place
from spectralnlp_annotate.session import Session

MODEL = "model"
_CODE = "from spectralnlp_annotate.learner import main; main()"
# An answer holds a number for each sentence of a text.
_LONGEST_ANSWER = 2**24


class Background:
    """Learns from the accepted trees of a session.

    Args:
        session: takes the models.
        base: name or folder of the model to begin with.
        every: sentences accepted before the next model is made.
    """

    def __init__(self, session: Session, base: str, every: int) -> None:
        self._session = session
        self._base = base
        self._every = every
        self._process: Process | None = None
        self._task: asyncio.Task[None] | None = None
        self._wake = asyncio.Event()
        self._learned: list[str] = []
        self._state: dict[str, Any] = {"now": False, "trees": 0, "error": None}

    def state(self) -> dict[str, Any]:
        """Whether it learns just now, how many trees the model knows, and what went wrong last."""
        return dict(self._state)

    async def start(self) -> None:
        """Start the process; its first answer says where the annotator best begins."""
        self._task = asyncio.create_task(self._work())
        self._wake.set()

    def look(self) -> None:
        """See whether there is something to learn, for an edit was made."""
        if len(set(self._session.project.accepted()) ^ set(self._learned)) >= self._every:
            self._wake.set()

    async def stop(self) -> None:
        """End the process."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        if self._process is not None:
            with suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()

    async def _work(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            self._state.update(now=True)
            try:
                await self._learn()
                self._state.update(error=None)
            except (SpectralError, ConnectionError, asyncio.IncompleteReadError, ValueError) as error:
                self._state.update(error=f"nothing was learned: {str(error) or 'the process ended'}")
                self._process = None
            self._state.update(now=False)

    async def _learn(self) -> None:
        """Ask for a model of what is accepted now, and hand it to the session."""
        project = self._session.project
        trees = project.accepted()
        places = [(d, n) for d, n in project.places() if project.documents[d][n].tree is None]
        learned = project.folder / MODEL
        request = {
            "base": self._base,
            "trees": trees,
            "learned": str(learned),
            "open": [list(project.documents[d][n].words) for d, n in places],
        }
        answer = await self._ask(request)
        if "error" in answer:
            raise SpectralError(answer["error"])
        gains: dict[Place, float] = dict(zip(places, answer["gains"], strict=False))
        parser = await asyncio.to_thread(_loaded, learned) if trees else None
        self._session.take_model(parser, gains)
        self._learned = trees
        self._state.update(trees=len(trees), seconds=answer["seconds"])

    async def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        if self._process is None or self._process.returncode is not None:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                *("-P", "-c", _CODE),
                stdin=PIPE,
                stdout=PIPE,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
                process_group=0,  # Ctrl-C in a terminal is this process's to handle
                limit=_LONGEST_ANSWER,
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write((json.dumps(request) + "\n").encode())
        await self._process.stdin.drain()
        line = await self._process.stdout.readline()
        if not line:
            raise ConnectionError("the process that learns ended")
        answer: dict[str, Any] = json.loads(line)
        return answer


def _loaded(folder: Path) -> Any:
    parser: Any = spectralnlp.load(folder)
    parser.parse_tokens(["It", "is"])  # makes ready what the first sentence would wait for
    return parser
