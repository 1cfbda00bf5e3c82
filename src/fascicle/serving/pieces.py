"""An answer in pieces, while the content of the request still comes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from starlette.responses import Response
from starlette.types import Receive, Scope, Send


class CutError(Exception):
    """A client that does not read what it asked for; the connection ends without the end of the answer."""


class Pieces(Response):
    """Sends pieces as they are made.

    The class of Starlette for this reads the messages of the server meanwhile, to see whether the client went away;
    but these are the content of the request, which is read elsewhere.
    """

    def __init__(self, pieces: AsyncGenerator[bytes, None], *, media_type: str, idle: float) -> None:
        """Takes the pieces.

        Args:
            pieces: of the content.
            media_type: of the content.
            idle: seconds that the client may take to read what was sent before.
        """
        super().__init__(None, media_type=media_type)
        del self.headers["content-length"]
        self._pieces, self._idle = pieces, idle

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Sends all pieces.

        Raises:
            CutError: the client does not read.
        """
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        try:
            async for piece in self._pieces:
                try:
                    async with asyncio.timeout(self._idle):
                        await send({"type": "http.response.body", "body": piece, "more_body": True})
                except TimeoutError:
                    raise CutError from None
        finally:
            await self._pieces.aclose()
        await send({"type": "http.response.body", "body": b"", "more_body": False})
