"""Combines the predictions of several systems into one (``fascicle combine``)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Final

import numpy as np

from fascicle.core.arguments import checked
from fascicle.core.document import Document, Event, Mention
from fascicle.core.effects import event_of
from fascicle.core.wording import counted
from fascicle.errors import InputError, UsageError
from fascicle.evaluation.scoring.inputs import check_texts
from fascicle.evaluation.systems.several import Systems, notes_on, read_systems, renamed, systems_of, types_checked
from fascicle.formats.account import Account, EventCounts
from fascicle.formats.predictions import Prediction
from fascicle.formats.report import ReadReport
from fascicle.formats.requests import ReadRequest, read_file
from fascicle.loading import load_filter
from fascicle.runtime.combination import rules
from fascicle.runtime.combination.align import Missing, Votes, align, some_documents
from fascicle.runtime.combination.rules import RuleRequest
from fascicle.runtime.combination.type_names import check_filter_types
from fascicle.settings.base import Positive
from fascicle.settings.recipes.ensemble import RuleName

STEP: Final = "combine"
OFFSETS: Final = "see that its offsets are code points from 0 and that an end is the place behind the last character"


@dataclass(frozen=True, kw_only=True)
class TextsRequest:
    """Request for the texts that a learned filter reads.

    Attributes:
        path: of the predicted texts, in any format.
        reading: format and options of the texts.
        threads: CPU threads of the filter; all usable cores by default.
    """

    path: str
    reading: ReadRequest = field(default_factory=ReadRequest)
    threads: Positive | None = None


@dataclass(frozen=True, kw_only=True)
class Combined:
    """Result of a combination.

    Attributes:
        predictions: of every document that any system lists, sorted by id.
        votes: the systems side by side.
        notes: sentences for the user.
    """

    predictions: tuple[Prediction, ...]
    votes: Votes
    notes: tuple[str, ...] = ()


@checked
def combine(
    systems: Systems,
    rule: RuleRequest | RuleName = "union",
    *,
    missing: Missing = "auto",
    texts: TextsRequest | None = None,
    account: Account | None = None,
) -> Combined:
    """Joins the predictions of several systems by a rule.

    Args:
        systems: their prediction files, or corpora in any format.
        rule: of ``combination.rules.RULES``; a name is enough for a rule without arguments.
        missing: treatment of a document that a system does not list, see ``combination.align``.
        texts: for the rule ``"meta"``, the predicted texts.
        account: counts the events of documents, and texts that cannot be read; without one, such a text is an error.

    Returns:
        The predictions, with the name of the rule as the source of every mention.

    Raises:
        UsageError: fewer systems than the rule needs, or numbers that it does not allow.
        InputError: a file cannot be read, systems have different texts, or different names for one type.
        ModelError: the filter cannot be used.
    """
    events = EventCounts() if account is None else account.events
    reading = ReadReport() if account is None else account.reading
    systems = systems_of(systems)
    wanted = rule if isinstance(rule, RuleRequest) else RuleRequest(name=rule)
    wanted.check({"texts": texts}, needed=("texts",) if wanted.name == "meta" else ())
    made, judge = wanted.rule(), _Judge.of(wanted) if texts is not None else None
    given = read_systems(systems, least=wanted.kind.least, events=events)
    made.check(len(given))
    named, notes = renamed(systems, given)
    if not systems.distinct_types:
        notes += types_checked(named, notes, agree=made.is_vote)
    votes = align(named, missing=missing, least=wanted.kind.least)
    kept = rules.combine(votes, made)
    found: Mapping[str, Sequence[Event]] = {}
    if judge is not None and texts is not None:
        kept, found = judge.kept(kept, votes, texts, reading, check=not systems.distinct_types)
        notes += judge.notes
        for identifier, of_one in found.items():
            for event in of_one:
                events.add(event, identifier)
    return Combined(
        predictions=tuple(_predictions(kept, votes, found)),
        votes=votes,
        notes=(*notes, *notes_on(given), *_notes(votes)),
    )


@dataclass(frozen=True, kw_only=True)
class _Judge:
    """Learned filter that scores the union of all systems.

    Attributes:
        folder: of the filter.
        threshold: least probability of kept mentions; ``None`` for the one of the filter.
        notes: sentences about types that only the filter or only the systems have.
    """

    folder: str
    threshold: float | None
    notes: list[str] = field(default_factory=list)

    @staticmethod
    def of(rule: RuleRequest) -> _Judge:
        """Returns the filter of a rule.

        Raises:
            UsageError: a threshold that is no probability.
        """
        assert rule.filter is not None
        return _Judge(folder=rule.filter, threshold=_probability(rule.threshold))

    def kept(
        self,
        union: Mapping[str, tuple[Mention, ...]],
        votes: Votes,
        texts: TextsRequest,
        reading: ReadReport,
        *,
        check: bool,
    ) -> tuple[dict[str, tuple[Mention, ...]], dict[str, tuple[Event, ...]]]:
        """Returns the mentions that the filter accepts, by document, with their probability as score; and events."""
        judge = load_filter(self.folder, threads=texts.threads)
        if self.threshold is not None:
            judge = judge.with_threshold(self.threshold)
        if check:
            types = {mention.type for mentions in union.values() for mention in mentions}
            self.notes.extend(check_filter_types(types, judge.manifest.types))
        documents = _texts(union, votes, texts, reading)
        patches = judge.judge(documents, [union[document.id] for document in documents])
        kept = {document.id: patch.add for document, patch in zip(documents, patches, strict=True)}
        events = {d.id: patch.events for d, patch in zip(documents, patches, strict=True) if patch.events}
        return {identifier: kept[identifier] for identifier in union}, events


def _texts(union: Mapping[str, object], votes: Votes, texts: TextsRequest, report: ReadReport) -> list[Document]:
    """Reads the documents that any system lists, without annotation; bad documents that no system lists are ignored."""
    found: dict[str, Document] = {}
    for document in read_file(texts.path, texts.reading, report=report):
        if document.id in union:
            found[document.id] = Document(id=document.id, text=document.text, sentences=document.sentences)
    lacking = [identifier for identifier in union if identifier not in found]
    if lacking:
        raise InputError(
            f"{texts.path} lacks {some_documents(lacking)} of the predictions; give the texts that were predicted on, "
            "with the same document ids"
        )
    check_texts(found.values(), votes.hashes)
    return list(found.values())


def _probability(given: float | str | None) -> float | None:
    if given is None:
        return None
    try:
        value = float(given)
    except ValueError:
        value = -1.0
    if not 0.0 <= value <= 1.0:
        raise UsageError(f"the threshold {given!r} is not allowed; give a probability from 0 to 1, such as 0.5")
    return value


def _predictions(
    combined: Mapping[str, tuple[Mention, ...]], votes: Votes, found: Mapping[str, Sequence[Event]]
) -> Iterator[Prediction]:
    for row, (identifier, mentions) in enumerate(combined.items()):
        voters = votes.voters[row]
        silent = sorted(name for name, has_vote in zip(votes.systems, voters, strict=True) if not has_vote)
        events = [_no_vote(name) for name in silent]
        yield Prediction(
            id=identifier,
            sha256=votes.hashes.get(identifier),
            mentions=mentions,
            events=(*votes.events.get(identifier, ()), *events, *found.get(identifier, ())),
        )


def _no_vote(name: str) -> Event:
    return event_of("no-vote", step=STEP, message=f"{name} did not list this document, so it had no vote here")


def _notes(votes: Votes) -> Iterator[str]:
    """Yields sentences on missing documents, and on results that may be surprising."""
    for name, documents in votes.unread.items():
        yield f"{name} lacks {some_documents(documents)}; it has no vote there, and the rule is applied to the others"
    for name, documents in votes.assumed.items():
        all_ = len(votes.documents)
        yield (
            f"{name} names {all_ - len(documents):,} of {counted(all_, 'document')}; in the rest nothing "
            "counts as found"
        )
    alone = int((votes.voters.sum(axis=1) == 1).sum())
    if alone and len(votes.systems) > 1:
        yield f"documents in which only one system has a vote: {alone:,}"
    if votes.duplicates:
        yield f"mentions that a system has more than once, beyond the first: {votes.duplicates:,}; they have one vote"
    together = votes.predicted.sum(axis=1)
    for column, name in enumerate(votes.systems):
        own = together[votes.predicted[:, column]]
        if len(votes.systems) > 1 and len(own) and own.max() == 1:
            yield f"{name} has no mention in common with any other system; {OFFSETS}"
    for first, second in combinations(range(len(votes.systems)), 2):
        if len(votes.predicted) and np.array_equal(votes.predicted[:, first], votes.predicted[:, second]):
            yield (
                f"{votes.systems[first]} and {votes.systems[second]} say exactly the same; if they are one system, it "
                "has two votes"
            )
