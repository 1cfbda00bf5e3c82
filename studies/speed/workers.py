"""Processes that take turns: each does one round when it is asked to, and says what that took as
a line of JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any


class Worker:
    """A module of the studies in a process of its own."""

    def __init__(
        self,
        module: str,
        arguments: Sequence[object],
        environment: Mapping[str, str] | None = None,
        *,
        python: str = sys.executable,
    ) -> None:
        """Starts it.

        Args:
            module: such as ``"studies.speed.ratios"``.
            arguments: of its command line.
            environment: variables beside or in place of those of this process.
            python: that runs it.
        """
        self._process = subprocess.Popen(
            [python, "-m", module, *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **(environment or {})},
        )

    def told(self) -> dict[str, Any]:
        """The next line that it writes.

        Raises:
            RuntimeError: it ended.
        """
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"a worker ended with {self._process.wait()}; see its error above")
        found: dict[str, Any] = json.loads(line)
        return found

    def ask(self, what: str = "go") -> dict[str, Any]:
        """Sends a word and waits for the answer."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{what}\n")
        self._process.stdin.flush()
        return self.told()

    def close(self) -> None:
        """Sends no more words; it may still say something."""
        assert self._process.stdin is not None
        self._process.stdin.close()

    def end(self) -> None:
        """Waits until it is done."""
        self.close()
        self._process.wait()
