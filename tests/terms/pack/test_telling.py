"""What packs tell of themselves: why a name is found or not, counts, differences, and a table."""

from __future__ import annotations

import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from tests.support.packs import REAL_PARTS, RECORDS, Sources, build_small
from tests.terms.pack.test_builder import SOURCES, Oracle

from fascicle.core.document import Document
from fascicle.terms.curation import Curation, CurationRule
from fascicle.terms.pack.differences import find_changes, mention_changes
from fascicle.terms.pack.export import COLUMNS, term_rows
from fascicle.terms.pack.pack import Pack
from fascicle.terms.pack.stats import pack_stats
from fascicle.terms.pack.stats import stats_lines as stats_lines
from fascicle.terms.pack.why import explain_name, explanation_lines
from fascicle.terms.terms import ConceptRecord, Name


@pytest.fixture(scope="module")
def pack(tmp_path_factory: pytest.TempPathFactory) -> Pack:
    rules = Curation([CurationRule(action="drop", surface="Tumor")])
    return build_small(
        tmp_path_factory.mktemp("told") / "pack", parts=replace(REAL_PARTS, curation=rules)
    )


def test_why_names_keys_concepts_and_the_way_up(pack: Pack) -> None:
    told = explain_name(pack, "breast cancers")
    assert told.keys[0] == "breast cancers"
    assert told.keys[2] == "breast cancer"
    (one,) = told.terms
    assert (one.term.surface, one.concept.curie, one.tier) == (
        "Breast cancer",
        "MESH:D001",
        "canonical",
    )
    assert one.above == (("Neoplasms", "MESH:D009369"), ("Diseases", "MESH:D000"))
    assert "\n".join(explanation_lines(told)).count("MESH:D001") == 1


@pytest.mark.parametrize(
    ("surface", "tier"),
    [("Breast cancer", "exact"), ("BREAST  CANCER", "folded"), ("breast-cancer", "canonical")],
)
def test_tiers(pack: Pack, surface: str, tier: str) -> None:
    assert [one.tier for one in explain_name(pack, surface).terms] == [tier]


def test_all_concepts_of_a_name_are_told_with_their_probabilities(pack: Pack) -> None:
    told = explain_name(pack, "catalase")
    assert [one.concept.taxon for one in told.terms] == ["NCBITaxon:9606", "NCBITaxon:10090"]
    assert sum(one.term.prior for one in told.terms) == pytest.approx(0.95)


def test_obsolete_concepts_and_dropped_names_are_explained(pack: Pack) -> None:
    (old,) = explain_name(pack, "old growth").silent
    assert "replaced by MESH:D009369" in old.silent
    told = explain_name(pack, "tumour")
    assert [(one.silent, one.term.rule) for one in told.silent] == [
        ("a rule of curation dropped it", "drop 'Tumor'")
    ]
    assert not told.terms
    assert not explain_name(pack, "nowhere").terms + explain_name(pack, "nowhere").silent
    assert any("no term" in line for line in explanation_lines(explain_name(pack, "nowhere")))


@settings(deadline=None, max_examples=10)
@given(sources=SOURCES)
def test_counts_are_those_of_plain_dicts(sources: Sources) -> None:
    oracle = Oracle(sources)
    if not oracle.records:
        return
    with tempfile.TemporaryDirectory() as place:
        stats = pack_stats(build_small(Path(place) / "pack", sources))
    by_key = oracle.by_key()
    assert stats.concepts == Counter(oracle.first(curie, "type") for curie in oracle.records)
    live = {c: oracle.names(c) for c in oracle.records if not oracle.is_obsolete(c)}
    assert stats.terms == Counter(
        oracle.first(c, "type") for c, names in live.items() for _ in names
    )
    assert stats.kinds == Counter(kind for names in live.values() for kind, _ in names.values())
    assert stats.languages == Counter(language for names in live.values() for _, language in names)
    assert {s: n for s, n in stats.of_sources.items() if n} == Counter(
        source for names in live.values() for _, several in names.values() for source in several
    )
    several = {one: len({curie for _, curie, _ in terms}) for one, terms in by_key.items()}
    assert stats.ambiguous == sum(count > 1 for count in several.values())
    assert dict(stats.most).items() <= several.items()
    assert [count for _, count in stats.most] == sorted(
        (c for c in several.values() if c > 1), reverse=True
    )[:10]
    assert list(stats_lines(stats))


