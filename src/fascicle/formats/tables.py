"""Tables of mentions, one row each: TSV and CSV, and the tables that shared tasks take.

A CSV has the rules of RFC 4180. Spreadsheets take a cell for a formula that begins with ``=``,
``+``, ``-`` or ``@``; such a cell with a text, an id or a type gets a ``'`` in front, which the
reader removes.

A table of a shared task is a TSV under the names of columns of the task. LivingNER
(https://temu.bsc.es/livingner) and SocialDisNER (https://zenodo.org/records/6359365) score mentions
of one fragment. Offsets are half-open and count code points.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import Any, BinaryIO, Final

import msgspec

from fascicle.core.document import Document, Mention
from fascicle.core.mention import AMBIGUOUS, Link, display_identifier, is_curie, parse_link
from fascicle.errors import UsageError
from fascicle.formats.brat_lines import join_fragments
from fascicle.formats.context import CONTEXT, context_of
from fascicle.formats.handlers import FormatWriter, WriteOne, check_name, open_frame
from fascicle.formats.losses import OF_TEXT, HeldFields, held_fields
from fascicle.formats.offset_tables import HEADER
from fascicle.formats.report import WriteReport

TEXT: Final = "text"  # a further column of documents, as the next two
LINKS: Final = ("links", "names")
ATTRIBUTES: Final = "attributes"
SOURCE: Final = "predictions"  # of mentions that are read from a table
BETWEEN: Final = "|"  # links of a mention
_NOT_IN_CELLS: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_FORMULA: Final = re.compile("'*[=+\\-@]")
_ESCAPED: Final = re.compile("'+[=+\\-@]")
_CELL: Final = re.compile('(?:"((?:[^"]|"")*)"|([^",]*))(,|$)')


@dataclass(frozen=True, kw_only=True)
class PlainTable:
    """Kind of table: TSV or CSV.

    Attributes:
        holds: fields of a document that the table holds.
        row: makes a row of cells.
        cell: makes a cell of a name or a text.
        mark: at the beginning of the file.
    """

    holds: HeldFields
    row: Callable[[Sequence[str]], str]
    cell: Callable[[str], str]
    mark: str = ""

    def header(self, more: Sequence[str] = ()) -> bytes:
        """Returns the header line, with further columns."""
        return (self.mark + self.row((*HEADER, *more))).encode()

    def rows(
        self,
        identifier: str,
        mentions: Iterable[Mention],
        *,
        text: str | None = None,
        with_attributes: bool = False,
        lose: Callable[[str, Mention], None] = lambda code, mention: None,
        beside: Callable[[Mention], Iterable[str]] = lambda mention: (),
    ) -> bytes:
        """Returns one row for each mention of a document.

        Args:
            identifier: of the document.
            mentions: its mentions.
            text: of the document, for columns with the text of each mention, its links and their
                names; in the text a blank is written for each TAB and line break, and for what is
                between fragments.
            with_attributes: whether there is a column for attributes, too.
            lose: function that is called with the code of each part of the links and attributes
                that a row cannot hold.
            beside: texts of the further columns of a mention.

        Raises:
            InputError: an id or a type that a row cannot hold.
        """
        more = partial(self._more_cells, text=text, with_attributes=with_attributes, lose=lose)
        rows = []
        for mention in mentions:
            texts = (self.cell(_NOT_IN_CELLS.sub(" ", cell)) for cell in beside(mention))
            rows.append(self.row([*self._cells(identifier, mention), *more(mention), *texts]))
        return "".join(rows).encode()

    def _cells(self, identifier: str, mention: Mention) -> list[str]:
        advice = "write JSON Lines instead"
        return [
            self.cell(check_name(identifier, what="the document id", trimmed=False, advice=advice)),
            self.cell(check_name(mention.type, what="the type", trimmed=False, advice=advice)),
            ";".join(str(start) for start, _ in mention.spans),
            ";".join(str(end) for _, end in mention.spans),
            "" if mention.score is None else repr(float(mention.score)),
        ]

    def _more_cells(
        self,
        mention: Mention,
        *,
        text: str | None,
        with_attributes: bool,
        lose: Callable[[str, Mention], None],
    ) -> Iterator[str]:
        pairs = [
            f"{name}={value}"
            for name, value in mention.attributes
            if with_attributes and _is_fact(name, value)
        ]
        for _ in range(len(mention.attributes) - len(pairs)):
            lose("attributes", mention)
        if text is not None:
            yield from map(
                self.cell, (join_fragments(text, mention.spans), *_link_cells(mention, lose))
            )
        if with_attributes:
            yield self.cell(BETWEEN.join(pairs))


def cell_links(ids: str, names: str) -> tuple[Link, ...]:
    """Returns the links in the cells of the columns `LINKS`."""
    parts, called = ids.split(BETWEEN) if ids else [], names.split(BETWEEN)
    called = called if len(called) == len(parts) else [""] * len(parts)
    return tuple(parse_link(part, name) for part, name in zip(parts, called, strict=True))


def cell_attributes(cell: str) -> tuple[tuple[str, str], ...]:
    """Returns the attributes in a cell of the column `ATTRIBUTES`."""
    pairs = (pair.partition("=") for pair in cell.split(BETWEEN) if pair)
    return tuple((name, value) for name, _, value in pairs)


def _is_fact(name: str, value: str) -> bool:
    """True for an attribute that can be restored from a cell."""
    pair = f"{name}={value}"
    return cell_attributes(pair) == ((name, value),) and not _NOT_IN_CELLS.search(pair)


def _link_cells(mention: Mention, lose: Callable[[str, Mention], None]) -> tuple[str, str]:
    """Returns identifiers and names of the links that a row can hold; of an ambiguous answer how
    many it has.
    """
    links = [link for link in mention.links if not link.nil and link.tier != AMBIGUOUS]
    for _ in range(ambiguous := sum(link.tier == AMBIGUOUS for link in mention.links)):
        lose("ambiguous", mention)
    if ambiguous and not links:
        return "", f"ambiguous: {ambiguous} concepts"
    fitting = list(filter(_fits, links))
    for _ in range(len(links) - len(fitting)):
        lose("links", mention)

    ids = BETWEEN.join(map(display_identifier, fitting))
    names = [link.name for link in fitting]
    if any(BETWEEN in name or _NOT_IN_CELLS.search(name) for name in names):
        lose("link-names", mention)
        names = []
    return ids, BETWEEN.join(names) if any(names) else ""


def _fits(link: Link) -> bool:
    """True if a link can be restored from its identifier."""
    text = display_identifier(link)
    if not text or BETWEEN in text or _NOT_IN_CELLS.search(text):
        return False
    # what is read back names the same entry
    curie = link.curie or text * bool(link.ontology and is_curie(text))
    bare = msgspec.structs.replace(link, name="", score=None, tier="", curie=curie, same=())
    return bare == parse_link(text)


def split_cells(line: str, separator: str) -> list[str]:
    """Splits a line into cells.

    Args:
        line: without its end.
        separator: TAB or comma.

    Raises:
        ValueError: quotes of a CSV that do not match.
    """
    if separator == "\t":
        return line.split("\t")
    cells: list[str] = []
    at, more = 0, True
    while more:
        match = _CELL.match(line, at)
        if match is None:
            raise ValueError(f"the quotes of cell {len(cells) + 1} do not match")
        quoted, bare, comma = match.groups()
        cell = bare if quoted is None else quoted.replace('""', '"')
        cells.append(cell[1:] if _ESCAPED.match(cell) else cell)
        at, more = match.end(), bool(comma)
    return cells


def table_separator(header: str) -> str:
    """Returns TAB, or the comma of a CSV."""
    return "\t" if "\t" in header else ","


def _csv_row(cells: Sequence[str]) -> str:
    line = io.StringIO()
    csv.writer(line).writerow(cells)
    return line.getvalue()


def table_held_fields(name: str) -> HeldFields:
    """Returns the fields that tables of mentions hold; ``name`` is that of the format in
    messages.
    """
    whole = "ids mentions discontinuous nested scores link-ontologies link-curies"
    partly = "links link-names ambiguous attributes"
    return held_fields(name, whole, partly=partly, by_reference=OF_TEXT, source=SOURCE)


TSV: Final = PlainTable(
    holds=table_held_fields("TSV"), row=lambda cells: "\t".join(cells) + "\n", cell=str
)
CSV: Final = PlainTable(
    holds=table_held_fields("CSV"),
    row=_csv_row,
    cell=lambda cell: f"'{cell}" if _FORMULA.match(cell) else cell,
    mark="\ufeff",
)


@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """Options for writing a table.

    Attributes:
        with_text: whether it has columns with the text and the links of each mention, which
            predictions have not.
        with_attributes: whether it has a column with the attributes of each mention, such as
            ``negated``.
        with_context: whether it has columns with the words around each mention, its sentence and
            its section, which predictions have not.
        meta: facts of documents that have a column each, such as ``year``.
    """

    with_text: bool = True
    with_attributes: bool = False
    with_context: bool = False
    meta: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Checks that each column is there once."""
        names = Counter((*HEADER, *self.columns))
        for name in self.meta:
            if names[name] > 1:
                raise UsageError(
                    f"the table would have the column {name!r} twice; leave it out of meta"
                )

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the further columns."""
        more = (*(TEXT, *LINKS) * self.with_text, *(ATTRIBUTES,) * self.with_attributes)
        return (*more, *CONTEXT * self.with_context, *self.meta)


class Rows:
    """Encoder of the rows of documents, or of predictions."""

    def __init__(self, table: PlainTable, options: TableOptions) -> None:
        """Creates an encoder for a kind of table; ``header`` is the first line."""
        self._table = table
        self._options = options
        self.header = table.header(options.columns)

    def __call__(self, document: Any, report: WriteReport) -> bytes:
        """Returns the rows of one document or prediction."""
        return self._table.rows(
            document.id,
            document.mentions,
            text=document.text if self._options.with_text else None,
            with_attributes=self._options.with_attributes,
            lose=lambda code, mention: report.lose(code, document, mention),
            beside=self._beside(document),
        )

    def _beside(self, document: Any) -> Callable[[Mention], Iterable[str]]:
        meta = tuple(document.meta.get(name, "") for name in self._options.meta)
        if not self._options.with_context:
            return lambda mention: meta
        around = context_of(document)
        return lambda mention: (*map(self.fit, around(mention)), *meta)

    def fit(self, cell: str) -> str:
        """Returns a cell of `CONTEXT`, or what the format holds of it."""
        return cell


def _below_header(stream: BinaryIO, rows: Any) -> AbstractContextManager[WriteOne]:
    return open_frame(stream, rows, head=rows.header)


TSV_WRITER: Final = FormatWriter(
    holds=TSV.holds,
    encoder=partial(Rows, TSV),
    options=TableOptions,
    into=_below_header,
    by_id=True,
)
CSV_WRITER: Final = FormatWriter(
    holds=CSV.holds,
    encoder=partial(Rows, CSV),
    options=TableOptions,
    into=_below_header,
    by_id=True,
)


_Cell = Callable[[Document, Mention, int], str]
_CELLS: Final[Mapping[str, _Cell]] = {
    "document": lambda document, _, __: check_name(document.id, what="the document id"),
    "mark": lambda _, __, number: f"T{number}",
    "type": lambda _, mention, __: check_name(mention.type, what="the type"),
    "start": lambda _, mention, __: str(mention.start),
    "end": lambda _, mention, __: str(mention.end),
    "text": lambda document, mention, _: join_fragments(document.text, mention.spans),
}
_LIVINGNER: Final = {
    **{"filename": "document", "mark": "mark", "label": "type"},
    **{"off0": "start", "off1": "end", "span": "text"},
}
_SOCIALDISNER: Final = {
    "tweets_id": "document",
    "begin": "start",
    "end": "end",
    "type": "type",
    "extraction": "text",
}


def our_names(names: Sequence[str]) -> list[str]:
    """Returns the names of columns of a table, those of a task under our names."""
    for columns in (_LIVINGNER, _SOCIALDISNER):
        if tuple(columns) == tuple(names):
            return list(columns.values())
    return list(names)


class _TaskRows:
    """Encoder of documents as rows of a task."""

    def __init__(self, columns: Mapping[str, str]) -> None:
        self.header = ("\t".join(columns) + "\n").encode()
        self._cells = tuple(_CELLS[part] for part in columns.values())

    def __call__(self, document: Document, report: WriteReport) -> bytes:
        lines = []
        for number, mention in enumerate(document.mentions, 1):
            cells = (cell(document, mention, number) for cell in self._cells)
            lines.append("\t".join(cells) + "\n")
        return "".join(lines).encode()


def _writer(name: str, columns: Mapping[str, str]) -> FormatWriter:
    holds = held_fields(name, "ids mentions nested", by_reference=OF_TEXT)
    return FormatWriter(
        holds=holds, encoder=lambda options: _TaskRows(columns), into=_below_header, by_id=True
    )


LIVINGNER_WRITER: Final = _writer("the table of LivingNER", _LIVINGNER)
SOCIALDISNER_WRITER: Final = _writer("the table of SocialDisNER", _SOCIALDISNER)
