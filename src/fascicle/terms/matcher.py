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

import gzip
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from fascicle.core.document import Document, Event, Mention, Patch
from fascicle.core.files.encodings import AUTO
from fascicle.core.files.source import Source, read_lines
from fascicle.core.stream import portions
from fascicle.core.wording import plural
from fascicle.errors import FormatError, InputError, Place, UsageError
from fascicle.terms.dictionary import (
    NO_KIND,
    RULES,
    DictionaryEntry,
    MatchingRule,
    composed,
    gather_names,
)
from fascicle.terms.headings import NameLinks, check_types, read_headings
from fascicle.terms.keys.forms import BREAK, Forms
from fascicle.terms.keys.key import TokenArrays
from fascicle.terms.overlaps import Edges, Match, best_segmentation, slices_by_document
from fascicle.text.annotator import Annotator, TagSpace
from fascicle.text.segment import segmenter as segmenter_of


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
    """

    name_column: int = 1
    type_column: int | None = 0
    type: str = ""
    header: bool = False
    encoding: str = AUTO
    suspect: int | None = None
    alone: bool = False
    concept_column: int | None = None

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
                "columns of their own, "
                "counted from 0"
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
    """

    entries: int = 0
    empty: int = 0
    first_empty: str = ""

    def lines(self) -> list[str]:
        """Returns the report as sentences, for a person."""
        sentences = [plural(self.entries, "name")]
        if self.empty:
            rows = plural(self.empty, "row without a name was", "rows without a name were")
            sentences.append(f"{rows} left out (first: {self.first_empty})")
        return sentences


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
    needed = 1 + max(
        options.name_column, -1 if options.type_column is None else options.type_column
    )
    columns, own, other = 0, False, ""
    name_at, type_at, suspect = options.name_column, options.type_column, options.suspect
    for number, line in read_lines(Source(path=path, encoding=options.encoding)):
        if options.header and number == 1:
            continue
        cells = line.split("\t")
        if line.strip():
            columns = columns or len(cells)
            if len(cells) != columns or columns < needed or options.alone:
                _check_columns(
                    cells,
                    needed=needed,
                    before=columns,
                    alone=options.alone,
                    place=Place(path, number),
                )
        if not line.strip() or not cells[name_at].strip():
            report.empty += 1
            report.first_empty = report.first_empty or f"{path}, line {number}"
            continue
        if suspect is not None:
            value = cells[suspect].strip()
            same = value.casefold() == options.type.casefold()
            own, other = own or same, other or ("" if same else value)
        report.entries += 1
        kind = options.type if type_at is None else cells[type_at].strip()
        if type_at is not None and not kind:
            raise FormatError(
                f"the name {cells[name_at]!r} has no type; give it one, or read a file of names "
                "without types as such",
                at=Place(path, number),
            )
        concept_at = options.concept_column
        yield DictionaryEntry(
            cells[name_at], kind, "" if concept_at is None else cells[concept_at].strip()
        )
    if not columns or not report.entries:
        raise InputError(f"{path} holds no name; give a table with one name in a row", file=path)
    if own and other:
        raise InputError(
            f"column {options.suspect} of {path} holds the type {options.type!r} and others, "
            f"such as {other!r}, but "
            f"type = {options.type!r} is said of all names; leave type out, or give a list of "
            "the names of that type"
        )


def read_typed_names(
    path: str, *, report: DictionaryReport | None = None
) -> Iterator[DictionaryEntry]:
    """Streams a dictionary in its plain form: ``type TAB name`` in each row, or a row of `HEADINGS`
    that comes first.

    Args:
        path: the file; packed or not.
        report: receives the counts.

    Raises:
        InputError: see ``read_dictionary`` and ``check_types``.
        FormatError: see ``read_dictionary``.
    """
    _, first = next(read_lines(Source(path=path)), (0, ""))
    options = TsvOptions()
    if columns := read_headings(first.split("\t")):
        options = TsvOptions(
            name_column=columns["name"],
            type_column=columns["type"],
            concept_column=columns.get("concept"),
            header=True,
        )
    return check_types(read_dictionary(path, options, report=report), path)


def pack_dictionary(entries: Iterable[DictionaryEntry]) -> tuple[bytes, int]:
    """Returns a dictionary as it is stored in a model: one packed file, whose content depends on
    the names alone.

    Args:
        entries: names with their types, in any order, repeated or not.

    Returns:
        The table, ``type TAB name`` in each row, sorted, without a header; and how many rows it
        has.
    """
    rows = sorted({(entry.type, entry.name) for entry in entries})
    text = "".join(f"{kind}\t{name}\n" for kind, name in rows)
    return gzip.compress(text.encode("utf-8"), mtime=0), len(rows)


def _check_columns(
    cells: list[str], *, needed: int, before: int, alone: bool, place: Place
) -> None:
    if len(cells) < needed:
        raise FormatError(
            f"{len(cells)} TAB-separated column(s), but {needed} are needed, such as a type, a "
            "TAB and a name; correct "
            "the row, or name the columns that the table has",
            at=place,
        )
    if len(cells) != before:
        raise FormatError(
            f"{len(cells)} TAB-separated columns, but the first row has {before}; all rows need "
            "as many",
            at=place,
        )
    if alone and len(cells) > 1:
        raise FormatError(
            f"{len(cells)} TAB-separated columns, but rows of phrases without a type have only "
            "one column; leave "
            "the other columns out",
            at=place,
        )


SOURCE: Final = "dictionary"
_SHOWN: Final = 5  # types in a summary
_BITS: Final = (1 << 64) - 1
_PORTION: Final = 1 << 20  # characters of text that are searched together
_CUT: Final = -2  # in place of a set of types: the end of a sentence is inside
_Found = tuple[tuple[Match, ...], list[str]]


