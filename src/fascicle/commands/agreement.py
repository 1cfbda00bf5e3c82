"""``fascicle evaluate --agreement``: how far two annotators agree."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence

from fascicle.combination.align import some_documents
from fascicle.commands.console import Tally, say
from fascicle.commands.inputs import read_file
from fascicle.commands.predicted import names_of, on_gold, read_predicted
from fascicle.core.document import GOLD, Mention
from fascicle.core.wording import counted
from fascicle.errors import InputError, UsageError
from fascicle.evaluation.comparison.agreement import Agreement, Number, Row, agreement
from fascicle.evaluation.scoring.inputs import check_offsets, check_texts, layers, only_source, unit_of
from fascicle.files.source import STDIN
from fascicle.reports.table import UNDEFINED, aligned_rows, percent

_NO_MEANING = (
    "report",
    "train",
    "train_where",
    "unreachable_for",
    "model",
    "distributions",
    "threads",
    "interval",
    "allow_missing",
    "gold_column",
    "pred_column",
)


def run_agreement(args: argparse.Namespace) -> int:
    """Compares; returns the exit code."""
    _check_arguments(args)
    tally = Tally()
    documents = list(tally.observe(read_file(args.gold, args, format_name=args.gold_format)))
    path = args.files[0]
    predicted = on_gold(read_predicted(path, args, tally=tally), documents, path=path, gold_path=args.gold)
    tally.say(verbose=args.verbose)
    given = {mention.source for document in documents for mention in document.mentions}
    first = layers(documents, source=GOLD if given <= {GOLD} or GOLD in given else only_source(documents))
    try:
        check_texts(documents, predicted.hashes, texts=predicted.texts)
        check_offsets(documents, predicted.mentions)
    except InputError as error:
        raise InputError(f"{args.files[0]}: {error}") from None
    second = _second(first, predicted.mentions, args, lists_all=predicted.lists_all)
    found = agreement(documents, first, second)
    names = names_of([args.gold, *args.files])
    if args.json:
        value = {"names": names} | found.as_dict()
        sys.stdout.write(json.dumps(value, ensure_ascii=False, allow_nan=False) + "\n")
    else:
        sys.stdout.write(shown(found, names, by_type=args.by_type, unit=unit_of(documents)))
    return tally.exit_code(strict=args.strict)


def _check_arguments(args: argparse.Namespace) -> None:
    if len(args.files) != 1:
        raise UsageError(f"agreement is between two annotations, and {1 + len(args.files)} files were given; give two")
    if args.gold == args.files[0] == STDIN:
        raise UsageError("standard input (-) was given twice; it can be read once")
    if given := [name for name in _NO_MEANING if getattr(args, name)]:
        option = given[0].replace("_", "-")
        raise UsageError(f"--{option} has no meaning with --agreement; leave one of the two out")


def _second(
    first: Mapping[str, object], second: Mapping[str, Sequence[Mention]], args: argparse.Namespace, *, lists_all: bool
) -> dict[str, Sequence[Mention]]:
    """The mentions of the second side for every document.

    Raises:
        InputError: a document that only one side annotated.
    """
    missing = [identifier for identifier in first if identifier not in second]
    for lacking, other, ids in (
        (args.gold, args.files[0], [identifier for identifier in second if identifier not in first]),
        (args.files[0], args.gold, missing if lists_all else []),
    ):
        if ids:
            raise InputError(
                f"{lacking} lacks {some_documents(ids, shown=5)} that {other} has; agreement needs documents that both "
                "annotated (documents without a name are called after their file: give both files the same name)"
            )
    if missing:
        say(
            f"note: {args.files[0]} names {len(second):,} of {counted(len(first), 'document')}; the others count "
            "as annotated"
        )
    return {identifier: second.get(identifier, ()) for identifier in first}


def shown(found: Agreement, names: Sequence[str], *, by_type: bool = True, unit: str = "document") -> str:
    """The agreement as tables for a person.

    Args:
        found: what to show.
        names: of the two sides.
        by_type: whether types have lines.
        unit: what documents are, see ``evaluation.scoring.inputs.unit_of``.
    """
    header = (*names, "both", "F1", "interval")
    mentions = [("mentions", *header), *([_line(n, row, "f1") for n, row in found.mentions.items()] if by_type else [])]
    mentions.append(_line("all types", found.all_mentions, "f1"))
    words = [("words", *header, "kappa", "interval")]
    words += [_line(name, row, "f1", "kappa") for name, row in found.marks.items()] if by_type else []
    words.append(_line("any type", found.any_mark, "f1", "kappa"))
    labels = [("types of words", "words", "kappa", "interval")]
    labels += [(name, f"{count:,}", *_cells(number)) for name, (count, number) in found.kappas.items()]
    return "\n\n".join([_drawn(mentions), _drawn(words), _drawn(labels), "\n".join(_notes(found, unit))]) + "\n"


def _line(name: str, row: Row, *measures: str) -> tuple[str, ...]:
    counts = (f"{count:,}" for count in (row.first, row.second, row.both))
    return (name, *counts, *(cell for measure in measures for cell in _cells(row.measures[measure])))


def _cells(number: Number) -> tuple[str, str]:
    if number.low is None:
        return percent(number.value), UNDEFINED
    return percent(number.value), f"{percent(number.low)} to {percent(number.high)}"


def _drawn(rows: Sequence[Sequence[str]]) -> str:
    head, *rest = aligned_rows(rows)
    return "\n".join(line.rstrip() for line in (head, "-" * len(head), *rest))


def _notes(found: Agreement, unit: str) -> list[str]:
    said = [
        f"Over {counted(found.documents, 'document')} with {counted(found.words, 'word')}; all numbers but "
        "counts times 100.",
        f"Intervals: {found.level:.0%}, bootstrap over {unit}s, {counted(found.resamples, 'draw')}, seed {found.seed}.",
        "A word is marked by the types of the mentions that touch it. Kappa over all words is made high by the many "
        "that nobody marks; read it with those over marked words. docs/scores.md defines them.",
    ]
    if found.wordless:
        said.append(
            f"{counted(found.wordless, 'mention touches', 'mentions touch')} no word; they count among the "
            "mentions only."
        )
    rows = [*found.mentions.values(), found.all_mentions, *found.marks.values(), found.any_mark]
    numbers = [n for row in rows for n in row.measures.values()] + [n for _, n in found.kappas.values()]
    said += [f"{UNDEFINED} is undefined: {r}." for r in dict.fromkeys(n.undefined for n in numbers) if r]
    return said
