"""Keeping other processes out, by a lock that the system lets go when a process ends."""

from __future__ import annotations

import contextlib
from typing import BinaryIO

from fascicle.errors import OutputError


def lock(stream: BinaryIO, *, refusal: OutputError) -> None:
    """Locks an open file until it is closed, where the system and the file system have such locks.

    Args:
        stream: of the file.
        refusal: what is raised where another process has the lock.

    Raises:
        OutputError: the refusal.
    """
    with contextlib.suppress(ImportError):  # a system without such locks: two at once are not told apart
        import fcntl

        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise refusal from None
        except OSError:
            pass  # a file system without locks
