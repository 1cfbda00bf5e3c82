"""Checks on the events of the readers and on the columns of their files."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from types import MappingProxyType
from typing import Final

from fascicle.core.effects import MEANING, find_effect
from fascicle.core.files.source import STDIN, Source, read_lines
from fascicle.core.tags import split_tag
from fascicle.core.wording import plural
from fascicle.errors import InputError
from fascicle.evaluation.doctor.checks.contract import Corpus, Hit, HitsOrNotes
from fascicle.evaluation.doctor.parts import CheckedDocument, GivenPart

# Code of an event -> code of the finding that it belongs to; the others are found by their effect
# and kind.
_FINDINGS: Final = MappingProxyType(
    {
        "offset-outside": "invalid-offsets",
        "duplicate-mention": "duplicate-mention",
        "text-mismatch": "text-mismatch",
        "duplicate-id": "duplicate-id",
        "malformed-line": "malformed-line",
        "dangling-reference": "malformed-line",
        "missing-token": "missing-token",
        "uneven-columns": "uneven-columns",
        "overlapping-fragments": "overlapping-fragments",
        "no-sentence-breaks": "no-sentence-breaks",
    }
)
_BY_KIND: Final = MappingProxyType(
    {"loss": "left-out-in-reading", "repair": "repaired-in-reading", "note": "noted-in-reading"}
)
CODES: Final = frozenset({*_FINDINGS.values(), "changed-in-reading", *_BY_KIND.values()})


def event_finding(kind: str, code: str) -> str:
    """Returns the finding that events of a kind and a code belong to."""
    return _FINDINGS.get(code) or (
        "changed-in-reading" if find_effect(kind, code) == MEANING else _BY_KIND[kind]
    )


def make_event_check(code: str) -> Callable[[CheckedDocument], Iterator[Hit]]:
    """Makes a check of the events that belong to a finding.

    Args:
        code: of the finding.
    """

    def find(item: CheckedDocument) -> Iterator[Hit]:
        for event in item.events:
            if event_finding(event.kind, event.code) == code:
                message = (
                    event.message if event.code in _FINDINGS else f"{event.code}: {event.message}"
                )
                yield Hit(item=item, spans=(event.span,) if event.span else (), message=message)

    return find


def unread(corpus: Corpus) -> HitsOrNotes:
    """Places that were not read to their end."""
    for place in corpus.unread:
        message = f"beside {plural(place.documents, 'document')}: {place.message}"
        yield Hit(path=place.place.path, where=place.place.part.name, message=message)


def other_sources(item: CheckedDocument) -> Iterator[Hit]:
    """Documents with mentions of sources that are not checked."""
    if item.other_mentions:
        yield Hit(item=item, message=plural(item.other_mentions, "mention"))


_MARK: Final = "-DOCSTART-"
_INSIDE: Final = frozenset("IEL")
_OPEN: Final = frozenset("BI")
_UNMARKED: Final = frozenset({"IO", "IOB1", "O"})  # schemes in which I may begin a mention


class Lines:
    """Finds the line of a word of a column file; each file is read again at the first question."""

    def __init__(self, places: Iterator[GivenPart]) -> None:
        """Knows how the files are read, and reads none yet."""
        self._given = {place.path: place for place in places if place.path != STDIN}
        self._rows: dict[str, list[int]] = {}

    def line(self, item: CheckedDocument, offset: int) -> int | None:
        """Returns the line of the word at a character; ``None`` where lines are no words, or the
        file is gone.
        """
        if item.row < 0 or item.path not in self._given:
            return None
        if item.path not in self._rows:
            self._rows[item.path] = [
                row[0] for row in _rows(self._given[item.path]) if row is not None
            ]
        number = item.row + max(0, bisect_right(item.words[:, 0], offset) - 1)
        rows = self._rows[item.path]
        return rows[number] if number < len(rows) else None


def tag_without_begin(corpus: Corpus) -> HitsOrNotes:
    """Tags that should continue a mention and follow none of their type, where the scheme marks
    beginnings.
    """
    for place in corpus.places:
        census = place.report.tags.get(place.path)
        if census is None or not census.repairs or census.scheme in _UNMARKED:
            continue
        if place.report.formats.get(place.path) == "conll" and place.path != STDIN:
            yield from _stray(
                place, [item for item in corpus.by_part()[place.part] if item.path == place.path]
            )
        else:
            message = (
                f"{plural(census.repairs, 'invalid sequence')}, of which it is not known "
                "where they stand"
            )
            yield Hit(path=place.path, where=place.part.name, message=message)
        mended = f"{plural(census.repairs, 'invalid sequence')} mended in reading"
        yield f"{place.path}: tag scheme {census.scheme}, {mended}."


def _stray(place: GivenPart, items: list[CheckedDocument]) -> Iterator[Hit]:
    first_rows = [item.row for item in items]
    before: list[str] = []
    number = 0
    for row in _rows(place):
        if row is None:
            before = []
            continue
        _, tags = row
        for layer, tag in enumerate(tags):
            prefix, kind = split_tag(tag)
            prefix_before, kind_before = (
                split_tag(before[layer]) if layer < len(before) else ("O", "")
            )
            if prefix in _INSIDE and not (prefix_before in _OPEN and kind_before == kind):
                item = items[bisect_right(first_rows, number) - 1]
                start, end = item.words[number - item.row].tolist()
                yield Hit(
                    item=item,
                    spans=((start, end),),
                    message=f"{tag} after {before[layer] if before else 'O'}",
                )
        before = tags
        number += 1


def _rows(place: GivenPart) -> Iterator[tuple[int, list[str]] | None]:
    """Line number and tags of each row, as far as the reader came; ``None`` between sentences."""
    options, tab = place.columns, None
    numbered = read_lines(Source(path=place.path, encoding=place.encoding))
    while True:
        try:
            number, line = next(numbered)
        except (StopIteration, InputError, OSError):
            return
        bare = line.strip(" \t")
        if not bare or bare.startswith(_MARK):
            yield None
            continue
        if options.comment and line.startswith(options.comment):
            continue
        tab = "\t" in line if tab is None else tab
        columns = line.split("\t") if tab else [part for part in line.split(" ") if part]
        tags = _tags(columns, options.token_column, options.tag_columns)
        if tags is None:
            return  # here the reader stopped
        yield number, tags


def _tags(
    columns: list[str], token: int, columns_of_tags: tuple[int, ...] | None
) -> list[str] | None:
    try:
        if columns_of_tags is None:
            return [tag for at, tag in enumerate(columns) if at != token % len(columns)]
        tags = [columns[at] for at in columns_of_tags]
        for tag in tags:
            split_tag(tag)
    except (IndexError, ValueError):
        return None
    return tags
