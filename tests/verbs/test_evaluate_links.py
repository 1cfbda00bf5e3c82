"""``fascicle evaluate --links``: predictions with links, and a linker over the mentions of gold,
against gold.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.evaluation.html_reader import HtmlReader
from tests.support.linking import RECORDS, build_pack, corpus, document
from tests.support.packs import REAL_PARTS, build_small

import fascicle
from fascicle.core.document import Document, Mention
from fascicle.core.mention import Link
from fascicle.verbs.evaluate_links import LinkSettings, evaluate_links
from fascicle.verbs.linker import fit_folder
from fascicle.verbs.tasks import index_build

Cli = Callable[..., Any]
Refused = Callable[..., str]
GOLD = [
    document(
        "AT and breast cancer in patients with telomerase",
        ("AT", "Disease", "MESH:D3"),
        ("breast cancer", "Disease", "MESH:D1"),
        ("telomerase", "Gene", "NCBIGene:1"),
        identifier="a",
    ),
    document(
        "Glioblastoma and ovarian cancer, not the zebra disease",
        ("Glioblastoma", "Disease", "MESH:D5"),
        ("ovarian cancer", "Disease", "MESH:D2"),
        ("zebra disease", "Disease", "MESH:D77"),
        identifier="b",
    ),
    document("Nothing is here", identifier="c"),
]
FOUND = [
    document(
        "AT and breast cancer in patients with telomerase",
        ("AT", "Disease", "MESH:D4"),
        ("breast cancer", "Disease", "MESH:D1"),
        ("telomerase", "Gene", "NCBIGene:2"),
        identifier="a",
    ),
    document(
        "Glioblastoma and ovarian cancer, not the zebra disease",
        ("Glioblastoma", "Disease", "MESH:D5"),
        ("cancer", "Disease", "MESH:D9"),
        ("zebra disease", "Disease", ""),
        identifier="b",
    ),
    document("Nothing is here", identifier="c"),
]


def bare(documents: Sequence[Document]) -> list[Document]:
    """The same with identifiers of genes as corpora write them."""
    return [
        msgspec.structs.replace(
            one,
            mentions=tuple(
                msgspec.structs.replace(each, links=tuple(Link(id=link.id) for link in each.links))
                if each.type == "Gene"
                else each
                for each in one.mentions
            ),
        )
        for one in documents
    ]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("home")
    build_pack(place / "pack")
    fit_folder(place / "pack", place / "fitted", documents=corpus())
    fascicle.write(place / "gold.jsonl", GOLD)
    fascicle.write(place / "bare.jsonl", bare(GOLD))
    fascicle.write(place / "found.jsonl", FOUND)
    fascicle.write(place / "train.jsonl", corpus(4))
    return place


def value(report: dict[str, Any], name: str, at: int = 0) -> tuple[int, int]:
    row = report["systems"][at]["figures"][name]
    return row["part"], row["whole"]


def test_predictions_are_scored(home: Path, cli: Cli) -> None:
    done = cli(
        "evaluate",
        home / "gold.jsonl",
        home / "found.jsonl",
        "--links",
        "--pack",
        home / "pack",
        "--json",
    )
    assert done.code == 0, done.err
    report = json.loads(done.out)
    assert value(report, "recall") == (2, 6)
    assert value(report, "precision") == (2, 5)
    assert value(report, "f1") == (4, 11)
    assert value(report, "ceiling") == (5, 6)
    assert value(report, "nil_precision") == (1, 1)
    assert value(report, "concept_f1") == (2 * 2, 6 + 5)
    assert "recall@20" not in report["systems"][0]["figures"]
    errors = {name: row["wrong"] for name, row in report["systems"][0]["errors"].items()}
    assert errors == {
        "ambiguous abbreviation": 1,
        "wrong species": 1,
        "not recognised": 1,
        "no such mention": 1,
        "not in the vocabulary": 1,
    }
    assert report["gold"]["types"] == {"Disease": 5, "Gene": 1}
    (example,) = report["systems"][0]["examples"]["wrong species"]
    assert example["gold"] == [{"curie": "NCBIGene:1", "label": "TERT", "taxon": "NCBITaxon:9606"}]


def test_a_linker_links_the_mentions_of_gold(home: Path, cli: Cli) -> None:
    files = (home / "gold.jsonl", "--links", "--linker", home / "fitted", "--pack", home / "pack")
    report = json.loads(cli("evaluate", *files, "--json").out)
    assert report["systems"][0]["name"] == "fitted"
    assert value(report, "recall@1") == (5, 6)
    assert value(report, "recall@20") == (5, 6)
    assert report["systems"][0]["figures"]["calibration_error"]["value"] is not None
    assert report["systems"][0]["tiers"]["exact"]["answered"] >= 3
    text = cli("evaluate", *files).out
    assert "recall@1" in text
    assert "83.33" in text


def test_a_link_counts_by_any_of_its_identifiers(home: Path) -> None:
    """In the mention, in the concepts of the document, and of a linker; one that no identifier
    fits is wrong.
    """
    text = "breast cancer and mammary carcinoma"
    named = document(
        text, ("breast cancer", "Disease", "DOID:1"), ("mammary carcinoma", "Disease", "")
    )
    first, second = named.mentions
    bare = msgspec.structs.replace(second, links=())
    links = (Link(id="D1", ontology="MESH", curie="MESH:D1", same=("OMIM:1", "DOID:1")),)
    gold = [Document(id="a", text=text, mentions=(first,))]
    said = [
        Document(
            id="a",
            text=text,
            mentions=tuple(msgspec.structs.replace(m, links=links) for m in (first, bare)),
        )
    ]
    report = evaluate_links(gold, [said], linker=home / "fitted", pack=home / "pack").report()
    assert [value(report, "recall", at) for at in (0, 1)] == [(1, 1), (1, 1)]
    assert value(report, "recall@1", 1) == (1, 1)
    assert [value(report, "concept_f1", at) for at in (0, 1)] == [(2, 2), (2, 2)]
    assert value(report, "precision") == (1, 2)  # gold has no second mention
    other = [
        msgspec.structs.replace(
            gold[0], mentions=(msgspec.structs.replace(first, links=(Link(id="DOID:2"),)),)
        )
    ]
    assert value(evaluate_links(other, [said]).report(), "recall") == (0, 1)


def test_a_linker_and_the_links_that_it_wrote_have_one_score(home: Path, tmp_path: Path) -> None:
    fascicle.write(tmp_path / "linked.jsonl", fascicle.link(GOLD, linker=home / "fitted"))
    written, asked = evaluate_links(
        home / "gold.jsonl", tmp_path / "linked.jsonl", linker=home / "fitted"
    ).systems
    told = [
        [(one.start, one.answer, one.score, one.tier) for one in each.cases]
        for each in (written, asked)
    ]
    assert told[0] == told[1]
    assert any(score for _, _, score, _ in told[0])


def test_two_names_of_one_concept_in_a_mention_have_the_score_of_its_link(tmp_path: Path) -> None:
    name = "schizophreniform or schizoaffective disorder"
    gold = [document(f"Patients had {name}", (name, "Disease", "MESH:D011618"), identifier="a")]
    fascicle.write(tmp_path / "gold.jsonl", gold)
    bare = [msgspec.structs.replace(one, links=(), score=0.7) for one in gold[0].mentions]
    (linked,) = fascicle.link(
        [msgspec.structs.replace(gold[0], mentions=tuple(bare))], linker="basic"
    )
    fascicle.write(tmp_path / "linked.jsonl", [linked])
    scored = [msgspec.structs.replace(one, score=0.7) for one in gold[0].mentions]
    fascicle.write(
        tmp_path / "scored.jsonl", [msgspec.structs.replace(gold[0], mentions=tuple(scored))]
    )
    (written,) = evaluate_links(tmp_path / "gold.jsonl", tmp_path / "linked.jsonl").systems
    (asked,) = evaluate_links(tmp_path / "scored.jsonl", linker="basic").systems
    assert len(asked.cases[0].parts) == 2
    assert [(one.answer, one.score, one.tier) for one in asked.cases] == [
        (one.answer, one.score, one.tier) for one in written.cases
    ]


def test_a_linker_finds_its_packs(home: Path, cli: Cli, refused: Refused) -> None:
    files = ("evaluate", home / "gold.jsonl", "--links", "--json", "--linker")
    alone = json.loads(cli(*files, home / "fitted").out)
    assert alone == json.loads(cli(*files, home / "fitted", "--pack", home / "pack").out)
    build_small(home / "other", {"all": RECORDS["all"][:6]}, parts=REAL_PARTS)
    fit_folder([home / "pack", home / "other"], home / "both", documents=corpus())
    both = json.loads(cli(*files, home / "both").out)
    assert value(both, "recall@1") == value(alone, "recall@1")
    assert "no use" in refused(
        *files, home / "fitted", "--pack", home / "pack", "--pack", home / "other"
    )


def test_links_of_gold_do_not_help_the_linker(home: Path) -> None:
    given = document(
        "Telomerase in this worm", ("Telomerase", "Gene", "NCBIGene:2"), ("worm", "Species", "")
    )
    link = Link(id="10090", curie="NCBITaxon:10090")
    worm = msgspec.structs.replace(given.mentions[1], links=(link,))
    told = msgspec.structs.replace(given, mentions=(given.mentions[0], worm))
    (one, other) = (
        evaluate_links([each], linker=home / "fitted", pack=home / "pack").systems[0].cases
        for each in (given, told)
    )
    assert one[0].parts == other[0].parts


def test_abbreviations_of_texts_without_any_are_looked_for(home: Path) -> None:
    text = "ataxia telangiectasia (ATX) is bad, and ATX too"
    given = document(text, ("ATX", "Disease", "MESH:D3"))
    (case,) = evaluate_links([given], linker=home / "fitted", pack=home / "pack").systems[0].cases
    assert any("MESH:D3" in part for part in case.parts)


def test_two_systems_are_compared_and_training_is_told_apart(
    home: Path, tmp_path: Path, cli: Cli
) -> None:
    files = (home / "found.jsonl", "--links", "--linker", home / "fitted", "--pack", home / "pack")
    done = cli("evaluate", home / "gold.jsonl", *files, "--train", home / "train.jsonl", "--json")
    report = json.loads(done.out)
    assert [one["name"] for one in report["systems"]] == ["found", "fitted"]
    rows = {row["figure"]: row["difference"] for row in report["differences"]}
    assert rows["recall@1"]["estimate"] == pytest.approx(5 / 6 - 2 / 6)
    assert 0 < rows["recall@1"]["p_value"] <= 1
    subsets = report["systems"][1]["subsets"]
    assert (
        subsets["seen_concepts"]["recall@1"]["part"],
        subsets["seen_concepts"]["recall@1"]["whole"],
    ) == (4, 4)
    assert subsets["unseen_surfaces"]["recall@1"]["whole"] == 3


def test_one_document_has_no_interval(home: Path, cli: Cli, tmp_path: Path) -> None:
    for name, documents in (("gold", GOLD), ("found", FOUND), ("same", GOLD)):
        fascicle.write(tmp_path / f"{name}.jsonl", documents[:1])
    paths = [tmp_path / f"{name}.jsonl" for name in ("gold", "found", "same")]
    arguments = ("evaluate", *paths, "--links", "--pack", home / "pack")
    report = json.loads(cli(*arguments, "--json").out)
    assert value(report, "recall") == (1, 3)
    for system in report["systems"]:
        assert {row["interval"] for row in system["figures"].values()} == {None}
    assert {row["difference"] for row in report["differences"]} == {None}
    assert any("only one document" in row["undefined"] for row in report["differences"])
    assert cli(*arguments).code == 0


def test_a_training_corpus_may_lack_a_type(home: Path, cli: Cli, tmp_path: Path) -> None:
    """Nothing of the type was seen in training then."""
    other = document("telomerase", ("telomerase", "Gene", "NCBIGene:1"))
    fascicle.write(tmp_path / "train.jsonl", [other])
    paths = (home / "gold.jsonl", home / "found.jsonl", "--links", "--pack", home / "pack")
    result = cli(
        "evaluate", *paths, "--train", tmp_path / "train.jsonl", "--type", "Disease", "--json"
    )
    assert result.code == 0, result.err
    subsets = json.loads(result.out)["systems"][0]["subsets"]
    assert subsets["seen_surfaces"]["recall"]["whole"] == 0
    assert subsets["unseen_surfaces"]["recall"]["whole"] == 5


def test_identifiers_without_a_prefix(home: Path, cli: Cli, refused: Refused) -> None:
    files = ("evaluate", home / "bare.jsonl", home / "found.jsonl", "--links", "--json")
    assert "Gene=NCBIGene" in refused(*files)
    prefixes = ("--prefix", "Gene=NCBIGene")
    wanted = json.loads(cli("evaluate", home / "gold.jsonl", *files[2:]).out)["systems"][0][
        "figures"
    ]
    for more in (prefixes, ("--pack", home / "pack")):
        found = json.loads(cli(*files, *more).out)["systems"][0]["figures"]
        assert {
            name: row["value"]
            for name, row in found.items()
            if "nil" not in name and name != "ceiling"
        } == {
            name: row["value"]
            for name, row in wanted.items()
            if "nil" not in name and name != "ceiling"
        }
    alike = json.loads(
        cli("evaluate", home / "bare.jsonl", home / "bare.jsonl", "--links", "--json").out
    )
    assert value(alike, "f1") == (12, 12)


def test_types_without_links_and_mentions_without_links_do_not_count() -> None:
    gold = document(
        "AT and cancer and mice", ("AT", "Disease", "MESH:D3"), ("cancer", "Disease", "")
    )
    said = document(
        "AT and cancer and mice",
        ("AT", "Disease", "MESH:D3"),
        ("cancer", "Disease", "MESH:D9"),
        ("mice", "Species", "NCBITaxon:10090"),
    )
    (system,) = evaluate_links([gold], [said]).systems
    assert [(one.where, one.surface) for one in system.cases] == [("matched", "AT")]
    scored = (
        evaluate_links([gold], [said], settings=LinkSettings(types={"Disease": "Disease"}))
        .systems[0]
        .cases
    )
    assert scored == system.cases


def test_reports_are_written(home: Path, tmp_path: Path, cli: Cli, refused: Refused) -> None:
    files = (
        "evaluate",
        home / "gold.jsonl",
        home / "found.jsonl",
        "--links",
        "--pack",
        home / "pack",
    )
    for suffix in (".html", ".md", ".json"):
        done = cli(*files, "--linker", home / "fitted", "--report", tmp_path / f"links{suffix}")
        assert done.code == 0, done.err
    report = json.loads((tmp_path / "links.json").read_text())
    page = HtmlReader((tmp_path / "links.html").read_text())
    assert page.open_at_end == []
    assert len(page.ids) == len(set(page.ids))
    assert "telomerase" in page.text
    errors = {row[0]: row[1] for row in page.tables["What goes wrong?"][2:]}
    assert errors["wrong species"] == f"{report['systems'][0]['errors']['wrong species']['wrong']}"
    assert "wrong species" in (tmp_path / "links.md").read_text()
    assert "--overwrite" in refused(*files, "--report", tmp_path / "links.html")
    assert ".html" in refused(*files, "--report", tmp_path / "links.txt")


def test_bad_use_is_refused(home: Path, tmp_path: Path, refused: Refused) -> None:
    gold, found = home / "gold.jsonl", home / "found.jsonl"
    assert "--links" in refused("evaluate", gold, found, "--pack", home / "pack")
    assert "predictions" in refused("evaluate", gold, "--links")
    assert "no linker" in refused("evaluate", gold, "--links", "--linker", home)
    assert "--model" in refused("evaluate", gold, found, "--links", "--model", "biomed")
    assert "--prefix" in refused("evaluate", gold, found, "--links", "--prefix", "Disease")
    assert "--train" in refused("evaluate", gold, found, "--links", "--train-where", "a=b")
    fascicle.write(tmp_path / "plain.jsonl", [Document(id="a", text="no link")])
    assert "link" in refused("evaluate", tmp_path / "plain.jsonl", found, "--links")
    fascicle.write(tmp_path / "less.jsonl", FOUND[:1])
    assert "lacks 2 documents" in refused("evaluate", gold, tmp_path / "less.jsonl", "--links")


def test_a_merged_identifier_of_gold_is_that_of_today(tmp_path: Path) -> None:
    rows = "MESH:D000001\told ague\ttrue\tMESH:D000002\nMESH:D000002\tague\t\t\n"
    rows += "MESH:D000003\tother\ttrue\tMESH:D000001|MESH:D000002\n"
    (tmp_path / "a.tsv").write_text(f"id\tname\tobsolete\treplaced_by\n{rows}")
    index_build.build_pack(tmp_path / "a.tsv", tmp_path / "p", kind="Disease")
    curies = ("MESH:D000001", "MESH:D000003", "MESH:D000002")
    gold, said = (
        [
            Document(
                id=str(at),
                text="ague",
                mentions=(
                    Mention(
                        ((0, 4),), "Disease", links=(Link(id=one[5:], ontology="MESH", curie=one),)
                    ),
                ),
            )
            for at, one in enumerate(several)
        ]
        for several in (curies, ("MESH:D000002",) * 3)
    )
    found = evaluate_links(gold, said, pack=tmp_path / "p")
    assert [sorted(case.gold) for case in found.systems[0].cases] == [
        ["MESH:D000002"],
        ["MESH:D000003"],
        ["MESH:D000002"],
    ]
    assert (
        "1 link of the gold to 1 identifier that one concept of the pack replaced counts as "
        "links to it" in found.notes
    )
