"""``fascicle run``, ``pipeline`` and ``quarantine``: from a folder of a pipeline to a document
that was tried again.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fascicle.core import codec
from fascicle.core.document import Document, Mention
from fascicle.formats import write

TOML = """
name = "small"
[[steps]]
kind = "recogniser"
name = "names"
model = "names.tsv"
[[steps]]
kind = "process"
command = ["{python}", "-I", "-S", "{folder}/step.py"]
[[answers]]
text = "an aspirin"
find = ["aspirin/Chemical"]
[shards]
documents = 4
"""
STEP = """
import json, os, sys, time
SLOW = os.path.join(os.path.dirname(__file__), "slow")
WAITS = os.path.join(os.path.dirname(__file__), "waits")
LATER = {f"d{number}" for number in range(4, 12)}  # than the first shard
print(json.dumps({"fascicle_step": 1, "name": "picky", "fingerprint": "1"}), flush=True)
for line in sys.stdin:
    documents = json.loads(line)["documents"]
    while documents[0]["id"] in LATER and os.path.exists(SLOW):
        time.sleep(0.02)
    if os.path.exists(WAITS):
        time.sleep(0.3)
    bad = [one["id"] for one in documents if "bad" in one["text"] and not os.path.exists(__file__ + ".mended")]
    answer = {"error": f"\\x1b[31mcannot stand {bad[0]}"} if bad else {"patches": [{} for _ in documents]}
    print(json.dumps(answer), flush=True)
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "names.tsv").write_text("Chemical\tAspirin\n", encoding="utf-8")
    (tmp_path / "p" / "step.py").write_text(STEP, encoding="utf-8")
    (tmp_path / "p" / "pipeline.toml").write_text(
        TOML.replace("{python}", sys.executable), encoding="utf-8"
    )
    texts = ["aspirin here", "a bad aspirin", *["more aspirin"] * 10]
    lines = [
        codec.encode(Document(id=f"d{at}", text=text)) + b"\n" for at, text in enumerate(texts)
    ]
    (tmp_path / "in.jsonl").write_bytes(b"".join(lines))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_run_is_scored_by_its_folder(cli: Callable[..., Any], place: Path) -> None:
    assert cli("run", "in.jsonl", "--pipeline", "p", "-o", "out").code == 3
    drug = Mention(((0, 7),), "Chemical")  # of the first text alone
    texts = [codec.decode(line) for line in (place / "in.jsonl").read_bytes().splitlines()]
    write("gold.jsonl", [texts[0].having(mentions=(drug,)), *texts[1:]])
    refused = cli("evaluate", "gold.jsonl", "out")
    assert (refused.code, "lack 1 document: 'd1'" in refused.err) == (2, True)
    result = cli("evaluate", "gold.jsonl", "out", "--allow-missing", "--json")
    micro = json.loads(result.out)["micro"]
    # one aspirin in each of the eleven texts that the run could process
    assert (micro["tp"], micro["fp"], micro["fn"]) == (1, 10, 0)
    (place / "out" / "_SUCCESS").unlink()
    refused = cli("evaluate", "gold.jsonl", "out")
    assert (refused.code, "the run in out is not complete" in refused.err) == (2, True)


