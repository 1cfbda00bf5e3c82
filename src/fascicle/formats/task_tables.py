"""Predictions as shared tasks take them: a TSV with one row for each mention, under the names of columns of the task.

LivingNER (https://temu.bsc.es/livingner) and SocialDisNER (https://zenodo.org/records/6359365) score mentions of one
fragment. Offsets are half-open and count code points.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO, Final

from fascicle.core.document import Document, Mention
from fascicle.formats.brat_lines import joined
from fascicle.formats.handlers import Put, Writer, checked_name
from fascicle.formats.losses import OF_TEXT, HeldFields
from fascicle.formats.report import WriteReport

_Cell = Callable[[Document, Mention, int], str]
_CELLS: Final[Mapping[str, _Cell]] = {
    "document": lambda document, _, __: checked_name(document.id, what="the document id"),
    "mark": lambda _, __, number: f"T{number}",
    "type": lambda _, mention, __: checked_name(mention.type, what="the type"),
    "start": lambda _, mention, __: str(mention.start),
    "end": lambda _, mention, __: str(mention.end),
    "text": lambda document, mention, _: joined(document.text, mention.spans),
}
_LIVINGNER: Final = {
    "filename": "document",
    "mark": "mark",
    "label": "type",
    "off0": "start",
    "off1": "end",
    "span": "text",
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
    task = next((one for one in (_LIVINGNER, _SOCIALDISNER) if tuple(one) == tuple(names)), {})
    return [task.get(name, name) for name in names]


class _Rows:
    """Encoder of documents as rows of a task."""

    def __init__(self, columns: Mapping[str, str]) -> None:
        self.header = ("\t".join(columns) + "\n").encode()
        self._cells = tuple(_CELLS[part] for part in columns.values())

    def __call__(self, document: Document, part: WriteReport) -> bytes:
        part.mentions = len(document.mentions)
        rows = (
            "\t".join(cell(document, mention, number) for cell in self._cells) + "\n"
            for number, mention in enumerate(document.mentions, 1)
        )
        return "".join(rows).encode()


@contextmanager
def _below_header(stream: BinaryIO, rows: Any) -> Iterator[Put]:
    stream.write(rows.header)
    yield stream.write


def _writer(name: str, columns: Mapping[str, str]) -> Writer:
    fields = frozenset({"ids", "mentions", "nested"})
    holds = HeldFields(format=name, fields=fields, by_reference=OF_TEXT)
    return Writer(holds=holds, encoder=lambda options: _Rows(columns), into=_below_header)


LIVINGNER_WRITER: Final = _writer("the table of LivingNER", _LIVINGNER)
SOCIALDISNER_WRITER: Final = _writer("the table of SocialDisNER", _SOCIALDISNER)
