"""FastAPI application of ``spectralnlp annotate``: serves the browser page and answers its JSON requests."""

from __future__ import annotations

import asyncio
from importlib.resources import files
from typing import Annotated, Any

from fastapi import Body, FastAPI, Path, Request, Response
from fastapi.responses import JSONResponse
from spectralnlp_web import make_page_application

import spectralnlp
from spectralnlp.errors import SpectralError
from spectralnlp_annotate.background import Background
from spectralnlp_annotate.edits import NewLabelError
from spectralnlp_annotate.session import Session, StaleTreeError

_MAX_BYTES = 1_000_000
_SECONDS = 10.0
_EXAMPLE = 'send {"do": "require", "start": 0, "end": 2, "label": "NP"}'

_Number = Annotated[int, Path(ge=0, lt=10**9)]
_Edit = Annotated[dict[str, Any], Body()]


def make_application(session: Session, background: Background) -> FastAPI:
    """Make the application that serves the annotation page and answers its requests.

    Args:
        session: session of the annotator.
        background: background training, which is notified of each edit.
    """
    application = make_page_application(
        (files(__package__) / "page.html").read_bytes(),
        title="spectralnlp annotate",
        description="Sentences with their trees, and edits of them.",
        version=spectralnlp.__version__,
        hint="the page is at /",
        examples={"edit": _EXAMPLE},
        values={},
        most=_MAX_BYTES,
        seconds=_SECONDS,
    )
    at = "/sentences/{document}/{number}"

    @application.get("/overview")
    async def overview() -> dict[str, Any]:
        return {**session.overview(), "learning": background.state()}

    @application.get(at)
    async def show(document: _Number, number: _Number) -> dict[str, Any]:
        return await asyncio.to_thread(session.show, (document, number))

    @application.post(at)
    async def edit(document: _Number, number: _Number, edit: _Edit) -> dict[str, Any]:
        view = await asyncio.to_thread(session.edit, (document, number), edit)
        background.look()
        return view

    @application.get(f"{at}/next")
    async def following(document: _Number, number: _Number) -> dict[str, Any]:
        return {"next": session.next_after((document, number))}

    application.add_exception_handler(SpectralError, _refuse)
    return application


async def _refuse(request: Request, error: Exception) -> Response:
    new = {"new": error.label} if isinstance(error, NewLabelError) else {}
    return JSONResponse({"error": str(error), **new}, 409 if isinstance(error, StaleTreeError) else 422)
