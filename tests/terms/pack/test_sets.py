"""Concepts that are one thing in several vocabularies: what makes them so, and what does not."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.packs import PARTS, REAL_PARTS, Sources, build_small, without_sets

from fascicle.core.document import Document
from fascicle.loading import load
from fascicle.terms.pack.builder import BuildSettings, PackSource, build
from fascicle.terms.pack.layout import SourceFacts
from fascicle.terms.pack.pack import Pack
from fascicle.terms.pack.sets import EVIDENCE, make_sets
from fascicle.terms.pack.verifying import verify
from fascicle.terms.terms import ConceptRecord, CrossReference, Name

EXACT = "skos:exactMatch"


def record(
    curie: str, *names: str, same: str = "", refers: tuple[str, ...] = (), **more: object
) -> ConceptRecord:
    """A concept whose first name is its label."""
    crosses = (*(CrossReference(one, EXACT) for one in same.split()), *map(CrossReference, refers))
    surfaces = tuple(Name(one, "exact" if at else "label") for at, one in enumerate(names))
    return ConceptRecord(
        **{"curie": curie, "type": "Disease", "names": surfaces, "references": crosses} | more
    )  # type: ignore[arg-type]


def sets_of(pack: Pack) -> set[tuple[str, ...]]:
    """The sets of several concepts, the leading one first."""
    rows = {int(row) for row in pack.leads.of(np.arange(len(pack)))}
    return {
        tuple(map(pack.curie, members))
        for row in rows
        if len(members := pack.leads.members(row)) > 1
    }


def built(place: Path, *records: ConceptRecord) -> Pack:
    return build_small(
        place / "pack", {"one": [one for one in records if one.curie < "N"], "two": records}
    )


def test_each_evidence_makes_a_set(tmp_path: Path) -> None:
    pack = built(
        tmp_path,
        record("MESH:1", "Asthma"),
        record("MONDO:1", "bronchial asthma", same="MESH:1"),
        record("DOID:2", "Pellagra"),
        record("MESH:2", "pellagra"),
        record("DOID:3", "spring fever", refers=("MESH:3", "UMLS:1")),
        record("MESH:3", "Hay fever"),
        # two: which of them is not said
        record("DOID:4", "brittle nails", refers=("MESH:4", "MESH:5")),
        record("MESH:4", "Nails, Malformed"),
        record("MESH:5", "Nail Diseases"),
        record("DOID:6", "early ache", refers=("MESH:6",)),  # two refer to one: it is above them
        record("DOID:7", "late ache", refers=("MESH:6",)),
        record("MESH:6", "Pain"),
    )
    assert sets_of(pack) == {("DOID:2", "MESH:2"), ("DOID:3", "MESH:3"), ("MESH:1", "MONDO:1")}
    counts = pack.manifest.counts
    assert [counts[f"edges by {what}"] for what in EVIDENCE] == [1, 1, 1]
    assert counts["conflicts between edges"] == 2
    assert counts["sets of concepts of several vocabularies"] == 3
    assert verify(pack) > 0


def test_what_differs_in_kind_species_or_is_gone_stays_apart(tmp_path: Path) -> None:
    human, mouse = "NCBITaxon:9606", "NCBITaxon:10090"
    pack = built(
        tmp_path,
        record("DOID:1", "flu", same="MESH:1"),
        record("MESH:1", "influenza", type="Chemical"),
        record("HGNC:1", "TP53", type="Gene", taxon=human, same="NCBIGene:2"),
        record("NCBIGene:1", "tp53", type="Gene", taxon=human),
        record("NCBIGene:2", "Trp53", type="Gene", taxon=mouse),
        record("DOID:4", "old ache", same="MESH:4", obsolete=True, replaced_by=("MESH:4",)),
        record("MESH:4", "ache"),
    )
    assert sets_of(pack) == {("HGNC:1", "NCBIGene:1")}


def test_two_concepts_of_a_vocabulary_are_never_one(tmp_path: Path) -> None:
    pack = built(
        tmp_path,
        record("MESH:1", "breast cancer", same="MONDO:1"),
        record("MESH:2", "breast tumour", same="MONDO:1"),
        record("MONDO:1", "breast tumour"),
    )
    assert sets_of(pack) == {("MESH:2", "MONDO:1")}  # the one with the label
    found = make_sets(pack)
    assert [(edge.taken, pack.curie(edge.concept)) for edge in found.edges] == [
        (True, "MESH:2"),
        (False, "MESH:1"),
    ]


def test_identifiers_without_a_name_are_kept_where_they_belong_to_one(tmp_path: Path) -> None:
    pack = built(
        tmp_path,
        record("DOID:1", "aniridia", same="MONDO:1"),
        record("MONDO:1", same="DOID:1 OMIM:1"),
        record("OMIM:1", same="MONDO:1"),
        record("MONDO:2", same="OMIM:2"),
        record("OMIM:2", same="MONDO:2"),
        record("MESH:7", same="MONDO:1", type=""),
    )
    assert sets_of(pack) == {("DOID:1", "MONDO:1", "OMIM:1")}
    assert len(pack) == 3
    assert pack.concept("OMIM:1").label == "OMIM:1"
    losses = pack.manifest.counts
    assert losses["concept without a name"] == 2
    assert losses["concept that sources only add to"] == 1


def test_the_vocabulary_that_comes_first_leads(tmp_path: Path) -> None:
    one, other = record("Z:1", "ache"), record("A:1", "ache")
    late = record("Z:2", "burn", same="A:2")
    for first, second, leading in ((one, other, "Z"), (other, one, "A")):
        sources: Sources = {
            "one": [first],
            "two": [second, record("A:2", "heat burn")],
            "three": [late],
        }
        pack = build_small(tmp_path / leading, sources)
        other_one = {"Z": "A", "A": "Z"}[leading]
        assert sets_of(pack) == {
            (f"{leading}:1", f"{other_one}:1"),
            (f"{leading}:2", f"{other_one}:2"),
        }


def test_a_pack_without_the_column_has_no_sets(tmp_path: Path) -> None:
    pack = built(tmp_path, record("DOID:2", "Pellagra"), record("MESH:2", "pellagra"))
    assert len(pack.leads) == 1
    old = Pack.open(without_sets(pack.folder, tmp_path / "old"), normaliser=PARTS.normaliser)
    assert not len(old.leads)
    assert old.leads.of(np.array([1, 0])).tolist() == [1, 0]
    assert old.leads.members(1) == [1]
    assert verify(old) > 0


CURIES = st.sampled_from([f"{prefix}:{number}" for prefix in "ABC" for number in range(4)])
RECORDS = st.lists(
    st.builds(
        ConceptRecord,
        curie=CURIES,
        type=st.sampled_from(["Gene", "Disease", "Disease"]),
        names=st.lists(
            st.builds(Name, st.sampled_from("abcdefg"), st.just("label")), max_size=1
        ).map(tuple),
        taxon=st.sampled_from(["", "", "NCBITaxon:9606", "NCBITaxon:10090"]),
        references=st.lists(
            st.builds(
                CrossReference,
                CURIES,
                st.sampled_from([EXACT, "owl:equivalentClass", "oboInOwl:hasDbXref"]),
            ),
            max_size=3,
        ).map(tuple),
    ),
    min_size=1,
    max_size=20,
)


@settings(deadline=None, max_examples=60)
@given(RECORDS, st.integers(1, 8))
def test_sets_keep_what_they_promise(records: list[ConceptRecord], memory: int) -> None:
    records = [*records, ConceptRecord(curie="A:9", type="Gene", names=(Name("named", "label"),))]
    with tempfile.TemporaryDirectory() as place:
        sources = [PackSource(SourceFacts(name="one", type="Gene"), lambda: iter(records))]
        build(
            sources, BuildSettings(name="small", memory=memory), Path(place) / "pack", parts=PARTS
        )
        pack = Pack.open(Path(place) / "pack", normaliser=PARTS.normaliser)
        found = make_sets(pack)
        leads = pack.leads.of(np.arange(len(pack))).tolist()
        assert leads == found.leads.tolist()
        members = defaultdict[int, list[int]](list)
        for row, lead in enumerate(leads):
            members[lead].append(row)
        joined = {row: {row} for row in range(len(pack))}
        for edge in found.edges:
            assert edge.taken == (leads[edge.concept] == leads[edge.other])
            if edge.taken:
                both = joined[edge.concept] | joined[edge.other]
                joined.update(dict.fromkeys(both, both))
        for lead, own in members.items():
            assert lead in own
            # nothing but edges that were taken holds a set together
            assert joined[lead] == set(own)
            assert len({pack.curie(row)[0] for row in own}) == len(own)
            assert len({int(pack.type_rows[row]) for row in own}) == 1
            assert sorted(pack.leads.members(lead)) == own
        for curie in (pack.curie(row) for row in range(len(pack))):
            concept = pack.concept(curie)
            # Both predicates state that two concepts are one.
            same = (EXACT, "owl:equivalentClass")
            others = [one.curie for one in concept.references if one.predicate in same]
            assert (
                pack.names(curie) or others or any(curie in str(one.references) for one in records)
            )


def test_a_pack_as_a_recogniser_links_to_the_set(tmp_path: Path) -> None:
    records = [
        record("DOID:2", "pellagra", "rough skin", same="MESH:2"),
        record("MESH:2", "Pellagra"),
        record("MESH:3", "rough skin"),
    ]
    build_small(tmp_path / "pack", {"mesh": records[1:], "doid": records[:1]}, parts=REAL_PARTS)
    text = Document(id="1", text="Severe pellagra with rough skin.")
    (patch,) = load(tmp_path / "pack").predict([text])
    first, second = patch.add
    assert [(one.curie, one.name, one.same) for one in first.links] == [
        ("MESH:2", "Pellagra", ("DOID:2",))
    ]
    assert not second.links  # two things have the name


DIFFERENT = "owl:differentFrom"


def test_concepts_that_are_stated_to_be_different_are_in_no_set(tmp_path: Path) -> None:
    def different(curie: str, name: str, other: str, *, same: str = "") -> ConceptRecord:
        crosses = (
            CrossReference(other, DIFFERENT),
            *(CrossReference(one, EXACT) for one in same.split()),
        )
        return record(curie, name, references=crosses)

    pack = built(
        tmp_path,
        different("DOID:1", "uveal cancer", "MESH:1"),
        record("MESH:1", "Uveal Cancer"),  # an equal label
        different("DOID:2", "ague", "MESH:2", same="MESH:2"),  # an exact match
        record("MESH:2", "Fever"),
        different("DOID:3", "chill", "MESH:3"),  # through others
        record("MONDO:3", "shiver", same="DOID:3 MESH:3"),
        record("MESH:3", "Tremor"),
    )
    assert {one for one in sets_of(pack) if "MONDO:3" in one} <= {
        ("DOID:3", "MONDO:3"),
        ("MESH:3", "MONDO:3"),
    }
    assert not any(
        {"DOID:1", "MESH:1"} <= {*one} or {"DOID:2", "MESH:2"} <= {*one} for one in sets_of(pack)
    )
    conflicts = {
        (pack.curie(edge.concept), pack.curie(edge.other))
        for edge in make_sets(pack).edges
        if not edge.taken
    }
    assert conflicts >= {("DOID:1", "MESH:1"), ("DOID:2", "MESH:2")}
    assert pack.manifest.counts["conflicts between edges"] == len(conflicts) == 3


def test_a_reference_is_no_evidence_where_a_source_says_what_it_is(tmp_path: Path) -> None:
    def stated(curie: str, name: str, other: str, kind: str) -> ConceptRecord:
        crosses = (CrossReference(other), CrossReference(other, f"skos:{kind}Match"))
        return record(curie, name, references=crosses)

    pack = built(
        tmp_path,
        stated("MONDO:1", "wide ague", "MESH:1", "narrow"),
        record("MESH:1", "narrow ague"),
        stated("MONDO:2", "small chill", "MESH:2", "broad"),
        record("MESH:2", "large chill"),
        stated("MONDO:3", "shiver", "MESH:3", "related"),
        record("MESH:3", "tremor"),
        stated("MONDO:4", "tarnic ache", "MESH:4", "close"),
        record("MESH:4", "ache, tarnic kind"),
        record("DOID:5", "moor cough", refers=("MESH:5",)),  # the other side says it
        record("MESH:5", "cough", references=(CrossReference("DOID:5", "skos:narrowMatch"),)),
    )
    assert sets_of(pack) == {("MESH:4", "MONDO:4")}


def test_a_mapping_to_a_merged_identifier_is_one_to_its_replacement(tmp_path: Path) -> None:
    pack = built(
        tmp_path,
        record("DOID:10", "tarnic ague"),
        record("DOID:9", obsolete=True, replaced_by=("DOID:10",), same="MESH:10"),
        record("MESH:10", "Fever, Tarnic"),
        # by two: by which?
        record("DOID:8", obsolete=True, replaced_by=("DOID:10", "DOID:11"), same="MESH:11"),
        record("DOID:11", "other ague"),
        record("MESH:11", "Fever, Other"),
    )
    assert sets_of(pack) == {("DOID:10", "MESH:10")}
    assert pack.manifest.counts["identifiers with one replacement, which mappings follow"] == 1
