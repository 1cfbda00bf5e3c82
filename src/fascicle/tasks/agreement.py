"""Two annotations of the same documents are compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fascicle.combination.align import some_documents
from fascicle.core.arguments import checked
from fascicle.core.document import GOLD, Mention
from fascicle.core.wording import counted
from fascicle.errors import InputError
from fascicle.evaluation.comparison.agreement import Agreement, agreement
from fascicle.evaluation.scoring.inputs import layers, only_source
from fascicle.formats.account import EventCounts
from fascicle.systems.matching import on_documents_of
from fascicle.systems.predictions import Predictions
from fascicle.tasks.evaluate import names_of
from fascicle.tasks.given import Given, Gold, gold_of, predictions_of, refuse_stdin_twice


@dataclass(frozen=True, kw_only=True)
class Agreed:
    """How far two annotations agree.

    Attributes:
        numbers: of mentions and words.
        names: of the two sides.
        gold: the documents of the first.
        notes: sentences that a reader of the numbers must know.
    """

    numbers: Agreement
    names: tuple[str, str]
    gold: Gold
    notes: tuple[str, ...] = ()


@checked
def agree(first: Given, second: Given, *, events: EventCounts | None = None) -> Agreed:
    """Measures how far two annotators agree.

    Args:
        first: a corpus in any format, or documents.
        second: another annotation of these documents, also a prediction file.
        events: counts the events of documents.

    Raises:
        UsageError: standard input twice.
        InputError: a file that cannot be read, other texts, or a document that only one side annotated.
    """
    events = events or EventCounts()
    refuse_stdin_twice(first, second)
    gold = gold_of(first, events=events)
    own = gold.predictions()
    found = on_documents_of(own, predictions_of(second, events=events))
    sources = own.sources
    ours = layers(gold.documents, source=GOLD if GOLD in sources or not sources else only_source(sources))
    found.check(gold.documents)
    theirs, notes = _of_the_same(ours, found, path=gold.path)
    names = names_of([gold.path, found.path])
    return Agreed(
        numbers=agreement(gold.documents, ours, theirs),
        names=(names[0], names[1]),
        gold=gold,
        notes=(*found.notes, *notes),
    )


def _of_the_same(
    first: Mapping[str, object], second: Predictions, *, path: str
) -> tuple[dict[str, Sequence[Mention]], list[str]]:
    """The mentions of the second side for every document.

    Raises:
        InputError: a document that only one side annotated.
    """
    missing = [identifier for identifier in first if identifier not in second.mentions]
    for lacking, other, ids in (
        (path, second.path, [identifier for identifier in second.mentions if identifier not in first]),
        (second.path, path, missing if second.lists_all else []),
    ):
        if ids:
            raise InputError(
                f"{lacking} lacks {some_documents(ids, shown=5)} that {other} has; agreement needs documents that both "
                "annotated (documents without a name are called after their file: give both files the same name)"
            )
    notes = []
    if missing:
        notes.append(
            f"{second.path} names {len(second.mentions):,} of {counted(len(first), 'document')}; the others count as "
            "annotated"
        )
    return {identifier: second.mentions.get(identifier, ()) for identifier in first}, notes
