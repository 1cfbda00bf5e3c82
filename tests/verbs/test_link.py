"""``fascicle linker`` and ``fascicle link``: links are fitted, written and explained, and bad
use is refused.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import permutations
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.support.linking import build_pack, corpus
from tests.support.linking import document as document_of
from tests.support.packs import without_sets

import fascicle
from fascicle.core.mention import Link
from fascicle.formats.outputs import write
from fascicle.linking.opening import find

Cli = Callable[..., Any]
Refused = Callable[..., str]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("home")
    build_pack(place / "pack")
    write(place / "gold.jsonl", corpus())
    bare = [one.text for one in corpus(2)]
    lines = [
        f"{number}|t|{text}\n{number}|a|\n{number}\t{text.index('AT')}\t{text.index('AT') + 2}\tAT\tSpecificDisease\n"
        for number, text in enumerate(bare)
    ]
    (place / "mentions.pubtator").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return place


@pytest.fixture(scope="module")
def linker(home: Path) -> Path:
    from fascicle.verbs.linker import fit_folder

    fit_folder(home / "pack", home / "linker", documents=fascicle.read(home / "gold.jsonl"))
    return home / "linker"


def test_fit_says_what_tiers_are_worth(
    home: Path, linker: Path, tmp_path: Path, cli: Cli, refused: Refused
) -> None:
    asked = (
        "linker",
        "fit",
        home / "pack",
        "--corpus",
        home / "gold.jsonl",
        "-o",
        tmp_path / "linker",
    )
    done = cli(*asked, "--index-of", linker)
    assert done.code == 0
    assert "Disease: 120 mentions" in done.out
    assert find(tmp_path / "linker").fingerprint == find(linker).fingerprint
    assert "--overwrite" in refused(*asked)
    found = json.loads(cli(*asked, "--overwrite", "--json").out)
    assert not [name for name in found["rankers"]["Disease"]["weights"] if "MESH" in name]


def test_links_are_written(home: Path, linker: Path, tmp_path: Path, cli: Cli) -> None:
    files = ("--pack", home / "pack", "--linker", linker)
    done = cli("link", home / "mentions.pubtator", *files, "-o", tmp_path / "linked.jsonl")
    assert done.code == 0, done.err
    found = [
        link
        for one in fascicle.read(tmp_path / "linked.jsonl")
        for each in one.mentions
        for link in each.links
    ]
    assert [(link.curie, link.tier) for link in found] == [("MESH:D3", "exact")] * 2
    assert all(link.score is not None and link.score > 0.5 for link in found)
    again = list(
        fascicle.link(fascicle.read(home / "mentions.pubtator"), linker=linker, pack=home / "pack")
    )
    assert [link for one in again for each in one.mentions for link in each.links] == found


def test_another_ontology_is_nil_without_a_reference(
    home: Path, linker: Path, cli: Cli, refused: Refused
) -> None:
    files = (home / "mentions.pubtator", "--pack", home / "pack", "--linker", linker)
    done = cli("link", *files, "--ontology", "DOID")
    assert done.code == 0
    (link,) = json.loads(done.out.splitlines()[0])["mentions"][0]["links"]
    assert link["nil"]
    assert cli("link", *files, "--ontology", "do") == done  # in any spelling
    assert "DOIT" in refused("link", *files, "--ontology", "DOIT")


def test_why_shows_candidates_and_weights(
    home: Path, linker: Path, cli: Cli, refused: Refused
) -> None:
    files = (home / "mentions.pubtator", "--pack", home / "pack", "--linker", linker)
    done = cli("link", *files, "--why")
    assert done.code == 0
    assert done.out.index("MESH:D3") < done.out.index("MESH:D4")
    first = json.loads(cli("link", *files, "--why", "--json-lines").out.splitlines()[0])
    assert [one["curie"] for one in first["candidates"]] == ["MESH:D3", "MESH:D4"]
    assert sum(one["probability"] for one in first["candidates"]) + first["nil"] == pytest.approx(1)
    assert "--why" in refused("link", *files, "--why", "--ontology", "DOID")


def test_links_that_are_there_are_replaced_and_kept_on_request(
    home: Path, linker: Path, tmp_path: Path, cli: Cli
) -> None:
    files = ("--pack", home / "pack", "--linker", linker)
    given = tmp_path / "linked.jsonl"
    wrong = Link(id="D4", ontology="MESH", curie="MESH:D4")
    write(
        given,
        [
            msgspec.structs.replace(
                one,
                mentions=tuple(
                    msgspec.structs.replace(each, links=(wrong,)) for each in one.mentions
                ),
            )
            for one in fascicle.read(home / "mentions.pubtator")
        ],
    )
    for options, curie, said in (
        ((), "MESH:D3", "replaced"),
        (("--keep-links",), "MESH:D4", "kept"),
    ):
        done = cli("link", given, *files, *options)
        assert done.code == 0
        found = [json.loads(line)["mentions"][0]["links"] for line in done.out.splitlines()]
        assert [[one["curie"] for one in links] for links in found] == [[curie]] * 2
        (line,) = (line for line in done.err.splitlines() if "links" in line)
        assert said in line
        assert "2 mentions" in line
        assert "--keep-links" in line
        why = cli("link", given, *files, *options, "--why", "--json-lines")
        answers = [json.loads(line)["candidates"][0]["curie"] for line in why.out.splitlines()]
        assert answers == ([] if options else [curie] * 2)
    assert (
        "--keep-links"
        not in cli("link", home / "mentions.pubtator", *files, "-o", tmp_path / "new.jsonl").err
    )


def test_types_that_no_pack_has_are_said(
    home: Path, linker: Path, tmp_path: Path, cli: Cli
) -> None:
    files = ("--pack", home / "pack", "--linker", linker)
    content = (home / "mentions.pubtator").read_text(encoding="utf-8")
    other = tmp_path / "other.pubtator"
    other.write_text(content.replace("\tSpecificDisease", "\tNothing", 1), encoding="utf-8")
    assert "no pack has" not in cli("link", home / "mentions.pubtator", *files).err
    done = cli("link", other, *files)
    assert done.code == 0
    assert "note: 1 mention unchanged, because no pack has the type: 'Nothing' (1)" in done.err


def test_what_goes_against_another_option_is_refused(
    home: Path, linker: Path, refused: Refused
) -> None:
    given = home / "mentions.pubtator"
    assert "--ontology" in refused("link", given, "--ontology", "MESH", "--ontology", "DOID")
    assert "--ontology" in refused("evaluate", given, given, "--links", "--ontology", "MESH")
    assert "--ontology" in refused("annotate", "--text", "a", "--no-link", "--ontology", "MESH")
    assert "DOIT" in refused("annotate", "--text", "a", "--ontology", "DOIT")
    for first, second in permutations((("--link", str(linker)), ("--no-link",))):
        assert "--no-link" in refused("annotate", "--text", "a", *first, *second)


def test_several_linkers_answer_in_order(
    home: Path, linker: Path, tmp_path: Path, cli: Cli
) -> None:
    (tmp_path / "in.pubtator").write_text(
        "1|t|AT or asthma\n1|a|\n1\t0\t2\tAT\tDisease\n1\t6\t12\tasthma\tDisease\n\n"
    )
    done = cli("link", tmp_path / "in.pubtator", "--linker", linker, "--linker", "basic")
    (document,) = [json.loads(line) for line in done.out.splitlines()]
    assert [one["links"][0]["curie"] for one in document["mentions"]] == ["MESH:D3", "MESH:D001249"]
    scored = cli(
        "evaluate",
        home / "gold.jsonl",
        "--links",
        "--linker",
        linker,
        "--linker",
        "basic",
        "--json",
    )
    assert json.loads(scored.out)["systems"][0]["name"] == "linker and basic"
    write(tmp_path / "gold.jsonl", [document_of("An asthma.", ("asthma", "Disease", "DOID:2841"))])
    # any identifier of an answer counts
    for ontology, right in (("DOID", 1), ("MESH", 1), ("CL", 0)):
        options = ("--links", "--linker", "basic", "--ontology", ontology, "--json")
        report = json.loads(cli("evaluate", tmp_path / "gold.jsonl", *options).out)
        assert report["systems"][0]["figures"]["recall"]["part"] == right


def test_an_ontology_needs_no_index_but_a_pack_with_sets(
    home: Path, tmp_path: Path, cli: Cli, refused: Refused
) -> None:
    assert cli("linker", "fit", home / "pack", "--small", "-o", tmp_path / "small").code == 0
    files = (tmp_path / "given.jsonl", "--ontology", "DOID", "--linker", tmp_path / "small")
    write(
        tmp_path / "given.jsonl", [document_of("Breast cancer.", ("Breast cancer", "Disease", ""))]
    )
    (link,) = json.loads(cli("link", *files, "--pack", home / "pack").out)["mentions"][0]["links"]
    assert (link["curie"], link["same"]) == ("DOID:1", ["MESH:D1"])
    old = without_sets(home / "pack", tmp_path / "old")
    assert cli("linker", "fit", old, "--small", "-o", tmp_path / "small", "--overwrite").code == 0
    assert "leave out --ontology" in refused("link", *files, "--pack", old)


def test_without_texts_fixed_weights_decide(home: Path, tmp_path: Path, cli: Cli) -> None:
    done = cli("linker", "fit", home / "pack", "-o", tmp_path / "linker")
    assert done.code == 0
    assert "fixed weights" in done.out
    done = cli(
        "link", home / "mentions.pubtator", "--pack", home / "pack", "--linker", tmp_path / "linker"
    )
    links = json.loads(done.out.splitlines()[0])["mentions"][0]["links"]
    assert [(link["curie"], link["tier"], link["score"]) for link in links] == [
        ("MESH:D3", "ambiguous", 0.5),
        ("MESH:D4", "ambiguous", 0.5),
    ]
    done = cli(
        "link",
        home / "mentions.pubtator",
        "--pack",
        home / "pack",
        "--linker",
        tmp_path / "linker",
        "--why",
    )
    assert "ambiguous, the first 2 cannot be told apart; 2 candidates" in done.out


def test_types_with_too_few_mentions_are_named(
    home: Path, linker: Path, tmp_path: Path, cli: Cli
) -> None:
    several = tuple(Link(id="", curie=f"NCBIGene:{number}") for number in (1, 2))
    texts = [
        msgspec.structs.replace(
            one,
            mentions=tuple(
                msgspec.structs.replace(each, links=several) if each.type == "Gene" else each
                for each in one.mentions
            ),
        )
        for one in corpus()
    ]
    write(tmp_path / "gold.jsonl", texts)
    asked = (
        "linker",
        "fit",
        home / "pack",
        "--corpus",
        tmp_path / "gold.jsonl",
        "-o",
        tmp_path / "linker",
    )
    done = cli(*asked, "--index-of", linker, "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["few"] == {"Gene": 0}
    assert set(json.loads(done.out)["rankers"]) == {"Disease"}
    assert "Gene: only 0" in cli(*asked, "--index-of", linker, "--overwrite").out


def test_bad_use_is_refused(home: Path, linker: Path, tmp_path: Path, refused: Refused) -> None:
    assert "fit" in refused("linker")
    assert "linker" in refused(
        "link", home / "mentions.pubtator", "--pack", home / "pack", "--linker", tmp_path
    )
    assert "pack" in refused(
        "link", home / "mentions.pubtator", "--pack", linker, "--linker", linker
    )
    assert "twice" in refused(
        "linker", "fit", home / "pack", home / "pack", "-o", tmp_path / "linker"
    )
    few = tmp_path / "few.jsonl"
    write(few, corpus(2))
    assert "20 mentions" in refused(
        "linker", "fit", home / "pack", "--corpus", few, "-o", tmp_path / "linker"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["few.jsonl"]


def test_several_packs_are_one_linker(home: Path, tmp_path: Path, cli: Cli) -> None:
    done = cli(
        "linker",
        "fit",
        home / "pack",
        "basic",
        "--corpus",
        home / "gold.jsonl",
        "--small",
        "-o",
        tmp_path / "both",
    )
    assert done.code == 0, done.err
    assert done.out.index("Disease: 120 mentions") < done.out.index("basic@2")
    (tmp_path / "in.pubtator").write_text(
        "1|t|AT or asthma\n1|a|\n1\t0\t2\tAT\tDisease\n1\t6\t12\tasthma\tDisease\n\n"
    )
    done = cli("link", tmp_path / "in.pubtator", "--linker", tmp_path / "both")
    (document,) = [json.loads(line) for line in done.out.splitlines()]
    assert [one["links"][0]["curie"] for one in document["mentions"]] == ["MESH:D3", "MESH:D001249"]


def test_the_shipped_linker_needs_no_option(home: Path, cli: Cli) -> None:
    done = cli("link", home / "mentions.pubtator", "--why")
    assert done.code == 0, done.err
    assert "AT" in done.out


def test_why_says_how_old_the_vocabularies_are(tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "in.pubtator").write_text("1|t|asthma\n1|a|\n1\t0\t6\tasthma\tDisease\n\n")
    asked = ("link", tmp_path / "in.pubtator", "--why")
    last = cli(*asked).out.splitlines()[-1]
    assert "basic@2" in last
    assert "MESH (2026)" in last
    told = json.loads(cli(*asked, "--json-lines").out)
    assert told["pack"] == "basic@2"
    assert told["candidates"][0]["date"] == "2026"


def test_what_is_shipped_is_listed(cli: Cli) -> None:
    rows = json.loads(cli("models", "--json").out)
    assert {(one["name"], one["kind"]) for one in rows} >= {
        ("basic@2", "term pack"),
        ("basic@2", "linker"),
    }
    assert all(one["types"] and one["megabytes"] > 0 for one in rows)
    assert sum(line.startswith("basic@2 ") for line in cli("models").out.splitlines()) == 2


def test_annotate_links(
    home: Path, linker: Path, tmp_path: Path, cli: Cli, refused: Refused
) -> None:
    names = tmp_path / "names.tsv"
    names.write_text("Disease\tbreast cancer\nDisease\tasthma\n", encoding="utf-8")
    asked = ("annotate", "--model", names, "--text", "Is it breast cancer or asthma?")

    def links(*more: object) -> list[list[str]]:
        done = cli(*asked, *more)
        assert done.code == 0, done.err
        mentions = json.loads(done.out)["mentions"]
        return [[link.get("curie", "NIL") for link in one.get("links", ())] for one in mentions]

    assert links("--link", linker) == [["MESH:D1"], ["NIL"]]
    assert links("--no-link") == [[], []]
    assert links()[1] == links("--link")[1] == ["MESH:D001249"]
    assert links("--link", linker, "--link", "basic") == [["MESH:D1"], ["MESH:D001249"]]
    assert links("--link", home / "pack") == [["MESH:D1"], ["NIL"]]
    assert (
        links("--ontology", "DOID")[1] == links("--link", "--ontology", "DOID")[1] == ["DOID:2841"]
    )
    assert "no linker" in refused(*asked, "--link", tmp_path)
    assert "--link=basic" in refused("annotate", "--model", names, "--link", names)


def test_formats_without_links_get_none_by_themselves(tmp_path: Path, cli: Cli) -> None:
    names = tmp_path / "names.tsv"
    names.write_text("Disease\tasthma\n", encoding="utf-8")
    asked = ("annotate", "--model", names, "--text", "asthma", "--format", "conll")
    assert "link" not in cli(*asked).err
    assert "loss links" in cli(*asked, "--link").err


def test_people_see_name_identifier_and_date(tmp_path: Path, cli: Cli) -> None:
    names = tmp_path / "names.tsv"
    names.write_text("Disease\tasthma\n", encoding="utf-8")
    for form in ("text", "html"):
        out = cli(
            "annotate",
            "--model",
            names,
            "--text",
            "severe asthma",
            "--text",
            "asthma",
            "--format",
            form,
        ).out
        assert "MESH:D001249" in out
        assert "Asthma" in out
        assert "basic@2" in out
        assert "2026" in out


def test_texts_of_which_none_can_be_read_give_nothing(
    home: Path, linker: Path, tmp_path: Path, cli: Cli
) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"id": "a", "text": "\\ud83d"}\n' * 2, encoding="utf-8")
    for asked in (
        ("link", bad, "--pack", home / "pack", "--linker", linker, "-o", tmp_path / "out.jsonl"),
        ("linker", "fit", home / "pack", "--corpus", bad, "-o", tmp_path / "new"),
    ):
        done = cli(*asked)
        assert done.code == 2
        assert "none of the 2" in done.err
    assert [path.name for path in tmp_path.iterdir()] == ["bad.jsonl"]


def test_packs_and_linkers_hold_nothing_else(home: Path, linker: Path, refused: Refused) -> None:
    assert "outside" in refused("linker", "fit", home / "pack", "-o", home / "pack" / "new")
    files = ("--pack", home / "pack", "--linker", linker)
    assert "outside" in refused(
        "link", home / "mentions.pubtator", *files, "-o", linker / "out.jsonl"
    )
