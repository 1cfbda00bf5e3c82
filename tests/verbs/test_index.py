"""``fascicle index``: packs are built, counted, verified, explained, compared and exported."""

from __future__ import annotations

import gzip
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fascicle import write
from fascicle.core.document import Document
from fascicle.core.mention import Mention
from fascicle.loading import load
from fascicle.terms.pack.export import COLUMNS
from fascicle.terms.pack.pack import Pack
from fascicle.verbs.tasks.index_build import build_pack

Cli = Callable[..., Any]
Refused = Callable[..., str]

OBO = """format-version: 1.2

[Term]
id: DOID:4
name: disease

[Term]
id: DOID:162
name: cancer
synonym: "malignant tumour" EXACT []
is_a: DOID:4

[Term]
id: DOID:0
name: obsolete growth
is_obsolete: true
replaced_by: DOID:162
"""
GENES = "id\tname\tkind\nNCBIGene:847\tCAT\tlabel\nNCBIGene:847\tcatalase\tsynonym\n"
SOURCES = """name = "toy@1"

[sources.doid]
path = "doid.obo"
reader = "obo"
type = "Disease"
licence = "CC0-1.0"
date = 2016-09-01

[sources.genes]
path = "genes.tsv"
reader = "table"
type = "Gene"
columns = { id = "id", name = "name", kind = "kind" }
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("home")
    (place / "doid.obo").write_text(OBO, encoding="utf-8")
    (place / "genes.tsv").write_text(GENES, encoding="utf-8")
    (place / "sources.toml").write_text(SOURCES, encoding="utf-8")
    build_pack(place / "sources.toml", place / "pack")
    (place / "doid.obo").write_text(OBO.replace("malignant tumour", "neoplasm"), encoding="utf-8")
    build_pack(place / "sources.toml", place / "later")
    (place / "doid.obo").write_text(OBO, encoding="utf-8")
    return place


def test_build_says_what_it_wrote_and_never_replaces_unasked(
    home: Path, tmp_path: Path, cli: Cli, refused: Refused
) -> None:
    done = cli("index", "build", home / "sources.toml", "-o", tmp_path / "pack")
    assert done.code == 0
    assert done.out.strip() == Pack.open(home / "pack").full_name
    assert "doid" in done.err
    assert "--overwrite" in refused(
        "index", "build", home / "sources.toml", "-o", tmp_path / "pack"
    )
    done = cli(
        "index", "build", home / "sources.toml", "-o", tmp_path / "pack", "--overwrite", "--json"
    )
    manifest = json.loads(done.out)
    facts = {source["name"]: source for source in manifest["sources"]}
    assert (facts["doid"]["date"], facts["doid"]["licence"]) == ("2016-09-01", "CC0-1.0")
    assert len(facts["doid"]["sha256"][0]) == 64
    assert facts["genes"]["counts"]["names"] == 2
    assert str(home) not in done.out  # the same inputs elsewhere give the same pack


def test_build_refuses_bad_sources(home: Path, tmp_path: Path, refused: Refused) -> None:
    (tmp_path / "bad.toml").write_text(SOURCES.replace('"obo"', '"obi"'), encoding="utf-8")
    assert "obo" in refused("index", "build", tmp_path / "bad.toml", "-o", tmp_path / "pack")
    (tmp_path / "bad.toml").write_text(SOURCES, encoding="utf-8")
    assert "doid.obo" in refused("index", "build", tmp_path / "bad.toml", "-o", tmp_path / "pack")
    assert "none.toml" in refused("index", "build", tmp_path / "none.toml", "-o", tmp_path / "pack")
    assert [path.name for path in tmp_path.iterdir()] == ["bad.toml"]


def test_build_says_what_it_left_out(home: Path, tmp_path: Path, cli: Cli) -> None:
    names = "id\tname\tkind\nNCBIGene:847\tCAT\tlabel\nNCBIGene:none\tnone\tlabel\n"
    (tmp_path / "genes.tsv").write_text(names, encoding="utf-8")
    shutil.copyfile(home / "doid.obo", tmp_path / "doid.obo")
    (tmp_path / "sources.toml").write_text(SOURCES, encoding="utf-8")
    done = cli("index", "build", tmp_path / "sources.toml", "-o", tmp_path / "pack")
    assert done.code == 0
    assert "identifier 1" in done.err
    shutil.rmtree(tmp_path / "pack")
    (tmp_path / "genes.tsv").write_text(names.replace("NCBIGene:847", "gene 847"), encoding="utf-8")
    (tmp_path / "doid.obo").write_text(OBO.replace("id: DOID:", "id: none "), encoding="utf-8")
    done = cli("index", "build", tmp_path / "sources.toml", "-o", tmp_path / "pack")
    assert done.code == 2
    assert "genes.tsv" in done.err
    assert "doid.obo" in done.err
    assert not (tmp_path / "pack").exists()


def test_build_says_what_is_wrong_with_rules(home: Path, tmp_path: Path, cli: Cli) -> None:
    for name in ("doid.obo", "genes.tsv"):
        shutil.copyfile(home / name, tmp_path / name)
    rules = [
        "drop\tcancer",
        "add\tcancer\t\tDOID:162",
        "ner_off\tcancer",
        "drop\tnothing of the sort",
    ]
    rules += ["drop\tCAT\tgens", "prefer\tcancer\t\tDOID:999"]
    (tmp_path / "rules.tsv").write_text(
        "action\tsurface\tsource\tconcept\n" + "\n".join(rules) + "\n", encoding="utf-8"
    )
    text = SOURCES.replace('name = "toy@1"', 'name = "toy@1"\ncuration = ["rules.tsv"]')
    (tmp_path / "sources.toml").write_text(text, encoding="utf-8")
    done = cli("index", "build", tmp_path / "sources.toml", "-o", tmp_path / "pack")
    assert done.code == 0
    for said in ("rules.tsv:4", "contradicts", "'gens'", "DOID:999"):
        assert said in done.err
    assert "nothing of the sort" not in done.err
    done = cli("index", "build", tmp_path / "sources.toml", "-o", tmp_path / "again", "--verbose")
    assert "nothing of the sort" in done.err
    assert (tmp_path / "pack" / "manifest.json").read_bytes() == (
        tmp_path / "again" / "manifest.json"
    ).read_bytes()


def test_stats(home: Path, cli: Cli) -> None:
    told = cli("index", "stats", home / "pack")
    assert "CC0-1.0" in told.out
    counts = json.loads(cli("index", "stats", home / "pack", "--json").out)
    assert counts["concepts"] == {"Disease": 3, "Gene": 1}
    assert counts["terms"] == {"Disease": 3, "Gene": 2}


def test_verify(home: Path, tmp_path: Path, cli: Cli, refused: Refused) -> None:
    assert "bytes" in cli("index", "verify", home / "pack").out
    folder = Path(shutil.copytree(home / "pack", tmp_path / "pack"))
    table = folder / "tokens.table"
    content = bytearray(table.read_bytes())
    content[-1] ^= 1
    table.write_bytes(content)
    assert "tokens.table" in refused("index", "stats", folder)
    assert "tokens.table" in refused("index", "verify", folder)
    table.unlink()
    assert "tokens.table" in refused("index", "why", folder, "cancer")
    assert "no term pack" in refused("index", "stats", tmp_path)


def test_why(home: Path, cli: Cli) -> None:
    told = cli("index", "why", home / "pack", "Malignant tumors").out
    assert "DOID:162" in told
    assert "DOID:4" in told
    assert "replaced by DOID:162" in cli("index", "why", home / "pack", "obsolete growth").out
    values = json.loads(cli("index", "why", home / "pack", "CAT", "--json").out)
    assert [(one["term"]["surface"], one["case"]) for one in values["terms"]] == [("CAT", "symbol")]


def test_diff(home: Path, cli: Cli) -> None:
    told = cli("index", "diff", home / "pack", home / "later")
    assert {tuple(line.split("\t")[:4]) for line in told.out.splitlines()} == {
        ("removed", "term", "DOID:162", "malignant tumour"),
        ("added", "term", "DOID:162", "neoplasm"),
    }
    assert "1" in told.err
    rows = [
        json.loads(line)
        for line in cli("index", "diff", home / "pack", home / "later", "--json").out.splitlines()
    ]
    assert {row["change"] for row in rows} == {"added", "removed"}
    assert cli("index", "diff", home / "pack", home / "pack").out == ""


def test_diff_in_texts(home: Path, tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "a.txt").write_text(
        "A neoplasm, or malignant tumour, is cancer. CAT was low.", encoding="utf-8"
    )
    told = cli(
        "index", "diff", home / "pack", home / "later", "--corpus", tmp_path / "a.txt", "--json"
    )
    rows = [row for row in map(json.loads, told.out.splitlines()) if row["what"] == "mention"]
    assert [(row["change"], row["surface"], row["concept"], row["place"]) for row in rows] == [
        ("added", "neoplasm", "DOID:162", "2-10"),
        ("removed", "malignant tumour", "DOID:162", "15-31"),
    ]
    assert rows[0]["words"] == "A [neoplasm], or malignant tumour, is cancer. CAT was low."
    same = cli("index", "diff", home / "pack", home / "pack", "--corpus", tmp_path / "a.txt")
    assert (same.code, same.out) == (0, "")


def test_diff_with_rules(home: Path, tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "a.txt").write_text("A bad growth was seen.", encoding="utf-8")
    rules = tmp_path / "rules.tsv"
    rules.write_text("action\tsurface\tconcept\nadd\tbad growth\tDOID:162\nadd\tx y\tDOID:999\n")
    told = cli("index", "diff", home / "pack", rules, "--corpus", tmp_path / "a.txt", "--json")
    rows = [*map(json.loads, told.out.splitlines())]
    assert [(row["what"], row["change"], row["surface"]) for row in rows] == [
        ("term", "added", "bad growth"),
        ("mention", "added", "bad growth"),
    ]
    assert "DOID:999 is in no source" in told.err
    built = cli("index", "extend", home / "pack", rules, "-o", tmp_path / "with-rules")
    assert (built.code, "DOID:999 is in no source" in built.err) == (0, True)
    found = cli(
        "index", "diff", home / "pack", tmp_path / "with-rules", "--corpus", tmp_path / "a.txt"
    )
    assert "[bad growth]" in found.out
    rules.write_text("action\tsurface\nburn\tbad growth\n")
    wrong = cli("index", "diff", home / "pack", rules)
    assert (wrong.code, "'burn' is not known" in wrong.err) == (2, True)


def test_an_exported_table_is_a_source(home: Path, tmp_path: Path, cli: Cli) -> None:
    assert cli("index", "export", home / "pack", "-o", tmp_path / "names.tsv").code == 0
    assert cli("index", "export", home / "pack").out == (tmp_path / "names.tsv").read_text(
        encoding="utf-8"
    )
    assert (tmp_path / "names.tsv").read_text(encoding="utf-8").splitlines()[0].split("\t") == [
        *COLUMNS
    ]
    (tmp_path / "sources.toml").write_text(
        'name = "again"\n[sources.names]\npath = "names.tsv"\nreader = "table"\n'
        'columns = { id = "concept", name = "surface", kind = "kind", language = "language", '
        'type = "type" }\n'
        'types = { Disease = "Disease", Gene = "Gene" }\n',
        encoding="utf-8",
    )
    build_pack(tmp_path / "sources.toml", tmp_path / "again")
    rows = [cli("index", "diff", home / "pack", tmp_path / "again", "--json").out.splitlines()]
    assert not [row for row in map(json.loads, *rows) if row["what"] == "term"]
    silent = cli("index", "export", home / "pack", "--silent").out.splitlines()[1:]
    assert [line.split("\t")[2] for line in silent] == ["obsolete growth"]


def test_rules_of_curation(home: Path, tmp_path: Path, cli: Cli) -> None:
    shutil.copytree(home, tmp_path / "home", dirs_exist_ok=True)
    (tmp_path / "home" / "rules.tsv").write_text(
        "action\tsurface\tsource\tconcept\tcase\tnote\n"
        "add\tneoplasia\t*\tDOID:162\t\tused in notes\n"
        "add\tnothing\t*\tDOID:999\t\t\n"
        "ner_off\tCAT\tgenes\t\t\tan animal\n",
        encoding="utf-8",
    )
    sources = tmp_path / "home" / "sources.toml"
    sources.write_text(
        SOURCES.replace("\n\n", '\ncuration = ["rules.tsv"]\n\n', 1), encoding="utf-8"
    )
    assert cli("index", "build", sources, "-o", tmp_path / "pack").code == 0
    told = cli("index", "why", tmp_path / "pack", "neoplasia").out
    assert "DOID:162" in told
    assert "rules.tsv:2" in told
    assert "not looked for" in cli("index", "why", tmp_path / "pack", "CAT").out
    counts = Pack.open(tmp_path / "pack").manifest.counts
    assert counts["concept that sources only add to"] == 1
    assert counts["rules of curation that decide nothing"] == 1


def test_a_source_that_adds_names_only_what_others_have(
    home: Path, tmp_path: Path, cli: Cli
) -> None:
    shutil.copytree(home, tmp_path / "home", dirs_exist_ok=True)
    (tmp_path / "home" / "more.tsv").write_text(
        "id\tname\nDOID:162\tneoplasia\nDOID:999\tnothing\n", encoding="utf-8"
    )
    sources = tmp_path / "home" / "sources.toml"
    more = (
        '[sources.more]\npath = "more.tsv"\nreader = "table"\ncolumns = { id = "id", label = '
        '["name"] }\n'
    )
    head, _, tail = SOURCES.partition("\n\n")
    sources.write_text(f"{head}\n\n{more}adds = true\n\n{tail}", encoding="utf-8")
    assert cli("index", "build", sources, "-o", tmp_path / "pack").code == 0
    pack = Pack.open(tmp_path / "pack")
    assert "neoplasia" in {term.surface for term in pack.names("DOID:162")}
    assert pack.concept("DOID:162").type == "Disease"
    assert pack.concept_rows(["DOID:999"]).tolist() == [-1]
    assert pack.manifest.counts["concept that sources only add to"] == 1


def test_index_alone_names_its_commands(refused: Refused) -> None:
    assert "build" in refused("index")


def test_curate_finds_what_was_planted(
    home: Path, tmp_path: Path, cli: Cli, refused: Refused
) -> None:
    """A pack with false names, rebuilt with what was proposed: they are gone, and the true ones
    are still found.
    """
    shutil.copytree(home, tmp_path / "home", dirs_exist_ok=True)
    planted = {"aloft": "NCBIGene:1", "rhubarbs": "NCBIGene:2", "Impact5": "NCBIGene:3"}
    genes = (
        GENES
        + "".join(f"{curie}\t{name}\tlabel\n" for name, curie in planted.items())
        + "NCBIGene:4\tFADS12\tlabel\n"
    )
    (tmp_path / "home" / "genes.tsv").write_text(genes, encoding="utf-8")
    sources = tmp_path / "home" / "sources.toml"
    sources.write_text(
        SOURCES.replace("\n\n", '\ncuration = ["../proposals.tsv"]\n\n', 1), encoding="utf-8"
    )
    (tmp_path / "proposals.tsv").write_text("action\tsurface\n", encoding="utf-8")
    build_pack(sources, tmp_path / "before")
    true = ("FADS12", "catalase")
    texts = [
        f"{name} stood aloft of catalase and rhubarb, impact5 or IMPACT5; fads12."
        for name in true
        for _ in range(3)
    ]
    gold = [
        Document(
            id=str(at),
            text=text,
            mentions=tuple(
                Mention((found.span(),), "Gene")
                for name in true
                for found in re.finditer(name, text)
            ),
        )
        for at, text in enumerate(texts)
    ]
    write(tmp_path / "gold.jsonl", gold)
    (tmp_path / "raw.txt").write_text(" ".join(texts * 2), encoding="utf-8")
    asked = (
        "index",
        "curate",
        tmp_path / "before",
        "--corpus",
        tmp_path / "gold.jsonl",
        "--text",
        tmp_path / "raw.txt",
    )
    assert "overwrite" in refused(*asked, "-o", tmp_path / "proposals.tsv")
    done = cli(*asked, "-o", tmp_path / "proposals.tsv", "--overwrite")
    assert done.code == 0, done.err
    rows = [
        line.split("\t")
        for line in (tmp_path / "proposals.tsv").read_text(encoding="utf-8").splitlines()
    ]
    assert rows[0] == ["action", "surface", "source", "concept", "case", "note"]
    assert {row[1] for row in rows[1:]} == {*planted, "FADS12"}
    # which fads12 does not fit
    assert [row[4] for row in rows[1:] if row[0] == "case"] == ["initial"]
    assert cli(*asked).out.splitlines() == ["\t".join(row) for row in rows]
    build_pack(sources, tmp_path / "after")
    before, after = (
        {m.text_in(text) for text in texts for m in load(tmp_path / name)(text)}
        for name in ("before", "after")
    )
    assert before == {*true, "aloft", "rhubarb", "impact5", "IMPACT5", "fads12"}
    assert after == {*true}


def test_curate_refuses(home: Path, tmp_path: Path, refused: Refused, cli: Cli) -> None:
    assert "no text" in refused("index", "curate", home / "pack")
    assert "none.txt" in refused("index", "curate", home / "pack", "--text", tmp_path / "none.txt")
    (tmp_path / "raw.txt").write_text("CAT", encoding="utf-8")
    assert "no term pack" in refused("index", "curate", tmp_path, "--text", tmp_path / "raw.txt")
    done = cli("index", "curate", home / "pack", "--text", tmp_path / "raw.txt")
    assert (done.code, len(done.out.splitlines())) == (0, 1)


def test_the_labels_that_are_left_out_are_listed(
    home: Path, tmp_path: Path, cli: Cli, refused: Refused
) -> None:
    shutil.copy(home / "doid.obo", tmp_path)
    shutil.copy(home / "genes.tsv", tmp_path)
    sources, listed = tmp_path / "sources.toml", tmp_path / "list.tsv"
    sources.write_text(SOURCES + 'without = ["^CAT$"]\nmin_names = 2\n')
    listed.write_text("mine")
    asked = ("index", "build", sources, "-o", tmp_path / "new", "--left-out", listed)
    assert "list.tsv" in refused(*asked)
    assert not (tmp_path / "new").exists()
    assert listed.read_text() == "mine"
    listed.unlink()
    assert cli(*asked).code == 0
    assert "NCBIGene:847\tCAT\twithout" in listed.read_text(encoding="utf-8").splitlines()
    before = (tmp_path / "genes.tsv").read_bytes()
    told = refused(*asked[:-1], tmp_path / "genes.tsv", "--overwrite")
    assert "would be lost" in told
    assert (tmp_path / "genes.tsv").read_bytes() == before


def test_one_vocabulary_needs_no_list(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "own.obo").write_text(OBO, encoding="utf-8")
    with gzip.open(tmp_path / "hp.obo.gz", "wt", encoding="utf-8") as stream:
        stream.write(OBO)
    (tmp_path / "genes.tsv").write_text(GENES, encoding="utf-8")
    assert (
        cli(
            "index", "build", tmp_path / "hp.obo.gz", "--type", "Phenotype", "-o", tmp_path / "hpo"
        ).code
        == 0
    )
    pack = Pack.open(tmp_path / "hpo")
    assert (pack.manifest.name, pack.types) == ("hpo", ("Phenotype",))
    assert [term.surface for term in pack.names("DOID:162")] == ["cancer", "malignant tumour"]
    assert (
        cli(
            "index", "build", tmp_path / "genes.tsv", "--type", "Gene", "-o", tmp_path / "genes"
        ).code
        == 0
    )
    assert Pack.open(tmp_path / "genes").types == ("Gene",)


def test_one_vocabulary_needs_a_type_and_a_known_name(refused: Refused, tmp_path: Path) -> None:
    (tmp_path / "own.obo").write_text(OBO, encoding="utf-8")
    (tmp_path / "own.unknown").write_text(OBO, encoding="utf-8")
    assert "give one with --type" in refused(
        "index", "build", tmp_path / "own.obo", "-o", tmp_path / "x"
    )
    said = refused(
        "index", "build", tmp_path / "own.unknown", "--type", "Disease", "-o", tmp_path / "x"
    )
    assert "write a TOML file with its path, reader and type" in said
    assert not (tmp_path / "x").exists()
