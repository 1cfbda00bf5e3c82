"""Attributes that are computed once, also in a process that was forked while another thread
computed one.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
from pathlib import Path

import pytest

from fascicle.core.lazy import cached_property


class Slow:
    def __init__(
        self, begun: threading.Event | None = None, until: threading.Event | None = None
    ) -> None:
        self.begun, self.until, self.count = begun, until, 0

    @cached_property
    def value(self) -> int:
        """A number."""
        self.count += 1
        if self.begun is not None and self.until is not None:
            self.begun.set()
            self.until.wait(60)
        return 7


def test_a_value_is_computed_once_for_each_object() -> None:
    one, other = Slow(), Slow()
    assert (one.value, one.value, other.value) == (7, 7, 7)
    assert (one.count, other.count) == (1, 1)
    assert type(Slow.__dict__["value"]) is cached_property
    assert Slow.value.__doc__ == "A number."  # type: ignore[attr-defined]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_does_not_wait_for_a_thread_that_it_does_not_have() -> None:
    begun, until = threading.Event(), threading.Event()
    thread = threading.Thread(target=lambda: Slow(begun, until).value)
    thread.start()
    begun.wait(60)
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # ends a child that hangs, by a signal
        os._exit(Slow().value)
    status = os.waitpid(child, 0)[1]
    until.set()
    thread.join(60)
    assert os.waitstatus_to_exitcode(status) == 7


def test_nothing_else_caches_with_a_lock() -> None:
    """`functools.cached_property` of Python 3.11 has one lock for all objects of a class."""
    folder = Path(sys.modules["fascicle"].__file__ or "").parent
    named = re.compile(r"from functools import .*cached_property|functools\.cached_property\(")
    found = [
        path.name for path in folder.rglob("*.py") if named.search(path.read_text(encoding="utf-8"))
    ]
    assert found == ["lazy.py"]
