"""``fascicle combine``: files of any tools to one, and every kind of bad input."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from itertools import permutations
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fascicle.core.document import Document, Event, Mention
from fascicle.core.files.source import Source
from fascicle.formats import write
from fascicle.formats.predictions import Prediction, make_prediction, read
from fascicle.formats.predictions import write as write_predictions

Cli = Callable[..., Any]
Refused = Callable[..., str]
Rows = dict[str, list[tuple[Any, ...]]]

HEADER = "document\ttype\tstart\tend\tscore\n"
TEXTS = {"a": "lung cancer and pain", "b": "aspirin", "c": "nothing here"}
ONE: Rows = {
    "a": [(0, 11, "Disease", 0.9), (16, 20, "Disease", 0.3)],
    "b": [(0, 7, "Chemical", 0.8)],
    "c": [],
}
TWO: Rows = {
    "a": [(0, 11, "Disease", 0.5), (5, 11, "Disease", 0.4)],
    "b": [(0, 7, "Chemical", None)],
    "c": [],
}
THREE: Rows = {
    "a": [(0, 11, "Disease"), (5, 11, "Disease")],
    "b": [(0, 7, "Disease")],
    "c": [(0, 7, "Disease")],
}
ALL = {"one": ONE, "two": TWO, "three": THREE}


def documents(rows: Rows, source: str) -> list[Document]:
    return [
        Document(
            id=i,
            text=TEXTS[i],
            mentions=tuple(
                Mention(((a, b),), t, score=rest[0] if rest else None, source=source)
                for a, b, t, *rest in listed
            ),
        )
        for i, listed in rows.items()
    ]


def predictions(rows: Rows, source: str = "model") -> list[Prediction]:
    return [make_prediction(document) for document in documents(rows, source)]


@pytest.fixture
def tsv(tmp_path: Path) -> list[Path]:
    for name, rows in ALL.items():
        write_predictions(tmp_path / f"{name}.tsv", predictions(rows))
    return [tmp_path / f"{name}.tsv" for name in ALL]


@pytest.fixture
def jsonl(tmp_path: Path) -> list[Path]:
    for name, rows in ALL.items():
        write_predictions(tmp_path / f"{name}.jsonl", predictions(rows))
    return [tmp_path / f"{name}.jsonl" for name in ALL]


def found(path: Path) -> dict[str, list[tuple[int, int, str]]]:
    return {
        p.id: [(m.start, m.end, m.type) for m in p.mentions] for p in read(Source(path=str(path)))
    }


MAJORITY = {"a": [(0, 11, "Disease"), (5, 11, "Disease")], "b": [(0, 7, "Chemical")], "c": []}
UNION = {
    "a": [(0, 11, "Disease"), (5, 11, "Disease"), (16, 20, "Disease")],
    "b": [(0, 7, "Chemical"), (0, 7, "Disease")],
    "c": [(0, 7, "Disease")],
}
COMMON = {"a": [(0, 11, "Disease")], "b": [], "c": []}


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (["union"], UNION),
        (["majority"], MAJORITY),
        (["kofn", "--k", "1"], UNION),
        (["kofn", "--k", "2"], MAJORITY),
        (["kofn", "--k", "3"], COMMON),
        (["weighted", "--weights", "0.8,0.8,0.8"], MAJORITY),
        (
            ["weighted", "--weights", "1,1,3"],
            {i: [(a, b, t) for a, b, t, *_ in rows] for i, rows in THREE.items()},
        ),
        (["weighted", "--weights", "1,1,3", "--threshold", "0"], UNION),
    ],
)
def test_rules(
    cli: Cli, tsv: list[Path], jsonl: list[Path], tmp_path: Path, rule: list[str], expected: Any
) -> None:
    out = tmp_path / "out.jsonl"
    assert cli("combine", rule[0], *jsonl, *rule[1:], "-o", out).code == 0
    assert found(out) == expected
    out = tmp_path / "out.tsv"
    assert cli("combine", rule[0], *tsv, *rule[1:], "-o", out).code == 0
    assert found(out) == {i: rows for i, rows in expected.items() if rows}


def test_the_order_of_the_files_does_not_change_a_byte(
    cli: Cli, jsonl: list[Path], tsv: list[Path], tmp_path: Path
) -> None:
    lists = {"jsonl": jsonl, "tsv": tsv}
    for suffix, files in lists.items():
        for rule in ("union", "majority"):
            written = set()
            for number, order in enumerate(permutations(files)):
                out = tmp_path / f"{rule}{number}.{suffix}"
                assert cli("combine", rule, *order, "-o", out).code == 0
                written.add(out.read_bytes())
            assert len(written) == 1


def test_what_is_written(cli: Cli, jsonl: list[Path], tmp_path: Path) -> None:
    result = cli("combine", "union", *jsonl[:2], "--verbose")
    assert result.code == 0
    lines = [json.loads(line) for line in result.out.splitlines()]
    assert [line["id"] for line in lines] == ["a", "b", "c"]
    assert lines[0]["sha256"] == make_prediction(documents(ONE, "x")[0]).sha256
    assert {m["source"] for line in lines for m in line["mentions"]} == {"union"}
    assert [m.get("score") for m in lines[0]["mentions"]] == [0.7, 0.4, 0.3]
    assert lines[1]["mentions"][0]["score"] == 0.8  # of the one system that gave a score
    assert "union of one, two: 4 of 4 distinct mentions kept, in 3 documents" in result.err
    assert "two: scores are missing" in result.err
    cli("combine", "majority", *jsonl[:2], "-o", tmp_path / "x.gz", "--format", "tsv")
    assert (
        gzip.decompress((tmp_path / "x.gz").read_bytes()).decode().splitlines()[1]
        == "a\tDisease\t0\t11\t0.7"
    )


def test_three_foreign_tools(cli: Cli, refused: Refused, tmp_path: Path) -> None:
    """TSV as other people write it: other names, line ends, no scores, packed, discontinuous."""
    (tmp_path / "tagger.tsv").write_bytes(
        (
            HEADER + "7\tDISEASE\t3\t9\t0.5\n7\tCHEMICAL\t20\t27\t0.25\n8\tDISEASE\t0;8\t4;12\t1\n"
        ).encode()
    )
    (tmp_path / "lookup.tsv").write_bytes(
        (HEADER + "8\tDisease\t0;8\t4;12\n7\tDisease\t3\t9\n7\tChemical\t20\t27\n")
        .replace("\n", "\r\n")
        .encode()
    )
    (tmp_path / "rules.tsv.gz").write_bytes(
        gzip.compress(
            (HEADER + "7\tDrug\t20\t27\t\n7\tDisease\t3\t10\t\n7\tSpecies\t30\t33\t\n").encode()
        )
    )
    files = [tmp_path / name for name in ("tagger.tsv", "lookup.tsv", "rules.tsv.gz")]
    out = tmp_path / "vote.tsv"
    said = refused("combine", "majority", *files, "-o", out)
    assert "'CHEMICAL' and lookup has 'Chemical', which differ only in case" in said
    assert '"Chemical" = "CHEMICAL"' in said
    (tmp_path / "types.toml").write_text(
        '"DISEASE" = "Disease"\n"CHEMICAL" = "Chemical"\n["rules.tsv"]\nDrug = '
        '"X"\n[rules]\nDrug = "Chemical"\n'
        'Species = ""\n',
        encoding="utf-8",
    )
    result = cli("combine", "majority", *files, "--map", tmp_path / "types.toml", "-o", out)
    assert result.code == 0
    assert out.read_text(encoding="utf-8") == (
        HEADER + "7\tDisease\t3\t9\t0.5\n7\tChemical\t20\t27\t0.25\n8\tDisease\t0;8\t4;12\t1.0\n"
    )
    for note in (
        "the map has a table for 'rules.tsv', which is none of the systems (did you mean 'rules'?)",
        "mentions left out, for the map gives their types no name: 1",
        "lookup, rules: scores are missing",
        "no file says on which texts the predictions were made",
        "rules names 1 of 2 documents; in the rest nothing counts as found",
    ):
        assert note in result.err


def test_sources_in_one_file(cli: Cli, refused: Refused, tmp_path: Path) -> None:
    together = [
        msgspec.structs.replace(a, mentions=a.mentions + b.mentions + c.mentions)
        for a, b, c in zip(*(documents(rows, name) for name, rows in ALL.items()), strict=True)
    ]
    gold = [Mention(((0, 4),), "Disease")]
    native, bare = tmp_path / "all.fascicle.jsonl", tmp_path / "all.jsonl"
    write(native, [msgspec.structs.replace(d, mentions=(*d.mentions, *gold)) for d in together])
    write_predictions(bare, map(make_prediction, together))
    for path in (native, bare):
        out = path.with_suffix(".out.jsonl")
        said = refused("combine", "majority", path, "-o", out)
        assert "holds mentions of one, three, two; choose sources, each with --source NAME" in said
        assert "did you mean 'three'?" in refused(
            "combine", "majority", path, "--source", "tree", "-o", out
        )
        assert "one system (all:two) was given" in refused(
            "combine", "majority", path, "--source", "two", "-o", out
        )
        twice = ["--source", "two", "--source", "two"]
        assert "source two was given twice" in refused(
            "combine", "majority", path, *twice, "-o", out
        )
        sources = [f"--source={name}" for name in ("one", "all:two", "three")]
        assert cli("combine", "majority", path, *sources, "-o", out, "--overwrite").code == 0
        assert found(out) == MAJORITY
        # in the order of --source
        weights = ["--source", "three", "--source", "one", "--weights", "1,3"]
        assert cli("combine", "weighted", path, *weights, "-o", out, "--overwrite").code == 0
        assert found(out) == {i: [(a, b, t) for a, b, t, *_ in rows] for i, rows in ONE.items()}


def test_a_corpus_of_another_tool_counts_as_its_predictions(
    cli: Cli, jsonl: list[Path], tmp_path: Path
) -> None:
    write(tmp_path / "tool.pubtator", documents(THREE, "gold"))
    out = tmp_path / "out.jsonl"
    assert cli("combine", "majority", *jsonl[:2], tmp_path / "tool.pubtator", "-o", out).code == 0
    assert found(out) == MAJORITY


def test_documents_that_one_file_lacks(
    cli: Cli, refused: Refused, jsonl: list[Path], tsv: list[Path], tmp_path: Path
) -> None:
    part = tmp_path / "part.jsonl"
    write_predictions(part, predictions({"a": ONE["a"]}))
    out = tmp_path / "out.jsonl"
    result = cli("combine", "majority", part, jsonl[0], "-o", out)
    assert result.code == 0
    assert "part lacks 2 documents: 'b', 'c'; it has no vote there" in result.err
    assert "documents in which only one system has a vote: 2" in result.err
    assert found(out) == {i: [(a, b, t) for a, b, t, *_ in rows] for i, rows in ONE.items()}
    events = {p.id: [e.code for e in p.events] for p in read(Source(path=str(out)))}
    assert events == {"a": [], "b": ["no-vote"], "c": ["no-vote"]}
    again = ("combine", "majority", part, jsonl[0], "-o", out, "--overwrite")
    assert cli(*again, "--strict").code == 3
    assert "b', 'c' that other systems have" in refused(*again, "--missing", "refuse")
    assert cli(*again, "--missing", "empty", "--strict").code == 0
    assert found(out) == {"a": [(0, 11, "Disease"), (16, 20, "Disease")], "b": [], "c": []}
    # A TSV cannot say that it read a document: c counts as read without a find, or, if asked for,
    # as not read.
    result = cli("combine", "majority", tsv[0], jsonl[2], "-o", out, "--overwrite")
    assert "one names 2 of 3 documents; in the rest nothing counts as found" in result.err
    assert found(out)["c"] == []
    assert (
        cli(
            "combine",
            "majority",
            tsv[0],
            jsonl[2],
            "--missing",
            "no-vote",
            "-o",
            out,
            "--overwrite",
        ).code
        == 0
    )
    assert found(out)["c"] == [(0, 7, "Disease")]


def test_events_are_kept(cli: Cli, tmp_path: Path) -> None:
    event = Event(step="model", kind="loss", code="too-long", message="cut")
    with_events = [msgspec.structs.replace(p, events=(event,)) for p in predictions(ONE)]
    write_predictions(tmp_path / "x.jsonl", with_events)
    write_predictions(tmp_path / "y.jsonl", with_events)
    result = cli("combine", "union", tmp_path / "x.jsonl", tmp_path / "y.jsonl")
    assert all(len(json.loads(line)["events"]) == 1 for line in result.out.splitlines())
    assert "x and y say exactly the same; if they are one system, it has two votes" in result.err


def test_files_of_one_name_in_two_folders(cli: Cli, tmp_path: Path) -> None:
    for folder, rows in (("s1", ONE), ("s2", TWO)):
        (tmp_path / folder).mkdir()
        write_predictions(tmp_path / folder / "test.tsv", predictions(rows))
    (tmp_path / "m.toml").write_text(
        '[test]\nChemical = "Drug"\n["s2/test"]\nDisease = ""\n', encoding="utf-8"
    )
    files = [tmp_path / "s1" / "test.tsv", tmp_path / "s2" / "test.tsv"]
    result = cli(
        "combine", "union", *files, "--map", tmp_path / "m.toml", "--verbose", "--format", "tsv"
    )
    assert "union of s1/test, s2/test: 3 of 3" in result.err
    assert sorted(line.split("\t")[1] for line in result.out.splitlines()[1:]) == [
        "Disease",
        "Disease",
        "Drug",
    ]


def test_files_of_one_name_in_folders_of_one_name(cli: Cli, tmp_path: Path) -> None:
    files = [tmp_path / run / "predictions" / "test.tsv.gz" for run in ("crf-s1", "span-s1")]
    for path, rows in zip(files, (ONE, TWO), strict=True):
        path.parent.mkdir(parents=True)
        write_predictions(path, predictions(rows))
    result = cli("combine", "union", *files, "--verbose", "--format", "tsv")
    assert "union of crf-s1/test, span-s1/test: 4 of 4" in result.err


def test_texts_that_differ(refused: Refused, jsonl: list[Path], tmp_path: Path) -> None:
    changed = [
        msgspec.structs.replace(p, sha256="0" * 64) if p.id != "a" else p for p in predictions(TWO)
    ]
    write_predictions(tmp_path / "changed.jsonl", changed)
    said = refused("combine", "union", jsonl[0], tmp_path / "changed.jsonl")
    assert (
        "one and changed were made on different texts of document 'b' (2 such documents in all)"
        in said
    )


def test_offsets_beyond_the_text(refused: Refused, tmp_path: Path) -> None:
    write(tmp_path / "known.fascicle.jsonl", documents(ONE, "model"))
    (tmp_path / "tool.tsv").write_text(HEADER + "b\tChemical\t0\t8\t\n", encoding="utf-8")
    said = refused("combine", "union", tmp_path / "known.fascicle.jsonl", tmp_path / "tool.tsv")
    assert (
        "tool: in document 'b', which has 7 characters, a mention of type 'Chemical' ends at 8"
        in said
    )


def test_a_document_twice(refused: Refused, cli: Cli, jsonl: list[Path], tmp_path: Path) -> None:
    twice = tmp_path / "twice.jsonl"
    twice.write_bytes(jsonl[0].read_bytes() * 2)
    assert "document 'a' occurs twice" in refused("combine", "union", twice, jsonl[1])
    apart = tmp_path / "apart.tsv"
    apart.write_text(HEADER + "a\tX\t0\t1\t\nb\tX\t0\t1\t\na\tX\t2\t3\t\n", encoding="utf-8")
    assert "document 'a' occurs twice" in refused("combine", "union", apart, jsonl[1])
    native = tmp_path / "native.fascicle.jsonl"
    write(native, documents(ONE, "p"))
    native.write_bytes(native.read_bytes() + native.read_bytes().splitlines(keepends=True)[0])
    assert "document 'a' occurs twice" in refused("combine", "union", native, jsonl[1])
    # of a corpus that has it twice, every system has it twice
    other = tmp_path / "other.fascicle.jsonl"
    other.write_bytes(native.read_bytes())
    assert cli("combine", "union", native, other).code == 0


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        ([], "the following arguments are required: RULE"),
        (["majorty", "one", "two"], "did you mean majority?"),
        (["majority"], "no file was given"),
        (
            ["majority", "one"],
            "one system (one) was given; give the predictions of at least two systems",
        ),
        (["majority", "one", "one"], "one.jsonl was given twice, but a system has one vote"),
        (["majority", "one", "./one"], "was given twice"),
        (["majority", "one", "-"], "cannot be read from standard input"),
        (["majority", "one", "nowhere"], "nowhere.jsonl"),
        (["kofn", "one", "two"], "kofn needs --k"),
        (["kofn", "one", "two", "--k", "3"], "3 of 2 systems were to agree"),
        (["kofn", "one", "two", "--k", "0"], "integer from 1"),
        (["union", "one", "two", "--k", "1"], "--k is for the rule kofn, but union was asked for"),
        (["weighted", "one", "two"], "weighted needs --weights"),
        (["weighted", "one", "two", "--weights", "1"], "1 weights were given for 2 systems"),
        (["weighted", "one", "two", "--weights", "1,x"], "the weight 'x' is not allowed"),
        (
            ["weighted", "one", "two", "--weights", "1,1", "--threshold", "1"],
            "the threshold 1 is not allowed",
        ),
        (["majority", "one", "two", "--weights", "1,1"], "--weights is for the rule weighted"),
        (["majority", "one", "two", "--threshold", "0.6"], "--threshold is for the rule weighted"),
        (["majority", "one", "two", "-o", "out.conll"], "out.conll"),
        (["majority", "one", "two", "-o", "nowhere/out.tsv"], "does not exist"),
        (["majority", "one", "two", "-o", "one.jsonl"], "one.jsonl"),
        (["majority", "one", "two", "--source", "modle"], "did you mean 'model'?"),
        (
            ["majority", "one", "two", "--missing", "skip"],
            "choose from auto, no-vote, empty, refuse",
        ),
        (["majority", "one", "two", "--map", "none.toml"], "no map at none.toml"),
        (
            ["majority", "one", "two", "--encoding", "klingon"],
            "the encoding 'klingon' is not known",
        ),
        (["majority", "one", "two", "--mising", "empty"], "did you mean --missing?"),
    ],
)
def test_bad_calls(
    refused: Refused,
    jsonl: list[Path],
    monkeypatch: pytest.MonkeyPatch,
    argv: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(jsonl[0].parent)
    given = [f"{a}.jsonl" if a.removeprefix("./") in ("one", "two", "nowhere") else a for a in argv]
    assert message in refused("combine", *given)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "bad.tsv is empty"),
        ("\n \n", "bad.tsv is empty; give predictions"),
        (HEADER, "bad.tsv is empty: it names no document"),
        (HEADER + "a\tDisease\t0\n", "bad.tsv:2: columns: 3"),
        (HEADER + "a\tDisease\t5\t2\t\n", "make no mention"),
        (HEADER + "x\tDisease\t0\t2\t\n", "have no document in common"),
        (HEADER + "a\tdisease\t0\t2\t\n", '"disease" = "Disease"'),
        (HEADER + "a\tDiseases\t0\t2\t\n", '"Diseases" = "Disease"'),
        (HEADER + "a\tSpecies\t0\t2\t\n", "none of its mentions can agree"),
        ('{"fascicle_predictions": 9, "id": "a"}\n', "schema 9"),
    ],
)
def test_bad_files(
    refused: Refused, jsonl: list[Path], tmp_path: Path, content: str, message: str
) -> None:
    bad = tmp_path / "bad.tsv"
    bad.write_text(content, encoding="utf-8")
    out = tmp_path / "out.tsv"
    assert message in refused("combine", "majority", jsonl[0], bad, "-o", out)
    assert not out.exists()


def test_bad_maps(refused: Refused, jsonl: list[Path], tmp_path: Path) -> None:
    path = tmp_path / "m.toml"
    for content, message in (
        ("a =", "TOML"),
        ("", "renames nothing"),
        ("a = 1", "a = 1 is not allowed"),
    ):
        for encoding in ("utf-8", "utf-8-sig"):
            path.write_text(content, encoding=encoding)
            assert message in refused("combine", "union", *jsonl, "--map", path)


def test_types_that_are_meant_to_differ(cli: Cli, refused: Refused, tmp_path: Path) -> None:
    (tmp_path / "x.tsv").write_text(HEADER + "a\tDNA\t0\t2\t\n", encoding="utf-8")
    (tmp_path / "y.tsv").write_text(HEADER + "a\tdna\t0\t2\t\n", encoding="utf-8")
    files = [tmp_path / "x.tsv", tmp_path / "y.tsv"]
    assert "--distinct-types" in refused("combine", "union", *files)
    assert (
        cli("combine", "union", *files, "--distinct-types", "--format", "tsv").out.count("\n") == 3
    )
    (tmp_path / "z.tsv").write_text(HEADER + "a\tSpecies\t0\t2\t\n", encoding="utf-8")
    result = cli("combine", "union", files[0], tmp_path / "z.tsv")
    assert (result.code, "no other system has any of them" in result.err) == (0, True)


def test_a_header_without_the_score(
    cli: Cli, refused: Refused, jsonl: list[Path], tmp_path: Path
) -> None:
    bare, full = tmp_path / "bare.tsv", tmp_path / "full.tsv"
    bare.write_text("document\ttype\tstart\tend\na\tDisease\t0\t11\n", encoding="utf-8")
    full.write_text(HEADER + "a\tDisease\t0\t11\t\n", encoding="utf-8")
    outputs = [
        cli("combine", "union", jsonl[0], path, "--format", "tsv").out for path in (bare, full)
    ]
    assert outputs[0] == outputs[1] != ""
    bare.write_text("id\tbegin\tend\tlabel\na\t0\t11\tDisease\n", encoding="utf-8")
    assert "begins with the header document type start end score" in refused(
        "combine", "union", jsonl[0], bare
    )


def test_an_input_is_never_written_over(refused: Refused, tsv: list[Path]) -> None:
    before = tsv[0].read_bytes()
    assert "one of the inputs" in refused("combine", "union", *tsv, "-o", tsv[0], "--overwrite")
    assert tsv[0].read_bytes() == before


def test_other_offsets_are_pointed_out(cli: Cli, tmp_path: Path) -> None:
    paths = [tmp_path / "zero.tsv", tmp_path / "one.tsv"]
    for first, path in enumerate(paths):
        path.write_text(HEADER + f"a\tX\t{first}\t{first + 4}\t\n", encoding="utf-8")
    said = cli("combine", "majority", *paths, "-o", tmp_path / "out.tsv").err
    assert (
        "zero has no mention in common with any other system; see that its offsets are code "
        "points from 0" in said
    )


def test_a_misspelt_map_is_said_with_the_refusal(
    refused: Refused, jsonl: list[Path], tmp_path: Path
) -> None:
    (tmp_path / "tool.tsv").write_text(HEADER + "a\tDISEASE\t0\t11\t\n", encoding="utf-8")
    (tmp_path / "m.toml").write_text('[tol]\nDISEASE = "Disease"\n', encoding="utf-8")
    said = refused(
        "combine", "union", jsonl[0], tmp_path / "tool.tsv", "--map", tmp_path / "m.toml"
    )
    assert "'tol', which is none of the systems (did you mean 'tool'?)" in said
