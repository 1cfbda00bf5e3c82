"""The package bioc 2.1 (BioC: https://bioc.sourceforge.net; its DTD makes `infon`, `sentence`,
`relation` optional).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from bioc import biocjson, biocxml, pubtator
from tests.formats.oracle import bioc as written
from tests.formats.oracle.drafts import Taste
from tests.reality.crossing import Seen, all_seen, document, files, made, marks_of, text_of

from fascicle.formats import read, write

PACKAGES = {"bioc": biocxml, "bioc-json": biocjson}
ORACLES = {one.name: one for one in written.ORACLES if one.name in PACKAGES}


def seen_by_bioc(collection: Any) -> list[Seen]:
    """Texts with blanks between passages, and offsets in code points."""
    read_by_bioc = []
    for one in collection.documents:
        text = ""
        for passage in one.passages:
            text = text.ljust(passage.offset) + (passage.text or "")
        marks = [mark for passage in one.passages for mark in passage.annotations]
        places = [(mark.total_span, mark.infons["type"]) for mark in marks]
        read_by_bioc.append(
            (text, frozenset((span.offset, span.end, kind) for span, kind in places))
        )
    return read_by_bioc


@pytest.mark.parametrize("name", PACKAGES)
def test_it_reads_what_fascicle_writes(name: str, tmp_path: Path) -> None:
    for seed, drafts in made(Taste(parts=(2, 2), empty=False), name=name):
        path = tmp_path / str(seed)
        write(path, [document(one, " ") for one in drafts], format=name)
        with path.open(encoding="utf-8") as stream:
            assert seen_by_bioc(PACKAGES[name].load(stream)) == [
                (text_of(one, " "), marks_of(one, " ")) for one in drafts
            ]


def test_both_read_the_same_of_a_file_in_xml(tmp_path: Path) -> None:
    for _, path in files(ORACLES["bioc"], tmp_path):
        with path.open(encoding="utf-8") as stream:
            assert all_seen(read(path)) == seen_by_bioc(biocxml.load(stream))


def test_it_needs_keys_that_bioc_does_not_require(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    passage = {"offset": 0, "text": "Lithium helps.", "annotations": []}
    path.write_text(
        json.dumps({"documents": [{"id": "1", "passages": [passage]}]}), encoding="utf-8"
    )
    with pytest.raises(KeyError), path.open(encoding="utf-8") as stream:
        biocjson.load(stream)
    assert all_seen(read(path)) == [("Lithium helps.", frozenset())]


def test_its_pubtator_takes_a_mention_without_an_id_for_a_relation(tmp_path: Path) -> None:
    """NCBI leaves the sixth cell empty or writes - there
    (https://www.ncbi.nlm.nih.gov/research/pubtator3/tutorial).
    """
    path = tmp_path / "a.pubtator"
    path.write_text("1|t|Lithium\n1|a|It helps.\n1\t0\t7\tLithium\tChemical\t\n", encoding="utf-8")
    with path.open(encoding="utf-8") as stream:
        (by_bioc,) = pubtator.load(stream)
    assert (len(by_bioc.annotations), len(by_bioc.relations)) == (0, 1)
    assert all_seen(read(path)) == [("Lithium It helps.", frozenset({(0, 7, "Chemical")}))]
