"""Dictionaries as tables, and the matcher that finds their names in texts: exact, disjoint,
whatever their order.

A table has one name in a row, with its type or without. Rows are streamed, so a dictionary may be
of any size; the matcher splits names into words.

Two rules have names (``RULES``). ``raw`` takes typed names as they are written. ``three-casings``
is that of AutoNER (Shang et al. 2018): each name as written, in capitals and in lower case; stop
words never match alone; phrases without a type take part in the choice, and the text of a chosen
one is of unknown type.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from fascicle.core.arrays import Ints
from fascicle.core.document import Document, Event, Mention, Patch
from fascicle.core.files.encodings import AUTO
from fascicle.core.files.source import Source, read_lines
from fascicle.core.mention import Span
from fascicle.core.stream import portions
from fascicle.core.wording import plural
from fascicle.errors import FormatError, InputError, Place, UsageError
from fascicle.terms.dictionary import (
    NO_KIND,
    DictionaryEntry,
    MatchingRule,
    gather_names,
    rule_of,
)
from fascicle.terms.headings import (
    check_types,
    drop_header,
    first_rows,
    lacks_prefix,
    list_columns,
    name_links,
    split_cell,
    split_cells,
    split_identifiers,
    unread_titles,
)
from fascicle.terms.list_words import WordReader
from fascicle.terms.overlaps import Edges, Match, best_segmentation, by_place, slices_by_document
from fascicle.text.annotator import Annotator, TagSpace
from fascicle.text.characters import with_blank_marks, with_raised_names

SOURCE: Final = "dictionary"
_SHOWN: Final = 5  # types in a summary
_PORTION: Final = 1 << 20  # characters of text that are searched together
_CUT: Final = -2  # in place of a set of types: the end of a sentence is inside
# matches -> their rows of the table; and the words that are names in other capitals alone
_Matched = tuple[dict[Match, int], list[str]]


@dataclass(frozen=True, kw_only=True)
class TsvOptions:
    """Meaning of the columns of a table; by default ``type TAB name``.

    Attributes:
        name_column: column of the name, from 0.
        type_column: column of the type; ``None`` if the table has none.
        type: of all names, if no column has it; empty for phrases without a type.
        header: whether the first row names the columns.
        encoding: of the file.
        suspect: a column that is not read: a table is refused if it has ``type`` and other types
            there.
        alone: a row has no column but that of the name.
        concept_column: column of identifiers; ``None`` if the table has none.
        synonym_columns: columns of further names, with ``|`` or ``;`` between them.
        separator: between columns.
    """

    name_column: int = 1
    type_column: int | None = 0
    type: str = ""
    header: bool = False
    encoding: str = AUTO
    suspect: int | None = None
    alone: bool = False
    concept_column: int | None = None
    synonym_columns: tuple[int, ...] = ()
    separator: str = "\t"

    def __post_init__(self) -> None:
        """Raises an error for invalid columns.

        Raises:
            UsageError: a negative column, one column for both, or a type beside a column of types.
        """
        columns = (
            [self.name_column] if self.type_column is None else [self.name_column, self.type_column]
        )
        if min(columns) < 0 or len(set(columns)) < len(columns):
            raise UsageError(
                f"the columns {', '.join(map(str, columns))} are not allowed: name and type need "
                "columns of their own, counted from 0"
            )
        if self.type and self.type_column is not None:
            raise UsageError(
                f"the type {self.type!r} was given beside the column {self.type_column} of "
                "types; give one of the two"
            )


PHRASES = TsvOptions(name_column=0, type_column=None)


@dataclass(kw_only=True)
class DictionaryReport:
    """Counts of what was read from a dictionary; complete when all entries have been read.

    Attributes:
        entries: names given out.
        empty: rows left out because they have no name.
        first_empty: file and line of the first of them.
        commented: rows left out because their type begins with ``#``.
        first_commented: file and line of the first of them.
        bare: identifiers without the prefix of a vocabulary.
        first_bare: the first of them.
        unread: titles of columns that are not read.
    """

    entries: int = 0
    empty: int = 0
    first_empty: str = ""
    commented: int = 0
    first_commented: str = ""
    bare: int = 0
    first_bare: str = ""
    unread: tuple[str, ...] = ()

    def count_empty(self, place: str) -> None:
        """Counts a row without a name."""
        self.empty += 1
        self.first_empty = self.first_empty or place

    def count_commented(self, place: str) -> None:
        """Counts a row whose type begins with ``#``."""
        self.commented += 1
        self.first_commented = self.first_commented or place

    def count_bare(self, identifiers: Iterable[str]) -> None:
        """Counts those of the identifiers of a row that have no prefix."""
        for identifier in filter(lacks_prefix, identifiers):
            self.bare += 1
            self.first_bare = self.first_bare or identifier

    def lines(self) -> list[str]:
        """Returns the report as sentences, for a person."""
        return [plural(self.entries, "name"), *self.losses()]

    def losses(self) -> Iterator[str]:
        """Yields sentences on what was not read."""
        if self.empty:
            rows = plural(self.empty, "row without a name was", "rows without a name were")
            yield f"{rows} left out (first: {self.first_empty})"
        if self.commented:
            rows = plural(self.commented, "row whose type begins", "rows whose types begin")
            yield f"{rows} with # left out (first: {self.first_commented})"
        if self.bare:
            yield (
                f"{plural(self.bare, 'identifier has', 'identifiers have')} no prefix of a "
                f"vocabulary; write one, such as PREFIX:{self.first_bare}"
            )
        if self.unread:
            yield f"not read: {', '.join(self.unread)}"


