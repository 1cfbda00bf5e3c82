"""A pack holds what its sources say: compared with plain dicts, and the same bytes whatever
memory was allowed.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.packs import NORMALISER, PARTS, REAL_PARTS, RECORDS, Sources, build_small, key

from fascicle.errors import InputError, OutputError, PackError
from fascicle.terms.curation import Curation, CurationRule
from fascicle.terms.pack.builder import BuildSettings, Components, PackSource, build
from fascicle.terms.pack.layout import SourceFacts
from fascicle.terms.pack.pack import Pack
from fascicle.terms.pack.priors import NameStyle, judge_name
from fascicle.terms.pack.verifying import verify
from fascicle.terms.pack.writing import _shares
from fascicle.terms.terms import NAME_KINDS, ConceptRecord, CrossReference, Name

ROOT = Path(__file__).resolve().parents[3]
SURFACES = st.sampled_from(
    ["CAT", "cat", "Cat", "tumour", "Tumour", "β-cell", "IL 2", "IL-2", "ÉTÉ", "漢", "a b c", "--"]
)
CURIES = st.sampled_from(["A:1", "A:10", "A:2", "B:1", "B:2", "Z:é"])
NAMES = st.builds(Name, SURFACES, st.sampled_from(NAME_KINDS), st.sampled_from(["en", "de"]))
RECORD = st.builds(
    ConceptRecord,
    curie=CURIES,
    type=st.sampled_from(["Gene", "Disease"]),
    names=st.lists(NAMES, max_size=4).map(tuple),
    taxon=st.sampled_from(["", "NCBITaxon:9606", "NCBITaxon:10090"]),
    rank=st.sampled_from(["", "species"]),
    parents=st.lists(CURIES, max_size=3).map(tuple),
    obsolete=st.booleans(),
    replaced_by=st.lists(CURIES, max_size=2).map(tuple),
    definition=st.sampled_from(["", "one", "two"]),
    references=st.lists(
        st.builds(CrossReference, CURIES, st.sampled_from(["a:b", "c:d"])), max_size=2
    ).map(tuple),
)
SOURCES = st.dictionaries(
    st.sampled_from(["one", "two", "three"]), st.lists(RECORD, max_size=12), min_size=1
)


# Another source calls the previous symbol of a gene a synonym of it, which says less.
STRENGTH = ["label", "previous", "exact", "related", "broad", "narrow", "abbreviation", "generated"]


class Oracle:
    """What `ConceptRecord` and the page of packs promise, in plain dicts."""

    def __init__(self, sources: Sources) -> None:
        self.records = defaultdict[str, list[tuple[str, ConceptRecord]]](list)
        for source, records in sources.items():
            for record in records:
                self.records[record.curie].append((source, record))
        self.records = {
            c: said
            for c, said in self.records.items()
            if any(r.names or r.replaced_by for _, r in said)
        }  # type: ignore[assignment]

    def first(self, curie: str, field: str) -> Any:
        return next((v for _, record in self.records[curie] if (v := getattr(record, field))), "")

    def union(self, curie: str, field: str) -> tuple[Any, ...]:
        return tuple(
            dict.fromkeys(v for _, record in self.records[curie] for v in getattr(record, field))
        )

    def names(self, curie: str) -> dict[tuple[str, str], tuple[str, tuple[str, ...]]]:
        labels: dict[str, str] = {}
        found: dict[tuple[str, str], tuple[str, tuple[str, ...]]] = {}
        for source, record in self.records[curie]:
            for name in record.names:
                kind: str = name.kind
                if (
                    kind == "label"
                    and labels.setdefault(name.language, name.surface) != name.surface
                ):
                    kind = "exact"
                before, sources = found.get((name.surface, name.language), (kind, ()))
                best = min(before, kind, key=STRENGTH.index)
                found[name.surface, name.language] = (
                    best,
                    tuple(dict.fromkeys((*sources, source))),
                )
        return {which: facts for which, facts in found.items() if key(which[0])}

    def is_obsolete(self, curie: str) -> bool:
        return any(record.obsolete for _, record in self.records[curie])

    def by_key(self) -> dict[str, set[tuple[str, str, str]]]:
        found = defaultdict[str, set[tuple[str, str, str]]](set)
        for curie in self.records:
            if not self.is_obsolete(curie):
                for surface, language in self.names(curie):
                    found[key(surface)].add((surface, curie, language))
        return dict(found)

    def reached(self, curie: str, *, down: bool) -> set[str]:
        edges = defaultdict[str, set[str]](set)
        for child in self.records:
            for parent in set(self.union(child, "parents")) & self.records.keys():
                edges[parent if down else child].add(child if down else parent)
        found: set[str] = set()
        todo = [curie]
        while todo:
            todo += [one for one in edges[todo.pop()] if one not in found and not found.add(one)]  # type: ignore[func-returns-value]
        return found - {curie}


def check(pack: Pack, oracle: Oracle) -> None:
    assert [pack.curie(row) for row in range(len(pack))] == sorted(oracle.records, key=str.encode)
    keys = oracle.by_key()
    asked = [*keys, "nowhere"]
    places, rows = pack.rows(asked)
    found = defaultdict[str, set[tuple[str, str, str]]](set)
    for place, row in zip(places.tolist(), rows.tolist(), strict=True):
        term = pack.term(pack.active, row)
        found[asked[place]].add((term.surface, term.concept, term.language))
        assert 0 < term.prior <= 1
    assert found == keys
    assert len(rows) == len(pack.active) == sum(map(len, keys.values()))
    for curie in oracle.records:
        concept = pack.concept(curie)
        for field in ("type", "taxon", "rank", "definition"):
            assert getattr(concept, field) == oracle.first(curie, field)
        assert concept.replaced_by == oracle.union(curie, "replaced_by")
        assert set(concept.references) == set(oracle.union(curie, "references"))
        assert len(concept.references) == len(set(concept.references))
        assert concept.obsolete == oracle.is_obsolete(curie)
        names = {
            (term.surface, term.language): (term.kind, term.sources) for term in pack.names(curie)
        }
        assert names == oracle.names(curie)
        assert all(term.silent == concept.obsolete for term in pack.names(curie))
        parents = set(oracle.union(curie, "parents")) & oracle.records.keys() - {curie}
        assert set(pack.parents(curie)) == parents
        assert all(curie in pack.children(parent) for parent in parents)
        assert set(pack.ancestors(curie)) == oracle.reached(curie, down=False)
        assert set(pack.descendants(curie)) == oracle.reached(curie, down=True)
    assert (pack.concept_rows(["no:1", *oracle.records]) >= 0).tolist() == [
        False,
        *[True] * len(oracle.records),
    ]


@settings(deadline=None, max_examples=25)  # each writes 57 files and waits for the disk
@given(sources=SOURCES)
def test_a_pack_is_what_plain_dicts_are(sources: Sources) -> None:
    oracle = Oracle(sources)
    with tempfile.TemporaryDirectory() as place:
        if not oracle.records:
            with pytest.raises(InputError):
                build_small(Path(place) / "pack", sources)
            return
        pack = build_small(Path(place) / "pack", sources)
        check(pack, oracle)
        assert verify(pack) > 0
        assert sum(source.counts["records"] for source in pack.manifest.sources) == sum(
            map(len, sources.values())
        )


def test_the_label_is_english_where_there_is_one(tmp_path: Path) -> None:
    pack = build_small(tmp_path / "pack")
    assert pack.concept("MESH:D001").label == "Breast cancer"
    assert pack.concept("MESH:D009369").label == "Neoplasms"  # the source that comes first
    assert pack.concept("MESH:D777").label == "Old growth"


def test_shares_of_a_key_sum_up_to_the_probability_of_its_name(tmp_path: Path) -> None:
    pack = build_small(tmp_path / "pack")
    shares = [float(pack.active.prior[row]) for row in pack.rows(["catalase"])[1]]
    assert len(shares) == 2
    assert sum(shares) == pytest.approx(0.95)
    assert pack.manifest.counts["concepts"] == 6


def many(count: int) -> Iterator[ConceptRecord]:
    for number in range(count):
        names = (Name(f"name {number} of {number % 97}", "label"), Name(f"synonym {number % 1009}"))
        yield ConceptRecord(
            curie=f"X:{number}", type="Gene", names=names, parents=(f"X:{number // 7}",)
        )


def test_memory_has_no_influence_on_the_bytes(tmp_path: Path) -> None:
    folders = []
    for memory in (1, 64):
        folder = tmp_path / str(memory)
        source = PackSource(SourceFacts(name="many"), lambda: many(30_000))
        build([source], BuildSettings(name="many", memory=memory), folder, parts=PARTS)
        folders.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert folders[0] == folders[1]
    pack = Pack.open(tmp_path / "1", normaliser=NORMALISER)
    assert len(pack) == 30_000
    assert len(pack.rows([key("synonym 5")])[1]) == 30
    assert len(pack.descendants("X:1")) == sum("X:1" in chain(number) for number in range(30_000))


def chain(number: int) -> set[str]:
    found = set[str]()
    while number:
        number //= 7
        found.add(f"X:{number}")
    return found


def test_equal_content_has_equal_names_and_other_content_others(tmp_path: Path) -> None:
    first, second = build_small(tmp_path / "a"), build_small(tmp_path / "b")
    assert first.full_name == second.full_name
    records = {
        **RECORDS,
        "more": (ConceptRecord(curie="X:1", type="Gene", names=(Name("BRCA1"),)),),
    }
    assert build_small(tmp_path / "c", records).full_name != first.full_name


@pytest.mark.parametrize(
    ("record", "code"),
    [
        (
            ConceptRecord(curie="X:1", type="Gene", names=(Name("a\0b"),)),
            "name with characters that no text has",
        ),
        (
            ConceptRecord(curie="X:1", type="Gene", names=(Name("x" * 1_001),)),
            "name that is too long",
        ),
        (
            ConceptRecord(curie="X:1", type="Gene", names=(Name("--"),)),
            "name without a letter or digit",
        ),
        (
            ConceptRecord(curie="X:1", type="Gene", names=(Name("\ud800"),)),
            "record with characters that no text has",
        ),
        (
            ConceptRecord(curie="X\0:1", type="Gene", names=(Name("a"),)),
            "concept without a usable id",
        ),
        (ConceptRecord(curie="", type="Gene", names=(Name("a"),)), "concept without a usable id"),
        (ConceptRecord(curie="X:1", type="Gene"), "concept without a name"),
        (
            ConceptRecord(curie="X:1", type="Gene", names=(Name("a"),), parents=("Y:1",)),
            "parents that are no concept of the pack",
        ),
    ],
)
def test_what_cannot_be_in_a_pack_is_counted(
    tmp_path: Path, record: ConceptRecord, code: str
) -> None:
    pack = build_small(tmp_path / "pack", {**RECORDS, "odd": (record,)})
    assert pack.manifest.counts[code] == 1
    verify(pack)


def test_names_without_a_type_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="odd") as error:
        build_small(tmp_path / "pack", {"odd": (ConceptRecord(curie="X:1", names=(Name("a"),)),)})
    assert error.value.key == "odd"
    assert not list(tmp_path.iterdir())


def test_a_folder_of_others_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear", encoding="utf-8")
    with pytest.raises(OutputError):
        build_small(tmp_path / "mine")
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["letter.txt"]


def curated(*rules: CurationRule) -> Components:
    return replace(PARTS, curation=Curation(rules, key=key))


def test_rules_of_curation(tmp_path: Path) -> None:
    parts = curated(
        CurationRule(
            action="ner_off", surface="CAT", concept="NCBIGene:847", place="/home/me/rules.tsv:2"
        ),
        CurationRule(action="drop", surface="Cat"),
        CurationRule(action="prefer", surface="catalase", concept="NCBIGene:847"),
        CurationRule(action="prefer", surface="Catalase", concept="NCBIGene:847"),
        CurationRule(action="case", surface="cancer", case="any"),
        CurationRule(action="drop", surface="nowhere"),
    )
    pack = build_small(tmp_path / "pack", parts=parts)
    verify(pack)
    genes = [term for curie in ("NCBIGene:847", "NCBIGene:12359") for term in pack.names(curie)]
    terms = {(term.surface, term.concept): term for term in genes}
    assert terms["CAT", "NCBIGene:847"].off
    assert terms["CAT", "NCBIGene:847"].rule == "ner_off 'CAT' NCBIGene:847 (rules.tsv:2)"
    assert terms["Cat", "NCBIGene:12359"].silent
    assert terms["Cat", "NCBIGene:12359"].rule == "drop 'Cat'"
    assert terms["catalase", "NCBIGene:847"].prior > 10 * terms["Catalase", "NCBIGene:12359"].prior
    assert [(t.case.name, t.rule) for t in pack.names("MESH:D009369") if t.surface == "cancer"] == [
        ("any", "case 'cancer' any")
    ]
    _, rows = pack.rows(["cat"])
    assert [pack.term(pack.active, row).concept for row in rows.tolist()] == ["NCBIGene:847"]
    assert pack.manifest.counts["rules of curation"] == 6
    assert pack.manifest.counts["rules of curation that decide nothing"] == 1


def test_names_for_linking_alone_share_among_themselves(tmp_path: Path) -> None:
    gene = ConceptRecord(curie="X:1", type="Gene", names=(Name("T24", "label"),))
    line = ConceptRecord(curie="Y:1", type="CellLine", names=(Name("T24", "label"),))
    other = ConceptRecord(curie="Y:2", type="CellLine", names=(Name("T24", "exact"),))
    sources = [
        PackSource(SourceFacts(name="genes"), lambda: iter([gene])),
        PackSource(SourceFacts(name="lines"), lambda: iter([line, other])),
    ]
    rules = curated(CurationRule(action="ner_off", source="lines"))
    build(sources, BuildSettings(name="both"), tmp_path / "both", parts=rules)
    pack = Pack.open(tmp_path / "both", normaliser=NORMALISER)
    verify(pack)
    (first,), (one,), (two,) = (pack.names(curie) for curie in ("X:1", "Y:1", "Y:2"))
    assert (first.off, one.off, two.off) == (False, True, True)
    assert one.rule == "ner_off lines"
    # three letters and digits are meant with 0.6; in a text, all three concepts may be
    assert first.prior == pytest.approx(0.6 / 2.9)
    assert (one.prior, two.prior) == pytest.approx((0.6 / 1.9, 0.6 * 0.9 / 1.9))


def test_an_alias_is_careful_unless_another_gene_has_it_as_its_label(tmp_path: Path) -> None:
    label, alias, family = Name("SSB", "label"), Name("SSB", "exact"), Name("HDL", "exact")
    records = (
        ConceptRecord(
            curie="X:1", type="Gene", names=(Name("RPA1", "label"), alias, Name("CBF", "exact"))
        ),
        ConceptRecord(curie="X:2", type="Gene", names=(label,)),
        ConceptRecord(curie="X:3", type="GeneFamily", names=(family,)),
    )
    pack = build_small(tmp_path / "pack", {"a": records})
    verify(pack)
    terms = {
        (t.surface, t.concept): t for curie in ("X:1", "X:2", "X:3") for t in pack.names(curie)
    }
    assert terms["SSB", "X:1"].prior + terms["SSB", "X:2"].prior == pytest.approx(0.6)
    assert terms["CBF", "X:1"].prior == pytest.approx(0.24)
    assert terms["HDL", "X:3"].prior == pytest.approx(0.6)
    assert [
        terms[name].case.name
        for name in (("SSB", "X:2"), ("CBF", "X:1"), ("HDL", "X:3"), ("RPA1", "X:1"))
    ] == [
        "symbol",
        "symbol",
        "exact",
        "any",
    ]


def test_a_preferred_name_is_meant_even_if_it_is_a_common_word(tmp_path: Path) -> None:
    records = tuple(
        ConceptRecord(curie=curie, type=kind, names=(Name("insulin", "exact"),))
        for curie, kind in (("X:1", "Gene"), ("X:2", "Chemical"))
    )
    assert max(t.prior for t in build_small(tmp_path / "pack", {"a": records}).names("X:1")) < 0.1
    parts = curated(CurationRule(action="prefer", surface="insulin", concept="X:1"))
    pack = build_small(tmp_path / "chosen", {"a": records}, parts=parts)
    assert pack.names("X:1")[0].prior > 0.85
    assert pack.names("X:2")[0].prior < 0.01


def test_a_name_that_a_rule_drops_in_one_source_stays_that_of_another(tmp_path: Path) -> None:
    shared = ConceptRecord(curie="X:1", type="Gene", names=(Name("BRCA1", "label"),))
    parts = curated(CurationRule(action="drop", surface="BRCA1", source="a"))
    pack = build_small(tmp_path / "pack", {"a": (shared,), "b": (shared,)}, parts=parts)
    (term,) = pack.names("X:1")
    assert (term.silent, term.sources, term.rule) == (False, ("b",), "drop 'BRCA1' a")


KILLED = """
import os, signal, sys, threading
from tests.support.packs import PARTS
from tests.terms.pack.test_builder import many
from fascicle.terms.curation import Curation
from fascicle.terms.pack.builder import *
from fascicle.terms.pack.layout import SourceFacts
def told(step, count):
    if step == sys.argv[2]:
        threading.Timer(0.02, os.kill, (os.getpid(), signal.SIGKILL)).start()
