"""Web server on the loopback interface, shared by ``spectralnlp serve`` and ``spectralnlp annotate``.

The server answers requests from this machine only, and refuses requests from pages of other origins. Its own
pages load nothing from other servers.
"""

from spectralnlp_web.guard import FAILED, HOST, NOT_MEANT, Guard, wrong_path_handler
from spectralnlp_web.processes import end_process, start_process
from spectralnlp_web.requests import BadRequestError, answer_bad_request, read_json, wait_for_leaving
from spectralnlp_web.server import LoopbackServer

__all__ = [
    "FAILED",
    "HOST",
    "NOT_MEANT",
    "BadRequestError",
    "Guard",
    "LoopbackServer",
    "answer_bad_request",
    "end_process",
    "read_json",
    "start_process",
    "wait_for_leaving",
    "wrong_path_handler",
]


def __dir__() -> list[str]:
    return sorted(__all__)