@settings(deadline=None, max_examples=15)
@given(first=SOURCES, second=SOURCES)
def test_differences_are_those_of_plain_dicts(first: Sources, second: Sources) -> None:
    one, other = Oracle(first), Oracle(second)
    if not one.records or not other.records:
        return
    with tempfile.TemporaryDirectory() as place:
        packs = [
            build_small(Path(place) / name, records)
            for name, records in (("a", first), ("b", second))
        ]
        found = list(find_changes(*packs))
        assert not list(find_changes(packs[0], packs[0]))
    terms = [{t for group in oracle.by_key().values() for t in group} for oracle in (one, other)]
    told = {
        kind: {(c.surface, c.concept) for c in found if (c.what, c.change) == ("term", kind)}
        for kind in ("added", "removed")
    }
    assert told["added"] == {(s, c) for s, c, _ in terms[1] - terms[0]}
    assert told["removed"] == {(s, c) for s, c, _ in terms[0] - terms[1]}
    kinds = [
        {(c, *which): facts[0] for c in o.records for which, facts in o.names(c).items()}
        for o in (one, other)
    ]
    # The policy of case can change too, with the type of the concept; the oracle knows kinds alone.
    changed = {
        (c.concept, c.surface)
        for c in found
        if c.change == "changed" and c.before.startswith("kind ")
    }
    common = terms[0] & terms[1]
    assert changed == {
        (c, s) for s, c, language in common if kinds[0][c, s, language] != kinds[1][c, s, language]
    }
    concepts = {
        (c.change, c.concept) for c in found if c.what == "concept" and c.change != "changed"
    }
    assert concepts == {("added", c) for c in other.records.keys() - one.records.keys()} | {
        ("removed", c) for c in one.records.keys() - other.records.keys()
    }


def test_a_difference_says_what_differs(tmp_path: Path) -> None:
    before = build_small(tmp_path / "a")
    changed = ConceptRecord(curie="MESH:D000", names=(Name("Illnesses", "label"), Name("Diseases")))
    records = {**RECORDS, "diseases": (changed, *RECORDS["diseases"][:1], *RECORDS["diseases"][2:])}
    found = {
        (c.what, c.change, c.concept, c.surface): (c.before, c.after)
        for c in find_changes(before, build_small(tmp_path / "b", records))
    }
    assert found["concept", "changed", "MESH:D000", ""] == ("label Diseases", "label Illnesses")
    assert found["term", "changed", "MESH:D000", "Diseases"] == ("kind label", "kind exact")
    assert ("term", "added", "MESH:D000", "Illnesses") in found
    assert len(found) == 3


def test_the_table_has_every_term(tmp_path: Path) -> None:
    pack = build_small(tmp_path / "pack")
    table = [dict(zip(COLUMNS, row, strict=True)) for row in term_rows(pack)]
    expected = {
        (t.surface, t.concept, t.kind, t.language)
        for r in RECORDS.values()
        for one in r
        for t in pack.names(one.curie)
        if not t.silent
    }
    assert {(r["surface"], r["concept"], r["kind"], r["language"]) for r in table} == expected
    assert len(table) == len(pack.active)
    assert [(r["surface"], r["sources"]) for r in table if r["surface"] == "Cancer"] == [
        ("Cancer", "genes")
    ]
    assert [r[2] for r in term_rows(pack, silent=True)] == ["Old growth"]


def test_mentions_that_come_go_and_change_their_link(tmp_path: Path) -> None:
    def pack(name: str, *records: ConceptRecord) -> Pack:
        return build_small(tmp_path / name, {"genes": records}, parts=REAL_PARTS)

    shared = ConceptRecord(curie="X:3", type="Gene", names=(Name("shared protein", "label"),))
    first = pack(
        "a",
        shared,
        ConceptRecord(
            curie="X:1", type="Gene", names=(Name("ghrelin", "label"), Name("proghrelin"))
        ),
    )
    second = pack(
        "b",
        shared,
        ConceptRecord(
            curie="X:2", type="Gene", names=(Name("ghrelin", "label"), Name("preproghrelin"))
        ),
    )
    texts = ["Ghrelin and proghrelin", "preproghrelin and a shared protein"]
    documents = [Document(id=str(number), text=text) for number, text in enumerate(texts)]
    found = list(mention_changes(first, second, documents))
    assert [(c.change, c.document, c.surface, c.concept) for c in found] == [
        ("changed", "0", "Ghrelin", "X:2"),
        ("removed", "0", "proghrelin", "X:1"),
        ("added", "1", "preproghrelin", "X:2"),
    ]
    assert all(
        texts[int(c.document)][slice(*map(int, c.place.split("-")))] == c.surface for c in found
    )
    assert not list(mention_changes(first, first, documents))
