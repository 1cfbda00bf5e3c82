"""A process that was forked while other threads use a model can use it too."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fascicle.runtime.places import shipped_models

SOURCES = Path(__file__).resolve().parents[2] / "src"
FORKS = 20
PROGRAM = """
import os, signal, sys, threading
import fascicle
TEXT = "Aspirin caused fever in a patient with lung cancer."
model, is_done, begun = fascicle.load("biomed", link=None), threading.Event(), threading.Barrier(4)
def work():
    begun.wait()
    while not is_done.is_set():
        list(model.stream([TEXT, TEXT * 20]))
threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads:
    thread.start()
begun.wait()
codes = []
for _ in range(int(sys.argv[1])):
    child = os.fork()
    if child == 0:
        signal.alarm(120)  # ends a child that hangs, by a signal
        (document,) = model.stream([TEXT])
        os._exit(len(document.mentions))
    codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
is_done.set()
(document,) = model.stream([TEXT])
print(codes == [len(document.mentions)] * len(codes), *codes)
"""


@pytest.mark.skipif(not shipped_models(), reason="no model comes with this checkout")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_children_of_a_process_whose_threads_stream_answer() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(FORKS)],
        env={**os.environ, "PYTHONPATH": str(SOURCES)},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.stdout.startswith("True"), done.stdout + done.stderr
