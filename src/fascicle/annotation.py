"""One run of a predictor over documents from several inputs, with an account of all documents;
it can be resumed.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from fascicle.core import codec
from fascicle.core.contracts import Step
from fascicle.core.document import Document, Patch
from fascicle.core.stream import EMPTY_TEXT, Outcome, failure_error, outcomes
from fascicle.errors import InputError
from fascicle.formats.account import Account, EventCounts
from fascicle.formats.report import WriteReport

if TYPE_CHECKING:
    from fascicle.core.files.part import PartFile
    from fascicle.text.annotator import Annotator


__all__ = ["EMPTY_TEXT", "Annotation", "NothingError", "OfInput", "Passage"]


class NothingError(Exception):
    """Error for an output file that would hold no document, since all documents of its input
    were set aside.
    """


class Passage(NamedTuple):
    """A document in the run, with its position in the input.

    Attributes:
        input: name of the input that it is from.
        document: the document as it was read.
        number: number of documents read so far, this one included.
        digest: digest of all of them.
        reached: number of bytes of the inputs read so far.
    """

    input: str
    document: Document
    number: int
    digest: str
    reached: int


@dataclass(frozen=True, kw_only=True)
class Annotation:
    """A predictor, and the account of the documents that it annotates.

    Attributes:
        predictor: the predictor.
        segments: true if documents also get the sentences and words of the predictor.
        beside: steps whose patches add no mentions, such as the finder of abbreviations.
        account: counts of the run; its ``reading`` is the report of the reader of the documents.
        seen: function that is called after each document, with the number of documents and
            ``Passage.reached``.
    """

    predictor: Annotator
    account: Account
    segments: bool = False
    beside: tuple[Step, ...] = ()
    seen: Callable[[int, int], None] = lambda documents, reached: None

    def documents(
        self,
        documents: Iterable[tuple[str, Document]],
        *,
        report: WriteReport,
        part: PartFile | None = None,
    ) -> Iterator[Document]:
        """Yields all annotated documents, for one output file.

        Args:
            documents: pairs of input name and document, in order.
            report: report of the writer of the file.
            part: the output file, if it can be resumed after a kill: documents that it holds are
                skipped.

        Raises:
            InputError: every document was set aside; or the documents differ from those that the
                part was made of.
        """
        passages = self.passages(documents, digests=part is not None)
        if part is not None:
            part.begin()
            if part.done is not None:
                self.skip(passages, part.done)
        for passage, outcome in self._outcomes(passages):
            document = self.through(outcome, self.account.events)
            if document is not None:
                yield document
                self.account.passed(report)
                self.seen(passage.number, passage.reached)
            if part is not None:
                # The writer requested the next document: all earlier ones are in the file.
                part.keep(partial(self._state, passage, report))
        self.account.refuse_nothing(report)

    def by_input(
        self, documents: Iterable[tuple[str, Document]], *, done: Mapping[str, Mapping[str, Any]]
    ) -> Iterator[OfInput]:
        """Yields the annotated documents of each input, for one output file each; consume each
        before the next.

        Args:
            documents: pairs of input name and document, in order.
            done: finished inputs with the result of `OfInput.facts`: their documents are counted
                and skipped.
        """
        for name in done:
            self.account.restore(dict(done[name]["account"]))
        passages = (passage for passage in self.passages(documents) if passage.input not in done)
        for name, group in groupby(self._outcomes(passages), key=lambda pair: pair[0].input):
            yield OfInput(run=self, name=name, group=group)

    def passages(
        self, documents: Iterable[tuple[str, Document]], *, digests: bool = False
    ) -> Iterator[Passage]:
        """Counts the documents that come in, and yields them.

        Args:
            documents: pairs of input name and document, in order.
            digests: true to compute ``Passage.digest``.
        """
        digest = b""
        for number, (name, document) in enumerate(documents, start=1):
            self.account.read += 1
            if digests:
                digest = hashlib.sha256(digest + codec.encode(document)).digest()
            yield Passage(name, document, number, digest.hex(), self.account.reading.meter.read)

    def _outcomes(self, passages: Iterable[Passage]) -> Iterator[tuple[Passage, Outcome]]:
        waiting: deque[Passage] = deque()

        def documents() -> Iterator[Document]:
            for passage in passages:
                waiting.append(passage)
                yield passage.document

        for outcome in outcomes(self._patches, documents(), source=self.predictor.sources):
            yield waiting.popleft(), outcome

    def _patches(self, documents: Sequence[Document]) -> list[Patch]:
        """Returns the patches of the predictor, merged with those of the additional steps."""
        patches = (
            self.predictor.predict_and_cut(documents)
            if self.segments
            else self.predictor.predict(documents)
        )
        for step in self.beside:
            others = step.run(documents)
            patches = [
                msgspec.structs.replace(
                    patch,
                    events=(*patch.events, *other.events),
                    abbreviations=(*patch.abbreviations, *other.abbreviations),
                )
                for patch, other in zip(patches, others, strict=True)
            ]
        return patches

    def through(self, outcome: Outcome, events: EventCounts) -> Document | None:
        """Returns the document of an outcome and counts its events; ``None`` for an error, which
        is recorded.
        """
        if outcome.document is None:
            self.account.predicting.add(failure_error(outcome))
            return None
        events.see(outcome.document)
        return outcome.document

    def _state(self, at: Passage, report: WriteReport) -> dict[str, Any]:
        state = self.account.state()
        state["written"] += report.documents
        state["mentions"] += report.mentions
        state["losses"] = dict(self.account.losses + report.losses)
        state["examples"] = {**report.examples, **self.account.examples}
        return {"documents": at.number, "digest": at.digest, "account": state}

    def skip(self, passages: Iterator[Passage], state: Mapping[str, Any]) -> None:
        """Skips the documents that an interrupted run did, and counts them.

        Args:
            passages: passages with digests, from the first one.
            state: the last complete state: ``documents``, ``digest`` and ``account``.

        Raises:
            InputError: the documents differ.
        """
        at: Passage | None = None
        for at in passages:
            if at.number == state["documents"]:
                break
        if at is None or (at.number, at.digest) != (state["documents"], state["digest"]):
            raise InputError(
                f"the first {state['documents']:,} documents are not those of the interrupted "
                "run, so it cannot "
                "continue; give the same inputs, or leave out resume=True to start again"
            )
        self.account.restore(state["account"])


@dataclass(kw_only=True)
class OfInput:
    """Annotated documents of one input, for its output file."""

    run: Annotation
    name: str
    group: Iterator[tuple[Passage, Outcome]]
    report: WriteReport = field(init=False)

    def __post_init__(self) -> None:
        """Opens the report of the file, and stores the counts before it."""
        account = self.run.account
        self.report = account.open_report()
        self._events = EventCounts()
        self._before = account.predicting.count, account.writing.count

    def documents(self) -> Iterator[Document]:
        """Yields the annotated documents.

        Raises:
            NothingError: every one was set aside.
        """
        run = self.run
        for passage, outcome in self.group:
            document = run.through(outcome, self._events)
            if document is not None:
                yield document
                run.account.passed(self.report)
                run.seen(passage.number, passage.reached)
        if not self.report.documents:
            raise NothingError

    def facts(self) -> dict[str, Any]:
        """Returns the counts of the written file that a later run needs."""
        account = self.run.account
        return {
            "account": {
                "written": self.report.documents,
                "mentions": self.report.mentions,
                "predicting": account.predicting.count - self._before[0],
                "writing": account.writing.count - self._before[1],
                "losses": dict(self.report.losses),
                "examples": dict(self.report.examples),
                "events": self._events.state(),
            }
        }

    def close(self) -> None:
        """Adds the counts of the file; to be called when it is written, or when there is none to
        write.
        """
        self.run.account.add(self.report)
        self.run.account.events.restore(self._events.state())
