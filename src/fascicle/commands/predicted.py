"""Predictions in any kind of file: what a system said, and about which texts."""

from __future__ import annotations

import argparse
import difflib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from fascicle.commands.console import Tally
from fascicle.commands.inputs import read_file, source_of
from fascicle.commands.matching import Side, matched
from fascicle.commands.systems import PREDICTIONS
from fascicle.core.document import GOLD, Document, Mention
from fascicle.errors import InputError, UsageError
from fascicle.evaluate.inputs import layers, only_source
from fascicle.formats.detection import prediction_kind
from fascicle.formats.predictions import read as read_predictions
from fascicle.formats.predictions import text_hash
from fascicle.formats.report import ReadReport
from fascicle.formats.source import STDIN, stem, telling_folders


@dataclass(frozen=True, kw_only=True)
class Predicted:
    """What a system said, and about which texts.

    Attributes:
        mentions: document id -> its mentions.
        hashes: document id -> hash of the text; ``None`` if unknown.
        texts: document id -> the text, where the file holds it.
        lists_all: whether documents without mentions are listed too.
        called_gold: whether a format that could say who found the mentions calls them gold.
        matched: how documents were matched with those of the gold, if not by their ids.
    """

    mentions: Mapping[str, Sequence[Mention]]
    hashes: Mapping[str, str | None]
    texts: Mapping[str, str] = field(default_factory=dict, repr=False)
    lists_all: bool = True
    called_gold: bool = False
    matched: str = ""


def read_predicted(path: str, args: argparse.Namespace, *, tally: Tally) -> Predicted:
    """Reads one file of predictions.

    Args:
        path: a prediction file (JSON Lines or TSV), or a corpus in any format.
        args: with ``pred_format``, ``source`` and the options of ``inputs.add_reading_details``.
        tally: counts the events of a corpus.

    Raises:
        UsageError: a source that the file does not have, or options of another format.
        InputError: a file that cannot be read, or several sources and none chosen.
    """
    kind = args.pred_format if args.pred_format != "auto" else prediction_kind(path, args.encoding)
    if kind in PREDICTIONS:
        return _from_predictions(path, args, lists_all=kind != "tsv")
    report = ReadReport()
    documents = list(tally.observe(read_file(path, args, format_name=args.pred_format, report=report)))
    _refuse_bare_texts(path, documents, report)
    found = {mention.source for document in documents for mention in document.mentions}
    # Formats of others do not say who found a mention: if all are called gold, these are the predictions.
    source = args.source or (GOLD if found <= {GOLD} else only_source(documents))
    _check_source(path, args, found)
    return Predicted(
        mentions=layers(documents, source=source),
        hashes={document.id: text_hash(document.text) for document in documents},
        texts={document.id: document.text for document in documents},
        called_gold=source == GOLD and bool(found) and "jsonl" in report.formats.values(),
    )


def on_gold(predicted: Predicted, gold: Sequence[Document], *, path: str, gold_path: str) -> Predicted:
    """Puts predictions on the documents of the gold, also where its ids or its white space differ.

    Args:
        predicted: as its file has them.
        gold: the documents of the gold.
        path: of the predictions.
        gold_path: of the gold.

    Raises:
        InputError: ids are made from file names, and the words of the two files differ.
    """
    if predicted.mentions.keys() == {document.id for document in gold} and not predicted.texts:
        return predicted
    ours = Side(
        path=gold_path,
        mentions={document.id: () for document in gold},
        hashes={document.id: text_hash(document.text) for document in gold},
        texts=lambda: {document.id: document.text for document in gold},
    )
    theirs = Side(
        path=path,
        mentions=predicted.mentions,
        hashes=predicted.hashes,
        texts=(lambda: predicted.texts) if predicted.texts else None,
    )
    found = matched(ours, theirs)
    if found is None:
        return predicted
    hashes = {identifier: ours.hashes.get(identifier) for identifier in found.mentions}
    return replace(predicted, mentions=found.mentions, hashes=hashes, texts={}, matched=found.how)


def names_of(paths: Sequence[str]) -> list[str]:
    """Short names for the systems of some files, no two the same: with a folder or a number where need be."""
    short = ["standard input" if path == STDIN else stem(path) for path in paths]
    counts, folders = Counter(short), telling_folders(paths, short)
    longer = [
        name if counts[name] == 1 or path == STDIN else f"{folder}/{Path(path).name}"
        for name, folder, path in zip(short, folders, paths, strict=True)
    ]
    seen: Counter[str] = Counter()
    names = []
    for name in longer:
        seen[name] += 1
        names.append(name if seen[name] == 1 else f"{name}#{seen[name]}")
    return names


def _from_predictions(path: str, args: argparse.Namespace, *, lists_all: bool) -> Predicted:
    mentions: dict[str, Sequence[Mention]] = {}
    hashes: dict[str, str | None] = {}
    sources: set[str] = set()
    for prediction in read_predictions(source_of(path, args)):
        sources.update(mention.source for mention in prediction.mentions)
        found = prediction.mentions
        if args.source and lists_all:
            found = tuple(m for m in found if m.source == args.source)
        mentions[prediction.id], hashes[prediction.id] = found, prediction.sha256
    if lists_all:
        _check_source(path, args, sources)
    return Predicted(mentions=mentions, hashes=hashes, lists_all=lists_all)


def _refuse_bare_texts(path: str, documents: Sequence[Document], report: ReadReport) -> None:
    """A text holds no mention; also what ``annotate`` writes for reading is one."""
    if documents and set(report.formats.values()) == {"plain"} and any(document.text for document in documents):
        raise InputError(
            f"{path} is plain text, which holds no mentions to score; give predictions in a format that does, such as "
            "jsonl, conll, brat, tsv or predictions"
        )


def _check_source(path: str, args: argparse.Namespace, sources: set[str]) -> None:
    """A misspelt source must not become a score of zero; a file without any mention may be scored."""
    if args.source and sources and args.source not in sources:
        near = difflib.get_close_matches(args.source, sources, n=1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        names = ", ".join(sorted(sources))
        raise UsageError(f"{path} holds no mention of {args.source!r}{hint}; it has those of {names}")
