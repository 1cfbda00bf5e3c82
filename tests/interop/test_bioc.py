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
    """What the package finds: ids, and annotations with the text of the passage at their
    offsets.
    """
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
def test_we_read_what_it_writes(
    name: str, first: int, documents: list[Document], tmp_path: Path
) -> None:
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
    found = [
        {(text, kind) for _, _, text, kind in facts(one)}
        for one in read(tmp_path / "a", format=name)
    ]
    assert found == [{(text, kind) for _, _, text, kind in facts(one)} for one in documents]


def related(collection: Any) -> list[tuple[dict[str, str], list[tuple[str, str]]]]:
    """The relations that the package finds: facts, and roles with the texts of the annotations."""
    (document,) = collection.documents
    words = {one.id: one.text for passage in document.passages for one in passage.annotations}
    return [
        (dict(one.infons), [(node.role, words[node.refid]) for node in one.nodes])
        for holder in (document, *document.passages)
        for one in holder.relations
    ]


@pytest.mark.parametrize("name", list(PACKAGES))
def test_relations_of_its_files_come_back_in_ours(name: str, tmp_path: Path) -> None:
    collection, document, passage = bioc.BioCCollection(), bioc.BioCDocument(), bioc.BioCPassage()
    document.id, passage.offset, passage.text = "7", 0, "Lithium and tremor"
    for number, (start, text, kind) in enumerate(
        ((0, "Lithium", "Chemical"), (12, "tremor", "Disease"))
    ):
        annotation = bioc.BioCAnnotation()
        annotation.id, annotation.text, annotation.infons["type"] = f"A{number}", text, kind
        annotation.add_location(bioc.BioCLocation(start, len(text)))
        passage.add_annotation(annotation)
    for holder, facts_of, nodes in (
        (document, {"type": "CID", "score": "0.5"}, [("A1", "the <effect>"), ("A0", 'cause "&"')]),
        (passage, {"relation": "CID", "Chemical": "D008094", "Disease": "D014202"}, []),
    ):
        relation = bioc.BioCRelation()
        relation.id, relation.infons = "R", facts_of
        for refid, role in nodes:
            relation.add_node(bioc.BioCNode(refid, role))
        holder.add_relation(relation)
    document.add_passage(passage)
    collection.add_document(document)
    with (tmp_path / "a").open("w", encoding="utf-8") as stream:
        PACKAGES[name].dump(collection, stream)
    for other in PACKAGES:
        assert write(tmp_path / other, read(tmp_path / "a", format=name), format=other).losses == {}
        with (tmp_path / other).open(encoding="utf-8") as stream:
            assert related(PACKAGES[other].load(stream)) == related(collection)
