"""Cores and memory that this process may use; in a container both can be less than the machine has.

Linux limits a group of processes and all groups above it, in files of version 2 of its control
groups (``cpu.max``, ``memory.max``) or of version 1 (``cpu.cfs_quota_us``,
``memory.limit_in_bytes``).
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

_SYSTEM: Final = Path("/")


def usable_cores(system: Path = _SYSTEM) -> int:
    """Returns the number of cores that this process may use: at least 1, and a part of a core
    counts as a whole one.

    Args:
        system: root of the file system, in which limits are read.
    """
    cores = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    quotas = []
    for group in _groups(system, "cpu"):
        words = _words(group / "cpu.max") or [
            *_words(group / "cpu.cfs_quota_us"),
            *_words(group / "cpu.cfs_period_us"),
        ]
        with suppress(ValueError, ZeroDivisionError):  # no two numbers: "max", or no such file
            quota, period = map(int, words)
            quotas += [quota / period] if quota > 0 else []
    return max(1, math.ceil(min([cores, *quotas])))


def free_memory(system: Path = _SYSTEM) -> int | None:
    """Returns the bytes of memory that processes can still take, or ``None`` if the system does
    not say so. Copies of files in memory count as free.

    Args:
        system: root of the file system, in which limits are read.
    """
    kilobytes = _numbers(system / "proc" / "meminfo").get("MemAvailable:")
    if kilobytes is None:
        return None
    free = [kilobytes << 10]
    for group in _groups(system, "memory"):
        files = _numbers(group / "memory.stat")
        for limit, usage, of_files in (
            ("memory.max", "memory.current", "inactive_file"),
            ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
        ):
            with suppress(ValueError):  # no number: "max", or no such file
                (total,), (used,) = map(int, _words(group / limit)), map(int, _words(group / usage))
                free.append(total - used + files.get(of_files, 0))
    return max(0, min(free))


def _groups(system: Path, controller: str) -> Iterator[Path]:
    """Yields the folders of the groups that this process is in, and of those above them."""
    mount = system / "sys" / "fs" / "cgroup"
    with suppress(OSError):
        for line in (system / "proc" / "self" / "cgroup").read_text(encoding="utf-8").splitlines():
            _, controllers, name = line.split(":", 2)
            if controllers and controller not in controllers.split(","):
                continue
            top = mount / controller if controllers else mount
            group = top / name.lstrip("/")
            yield from (folder for folder in (group, *group.parents) if folder.is_relative_to(top))


def _words(path: Path) -> list[str]:
    with suppress(OSError):
        return path.read_text(encoding="utf-8").split()
    return []


def _numbers(path: Path) -> dict[str, int]:
    """Returns the numbers of a file with a name and a number in each line."""
    with suppress(OSError):
        lines = map(str.split, path.read_text(encoding="utf-8").splitlines())
        return {line[0]: int(line[1]) for line in lines if len(line) > 1 and line[1].isdigit()}
    return {}
