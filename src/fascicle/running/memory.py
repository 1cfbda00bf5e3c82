"""What processes hold of memory, as far as the system says."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final

_PAGE: Final = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4_096


def own_mebibytes(pid: int) -> int:
    """MiB in memory that a process shares with no file; 0 where the system does not say, or it has ended."""
    try:
        resident, shared = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1:3]
    except (OSError, ValueError):
        return 0
    return (int(resident) - int(shared)) * _PAGE >> 20


def peak_mebibytes() -> int:
    """MiB that this process had in memory at most; 0 where the system does not say."""
    try:
        import resource
    except ImportError:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak >> 20 if sys.platform == "darwin" else peak >> 10


def limit_own(mebibytes: int) -> None:
    """Lets the system refuse this process more memory of its own; maps of files do not count.

    What asks for more gets a `MemoryError`, which costs one document and not the worker.
    """
    if sys.platform != "linux":
        return
    import resource

    most = mebibytes << 20
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (most, hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
