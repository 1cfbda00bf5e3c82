"""Standard error: sentences, counts of what was lost, and a sign of life during long work."""

from __future__ import annotations

import re
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, Final

from fascicle.core.document import Document, Event
from fascicle.core.wording import counted
from fascicle.errors import MissingExtraError
from fascicle.formats.report import WriteReport

EMPTY_TEXT: Final = ("note", "empty-text")
# What is said without being asked for, as losses are.
_ALWAYS: Final = (EMPTY_TEXT, ("note", "encoding-guessed"), ("note", "unannotated-record"))
_OFTEN: Final = 0.5  # seconds between two signs of life


# Errors name the argument of a function, which a user of Python can give; here it is the option that says the same.
_OPTIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "overwrite=True": "--overwrite",
        "allow_missing=True": "--allow-missing",
        "resume=True": "--resume",
        "encoding=NAME": "--encoding NAME",
        "format=native": "--input-format native",
        "format=NAME": "--format NAME",
    }
)
_ARGUMENT: Final = re.compile("|".join(rf"(?<!\w){re.escape(name)}(?!\w)" for name in _OPTIONS))


def with_options(text: str) -> str:
    """A sentence of an error with options of the command line in the place of arguments of functions."""
    return _ARGUMENT.sub(lambda found: _OPTIONS[found[0]], text)


def say(text: str) -> None:
    """One line on standard error."""
    sys.stderr.write(f"fascicle: {with_options(text)}\n")
    sys.stderr.flush()


def log(bar: Any, line: str) -> None:
    """One line on standard error, above a progress bar of tqdm if that is shown."""
    if bar.disable:
        say(line)
    else:
        bar.write(f"fascicle: {with_options(line)}", file=sys.stderr)


@contextmanager
def needs_extra(extra: str) -> Iterator[None]:
    """Turns the absence of a package into an error that names the extra.

    Raises:
        MissingExtraError: a package of others cannot be imported in the block.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        name = (error.name or "").partition(".")[0]
        if name == "fascicle":
            raise
        raise MissingExtraError(extra, name) from None


class Tally:
    """Counts what was not done, by kind and code, and how many inputs failed."""

    def __init__(self) -> None:
        """Starts with nothing."""
        self.failures = 0
        self._counts: Counter[tuple[str, str]] = Counter()
        self._dropped: Counter[str] = Counter()
        self._first: dict[tuple[str, str], str] = {}

    def observe(self, documents: Iterable[Document]) -> Iterator[Document]:
        """Counts the events of documents that pass by."""
        for document in documents:
            for event in document.events:
                self.add(event, document.id)
            yield document

    def add(self, event: Event, where: str) -> None:
        """Counts one event of a document."""
        key = (event.kind, event.code)
        self._counts[key] += 1
        self._first.setdefault(key, f"{event.message}; first in {where}")

    def add_report(self, report: WriteReport) -> None:
        """Counts what a format could not hold; it has no part in the exit code, for writers are strict themselves."""
        self._dropped.update(report.losses)
        for code, where in report.examples.items():
            self._first.setdefault(("loss", code), f"the format cannot hold it; first in {where}")

    def fail(self, sentence: str) -> None:
        """Reports an input that could not be used, and counts it."""
        self.failures += 1
        say(f"failed: {sentence}")

    def say(self, *, verbose: bool = False) -> None:
        """Sums up: losses and empty texts always, repairs and notes on request."""
        dropped = Counter({("loss", code): count for code, count in self._dropped.items()})
        for (kind, code), count in sorted((self._counts + dropped).items()):
            if verbose or kind == "loss" or (kind, code) in _ALWAYS:
                say(f"{kind} {code}: {count:,} ({self._first[kind, code]})")
        if self.failures:
            say(f"{self.failures:,} {'input' if self.failures == 1 else 'inputs'} failed; the others are done")

    def exit_code(self, *, strict: bool) -> int:
        """3 after failures, or with ``strict`` after losses; else 0."""
        lost = any(kind == "loss" or (kind, code) == EMPTY_TEXT for kind, code in self._counts)
        return 3 if self.failures or (strict and lost) else 0


def with_progress(documents: Iterable[Document], *, quiet: bool) -> Iterator[Document]:
    """Counts documents on standard error while they pass, if that is a terminal.

    Args:
        documents: passed on.
        quiet: say nothing, for the documents themselves go to the terminal.
    """
    if quiet or not sys.stderr.isatty():
        yield from documents
        return
    said = time.monotonic()
    for count, document in enumerate(documents, start=1):
        yield document
        if time.monotonic() - said > _OFTEN:
            said = time.monotonic()
            sys.stderr.write(f"\r{counted(count, 'document')}")
            sys.stderr.flush()
    sys.stderr.write("\r\x1b[K")
