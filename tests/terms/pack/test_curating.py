"""Proposals for curation: the counts are those of plain loops, and a pack built with them is
without what did harm.
"""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.packs import REAL_PARTS, build_small

from fascicle.core.document import Document
from fascicle.core.mention import Link, Mention
from fascicle.terms.curation import CurationRule, format_rules, read_rules
from fascicle.terms.pack.pack import Pack
from fascicle.terms.pack.proposing import (
    Evidence,
    NameOfType,
    PlaceCounts,
    Proposal,
    ProposalSettings,
    proposals,
)
from fascicle.terms.terms import ConceptRecord, Name

DISEASE, GENE = "Disease", "Gene"
RECORDS = {
    "diseases": (
        ConceptRecord(curie="MESH:D007239", names=(Name("Infections", "label"), Name("sepsis"))),
        ConceptRecord(curie="MESH:D018805", names=(Name("Sepsis", "label"), Name("lymphoedema"))),
        ConceptRecord(
            curie="MESH:D003920", names=(Name("diabetes mellitus", "label"), Name("pancreas"))
        ),
    ),
    "genes": (
        ConceptRecord(
            curie="NCBIGene:1", type=GENE, names=(Name("SEPSIS", "label"), Name("Rhubarb"))
        ),
        ConceptRecord(curie="NCBIGene:2", type=GENE, names=(Name("FADS12", "label"),)),
    ),
}
WORDS = (
    "sepsis",
    "SEPSIS",
    "Rhubarb",
    "rhubarb",
    "pancreas",
    "FADS12",
    "fads12",
    "lymphoedema",
    "and",
)
SURFACES = {"Rhubarb": GENE, "pancreas": DISEASE, "FADS12": GENE, "lymphoedema": DISEASE}


@pytest.fixture(scope="module")
def pack(tmp_path_factory: pytest.TempPathFactory) -> Pack:
    return build_small(tmp_path_factory.mktemp("curated") / "pack", RECORDS, parts=REAL_PARTS)


def document(words: list[str], kinds: list[str]) -> Document:
    """Words with gold of a type, or none for the empty one."""
    text, mentions = "", []
    for word, kind in zip(words, kinds, strict=True):
        if kind:
            mentions.append(Mention(((len(text), len(text) + len(word)),), kind))
        text += f"{word}; "
    return Document(id="d", text=text, mentions=tuple(mentions))


def evidence(
    pack: Pack, gold: list[Document], raw: list[Document] | None = None
) -> dict[NameOfType, PlaceCounts]:
    found = Evidence(pack)
    found.read_gold(gold)
    found.read_raw(raw or [])
    return found.counts


@settings(deadline=None, max_examples=60)
@given(
    words=st.lists(
        st.tuples(st.sampled_from(WORDS), st.sampled_from(["", DISEASE, GENE])), max_size=12
    )
)
def test_counts_are_those_of_a_loop(pack: Pack, words: list[tuple[str, str]]) -> None:
    """Names of one surface and type, whose every spelling is told by its letters alone."""
    texts, kinds = [word for word, _ in words], [kind for _, kind in words]
    counts = evidence(pack, [document(texts, kinds)], [document(texts, kinds)])
    annotated = {kind for kind in kinds if kind}
    for surface, kind in SURFACES.items():
        here = [(word, gold) for word, gold in words if word.lower() == surface.lower()]
        got = counts.get(NameOfType(surface, kind), PlaceCounts())
        assert sum(got.raw) == len(here), surface
        assert got.lower == sum(word == word.lower() for word, _ in here)
        expected = Counter(gold == kind for _, gold in here) if kind in annotated else Counter()
        assert (sum(got.right), sum(got.wrong)) == (expected[True], expected[False]), surface
        assert got.near == 0


def test_forms_overlaps_and_corpora_without_a_type(pack: Pack) -> None:
    found = Evidence(pack)
    other = [document(["Rhubarb", "pancreas"], ["", DISEASE])]  # nobody marked genes here
    assert found.read_gold(other) == {DISEASE}
    assert NameOfType("Rhubarb", GENE) not in found.counts
    text = "FADS12 pancreas, fads12"
    longer = Document(
        id="d", text=text, mentions=(Mention(((0, 6),), "gene"), Mention(((0, 15),), DISEASE))
    )
    assert found.read_gold([longer]) == {DISEASE, GENE}  # GENE under another of its names
    genes = found.counts[NameOfType("FADS12", GENE)]
    assert (genes.right, genes.wrong, genes.near) == ([0, 0, 1], [1, 0, 0], 0)
    pancreas = found.counts[NameOfType("pancreas", DISEASE)]
    assert (sum(pancreas.right), sum(pancreas.wrong), pancreas.near) == (1, 0, 1)


def proposed(
    pack: Pack, gold: list[Document], raw: list[Document] | None = None
) -> dict[str, Proposal]:
    return {one.name.surface: one for one in proposals(pack, evidence(pack, gold, raw))}