told("begun", 0)
source = PackSource(SourceFacts(name="many"), lambda: many(60_000))
build([source], BuildSettings(name="many", memory=1), sys.argv[1], parts=PARTS, on_progress=told)
"""


@pytest.mark.slow
@pytest.mark.parametrize("step", ["begun", "many", "concepts", "names", "files"])
def test_a_killed_build_leaves_nothing_that_loads(tmp_path: Path, step: str) -> None:
    folder = tmp_path / "pack"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")])}
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(folder), step], check=False, env=environment
    )
    assert done.returncode == -signal.SIGKILL
    with pytest.raises(PackError):
        Pack.open(folder, normaliser=NORMALISER)
    left = [path for path in tmp_path.iterdir() if not path.name.startswith(".")]
    assert not left
    # under its temporary name only a pack that is complete may open
    for path in tmp_path.iterdir():
        with suppress(PackError):
            verify(Pack.open(path, normaliser=NORMALISER))
    build_small(folder)  # goes on, and clears what is left
    assert [path.name for path in tmp_path.iterdir()] == ["pack"]


def test_a_name_written_otherwise_takes_no_share(tmp_path: Path) -> None:
    genes = [
        ("NCBIGene:1", "ACE"),
        ("NCBIGene:2", "Ace"),
        ("NCBIGene:3", "Ace"),
        ("NCBIGene:4", "IL7"),
        ("NCBIGene:5", "Il7"),
    ]
    records = [
        ConceptRecord(curie=curie, type="Gene", names=(Name(name, "label"),))
        for curie, name in genes
    ]
    pack = build_small(tmp_path / "pack", {"genes": records}, parts=REAL_PARTS)
    terms = {curie: pack.names(curie)[0].prior for curie, _ in genes}
    assert terms["NCBIGene:1"] == pytest.approx(2 * terms["NCBIGene:2"])
    assert terms["NCBIGene:2"] == pytest.approx(terms["NCBIGene:3"])
    assert terms["NCBIGene:1"] == pytest.approx(judge_name("ACE").probabilities[NameStyle.symbols])


@given(
    st.lists(
        st.tuples(
            st.integers(0, 2),
            st.integers(0, 3),
            st.sampled_from([0.3, 0.9, 1.0]),
            st.integers(-1, 2),
        ),
        min_size=1,
        max_size=12,
    ).map(sorted)
)
def test_shares_are_those_among_the_names_that_a_text_may_have(
    rows: list[tuple[int, int, float, int]],
) -> None:
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    found = _shares(*columns)
    for (key_, concept, _, case), share in zip(rows, found.tolist(), strict=True):
        near = [row for row in rows if row[0] == key_ and (case == -1 or row[3] in (-1, case))]
        strongest = {
            one: max(weight for _, other, weight, _ in near if other == one)
            for _, one, _, _ in near
        }
        assert share == pytest.approx(strongest[concept] / sum(strongest.values()))
