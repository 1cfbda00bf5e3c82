"""Forks a process whose other threads use a model, again and again; each child must answer.

``python -m tests.torture.forks [--count 1000] [--model biomed-fast]`` prints how many children
answered as their parent does, how many answered otherwise, and how many never answered."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
from collections import Counter

import fascicle

TEXT = "Aspirin caused fever in a patient with lung cancer."
PATIENCE = 300  # seconds after which a child counts as one that hangs
THREADS = 3


def main() -> int:
    """Forks; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1_000)
    parser.add_argument("--model", default="biomed-fast")
    args = parser.parse_args()
    model = fascicle.load(args.model, link=None)
    done, begun = threading.Event(), threading.Barrier(THREADS + 1)

    def answer(text: str = TEXT) -> int:
        return sum(len(document.mentions) for document in model.stream([text, text]))

    def work() -> None:
        begun.wait()
        while not done.is_set():
            answer(TEXT * 20)

    threads = [threading.Thread(target=work) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    begun.wait()
    expected, ends = answer(), Counter[str]()
    for _ in range(args.count):
        child = os.fork()
        if child == 0:
            signal.alarm(PATIENCE)  # ends a child that hangs, by a signal
            os._exit(0 if answer() == expected else 1)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        ends[
            {0: "answered", -signal.SIGALRM: "never answered"}.get(code, f"ended with {code}")
        ] += 1
    done.set()
    for thread in threads:
        thread.join()
    sys.stdout.write(", ".join(f"{count} {end}" for end, count in ends.items()) + "\n")
    return int(set(ends) != {"answered"})


if __name__ == "__main__":
    sys.exit(main())
