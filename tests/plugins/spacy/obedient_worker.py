"""A worker of ``spectralnlp serve`` that does what a text says."""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

from spectralnlp_spacy.serve.worker import HEADER, Setup


def main() -> None:
    """Answer texts until standard input ends."""
    model = Setup.from_json(sys.stdin.readline()).models[0]
    if model == "none":
        reply(422, {"error": "no model"})
    if model in ("none", "dies"):
        return
    reply(200, {})
    for line in sys.stdin:
        order, _, number = json.loads(line).partition(" ")
        if order == "die":
            os._exit(3)
        if order == "sleep":
            time.sleep(float(number))
        reply(200, [os.getpid(), "x" * int(number) if order == "long" else order])


def reply(status: int, value: Any) -> None:
    """Write an answer as workers do."""
    content = json.dumps(value).encode()
    os.write(1, HEADER.pack(status, len(content)) + content)
