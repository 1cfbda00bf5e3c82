"""Requests whose content still comes: each has so much time, and where all places are taken one gives way."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Final

_SLOWEST: Final = 4_096  # bytes a second that a client sends at least, beside the seconds that it may be silent
_GRACE: Final = 0.1  # seconds of silence before a request gives way
_TRIES: Final = 5


class SlowError(Exception):
    """The content of a request came too slowly, or its place was needed."""


class Waiting:
    """The requests that wait for their clients, the one that is silent longest first."""

    def __init__(self) -> None:
        """Starts with none."""
        self._since: dict[asyncio.Timeout, float] = {}

    async def pieces(
        self, stream: AsyncGenerator[bytes, None], *, idle: float, paced: bool = True
    ) -> AsyncGenerator[bytes, None]:
        """The pieces of a content; only the time in which the client is waited for counts.

        Args:
            stream: that gives them.
            idle: seconds that the client may be silent.
            paced: whether the whole has a limit, which grows with the bytes that came.

        Raises:
            SlowError: it did not come in time.
        """
        loop, waited, size = asyncio.get_running_loop(), 0.0, 0
        async with aclosing(stream):
            while True:
                begun = loop.time()
                left = idle + size / _SLOWEST - waited if paced else idle
                try:
                    async with asyncio.timeout(min(idle, left)) as limit:
                        self._since[limit] = begun
                        try:
                            piece = await anext(stream)
                        finally:
                            self._since.pop(limit, None)
                except TimeoutError:
                    raise SlowError from None
                except StopAsyncIteration:
                    return
                waited, size = waited + loop.time() - begun, size + len(piece)
                yield piece

    async def make_room(self) -> bool:
        """Lets the request that is silent longest give way; whether there was one."""
        now = asyncio.get_running_loop().time
        for _ in range(_TRIES):
            limit = next(iter(self._since), None)
            if limit is not None and now() - self._since[limit] >= _GRACE:
                del self._since[limit]
                limit.reschedule(now())
                return True
            await asyncio.sleep(_GRACE / 2)
        return False
