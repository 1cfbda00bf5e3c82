"""Memory use of processes, as the system reports it, and its limit."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from typing import Final

_PAGE: Final = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4_096


def own_mebibytes(pid: int) -> int:
    """Returns the MiB of private memory of a process; 0 if the system does not report it or the process has ended."""
    try:
        resident, shared = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1:3]
    except (OSError, ValueError):
        return 0
    return (int(resident) - int(shared)) * _PAGE >> 20


def peak_bytes() -> int | None:
    """Returns the peak memory use of this process; ``None`` where the system does not report it."""
    # ru_maxrss would also count the process that this one was started from, before it became a program of its own.
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    if sys.platform == "win32":
        return None
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def limit_memory(most: int, pid: int = 0) -> None:
    """Limits the private memory that a process can allocate; memory-mapped files do not count.

    A larger allocation raises a `MemoryError`, so that one document fails, but the worker goes on.

    Args:
        most: bytes.
        pid: of the process; 0 for this one.

    Raises:
        ProcessLookupError: the process has ended.
    """
    if sys.platform != "linux":
        return
    import resource

    hard = resource.prlimit(pid, resource.RLIMIT_DATA)[1]
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.prlimit(pid, resource.RLIMIT_DATA, (most, hard))
    resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0))
