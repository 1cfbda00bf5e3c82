"""``fascicle corpus check``: what it prints, writes and returns."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

from fascicle.core import codec
from fascicle.core.document import Document, Mention
from fascicle.core.files.source import Source
from fascicle.evaluation.doctor.examine import checks
from fascicle.formats.exclusions import read_exclusions

Cli = Callable[..., Any]
Refused = Callable[..., str]

LONG = "The patients who were given lithium for ten years had no more falls than the others."
TRAIN = [LONG, "Nobody said more of them in this report, which is short."]
TEST = ["This one is new .", LONG]


@pytest.fixture
def parts(tmp_path: Path) -> tuple[Path, Path]:
    """Train and test; one text is in both."""
    return native(tmp_path / "train.jsonl", TRAIN), native(tmp_path / "test.jsonl", TEST)


def native(path: Path, texts: list[str]) -> Path:
    documents = [
        Document(
            id=f"{path.stem}{n}",
            text=text,
            mentions=(Mention(((0, 6),), "Word"),) if text == TRAIN[1] else (),
        )
        for n, text in enumerate(texts)
    ]
    path.write_bytes(b"".join(codec.encode(document) + b"\n" for document in documents))
    return path


def findings(out: str) -> dict[str, Any]:
    return {finding["code"]: finding for finding in json.loads(out)["findings"]}


def test_the_report_is_markdown(cli: Cli, parts: tuple[Path, Path], tmp_path: Path) -> None:
    arguments = ("corpus", "check", "--train", parts[0], "--test", parts[1])
    result = cli(*arguments)
    assert result.code == 3
    assert result.out.startswith(
        "# Corpus check\n\n4 documents checked; kinds of findings: 1 error, "
    )
    assert "| error    | `duplicate-across-parts` | 1     | test in train 1 |" in result.out
    assert "## duplicate-across-parts: 1 (error)" in result.out
    assert f"{parts[1]}, document test1".replace("_", "\\_") in result.out
    report = tmp_path / "report.md"
    saved = cli(*arguments, "-o", report)
    assert (saved.out, report.read_text(encoding="utf-8")) == ("", result.out)
    assert "4 documents checked" in saved.err


def test_json_and_the_exclusion_list(cli: Cli, parts: tuple[Path, Path], tmp_path: Path) -> None:
    listed = tmp_path / "out.tsv"
    other = native(
        tmp_path / "other.jsonl",
        ["Quite another text.", f"Here is what he said to us when he was asked. {LONG}"],
    )
    arguments = (
        "--train",
        parts[0],
        "--test",
        parts[1],
        "--against",
        other,
        "--json",
        "--exclude-list",
        listed,
    )
    result = cli("corpus", "check", *arguments)
    report = json.loads(result.out)
    assert (report["fascicle_corpus_check"], report["compared"], report["excluded"]) == (1, 2, 2)
    assert [part["name"] for part in report["parts"]] == ["train", "test"]
    found = findings(result.out)
    assert found["duplicate-across-parts"]["severity"] == "error"
    assert found["shared-sentence-across-corpora"]["by_part"] == {
        f"test in {other}": 1,
        f"train in {other}": 1,
    }
    assert found.keys() | set(report["without"]) == checks().keys()
    rows = list(read_exclusions(Source(path=str(listed))))
    assert [(row.corpus, row.document, row.reason, row.of_document) for row in rows] == [
        (str(parts[0]), "train0", "duplicate", "test1"),
        (str(other), "other1", "shared-sentence", "test1"),
    ]
    assert "2 documents written to the exclusion list" in result.err
    assert cli("corpus", "check", *arguments).code == 2  # the list is there already
    # written, and there is an error
    assert cli("corpus", "check", *arguments, "--overwrite").code == 3


@pytest.mark.parametrize(
    ("level", "skip", "code"),
    [
        (None, [], 3),
        ("never", [], 0),
        (None, ["duplicate-across-parts"], 0),
        ("error", [], 3),
        ("warning", [], 3),
        ("note", ["duplicate-across-parts"], 3),
    ],
)
def test_exit_codes(
    cli: Cli, parts: tuple[Path, Path], level: str | None, skip: list[str], code: int
) -> None:
    arguments = [
        *(["--fail-on", level] if level else []),
        *(part for name in skip for part in ("--skip", name)),
    ]
    result = cli("corpus", "check", "--train", parts[0], "--test", parts[1], *arguments)
    assert result.code == code
    if skip:
        assert f"Skipped: {', '.join(skip)}." in result.out


def test_a_corpus_that_breaks_off_is_reported_and_checked(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "One. Two."}\n{"text": "Thr', encoding="utf-8")
    result = cli("corpus", "check", path, "--json")
    assert result.code == 3
    assert f"fascicle: failed: {path}:2: not JSON" in result.err
    found = findings(result.out)
    assert found["unread-file"]["examples"][0]["message"].startswith(f"beside 1 document: {path}:2")
    assert found["short-sentence"]["count"] == 2
    packed = tmp_path / "b.txt.gz"
    packed.write_bytes(gzip.compress(b"x" * 100_000)[:40])
    result = cli("corpus", "check", tmp_path / "a.jsonl", "--against", packed, "--json")
    assert (result.code, findings(result.out)["unread-file"]["count"]) == (3, 2)


def test_every_document_that_cannot_be_read_is_named(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "brat"
    folder.mkdir()
    for name in "abcd":
        (folder / f"{name}.txt").write_text("Lithium helps. It does.", encoding="utf-8")
        (folder / f"{name}.ann").write_text("T1\tChemical 0 7\tLithium\n", encoding="utf-8")
    (folder / "a.txt").unlink()
    (folder / "c.ann").write_text("T1 Chemical 0 7 Lithium\n", encoding="utf-8")
    result = cli("corpus", "check", folder, "--json")
    assert result.code == 3
    said = [line for line in result.err.splitlines() if "failed: " in line]
    assert ["a.ann has no text a.txt" in said[0], "c.ann:1: no line" in said[1]] == [True, True]
    examined = findings(result.out)
    assert (len(said), examined["unread-file"]["count"]) == (2, 2)
    assert json.loads(result.out)["parts"][0]["documents"] == 2


def test_nothing_that_can_be_read_is_an_error(cli: Cli, refused: Refused, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("{broken", encoding="utf-8")
    assert "a.jsonl:1: not JSON" in refused("corpus", "check", path)
    assert "there is no file" in refused("corpus", "check", tmp_path / "none.jsonl")


def test_corpora_without_parts(cli: Cli, parts: tuple[Path, Path], tmp_path: Path) -> None:
    found = findings(cli("corpus", "check", *parts, "--json").out)
    assert found["duplicate-across-corpora"]["by_part"] == {f"{parts[0]} in {parts[1]}": 1}
    folder = tmp_path / "texts"
    folder.mkdir()
    for name in "ab":
        (folder / f"{name}.txt").write_text(LONG, encoding="utf-8")
    result = json.loads(cli("corpus", "check", folder, "--json").out)
    assert [(part["name"], len(part["files"])) for part in result["parts"]] == [(str(folder), 2)]
    assert [f["code"] for f in result["findings"]] == ["duplicate-in-part"]


def test_records_by_part(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "all.jsonl"
    records = [
        {"text": LONG, "part": "train", "id": "1"},
        {"text": TRAIN[1], "part": "test", "id": "2"},
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    result = cli(
        "corpus", "check", "--train", path, "--test", path, "--where", "part={part}", "--json"
    )
    assert [part["documents"] for part in json.loads(result.out)["parts"]] == [1, 1]
    assert findings(result.out) == {}


def test_options_of_reading_are_for_what_is_checked(cli: Cli, tmp_path: Path) -> None:
    columns = tmp_path / "a.conll"
    columns.write_text("".join(f"{word} x O\n" for word in LONG[:-1].split()), encoding="utf-8")
    other = native(tmp_path / "other.jsonl", [LONG])
    arguments = (
        "corpus",
        "check",
        columns,
        "--columns",
        "0,2",
        "--documents",
        "file",
        "--against",
        other,
        "--json",
    )
    assert findings(cli(*arguments).out)["duplicate-across-corpora"]["count"] == 1


def test_fields_of_other_records(cli: Cli, parts: tuple[Path, Path], tmp_path: Path) -> None:
    other = tmp_path / "other.jsonl"
    other.write_text(json.dumps({"narrative": LONG, "key": "train0"}) + "\n", encoding="utf-8")
    fields = ("--against-field", "text=narrative", "--against-field", "id=key")
    found = findings(
        cli("corpus", "check", "--train", parts[0], "--against", other, *fields, "--json").out
    )
    assert found["duplicate-across-corpora"]["count"] == found["shared-id"]["count"] == 1
    assert "unread-file" in findings(
        cli("corpus", "check", parts[0], "--against", other, "--json").out
    )


def test_what_a_tokenizer_cannot_reach(cli: Cli, refused: Refused, tmp_path: Path) -> None:
    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0, "the": 1}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    mention = Mention(((0, 12),), "Word")
    path = tmp_path / "a.jsonl"
    path.write_bytes(
        codec.encode(Document(id="a", text="The patients were fine.", mentions=(mention,))) + b"\n"
    )
    arguments = ("corpus", "check", path, "--tokenizer", tmp_path, "--json")
    assert "unreachable-mention" not in findings(cli(*arguments, "--width", 2).out)
    assert findings(cli(*arguments, "--width", 1).out)["unreachable-mention"]["count"] == 1
    assert "no tokenizer.json" in refused("corpus", "check", path, "--tokenizer", tmp_path / "none")
    assert "--width needs --tokenizer" in refused("corpus", "check", path, "--width", 3)


def test_wrong_calls(refused: Refused, parts: tuple[Path, Path]) -> None:
    train = parts[0]
    assert "no corpus was given" in refused("corpus", "check")
    assert "no corpus was given" in refused("corpus", "check", "--against", train)
    assert "twice" in refused("corpus", "check", "-", "--train", "-")
    assert "name each file once" in refused("corpus", "check", "--train", train, train)
    assert "did you mean edge-space?" in refused("corpus", "check", train, "--skip", "edge-spaces")
    for share in ("0", "1.5", "x", "1/0", "0.70000001"):
        assert "above 0 and up to 1" in refused("corpus", "check", train, "--near", share)
    assert "8 or more" in refused("corpus", "check", train, "--max-length", 7)
    assert "name a file with -o" in refused("corpus", "check", train, "--exclude-list", "-")
    assert "did you mean check?" in refused("corpus", "chek", train)
    assert "did you mean --exclude-list?" in refused(
        "corpus", "check", train, "--exclude-lists", "x"
    )
    assert "format conll" in refused("corpus", "check", train, "--columns", "0,1")


def test_checks_that_found_nothing_are_counted_and_named_on_request(
    cli: Cli, parts: tuple[Path, Path]
) -> None:
    asked = ("corpus", "check", "--train", parts[0])
    assert "text-mismatch" not in cli(*asked).out
    assert "text-mismatch" in cli(*asked, "--verbose").out


def test_the_example_of_the_project_is_clean(cli: Cli) -> None:
    folder = Path(__file__).resolve().parents[2] / "examples" / "first-model"
    parts = [
        word for name in ("train", "dev", "test") for word in (f"--{name}", folder / f"{name}.tsv")
    ]
    assert cli("corpus", "check", *parts, "--fail-on", "warning").code == 0