def read_dictionary(
    path: str, options: TsvOptions | None = None, *, report: DictionaryReport | None = None
) -> Iterator[DictionaryEntry]:
    """Streams a table of names; gzip is unpacked.

    A row whose name is empty or white space is left out and counted. Names of one letter are kept:
    ``H`` and ``K`` are chemicals. All rows must have as many columns as the first.

    Args:
        path: the file; one row a line, columns separated by TAB.
        options: what the columns are.
        report: receives the counts.

    Raises:
        InputError: the file cannot be opened, or holds no name, or several types in the column that
            is suspect.
        FormatError: another number of columns than before, or than is allowed, or a name without
            its type (with file and line); a binary file, another encoding.
    """
    options = options or TsvOptions()
    report = report if report is not None else DictionaryReport()
    columns = _Columns(path, options)
    lines = read_lines(Source(path=path, encoding=options.encoding))
    remarks = options.separator if options.type_column is not None else ""
    for number, line in drop_header(lines, header=options.header, remarks=remarks):
        cells = split_cells(line, options.separator)
        if columns.is_commented(cells):
            report.count_commented(f"{path}, line {number}")
            continue
        is_empty = not line.strip()
        if not is_empty:
            columns.check_width(cells, number)
        if is_empty or not cells[options.name_column].strip():
            report.count_empty(f"{path}, line {number}")
            continue
        entry = columns.entry(cells, number)
        report.count_bare(entry.concepts)
        report.entries += 1
        yield entry
        for name in columns.synonyms(cells):
            report.entries += 1
            yield entry._replace(name=name)
    if not columns.count or not report.entries:
        raise InputError(f"{path} holds no name; give a table with one name in a row", file=path)
    columns.check_suspect()


def read_typed_names(
    path: str, *, report: DictionaryReport | None = None
) -> Iterator[DictionaryEntry]:
    """Streams a dictionary in its plain form: ``type TAB name`` in each row, columns that their
    content tells, or a row of `HEADINGS` that comes first.

    Args:
        path: the file, a TSV or CSV; packed or not.
        report: receives the counts.

    Raises:
        InputError: see ``read_dictionary`` and ``check_types``; there are headings, or columns of
            identifiers, without one of types.
        FormatError: see ``read_dictionary``.
    """
    report = report if report is not None else DictionaryReport()
    options = _list_options(path, report)
    return check_types(read_dictionary(path, options, report=report), path)


