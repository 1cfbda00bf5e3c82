"""A pack, exported and built again, is the same pack."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.packs import REAL_PARTS, build_small

from fascicle.cli import main
from fascicle.loading import load
from fascicle.terms.pack.differences import find_changes
from fascicle.terms.pack.export import COLUMNS
from fascicle.terms.pack.pack import Pack
from fascicle.terms.terms import NAME_KINDS, ConceptRecord, CrossReference, Name
from fascicle.verbs.tasks.index import export
from fascicle.verbs.tasks.index_build import build_pack

CURIES = [f"{prefix}{number}" for prefix in ("MESH:D00000", "DOID:") for number in range(1, 5)]
WORDS = ["cancer", "TNF-α", "Breast", "of the", "IL 2", "café", "type 2", "x"]
PREDICATES = ["oboInOwl:hasDbXref", "skos:exactMatch", "owl:equivalentClass"]
SOURCE = """[sources.{name}]
path = "{name}.tsv"
reader = "table"
types = {{ Disease = "Disease", Gene = "Gene" }}
columns = {{ id = "concept", name = "surface", kind = "kind", language = "language", type = "type", taxon = "taxon", \
rank = "rank", obsolete = "obsolete", replaced_by = ["replaced_by"], parents = ["parents"], \
references = ["references"], definition = "definition" }}
"""
NAMES = st.builds(
    Name,
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join),
    st.sampled_from([kind for kind in NAME_KINDS if kind != "label"]),
    st.sampled_from(["en", "de"]),
)


@st.composite
def records(draw: st.DrawFn) -> list[ConceptRecord]:
    found = []
    for curie in draw(st.lists(st.sampled_from(CURIES), min_size=1, unique=True)):
        others = st.lists(
            st.sampled_from([one for one in CURIES if one != curie]), max_size=2, unique=True
        ).map(tuple)
        crosses = st.builds(
            CrossReference, st.sampled_from([*CURIES, "OMIM:100070"]), st.sampled_from(PREDICATES)
        )
        own = draw(
            st.lists(NAMES, max_size=3, unique_by=lambda name: (name.surface, name.language))
        )
        label = [Name(f"label {curie[-1]} {curie[0]}", "label")] if draw(st.booleans()) else []
        obsolete = draw(st.booleans())
        found.append(
            ConceptRecord(
                curie=curie,
                type=draw(st.sampled_from(["Disease", "Gene"])),
                names=(*label, *own),
                taxon=draw(st.sampled_from(["", "NCBITaxon:9606", "NCBITaxon:10090"])),
                rank=draw(st.sampled_from(["", "species"])),
                parents=draw(others),
                obsolete=obsolete,
                replaced_by=draw(others) if obsolete else (),
                definition=draw(st.sampled_from(["", "A growth; of 2 | kinds, it is said."])),
                references=tuple(
                    dict.fromkeys(
                        one for one in draw(st.lists(crosses, max_size=3)) if one.curie != curie
                    )
                ),
            )
        )
    return found


def content(pack: Pack) -> dict[str, Any]:
    """All that a pack says, but for where it is from."""
    names = (pack.active, pack.silent)
    return {
        curie: (
            msgspec.structs.replace(pack.concept_at(row), sources=()),
            pack.parents(curie),
            [
                msgspec.structs.replace(pack.term(table, term), sources=())
                for table in names
                for term in table.of_concept[row].tolist()
            ],
            pack.curie(int(pack.leads.of(pack.concept_rows([curie]))[0])),
        )
        for row, curie in enumerate(pack.curies.strings.take(range(len(pack))))
    }


def again(pack: Pack, folder: Path) -> Pack:
    """The pack that is built from what another one is exported as."""
    export(pack.folder, folder / "names.tsv")
    export(pack.folder, folder / "silent.tsv", silent=True)
    sources = "".join(SOURCE.format(name=name) for name in ("names", "silent"))
    (folder / "sources.toml").write_text(f'name = "again"\n{sources}', encoding="utf-8")
    build_pack(folder / "sources.toml", folder / "again")
    return Pack.open(folder / "again")


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(records().filter(lambda found: any(one.names for one in found)))
def test_a_pack_that_is_built_from_its_export_is_the_same(
    given_records: Sequence[ConceptRecord],
) -> None:
    with TemporaryDirectory() as place:
        pack = build_small(Path(place) / "pack", {"all": given_records}, parts=REAL_PARTS)
        assert content(again(pack, Path(place))) == content(pack)


def test_what_is_said_of_a_concept_stands_once(tmp_path: Path) -> None:
    names = (Name("cancer", "label"), Name("neoplasm"))
    one = ConceptRecord(
        curie="MESH:1", type="Disease", names=names, definition="A growth.", parents=("MESH:2",)
    )
    two = ConceptRecord(curie="MESH:2", type="Disease", names=(Name("disease", "label"),))
    pack = build_small(tmp_path / "pack", {"all": [one, two]}, parts=REAL_PARTS)
    export(pack.folder, tmp_path / "names.tsv")
    lines = [
        line.split("\t")
        for line in (tmp_path / "names.tsv").read_text(encoding="utf-8").splitlines()
    ]
    titles, *rows = lines
    assert titles == [*COLUMNS]
    assert [(row[titles.index("parents")], row[titles.index("definition")]) for row in rows] == [
        ("MESH:2", "A growth."),
        ("", ""),
        ("", ""),
    ]


def test_an_export_can_keep_which_vocabulary_leads(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In one source the alphabet would decide, and DOID would lead."""
    (tmp_path / "mesh.tsv").write_text(
        "id\tname\treferences\nMESH:D990030\tnorrin ague\tskos:exactMatch DOID:9000020\n"
    )
    (tmp_path / "doid.tsv").write_text("id\tname\treferences\nDOID:9000020\tnorrin ague\t\n")
    columns = 'columns = { id = "id", name = "name", references = ["references"] }'
    tables = [
        f'[sources.{one}]\npath = "{one}.tsv"\nreader = "table"\ntype = "Disease"\n{columns}'
        for one in ("mesh", "doid")
    ]
    (tmp_path / "sources.toml").write_text("\n".join(['name = "p@1"', *tables]))
    build_pack(tmp_path / "sources.toml", tmp_path / "p")
    assert main(["index", "export", str(tmp_path / "p"), "-o", str(tmp_path / "names.tsv")]) == 0
    kept = 'vocabularies = ["MESH", "DOID"]'
    assert kept in capsys.readouterr().err
    columns = (
        'columns = { id = "concept", name = "surface", kind = "kind", references = ["references"] }'
    )
    table = f'[sources.names]\npath = "names.tsv"\nreader = "table"\ntype = "Disease"\n{columns}'
    for name, lines, leads in (("again", [kept], "MESH:D990030"), ("other", [], "DOID:9000020")):
        (tmp_path / f"{name}.toml").write_text("\n".join(['name = "p@1"', *lines, table]))
        build_pack(tmp_path / f"{name}.toml", tmp_path / name)
        (mention,) = load(tmp_path / name)("Norrin ague was seen.")
        assert mention.links[0].curie == leads
    changes = find_changes(Pack.open(tmp_path / "p"), Pack.open(tmp_path / "other"))
    assert {(one.concept, one.before, one.after) for one in changes} == {
        ("DOID:9000020", "leading concept MESH:D990030", ""),
        ("MESH:D990030", "", "leading concept DOID:9000020"),
    }
