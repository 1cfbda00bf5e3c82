"""Messages of readers that give a hint: whoever follows it gets what it promises."""

from __future__ import annotations

import json
import re
import shlex
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Cli = Callable[..., Any]
TEXT = "Lithium caused tremor."
SPAN = {"start": 0, "end": 7, "label": "Chemical"}


def jsonl(*records: object) -> str:
    return "".join(json.dumps(one) + "\n" for one in records)


# What is in a file that is refused with a hint.
FILES = {
    "columns.csv": f'doc,words in it,Tag\n1,"{TEXT}",x\n',
    "columns.tsv": f"doc\twords in it\tTag\n1\t{TEXT}\tx\n",
    "quoted.csv": f'"writers ""1""",Tag\n"{TEXT}",x\n',
    "offsets.csv": f'text,start,end\n"{TEXT}",0,7\n',
    "prodigy.jsonl": jsonl({"text": TEXT, "tokens": [], "my_spans": [SPAN]}),
    "begins.jsonl": jsonl(
        {"text": TEXT, "annotations": [{"begin": 0, "stop": 7, "category": "Chemical"}]}
    ),
    "chars.jsonl": jsonl(
        {"text": TEXT, "ner": [{"char_start": 0, "char_end": 7, "type": "Chemical"}]}
    ),
    "body.jsonl": jsonl({"body": TEXT, "spans": [SPAN | {"type": "Chemical"}]}),
    "tags.jsonl": jsonl(
        {"text": TEXT, "words": TEXT.split(), "bio_tags": ["B-Chemical", "O", "O"]}
    ),
}
_FIELDS = re.compile(
    r"--field [\w-]+=(?:'[^']*'|[^\s;,)]+)(?: --field [\w-]+=(?:'[^']*'|[^\s;,)]+))*"
)
_FORMAT = re.compile(r"its format is (\w+)|--input-format (\w+)\b(?!,)")


def hints(message: str) -> list[list[str]]:
    """The options that a message names, as arguments of a command; one list for each
    alternative.
    """
    formats = [name for found in _FORMAT.findall(message) for name in found if name]
    chosen = ["--input-format", formats[0]] if formats else []
    return [[*chosen, *shlex.split(one)] for one in _FIELDS.findall(message)] or (
        [chosen] if chosen else []
    )


@pytest.mark.parametrize("name", FILES)
def test_a_hint_works(name: str, cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(FILES[name], encoding="utf-8")
    refused = cli("corpus", "convert", path, "--format", "jsonl")
    given = hints(refused.err)
    assert refused.code in (2, 3)
    assert given, refused.err
    for options in given:
        result = cli("corpus", "convert", path, "--format", "jsonl", *options)
        assert result.code == 0, (options, result.err)
        assert TEXT.split()[0] in result.out


def test_a_folder_names_files_that_can_be_read(cli: Cli, tmp_path: Path) -> None:
    for number in range(2):
        (tmp_path / f"{number}.xmi").write_text("<x/>", encoding="utf-8")
        (tmp_path / f"{number}.log").write_text("x", encoding="utf-8")
    for name in ("TypeSystem.xml", "a.log", "b.log"):
        (tmp_path / name).write_text("<x/>", encoding="utf-8")
    assert re.search(
        r"such as \S+/\*\.xmi", cli("corpus", "convert", tmp_path, "--format", "jsonl").err
    )


@pytest.mark.parametrize("name", ["a.tar", "a.tgz", "a.tar.gz"])
def test_an_archive_of_tar_is_named(name: str, cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text(TEXT, encoding="utf-8")
    with tarfile.open(tmp_path / name, "w" if name == "a.tar" else "w:gz") as archive:
        archive.add(tmp_path / "x.txt")
    result = cli("corpus", "convert", tmp_path / name, "--format", "jsonl")
    assert (result.code, "is a tar archive; unpack it" in result.err) == (2, True)


@pytest.mark.parametrize(
    "row", ["7\tTitle\t0.5", "3.5,Title", f"Title,{'A long text of a cell. ' * 6}"]
)
def test_a_row_of_contents_is_no_header(row: str, cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / ("a.tsv" if "\t" in row else "a.csv")
    path.write_text(f"{row}\n{row}\n", encoding="utf-8")
    assert cli("corpus", "convert", path, "--format", "jsonl").code == 2


def test_a_year_may_name_a_column(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(f"title,2020\n{TEXT},x\n", encoding="utf-8")
    assert cli("corpus", "convert", tmp_path / "a.csv", "--format", "jsonl").code == 0


def test_three_hundred_equal_faults_are_two_lines(cli: Cli, tmp_path: Path) -> None:
    rejected = [{"text": TEXT, "spans": [{"start": 0, "end": 7}]} for _ in range(300)]
    (tmp_path / "a.jsonl").write_text(
        jsonl({"text": TEXT, "spans": [SPAN]}, *rejected), encoding="utf-8"
    )
    result = cli("corpus", "convert", tmp_path / "a.jsonl", "--format", "jsonl")
    assert result.code == 3
    assert result.err.count("set aside: ") == 2
    assert "300 documents in all for the reason of" in result.err
