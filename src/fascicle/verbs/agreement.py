"""Command ``fascicle evaluate --agreement``: measures the agreement of two annotators."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final, NamedTuple

from fascicle.core.arguments import validate_arguments
from fascicle.core.document import GOLD, Mention
from fascicle.core.wording import plural
from fascicle.errors import InputError, UsageError
from fascicle.evaluation.comparison.agreement import Agreement, Number, Row, agreement, alphas
from fascicle.evaluation.reports.table import UNDEFINED, percent, ruled_rows
from fascicle.evaluation.scoring.inputs import only_source, text_unit
from fascicle.evaluation.systems.alignment import align_to_documents
from fascicle.evaluation.systems.predictions import (
    PredictionRequest,
    Predictions,
)
from fascicle.formats.account import EventCounts
from fascicle.runtime.combination.align import some_documents
from fascicle.verbs.console import Tally
from fascicle.verbs.messages import emit, say_notes
from fascicle.verbs.options import first_given
from fascicle.verbs.shared import read_request
from fascicle.verbs.tasks import evaluate as scoring


@dataclass(frozen=True, kw_only=True)
class Agreed:
    """Agreement of two annotations.

    Attributes:
        numbers: agreement on mentions and words.
        names: of the two sides.
        gold: the documents whose words count.
        notes: sentences that a reader of the numbers must know.
    """

    numbers: Agreement
    names: tuple[str, str]
    gold: scoring.Gold
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class AgreedAll:
    """Agreement of several annotations.

    Attributes:
        pairs: each pair of sides, in the order in which they were given.
        alphas: type, or ``None`` for any, -> Krippendorff's alpha of all sides.
    """

    pairs: tuple[Agreed, ...]
    alphas: Mapping[str | None, Number]

    def as_dict(self) -> dict[str, Any]:
        """Returns the fields, ready for JSON."""
        return {
            "pairs": [{"names": list(side.names)} | side.numbers.as_dict() for side in self.pairs],
            "alpha": {
                name: side.as_dict() for name, side in self.alphas.items() if name is not None
            },
            "alpha_any": self.alphas[None].as_dict(),
        }


@validate_arguments
def agree(
    first: scoring.SystemInput, second: scoring.SystemInput, *, events: EventCounts | None = None
) -> Agreed:
    """Measures the agreement of two annotators.

    Args:
        first: a corpus in any format, or documents.
        second: another annotation of these documents, also a prediction file.
        events: counts the events of documents.

    Raises:
        UsageError: standard input twice, or a source that a file does not have.
        InputError: a file that cannot be read, other texts, or a document that only one side
            annotated.
    """
    return agree_all([first, second], events=events).pairs[0]


@validate_arguments
def agree_all(
    sides: Sequence[scoring.SystemInput], *, events: EventCounts | None = None
) -> AgreedAll:
    """Measures the agreement of several annotators: of each pair, and of all.

    Args:
        sides: see `agree`; of each the same documents. The first is a corpus or documents, whose
            words count.
        events: counts the events of documents.

    Raises:
        UsageError: see `agree`.
        InputError: see `agree`.
    """
    events = events or EventCounts()
    scoring.refuse_stdin_twice(*sides)
    gold = scoring.open_gold(sides[0], events=events)
    annotations = list(_annotations(sides, gold, events=events))
    pairs = tuple(_pair(gold, *two) for two in combinations(annotations, 2))
    return AgreedAll(
        pairs=pairs, alphas=alphas(gold.documents, [side.mentions for side in annotations])
    )


class _Side(NamedTuple):
    """One annotation of the documents: its file, its mentions, and notes on it."""

    path: str
    mentions: Mapping[str, Sequence[Mention]]
    notes: Sequence[str]


def _annotations(
    sides: Sequence[scoring.SystemInput], gold: scoring.Gold, *, events: EventCounts
) -> Iterator[_Side]:
    """Yields the sides, each on the documents of the first, which are ``gold``."""
    own = gold.predictions()
    first = _first_layer(sides[0], own)
    yield _Side(gold.path, first, ())
    for side in sides[1:]:
        other = align_to_documents(own, scoring.open_predictions(side, events=events))
        other.check(gold.documents)
        mentions, notes = _of_the_same(first, other, path=gold.path)
        yield _Side(other.path, mentions, [*other.notes, *notes])


def _pair(gold: scoring.Gold, first: _Side, second: _Side) -> Agreed:
    names = scoring.system_names([first.path, second.path])
    return Agreed(
        numbers=agreement(gold.documents, first.mentions, second.mentions),
        names=(names[0], names[1]),
        gold=gold,
        notes=(*first.notes, *second.notes),
    )


def _first_layer(side: scoring.SystemInput, own: Predictions) -> Mapping[str, Sequence[Mention]]:
    """Returns the mentions of the source that was asked for, else of the gold, else of the only
    source.
    """
    source = side.source if isinstance(side, PredictionRequest) else ""
    sources = own.sources
    return own.of_one_system(
        source or (GOLD if GOLD in sources or not sources else only_source(sources))
    ).mentions


def _of_the_same(
    first: Mapping[str, object], second: Predictions, *, path: str
) -> tuple[dict[str, Sequence[Mention]], list[str]]:
    """Returns the mentions of the second side for every document, and notes.

    Raises:
        InputError: a document that only one side annotated.
    """
    missing = [identifier for identifier in first if identifier not in second.mentions]
    for lacking, other, ids in (
        (
            path,
            second.path,
            [identifier for identifier in second.mentions if identifier not in first],
        ),
        (second.path, path, missing if second.lists_all else []),
    ):
        if ids:
            raise InputError(
                f"{lacking} lacks {some_documents(ids, limit=5)} that {other} has; agreement needs "
                "documents that both annotated (documents without a name are called after their "
                "file: give both files the same name)"
            )
    notes = []
    if missing:
        notes.append(
            f"{second.path} names {len(second.mentions):,} of {plural(len(first), 'document')}; "
            "the others count as annotated"
        )
    return {identifier: second.mentions.get(identifier, ()) for identifier in first}, notes


_NO_MEANING: Final = (
    "report train train_where unreachable_for model distributions threads device interval "
    "allow_missing types gold_column pred_column links linker pack prefix at_least pipeline map"
)


def _check_options(args: Any) -> None:
    if not args.files:
        raise UsageError(
            "agreement is between annotations of the same documents, and one file was given; "
            "give two"
        )
    if flag := first_given(args, _NO_MEANING.split()):
        option = {"--types": "--type"}.get(flag, flag)
        raise UsageError(f"{option} has no meaning with --agreement; leave one of the two out")


def run_agreement(args: Any) -> int:
    """Runs the comparison; returns the exit code."""
    _check_options(args)
    gold = PredictionRequest(path=args.gold, reading=read_request(args, role="gold"))
    reading = read_request(args, role="pred")
    tally = Tally()
    source = args.source or ""
    sides = (PredictionRequest(path=path, reading=reading, source=source) for path in args.files)
    agreement = agree_all([gold, *sides], events=tally.account.events)
    tally.say(verbose=args.verbose)
    say_notes(dict.fromkeys(note for each in agreement.pairs for note in each.notes))
    pair, *further = agreement.pairs
    unit = text_unit(pair.gold.documents)
    if not further:
        value = {"names": list(pair.names)} | pair.numbers.as_dict()
        text = _as_text(pair.numbers, pair.names, by_type=args.by_type, unit=unit)
    else:
        value, text = agreement.as_dict(), _all_as_text(agreement, by_type=args.by_type, unit=unit)
    emit(value, text, as_json=args.json, allow_nan=False)
    return tally.exit_code(strict=args.strict)


def _as_text(
    agreement: Agreement, names: Sequence[str], *, by_type: bool = True, unit: str = "document"
) -> str:
    """Formats the agreement as tables.

    Args:
        agreement: numbers to show.
        names: of the two sides.
        by_type: whether to print a line for each type.
        unit: kind of the documents, see ``evaluation.scoring.inputs.text_unit``.
    """
    header, measures = (*names, "both", "F1", "interval"), ("f1", "kappa", "alpha")
    mentions = [("mentions", *header)]
    words = [("words", *header, "kappa", "interval", "alpha", "interval")]
    if by_type:
        mentions += [_line(name, row, "f1") for name, row in agreement.mentions.items()]
        words += [_line(name, row, *measures) for name, row in agreement.marks.items()]
    mentions.append(_line("all types", agreement.all_mentions, "f1"))
    words.append(_line("any type", agreement.any_mark, *measures))
    labels = [("types of words", "words", "kappa", "interval")]
    labels += [
        (name, f"{count:,}", *_cells(number)) for name, (count, number) in agreement.kappas.items()
    ]
    tables = [ruled_rows(mentions), ruled_rows(words), ruled_rows(labels)]
    return "\n\n".join([*tables, "\n".join(_notes(agreement, unit))]) + "\n"


def _all_as_text(agreement: AgreedAll, *, by_type: bool = True, unit: str = "document") -> str:
    """Formats the agreement of several sides as tables: F1 of the mentions of each pair, and alpha
    of all sides.

    Args:
        agreement: numbers to show.
        by_type: whether to print a line for each type.
        unit: see `shown`.
    """
    rows: list[tuple[str, ...]] = [
        ("mentions", "with", "first", "second", "both", "F1", "interval")
    ]
    rows += [
        (pair.names[0], *_line(pair.names[1], pair.numbers.all_mentions, "f1"))
        for pair in agreement.pairs
    ]
    alphas: list[tuple[str, ...]] = [("words", "alpha of all", "interval")]
    alphas += [
        (name, *_cells(pair))
        for name, pair in agreement.alphas.items()
        if name is not None and by_type
    ]
    alphas.append(("any type", *_cells(agreement.alphas[None])))
    numbers = agreement.pairs[0].numbers
    return (
        "\n\n".join([ruled_rows(rows), ruled_rows(alphas), "\n".join(_notes(numbers, unit)[:2])])
        + "\n"
    )


def _line(name: str, row: Row, *measures: str) -> tuple[str, ...]:
    counts = (f"{count:,}" for count in (row.first, row.second, row.both))
    return (
        name,
        *counts,
        *(cell for measure in measures for cell in _cells(row.measures[measure])),
    )


def _cells(number: Number) -> tuple[str, str]:
    if number.low is None:
        return percent(number.value), UNDEFINED
    return percent(number.value), f"{percent(number.low)} to {percent(number.high)}"


def _notes(agreement: Agreement, unit: str) -> list[str]:
    notes = [
        f"Over {plural(agreement.documents, 'document')} with {plural(agreement.words, 'word')}; "
        "all numbers but counts times 100.",
        f"Intervals: {agreement.level:.0%}, bootstrap over {unit}s, "
        f"{plural(agreement.resamples, 'draw')}, seed {agreement.seed}.",
        "A word is marked by the types of the mentions that touch it. Kappa over all words is "
        "made high by the many "
        "that nobody marks; read it with those over marked words. docs/scores.md defines them.",
    ]
    if agreement.wordless_mentions:
        notes.append(
            f"{plural(agreement.wordless_mentions, 'mention touches', 'mentions touch')} no word; "
            "they count among the mentions only."
        )
    rows = [
        *agreement.mentions.values(),
        agreement.all_mentions,
        *agreement.marks.values(),
        agreement.any_mark,
    ]
    numbers = [n for row in rows for n in row.measures.values()] + [
        n for _, n in agreement.kappas.values()
    ]
    notes += [
        f"{UNDEFINED} is undefined: {r}." for r in dict.fromkeys(n.undefined for n in numbers) if r
    ]
    return notes
