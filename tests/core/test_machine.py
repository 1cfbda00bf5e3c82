"""Cores and memory of a container, from the files in which Linux limits them.

The forms of the files: docs.kernel.org, admin-guide/cgroup-v2 and admin-guide/cgroup-v1/memory, and
scheduler/sched-bwc (``cpu.cfs_quota_us``, -1 for no limit).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from fascicle.core.machine import free_memory, usable_cores

System = Callable[[Mapping[str, str]], Path]
SECOND = "0::/a/b\n"
FIRST = "5:devices:/\n4:memory:/docker/x\n2:cpu,cpuacct:/docker/x\n"
MEMINFO = "MemTotal:       16000000 kB\nMemFree:         1000000 kB\nMemAvailable:    8000000 kB\n"
GIB = 1 << 30


@pytest.fixture
def system(tmp_path: Path) -> System:
    def write(files: Mapping[str, str]) -> Path:
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return tmp_path

    return write


@pytest.mark.parametrize(
    ("files", "cores"),
    [
        ({}, 8),
        ({"proc/self/cgroup": SECOND, "sys/fs/cgroup/a/b/cpu.max": "max 100000\n"}, 8),
        ({"proc/self/cgroup": SECOND, "sys/fs/cgroup/a/b/cpu.max": "200000 100000\n"}, 2),
        ({"proc/self/cgroup": SECOND, "sys/fs/cgroup/a/b/cpu.max": "250000 100000\n"}, 3),
        ({"proc/self/cgroup": SECOND, "sys/fs/cgroup/a/b/cpu.max": "10000 100000\n"}, 1),
        ({"proc/self/cgroup": SECOND, "sys/fs/cgroup/a/b/cpu.max": "6400000 100000\n"}, 8),
        (
            {
                "proc/self/cgroup": SECOND,
                "sys/fs/cgroup/a/b/cpu.max": "400000 100000\n",
                "sys/fs/cgroup/a/cpu.max": "300000 100000\n",
            },
            3,
        ),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "200000 50000\n"}, 4),
        (
            {
                "proc/self/cgroup": FIRST,
                "sys/fs/cgroup/cpu/docker/x/cpu.cfs_quota_us": "-1\n",
                "sys/fs/cgroup/cpu/docker/x/cpu.cfs_period_us": "100000\n",
            },
            8,
        ),
        (
            {  # in a container the group is where the controller is mounted
                "proc/self/cgroup": FIRST,
                "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "150000\n",
                "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
            },
            2,
        ),
    ],
)
def test_cores_are_those_of_the_smallest_limit(
    system: System, monkeypatch: pytest.MonkeyPatch, files: Mapping[str, str], cores: int
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    assert usable_cores(system(files)) == cores


@pytest.mark.parametrize(
    ("files", "free"),
    [
        ({}, 8_000_000 << 10),
        (
            {
                "proc/self/cgroup": SECOND,
                "sys/fs/cgroup/a/b/memory.max": "max\n",
                "sys/fs/cgroup/a/b/memory.current": f"{GIB}\n",
            },
            8_000_000 << 10,
        ),
        (
            {
                "proc/self/cgroup": SECOND,
                "sys/fs/cgroup/a/memory.max": f"{4 * GIB}\n",
                "sys/fs/cgroup/a/memory.current": f"{3 * GIB}\n",
                "sys/fs/cgroup/a/memory.stat": f"anon {GIB}\ninactive_file {GIB}\n",
            },
            2 * GIB,
        ),
        (
            {
                "proc/self/cgroup": FIRST,
                "sys/fs/cgroup/memory/docker/x/memory.limit_in_bytes": f"{2 * GIB}\n",
                "sys/fs/cgroup/memory/docker/x/memory.usage_in_bytes": f"{GIB}\n",
                "sys/fs/cgroup/memory/docker/x/memory.stat": "cache 9\ntotal_inactive_file 5\n",
                "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
                "sys/fs/cgroup/memory/memory.usage_in_bytes": f"{GIB}\n",
            },
            GIB + 5,
        ),
    ],
)
def test_memory_is_what_the_machine_and_each_group_have_left(
    system: System, files: Mapping[str, str], free: int
) -> None:
    assert free_memory(system({"proc/meminfo": MEMINFO, **files})) == free


def test_a_system_that_does_not_say_how_much_memory_is_free_has_no_number(tmp_path: Path) -> None:
    assert free_memory(tmp_path) is None


def test_this_machine_has_cores_and_memory() -> None:
    assert 1 <= usable_cores() <= (os.cpu_count() or 1)
    if Path("/proc/meminfo").exists():
        assert free_memory()
