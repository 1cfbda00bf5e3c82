"""Account of one run: each document read was written, set aside after an error, or left out for
a stated reason.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, TypeVar

from fascicle.core.document import Document, Event
from fascicle.core.wording import plural, shorten
from fascicle.errors import InputError
from fascicle.formats.report import FailedDocuments, ReadReport, WriteReport

_T = TypeVar("_T")
_COUNTS: Final = ("written", "mentions")
# what differs in messages of one reason
_VARIABLE: Final = re.compile(r"'[^']*'|\"[^\"]*\"|\S*[./\d]\S*(?:(?<=,) (?:record|row) [\d,]+:)?")
_REASONS: Final = 20  # that are reported one by one
_OTHERS: Final = "other reasons"
_PLACES: Final = 4  # that are named for a reason


class AccountError(RuntimeError):
    """Error raised if documents are missing from the account or counted twice: a bug in the
    program, not bad input.
    """


class EventCounts:
    """Counts events by kind and code, and remembers the first of each.

    Attributes:
        counts: ``(kind, code)`` -> how often.
        first: ``(kind, code)`` -> message of the first one, and where it was.
    """

    def __init__(self) -> None:
        """Creates an empty count."""
        self.counts: Counter[tuple[str, str]] = Counter()
        self.first: dict[tuple[str, str], str] = {}

    def observe(self, documents: Iterable[Document]) -> Iterator[Document]:
        """Counts the events of each document in a stream and yields the document unchanged."""
        for document in documents:
            self.see(document)
            yield document

    def see(self, document: Document) -> None:
        """Counts the events of one document."""
        for event in document.events:
            self.add(event, document.id)

    def add(self, event: Event, where: str) -> None:
        """Counts one event of a document."""
        self.count((event.kind, event.code), 1, f"{event.message}; first in {shorten(where)}")

    def count(self, key: tuple[str, str], count: int, first: str) -> None:
        """Counts an event that occurred several times."""
        self.counts[key] += count
        self.first.setdefault(key, first)

    def state(self) -> list[tuple[str, str, int, str]]:
        """Returns all counts in the form that `restore` takes."""
        return [
            (kind, code, count, self.first[kind, code])
            for (kind, code), count in self.counts.items()
        ]

    def restore(self, state: Iterable[tuple[str, str, int, str]]) -> None:
        """Adds counts that `state` returned."""
        for kind, code, count, first in state:
            self.count((kind, code), count, first)


class _Reason:
    """Why documents were set aside: how many, and where the first ones are."""

    def __init__(self) -> None:
        self.count = 0
        self._places: list[str] = []

    def add(self, sentence: str) -> bool:
        """Counts a message; true if it is the first one."""
        self.count += 1
        if len(self._places) < _PLACES:
            place = _VARIABLE.search(sentence)
            self._places.append(shorten((place[0] if place else sentence).rstrip(":"), most=200))
        return self.count == 1

    def sentence(self) -> str:
        """Returns the number of documents, and the places of the first ones."""
        first, *more = self._places
        rest = self.count - len(self._places)
        remainder = f" and {rest:,} others" if rest else ""
        return (
            f"{plural(self.count, 'document')} in all for the reason of {first}, also "
            f"{', '.join(more)}{remainder}"
        )


class Account:
    """Counts of the documents of one run, with the documents that were set aside after an error.

    Attributes:
        reading: report for the readers; counts the documents that cannot be read.
        predicting: documents that a predictor could not process.
        writing: documents that the output format cannot hold.
        read: documents that the readers returned.
        left_out: reason -> documents that were left out on purpose.
        written: documents that were written.
        mentions: mentions that were written.
        losses: code -> how often a format could not hold something.
        examples: code -> the first document with this loss.
        folders: names of the folders of extracted texts beside the outputs.
        events: counts of the events of the documents.
    """

    def __init__(self, *, tell: Callable[[str], None] | None = None) -> None:
        """Creates an account with all counts at zero.

        Args:
            tell: function that is called with the message of the first document that is set aside
                for a reason, and at the end with the number of all. The first message is held back
                until another document is written or set aside; if there is no other,
                `refuse_nothing` raises it.
        """
        self._tell = tell
        self._reasons: dict[str, _Reason] = {}
        self._held: str | None = None
        self._passed = False
        self.reading = ReadReport(aside=self._aside())
        self.predicting = self._aside()
        self.writing = self._aside()
        self.read = 0
        self.left_out: Counter[str] = Counter()
        self.written = 0
        self.mentions = 0
        self.losses: Counter[str] = Counter()
        self.examples: dict[str, str] = {}
        self.folders: set[str] = set()
        self.events = EventCounts()

    def __repr__(self) -> str:
        """Returns the account as one line of text."""
        return f"<Account: {self.sentence()}>"

    @property
    def aside(self) -> int:
        """Number of documents set aside after an error (or files that could not be read to the
        end).
        """
        return self.reading.aside.count + self.predicting.count + self.writing.count

    @property
    def documents(self) -> int:
        """Number of input documents: those that were read, and those that could not be read."""
        return self.read + self.reading.aside.count

    def counted(self, documents: Iterable[Document]) -> Iterator[Document]:
        """Counts documents that were read, with their events, and yields them unchanged."""
        for document in self.events.observe(documents):
            self.read += 1
            yield document

    def open_report(self) -> WriteReport:
        """Returns a report for one output file; pass it to `add` when the file is complete."""
        return WriteReport(aside=self.writing)

    def add(self, report: WriteReport) -> None:
        """Adds the counts of one output file."""
        self.written += report.documents
        self.mentions += report.mentions
        self.losses.update(report.losses)
        for code, example in report.examples.items():
            self.examples.setdefault(code, example)
        self.folders |= report.folders

    def passed(self, report: WriteReport) -> None:
        """Notes a document that the writer has handled; the first written document releases the
        message held back.

        Args:
            report: of the writer.
        """
        if report.documents and not self._passed:
            self._passed = True
            self.release()

    def passing(self, documents: Iterable[_T], report: WriteReport) -> Iterator[_T]:
        """Yields documents or predictions for a writer, and calls `passed` after each one.

        Args:
            documents: yielded unchanged.
            report: of the writer.

        Raises:
            InputError: see `refuse_nothing`; at the end, before an output file is renamed.
        """
        for document in documents:
            yield document
            self.passed(report)
        self.refuse_nothing(report)

    def release(self) -> None:
        """Reports the message that is held back, if there is one."""
        if self._held is not None:
            sentence, self._held = self._held, None
            self._say(sentence)

    def end(self) -> None:
        """Reports what is held back, and how many documents were set aside for each reason; call
        it at the end.
        """
        self.release()
        reasons, self._reasons = self._reasons, {}
        for reason in reasons.values():
            if reason.count > 1:
                self._say(reason.sentence())

    def refuse_nothing(self, report: WriteReport | None = None) -> None:
        """Raises an error if every document was set aside; call it after the last one, before the
        output is renamed.

        Args:
            report: of the file that is being written.

        Raises:
            InputError: there were documents, but all were set aside; if it was one, its own message
                is raised.
        """
        if self.written or (report is not None and report.documents) or not self.aside:
            return
        if self._held is not None and self.aside == 1:
            sentence, self._held = self._held, None
            raise InputError(sentence)
        self.end()
        message = (
            f"none of the {plural(self.documents, 'document')} could be used; see the "
            "messages above"
        )
        raise InputError(message)

    def check(self) -> None:
        """Checks that the counts add up; call it at the end of a run.

        Raises:
            AccountError: the number of documents read differs from those written, set aside and
                left out.
        """
        self.end()
        if self.documents != self.written + self.aside + self.left_out.total():
            raise AccountError(
                f"{self.documents:,} documents came in, but {self.written:,} were written, "
                f"{self.aside:,} set aside and {self.left_out.total():,} left out"
            )

    def sentence(self, where: str = "", *, done: str = "written") -> str:
        """Returns the account as one line of text.

        Args:
            where: the output that was written to.
            done: what was done with the documents.
        """
        place = f" to {where}" if where else ""
        counts = f"{plural(self.documents, 'document')} in: {self.written:,} {done}{place}"
        reasons = ", ".join(
            f"{count:,} {reason}" for reason, count in sorted(self.left_out.items())
        )
        left_out = f", {self.left_out.total():,} left out ({reasons})" if reasons else ""
        first, *further = sorted(self.folders) or [""]
        beside = f"; the texts to which the offsets refer are in {first}" if first else ""
        more = f" and {plural(len(further), 'other folder')}" if further else ""
        return (
            f"{counts} with {plural(self.mentions, 'mention')}, {self.aside:,} set "
            f"aside{left_out}{beside}{more}"
        )

    def state(self) -> dict[str, Any]:
        """Returns what a resumed run needs from the finished part; the counts of reading are not
        included.
        """
        return {
            **{name: getattr(self, name) for name in _COUNTS},
            "left_out": dict(self.left_out),
            "predicting": self.predicting.count,
            "writing": self.writing.count,
            "losses": dict(self.losses),
            "examples": dict(self.examples),
            "folders": sorted(self.folders),
            "events": self.events.state(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Adds the counts that `state` returned in an earlier run."""
        for name in _COUNTS:
            setattr(self, name, getattr(self, name) + state[name])
        self.left_out.update(state.get("left_out", {}))
        self.predicting.count += state["predicting"]
        self.writing.count += state["writing"]
        self.losses.update(state["losses"])
        for code, example in state["examples"].items():
            self.examples.setdefault(code, example)
        self.folders.update(state.get("folders", ()))
        self.events.restore(state["events"])
        self._passed = self._passed or bool(state["written"])

    def _aside(self) -> FailedDocuments:
        return FailedDocuments(keep_going=True, tell=self._hear)

    def _hear(self, sentence: str) -> None:
        if self._held is not None:
            self.release()
            self._passed = True
        if not self._is_first(sentence):
            return
        if self._passed:
            self._say(sentence)
        else:
            self._held = sentence

    def _is_first(self, sentence: str) -> bool:
        """Counts a message; true if it is the first one of its reason."""
        reason = _VARIABLE.sub("#", sentence)
        if reason not in self._reasons and len(self._reasons) > _REASONS:
            reason = _OTHERS
        return self._reasons.setdefault(reason, _Reason()).add(sentence)

    def _say(self, sentence: str) -> None:
        if self._tell is not None:
            self._tell(sentence)
