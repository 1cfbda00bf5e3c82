"""Annotation stores of STAM: texts and mentions in one file, the type as a datum."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from tests.formats.oracle.drafts import Draft, DraftMark, Taste
from tests.formats.oracle.format import (
    BLIND,
    NO_COLUMNS,
    NO_IDS_OF_CONCEPTS,
    ONE_LINE,
    ONE_PART,
    Files,
    Oracle,
)
from tests.formats.oracle.hand import Hand


def _offset(draft: Draft, mark: DraftMark, hand: Hand) -> dict[str, Any]:
    start, end = hand.place(draft.parts[0], draft.span(mark))
    return {
        "@type": "Offset",
        "begin": {"@type": "BeginAlignedCursor", "value": start},
        "end": {"@type": "BeginAlignedCursor", "value": end},
    }


def _files(drafts: Sequence[Draft], hand: Hand) -> Files:
    data, annotations = [], []
    for draft in drafts:
        for mark in draft.marks:
            name = f"D{len(data)}"
            value = {"@type": "String", "value": mark.type}
            data.append({"@type": "AnnotationData", "@id": name, "key": "type", "value": value})
            target = {
                "@type": "TextSelector",
                "resource": draft.id,
                "offset": _offset(draft, mark, hand),
            }
            annotations.append(
                {
                    "@type": "Annotation",
                    "@id": f"A{len(annotations)}",
                    "target": target,
                    "data": [{"@type": "AnnotationData", "@id": name, "set": "types"}],
                }
            )
    store = {
        "@type": "AnnotationStore",
        "resources": [
            {"@type": "TextResource", "@id": draft.id, "text": draft.parts[0]} for draft in drafts
        ],
        "annotationsets": [{"@type": "AnnotationDataSet", "@id": "types", "data": data}],
        "annotations": annotations,
    }
    return {"all.stam.json": json.dumps(store, ensure_ascii=hand.random.random() < 0.3).encode()}


ORACLES: Final = (
    Oracle(
        name="stam",
        reads="stam",
        taste=Taste(blanks=(" ", "  ", "\n"), marked=True),
        write=_files,
        path="all.stam.json",
        senseless=BLIND | NO_COLUMNS | ONE_PART | ONE_LINE | NO_IDS_OF_CONCEPTS,
    ),
)
