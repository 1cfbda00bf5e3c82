"""Command ``fascicle combine``: joins the predictions of several systems by a rule, into one
file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, combinations
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from fascicle.core.arguments import validate_arguments
from fascicle.core.document import Document, Event, Mention
from fascicle.core.effects import make_event
from fascicle.core.wording import plural
from fascicle.errors import InputError, UsageError
from fascicle.evaluation.scoring.inputs import check_texts
from fascicle.evaluation.systems import several
from fascicle.formats.account import Account, EventCounts
from fascicle.formats.outputs import STDOUT, write_predictions
from fascicle.formats.predictions import Prediction
from fascicle.formats.report import ReadReport
from fascicle.formats.requests import ReadRequest, read_file
from fascicle.loading import load_filter
from fascicle.runtime.combination import rules
from fascicle.runtime.combination.align import MISSING, Missing, Votes, align, some_documents
from fascicle.runtime.combination.rules import HALF, RULES, RuleRequest
from fascicle.runtime.combination.type_names import check_filter_types
from fascicle.settings.base import Positive
from fascicle.settings.recipes.ensemble import RuleName
from fascicle.verbs.console import Tally
from fascicle.verbs.messages import say, say_notes
from fascicle.verbs.options import OVERWRITE, THREADS, call, option, positive, reads, writes
from fascicle.verbs.shared import StrictWriting, predictions_request, read_request
from fascicle.verbs.systems import SystemOptions, files_of
from fascicle.verbs.tasks.evaluate import read_systems

if TYPE_CHECKING:
    from fascicle.runtime.filter import MentionFilter

_STEP: Final = "combine"
OFFSETS: Final = (
    "see that its offsets are code points from 0 and that an end is the place "
    "behind the last character"
)


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


@dataclass(frozen=True, kw_only=True, repr=False)
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

    def __repr__(self) -> str:
        """Returns the numbers of documents and mentions in one line."""
        mentions = sum(len(prediction.mentions) for prediction in self.predictions)
        documents = plural(len(self.predictions), "document")
        return f"<Combined: {documents}, {plural(mentions, 'mention')}>"


@validate_arguments
def combine(
    systems: several.Systems,
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
        account: counts the events of documents, and texts that cannot be read; without one, such a
            text is an error.

    Returns:
        The predictions, with the name of the rule as the source of every mention.

    Raises:
        UsageError: fewer systems than the rule needs, or numbers that it does not allow.
        InputError: a file cannot be read, systems have different texts, or different names for one
            type.
        ModelError: the filter cannot be used.
    """
    events = EventCounts() if account is None else account.events
    reading = ReadReport() if account is None else account.reading
    systems = several.to_systems_request(systems)
    request = RuleRequest.of(rule)
    request.check({"texts": texts}, needed=("texts",) if request.name == "meta" else ())
    vote, least = request.rule(), None if texts is None else _probability(request.threshold)
    read = read_systems(systems, least=request.kind.least, events=events)
    vote.check(len(read))
    renamed, notes = several.rename_types(systems, read)
    if not systems.distinct_types:
        notes += several.check_type_names(renamed, notes, agree=vote.is_vote)
    votes = align(renamed, missing=missing, least=request.kind.least)
    mentions = rules.combine(votes, vote)
    notes_of: Mapping[str, Sequence[Event]] = {}
    if texts is not None:
        judge = _filter_of(request, least, threads=texts.threads)
        if not systems.distinct_types:
            notes += check_filter_types(_types_of(mentions), judge.manifest.types)
        mentions, notes_of = _judge(judge, mentions, texts=_texts(mentions, votes, texts, reading))
        for identifier, noted in notes_of.items():
            for event in noted:
                events.add(event, identifier)
    return Combined(
        predictions=tuple(_predictions(mentions, votes, notes_of)),
        votes=votes,
        notes=(*notes, *several.notes_on_files(read), *_notes(votes)),
    )


def _types_of(mentions: Mapping[str, Sequence[Mention]]) -> set[str]:
    return {mention.type for mention in chain.from_iterable(mentions.values())}


