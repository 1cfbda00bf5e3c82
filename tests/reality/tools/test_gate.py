"""The package gatenlp 1.0.8: what it saves, and what it reads of the XML of GATE."""

from __future__ import annotations

from pathlib import Path

import gatenlp
import pytest
from tests.formats.oracle.drafts import Taste
from tests.formats.oracle.gate import ORACLES
from tests.reality.crossing import all_seen, files, made, marks_of, text_of

from fascicle.formats import read

TASTE = Taste(empty=False, flat=True)


@pytest.mark.parametrize("unit", ["p", "j"])
def test_fascicle_reads_what_gatenlp_writes(unit: str, tmp_path: Path) -> None:
    """The unit is in `offset_type`: code points of Python, or UTF-16 of Java.

    Of a text that ends with a character of two units, gatenlp saves an end there as if it were of
    one."""
    for seed, drafts in made(TASTE, name=f"gate {unit}"):
        path = tmp_path / f"{seed}.bdocjs"
        text, marks = text_of(drafts[0], ""), marks_of(drafts[0], "")
        if text[-1] > "\uffff":
            marks = frozenset(one for one in marks if one[1] < len(text))
        doc = gatenlp.Document(text)
        for start, end, kind in marks:
            doc.annset("Key").add(start, end, kind)
        path.write_text(doc.save_mem(fmt="bdocjs", offset_type=unit), encoding="utf-8")
        assert all_seen(read(path)) == [(text, marks)], seed


def test_gatenlp_and_fascicle_read_the_same_of_xml(tmp_path: Path) -> None:
    (oracle,) = ORACLES
    for _, path in files(oracle, tmp_path):
        theirs = gatenlp.Document.load(str(path), fmt="gatexml")
        marks = frozenset(
            (one.start, one.end, one.type)
            for name in theirs.annset_names()
            for one in theirs.annset(name)
        )
        assert all_seen(read(path)) == [(theirs.text, marks)], path


def test_a_feature_that_is_false_is_true_for_gatenlp(tmp_path: Path) -> None:
    """GATE writes what `java.lang.Boolean` shows: `true` or `false`."""
    path = tmp_path / "a.xml"
    path.write_text(
        '<GateDocument version="3"><TextWithNodes><Node id="0"/>gout<Node id="4"/></TextWithNodes>'
        '<AnnotationSet><Annotation Id="0" Type="Disease" StartNode="0" EndNode="4"><Feature>'
        '<Name className="java.lang.String">negated</Name>'
        '<Value className="java.lang.Boolean">false</Value>'
        "</Feature></Annotation></AnnotationSet></GateDocument>",
        encoding="utf-8",
    )
    theirs = gatenlp.Document.load(str(path), fmt="gatexml")
    assert [one.features["negated"] for one in theirs.annset()] == [True]
    (document,) = read(path)
    assert document.mentions[0].attributes == (("negated", "false"),)
