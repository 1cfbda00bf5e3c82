"""UIMA CAS as its specification describes it (OASIS UIMA 1.0, XMI) and as INCEpTION writes JSON;
offsets are UTF-16.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final
from xml.sax.saxutils import quoteattr

from tests.formats.oracle.drafts import Draft, Taste
from tests.formats.oracle.format import (
    BARE,
    BINARY,
    BY_ONE,
    BYTES,
    ITS_FORM,
    ONE_LINE,
    ONE_PART,
    ONE_PLACE,
    UTF16,
    Files,
    Oracle,
    because,
)
from tests.formats.oracle.hand import PASSAGE, SAME_ID, Hand
from tests.formats.oracle.webanno import NAMED, one_page, units

_UIMA: Final = "http://uima.apache.org/resourceSpecifier"
TYPES: Final = (
    "<typeSystemDescription "
    f'xmlns="{_UIMA}"><types><typeDescription><name>{NAMED}</name><description/>'
    "<supertypeName>uima.tcas.Annotation</supertypeName><features>"
    + "".join(
        f"<featureDescription><name>{name}</name><description/><rangeTypeName>uima.cas.String</rangeTypeName>"
        "</featureDescription>"
        for name in ("value", "identifier")
    )
    + "</features></typeDescription></types></typeSystemDescription>"
)


def _entities(draft: Draft, hand: Hand) -> list[dict[str, str | int]]:
    text = draft.parts[0]
    made = []
    for mark in draft.marks:
        start, end = draft.span(mark)
        ids = {"identifier": hand.id(mark)} if hand.id(mark) else {}
        made.append(
            {"begin": units(text[:start]), "end": units(text[:end]), "value": mark.type, **ids}
        )
    return made


def xmi(text: str, entities: Sequence[dict[str, str | int]]) -> bytes:
    """A CAS in XMI."""
    shown = "".join(
        f'<type:NamedEntity xmi:id="{at}" sofa="1" '
        + " ".join(f"{key}={_attribute(str(value))}" for key, value in one.items())
        + "/>"
        for at, one in enumerate(entities, 10)
    )
    members = " ".join(str(at) for at, _ in enumerate(entities, 10))
    space = NAMED.removesuffix(".NamedEntity").replace(".", "/")
    return (
        '<?xml version="1.0" encoding="UTF-8"?><xmi:XMI xmlns:xmi="http://www.omg.org/XMI" '
        f'xmlns:cas="http:///uima/cas.ecore" xmlns:type="http:///{space}.ecore" xmi:version="2.0">'
        f'<cas:NULL xmi:id="0"/>{shown}'
        '<cas:Sofa xmi:id="1" sofaNum="1" sofaID="_InitialView" mimeType="text" '
        f"sofaString={_attribute(text)}/>"
        f'<cas:View sofa="1" members="{members}"/></xmi:XMI>'
    ).encode()


def _attribute(text: str) -> str:
    return quoteattr(text, {"\n": "&#10;", "\t": "&#9;"})


def in_json(text: str, entities: Sequence[dict[str, str | int]]) -> bytes:
    """A CAS in JSON."""
    features = [
        {
            "%ID": 1,
            "%TYPE": "uima.cas.Sofa",
            "sofaNum": 1,
            "sofaID": "_InitialView",
            "sofaString": text,
        },
        *({"%ID": at, "%TYPE": NAMED, "@sofa": 1, **one} for at, one in enumerate(entities, 10)),
    ]
    ranges = {
        name: {"%NAME": name, "%RANGE": "uima.cas.String"} for name in ("value", "identifier")
    }
    made = {
        "%TYPES": {NAMED: {"%NAME": NAMED, "%SUPER_TYPE": "uima.tcas.Annotation", **ranges}},
        "%FEATURE_STRUCTURES": features,
        "%VIEWS": {"_InitialView": {"%SOFA": 1, "%MEMBERS": [one["%ID"] for one in features[1:]]}},
    }
    return json.dumps(made).encode()


def _xmi(drafts: Sequence[Draft], hand: Hand) -> Files:
    return {
        "a.xmi": xmi(drafts[0].parts[0], _entities(drafts[0], hand)),
        "TypeSystem.xml": TYPES.encode(),
    }


def _json(drafts: Sequence[Draft], hand: Hand) -> Files:
    return {"a.json": in_json(drafts[0].parts[0], _entities(drafts[0], hand))}


_SENSELESS: Final = (
    ONE_LINE
    | BINARY
    | ONE_PART
    | ONE_PLACE
    | ITS_FORM
    | because(
        "no text stands beside the offsets, which are UTF-16", BY_ONE, BYTES, UTF16, PASSAGE, BARE
    )
    | because("a file is one document", SAME_ID)
)
ORACLES: Final = tuple(
    Oracle(
        name=name,
        reads="cas",
        taste=Taste(blanks=(" ", "  ", "\n"), linked=True, empty=False),
        write=write,
        path=path,
        named=False,
        pages=one_page,
        senseless=_SENSELESS,
        needs="cassis",
    )
    for name, write, path in (("cas-xmi", _xmi, "a.xmi"), ("cas-json", _json, "a.json"))
)
