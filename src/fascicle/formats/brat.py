"""brat standoff: each document is a text ``x.txt`` and annotation beside it, ``x.ann`` (or ``x.a1``
and ``x.a2``).

A corpus is a folder of such pairs, a zip of them, or a folder inside a zip. Offsets are half-open
and count the code points of the text file, line ends included.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Final, NamedTuple

from fascicle.core.document import GOLD, Document, Link, MentionKey
from fascicle.core.files.source import Source
from fascicle.core.files.tree import Tree, lower_suffix, open_tree
from fascicle.core.mention import Fragments, join_over_blanks, without_overlaps
from fascicle.core.wording import plural
from fascicle.errors import FormatError, UsageError
from fascicle.formats.brat_lines import STEP, Standoff, TextBound, agrees, document_id
from fascicle.formats.collect import MentionCollector
from fascicle.formats.handlers import ANNOTATIONS, SUFFIXES, TEXT, FormatReader
from fascicle.formats.offset_units import StatedMention, convert_spans, fit_offsets
from fascicle.formats.report import ReadReport


@dataclass(frozen=True, kw_only=True)
class BratOptions:
    """Options for reading brat files.

    Attributes:
        suffixes: of the files whose text-bound lines are mentions. The others are read too, for
            what they say about these; ``.a2`` of the BioNLP shared tasks holds events, their
            triggers and their further arguments.
        triggers: whether text-bound lines that are triggers of events are mentions too.
        leave_out: entity types that are not read.
    """

    suffixes: tuple[str, ...] = (".ann", ".a1")
    triggers: bool = False
    leave_out: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Checks the values of the options."""
        if not self.suffixes or not set(self.suffixes) <= set(ANNOTATIONS):
            raise UsageError(
                f"suffixes = {self.suffixes} is not allowed; give some of {', '.join(ANNOTATIONS)}"
            )


def read(source: Source, options: BratOptions, report: ReadReport) -> Iterator[Document]:
    """Streams the documents of a folder or zip, sorted by name, those of folders below included.

    The id of a document is the name of its text file without the suffix; the folders are added if
    several files have the same name. Links come from N lines, attributes from A and M lines and
    from notes (named ``AnnotatorNotes``). R lines and equivalences become relations. Events and
    triggers are counted in events and left out. Offsets that count a byte order mark, or CRLF as
    one character, are corrected if the texts of the mentions show it.

    Args:
        source: the place.
        options: what counts as a mention.
        report: a bad file sets its document aside.

    Raises:
        InputError: a place that cannot be read.
        FormatError: annotation without a text, a file of which no line is of this format, a file
            that is no text, or a zip that is not safe to read.
    """
    with open_tree(source.path, suffixes=SUFFIXES) as tree:
        for name in tree.unnamed:
            report.aside.add(tree.refusal(name))
        pairs = _pairs(tree)
        for pair, identifier in zip(pairs, _ids(pairs), strict=True):
            with report.aside.one():
                yield _document(tree, pair, identifier, source, options)


@dataclass(kw_only=True)
class _Pair:
    """Files of one document, by their names in the folder or zip."""

    stem: str
    text: str = ""
    annotations: list[str] = field(default_factory=list)
    second: str = ""

    def check(self, tree: Tree) -> None:
        """Raises a `FormatError` if there are two text files of the same name, or none."""
        if self.second:
            message = (
                f"{tree.place(self.second)} and {self.text} are two texts of one name; "
                "rename one of them"
            )
            raise FormatError(message)
        if not self.text:
            raise FormatError(
                f"{tree.place(self.annotations[0])} has no text "
                f"{PurePosixPath(self.stem).name}{TEXT} beside it; "
                "add the text, or take the annotation away"
            )


class _MergedMention(NamedTuple):
    """Mention with the facts from all lines about it."""

    row: TextBound
    links: list[Link]
    attributes: list[tuple[str, str]]

    def add(self, links: Sequence[Link], attributes: Sequence[tuple[str, str]]) -> None:
        """Adds facts that an earlier line has not stated."""
        known, stated = self.links, self.attributes
        known.extend([link for link in links if link not in known] if known else links)
        stated.extend([pair for pair in attributes if pair not in stated] if stated else attributes)


def _pairs(tree: Tree) -> list[_Pair]:
    pairs: dict[str, _Pair] = {}
    for name in tree.names:
        suffix = lower_suffix(name)
        stem = name[: -len(suffix)]
        pair = pairs.setdefault(stem, _Pair(stem=stem))
        if suffix != TEXT:
            pair.annotations.append(name)
        elif pair.text:
            pair.second = name
        else:
            pair.text = name
    return sorted(pairs.values(), key=lambda pair: pair.stem.split("/"))


def _ids(pairs: Sequence[_Pair]) -> list[str]:
    ids = [document_id(PurePosixPath(pair.stem).name) for pair in pairs]
    count = Counter(ids)
    return [name if count[name] == 1 else pair.stem for name, pair in zip(ids, pairs, strict=True)]


