"""A pack that is built again from a pack has what that one has, and one that is extended has
more.
"""

from __future__ import annotations

import csv
import tempfile
from collections import defaultdict
from pathlib import Path

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.support.linking import build_pack, corpus, document
from tests.support.packs import PARTS, Sources, key
from tests.terms.pack.test_builder import SOURCES, SURFACES

import fascicle
from fascicle.core.document import Document
from fascicle.errors import UsageError
from fascicle.loading import load
from fascicle.terms.curation import Curation, CurationRule
from fascicle.terms.pack.builder import BuildSettings, Components, PackSource, build
from fascicle.terms.pack.export import KeptRules, pack_sources
from fascicle.terms.pack.layout import SourceFacts
from fascicle.terms.pack.pack import Pack
from fascicle.terms.pack.verifying import verify
from fascicle.terms.sources.drafts import SourceReport
from fascicle.terms.terms import ConceptRecord, CrossReference, Name
from fascicle.verbs.linker import fit_folder
from fascicle.verbs.tasks.index_build import build_pack as build_sources
from fascicle.verbs.tasks.index_build import extend

RULES = st.lists(
    st.builds(
        CurationRule,
        action=st.sampled_from(["drop", "ner_off", "case", "prefer"]),
        surface=SURFACES,
        concept=st.sampled_from(["A:1", "B:1"]),
        case=st.just("exact"),
        note=st.sampled_from(["", "why"]),
    ),
    max_size=4,
)


def made(place: Path, sources: list[PackSource], parts: Components) -> Pack:
    build(sources, BuildSettings(name="small", memory=8), place, parts=parts)
    return Pack.open(place, normaliser=parts.normaliser)


def content(pack: Pack) -> dict[str, object]:
    """All that a pack says of each concept; one whose label no pack can hold may get one of its
    names.
    """
    found: dict[str, object] = {}
    for curie in (pack.curie(row) for row in range(len(pack))):
        concept, names = pack.concept(curie), frozenset(pack.names(curie))
        found[curie] = (
            msgspec.structs.replace(concept, label=""),
            names,
            pack.parents(curie),
            pack.children(curie),
        )
    return found


def match(record: ConceptRecord) -> ConceptRecord:
    """The same record, some of whose references say that two concepts are the same."""
    said = {"a:b": "skos:exactMatch"}
    references = (
        CrossReference(one.curie, said.get(one.predicate, one.predicate))
        for one in record.references
    )
    return msgspec.structs.replace(record, references=tuple(references))


def matched(sources: Sources) -> Sources:
    return {name: [*map(match, records)] for name, records in sources.items()}


def told(pack: Pack) -> tuple[object, ...]:
    """What must be the same of two packs."""
    return content(pack), pack.leads.column.tolist(), pack.manifest.sources


def labels(pack: Pack) -> dict[str, str]:
    return {curie: pack.concept(curie).label for curie in map(pack.curie, range(len(pack)))}


def twice(
    sources: Sources, rules: list[CurationRule]
) -> list[tuple[tuple[object, ...], dict[str, str], int]]:
    """What a pack and a pack from it say; no pack stays open, whatever the caller finds."""
    parts = Components(
        normaliser=PARTS.normaliser,
        keys=PARTS.keys,
        table=PARTS.table,
        curation=Curation(rules, key=key),
    )
    given = [
        PackSource(SourceFacts(name=name), lambda own=own: iter(own))
        for name, own in sources.items()
    ]
    with tempfile.TemporaryDirectory() as place:
        first = made(Path(place) / "first", given, parts)
        kept = Components(
            normaliser=PARTS.normaliser,
            keys=PARTS.keys,
            table=PARTS.table,
            curation=KeptRules(first),
        )
        second = made(Path(place) / "second", pack_sources(first), kept)
        return [(told(pack), labels(pack), verify(pack)) for pack in (first, second)]


LOST: Sources = {  # two concepts that are the same, of which no name can be held
    "one": [
        ConceptRecord(
            curie="A:1",
            type="Gene",
            names=(Name("--"),),
            references=(CrossReference("B:1", "skos:exactMatch"),),
        ),
        ConceptRecord(curie="A:2", type="Gene", names=(Name("cat"),)),
    ],
    "two": [ConceptRecord(curie="B:1", type="Gene")],
}


@settings(deadline=None, max_examples=40)
@example(sources=LOST, rules=[])
@given(sources=SOURCES.map(matched), rules=RULES)
def test_a_pack_from_a_pack_loses_nothing(sources: Sources, rules: list[CurationRule]) -> None:
    if not any(
        record.names or record.replaced_by for records in sources.values() for record in records
    ):
        return
    (first, shown, _), (second, again, checked) = twice(sources, rules)
    assert second == first
    assert all(label in (again[curie], curie) for curie, label in shown.items())
    assert checked > 0


