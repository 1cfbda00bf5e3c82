"""Shapes of JSON that count characters, as the tools that write them describe them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, Final

from tests.formats.oracle.drafts import Draft, DraftMark, Taste
from tests.formats.oracle.format import (
    BLIND,
    ITS_FORM,
    NO_COLUMNS,
    NO_IDS_OF_CONCEPTS,
    NO_MARKS,
    NO_NAMES,
    ONE_LINE,
    ONE_PART,
    Files,
    Oracle,
)
from tests.formats.oracle.hand import PASSAGE, UTF16, Hand

_CHARACTERS: Final = (" ", " ", "  ", "\n", "", "\t", "\u00a0")
_PLAIN: Final = Taste(blanks=_CHARACTERS)
_LINKED: Final = Taste(blanks=_CHARACTERS, linked=True, split=True)


def _dumped(value: Any, hand: Hand) -> str:
    return json.dumps(value, ensure_ascii=hand.random.random() < 0.3)


def _lined(
    make: Callable[[Draft, Hand], dict[str, Any]],
) -> Callable[[Sequence[Draft], Hand], Files]:
    def write(drafts: Sequence[Draft], hand: Hand) -> Files:
        return {"a.jsonl": hand.lines([_dumped(make(one, hand), hand) for one in drafts])}

    return write


def _array(
    make: Callable[[Draft, Hand], dict[str, Any]],
) -> Callable[[Sequence[Draft], Hand], Files]:
    def write(drafts: Sequence[Draft], hand: Hand) -> Files:
        return {"a.json": _dumped([make(one, hand) for one in drafts], hand).encode()}

    return write


def _place(draft: Draft, mark: DraftMark, hand: Hand) -> tuple[int, int]:
    return hand.place(draft.parts[mark.part], draft.span(mark))


def _linked(mark: DraftMark, hand: Hand) -> dict[str, Any]:
    return {"links": [{"id": hand.local(mark), "ontology": mark.prefix}]} if mark.local else {}


def _text_entities(draft: Draft, hand: Hand) -> dict[str, Any]:
    found = []
    for one in draft.marks:
        places = hand.places(draft.parts[0], draft.spans(one))
        said = {
            "start": places[0][0],
            "end": places[-1][1],
            "type": one.type,
            "text": draft.surface(one),
        }
        found.append(said | ({"spans": places} if len(places) > 1 else {}) | _linked(one, hand))
    return {"id": draft.id, "text": draft.parts[0], "entities": found}


def _native(draft: Draft, hand: Hand) -> dict[str, Any]:
    found = []
    for one in draft.marks:
        places = hand.places(draft.parts[0], draft.spans(one))
        said = {"spans": places, "type": one.type, "text": draft.surface(one)}
        found.append(said | _linked(one, hand))
    return {"fascicle": 1, "id": draft.id, "text": draft.parts[0], "mentions": found}


def _labelled(
    draft: Draft, hand: Hand, *, start: str = "start", end: str = "end"
) -> list[dict[str, Any]]:
    places = [(*_place(draft, one, hand), one.type) for one in draft.marks]
    return [{start: first, end: last, "label": kind} for first, last, kind in places]


def _entity_labels(draft: Draft, hand: Hand) -> dict[str, Any]:
    return {"id": draft.id, "text": draft.parts[0], "entities": _labelled(draft, hand)}


def _prodigy(draft: Draft, hand: Hand) -> dict[str, Any]:
    return {"text": draft.parts[0], "spans": _labelled(draft, hand), "answer": "accept"}


def _spacy(draft: Draft, hand: Hand) -> dict[str, Any]:
    return {"text": draft.parts[0], "ents": _labelled(draft, hand)}


def _relations(draft: Draft, hand: Hand) -> dict[str, Any]:
    entities = _labelled(draft, hand, start="start_offset", end="end_offset")
    return {
        "id": draft.id,
        "text": draft.parts[0],
        "entities": [{"id": at, **one} for at, one in enumerate(entities)],
    }


def _listed(field: str, *, text: str = "text") -> Callable[[Draft, Hand], dict[str, Any]]:
    def make(draft: Draft, hand: Hand) -> dict[str, Any]:
        marks = [[*_place(draft, one, hand), one.type] for one in draft.marks]
        return {"id": draft.id, text: draft.parts[0], field: marks}

    return make


def _pubannotation(draft: Draft, hand: Hand) -> dict[str, Any]:
    denotations = []
    for at, one in enumerate(draft.marks, 1):
        spans = [
            {"begin": first, "end": last}
            for first, last in hand.places(draft.parts[0], draft.spans(one))
        ]
        denotations.append(
            {"id": f"T{at}", "span": spans if len(spans) > 1 else spans[0], "obj": one.type}
        )
    return {
        "sourcedb": "PubMed",
        "sourceid": draft.id,
        "text": draft.parts[0],
        "denotations": denotations,
    }


def _gate(draft: Draft, hand: Hand) -> dict[str, Any]:
    listed = []
    for at, one in enumerate(draft.marks):
        start, end = _place(draft, one, hand)
        listed.append({"type": one.type, "start": start, "end": end, "id": at, "features": {}})
    sets = {"": {"name": "", "annotations": listed, "next_annid": len(listed)}}
    unit = "j" if hand.fault == UTF16 else "p"
    text = draft.parts[0]
    return {
        "annotation_sets": sets,
        "text": text,
        "features": {},
        "offset_type": unit,
        "name": draft.id,
    }


def _text(draft: Draft, hand: Hand) -> dict[str, Any]:
    return {"id": draft.id, "text": draft.parts[0]}


def _article(draft: Draft, hand: Hand) -> dict[str, Any]:
    return {
        "id": draft.id,
        "title": draft.parts[0],
        "abstract": draft.parts[1],
        "paragraphs": list(draft.parts[2:]),
    }


def _bigbio(draft: Draft, hand: Hand) -> dict[str, Any]:
    bases, text = draft.bases(" "), " ".join(draft.parts)
    passages = [
        {
            "id": f"p{at}",
            "type": ("title", "abstract")[at],
            "text": [part],
            "offsets": [[base, base + len(part)]],
        }
        for at, (part, base) in enumerate(zip(draft.parts, bases, strict=True))
    ]
    entities = []
    for at, one in enumerate(draft.marks):
        base = bases[one.part]
        places = hand.places(text, draft.spans(one, base=base), base=base)
        norm = [{"db_name": one.prefix, "db_id": hand.local(one)}] if one.local else []
        entities.append(
            {
                "id": f"e{at}",
                "type": one.type,
                "text": draft.pieces(one),
                "offsets": places,
                "normalized": norm,
            }
        )
    empty: dict[str, Any] = {"events": [], "coreferences": [], "relations": []}
    return {
        "id": f"0{draft.id}",
        "document_id": draft.id,
        "passages": passages,
        "entities": entities,
        **empty,
    }


def _studio(draft: Draft, hand: Hand) -> dict[str, Any]:
    result = []
    for at, one in enumerate(draft.marks):
        start, end = _place(draft, one, hand)
        value = {"start": start, "end": end, "text": draft.surface(one), "labels": [one.type]}
        result.append(
            {
                "id": f"r{at}",
                "from_name": "label",
                "to_name": "text",
                "type": "labels",
                "value": value,
            }
        )
    annotation = {
        "id": 1,
        "completed_by": 1,
        "was_cancelled": False,
        "ground_truth": False,
        "result": result,
    }
    return {
        "id": int(draft.id.strip("PMCd-")),
        "data": {"text": draft.parts[0]},
        "annotations": [annotation],
    }


def _kazu(draft: Draft, hand: Hand) -> dict[str, Any]:
    bases, text = draft.bases("\n\n"), "\n\n".join(draft.parts)
    sections = []
    for at, part in enumerate(draft.parts):
        entities = []
        for one in draft.inside(at):
            # Its fault is the other way round: offsets of the document.
            spans = draft.spans(one, base=bases[at] if hand.fault == PASSAGE else 0)
            places = hand.places(text if hand.fault == PASSAGE else part, spans)
            hand.is_seen |= hand.fault == PASSAGE and at > 0
            entities.append(_kazu_entity(draft, one, hand=hand, places=places))
        sections.append({"name": f"part {at}", "text": part, "entities": entities})
    return {"idx": draft.id, "sections": sections}


def _kazu_entity(
    draft: Draft, mark: DraftMark, *, hand: Hand, places: list[tuple[int, int]]
) -> dict[str, Any]:
    mapping = {
        "default_label": "name",
        "source": mark.prefix,
        "parser_name": mark.prefix,
        "idx": hand.local(mark),
        "string_match_strategy": "",  # those of Kazu are counted as left out
        "string_match_confidence": "HIGHLY_LIKELY",
    }
    return {
        "match": "".join(draft.pieces(mark)),
        "entity_class": mark.type,
        "spans": [{"start": start, "end": end} for start, end in places],
        "namespace": "gold",
        "mappings": [mapping] if mark.local else [],
    }


_SHAPE = NO_COLUMNS | ONE_PART
_UNLINKED = _SHAPE | NO_IDS_OF_CONCEPTS


def _shape(
    name: str, make: Callable[[Draft, Hand], dict[str, Any]], *, named: bool = True
) -> Oracle:
    """A shape without concepts, and without the texts of mentions."""
    return Oracle(
        name=name,
        reads="records",
        taste=_PLAIN,
        write=_lined(make),
        path="a.jsonl",
        named=named,
        senseless=_UNLINKED | ({} if named else NO_NAMES),
        hidden=BLIND,
    )


def _numbered(drafts: Sequence[Draft], hand: Hand) -> list[Any]:
    from dataclasses import replace

    from tests.formats.oracle.drafts import page

    return [page(replace(one, id=one.id.strip("PMCd-")), "", concept=False) for one in drafts]


ORACLES: Final = (
    Oracle(
        name="native",
        reads="jsonl",
        taste=_LINKED,
        write=_lined(_native),
        path="a.jsonl",
        senseless=_SHAPE | ITS_FORM,
    ),
    Oracle(
        name="text-entities",
        reads="records",
        taste=_LINKED,
        write=_lined(_text_entities),
        path="a.jsonl",
        senseless=_SHAPE | ITS_FORM,
    ),
    _shape("text-entity-labels", _entity_labels),
    _shape("prodigy", _prodigy, named=False),
    _shape("spacy-json", _spacy, named=False),
    _shape("doccano", _listed("labels")),
    _shape("text-labels", _listed("label")),
    _shape("data-labels", _listed("label", text="data")),
    _shape("doccano-relations", _relations),
    Oracle(
        name="pubannotation",
        reads="records",
        taste=Taste(blanks=_CHARACTERS, split=True),
        write=_lined(_pubannotation),
        path="a.jsonl",
        senseless=_UNLINKED,
        hidden=BLIND,
    ),
    _shape("gate", _gate),
    Oracle(
        name="text",
        reads="records",
        taste=Taste(blanks=_CHARACTERS, typed=False),
        write=_lined(_text),
        path="a.jsonl",
        senseless=NO_COLUMNS | NO_MARKS,
    ),
    Oracle(
        name="article",
        reads="records",
        taste=Taste(parts=(2, 4), blanks=_CHARACTERS, empty=False, typed=False),
        write=_lined(_article),
        join="\n\n",
        path="a.jsonl",
        senseless=NO_COLUMNS | NO_MARKS,
    ),
    Oracle(
        name="bigbio",
        reads="records",
        taste=Taste(parts=(2, 2), blanks=_CHARACTERS, linked=True, empty=False, split=True),
        write=_lined(_bigbio),
        path="a.jsonl",
        senseless=NO_COLUMNS | ITS_FORM,
    ),
    Oracle(
        name="label-studio",
        reads="label-studio",
        taste=_PLAIN,
        write=_array(_studio),
        path="a.json",
        pages=_numbered,
        senseless=_UNLINKED | ONE_LINE,
    ),
    Oracle(
        name="kazu",
        reads="kazu",
        taste=Taste(parts=(1, 3), blanks=_CHARACTERS, linked=True, empty=False, split=True),
        write=_lined(_kazu),
        join="\n\n",
        path="a.jsonl",
        senseless=NO_COLUMNS | ITS_FORM,
    ),
)
