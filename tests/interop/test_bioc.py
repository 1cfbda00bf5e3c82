"""The package bioc reads our BioC, and we read what it writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bioc
import pytest
from bioc import biocjson, biocxml
from tests.support.interop import facts

from fascicle.core.document import Document
from fascicle.formats import read, write

PACKAGES = {"bioc": biocxml, "bioc-json": biocjson}


def told(collection: Any) -> list[tuple[str, set[tuple[int, int, str, str]]]]:
    """What the package finds: ids, and annotations with the text of the passage at their offsets."""
    found = []
    for one in collection.documents:
        here = set()
        for passage in one.passages:
            for annotation in passage.annotations:
                place = annotation.total_span
                start = place.offset - passage.offset
                assert passage.text[start : start + place.length] == annotation.text
                here.add((place.offset, place.end, annotation.text, annotation.infons["type"]))
        found.append((one.id, here))
    return found


@pytest.mark.parametrize("name", list(PACKAGES))
def test_it_reads_what_we_write(name: str, documents: list[Document], tmp_path: Path) -> None:
    write(tmp_path / "a", documents, format=name)
    with (tmp_path / "a").open(encoding="utf-8") as stream:
        collection = PACKAGES[name].load(stream)
    assert told(collection) == [(one.id, facts(one)) for one in documents]


@pytest.mark.parametrize("name", list(PACKAGES))
@pytest.mark.parametrize("first", [0, 17])
def test_we_read_what_it_writes(name: str, first: int, documents: list[Document], tmp_path: Path) -> None:
    collection = bioc.BioCCollection()
    for one in documents:
        made = bioc.BioCDocument()
        made.id = one.id
        passage = bioc.BioCPassage()
        passage.offset, passage.text = first, one.text
        for number, (start, end, text, kind) in enumerate(sorted(facts(one))):
            annotation = bioc.BioCAnnotation()
            annotation.id, annotation.text, annotation.infons["type"] = str(number), text, kind
            annotation.add_location(bioc.BioCLocation(first + start, end - start))
            passage.add_annotation(annotation)
        made.add_passage(passage)
        collection.add_document(made)
    with (tmp_path / "a").open("w", encoding="utf-8") as stream:
        PACKAGES[name].dump(collection, stream)
    found = [{(text, kind) for _, _, text, kind in facts(one)} for one in read(tmp_path / "a", format=name)]
    assert found == [{(text, kind) for _, _, text, kind in facts(one)} for one in documents]
