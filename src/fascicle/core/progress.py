"""Progress of long work: a line on a terminal, a bar in a notebook, a line now and then in a
log.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, TypeVar

from fascicle.core.wording import plural

OFTEN: Final = 0.5  # seconds between two progress lines on a terminal
NOW_AND_THEN: Final = 30.0  # ... and in a log
_T = TypeVar("_T")


class Progress:
    """Progress of long work: number of documents, their rate, and the time left where it is known.

    On a terminal it is one line that changes; in a log a line now and then, and none in a short
    run.
    """

    def __init__(
        self,
        *,
        terminal: bool,
        write: Callable[[str], object],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Starts the clock.

        Args:
            terminal: whether lines can be overwritten.
            write: prints a text.
            clock: returns the time in seconds.
        """
        self._terminal, self._write, self._clock = terminal, write, clock
        self._every = OFTEN if terminal else NOW_AND_THEN
        self._begun = self._shown = clock()
        self._first: tuple[int, int] | None = None

    def see(
        self, documents: int, reached: int, total: int | None = None, *, note: str = ""
    ) -> None:
        """Records a finished document.

        Args:
            documents: number of finished documents.
            reached: bytes of the inputs that are read.
            total: bytes of all inputs; ``None`` if not known.
            note: text at the end of the line.
        """
        now = self._clock()
        if self._first is None:  # a resumed run does not begin at 0
            self._first, self._begun = (documents, reached), now
        if now - self._shown < self._every:
            return
        self._shown = now
        line = self._line(documents, reached, total, now - self._begun) + (
            f", {note}" if note else ""
        )
        self._write(f"\r{line}\x1b[K" if self._terminal else f"fascicle: {line}\n")

    def end(self) -> None:
        """Removes the line, if it is on a terminal."""
        if self._terminal:
            self._write("\r\x1b[K")

    def _line(self, documents: int, reached: int, total: int | None, seconds: float) -> str:
        before, start = self._first or (0, 0)
        parts = [plural(documents, "document")]
        if seconds > 0 and documents > before:
            parts.append(f"{(documents - before) / seconds:,.1f}/s")
        if total and start < reached < total:
            parts.append(f"{reached / total:.0%}")
            parts.append(f"{_duration(seconds * (total - reached) / (reached - start))} left")
        return ", ".join(parts)


def progress(*, quiet: bool = False) -> Progress:
    """Returns a progress display on standard error.

    Args:
        quiet: no line that changes, because the documents themselves are printed on the terminal.
    """

    def write(text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()

    terminal = sys.stderr.isatty()
    return Progress(terminal=terminal, write=(lambda _: None) if quiet and terminal else write)


def track(documents: Iterable[_T], *, of: int | None = None) -> Iterator[_T]:
    """Yields documents, and shows how many there were.

    Args:
        documents: passed on.
        of: how many there will be, if known.
    """
    bar = choose_progress()
    try:
        for count, document in enumerate(documents, start=1):
            yield document
            bar.see(count, count, of)
    finally:
        bar.end()


def choose_progress() -> Progress:
    """Returns the progress of a notebook, else that on standard error."""
    return _in_notebook() or progress()


class _Bar(Progress):
    """Progress in a notebook: an output that changes."""

    def __init__(self, display: Any, **settings: Any) -> None:
        """Takes the function ``display`` of IPython, and the settings of `Progress`."""
        super().__init__(terminal=True, write=self._show, **settings)
        self._display = display
        self._handle: Any = None
        self._share = ""

    def see(
        self, documents: int, reached: int, total: int | None = None, *, note: str = ""
    ) -> None:
        """Records a finished document."""
        self._share = f' value="{reached / total:.3f}"' if total else ""
        super().see(documents, reached, total, note=note)

    def end(self) -> None:
        """Leaves the last line, without the bar."""
        if self._handle is not None:
            self._handle.update({"text/plain": "done"}, raw=True)

    def _show(self, line: str) -> None:
        import html  # late: every program imports this module, and few run in a notebook

        text = line.strip("\r").removesuffix("\x1b[K")
        rate = {
            "text/plain": text,
            "text/html": f"<progress aria-label='progress'{self._share}></progress> "
            f"{html.escape(text)}",
        }
        if self._handle is None:
            self._handle = self._display(rate, raw=True, display_id=True)
        else:
            self._handle.update(rate, raw=True)


def _in_notebook() -> Progress | None:
    """Returns the progress of a notebook, if this is one: a program without IPython loads
    nothing of it.
    """
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if not hasattr(shell, "kernel"):
        return None
    return _Bar(sys.modules["IPython.display"].display)


def _duration(seconds: float) -> str:
    """Formats a time, such as ``1:23:45`` or ``0:59``."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