def test_a_run_with_its_quarantine_and_another_try(cli: Callable[..., Any], place: Path) -> None:
    result = cli("run", "in.jsonl", "--pipeline", "p", "-o", "out", "--json")
    assert result.code == 3
    totals = json.loads(result.out)
    assert (totals["documents"], totals["done"], totals["quarantined"]) == (12, 11, 1)
    assert totals["mentions"] == {"names/Chemical": 11}
    assert json.loads(Path("out/report.json").read_bytes()) == totals
    page = Path("out/report.html").read_text(encoding="utf-8")
    assert "names/Chemical" in page
    assert page.count("<script") == 1  # that of the template, which the content policy names
    assert cli("run", "in.jsonl", "--pipeline", "p", "-o", "out").code == 2
    listed = cli("quarantine", "ls", "out")
    assert listed.code == 0
    assert listed.out.split("\t")[:3] == ["d1", "picky", "ProcessError"]
    assert "\x1b" not in listed.out  # which would be a command to the terminal
    shown = json.loads(cli("quarantine", "show", "out", "d1").out)
    assert (shown["document"]["text"], shown["step"], shown["place"]) == (
        "a bad aspirin",
        "picky",
        1,
    )
    assert "cannot stand d1" in shown["message"]
    assert cli("quarantine", "show", "out", "d2").code == 2

    assert cli("quarantine", "retry", "out").code == 3
    Path("p/step.py.mended").touch()
    assert cli("quarantine", "retry", "out", "--name", "d2").code == 2
    assert cli("quarantine", "retry", "out", "--name", "d1").code == 0
    assert cli("quarantine", "ls", "out").out == ""
    done = [
        codec.decode(line).id
        for part in Path("out").glob("part-*")
        for line in part.read_bytes().splitlines()
    ]
    assert sorted(done) == sorted(f"d{at}" for at in range(12))
    assert json.loads(Path("out/_SUCCESS").read_bytes()) == {
        "documents": 12,
        "done": 12,
        "quarantined": 0,
    }


def test_a_run_wholly_in_quarantine_has_no_documents_to_read(
    cli: Callable[..., Any], place: Path
) -> None:
    Path("in.jsonl").write_bytes(codec.encode(Document(id="d", text="bad")) + b"\n")
    assert cli("run", "in.jsonl", "--pipeline", "p", "-o", "out").code == 3
    for command in ("graph", "concepts", "corpus convert"):
        result = cli(*command.split(), "out", "-o", "new.csv")
        assert result.code == 2
        assert (
            "the run in out holds no processed document, because all are in quarantine; list them "
            "with fascicle quarantine ls out" in result.err
        )


def test_the_report_has_the_time_of_each_step(cli: Callable[..., Any], place: Path) -> None:
    Path("p/step.py.mended").touch()
    Path("p/waits").touch()
    assert cli("run", "in.jsonl", "--pipeline", "p", "-o", "out").code == 0
    report = json.loads(Path("out/report.json").read_bytes())
    assert report["steps"].keys() == {"cut", "names", "picky"}
    # it waits 0.3 seconds for each batch
    assert report["steps"]["picky"] >= 0.29 * report["shards"]
    assert sum(report["steps"].values()) <= report["seconds"] + 0.01


def test_documents_that_are_too_long_wait_in_quarantine(
    cli: Callable[..., Any], place: Path
) -> None:
    toml, limited = Path("p/pipeline.toml").read_text(encoding="utf-8"), Path("p/limited.toml")
    limited.write_text(toml + "[limits]\nlongest = 12\nfailures = 1\n", encoding="utf-8")
    Path("p/step.py.mended").touch()
    assert cli("run", "in.jsonl", "--pipeline", "p/limited.toml", "-o", "out").code == 3
    listed = [line.split("\t")[:3] for line in cli("quarantine", "ls", "out").out.splitlines()]
    assert listed == [["d1", "length", "TooLong"]]
    assert (
        json.loads(cli("quarantine", "show", "out", "d1").out)["document"]["text"]
        == "a bad aspirin"
    )
    assert cli("quarantine", "retry", "out", "--pipeline", "p").code == 0
    assert json.loads(Path("out/_SUCCESS").read_bytes()) == {
        "documents": 12,
        "done": 12,
        "quarantined": 0,
    }


def test_a_run_is_brought_up_to_date(cli: Callable[..., Any], place: Path) -> None:
    Path("p/step.py.mended").touch()
    assert cli("run", "in.jsonl", "--pipeline", "p", "-o", "out").code == 0
    Path("new.jsonl").write_bytes(
        codec.encode(Document(id="d1", text="aspirin and aspirin")) + b"\n"
    )
    call = ["run", "in.jsonl", "new.jsonl", "--pipeline", "p", "-o", "out"]
    assert cli(*call, "--resume").code == 2
    totals = json.loads(cli(*call, "--update", "--json").out)
    assert (totals["documents"], totals["done"], totals["shards"]) == (12, 12, 4)
    assert totals["mentions"] == {"names/Chemical": 13}