def told(proposal: Proposal) -> list[tuple[str, str, str, str]]:
    return [(rule.action, rule.source, rule.concept, rule.case) for rule in proposal.rules]


def test_what_is_proposed(pack: Pack) -> None:
    never = document(["pancreas"] * 4 + ["lymphoedema"], [""] * 4 + [DISEASE])
    assert told(proposed(pack, [never])["pancreas"]) == [("drop", "", "", "")]
    # no common word: others may link it
    unknown = document(["FADS12"] * 3 + ["Rhubarb"], [""] * 3 + [GENE])
    assert told(proposed(pack, [unknown])["FADS12"]) == [("ner_off", "", "", "")]
    seldom = document(["pancreas"] * 5, ["", "", "", "", DISEASE])
    assert told(proposed(pack, [seldom])["pancreas"]) == [("ner_off", "", "", "")]
    often = document(["pancreas"] * 5, ["", "", "", DISEASE, DISEASE])
    assert proposed(pack, [often]) == {}
    few = document(["pancreas"] * 2 + ["lymphoedema"], ["", "", DISEASE])
    assert proposed(pack, [few]) == {}
    cased = document(["FADS12"] * 3 + ["fads12"] * 4, [GENE] * 3 + [""] * 4)
    assert told(proposed(pack, [cased])["FADS12"]) == [("case", "", "", "initial")]


@pytest.mark.parametrize("apart", [True, False])
def test_a_rule_is_about_its_type_alone(tmp_path: Path, *, apart: bool) -> None:
    disease = ConceptRecord(curie="MESH:D018805", type=DISEASE, names=(Name("otolith"),))
    genes = tuple(
        ConceptRecord(curie=f"NCBIGene:{at}", type=GENE, names=(Name("otolith"),))
        for at in (1, 2, 3)
    )
    records = {"diseases": (disease,), "genes": genes} if apart else {"all": (disease, *genes)}
    small = build_small(tmp_path / "pack", records, parts=REAL_PARTS)
    wrong = document(["otolith"] * 4 + ["none", "none"], [*[""] * 4, GENE, DISEASE])
    found = proposed(small, [wrong])["otolith"]  # the more probable type is found
    assert found.name.type == GENE
    expected = ["genes"] if apart else ["NCBIGene:1", "NCBIGene:2", "NCBIGene:3"]
    assert [rule.source or rule.concept for rule in found.rules] == expected


def test_the_concept_that_gold_means_is_preferred(pack: Pack) -> None:
    text = "sepsis. sepsis. sepsis. sepsis."
    spans = [found.span() for found in re.finditer("sepsis", text)]
    links = [Link(id="D007239", ontology="MESH")] * 4
    mentions = tuple(
        Mention((span,), DISEASE, links=(link,)) for span, link in zip(spans, links, strict=True)
    )
    records = {
        "diseases": tuple(
            ConceptRecord(curie=f"MESH:D00723{at}", names=(Name("sepsis"),)) for at in (8, 9)
        ),
    }
    with tempfile.TemporaryDirectory() as place:
        small = build_small(Path(place) / "pack", records, parts=REAL_PARTS)
        (one,) = proposals(small, evidence(small, [Document(id="d", text=text, mentions=mentions)]))
    assert told(one) == [("prefer", "", "MESH:D007239", "")]
    assert one.harm == 4


def test_common_words_in_raw_text(pack: Pack, tmp_path: Path) -> None:
    records = {
        "d": (
            ConceptRecord(
                curie="MESH:D007830", type=DISEASE, names=(Name("larynx"), Name("rhinosporidiosis"))
            ),
        )
    }
    small = build_small(tmp_path / "pack", records, parts=REAL_PARTS)
    raw = [document(["larynx", "rhinosporidiosis"] * 30, [""] * 60)]
    (one,) = proposals(small, evidence(small, [], raw), ProposalSettings(common=30))
    assert (one.name.surface, told(one)) == ("larynx", [("ner_off", "", "", "")])
    assert "30" in one.rules[0].note
    assert proposals(small, evidence(small, [], raw), ProposalSettings(common=31)) == []


def test_proposals_are_rules_that_can_be_read(pack: Pack, tmp_path: Path) -> None:
    gold = document(
        ["pancreas"] * 6 + ["FADS12"] * 3 + ["fads12"] * 4, [""] * 6 + [GENE] * 3 + [""] * 4
    )
    with_disease = document(["lymphoedema"], [DISEASE])
    found = proposals(pack, evidence(pack, [gold, with_disease]))
    assert [one.name.surface for one in found] == ["pancreas", "FADS12"]
    assert [one.harm for one in found] == [6, 4]
    rules = [rule for one in found for rule in one.rules]
    (tmp_path / "rules.tsv").write_text(format_rules(rules), encoding="utf-8")
    read = read_rules([str(tmp_path / "rules.tsv")])
    assert [(r.action, r.surface, r.case, r.note) for r in read] == [
        (r.action, r.surface, r.case, r.note) for r in rules
    ]
    assert all(isinstance(rule, CurationRule) for rule in read)