def _list_options(path: str, report: DictionaryReport) -> TsvOptions:
    """Returns what the columns of a list are; the report receives those that are not read."""
    separator, rows = first_rows(path)
    columns, has_header = list_columns(rows, path)
    options = TsvOptions(
        name_column=columns["name"][0],
        type_column=columns["type"][0],
        concept_column=columns.get("concept", [None])[0],
        synonym_columns=tuple(columns.get("synonyms", ())),
        header=has_header,
        separator=separator,
    )
    report.unread = unread_titles(rows[:1], columns, titled=has_header)
    return options


class _Columns:
    """Columns of a table of names.

    Attributes:
        count: columns of each row; 0 before the first one.
    """

    def __init__(self, path: str, options: TsvOptions) -> None:
        self.count = 0
        self._path, self._options = path, options
        self._sign = options.separator.replace("\t", "TAB")
        places = (options.type_column, options.concept_column, *options.synonym_columns)
        self._needed = 1 + max([options.name_column, *(at for at in places if at is not None)])
        self._is_of_type, self._other_type = False, ""

    def is_commented(self, cells: Sequence[str]) -> bool:
        """True if the type of a row begins with ``#``."""
        at = self._options.type_column
        return at is not None and at < len(cells) and cells[at].lstrip().startswith("#")

    def check_width(self, cells: list[str], number: int) -> None:
        """Raises an error for a row with another number of columns than the first, or than is
        allowed.
        """
        self.count = self.count or len(cells)
        if len(cells) != self.count:
            raise FormatError(
                f"{len(cells)} {self._sign}-separated columns, but the first row has "
                f"{self.count}; all rows need as many",
                at=Place(self._path, number),
            )
        if len(cells) < self._needed:
            raise FormatError(
                f"{len(cells)} {self._sign}-separated column(s), but {self._needed} are needed, "
                "such as a type, a TAB and a name; write the type of each name and a "
                f"{self._sign} before it, or name the columns that the table has",
                at=Place(self._path, number),
            )
        if self._options.alone and len(cells) > 1:
            raise FormatError(
                f"{len(cells)} TAB-separated columns, but rows of phrases without a type have "
                "only one column; leave the other columns out",
                at=Place(self._path, number),
            )

    def entry(self, cells: list[str], number: int) -> DictionaryEntry:
        """Returns the name of a row.

        Raises:
            FormatError: it has no type.
        """
        options = self._options
        self._compare_suspect(cells)
        name = cells[options.name_column]
        kind = options.type if options.type_column is None else cells[options.type_column].strip()
        if options.type_column is not None and not kind:
            raise FormatError(
                f"the name {name!r} has no type; give it one, or read a file of names without "
                "types as such",
                at=Place(self._path, number),
            )
        if options.concept_column is None:
            return DictionaryEntry(name, kind)
        return DictionaryEntry(name, kind, tuple(split_identifiers(cells[options.concept_column])))

    def synonyms(self, cells: list[str]) -> Iterator[str]:
        """Yields further names of a row."""
        return (name for at in self._options.synonym_columns for name in split_cell(cells[at]))

    def _compare_suspect(self, cells: list[str]) -> None:
        if self._options.suspect is None:
            return
        value = cells[self._options.suspect].strip()
        if value.casefold() == self._options.type.casefold():
            self._is_of_type = True
        else:
            self._other_type = self._other_type or value

    def check_suspect(self) -> None:
        """Raises an error if the suspect column holds the type of all names, and other types."""
        if self._is_of_type and self._other_type:
            kind = self._options.type
            raise InputError(
                f"column {self._options.suspect} of {self._path} holds the type {kind!r} and "
                f"others, such as {self._other_type!r}, but type = {kind!r} is said of all names; "
                "leave type out, or give a list of the names of that type"
            )


