"""The limit of time for patterns of users."""

from __future__ import annotations

import re
import signal
import threading
import time

import pytest

from fascicle.core.arguments import time_limit
from fascicle.errors import InputError

ENDLESS = re.compile("(a+)+$")


def test_a_pattern_without_end_is_stopped() -> None:
    def search() -> None:
        with time_limit(0.2, InputError("too long")):
            ENDLESS.search("a" * 100 + "b")

    handler = signal.getsignal(signal.SIGVTALRM)
    for _ in range(2):
        with pytest.raises(InputError, match="too long"):
            search()
    assert signal.getsignal(signal.SIGVTALRM) is handler
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0, 0)


def test_what_ends_in_time_and_what_only_waits_is_not_stopped() -> None:
    with time_limit(0.2, InputError("too long")):
        assert re.search("a+", "baa") is not None
        time.sleep(0.4)
    until = time.process_time() + 0.4
    while time.process_time() < until:  # the timer is off
        pass


def test_inner_limits_and_other_threads_do_no_harm() -> None:
    done = []

    def work() -> None:
        with time_limit(1e-3, InputError("too long")):
            done.append(ENDLESS.search("a" * 18 + "b"))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    with time_limit(60, InputError("too long")), time_limit(1e-3, InputError("inner")):
        done.append(ENDLESS.search("a" * 18 + "b"))
    assert done == [None, None]
