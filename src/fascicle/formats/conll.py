"""CoNLL files: one token per line with its tags, sentences separated by blank lines.

All common tag schemes (IO, IOB1, IOB2, BIOES, BILOU) are read by the one rule of `decode_tags`; the
report names the scheme. The text of a document is its tokens joined by one space, also across
sentences.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final, TypeVar, cast

from fascicle.core.document import Document, Event
from fascicle.core.effects import make_event
from fascicle.core.files.source import (
    Line,
    Source,
    line_text,
    read_blocks,
)
from fascicle.core.tags import TagCensus, is_tag, split_tag, tag_advice, tag_layers
from fascicle.core.wording import plural
from fascicle.errors import FormatError, InputError, Place, UsageError
from fascicle.formats.collect import raise_first_error
from fascicle.formats.conll_documents import (
    STEP,
    ParsedSentence,
    TaggedSentence,
    document_mode,
    group_sentences,
    make_document,
)
from fascicle.formats.handlers import FormatReader
from fascicle.formats.report import ReadReport
from fascicle.formats.tag_names import (
    BEGIN,
    DOCSTART,
    Conll2012Rows,
    ConlluRows,
    add_io_prefixes,
    columns_beside_numbers,
    document_mark,
    is_conllu,
    is_fact,
)

DOCUMENTS: Final = ("auto", "sentence", "file", "docstart")
_NO_TOKEN: Final = "\ufffd"
_OTHERWISE: Final = (
    "say which column holds the tags, if it is not this one, or, if tags are "
    "types without a prefix, bare=True"
)
# how a line may begin that ends a sentence
_MAY_BREAK: Final = frozenset(("", " ", "\t", DOCSTART[0], BEGIN[0]))
_FIRST_LINES: Final = 100  # that show whether the first column numbers the rows


@dataclass(frozen=True, kw_only=True)
class ConllOptions:
    """Options for reading a CoNLL file.

    Attributes:
        token_column: column of the token, from 0; negative numbers count from the last.
        tag_columns: columns of the tags. Several are layers of nested mentions; ``None`` means
            every column but that of the token.
        documents: what is one document: ``"sentence"``, ``"file"``, ``"docstart"`` (what stands
            between ``-DOCSTART-`` lines, or behind ``# newdoc`` and ``#begin document``), or
            ``"auto"``: docstart if the file has such lines (a single ``-DOCSTART-`` without an id
            marks nothing), else sentence.
        bare: tags are types without a prefix (``person``), and ``O``; neighbours of one type are
            one mention.
        comment: lines that begin with this are skipped; by default facts about a sentence or a
            document, as CoNLL-U and CoNLL-2012 have them.
    """

    token_column: int = 0
    tag_columns: tuple[int, ...] | None = (-1,)
    documents: str = "auto"
    bare: bool = False
    comment: str = ""

    def __post_init__(self) -> None:
        """Checks the values of the options."""
        if self.documents not in DOCUMENTS:
            message = (
                f"documents={self.documents!r} is not known; choose one of {', '.join(DOCUMENTS)}"
            )
            raise UsageError(message, code="unknown-name")
        if self.tag_columns is not None and not self.tag_columns:
            raise UsageError(
                "tag_columns is empty; give at least one column, or None for all but that of the "
                "token"
            )


def parse_columns(text: str) -> tuple[int, tuple[int, ...] | None]:
    """Parses column numbers as a user writes them: the token column first, then the tag columns.

    ``"0,3"`` is token column 0 and tag column 3; ``"0,1,2"`` has two layers of tags; ``"0,all"``
    takes every column but that of the token.

    Returns:
        ``token_column`` and ``tag_columns`` of `ConllOptions`.

    Raises:
        UsageError: anything else.
    """
    first, *rest = [part.strip() for part in text.split(",")]
    try:
        if rest == ["all"]:
            return int(first), None
        if rest:
            return int(first), tuple(int(part) for part in rest)
    except ValueError:
        pass
    raise UsageError(
        f"columns {text!r} cannot be read; give numbers from 0, the token first: 0,1 or 0,1,2 or "
        "0,all"
    )


def read(source: Source, options: ConllOptions, report: ReadReport) -> Iterator[Document]:
    """Streams the documents of a CoNLL file.

    Columns are separated by TAB if the first line of the file with a token has one, else by blanks.
    Ids are those of lines that begin a document (``a_3`` for part 3 of ``a``), ``<name>`` for a
    file that is one document, else ``<name>:1`` and so on. A row with a tag but without a token
    gets the token U+FFFD (the replacement character), so that the number of rows stays the same;
    an event reports it.

    Args:
        source: the file.
        options: columns, and what is a document.
        report: receives the census of the tags. A bad row sets its document aside.

    Raises:
        FormatError: a line without a tag column, or with a tag that belongs to no scheme.
    """
    mode = document_mode(source, options.documents)
    census = report.tags.setdefault(source.path, TagCensus())
    parser = _Parser(source, options)
    for number, (name, block) in enumerate(group_sentences(parser.sentences(), mode), 1):
        identifier = source.name if mode == "file" else name or f"{source.name}:{number}"
        with report.aside.one():
            document = make_document(
                identifier, raise_first_error(block), census, unbroken=not parser.breaks
            )
            events = (*parser.repairs(), *(parser.notes() if number == 1 else ()))
            yield document.with_events(*events) if events else document


_T = TypeVar("_T")
_Row = tuple[str, list[str]]  # token; its tag in each layer


class _Parser:
    """Parser from lines to sentences: the id of a document for a line that begins one, an error
    for a sentence with a bad row.
    """

    def __init__(self, source: Source, options: ConllOptions) -> None:
        self._source = source
        self._options = options
        self._tab: bool | None = None
        self._spare: set[int] | None = None
        self._tagged: set[int] = set()
        self._valid_tags: set[str] = set()
        self._missing = 0
        self._width: int | None = None  # columns of the rows, known after the first sentence
        # of a kind with rules of its own
        self._of_row: Conll2012Rows | ConlluRows | None = None
        # line and number of columns of each row before that
        self._first_widths: list[tuple[int, int]] = []
        self._uneven: list[int] = []
        self.breaks = 0

    def sentences(self) -> Iterator[ParsedSentence]:
        first = 1
        for lines, end in self._groups():
            self._of_row = self._of_row and type(self._of_row)()  # no name goes on behind an error
            if (sentence := self._sentence(lines, first)) is not None:
                self.breaks += end is not None
                yield sentence
            first += len(lines) + 1
            if end:
                if end.startswith(BEGIN):
                    self._of_row = Conll2012Rows()
                self.breaks += 1
                yield document_mark(end) or ""

    def _groups(self) -> Iterator[tuple[list[Line], str | None]]:
        """Yields lines between blank lines and marks; and the mark behind them, which is empty for
        a blank line, and ``None`` at the end of the file.
        """
        group: list[Line] = []
        for block in self._blocks():
            start = 0
            for at in [
                at
                for at, line in enumerate(block)
                if isinstance(line, str) and line[:1] in _MAY_BREAK
            ]:
                bare = line_text(block[at]).strip(" \t")
                if bare and document_mark(bare) is None:
                    continue
                yield [*group, *block[start:at]], bare
                group, start = [], at + 1
            group += block[start:]
        yield group, None

    def _sentence(self, lines: list[Line], first: int) -> TaggedSentence | InputError | None:
        """Returns the sentence of consecutive lines, or its error; ``None`` if they are comments.

        Args:
            lines: lines that are not blank.
            first: number of the first line.
        """
        if (even := self._even_rows(lines)) is not None:
            return even
        rows: list[_Row] = []
        error: FormatError | None = None
        for number, line in enumerate(lines, first):
            if error is None and not self._is_comment(line):
                error = self._add_row(rows, line, number)
        return self._end_sentence(rows, error) if rows or error else None

    def _even_rows(self, lines: list[Line]) -> TaggedSentence | None:
        """Returns a sentence all at once, if nothing in its rows is new; else ``None``."""
        if self._width is None or self._spare or self._options.bare or self._of_row or not lines:
            return None
        columns = self._even_columns(lines, self._width)
        if not (self._tab or all(map(all, columns))):
            return None
        try:
            token_column, tag_columns = self._select(columns)
        except IndexError:
            return None
        if not all(token_column) or not self._valid_tags.issuperset(chain(*tag_columns)):
            return None
        return token_column, tag_columns

    def _even_columns(self, lines: list[Line], width: int) -> list[list[str]]:
        """Returns the columns of rows; none if a row has another width, or may be a comment."""
        separator, mark = "\t" if self._tab else " ", (self._options.comment or "#")[0]
        try:
            text = "\n".join(chain(("",), cast("list[str]", lines)))
        except TypeError:  # a line that cannot be read is an error
            return []
        cells = text[1:].replace("\n", f"{separator}\n").split(separator)
        # in rows of one width, each line begins in the first column
        first = "".join(cells[::width]).split("\n")
        is_even = len(cells) == len(lines) * width and len(first) == len(lines)
        if not is_even or f"\n{mark}" in text:
            return []
        return [first, *(cells[at::width] for at in range(1, width))]

    def _add_row(self, rows: list[_Row], line: Line, number: int) -> FormatError | None:
        try:
            row = self._row(line_text(line), number)
        except FormatError as error:
            return error
        if row is not None:
            rows.append(row)
        return None

    def _end_sentence(
        self, rows: list[_Row], error: FormatError | None
    ) -> TaggedSentence | InputError:
        """Returns a sentence, or its error; the first one sets the number of columns of a row to
        the most frequent.
        """
        if self._width is None and self._first_widths:
            widths = Counter(width for _, width in self._first_widths)
            self._width = widths.most_common(1)[0][0]
            self._uneven = [number for number, width in self._first_widths if width != self._width]
            self._first_widths.clear()
        return error or _transpose(rows)

    def _blocks(self) -> Iterator[Sequence[Line]]:
        """Yields the lines of the file, some at a time.

        Raises:
            FormatError: the first column, unless it was chosen, has no words.
        """
        blocks = read_blocks(self._source)
        first: list[Line] = []
        while len(first) < _FIRST_LINES and (block := next(blocks, None)) is not None:
            first += block
        if (self._options.token_column, self._options.tag_columns) == (0, (-1,)) and (
            columns := columns_beside_numbers(
                [line for line in first[:_FIRST_LINES] if isinstance(line, str)]
            )
        ):
            message = (
                f"the first column {'numbers the rows' if columns[-1] else 'has the tags'}; choose "
                "the columns of words and tags with columns=VALUE, such as "
                f"{','.join(map(str, columns))}"
            )
            raise FormatError(message, at=self._source.path)
        yield from chain((first,), blocks)

    def _is_comment(self, line: Line) -> bool:
        mark = self._options.comment
        if not isinstance(line, str):
            return False
        return line.startswith(mark) if mark else line.startswith("#") and is_fact(line)

    def _row(self, line: str, number: int) -> _Row | None:
        by_tab = self._tab if self._tab is not None else "\t" in line
        # str.split() would also split at the other spaces of Unicode, which may stand in tokens.
        columns = line.split("\t") if by_tab else [part for part in line.split(" ") if part]
        if self._tab is None and self._options.tag_columns == (-1,) and is_conllu(columns):
            self._of_row = ConlluRows()
        if self._of_row is not None:
            self._tab = by_tab
            return self._row_of_kind(columns, number)
        try:
            token, tags = self._select(columns)
        except IndexError:
            if line.startswith("#") and not is_tag(columns[-1]):
                return None  # the source of a sentence, as GermEval writes it
            if not line.startswith(" ") or len(columns) != 1:
                raise self._error(number, self._columns_message(columns, by_tab=by_tab)) from None
            columns = ["", *columns]
            token, tags = self._select(columns)
        tags = self._check_tags(tags, number)
        self._tab = by_tab
        self._watch(columns)
        self._count_columns(len(columns), number)
        self._missing += not token
        return token or _NO_TOKEN, tags

    def _check_tags(self, tags: list[str], number: int) -> list[str]:
        """Returns the tags of a row with their prefixes, without blanks around them."""
        try:
            tags = add_io_prefixes(tags) if self._options.bare else tags
            for at, tag in enumerate(tags):
                if tag not in self._valid_tags:
                    tags[at] = tag.strip(" ")
                    for (layer,) in tag_layers([tags[at]]):
                        split_tag(layer)
                    self._valid_tags.add(tags[at])
        except ValueError as error:
            otherwise = "" if any(map(tag_advice, tags)) else f"; {_OTHERWISE}"
            raise self._error(number, f"{error}{otherwise}") from None
        return tags

    def _count_columns(self, width: int, number: int) -> None:
        if self._width is None:
            self._first_widths.append((number, width))
        elif width != self._width:
            self._uneven.append(number)

    def _row_of_kind(self, columns: list[str], number: int) -> _Row | None:
        assert self._of_row is not None
        try:
            row = self._of_row(columns)
        except ValueError as error:
            raise self._error(number, str(error)) from None
        except IndexError:
            raise self._error(
                number, f"found {len(columns)} columns, and the rows before have more"
            ) from None
        if row is None or row[0]:
            return row
        self._missing += 1
        return _NO_TOKEN, row[1]

    def _select(self, columns: list[_T]) -> tuple[_T, list[_T]]:
        count = len(columns)
        token_at = self._options.token_column
        token_at += count if token_at < 0 else 0
        tag_columns = self._options.tag_columns
        if tag_columns is None:
            tags_at = [at for at in range(count) if at != token_at]
        else:
            tags_at = [at + count if at < 0 else at for at in tag_columns]
        if not tags_at or token_at in tags_at or min(tags_at) < 0:
            raise IndexError
        return columns[token_at], [columns[at] for at in tags_at]

    def _columns_message(self, columns: list[str], *, by_tab: bool) -> str:
        tag_columns = self._options.tag_columns
        places = "any other column" if tag_columns is None else ", ".join(map(str, tag_columns))
        separator = "TAB" if by_tab else "blank"
        return (
            f"found {len(columns)} {separator}-separated column(s), but the token is expected in "
            f"column {self._options.token_column} and a tag in {places} (from 0; -1 is the last)"
        )

    def _watch(self, columns: list[str]) -> None:
        """Tracks which unread columns have contained only tags so far."""
        if (self._spare is not None and not self._spare) or self._options.tag_columns != (-1,):
            return
        among = range(1, len(columns) - 1) if self._spare is None else self._spare
        self._spare = {at for at in among if at < len(columns) and is_tag(columns[at])}
        self._tagged |= {at for at in self._spare if columns[at] != "O"}

    def repairs(self) -> tuple[Event, ...]:
        """Returns events for the repairs since the last call."""
        missing, self._missing = self._missing, 0
        uneven, self._uneven = self._uneven, []
        events = []
        if missing:
            message = f"{missing} row(s) had a tag but no token; the token U+FFFD stands for each"
            events.append(make_event("missing-token", step=STEP, message=message))
        if uneven:
            message = (
                f"{plural(len(uneven), 'row')} with another number of columns than the "
                f"{self._width} of the file, "
                f"the first in line {uneven[0]:,}; a part of a word may be lost"
            )
            events.append(make_event("uneven-columns", step=STEP, message=message))
        return tuple(events)

    def notes(self) -> tuple[Event, ...]:
        """Returns notes about the columns for the events of the first document."""
        # a column of nothing but O holds no mention
        spare = sorted((self._spare or set()) & self._tagged)
        self._spare = set()  # and nobody asks again
        if not spare:
            return ()
        message = (
            f"column(s) {', '.join(map(str, spare))} look like tags too, and were not read; "
            "several tag columns are layers of nested mentions (columns 0,all reads every one)"
        )
        return (Event(step=STEP, kind="note", code="other-tag-columns", message=message),)

    def _error(self, number: int, message: str) -> FormatError:
        return FormatError(message, at=Place(self._source.path, number))


def _transpose(rows: list[_Row]) -> TaggedSentence:
    layers = max(len(tags) for _, tags in rows)
    columns = [[tags[at] if at < len(tags) else "O" for _, tags in rows] for at in range(layers)]
    return [token for token, _ in rows], columns


READER: Final = FormatReader(read=read, options=ConllOptions)