OWN = (
    "concept\tsurface\ttype\tkind\n"
    "OWN:1\tserum\tDisease\tlabel\nOWN:1\tserum sickness of ours\tDisease\texact\n"
    "OWN:2\tbreast cancer\tDisease\tlabel\nNCBIGene:4\tgrey factor\tGene\texact\n"
)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pack and its linker; the pack with more names."""
    place = tmp_path_factory.mktemp("home")
    build_pack(place / "pack")
    fit_folder(place / "pack", place / "linker", documents=corpus())
    (place / "own.tsv").write_text(OWN, encoding="utf-8")
    extend(place / "pack", place / "own.tsv", place / "mine", linker=place / "linker")
    return place


def test_an_extended_pack_has_both(home: Path) -> None:
    before, after = Pack.open(home / "pack"), Pack.open(home / "mine")
    for row in range(len(before)):
        curie = before.curie(row)
        told = after.concept(curie)
        assert before.concept(curie) == msgspec.structs.replace(told, sources=told.sources[:1])
        assert {term.surface for term in before.names(curie)} <= {
            term.surface for term in after.names(curie)
        }
    assert [term.surface for term in after.names("OWN:1")] == ["serum", "serum sickness of ours"]
    assert "grey factor" in {term.surface for term in after.names("NCBIGene:4")}
    assert verify(after) > 0


def test_own_labels_are_always_looked_for(home: Path) -> None:
    text = Document(id="1", text="The serum was given.")
    (patch,) = load(home / "mine").predict([text])
    assert [one.text_in(text.text) for one in patch.add] == ["serum"]


def test_the_ranker_is_kept(home: Path) -> None:
    texts = [
        document("Mice with AT.", ("AT", "Disease", "")),
        document("A grey factor in man.", ("grey factor", "Gene", "")),
    ]
    before = list(fascicle.link(texts, linker=home / "linker", pack=home / "pack"))
    after = list(fascicle.link(texts, linker=home / "mine"))
    assert before[0].mentions[0].links == after[0].mentions[0].links
    assert before[0].mentions[0].links[0].score is not None
    assert before[1].mentions[0].links[0].nil
    assert after[1].mentions[0].links[0].curie == "NCBIGene:4"
    cancer = document("Breast cancer.", ("Breast cancer", "Disease", ""))
    (link,) = next(fascicle.link([cancer], linker=home / "mine")).mentions[0].links
    assert (link.curie, set(link.same)) == ("MESH:D1", {"DOID:1", "OWN:2"})


def test_a_source_of_the_same_name_is_refused_and_a_pack_is_extended_again(home: Path) -> None:
    (home / "same.toml").write_text(
        'name = "same"\n[sources.own]\npath = "more.tsv"\nreader = "table"\ntype = "Disease"\n'
        'columns = { id = "id", name = "name" }\n'
    )
    (home / "more.tsv").write_text("id\tname\nOWN:7\tthe seventh ache\n")
    with pytest.raises(UsageError, match="'own'"):
        extend(home / "mine", home / "same.toml", home / "again")
    (home / "more.toml").write_text(
        'name = "more"\n[sources.more]\npath = "more.tsv"\nreader = "table"\ntype = "Disease"\n'
        'columns = { id = "id", name = "name" }\n'
    )
    extend(home / "mine", home / "more.toml", home / "third")
    text = document("the seventh ache", ("the seventh ache", "Disease", ""))
    (link,) = next(iter(fascicle.link([text], linker=home / "third"))).mentions[0].links
    assert link.curie == "OWN:7"


def test_priors_of_a_pack_that_is_not_careful_stay(tmp_path: Path) -> None:
    columns = 'columns = { id = "id", name = "name", kind = "kind" }'
    (tmp_path / "names.tsv").write_text("id\tname\tkind\nX:1\tnormal\tlabel\n")
    (tmp_path / "sources.toml").write_text(
        f'name = "m@1"\n[sources.a]\npath = "names.tsv"\nreader = "table"\ntype = "Disease"\n{columns}\n'
    )
    (tmp_path / "own.tsv").write_text("concept\tsurface\ttype\nX:3\tgrey fever\tDisease\n")
    build_sources(tmp_path / "sources.toml", tmp_path / "m")
    extend(tmp_path / "m", tmp_path / "own.tsv", tmp_path / "more")
    before, after = (Pack.open(tmp_path / name).names("X:1") for name in ("m", "more"))
    assert [term.prior for term in before] == [term.prior for term in after] == [0.95]


@pytest.mark.parametrize("name", ["own.tsv", "own.csv", "own.parquet"])
def test_synonyms_of_an_own_list_are_names_and_unread_columns_are_said(
    tmp_path: Path, name: str
) -> None:
    titles = ["Preferred label", "Class ID", "Synonyms", "Semantic type", "comment"]
    rows = [
        ["grey fever", "X:1", "ash fever; dust, fever", "Disease", "nice"],
        ["plinkin", "X:2", "", "Chemical", ""],
    ]
    if name.endswith(".parquet"):
        arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        parquet.write_table(
            arrow.table(dict(zip(titles, zip(*rows, strict=True), strict=True))), tmp_path / name
        )
    else:
        sign = "\t" if name.endswith(".tsv") else ","
        with (tmp_path / name).open("w", newline="") as stream:
            csv.writer(stream, delimiter=sign).writerows([titles, *rows])
    reports: defaultdict[str, SourceReport] = defaultdict(SourceReport)
    build_sources(tmp_path / name, tmp_path / "pack", reports=reports)
    pack = Pack.open(tmp_path / "pack")
    told = {
        pack.curie(row): {term.surface for term in pack.names(pack.curie(row))}
        for row in range(len(pack))
    }
    assert told == {"X:1": {"ash fever", "dust, fever", "grey fever"}, "X:2": {"plinkin"}}
    assert pack.concept("X:2").type == "Chemical"
    assert "not read: comment" in reports["own"].summary()
