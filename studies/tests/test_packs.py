"""What packs are measured beside: literal matching against brute force, and how links are
counted.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from xml.etree.ElementTree import fromstring

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.packs import REAL_PARTS, build_small

from fascicle.core.mention import Link, Mention
from fascicle.terms.pack.pack import Pack
from fascicle.terms.terms import ConceptRecord, CrossReference, Name
from studies.packs.gold import _annotations
from studies.packs.literal import Literal, lowered
from studies.packs.names import of_type, surfaces
from studies.packs.recognition import References, links

ALPHABET = "abAB1- İ."
SIGNS = st.text(alphabet=ALPHABET, max_size=24)
NAMES = st.lists(st.text(alphabet=ALPHABET, min_size=1, max_size=6), max_size=6)


def brute(names: list[str], text: str) -> set[tuple[int, int]]:
    """Every piece of a text that is a name and does not begin or end within a run of letters and
    digits.
    """
    low, known = lowered(text), {lowered(name) for name in names}
    cuts = [
        at
        for at in range(len(low) + 1)
        if not (0 < at < len(low) and low[at - 1].isalnum() and low[at].isalnum())
    ]
    return {(a, b) for a in cuts for b in cuts if a < b and low[a:b] in known}


@given(NAMES, SIGNS)
def test_literal_matching_finds_what_brute_force_finds(names: list[str], text: str) -> None:
    matcher = Literal(names)
    assert set(matcher.all(text)) == brute(names, text)
    kept = matcher.find(text)
    assert all(one[1] <= other[0] for one, other in pairwise(kept))
    assert all(
        any(a < end and start < b and b - a >= end - start for a, b in kept)
        for start, end in brute(names, text)
    )


@given(SIGNS)
def test_lower_case_moves_no_offset(text: str) -> None:
    assert len(lowered(text)) == len(text)


def small(folder: Path) -> Pack:
    records = (
        ConceptRecord(
            curie="X:1",
            type="Disease",
            names=(Name("lung cancer", "label"),),
            references=(CrossReference("Y:1"),),
        ),
        ConceptRecord(
            curie="X:2",
            type="Gene",
            names=(Name("TP53", "label"), Name("old name")),
            obsolete=False,
        ),
        ConceptRecord(curie="X:3", type="Gene", names=(Name("BRCA1", "label"),), obsolete=True),
    )
    return build_small(folder, {"all": records}, parts=REAL_PARTS)


def test_a_pack_of_one_type_has_the_names_of_its_concepts(tmp_path: Path) -> None:
    small(tmp_path / "biomed")
    assert sorted(surfaces(of_type(tmp_path, "Gene"))) == ["TP53", "old name"]
    assert surfaces(of_type(tmp_path, "Disease")) == ["lung cancer"]


def test_links_are_right_or_equivalent(tmp_path: Path) -> None:
    def mention(start: int, *curies: str) -> Mention:
        return Mention(
            ((start, start + 1),), "Disease", links=tuple(Link(id="1", curie=one) for one in curies)
        )

    gold = {
        "a": [
            mention(0, "Y:1"),
            mention(2, "X:1"),
            mention(4, "Y:9"),
            mention(6),
            mention(8, "Y:1"),
        ]
    }
    found = {
        "a": [
            mention(0, "X:1"),
            mention(2, "X:1"),
            mention(4, "X:1"),
            mention(6, "X:1"),
            mention(8),
        ]
    }
    told = links(gold, found, References(small(tmp_path / "pack")))
    assert told == {"mentions": 4, "linked": 3, "same vocabulary": 1, "right": 1, "equivalent": 2}


FIRST = """<annotations><annotation><mention id="m1"/><span start="5" end="8"/><span start="1" end="3"/></annotation>
<classMention id="m1"><mentionClass id="CL:0000000">cell</mentionClass></classMention></annotations>"""
SECOND = """<knowtator-project><document><annotation><class id="http://purl.obolibrary.org/obo/MONDO_0000001"/>
<span end="4" start="2"/></annotation></document></knowtator-project>"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [(FIRST, (((1, 3), (5, 8)), "CL:0000000")), (SECOND, (((2, 4),), "MONDO:0000001"))],
)
def test_both_forms_of_knowtator_are_read(text: str, expected: tuple[object, str]) -> None:
    assert list(_annotations(fromstring(text))) == [expected]