def _filter_of(request: RuleRequest, least: float | None, *, threads: int | None) -> MentionFilter:
    """Opens the filter of the rule ``"meta"``, with a threshold if one was given."""
    assert request.filter is not None
    judge = load_filter(request.filter, threads=threads)
    return judge if least is None else judge.with_threshold(least)


def _judge(
    judge: MentionFilter, union: Mapping[str, tuple[Mention, ...]], *, texts: Sequence[Document]
) -> tuple[dict[str, tuple[Mention, ...]], dict[str, tuple[Event, ...]]]:
    """Returns the mentions that a learned filter accepts, by document, with their probability as
    score; and events.
    """
    patches = judge.judge(texts, [union[document.id] for document in texts])
    accepted = {document.id: patch.add for document, patch in zip(texts, patches, strict=True)}
    events = {d.id: patch.events for d, patch in zip(texts, patches, strict=True) if patch.events}
    return {identifier: accepted[identifier] for identifier in union}, events


def _texts(
    union: Mapping[str, object], votes: Votes, texts: TextsRequest, report: ReadReport
) -> list[Document]:
    """Reads the documents that any system lists, without annotation; bad documents that no
    system lists are ignored.
    """
    documents: dict[str, Document] = {}
    for document in read_file(texts.path, texts.reading, report=report):
        if document.id in union:
            documents[document.id] = Document(
                id=document.id, text=document.text, sentences=document.sentences
            )
    lacking = [identifier for identifier in union if identifier not in documents]
    if lacking:
        raise InputError(
            f"{texts.path} lacks {some_documents(lacking)} of the predictions; give the texts that "
            "were predicted on, with the same document ids"
        )
    check_texts(documents.values(), votes.hashes)
    return list(documents.values())


def _probability(threshold: float | str | None) -> float | None:
    if threshold is None:
        return None
    try:
        value = float(threshold)
    except ValueError:
        value = -1.0
    if not 0.0 <= value <= 1.0:
        raise UsageError(
            f"the threshold {threshold!r} is not allowed; give a probability from 0 to 1, such "
            "as 0.5"
        )
    return value


def _predictions(
    combined: Mapping[str, tuple[Mention, ...]],
    votes: Votes,
    events_of: Mapping[str, Sequence[Event]],
) -> Iterator[Prediction]:
    for row, (identifier, mentions) in enumerate(combined.items()):
        voters = votes.voters[row]
        silent = sorted(
            name for name, has_vote in zip(votes.systems, voters, strict=True) if not has_vote
        )
        events = [_no_vote(name) for name in silent]
        yield Prediction(
            id=identifier,
            sha256=votes.hashes.get(identifier),
            mentions=mentions,
            events=(*votes.events.get(identifier, ()), *events, *events_of.get(identifier, ())),
        )


def _no_vote(name: str) -> Event:
    return make_event(
        "no-vote", step=_STEP, message=f"{name} did not list this document, so it had no vote here"
    )


def _notes(votes: Votes) -> Iterator[str]:
    """Yields sentences on missing documents, and on results that may be surprising."""
    for name, documents in votes.unread.items():
        yield (
            f"{name} lacks {some_documents(documents)}; it has no vote there, and the rule is "
            "applied to the others"
        )
    for name, documents in votes.assumed.items():
        all_ = len(votes.documents)
        yield (
            f"{name} names {all_ - len(documents):,} of {plural(all_, 'document')}; in the rest "
            "nothing counts as found"
        )
    alone = int((votes.voters.sum(axis=1) == 1).sum())
    if alone and len(votes.systems) > 1:
        yield f"documents in which only one system has a vote: {alone:,}"
    if votes.duplicates:
        yield (
            "mentions that a system has more than once, beyond the first: "
            f"{votes.duplicates:,}; they have one vote"
        )
    together = votes.predicted.sum(axis=1)
    for column, name in enumerate(votes.systems):
        own = together[votes.predicted[:, column]]
        if len(votes.systems) > 1 and len(own) and own.max() == 1:
            yield f"{name} has no mention in common with any other system; {OFFSETS}"
    for first, second in combinations(range(len(votes.systems)), 2):
        if len(votes.predicted) and np.array_equal(
            votes.predicted[:, first], votes.predicted[:, second]
        ):
            yield (
                f"{votes.systems[first]} and {votes.systems[second]} say exactly the same; if they "
                "are one system, it has two votes"
            )


