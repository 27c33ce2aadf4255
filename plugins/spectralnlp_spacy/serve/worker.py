"""Worker process that loads the models and analyses one text after another; `pool` starts and kills it.

The first line on standard input has the settings, each further line a request in JSON: a text to analyse or a
bracket to explain. Each answer on standard output is an HTTP status, a length in bytes, and JSON.
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

# Header of an answer: status and length.
HEADER = struct.Struct("!HI")
# Seconds beyond the time limit after which a worker kills itself, in case its server has died.
_MERCY = 2.0


@dataclass(frozen=True, kw_only=True)
class Setup:
    """Settings of a worker.

    Args:
        models: a spaCy pipeline, or names of spectralnlp models, as for `load_pipeline`.
        lang: language of the text.
        k: maximum number of trees per sentence.
        limits: limits of requests.
    """

    models: Sequence[str]
    lang: str
    k: int
    limits: Limits

    def to_json(self) -> str:
        """Return the settings as one line of JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, line: str) -> Setup:
        """Read the settings from the line that `to_json` returned."""
        values = json.loads(line)
        return cls(**{**values, "limits": Limits(**values["limits"])})


class Answer(NamedTuple):
    """Answer to a request.

    Args:
        status: HTTP status.
        content: JSON, encoded in UTF-8.
    """

    status: int
    content: bytes

    @classmethod
    def of(cls, status: int, value: dict[str, Any]) -> Answer:
        """Return an answer with an HTTP status and a value as JSON."""
        return cls(status, json.dumps(value, ensure_ascii=False).encode())


def error_answer(status: int, what: str) -> Answer:
    """Return an answer with an HTTP status and an error message."""
    return Answer.of(status, {"error": what})


def main() -> None:
    """Load the models, report success or failure, and answer requests until standard input ends."""
    # The parser is meant to split sentences here, and the page shows which trees are of pieces.
    warnings.filterwarnings("ignore", message=r".*SW00[12]")
    with os.fdopen(os.dup(1), "wb") as replies:
        os.dup2(2, 1)  # output of libraries must not mix with answers
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
        analyst.analyse("It is.")  # compiles kernels now, if necessary, so that no user has to wait
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
        return error_answer(503, "not enough memory to analyse this text")
    except Exception as error:  # of any class: the worker must keep running
        _note(f"a text could not be analysed: {error!r:.200}")
        return error_answer(500, "the analysis failed")


def _note(line: str) -> None:
    print(f"spectralnlp: {line}", file=sys.stderr, flush=True)


def _limit_time(seconds: float) -> None:
    """Kill this process after some seconds, even during compiled code that Python cannot interrupt.

    Args:
        seconds: time until the process is killed; 0 cancels the timer.
    """
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)  # the signal kills the process


def _reply(replies: IO[bytes], answer: Answer) -> None:
    replies.write(HEADER.pack(answer.status, len(answer.content)) + answer.content)
    replies.flush()
