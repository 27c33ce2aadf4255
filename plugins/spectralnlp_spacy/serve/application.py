"""FastAPI application of ``spectralnlp serve``: a browser page, and the JSON interface that it uses."""

# Annotations are evaluated, as FastAPI reads those of the endpoints: their limits are known at run time only.
import asyncio
from importlib.resources import files
from typing import Annotated, Any

from fastapi import FastAPI, Request, Response
from pydantic import Field
from spectralnlp_web import make_page_application
from starlette.requests import ClientDisconnect

import spectralnlp
from spectralnlp_spacy.serve.interface import Analysis, Bracket, Explanation, Value, answers
from spectralnlp_spacy.serve.limits import Limits
from spectralnlp_spacy.serve.pool import WorkerPool

_RETRY_AFTER = {"Retry-After": "1"}
_EXAMPLES = {
    "analyse": 'send {"text": "…"}',
    "explain": 'send {"words": ["It", "is", "cold"], "bracket": [1, 3, "VP"]}',
}
_VALUES = {"text": "a string", "words": "a list of words", "bracket": "start, end and label"}


def make_application(pool: WorkerPool, limits: Limits) -> FastAPI:
    """Make the application that serves the browser page and the JSON interface that it uses.

    Args:
        pool: worker processes that analyse the texts.
        limits: limits of requests.
    """
    application = make_page_application(
        (files(__package__) / "page.html").read_bytes(),
        title="spectralnlp serve",
        description="Trees, confidence, alternatives, tags and intents of a text.",
        version=spectralnlp.__version__,
        hint="post texts to /analyse; /openapi.json describes the interface",
        examples=_EXAMPLES,
        values=_VALUES,
        most=limits.body,
        seconds=limits.seconds,
    )

    class Text(Value):
        """A text to analyse."""

        text: Annotated[
            str,
            Field(
                max_length=limits.characters,
                description=f"At most {limits.characters:,} characters and {limits.tokens:,} tokens.",
            ),
        ]

    class Question(Value):
        """A bracket to explain, and the words of its sentence."""

        words: Annotated[
            list[Annotated[str, Field(min_length=1)]], Field(min_length=1, max_length=limits.tokens)
        ]
        bracket: Bracket
        """First token (from 0), first token after the bracket, and label."""

    @application.post(
        "/analyse",
        summary="Analyse a text.",
        operation_id="analyse",
        responses=answers(Analysis, "Annotations of the text."),
    )
    async def analyse(request: Request, asked: Text) -> Response:
        return await answer(request, asked.text)

    @application.post(
        "/explain",
        summary="Explain a bracket.",
        operation_id="explain",
        responses=answers(Explanation, "Why the sentence has the bracket."),
    )
    async def explain(request: Request, asked: Question) -> Response:
        return await answer(request, asked.model_dump())

    async def answer(request: Request, asked: Any) -> Response:
        work = asyncio.ensure_future(pool.answer(asked))
        leaving = asyncio.ensure_future(_leave(request))
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

    return application


async def _leave(request: Request) -> None:
    """Wait until the client of a request, whose body was read, closes the connection."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
