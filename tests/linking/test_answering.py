"""Answers for concepts that are one thing in several vocabularies."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.linking import corpus, document
from tests.support.packs import REAL_PARTS, build_small

from fascicle.core.mention import Link
from fascicle.errors import UsageError
from fascicle.linking.fitting import FitSettings, fit_linker
from fascicle.linking.linker import Linker
from fascicle.terms.keys.key import key
from fascicle.terms.pack.pack import Pack
from fascicle.terms.terms import ConceptRecord, CrossReference, Name

SAME = "skos:exactMatch"


def concept(
    curie: str, *names: str, same: str = "", parents: tuple[str, ...] = ()
) -> ConceptRecord:
    surfaces = tuple(Name(one, "exact" if at else "label") for at, one in enumerate(names))
    crosses = tuple(CrossReference(one, SAME) for one in same.split())
    return ConceptRecord(
        curie=curie, type="Disease", names=surfaces, references=crosses, parents=parents
    )


@pytest.fixture(scope="module")
def pack(tmp_path_factory: pytest.TempPathFactory) -> Pack:
    """Asthma in three vocabularies, one of them without names; pellagra in one; a name that two
    things have.
    """
    records = {
        "mesh": [
            concept("MESH:1", "Asthma", "AX"),
            concept("MESH:2", same="DOID:2"),
            concept("MESH:3", "rash", "AX"),
        ],
        "doid": [
            concept("DOID:1", "bronchial asthma", "asthma", same="MESH:1 OMIM:1"),
            concept("DOID:2", "pellagra", same="MESH:2"),
            concept("DOID:4", "burn"),
            concept("DOID:5", "airway disease"),
            concept("DOID:6", "eruption", "rash"),
            concept("DOID:7", "Asthma attack", "skin rash"),
        ],
        "omim": [concept("OMIM:1", same="DOID:1")],
    }
    return build_small(tmp_path_factory.mktemp("pack") / "pack", records, parts=REAL_PARTS)


def answer(linker: Linker, words: str) -> Link:
    (patch,) = linker.predict([document(f"With {words} here.", (words, "Disease", ""))])
    ((_, (link,)),) = patch.links
    (decision,) = linker.explained([document(f"With {words} here.", (words, "Disease", ""))])[0]
    if not link.nil:
        assert decision.link == link
    return link


@pytest.mark.parametrize("words", ["asthma", "bronchial asthma"])
def test_the_set_is_answered_by_the_vocabulary_that_is_preferred(pack: Pack, words: str) -> None:
    link = answer(Linker(pack), words)
    assert (link.curie, link.id, link.ontology, link.name) == ("MESH:1", "1", "MESH", "Asthma")
    assert link.same == ("DOID:1", "OMIM:1")
    for linker in (Linker(pack, order=("NONE", "DOID", "MESH")), Linker(pack, ontology="DOID")):
        link = answer(linker, words)
        assert (link.curie, link.name, link.same) == (
            "DOID:1",
            "bronchial asthma",
            ("MESH:1", "OMIM:1"),
        )
    (decision,) = Linker(pack).explained([document(f"{words} it is", (words, "Disease", ""))])[0]
    assert len(decision.candidates) == 1


def test_an_identifier_without_a_name_has_that_of_the_concept(pack: Pack) -> None:
    link = answer(Linker(pack), "pellagra")
    assert (link.curie, link.name, link.same) == ("MESH:2", "pellagra", ("DOID:2",))
    link = answer(Linker(pack, ontology="OMIM"), "asthma")
    assert (link.curie, link.name, link.same) == ("OMIM:1", "Asthma", ("MESH:1", "DOID:1"))


def test_what_the_only_vocabulary_lacks_is_nil_and_what_the_order_lacks_is_not(pack: Pack) -> None:
    link = answer(Linker(pack, ontology="MESH"), "burn")
    assert (link.nil, link.ontology, link.same) == (True, "MESH", ())
    assert answer(Linker(pack, order=("MESH",)), "burn").curie == "DOID:4"
    with pytest.raises(UsageError, match="MASH"):
        Linker(pack, ontology="MASH")


def test_a_name_of_two_members_is_as_probable_as_that_of_one(pack: Pack) -> None:
    """The members of a set share a name, so that the set has all of it; two things that have one
    do not.
    """
    for words, members in (("asthma", 2), ("AX", 1)):
        terms = [pack.term(pack.active, row) for row in pack.rows([key(words, 2)])[1].tolist()]
        (decision,) = Linker(pack).explained([document(words, (words, "Disease", ""))])[0]
        priors = [np.exp(one.features["prior"]) for one in decision.candidates]
        assert len(terms) == 2
        assert len(priors) == 3 - members
        assert sum(priors) == pytest.approx(sum(term.prior for term in terms))


def test_gold_of_any_member_teaches_the_set(tmp_path: Path) -> None:
    records = {
        "mesh": [
            concept("MESH:D3", "ataxia", "AT"),
            concept("MESH:D4", "angiotensin disease", "AT"),
        ],
        "doid": [concept("DOID:3", "ataxia telangiectasia", "AT", same="MESH:D3")],
    }
    pack = build_small(tmp_path / "pack", records, parts=REAL_PARTS)
    texts = [
        document(
            "Patients with AT, number one.",
            ("AT", "Disease", "DOID:3" if number % 2 else "MESH:D3"),
            identifier=str(number),
        )
        for number, _ in enumerate(corpus(40))
    ]
    fitted = fit_linker(pack, None, texts, settings=FitSettings())
    linker = Linker(pack, memory=fitted.memory, rankers=fitted.rankers)
    link = answer(linker, "AT")
    assert link.curie == "MESH:D3"
    assert link.score is not None
    assert link.score > 0.9


@settings(deadline=None, max_examples=40)
@given(st.lists(st.sampled_from(["MESH", "DOID", "OMIM", "UMLS"]), max_size=4, unique=True))
def test_an_order_changes_the_identifier_and_not_the_set(pack: Pack, order: list[str]) -> None:
    for words in ("asthma", "pellagra", "burn", "airway disease"):
        first, other = answer(Linker(pack), words), answer(Linker(pack, order=order), words)
        assert {first.curie, *first.same} == {other.curie, *other.same}
        there = {one.partition(":")[0] for one in (first.curie, *first.same)}
        wanted = next((one for one in order if one in there), first.ontology)
        assert other.ontology == wanted


@pytest.mark.parametrize(
    ("order", "words", "curies"),
    [
        ((), "rash", {"MESH:3", "DOID:6"}),
        (("MESH",), "rash", {"MESH:3"}),
        (("DOID", "MESH"), "rash", {"MESH:3", "DOID:6"}),  # it is the label of the first
        (("NONE",), "rash", {"MESH:3", "DOID:6"}),
        (("MESH",), "skin rash", {"DOID:7"}),
        (("MESH",), "AX", {"MESH:1", "MESH:3"}),
        (("DOID",), "AX", {"DOID:1"}),
        (("MESH", "DOID"), "AX", {"MESH:1", "MESH:3"}),
        (("DOID", "MESH"), "AX", {"DOID:1"}),
    ],
)
def test_concepts_of_later_vocabularies_stand_only_where_an_earlier_one_has_none(
    pack: Pack, order: tuple[str, ...], words: str, curies: set[str]
) -> None:
    (told,) = Linker(pack, order=order).explained(
        [document(f"With {words} here.", (words, "Disease", ""))]
    )[0]
    assert {one.curie for one in told.candidates} == curies


def test_a_symbol_is_told_from_an_alias_and_a_label_in_the_plural_from_a_synonym(
    tmp_path: Path,
) -> None:
    def record(curie: str, kind: str, label: str, *names: str) -> ConceptRecord:
        taxon = "NCBITaxon:9606" if kind == "Gene" else ""
        return ConceptRecord(
            curie=curie,
            type=kind,
            taxon=taxon,
            names=(Name(label, "label"), *(Name(one, "exact") for one in names)),
        )

    records = [
        record("NCBIGene:1", "Gene", "MET", "HGFR"),
        record("NCBIGene:2", "Gene", "RNMT", "MET"),
        record("NCBIGene:3", "Gene", "PTGS2", "COX-2"),
        record("MESH:1", "Chemical", "Triglycerides", "triglyceride"),
        record("MESH:2", "Chemical", "trilinolein", "triglyceride"),
    ]
    linker = Linker(build_small(tmp_path / "pack", {"all": records}, parts=REAL_PARTS))

    def features(words: str, kind: str) -> dict[str, set[str]]:
        (decisions,) = linker.explained([document(f"With {words} here.", (words, kind, ""))])
        return {
            one.curie: {"label", "label of another"} & set(one.features)
            for one in decisions[0].candidates
        }

    assert features("MET", "Gene") == {"NCBIGene:1": {"label"}, "NCBIGene:2": {"label of another"}}
    assert features("COX-2", "Gene") == {"NCBIGene:3": set()}
    assert features("triglyceride", "Chemical") == {"MESH:1": {"label"}, "MESH:2": set()}
