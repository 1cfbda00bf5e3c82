"""Command ``fascicle evaluate --agreement``: measures the agreement of two annotators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final

from fascicle.core.arguments import validate_arguments
from fascicle.core.document import GOLD, Mention
from fascicle.core.wording import plural
from fascicle.errors import InputError, UsageError
from fascicle.evaluation.comparison.agreement import Agreement, Number, Row, agreement, alphas
from fascicle.evaluation.reports.table import UNDEFINED, percent, ruled_rows
from fascicle.evaluation.scoring.inputs import layers, only_source, text_unit
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
        gold: the documents of the first side.
        layers: document id -> mentions, of both sides.
        notes: sentences that a reader of the numbers must know.
    """

    numbers: Agreement
    names: tuple[str, str]
    gold: scoring.Gold
    layers: tuple[Mapping[str, Sequence[Mention]], ...] = ()
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
            "pairs": [{"names": list(one.names)} | one.numbers.as_dict() for one in self.pairs],
            "alpha": {name: one.as_dict() for name, one in self.alphas.items() if name is not None},
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
        UsageError: standard input twice.
        InputError: a file that cannot be read, other texts, or a document that only one side
            annotated.
    """
    events = events or EventCounts()
    scoring.refuse_stdin_twice(first, second)
    gold = scoring.open_gold(first, events=events)
    own = gold.predictions()
    found = align_to_documents(own, scoring.open_predictions(second, events=events))
    sources = own.sources
    ours = layers(
        gold.documents, source=GOLD if GOLD in sources or not sources else only_source(sources)
    )
    found.check(gold.documents)
    theirs, notes = _of_the_same(ours, found, path=gold.path)
    names = scoring.system_names([gold.path, found.path])
    return Agreed(
        numbers=agreement(gold.documents, ours, theirs),
        names=(names[0], names[1]),
        gold=gold,
        layers=(ours, theirs),
        notes=(*found.notes, *notes),
    )


@validate_arguments
def agree_all(
    sides: Sequence[scoring.SystemInput], *, events: EventCounts | None = None
) -> AgreedAll:
    """Measures the agreement of several annotators: of each pair, and of all.

    Args:
        sides: see `agree`; of each the same documents.
        events: counts the events of documents.

    Raises:
        UsageError: see `agree`.
        InputError: see `agree`.
    """
    pairs = [agree(one, other, events=events) for one, other in combinations(sides, 2)]
    first = pairs[: len(sides) - 1]  # those of the first side
    layers = [first[0].layers[0], *(one.layers[1] for one in first)]
    return AgreedAll(pairs=tuple(pairs), alphas=alphas(first[0].gold.documents, layers))


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
                f"{lacking} lacks {some_documents(ids, shown=5)} that {other} has; agreement "
                "needs documents that both "
                "annotated (documents without a name are called after their file: give both "
                "files the same name)"
            )
    notes = []
    if missing:
        notes.append(
            f"{second.path} names {len(second.mentions):,} of {plural(len(first), 'document')}; "
            "the others count as "
            "annotated"
        )
    return {identifier: second.mentions.get(identifier, ()) for identifier in first}, notes


_NO_MEANING: Final = (
    "report train train_where unreachable_for model distributions threads interval allow_missing "
    "types gold_column "
    "pred_column links linker pack prefix at_least pipeline"
)


def run_agreement(args: Any) -> int:
    """Runs the comparison; returns the exit code."""
    if not args.files:
        raise UsageError(
            "agreement is between annotations of the same documents, and one file was given; "
            "give two"
        )
    if given := first_given(args, _NO_MEANING.split()):
        option = {"--types": "--type"}.get(given, given)
        raise UsageError(f"{option} has no meaning with --agreement; leave one of the two out")
    first = PredictionRequest(path=args.gold, reading=read_request(args, role="gold"))
    reading = read_request(args, role="pred")
    tally = Tally()
    others = [
        PredictionRequest(path=one, reading=reading, source=args.source or "") for one in args.files
    ]
    found = agree_all([first, *others], events=tally.account.events)
    tally.say(verbose=args.verbose)
    say_notes(dict.fromkeys(note for one in found.pairs for note in one.notes))
    pair, unit = found.pairs[0], text_unit(found.pairs[0].gold.documents)
    if len(others) == 1:
        value = {"names": list(pair.names)} | pair.numbers.as_dict()
        text = _shown(pair.numbers, pair.names, by_type=args.by_type, unit=unit)
    else:
        value, text = found.as_dict(), _shown_all(found, by_type=args.by_type, unit=unit)
    emit(value, text, as_json=args.json, allow_nan=False)
    return tally.exit_code(strict=args.strict)


def _shown(
    found: Agreement, names: Sequence[str], *, by_type: bool = True, unit: str = "document"
) -> str:
    """Formats the agreement as tables.

    Args:
        found: numbers to show.
        names: of the two sides.
        by_type: whether to print a line for each type.
        unit: kind of the documents, see ``evaluation.scoring.inputs.text_unit``.
    """
    header = (*names, "both", "F1", "interval")
    mentions = [
        ("mentions", *header),
        *([_line(n, row, "f1") for n, row in found.mentions.items()] if by_type else []),
    ]
    mentions.append(_line("all types", found.all_mentions, "f1"))
    measures = ("f1", "kappa", "alpha")
    words = [("words", *header, "kappa", "interval", "alpha", "interval")]
    words += [_line(name, row, *measures) for name, row in found.marks.items()] if by_type else []
    words.append(_line("any type", found.any_mark, *measures))
    labels = [("types of words", "words", "kappa", "interval")]
    labels += [
        (name, f"{count:,}", *_cells(number)) for name, (count, number) in found.kappas.items()
    ]
    return (
        "\n\n".join(
            [
                ruled_rows(mentions),
                ruled_rows(words),
                ruled_rows(labels),
                "\n".join(_notes(found, unit)),
            ]
        )
        + "\n"
    )


def _shown_all(found: AgreedAll, *, by_type: bool = True, unit: str = "document") -> str:
    """Formats the agreement of several sides as tables: F1 of the mentions of each pair, and alpha
    of all sides.

    Args:
        found: numbers to show.
        by_type: whether to print a line for each type.
        unit: see `shown`.
    """
    rows: list[tuple[str, ...]] = [
        ("mentions", "with", "first", "second", "both", "F1", "interval")
    ]
    rows += [
        (one.names[0], *_line(one.names[1], one.numbers.all_mentions, "f1")) for one in found.pairs
    ]
    alphas: list[tuple[str, ...]] = [("words", "alpha of all", "interval")]
    alphas += [
        (name, *_cells(one)) for name, one in found.alphas.items() if name is not None and by_type
    ]
    alphas.append(("any type", *_cells(found.alphas[None])))
    numbers = found.pairs[0].numbers
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


def _notes(found: Agreement, unit: str) -> list[str]:
    said = [
        f"Over {plural(found.documents, 'document')} with {plural(found.words, 'word')}; all "
        "numbers but "
        "counts times 100.",
        f"Intervals: {found.level:.0%}, bootstrap over {unit}s, "
        f"{plural(found.resamples, 'draw')}, seed {found.seed}.",
        "A word is marked by the types of the mentions that touch it. Kappa over all words is "
        "made high by the many "
        "that nobody marks; read it with those over marked words. docs/scores.md defines them.",
    ]
    if found.wordless_mentions:
        said.append(
            f"{plural(found.wordless_mentions, 'mention touches', 'mentions touch')} no word; "
            "they count among the "
            "mentions only."
        )
    rows = [*found.mentions.values(), found.all_mentions, *found.marks.values(), found.any_mark]
    numbers = [n for row in rows for n in row.measures.values()] + [
        n for _, n in found.kappas.values()
    ]
    said += [
        f"{UNDEFINED} is undefined: {r}." for r in dict.fromkeys(n.undefined for n in numbers) if r
    ]
    return said
