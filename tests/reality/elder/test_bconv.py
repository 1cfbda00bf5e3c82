"""The package bconv 1.2.1: BioC with offsets in bytes, which its documentation calls the
default.
"""

from __future__ import annotations

from pathlib import Path

import bconv
import pytest
from tests.formats.oracle.drafts import Draft, Taste
from tests.reality.crossing import document, made

from fascicle.core.document import Document
from fascicle.formats import read, write

TASTE = Taste(parts=(2, 2), empty=False)


def words(one: Document) -> set[tuple[str, str]]:
    """Text and type of each mention; bconv puts other blanks between passages, so offsets move."""
    return {(mention.text_in(one.text), mention.type) for mention in one.mentions}


def surfaces(draft: Draft) -> set[tuple[str, str]]:
    """The same of a draft."""
    return {(draft.surface(one), one.type) for one in draft.marks}


def by_bconv(drafts: list[Draft], place: Path) -> bconv.Collection:
    """The documents as bconv has them: read from BioC in code points."""
    write(place, [document(one, " ") for one in drafts], format="bioc")
    return bconv.load(str(place), fmt="bioc_xml", byte_offsets=False)


@pytest.mark.parametrize("name", ["bioc_xml", "bioc_json"])
def test_fascicle_reads_its_bioc(name: str, tmp_path: Path) -> None:
    """BioC does not say in which unit offsets count; the reader compares with the texts of the
    annotations.
    """
    for seed, drafts in made(TASTE, name=name):
        path = tmp_path / f"{seed}.{name.replace('_', '.')}"
        bconv.dump(by_bconv(drafts, tmp_path / f"in-{seed}.xml"), str(path), fmt=name)
        assert [(one.id, words(one)) for one in read(path)] == [
            (one.id, surfaces(one)) for one in drafts
        ], seed


def test_it_reads_what_fascicle_writes(tmp_path: Path) -> None:
    for seed, drafts in made(TASTE, name="bconv"):
        collection = by_bconv(drafts, tmp_path / f"in-{seed}.xml")
        marks = [
            {(mark.text, mark.metadata["type"]) for mark in one.iter_entities()}
            for one in collection
        ]
        assert marks == list(map(surfaces, drafts))


def test_its_offsets_are_bytes(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    bconv.dump(
        bconv.loads("Naïve cells.\n\nThey need IL-2.", fmt="txt", id="1"), str(path), fmt="bioc_xml"
    )
    # the second passage begins at character 14
    assert "<offset>15</offset>" in path.read_text(encoding="utf-8")
    (ours,) = read(path)
    assert ours.text.split() == ["Naïve", "cells.", "They", "need", "IL-2."]
