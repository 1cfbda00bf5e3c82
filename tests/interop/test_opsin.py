"""OPSIN as a step that is a program: the example of the documentation."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from fascicle.core.document import Document, Link, Mention
from fascicle.pipeline.pipeline import Pipeline
from fascicle.pipeline.process import ProgramStep

pytest.importorskip("py2opsin")
EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "pipeline" / "opsin.py"
TEXT = "Café: 2-acetyloxybenzoic acid, aspirin, ethanol and methanol."
KEY = "BSYNRYMUTXBXSQ-UHFFFAOYSA-N"  # of aspirin, as ChEBI and PubChem have it


def mention(words: str, kind: str = "Chemical", links: tuple[Link, ...] = ()) -> Mention:
    start = TEXT.index(words)
    return Mention(((start, start + len(words)),), kind, source="names", links=links)


@pytest.mark.skipif(shutil.which("java") is None, reason="there is no JVM here")
def test_systematic_names_get_the_key_of_their_structure() -> None:
    known = Link(id="17790", ontology="CHEBI", curie="CHEBI:17790")
    given = (
        mention("2-acetyloxybenzoic acid"),
        mention("aspirin"),
        mention("ethanol", "Disease"),
        mention("methanol", links=(known,)),
    )
    document = Document(id="a", text=TEXT, mentions=given)
    step = ProgramStep("", [sys.executable, str(EXAMPLE)], seconds=120)
    with Pipeline([step], given=("mentions",)) as pipeline:
        (after,) = pipeline.stream([document])
    assert {one.text: [link.curie for link in one.links] for one in after} == {
        "2-acetyloxybenzoic acid": [f"inchikey:{KEY}"],
        "aspirin": [],
        "ethanol": [],
        "methanol": ["CHEBI:17790"],
    }
