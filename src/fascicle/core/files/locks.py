"""Keeping other processes out, by a lock that the system lets go when a process ends."""

from __future__ import annotations

import contextlib
from typing import BinaryIO

from fascicle.errors import OutputError


def lock(stream: BinaryIO, *, refusal: OutputError) -> bool:
    """Locks an open file until it is closed, where the system and the file system have such locks.

    Args:
        stream: of the file.
        refusal: what is raised where another process has the lock.

    Returns:
        Whether it is locked; where it is not, two processes at once are not told apart.

    Raises:
        OutputError: the refusal.
    """
    with contextlib.suppress(ImportError):
        import fcntl

        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise refusal from None
        except OSError:
            return False
        return True
    return False
