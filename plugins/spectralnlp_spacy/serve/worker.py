"""A process that holds the models and analyses one text after another; `pool` starts and ends it.

It takes lines of JSON on standard input, each a text to be analysed or a question about a bracket, and gives
a status, a length and JSON on standard output.
"""

from __future__ import annotations

import json
import os
import signal
import struct
import sys
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import IO, Any, NamedTuple

from spectralnlp.errors import SpectralError
from spectralnlp_spacy.serve.limits import Limits

# Status and length of a message, which follow each other before it.
HEADER = struct.Struct("!HI")
# Seconds after which a worker that nobody ends ends itself: its server may have been killed.
_MERCY = 2.0


@dataclass(frozen=True, kw_only=True)
class Setup:
    """All that a worker has to know.

    Args:
        models: as for `load_pipeline`.
        lang: language of the text.
        k: how many trees of a sentence are wanted.
        limits: of requests.
    """

    models: Sequence[str]
    lang: str
    k: int
    limits: Limits

    def to_json(self) -> str:
        """The setup in a line, for `from_json`."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, line: str) -> Setup:
        """Read what `to_json` gave."""
        values = json.loads(line)
        return cls(**{**values, "limits": Limits(**values["limits"])})


class Answer(NamedTuple):
    """The answer to a request.

    Args:
        status: of HTTP.
        content: JSON.
    """

    status: int
    content: bytes

    @classmethod
    def of(cls, status: int, value: dict[str, Any]) -> Answer:
        """Write a value as JSON."""
        return cls(status, json.dumps(value, ensure_ascii=False).encode())


def error_answer(status: int, what: str) -> Answer:
    """An error in one line."""
    return Answer.of(status, {"error": what})


def main() -> None:
    """Load the models, say so, and answer texts until standard input ends."""
    warnings.filterwarnings("ignore", message=r".*SW001")  # sentences are split here, as they should be
    with os.fdopen(os.dup(1), "wb") as replies:
        os.dup2(2, 1)  # what a library prints is no answer
        setup = Setup.from_json(sys.stdin.readline())
        try:
            analyst = _load(setup)
        except SpectralError as error:
            return _reply(replies, error_answer(422, str(error)))
        _reply(replies, Answer.of(200, {}))
        for line in sys.stdin:
            _limit_time(setup.limits.seconds + _MERCY)
            _reply(replies, _answer(analyst, json.loads(line)))
            _limit_time(0)


def _load(setup: Setup) -> Any:
    from spectralnlp.jit import announced_compilation
    from spectralnlp_spacy.serve.analysis import Analyst
    from spectralnlp_spacy.serve.pipeline import load_pipeline

    with announced_compilation(_note):
        analyst = Analyst(load_pipeline(setup.models, setup.lang), setup.k, setup.limits)
        analyst.analyse("It is.")  # compiles kernels, if they never were, with nobody waiting
        analyst.prepare()
    return analyst


def _answer(analyst: Any, asked: Any) -> Answer:
    from spectralnlp_spacy.serve.analysis import TextTooLongError

    try:
        return Answer.of(200, analyst.analyse(asked) if isinstance(asked, str) else analyst.explain(**asked))
    except TextTooLongError as error:
        return error_answer(413, str(error))
    except SpectralError as error:
        return error_answer(422, str(error))
    except MemoryError:
        return error_answer(503, "this text needs more memory than there is")
    except Exception as error:  # whatever it is, the others' texts are analysed all the same
        _note(f"a text could not be analysed: {error!r:.200}")
        return error_answer(500, "the analysis failed")


def _note(line: str) -> None:
    print(f"spectralnlp: {line}", file=sys.stderr, flush=True)


def _limit_time(seconds: float) -> None:
    """End this process after some seconds, also within a kernel; 0 takes that back."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)  # its signal ends the process


def _reply(replies: IO[bytes], answer: Answer) -> None:
    replies.write(HEADER.pack(answer.status, len(answer.content)) + answer.content)
    replies.flush()
