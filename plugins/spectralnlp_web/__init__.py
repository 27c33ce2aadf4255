"""Web server on the loopback interface, shared by ``spectralnlp serve`` and ``spectralnlp annotate``.

The server answers requests from this machine only, and refuses requests from pages of other origins. Its own
pages load nothing from other servers.
"""

from spectralnlp_web.application import make_page_application
from spectralnlp_web.guard import FAILED, HOST, NOT_MEANT, Guard
from spectralnlp_web.processes import end_process, start_process
from spectralnlp_web.server import LoopbackServer

__all__ = [
    "FAILED",
    "HOST",
    "NOT_MEANT",
    "Guard",
    "LoopbackServer",
    "end_process",
    "make_page_application",
    "start_process",
]


def __dir__() -> list[str]:
    return sorted(__all__)