_META: Final = "meta"


_RULES: Final = "; ".join(f"{name}: {kind.means}" for name, kind in RULES.items())
_THRESHOLD: Final = (
    f"for weighted: the share of all weights that must be exceeded (default: {HALF}); for {_META}: "
    "the lowest probability of a kept mention (default: the one that was chosen for the filter)"
)


class Options(StrictWriting, SystemOptions):
    """Options of ``fascicle combine``.

    In Python: ``fascicle.combine(["one.jsonl", "two.jsonl", "three.jsonl"], "majority")``

    Attributes:
        files: prediction files (JSON Lines or TSV), or corpora in any format.
        output: a .tsv, .csv or .jsonl file; default: standard output.
        format: format of the output; default: by the suffix of the output, else predictions (JSON
            Lines).
        k: for kofn: number of systems that must agree.
        weights: for weighted: one number for each system, in their order, e.g. their F1 on dev.
        filter: for meta: the run folder of a filter, or its export.
        texts: for meta: the texts of the predictions, in any format.
        missing: if a file does not list a document: the system has no vote there (no-vote), found
            nothing (empty), or this is an error (refuse); auto: empty for TSV, which cannot list
            documents without mentions, else no-vote.
    """

    rule: RuleName = option("RULE", choices=tuple(RULES), help=_RULES)
    files: list[str] = option("PRED *", reads)
    output: str = option("-o --output OUTPUT", writes, default=STDOUT)
    format: str | None = option("--format", choices=("tsv", "csv", "predictions"))
    k: int | None = option("--k K", positive)
    weights: str | None = option("--weights W,W,...")
    threshold: str | None = option("--threshold SHARE", help=_THRESHOLD)
    filter: str | None = option("--filter FOLDER", reads)
    texts: str | None = option("--texts FILE", reads)
    threads: int | None = THREADS
    missing: Missing = option("--missing", choices=MISSING, default="auto")
    overwrite: bool = OVERWRITE


def run(args: Options) -> int:
    """Runs the combination; returns the exit code."""
    rule, texts = rule_of(args), _texts_of(args)
    writing = predictions_request(args)
    writing.check()
    tally = Tally()
    combined = combine(
        systems_of(args, files_of(args)),
        rule,
        missing=args.missing,
        texts=texts,
        account=tally.account,
    )
    tally.account.add(write_predictions(combined.predictions, writing))
    say_notes(combined.notes)
    votes = combined.votes
    if args.verbose:
        count = sum(len(prediction.mentions) for prediction in combined.predictions)
        say(
            f"{args.rule} of {', '.join(votes.systems)}: {count:,} of "
            f"{plural(len(votes.predicted), 'distinct mention')} kept, in "
            f"{plural(len(votes.documents), 'document')}"
        )
    tally.say(verbose=args.verbose)
    return 3 if args.strict and votes.unread else tally.exit_code(strict=args.strict)


def systems_of(args: SystemOptions, files: Sequence[str]) -> several.SystemsRequest:
    """Returns the systems that the options and the files name."""
    return call(
        several.SystemsRequest, args, paths=files, reading=read_request(args), sources=args.source
    )


def rule_of(args: Any) -> RuleRequest:
    """Returns the requested rule."""
    weights = None if args.weights is None else args.weights.split(",")
    return call(RuleRequest, args, name=args.rule, weights=weights)


def _texts_of(args: Options) -> TextsRequest | None:
    """Returns the texts of ``--texts``; the number of threads matters only to the rule ``meta``."""
    rule_of(args).check({"threads": args.threads})
    if args.texts is None:
        return None
    return TextsRequest(
        path=args.texts, reading=replace(read_request(args), format="auto"), threads=args.threads
    )
