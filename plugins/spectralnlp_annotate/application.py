"""ASGI application of ``spectralnlp annotate``: serves the browser page and answers its JSON requests."""

from __future__ import annotations

import asyncio
from importlib.resources import files
from typing import Any

from spectralnlp_web import BadRequestError, answer_bad_request, read_json, wrong_path_handler
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from spectralnlp.errors import SpectralError
from spectralnlp_annotate.background import Background
from spectralnlp_annotate.edits import NewLabelError
from spectralnlp_annotate.ordering import Place
from spectralnlp_annotate.session import Session, StaleTreeError

_MAX_BYTES = 1_000_000
_SECONDS = 10.0
_EXAMPLE = 'send {"do": "require", "start": 0, "end": 2, "label": "NP"}'


def make_application(session: Session, background: Background) -> ASGIApp:
    """Make the ASGI application that serves the annotation page and answers its requests.

    Args:
        session: session of the annotator.
        background: background training, which is notified of each edit.
    """
    page = (files(__package__) / "page.html").read_bytes()

    async def show_page(request: Request) -> Response:
        return Response(page, media_type="text/html")

    async def show_icon(request: Request) -> Response:
        return Response(status_code=204)

    async def overview(request: Request) -> Response:
        return JSONResponse({**session.overview(), "learning": background.state()})

    async def show(request: Request) -> Response:
        return JSONResponse(await asyncio.to_thread(session.show, _place(request)))

    async def following(request: Request) -> Response:
        return JSONResponse({"next": session.next_after(_place(request))})

    async def edit(request: Request) -> Response:
        value = await read_json(request, most=_MAX_BYTES, seconds=_SECONDS, example=_EXAMPLE)
        if not isinstance(value, dict):
            raise BadRequestError(422, f"the JSON is not an object; {_EXAMPLE}")
        view = await asyncio.to_thread(session.edit, _place(request), value)
        background.look()
        return JSONResponse(view)

    at = "/sentences/{document}/{number}"
    routes = [
        Route("/", show_page),
        Route("/favicon.ico", show_icon),
        Route("/overview", overview),
        Route(at, show),
        Route(at, edit, methods=["POST"]),
        Route(f"{at}/next", following),
    ]
    handlers: dict[Any, Any] = {
        HTTPException: wrong_path_handler("the page is at /"),
        BadRequestError: answer_bad_request,
        StaleTreeError: _answer_stale_tree,
        NewLabelError: _answer_new_label,
        SpectralError: _answer_error,
    }
    return Starlette(routes=routes, exception_handlers=handlers)


def _place(request: Request) -> Place:
    document, number = request.path_params["document"], request.path_params["number"]
    if not all(each.isascii() and each.isdigit() and len(each) < 10 for each in (document, number)):
        raise HTTPException(404)
    return int(document), int(number)


async def _answer_error(request: Request, error: SpectralError) -> Response:
    return JSONResponse({"error": str(error)}, 422)


async def _answer_new_label(request: Request, error: NewLabelError) -> Response:
    return JSONResponse({"error": str(error), "new": error.label}, 422)


async def _answer_stale_tree(request: Request, error: StaleTreeError) -> Response:
    return JSONResponse({"error": str(error)}, 409)