def _document(
    tree: Tree, pair: _Pair, identifier: str, source: Source, options: BratOptions
) -> Document:
    pair.check(tree)
    text, has_mark = tree.text(pair.text, source)
    standoff = Standoff()
    for name in pair.annotations:
        content, _ = tree.text(name, source)
        standoff.take(
            content,
            name=name,
            path=tree.place(name),
            are_mentions=lower_suffix(name) in options.suffixes,
        )
    if not pair.annotations:
        standoff.note("no-annotation", f"{pair.text} has no annotation file beside it")
    standoff.move_to_triggers()
    standoff.rows[:] = _convert_offsets(text, standoff, has_mark=has_mark)
    collector = MentionCollector(text, step=STEP)
    mentions, keys = _merge_rows(text, standoff, collector, options)
    relations = standoff.settle(keys)
    for mention in mentions:
        links, attributes = tuple(mention.links), tuple(mention.attributes)
        collector.add(mention.row.spans, mention.row.type, links=links, attributes=attributes)
    # Codecs that let lone surrogates pass make texts that no document may have.
    return collector.document(
        identifier, at=tree.place(pair.text), before=standoff.events, relations=relations
    )


def _merge_rows(
    text: str, standoff: Standoff, collector: MentionCollector, options: BratOptions
) -> tuple[list[_MergedMention], dict[str, MentionKey]]:
    """Returns the mentions, and their keys by the ids of T lines; an id that occurs twice refers
    to the first line.
    """
    mentions: dict[tuple[str, Fragments], _MergedMention] = {}
    keys: dict[str, MentionKey] = {}
    for row, is_first in _valid_rows(text, standoff, collector, options):
        mention = mentions.setdefault((row.type, row.spans), _MergedMention(row, [], []))
        if mention.row.place != row.place:
            message = (
                f"{row.place}: {row.id} is {mention.row.id} once more; what refers to either was "
                "joined"
            )
            standoff.say("duplicate-mention", message, span=(row.spans[0][0], row.spans[-1][1]))
        if is_first:
            keys[row.id] = (GOLD, row.type, row.spans)
            mention.add(standoff.links[row.id], standoff.attributes[row.id])
    return list(mentions.values()), keys


def _valid_rows(
    text: str, standoff: Standoff, collector: MentionCollector, options: BratOptions
) -> Iterator[tuple[TextBound, bool]]:
    """Yields the T lines that are mentions, with their fragments in order, and whether each is the
    first of its id.
    """
    ids: set[str] = set()
    for row in standoff.rows:
        is_first = row.id not in ids
        ids.add(row.id)
        if code := _code_left_out(row, standoff, options):
            standoff.left_out[code] += 1
        elif spans := _check_spans(row, text, standoff, collector):
            yield row if spans is row.spans else row._replace(spans=spans), is_first


def _code_left_out(row: TextBound, standoff: Standoff, options: BratOptions) -> str:
    """Returns the code of the reason why a T line is not read as a mention; empty if it is read."""
    is_trigger = row.id in standoff.triggers
    if is_trigger and not options.triggers:
        return "triggers-left-out"
    if not is_trigger and not row.is_mention:
        return "suffix-left-out"
    return "types-left-out" if row.type in options.leave_out else ""


def _check_spans(
    row: TextBound, text: str, standoff: Standoff, collector: MentionCollector
) -> Fragments:
    """Returns the fragments of a T line, sorted and disjoint; empty if they are not in the text."""
    if _is_plain(row, text):
        return row.spans
    spans = sorted(row.spans)
    if any(start >= end for start, end in spans):
        collector.drop(
            f"{row.place}: the offsets of {row.id} are reversed or empty; it was left out"
        )
        return ()
    if spans[0][0] < 0 or max(end for _, end in spans) > len(text):
        collector.drop(
            f"{row.place}: the offsets of {row.id} are not in a text of "
            f"{plural(len(text), 'character')}"
        )
        return ()
    merged = without_overlaps(spans)
    fragments = join_over_blanks(merged, text)
    hull = (merged[0][0], merged[-1][1])
    for code, what, is_so in (
        ("overlapping-fragments", "overlap; they were joined", len(merged) < len(spans)),
        (
            "fragments-joined",
            "have only white space between them; they were joined",
            len(fragments) < len(merged),
        ),
        ("fragments-sorted", "were in another order", tuple(spans) != row.spans),
    ):
        if is_so:
            standoff.say(code, f"{row.place}: fragments of {row.id} {what}", span=hull)
    if row.text is not None and not agrees(row.text, text, row.spans):
        message = f"{row.place}: the text of {row.id} is not the text at its offsets; offsets kept"
        standoff.say("text-mismatch", message, span=hull)
    return fragments


def _is_plain(row: TextBound, text: str) -> bool:
    """True if a T line has one fragment, and the text at its offsets; nearly all are so."""
    if len(row.spans) > 1:
        return False
    ((start, end),) = row.spans
    is_inside = 0 <= start < end <= len(text)
    return is_inside and (row.text is None or agrees(row.text, text, row.spans))


def _convert_offsets(text: str, standoff: Standoff, *, has_mark: bool) -> list[TextBound]:
    """Returns the T lines with offsets into this text, in code points of the text as it is."""
    rows = standoff.rows
    mentions = [StatedMention(row.spans, row.text) for row in rows if row.text is not None]
    fit = fit_offsets(
        text, mentions, agrees=lambda beside, spans: agrees(beside, text, spans), has_bom=has_mark
    )
    if not fit.how:
        return rows
    standoff.say("offsets-moved", f"the offsets of this document count {fit.how}; they were moved")
    return [row._replace(spans=convert_spans(row.spans, fit.convert)) for row in rows]


READER: Final = FormatReader(read=read, options=BratOptions)
