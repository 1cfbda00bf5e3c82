"""A model in the place of a prediction file: it predicts on the gold's texts, and says how probable the gold is."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from fascicle.commands.console import Tally, say, with_progress
from fascicle.commands.parsing import add_threads
from fascicle.commands.places import reads, writes
from fascicle.commands.predicted import Predicted
from fascicle.core.document import Document, Mention
from fascicle.errors import OutputError, UsageError
from fascicle.files.atomic import check_target
from fascicle.formats.distributions import SUFFIXES, Entry, Header, write
from fascicle.formats.predictions import text_hash
from fascicle.loading import load, load_single

if TYPE_CHECKING:
    from fascicle.runtime.predictor import ModelPredictor


_Said = Mapping[str, Sequence[Mention]]


def add_model(parser: argparse.ArgumentParser) -> None:
    """Adds the options of a model that is scored in place of a file, or beside it."""
    group = parser.add_argument_group("model", "score a model itself, without a file of its predictions")
    group.add_argument("--model", type=reads, metavar="MODEL", help="a model folder or the name of a shipped model")
    add_distributions(group)
    add_threads(parser)


def add_distributions(parser: argparse._ActionsContainer) -> None:
    """Adds the option for a distributions file."""
    parser.add_argument(
        "--distributions",
        type=writes,
        metavar="FILE.jsonl",
        help="write the probability of each type for every gold mention, for fascicle plot; ends in "
        + " or ".join(SUFFIXES),
    )


def check_distributions(args: argparse.Namespace) -> None:
    """Refuses a place that cannot be written.

    Raises:
        OutputError: another name, or a file that exists.
    """
    if args.distributions is None:
        return
    if not args.distributions.endswith(SUFFIXES):
        raise OutputError(
            f"the distributions file {args.distributions} was asked for; its name must end with {' or '.join(SUFFIXES)}"
        )
    check_target(args.distributions, overwrite=args.overwrite)


def check_model(args: argparse.Namespace) -> None:
    """Refuses early what would fail after long work.

    Raises:
        UsageError: nothing to score, or options that need a model and have none.
        OutputError: the place of the file cannot be written.
    """
    if not args.files and args.model is None and not args.pred_column:
        raise UsageError(
            "no PRED was given to score; name prediction files, or a model with --model, or, if GOLD holds the "
            "predictions in a column of its own, --gold-column and --pred-column"
        )
    if args.model is None:
        for name in ("distributions", "threads"):
            if getattr(args, name) is not None:
                raise UsageError(f"--{name} is about a model; give --model MODEL too")
    check_distributions(args)


def run_model(
    args: argparse.Namespace, gold: Sequence[Document], *, taken: Sequence[str], tally: Tally
) -> dict[str, tuple[str, Predicted]]:
    """Predicts on the gold's texts; writes the distributions file if one was asked for.

    Args:
        args: with the options of `add_model`.
        gold: documents with gold mentions.
        taken: names of systems that are scored beside it.
        tally: counts the events.

    Returns:
        Name of the model, not among those taken -> what errors call it, and what it said; nothing without ``--model``.
    """
    if args.model is None:
        return {}
    name, mentions = _scored(args, gold, tally) if args.distributions is None else _probed(args, gold, tally)
    hashes: dict[str, str | None] = {document.id: text_hash(document.text) for document in gold}
    called = name if name not in taken else f"{name} (model)"
    return {called: (str(args.model), Predicted(mentions=mentions, hashes=hashes))}


def _scored(args: argparse.Namespace, gold: Sequence[Document], tally: Tally) -> tuple[str, _Said]:
    """The name of the model, and what it predicts without a look at the gold."""
    predictor = load(args.model, threads=args.threads)
    bare = (msgspec.structs.replace(document, mentions=(), events=()) for document in gold)
    found = tally.observe(with_progress(predictor.stream(bare), quiet=False))
    return predictor.name, {document.id: document.mentions for document in found}


def _probed(args: argparse.Namespace, gold: Sequence[Document], tally: Tally) -> tuple[str, _Said]:
    """The same, and the distributions file on the way."""
    predictor = load_single(args.model, threads=args.threads)
    if predictor.manifest.decision.calibration:
        say("note: the distributions are those of the head, before calibration; which mentions are found is after it")
    work = _Work(predictor, gold, tally)
    write(args.distributions, _header(predictor), work.entries(), overwrite=args.overwrite)
    work.say()
    return predictor.name, work.mentions


def _header(predictor: ModelPredictor) -> Header:
    from fascicle.decoding.kinds import definition_of

    manifest = predictor.manifest
    return Header(
        model=manifest.name,
        family=manifest.answering.family,
        definition=definition_of(manifest),
        types=manifest.types,
    )


class _Work:
    """One pass over the gold: what the model predicts is kept, what it says of the gold goes by."""

    def __init__(self, predictor: ModelPredictor, gold: Sequence[Document], tally: Tally) -> None:
        self.mentions: dict[str, Sequence[Mention]] = {}
        self._predictor = predictor
        self._gold = gold
        self._tally = tally
        self._unreachable: Counter[str] = Counter()
        self._asked = 0

    def entries(self) -> Iterator[Entry]:
        """Every gold mention, in order."""
        for probed in self._predictor.probe(with_progress(self._gold, quiet=False)):
            document, patch = probed.document, probed.patch
            self.mentions[document.id] = patch.add
            for event in patch.events:
                self._tally.add(event, document.id)
            answers = {(mention.type, mention.spans) for mention in patch.add}
            for one in probed.gold:
                self._asked += 1
                self._unreachable.update([one.unreachable] if one.unreachable else [])
                yield Entry(
                    document=document.id,
                    spans=one.mention.spans,
                    type=one.mention.type,
                    found=(one.mention.type, one.mention.spans) in answers,
                    probabilities=() if one.probabilities is None else tuple(one.probabilities.tolist()),
                    unreachable=one.unreachable,
                )

    def say(self) -> None:
        """Which mentions the file has no probabilities of."""
        if self._unreachable:
            listed = ", ".join(f"{reason} {count:,}" for reason, count in self._unreachable.most_common())
            total = self._unreachable.total()
            say(
                f"note: {total:,} of {self._asked:,} gold mentions have no probability, for the model cannot return "
                f"them: {listed}"
            )