def test_a_pipeline_is_shown_and_checked(cli: Callable[..., Any], place: Path) -> None:
    shown = cli("pipeline", "show", "p")
    assert shown.code == 0
    Path("p/other.toml").write_text(shown.out, encoding="utf-8")
    assert cli("pipeline", "show", "p/other.toml").out == shown.out
    checked = json.loads(cli("pipeline", "check", "p/other.toml", "--json").out)
    assert [name for name, _, _ in checked["steps"]] == ["cut", "names", "picky"]
    assert checked["answers"] == 1
    for call in (
        ("pipeline",),
        ("quarantine",),
        ("pipeline", "check", "nowhere"),
        ("quarantine", "ls", "p"),
    ):
        assert cli(*call).code == 2


def test_a_pipeline_is_shown_without_starting_its_programs(
    cli: Callable[..., Any], place: Path
) -> None:
    Path("p/step.py").write_text(
        f"from pathlib import Path\nPath('started').touch()\n{STEP}", encoding="utf-8"
    )
    assert cli("pipeline", "show", "p").code == 0
    assert not Path("started").exists()
    assert cli("pipeline", "check", "p").code == 0
    assert Path("started").exists()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_an_interrupt_ends_cleanly_and_the_run_goes_on(
    cli: Callable[..., Any], place: Path
) -> None:
    Path("p/slow").touch()
    call = ["run", "in.jsonl", "--pipeline", "p", "-o", "out", "--workers", "2"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    program = subprocess.Popen(
        [sys.executable, "-m", "fascicle", *call], env=environment, stderr=subprocess.PIPE
    )
    deadline = time.monotonic() + 300
    while not list(Path("out").glob("done-*")):
        assert program.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    program.send_signal(signal.SIGINT)
    said = program.communicate(timeout=300)[1].decode()
    assert (program.returncode, "Traceback" in said) == (130, False), said
    assert not list(Path("out").glob(".*.tmp"))
    Path("p/slow").unlink()
    assert cli(*call, "--resume").code == 3
    assert json.loads(Path("out/_SUCCESS").read_bytes()) == {
        "documents": 12,
        "done": 11,
        "quarantined": 1,
    }


def test_links_are_in_the_documents_and_in_the_report(cli: Callable[..., Any], place: Path) -> None:
    step = (
        '[[steps]]\nkind = "recogniser"\nname = "names"\nmodel = "names.tsv"\n[[steps]]\nkind '
        '= "link"\n'
    )
    Path("p/pipeline.toml").write_text(f"{step}[shards]\ndocuments = 5\n", encoding="utf-8")
    Path("p/names.tsv").write_text("Chemical\tAspirin\nDisease\ttumor\n", encoding="utf-8")
    with Path("in.jsonl").open("ab") as stream:
        stream.write(codec.encode(Document(id="last", text="a tumor and aspirin")) + b"\n")
    result = cli("run", "in.jsonl", "--pipeline", "p", "-o", "out", "--json", "--workers", "1")
    assert result.code == 0, result.err
    totals = json.loads(result.out)
    assert totals["links"] == {"MESH:D001241 Aspirin": 13, "MESH:D009369 Neoplasms": 1}
    done = [
        codec.decode(line)
        for part in Path("out").glob("part-*")
        for line in part.read_bytes().splitlines()
    ]
    linked = [
        (mention.type, one.curie)
        for document in done
        for mention in document.mentions
        for one in mention.links
    ]
    assert (
        totals["concepts"]
        == Counter(kind for kind, _ in set(linked))
        == {"Chemical": 1, "Disease": 1}
    )
    (origin,) = totals["origins"]
    assert "MESH" in origin
    assert "MESH (2026)" in origin
    page = Path("out/report.html").read_text(encoding="utf-8")
    assert origin in page
    assert "MESH:D001241" in page
    assert "Distinct concepts" in page


def test_what_a_format_loses_counts_with_strict(cli: Callable[..., Any], place: Path) -> None:
    step = '[[steps]]\nkind = "recogniser"\nname = "names"\nmodel = "names.tsv"\n'
    Path("p/pipeline.toml").write_text(step, encoding="utf-8")
    Path("p/names.tsv").write_text("Disease\ttumor\n", encoding="utf-8")
    command = ("run", "in.jsonl", "--pipeline", "p", "--workers", "1", "--strict")
    assert cli(*command, "-o", "whole").code == 0
    result = cli(*command, "-o", "cells", "--format", "conll")
    assert "loss" in result.err
    assert result.code == 3


def documents_of(folder: str) -> list[Document]:
    parts = sorted(Path(folder).glob("part-*.jsonl"))
    return [codec.decode(line) for part in parts for line in part.read_bytes().splitlines()]


def test_a_model_with_own_names_runs_and_is_tried_again_from_elsewhere(
    cli: Callable[..., Any], place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ("run", "in.jsonl", "--pipeline", "biomed-fast", "--also", "p/names.tsv", "-o", "out")
    assert cli(*asked).code == 0
    found = documents_of("out")
    assert [len(one.layer("names")) for one in found] == [1] * 12
    assert found[0].layer("names")[0].links[0].curie == "MESH:D001241"  # linked as by annotate
    assert cli(*asked, "--resume").code == 0
    # another run: nothing beside the model
    assert cli(*asked[:4], "-o", "out", "--resume").code == 2
    monkeypatch.chdir(place.parent)
    assert cli("quarantine", "retry", place / "out").code == 0
    refused = cli(
        "run",
        place / "in.jsonl",
        "--pipeline",
        place / "p",
        "--also",
        place / "p" / "names.tsv",
        "-o",
        "x",
    )
    assert (refused.code, "recogniser" in refused.err) == (2, True)


def test_a_step_takes_own_names(cli: Callable[..., Any], place: Path) -> None:
    toml = (
        '[[steps]]\nkind = "recogniser"\nmodel = "biomed-fast"\nalso = ["names.tsv"]\ncase = '
        '"exact"\n'
    )
    (place / "p" / "pipeline.toml").write_text(toml, encoding="utf-8")
    (place / "p" / "names.tsv").write_text("Drug\tAspirin\n", encoding="utf-8")
    Path("two.jsonl").write_bytes(
        b"".join(codec.encode(Document(id=t, text=t)) + b"\n" for t in ("Aspirin", "aspirin"))
    )
    assert cli("run", "two.jsonl", "--pipeline", "p", "-o", "out").code == 0
    found = documents_of("out")
    assert [
        [(one.type, one.source) for one in document.mentions if one.type == "Drug"]
        for document in found
    ] == [
        [("Drug", "names")],
        [],
    ]
    # its own names give way
    assert cli("run", "out/part-00000.jsonl", "--pipeline", "p", "-o", "again").code == 0
    again = documents_of("again")
    assert [one.mentions for one in again] == [one.mentions for one in found]


def test_rows_that_replace_rows_of_another_file_are_said(
    tmp_path: Path, cli: Callable[..., Any]
) -> None:
    for place in "ab":
        (tmp_path / place).mkdir()
        (tmp_path / place / "n.csv").write_text(f"text\nlithium {place}\n", encoding="utf-8")
    names = tmp_path / "names.tsv"
    names.write_text("name\ttype\nlithium\tDrug\n", encoding="utf-8")
    ran = cli(
        "run", tmp_path / "a" / "n.csv", tmp_path / "b" / "n.csv", "--pipeline", names,
        "-o", tmp_path / "out", "--update", "--workers", "1", "--input-format", "table",
    )  # fmt: skip
    assert ran.code == 0
    assert "left out: 1 document replaced by the same rows of later files" in ran.err
    assert "--field id=COLUMN" in ran.err
