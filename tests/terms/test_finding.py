from __future__ import annotations

import pytest

from fascicle.core.document import Document
from fascicle.settings.folders.vocabularies import find_pack
from fascicle.settings.inputs import RecognitionSettings
from fascicle.terms.finding import KnownNames, open_packs
from fascicle.terms.pack.pack import Pack

NAMES = (
    *(
        "EGFR",
        "egfr",
        "BRCA1",
        "p53",
        "renin",
        "CAT",
        "cat",
        "Cats",
        "insulin",
        "interleukin-2",
        "was",
        "AIDS",
    ),
    *(
        "tumor",
        "tumour",
        "cancer",
        "COVID-19",
        "SARS-CoV-2",
        "Salmonella",
        "mice",
        "Mouse",
        "Rat",
        "XYZQ",
    ),
    *(
        "HeLa",
        "HT29",
        "PC-3",
        "U2OS",
        "hepatocytes",
        "fibroblast",
        "neuron",
        "T-cell",
        "aspirin",
        "NMDA",
        "iron",
    ),
)


@pytest.fixture(scope="module")
def known() -> KnownNames:
    return KnownNames(Pack.open(find_pack("basic@2")))


def test_names_have_the_type_that_recognition_gives_them(known: KnownNames) -> None:
    recogniser = open_packs([find_pack("basic@2")], RecognitionSettings(overlaps="nested"))
    found = recogniser.predict([Document(id="", text=name) for name in NAMES])
    types = [
        {m.type for m in patch.add if m.spans == ((0, len(n)),)}
        for n, patch in zip(NAMES, found, strict=True)
    ]
    expected = {name: next(iter(of)) for name, of in zip(NAMES, types, strict=True) if len(of) == 1}
    assert len(expected) > 10
    assert known(NAMES) == expected
    assert known(NAMES[3:7]) == {name: expected[name] for name in NAMES[3:7] if name in expected}


def test_what_is_no_name_is_not_known(known: KnownNames) -> None:
    assert known(["", " ", "(", "no such name at all"]) == {}
    assert known([]) == {}
