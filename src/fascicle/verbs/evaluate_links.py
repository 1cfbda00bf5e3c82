"""Command ``fascicle evaluate --links``: scores the concepts of mentions against gold."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from fascicle.core.files.atomic import output
from fascicle.errors import UsageError
from fascicle.evaluation.reports.links import links_markdown, links_text
from fascicle.evaluation.systems.predictions import PredictionRequest
from fascicle.formats.requests import pairs
from fascicle.verbs.console import Tally
from fascicle.verbs.messages import say
from fascicle.verbs.options import called, first_given
from fascicle.verbs.shared import reading_of, types_of
from fascicle.verbs.systems import check_report, predictions_of
from fascicle.verbs.tasks.evaluate_links import LinkSettings, evaluate_links

_NO_MEANING: Final = (
    *("model", "pipeline", "distributions", "threads", "unreachable_for", "gold_column", "pred_column", "interval"),
    "at_least",
)


def run_links(args: Any) -> int:
    """Scores the links; returns the exit code."""
    if given := first_given(args, _NO_MEANING):
        raise UsageError(f"{given} has no meaning with --links; leave one of the two out")
    if args.report is not None:
        check_report(args.report, overwrite=args.overwrite)
    tally = Tally()
    found = evaluate_links(
        PredictionRequest(path=args.gold, reading=reading_of(args, role="gold")),
        predictions_of(args),
        linker=args.linker or None,
        pack=args.pack,
        ontology=args.ontology,
        settings=_settings_of(args),
        events=tally.account.events,
    )
    tally.say(verbose=args.verbose)
    for note in found.notes:
        say(f"note: {note}")
    report = found.report()
    if args.report is not None:
        with output(args.report, overwrite=args.overwrite) as stream:
            stream.write(_file(report, Path(args.report).suffix).encode())
    sys.stdout.write(_json(report) if args.json else links_text(report))
    return tally.exit_code(strict=args.strict)


def _settings_of(args: Any) -> LinkSettings:
    train = None
    if args.train:
        where = pairs(args.train_where, key="--train-where FIELD=VALUE", example="split=train")
        train = PredictionRequest(path=args.train, reading=replace(reading_of(args, role="train"), where=where))
    elif args.train_where:
        raise UsageError("--train-where is about the training corpus; give --train PATH too")
    prefixes = dict(pairs(args.prefix, key="--prefix", example="Disease=MESH"))
    return called(LinkSettings, args, train=train, prefixes=prefixes, types=types_of(args))


def _file(report: Mapping[str, Any], suffix: str) -> str:
    """Returns the content of a report."""
    if suffix == ".json":
        return _json(report)
    if suffix == ".md":
        return links_markdown(report)
    from fascicle.evaluation.reports.page.page import links_page  # imported here, because numbers alone need no page

    return links_page(report)


def _json(report: Mapping[str, Any]) -> str:
    return json.dumps(report, ensure_ascii=False, allow_nan=False) + "\n"
