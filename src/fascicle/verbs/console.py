"""Output to standard error: sentences, counts of losses, and progress of long work."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from fascicle.annotation import EMPTY_TEXT
from fascicle.core.document import Document
from fascicle.core.effects import is_silent
from fascicle.core.files.source import STDIN
from fascicle.core.progress import NOW_AND_THEN, OFTEN, progress
from fascicle.errors import MissingExtraError
from fascicle.formats.account import Account
from fascicle.formats.losses import describe_loss
from fascicle.verbs.messages import say, with_options

# Notes that are printed without --verbose.
_ALWAYS: Final = (
    EMPTY_TEXT,
    ("note", "columns-taken"),
    ("note", "encoding-guessed"),
    ("note", "encoding-marked"),
    ("note", "lines-left-out"),
    ("note", "other-capitals"),
    ("note", "other-language"),
    ("note", "unannotated-record"),
    ("repair", "mended-tags"),
)


def log(bar: Any, line: str) -> None:
    """Prints one line on standard error, above a progress bar of tqdm if one is shown."""
    if bar.disable:
        say(line)
    else:
        bar.write(f"fascicle: {with_options(line)}", file=sys.stderr)


@contextmanager
def explain_missing_extra(extra: str) -> Iterator[None]:
    """Converts the absence of a package to an error that names the extra to install.

    Raises:
        MissingExtraError: a third-party package cannot be imported in the block.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        name = (error.name or "").partition(".")[0]
        if name == "fascicle":
            raise
        raise MissingExtraError(extra, name) from None


class StepProgress:
    """Progress by steps: on a terminal a line that changes, in a log a line now and then."""

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()
        self._shown = time.monotonic()

    def see(self, step: str, count: int) -> None:
        """Records the current step."""
        now = time.monotonic()
        if now - self._shown >= (OFTEN if self._terminal else NOW_AND_THEN):
            self._shown = now
            sys.stderr.write(
                f"\r{step}: {count:,}\x1b[K" if self._terminal else f"fascicle: {step}: {count:,}\n"
            )
            sys.stderr.flush()

    def close(self) -> None:
        """Removes the line."""
        if self._terminal:
            sys.stderr.write("\r\x1b[K")


class Tally:
    """Counts problems by kind and code; `account` counts the documents of commands that write
    them.
    """

    def __init__(self) -> None:
        """Starts with no counts."""
        self.account = Account(tell=_say_set_aside)

    def say(self, *, verbose: bool = False) -> None:
        """Prints the counts: harmful ones and empty texts always, other repairs and notes on
        request.
        """
        self.account.end()
        events, losses = self.account.events, self.account.losses
        for key, count, sentence in self.account.reading.mended():
            events.count(key, count, sentence)
        counts = {
            ("loss", code): f"{describe_loss(code)}; first in {where}"
            for code, where in self.account.examples.items()
        }
        first = counts | events.first
        dropped = Counter({("loss", code): count for code, count in losses.items()})
        for (kind, code), count in sorted((events.counts + dropped).items()):
            if verbose or not is_silent(kind, code) or (kind, code) in _ALWAYS:
                say(f"{kind} {code}: {count:,} ({first[kind, code]})")

    def close(self, where: str = "", *, quiet: bool = False, done: str = "written") -> None:
        """Prints the last line of a command that writes documents, and checks that all are
        accounted for.

        Args:
            where: the output that was written to.
            quiet: print nothing, unless documents were set aside.
            done: verb for the work on the documents.

        Raises:
            AccountError: documents are missing.
        """
        self.account.check()
        if self.account.aside or not quiet:
            say(self.account.sentence("standard output" if where == STDIN else where, done=done))

    def end(self, where: str | None = None, *, verbose: bool = False, strict: bool = False) -> int:
        """Prints the counts, and the last line of a command that writes documents; returns the exit
        code.

        Args:
            where: the output that documents were written to; ``None`` if the command writes none.
            verbose: as of `say`.
            strict: as of `exit_code`.

        Raises:
            AccountError: documents are missing.
        """
        self.say(verbose=verbose)
        if where is not None:
            self.close(where)
        return self.exit_code(strict=strict)

    def exit_code(self, *, strict: bool) -> int:
        """Returns 3 if documents were set aside, or with ``strict`` after losses or harmful
        repairs; else 0.
        """
        has_loss = any(
            not is_silent(*key) or key == EMPTY_TEXT for key in self.account.events.counts
        )
        return 3 if self.account.aside or (strict and has_loss) else 0


def _say_set_aside(sentence: str) -> None:
    say(f"set aside: {sentence}")


def with_progress(documents: Iterable[Document], *, quiet: bool = False) -> Iterator[Document]:
    """Yields the documents, and counts them on standard error.

    Args:
        documents: passed on.
        quiet: no line that changes, because the documents themselves are printed on the terminal.
    """
    bar = progress(quiet=quiet)
    for count, document in enumerate(documents, start=1):
        yield document
        bar.see(count, 0)
    bar.end()
