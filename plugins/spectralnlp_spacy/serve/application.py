"""ASGI application of ``spectralnlp serve``: a browser page, and the JSON interface that it uses."""

from __future__ import annotations

import asyncio
from importlib.resources import files
from typing import Any

from spectralnlp_web import BadRequestError, answer_bad_request, wait_for_leaving, wrong_path_handler
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from spectralnlp_spacy.serve.limits import Limits
from spectralnlp_spacy.serve.openapi import describe_interface
from spectralnlp_spacy.serve.pool import WorkerPool
from spectralnlp_spacy.serve.texts import read_question, read_text

_RETRY_AFTER = {"Retry-After": "1"}


def make_application(pool: WorkerPool, limits: Limits) -> ASGIApp:
    """Make the ASGI application that serves the browser page and the JSON interface that it uses.

    Args:
        pool: worker processes that analyse the texts.
        limits: limits of requests.
    """
    page = (files(__package__) / "page.html").read_bytes()
    interface = describe_interface(limits)

    async def show_page(request: Request) -> Response:
        return Response(page, media_type="text/html")

    async def show_interface(request: Request) -> Response:
        return JSONResponse(interface)

    async def show_icon(request: Request) -> Response:
        return Response(status_code=204)

    async def analyse(request: Request) -> Response:
        return await answer(request, await read_text(request, limits))

    async def explain(request: Request) -> Response:
        return await answer(request, await read_question(request, limits))

    async def answer(request: Request, asked: Any) -> Response:
        work = asyncio.ensure_future(pool.answer(asked))
        leaving = asyncio.ensure_future(wait_for_leaving(request))
        try:
            await asyncio.wait({work, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                raise ClientDisconnect
            status, content = work.result()
        finally:
            work.cancel()
            leaving.cancel()
        headers = _RETRY_AFTER if status == 503 else None
        return Response(content, status, headers, media_type="application/json")

    routes = [
        Route("/", show_page),
        Route("/openapi.json", show_interface),
        Route("/favicon.ico", show_icon),
        Route("/analyse", analyse, methods=["POST"]),
        Route("/explain", explain, methods=["POST"]),
    ]
    wrong_path = wrong_path_handler("post texts to /analyse; /openapi.json describes the interface")
    handlers = {HTTPException: wrong_path, BadRequestError: answer_bad_request}
    return Starlette(routes=routes, exception_handlers=handlers)  # type: ignore[arg-type]