class Matcher(Annotator):
    """Dictionary as a predictor.

    A match begins and ends with a word and lies in one sentence: of the document, or of the
    segmenter where it has none. Among all places of phrases, those with the largest sum of squared
    lengths in words are chosen so that none overlap (``overlaps.best_segmentation``, which also
    describes how ties are broken).

    Attributes:
        rule: by which names match.
        counts: counts of the entries, by what was done with them.
        segmenter: name of the segmenter that splits texts into words.
        version: of rule and segmenter: together with the dictionary they decide every match.
    """

    kind = "dictionary"
    keeps_links = True  # the identifiers are what the user wrote
    name = SOURCE
    types: tuple[str, ...] = ()
    segmenter = ""
    tag_space = TagSpace(meaning="none")

    def __init__(
        self,
        entries: Iterable[DictionaryEntry],
        *,
        rule: MatchingRule | str,
        reader: WordReader | None = None,
        name: str = SOURCE,
        content: str = "",
        report: DictionaryReport | None = None,
    ) -> None:
        """Reads a dictionary to its end.

        Args:
            entries: names with a type, and under a rule that takes them phrases without; their
                order has no influence.
            rule: one of ``RULES``, or its name.
            reader: cuts names and texts into words, as the rule wants them; several dictionaries
                may share one.
            name: source of the mentions.
            content: hash of the dictionary, for the fingerprint.
            report: of its reader, whose losses the summary has.

        Raises:
            InputError: no name is left.
            UsageError: no such rule, or phrases without a type under a rule that takes none.
        """
        self.rule, self.name, self._content = rule_of(rule), name, content
        self.places = 0  # of names in all texts so far
        self._report = report or DictionaryReport()
        self._reader = reader or WordReader(rule=self.rule)
        self._names = gather_names(entries, rule=self.rule, segmenter=self._reader.rules)
        if self._names.concepts:
            self.gives = frozenset({"mentions", "links"})
        self.counts, self.types, self.segmenter = (
            self._names.counts,
            self._names.types,
            self._reader.rules.name,
        )
        self.version = f"{self.rule.name} {self.segmenter}"

    @property
    def fingerprint(self) -> str:
        """Hash of the dictionary and of its matching rules."""
        return f"{self.name} {self._content} {self.version}"

    @property
    def summary(self) -> str:
        """What it has, for a person: how many names of which types, and how many of them have
        identifiers, and what was not read.
        """
        concepts = self._names.concepts
        linked = f", {len(concepts)} with identifiers" if concepts else ""
        losses = (*self.counts.lines()[1:], *self._report.losses())
        types = ", ".join(self.types[:_SHOWN]) + ("..." if len(self.types) > _SHOWN else "")
        return (
            f"{plural(self.counts.entries, 'name')} of {plural(len(self.types), 'type')} "
            f"({types}){linked}{''.join(f'; {loss}' for loss in losses)}"
        )

    def matches(self, documents: Iterable[Document]) -> Iterator[tuple[Match, ...]]:
        """Yields the matches of each document, disjoint and in order; any number of documents in
        bounded memory.

        Args:
            documents: read once; their mentions and words are not looked at.
        """
        yield from (tuple(matches) for matches, _ in self._match(documents))

    def _match(self, documents: Iterable[Document]) -> Iterator[_Matched]:
        for chunk in portions(documents, characters=_PORTION):
            # networks that carry a dictionary blank marks themselves
            yield from self._match_chunk(
                self._with_blank_marks(chunk) if self.rule.typographic else chunk
            )

    def _with_blank_marks(self, documents: Sequence[Document]) -> list[Document]:
        blank = with_blank_marks(documents)
        if not self._names.raised:
            return blank
        near = 2 * max(len(key) for key, _ in self._names.raised)  # texts may have further blanks
        return with_raised_names(blank, documents, self._raised_names, near=near)

    def _raised_names(self, documents: Sequence[Document]) -> Iterator[list[Span]]:
        """Yields the places of names that have raised digits of their own in each document."""
        tokens = self._reader.read([document.text for document in documents])
        hits = self._names.table.find(tokens, inside_words=True)
        starts, ends = tokens.starts[hits.first], tokens.ends[hits.last]
        for document, (part, offset) in zip(
            documents, slices_by_document(documents, starts), strict=True
        ):
            places = list(by_place(part, offset, starts, ends, hits.rows))
            kinds = self._kinds(document, places)
            yield [
                (start, end)
                for (start, end, row), kind in zip(places, kinds, strict=True)
                if kind >= 0 and self._names.is_raised(row, document.text[start:end])
            ]

    def predict(self, documents: Sequence[Document]) -> list[Patch]:
        """Returns mentions of each document: one for each type of a matched phrase, without a
        score.

        Phrases without a type are no mentions; an event counts them.

        Args:
            documents: stay as they are.
        """
        matched = zip(documents, self._match(documents), strict=True)
        return [self._patch(document.text, *matches) for document, matches in matched]

    def _patch(
        self, text: str, matches: Mapping[Match, int], other_capitals: Sequence[str]
    ) -> Patch:
        untyped = sum(not match.types for match in matches)
        events: list[Event] = []
        if untyped:
            message = f"{untyped} phrases without a type were found; they are not mentions"
            events.append(
                Event(step=self.name, kind="note", code="untyped-phrases", message=message)
            )
        for word in dict.fromkeys(other_capitals):
            message = (
                f'{word!r} is a name in other capitals alone, and no mention; case="any" finds it'
            )
            events.append(
                Event(step=self.name, kind="note", code="other-capitals", message=message)
            )
        add = tuple(
            Mention(
                ((m.start, m.end),),
                kind,
                source=self.name,
                links=name_links(self._names.identifiers(kind, row, text[m.start : m.end])),
            )
            for m, row in matches.items()
            for kind in m.types
        )
        self.places += len(add)
        return Patch(add=add, events=tuple(events))

    def _match_chunk(self, documents: Sequence[Document]) -> Iterator[_Matched]:
        tokens = self._reader.read([document.text for document in documents])
        hits = self._names.table.find(tokens, inside_words=True)
        starts, ends = tokens.starts[hits.first], tokens.ends[hits.last]
        parts = list(slices_by_document(documents, starts))
        kinds = np.full(len(starts), _CUT, dtype=np.int64)
        for document, (part, offset) in zip(documents, parts, strict=True):
            kinds[part] = list(
                self._kinds(document, by_place(part, offset, starts, ends, hits.rows))
            )
        names = np.flatnonzero(kinds >= 0)
        spans = np.stack([hits.first, hits.last + 1], axis=1)[names]
        kinds[names[~best_segmentation(spans)]] = _CUT
        for document, (part, offset) in zip(documents, parts, strict=True):
            places = by_place(part, offset, starts, ends, kinds)
            yield self._divide(document, places, hits.rows[part])

    def _divide(
        self, document: Document, places: Iterable[tuple[int, int, int]], rows: Ints
    ) -> _Matched:
        matches: dict[Match, int] = {}
        other_capitals: list[str] = []
        for (start, end, kind), row in zip(places, rows, strict=True):
            if kind >= 0:
                matches[Match(start, end, self._names.sets[kind])] = int(row)
            elif kind == NO_KIND:
                other_capitals.append(document.text[start:end])
        return matches, other_capitals

    def _kinds(self, document: Document, places: Iterable[tuple[int, int, int]]) -> Iterator[int]:
        """Yields what stands at the places of rows: index of a set of types, or why it is no
        name.
        """
        edges, text = Edges(document, self._reader.rules), document.text
        for start, end, row in places:
            yield _CUT if edges.part(start, end) else self._names.kind(row, text[start:end])
