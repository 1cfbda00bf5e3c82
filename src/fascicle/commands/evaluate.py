"""``fascicle evaluate``: predictions against gold."""

from __future__ import annotations

import argparse
import difflib
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fascicle.commands.console import Tally, say
from fascicle.commands.inputs import INPUT_FORMATS, add_reading_details, read_file
from fascicle.commands.parsing import add_json, add_strict
from fascicle.commands.systems import PREDICTIONS, prediction_kind
from fascicle.core.document import GOLD, Document, Mention
from fascicle.errors import UsageError
from fascicle.evaluate.inputs import check_texts, layers, only_source
from fascicle.evaluate.intervals import bootstrap_f1
from fascicle.evaluate.scores import Scores, score
from fascicle.evaluate.table import table
from fascicle.formats.predictions import read as read_predictions
from fascicle.formats.predictions import text_hash
from fascicle.formats.report import ReadReport
from fascicle.formats.source import Source

HELP = "score predictions against gold: strict precision, recall and F1"


@dataclass(frozen=True, kw_only=True)
class _Predicted:
    """What a system said, and about which texts.

    Attributes:
        mentions: document id -> its mentions.
        hashes: document id -> hash of the text; ``None`` if unknown.
        lists_all: whether documents without mentions are listed too.
    """

    mentions: Mapping[str, Sequence[Mention]]
    hashes: Mapping[str, str | None]
    lists_all: bool = True


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.set_defaults(run=run)
    parser.add_argument("gold", metavar="GOLD", help="a corpus in any format")
    parser.add_argument("predicted", metavar="PRED", help="a prediction file (JSON Lines or TSV), or a corpus")
    parser.add_argument("--source", metavar="NAME", help="whose mentions of PRED are scored, if there are several")
    parser.add_argument(
        "--allow-missing", action="store_true", help="gold documents that PRED lacks count as without predictions"
    )
    parser.add_argument(
        "--by-type", action=argparse.BooleanOptionalAction, default=True, help="a line per entity type; default: yes"
    )
    parser.add_argument("--interval", action="store_true", help="the 95%% bootstrap interval of the micro F1")
    add_json(parser, what="the scores")
    add_strict(parser)
    group = parser.add_argument_group("reading")
    group.add_argument("--gold-format", choices=INPUT_FORMATS, default="auto", help="default: auto")
    group.add_argument("--pred-format", choices=(*INPUT_FORMATS, *PREDICTIONS), default="auto", help="default: auto")
    add_reading_details(group)


def run(args: argparse.Namespace) -> int:
    """Scores; returns the exit code."""
    tally = Tally()
    report = ReadReport()
    gold = list(tally.observe(read_file(args.gold, args, format_name=args.gold_format, report=report)))
    predicted = _predicted(args, tally)
    check_texts(gold, predicted.hashes)
    allow = args.allow_missing or not predicted.lists_all
    scores = score(layers(gold), predicted.mentions, allow_missing=allow)
    if args.verbose:
        for line in report.lines():
            say(line)
    tally.say()
    _say_notes(scores, predicted, args)
    sys.stdout.write(_shown(scores, args))
    return tally.exit_code(strict=args.strict)


def _predicted(args: argparse.Namespace, tally: Tally) -> _Predicted:
    kind = args.pred_format if args.pred_format != "auto" else prediction_kind(args.predicted, args.encoding)
    if kind in PREDICTIONS:
        return _from_predictions(args, lists_all=kind != "tsv")
    documents = list(tally.observe(read_file(args.predicted, args, format_name=args.pred_format)))
    source = args.source or _source_of(documents)
    _check_source(args, {mention.source for document in documents for mention in document.mentions})
    hashes = {document.id: text_hash(document.text) for document in documents}
    return _Predicted(mentions=layers(documents, source=source), hashes=hashes)


def _from_predictions(args: argparse.Namespace, *, lists_all: bool) -> _Predicted:
    mentions: dict[str, Sequence[Mention]] = {}
    hashes: dict[str, str | None] = {}
    sources: set[str] = set()
    for prediction in read_predictions(Source(path=args.predicted, encoding=args.encoding)):
        sources.update(mention.source for mention in prediction.mentions)
        found = prediction.mentions
        if args.source and lists_all:
            found = tuple(m for m in found if m.source == args.source)
        mentions[prediction.id], hashes[prediction.id] = found, prediction.sha256
    if lists_all:
        _check_source(args, sources)
    return _Predicted(mentions=mentions, hashes=hashes, lists_all=lists_all)


def _check_source(args: argparse.Namespace, sources: set[str]) -> None:
    """A misspelt source must not become a score of zero; a file without any mention may be scored."""
    if args.source and sources and args.source not in sources:
        near = difflib.get_close_matches(args.source, sources, n=1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        names = ", ".join(sorted(sources))
        raise UsageError(f"{args.predicted} holds no mention of {args.source!r}{hint}; it has those of {names}")


def _source_of(documents: Sequence[Document]) -> str:
    """Formats of others do not say who found a mention: if all are called gold, these are the predictions."""
    found = {mention.source for document in documents for mention in document.mentions}
    return GOLD if found == {GOLD} else only_source(documents)


def _say_notes(scores: Scores, predicted: _Predicted, args: argparse.Namespace) -> None:
    if scores.missing and not predicted.lists_all:
        say(
            f"note: {args.predicted} names {len(predicted.mentions):,} of {len(scores.by_document):,} documents; a TSV "
            f"cannot list documents without mentions, so the {len(scores.missing):,} others were taken for such"
        )
    elif scores.missing:
        say(f"note: {args.predicted} lacks {len(scores.missing):,} documents; nothing counts as found in them")
    if predicted.mentions and not any(predicted.hashes.values()):
        say(f"note: {args.predicted} does not say on which texts it was made, so that was not checked")
    if scores.duplicates_gold or scores.duplicates_predicted:
        say(
            f"note: {scores.duplicates_gold:,} gold and {scores.duplicates_predicted:,} predicted mentions are there "
            "more than once and count once"
        )


def _shown(scores: Scores, args: argparse.Namespace) -> str:
    interval = bootstrap_f1(scores) if args.interval else None
    if args.json:
        value = scores.as_dict() | ({"micro_f1_interval": interval.as_dict()} if interval else {})
        return json.dumps(value, ensure_ascii=False) + "\n"
    text = table(scores, interval=interval)
    if args.by_type or not scores.by_type:
        return text
    rows = text.splitlines(keepends=True)
    return "".join(rows[:2] + rows[3 + len(scores.by_type) :])  # without the types and the rule below them
