"""BioC in XML and JSON, from its document type, and the answers of PubTator 3."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, Final
from xml.sax.saxutils import escape, quoteattr

from tests.formats.oracle.drafts import Draft, DraftMark, Taste
from tests.formats.oracle.format import NO_COLUMNS, ONE_LINE, ONE_PLACE, Files, Oracle
from tests.formats.oracle.hand import BYTES, UTF16, Hand

_HEAD: Final = '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE collection SYSTEM "BioC.dtd">\n'
_TASTE: Final = Taste(
    parts=(1, 3), blanks=(" ", " ", "  ", "\u00a0"), linked=True, empty=False, split=True
)


def _base(draft: Draft, part: int, hand: Hand) -> int:
    """Where a passage begins, in the unit in which the file counts."""
    before = " ".join(draft.parts)[: draft.bases(" ")[part]]
    units = {BYTES: len(before.encode()), UTF16: len(before.encode("utf-16-le")) // 2}
    return units.get(hand.fault, len(before))


def _places(draft: Draft, mark: DraftMark, hand: Hand) -> list[tuple[int, int]]:
    """Offset and length of each fragment."""
    base = draft.bases(" ")[mark.part]
    found = hand.places(" ".join(draft.parts), draft.spans(mark, base=base), base=base)
    return [(start, end - start) for start, end in found]


def _infon(key: str, value: str) -> str:
    return f"<infon key={quoteattr(key)}>{escape(value)}</infon>"


def _xml_annotation(draft: Draft, mark: DraftMark, *, hand: Hand, at: int) -> str:
    places = _places(draft, mark, hand)
    infons = _infon("type", mark.type) + (_infon("identifier", hand.id(mark)) if mark.local else "")
    where = "".join(f'<location offset="{start}" length="{length}"/>' for start, length in places)
    return (
        "<annotation "
        f'id="{at}">{infons}{where}<text>{escape(draft.surface(mark))}</text></annotation>'
    )


def _xml(drafts: Sequence[Draft], hand: Hand) -> Files:
    made = []
    for draft in drafts:
        made.append(f"<document><id>{draft.id}</id>")
        for part, text in enumerate(draft.parts):
            made.append(f"<passage>{_infon('type', 'abstract' if part else 'title')}")
            made.append(f"<offset>{_base(draft, part, hand)}</offset><text>{escape(text)}</text>")
            made += [
                _xml_annotation(draft, one, hand=hand, at=at)
                for at, one in enumerate(draft.marks)
                if one.part == part
            ]
            made.append("</passage>")
        made.append("</document>")
    body = "".join(made)
    return {"a.xml": f"{_HEAD}<collection><source/><date/><key/>{body}</collection>\n".encode()}


def _sentences(drafts: Sequence[Draft], hand: Hand) -> Files:
    """One passage for each document; its parts are sentences."""
    made = []
    for draft in drafts:
        made.append(f"<document><id>{draft.id}</id><passage><offset>0</offset>")
        for part, text in enumerate(draft.parts):
            made.append(
                f"<sentence><offset>{_base(draft, part, hand)}</offset><text>{escape(text)}</text>"
            )
            made += [
                _xml_annotation(draft, one, hand=hand, at=at)
                for at, one in enumerate(draft.marks)
                if one.part == part
            ]
            made.append("</sentence>")
        made.append("</passage></document>")
    body = "".join(made)
    return {"a.xml": f"{_HEAD}<collection><source/><date/><key/>{body}</collection>\n".encode()}


def _json_document(draft: Draft, hand: Hand) -> dict[str, Any]:
    passages = []
    for part, text in enumerate(draft.parts):
        annotations = []
        for at, one in enumerate(draft.marks):
            if one.part == part:
                infons = {"type": one.type} | ({"identifier": hand.id(one)} if one.local else {})
                where = [
                    {"offset": start, "length": length}
                    for start, length in _places(draft, one, hand)
                ]
                annotations.append(
                    {
                        "id": str(at),
                        "infons": infons,
                        "text": draft.surface(one),
                        "locations": where,
                    }
                )
        passages.append(
            {
                "infons": {"type": "abstract" if part else "title"},
                "offset": _base(draft, part, hand),
                "text": text,
                "sentences": [],
                "annotations": annotations,
                "relations": [],
            }
        )
    return {"id": draft.id, "infons": {}, "passages": passages, "annotations": [], "relations": []}


def _dumped(value: Any, hand: Hand) -> Files:
    return {"a.json": json.dumps(value, ensure_ascii=hand.random.random() < 0.3).encode()}


def _json(drafts: Sequence[Draft], hand: Hand) -> Files:
    documents = [_json_document(one, hand) for one in drafts]
    return _dumped(
        {"source": "", "date": "", "key": "", "infons": {}, "documents": documents}, hand
    )


def _pubtator3(drafts: Sequence[Draft], hand: Hand) -> Files:
    return _dumped({"PubTator3": [_json_document(one, hand) for one in drafts]}, hand)


def _oracle(
    name: str, write: Callable[[Sequence[Draft], Hand], Files], *, path: str, reads: str = ""
) -> Oracle:
    return Oracle(
        name=name,
        reads=reads or name,
        taste=_TASTE,
        write=write,
        path=path,
        senseless=NO_COLUMNS | ONE_LINE | ONE_PLACE,
        loose=(BYTES, UTF16),
    )


ORACLES: Final = (
    _oracle("bioc", _xml, path="a.xml"),
    _oracle("bioc-sentences", _sentences, path="a.xml", reads="bioc"),
    _oracle("bioc-json", _json, path="a.json"),
    _oracle("pubtator3", _pubtator3, path="a.json"),
)