class WordReader:
    """Reads the words of texts as tokens for a scan; recent texts are cached for further
    dictionaries.

    A text is split by the segmenter, even if it has words of its own, so that names and texts are
    split alike.
    """

    def __init__(self, segmenter: str = "rules@1", *, folded: bool = False) -> None:
        """Sets the segmenter, by its name, and whether words are read in lower case.

        Raises:
            InputError: no such segmenter.
        """
        self.rules, self._fold = segmenter_of(segmenter), str.lower if folded else str
        self._last: tuple[list[str], TokenArrays] | None = None

    def read(self, texts: list[str]) -> TokenArrays:
        """Returns the words of texts, as of `keys.reader.TokenArrays`."""
        if self._last is not None and self._last[0] == texts:
            return self._last[1]
        forms, offset = Forms(hash_of=lambda word: hash(word) & _BITS), 0
        spans: list[tuple[int, int]] = []
        rows: list[int] = []
        for text in texts:
            words = self.rules.words(text)
            rows += [forms.row(self._fold(composed(text[start:end]))) for start, end in words]
            rows.append(forms.row(BREAK))
            spans += [(start + offset, end + offset) for start, end in words]
            offset += len(text) + 1
            spans.append((offset - 1, offset - 1))
        places = np.array(spans, dtype=np.int64).reshape(-1, 2)
        whole = np.ones(len(rows), dtype=bool)
        tokens = TokenArrays(
            places[:, 0], places[:, 1], np.array(rows, dtype=np.int32), whole, whole, forms
        )
        self._last = (texts, tokens)
        return tokens


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

        Raises:
            InputError: no name is left.
            UsageError: no such rule, or phrases without a type under a rule that takes none.
        """
        self.rule, self.name, self._content = _rule(rule), name, content
        self._own = NameLinks()
        self._reader = reader or WordReader(folded=self.rule.folded)
        self._names = gather_names(
            self._own.remember(entries), rule=self.rule, segmenter=self._reader.rules
        )
        if len(self._own):
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
        identifiers.
        """
        linked = f", {len(self._own)} with identifiers" if len(self._own) else ""
        types = ", ".join(self.types[:_SHOWN]) + ("..." if len(self.types) > _SHOWN else "")
        return (
            f"{plural(self._own.size, 'name')} of {plural(len(self.types), 'type')} "
            f"({types}){linked}"
        )

    def matches(self, documents: Iterable[Document]) -> Iterator[tuple[Match, ...]]:
        """Yields the matches of each document, disjoint and in order; any number of documents in
        bounded memory.

        Args:
            documents: read once; their mentions and words are not looked at.
        """
        yield from (matches for matches, _ in self._match(documents))

    def _match(self, documents: Iterable[Document]) -> Iterator[_Found]:
        for chunk in portions(documents, characters=_PORTION):
            yield from self._match_chunk(chunk)

    def predict(self, documents: Sequence[Document]) -> list[Patch]:
        """Returns mentions of each document: one for each type of a matched phrase, without a
        score.

        Phrases without a type are no mentions; an event counts them.

        Args:
            documents: stay as they are.
        """
        matched = zip(documents, self._match(documents), strict=True)
        return [self._patch(document.text, *matches) for document, matches in matched]

    def _patch(self, text: str, matches: Sequence[Match], other_capitals: Sequence[str]) -> Patch:
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
                links=self._own.of(kind, text[m.start : m.end]),
            )
            for m in matches
            for kind in m.types
        )
        return Patch(add=add, events=tuple(events))

    def _match_chunk(self, documents: Sequence[Document]) -> Iterator[_Found]:
        """Yields the matches of each document, and the words that are names in other capitals
        alone.
        """
        tokens = self._reader.read([document.text for document in documents])
        hits = self._names.table.find(tokens, inside_words=True)
        starts, ends = tokens.starts[hits.first], tokens.ends[hits.last]
        kinds = np.full(len(starts), _CUT, dtype=np.int64)
        parts = list(slices_by_document(documents, starts))
        for document, (part, offset) in zip(documents, parts, strict=True):
            columns = (starts[part] - offset, ends[part] - offset, hits.rows[part])
            kinds[part] = list(
                self._kinds(document, zip(*(column.tolist() for column in columns), strict=True))
            )
        stays = kinds >= 0
        stays[stays] = best_segmentation(np.stack([hits.first, hits.last + 1], axis=1)[stays])
        for document, (part, offset) in zip(documents, parts, strict=True):
            columns = (starts[part] - offset, ends[part] - offset, kinds[part])
            named_places = zip(*(column[stays[part]].tolist() for column in columns), strict=True)
            capital_places = zip(
                *(column[kinds[part] == NO_KIND].tolist() for column in columns[:2]), strict=True
            )
            yield (
                tuple(
                    Match(start, end, self._names.sets[kind]) for start, end, kind in named_places
                ),
                [document.text[start:end] for start, end in capital_places],
            )

    def _kinds(self, document: Document, places: Iterable[tuple[int, int, int]]) -> Iterator[int]:
        """Yields what stands at the places of rows: index of a set of types, or why it is no
        name.
        """
        edges, text = Edges(document, self._reader.rules), document.text
        for start, end, row in places:
            yield _CUT if edges.part(start, end) else self._names.kind(row, text[start:end])


def _rule(rule: MatchingRule | str) -> MatchingRule:
    if isinstance(rule, MatchingRule):
        return rule
    if rule not in RULES:
        raise UsageError(
            f"the matching rule {rule!r} is not known; choose one of {', '.join(RULES)}"
        )
    return RULES[rule]
