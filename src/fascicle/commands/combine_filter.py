"""The learned filter behind ``fascicle combine``: what any system said, judged in its text."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from fascicle.combination.align import Votes, some_documents
from fascicle.combination.type_names import check_filter_types
from fascicle.commands.console import Tally, say
from fascicle.commands.inputs import read_file
from fascicle.core.document import Document, Event, Mention
from fascicle.errors import InputError, UsageError
from fascicle.evaluation.scoring.inputs import check_texts
from fascicle.formats.report import ReadReport
from fascicle.loading import load_filter


def filtered(
    union: Mapping[str, tuple[Mention, ...]], votes: Votes, args: argparse.Namespace, *, tally: Tally
) -> tuple[dict[str, tuple[Mention, ...]], dict[str, tuple[Event, ...]]]:
    """Keeps what the filter of ``--filter`` accepts.

    Args:
        union: what any system said, by document.
        votes: the systems side by side.
        args: with ``filter``, ``texts``, ``threshold``, ``threads`` and how texts are read.
        tally: counts what was lost.

    Returns:
        By document, what is kept, with its probability as score, and events.

    Raises:
        UsageError: a threshold that is no probability.
        InputError: the texts lack a document, or are others than those that were predicted on; or the filter learnt
            other names of types.
        ModelError: the filter cannot be used.
    """
    threshold = _threshold(args.threshold)
    judge = load_filter(args.filter, threads=args.threads)
    if threshold is not None:
        judge = judge.with_threshold(threshold)
    if not args.distinct_types:
        types = {mention.type for mentions in union.values() for mention in mentions}
        for note in check_filter_types(types, judge.manifest.types):
            say(f"note: {note}")
    documents = _texts(union, votes, args, tally.account.reading)
    patches = judge.judge(documents, [union[document.id] for document in documents])
    kept = {document.id: patch.add for document, patch in zip(documents, patches, strict=True)}
    events = {d.id: patch.events for d, patch in zip(documents, patches, strict=True) if patch.events}
    for identifier, said in events.items():
        for event in said:
            tally.add(event, identifier)
    return {identifier: kept[identifier] for identifier in union}, events


def _texts(union: Mapping[str, object], votes: Votes, args: argparse.Namespace, report: ReadReport) -> list[Document]:
    """The documents that any system lists, without annotation; bad ones that no system lists cost nothing."""
    found: dict[str, Document] = {}
    for document in read_file(args.texts, args, format_name="auto", report=report):
        if document.id in union:
            found[document.id] = Document(id=document.id, text=document.text, sentences=document.sentences)
    lacking = [identifier for identifier in union if identifier not in found]
    if lacking:
        raise InputError(
            f"{args.texts} lacks {some_documents(lacking)} of the predictions; give the texts that were predicted on, "
            "with the same document ids"
        )
    check_texts(found.values(), votes.hashes)
    return list(found.values())


def _threshold(given: str | None) -> float | None:
    if given is None:
        return None
    try:
        value = float(given)
    except ValueError:
        value = -1.0
    if not 0.0 <= value <= 1.0:
        raise UsageError(f"the threshold {given!r} is not allowed; give a probability from 0 to 1, such as 0.5")
    return value
