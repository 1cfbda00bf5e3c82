"""Locks between processes, which the system releases when a process ends."""

from __future__ import annotations

import contextlib
from typing import BinaryIO

from fascicle.errors import OutputError


def lock(stream: BinaryIO, *, refusal: OutputError) -> bool:
    """Locks an open file until it is closed, where the system and the file system support such locks.

    Args:
        stream: the open file.
        refusal: error to raise if another process has the lock.

    Returns:
        True if the file is locked; if not, two processes at once are not detected.

    Raises:
        OutputError: another process has the lock.
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
