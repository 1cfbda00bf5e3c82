"""Binary formats: spaCy's DocBin, from its documentation, and the two tables of Parquet.

A DocBin is msgpack, packed with zlib: names of columns, the columns of all tokens as unsigned
64-bit numbers, whether a blank follows each token, the number of tokens of each document, and the
texts that the numbers are hashes of (MurmurHash 64A with the seed 1). A group of spans is msgpack
too; each span is three hashes, the range of its tokens, and that of its characters.
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Sequence
from typing import Any, Final

import msgspec
import numpy as np
from tests.formats.oracle.drafts import Draft, DraftMark, Taste
from tests.formats.oracle.format import (
    BINARY,
    ITS_FORM,
    NO_NAMES,
    ONE_PART,
    ONE_PLACE,
    WORDS,
    Files,
    Oracle,
)
from tests.formats.oracle.hand import BY_ONE, EQUAL, NESTED, Hand

_ORTH, _IOB, _TYPE, _KB = 65, 77, 78, 452
_INSIDE, _OUTSIDE, _BEGINS = 1, 2, 3
_MULTIPLIER: Final = 0xC6A4A7935BD1E995
_PARTS: Final = ("sections", "sentences", "words", "abbreviations", "meta")
_ALL: Final = 0xFFFFFFFFFFFFFFFF


def murmur(text: str) -> int:
    """MurmurHash 64A with the seed 1, as published; the empty text is 0."""
    data = text.encode()
    if not data:
        return 0
    mixed, whole = 1 ^ (len(data) * _MULTIPLIER & _ALL), len(data) // 8 * 8
    for at in range(0, whole, 8):
        part = int.from_bytes(data[at : at + 8], "little") * _MULTIPLIER & _ALL
        part = (part ^ part >> 47) * _MULTIPLIER & _ALL
        mixed = (mixed ^ part) * _MULTIPLIER & _ALL
    if data[whole:]:
        mixed = (mixed ^ int.from_bytes(data[whole:], "little")) * _MULTIPLIER & _ALL
    mixed = (mixed ^ mixed >> 47) * _MULTIPLIER & _ALL
    return mixed ^ mixed >> 47


class _Strings:
    def __init__(self) -> None:
        self.known: set[str] = set()

    def __call__(self, text: str) -> int:
        self.known.add(text)
        return murmur(text)


def _spacy(drafts: Sequence[Draft], hand: Hand) -> Files:
    strings, rows, spaces, groups = _Strings(), [], [], []
    grouped = hand.fault in (NESTED, EQUAL, BY_ONE)
    for draft in drafts:
        columns = [[strings(word), _OUTSIDE, 0, 0] for word in draft.said(0)]
        if not grouped:
            for one in draft.marks:
                for at in range(one.first, one.last + 1):
                    place = _BEGINS if at == one.first else _INSIDE
                    columns[at][1:] = place, strings(one.type), strings(hand.id(one))
        rows += columns
        words = draft.words[0]
        ends = [start for start, _ in (*words, (len(draft.parts[0]), 0))[1:]]
        spaces += [end < following for (_, end), following in zip(words, ends, strict=True)]
        groups.append(_groups(draft, hand, strings) if grouped else b"")
    return {
        "a.spacy": _packed(
            drafts, rows, spaces=spaces, strings=sorted(strings.known), groups=groups
        )
    }


def _packed(
    drafts: Sequence[Draft], rows: list[Any], *, spaces: list[bool], strings: list[str], groups: Any
) -> bytes:
    said = {
        "version": "0.1",
        "attrs": [_ORTH, _IOB, _TYPE, _KB],
        "tokens": np.array(rows, dtype="<u8").tobytes(),
        "spaces": np.array(spaces, dtype=bool).tobytes(),
        "lengths": np.array([len(one.words[0]) for one in drafts], dtype="<i4").tobytes(),
        "strings": strings,
        "cats": [{} for _ in drafts],
        "flags": [{"has_unknown_spaces": False} for _ in drafts],
        "span_groups": groups,
    }
    return zlib.compress(msgspec.msgpack.encode(said))


def _groups(draft: Draft, hand: Hand, strings: _Strings) -> bytes:
    spans = []
    for one in draft.marks:
        start, end = draft.span(one)
        first, last = one.first, one.last + 1
        if hand.fault == BY_ONE:
            last += 1
            hand.is_seen = True
        kinds = (0, strings(hand.id(one)), strings(one.type))
        spans.append(struct.pack(">QQQllll", *kinds, first, last, start, end))
    group = msgspec.msgpack.encode({"name": "sc", "attrs": {}, "spans": spans})
    return msgspec.msgpack.encode({group: ["sc"]})


def _parquet(drafts: Sequence[Draft], hand: Hand) -> Files:
    documents = [
        dict.fromkeys(_PARTS) | {"document": one.id, "text": one.parts[0]} for one in drafts
    ]
    mentions = [_row(draft, one, hand) for draft in drafts for one in draft.marks]
    tables = {
        "documents": _table(documents, _documents()),
        "mentions": _table(mentions, _mentions()),
    }
    return {f"a.parquet/{name}.parquet": content for name, content in tables.items()}


def _row(draft: Draft, mark: DraftMark, hand: Hand) -> dict[str, Any]:
    places = hand.places(draft.parts[0], draft.spans(mark))
    link = {"id": hand.local(mark), "ontology": mark.prefix, "nil": False}
    return {
        "document": draft.id,
        "type": mark.type,
        "text": draft.surface(mark),
        "source": "gold",
        "start": places[0][0],
        "end": places[-1][1],
        "score": None,
        "concept": hand.local(mark) or None,
        "spans": [{"start": start, "end": end} for start, end in places],
        "links": [link] if mark.local else [],
        "attributes": [],
    }


def _spans() -> Any:
    import pyarrow as pa

    return pa.list_(_span())


def _span() -> Any:
    import pyarrow as pa

    return pa.struct([("start", pa.int32()), ("end", pa.int32())])


def _documents() -> Any:
    import pyarrow as pa

    sections = pa.list_(
        pa.struct([("start", pa.int32()), ("end", pa.int32()), ("name", pa.string())])
    )
    pairs = pa.list_(pa.struct([("short", _span()), ("long", _span())]))
    facts = pa.list_(pa.struct([("name", pa.string()), ("value", pa.string())]))
    texts = [("document", pa.string()), ("text", pa.string())]
    lists = [
        ("sections", sections),
        ("sentences", _spans()),
        ("words", _spans()),
        ("abbreviations", pairs),
    ]
    return pa.schema([*texts, *lists, ("meta", facts)])


def _mentions() -> Any:
    import pyarrow as pa

    texts = [(name, pa.string()) for name in ("id", "ontology", "name", "tier", "curie")]
    links = pa.list_(pa.struct([*texts, ("score", pa.float64()), ("nil", pa.bool_())]))
    facts = pa.list_(pa.struct([("name", pa.string()), ("value", pa.string())]))
    names = [(name, pa.string()) for name in ("document", "type", "text", "source")]
    places = [
        ("start", pa.int32()),
        ("end", pa.int32()),
        ("score", pa.float64()),
        ("concept", pa.string()),
    ]
    return pa.schema(
        [*names, *places, ("spans", _spans()), ("links", links), ("attributes", facts)]
    )


def _table(rows: list[dict[str, Any]], schema: Any) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), out)
    return out.getvalue()


ORACLES: Final = (
    Oracle(
        name="spacy",
        reads="spacy",
        taste=Taste(blanks=(" ", " ", ""), linked=True),
        write=_spacy,
        path="a.spacy",
        named=False,
        senseless=BINARY | WORDS | ONE_PART | ONE_PLACE | NO_NAMES,
    ),
    Oracle(
        name="parquet",
        reads="parquet",
        taste=Taste(blanks=(" ", " ", "\n", "", "  "), linked=True, split=True),
        write=_parquet,
        path="a.parquet",
        senseless=BINARY | ONE_PART | ITS_FORM,
    ),
)
