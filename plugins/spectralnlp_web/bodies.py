"""Middleware that accepts bodies of requests only if they are JSON in UTF-8, short and in time."""

from __future__ import annotations

import asyncio

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send


class LimitedBodies:
    """ASGI middleware that checks the body of a request while the application reads it.

    The application gets an HTTPException of status 415 if the content type is not JSON in UTF-8, 413 if the
    body is too long, and 408 if it is late.

    Args:
        app: the application.
        most: maximum length of a body, in bytes.
        seconds: seconds within which a body must arrive.
    """

    def __init__(self, app: ASGIApp, most: int, seconds: float) -> None:
        self._app, self._most, self._seconds = app, most, seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        headers = Headers(scope=scope)
        deadline = asyncio.get_running_loop().time() + self._seconds
        length, complete = 0, False

        async def receive_checked() -> Message:
            nonlocal length, complete
            if complete:  # whoever asks for more waits until the client closes the connection
                return await receive()
            _check_type(headers.get("content-type", ""))
            self._check_length(int(headers.get("content-length", 0)))  # the server accepts digits only
            try:
                async with asyncio.timeout_at(deadline):
                    message = await receive()
            except TimeoutError as error:
                raise HTTPException(
                    408, f"the body did not arrive within {self._seconds:g} seconds"
                ) from error
            length += len(message.get("body", b""))
            self._check_length(length)
            complete = not message.get("more_body", False)
            return message

        await self._app(scope, receive_checked, send)

    def _check_length(self, length: int) -> None:
        if length > self._most:
            raise HTTPException(413, f"the body is too long: at most {self._most:,} bytes")


def _check_type(content_type: str) -> None:
    kind, *parameters = (part.strip().lower() for part in content_type.split(";"))
    charsets = {
        value.strip('"')
        for name, _, value in (each.partition("=") for each in parameters)
        if name == "charset"
    }
    if kind != "application/json" or not charsets <= {"utf-8", "utf8"}:
        raise HTTPException(415, "send Content-Type: application/json, in UTF-8")
