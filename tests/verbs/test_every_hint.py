"""Each option that the message of a reader names for a file: it works on this file, or leads to
another message.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from tests.formats.use import json_odd, marked_odd, marked_texts, papers, records, structured
from tests.formats.use.given import Given

Cli = Callable[..., Any]
TEXT: Final = "Lithium caused tremor."
SPAN: Final = {"start": 0, "end": 7, "label": "Chemical"}


def lines(*records: object) -> str:
    return "".join(json.dumps(one) + "\n" for one in records)


def _task(*annotators: int, **more: Any) -> str:
    region = {"id": "r", "from_name": "l", "to_name": "t", "type": "labels"}
    value = {"start": 0, "end": 7, "labels": ["Chemical"]}
    made = [
        {"id": one, "completed_by": one, "result": [{**region, "value": value}]}
        for one in annotators
    ]
    return json.dumps([{"id": 1, "data": {"text": TEXT, **more}, "annotations": made}])


def _tags(*tags: object, **more: Any) -> str:
    return lines({"tokens": TEXT.split(), "ner_tags": list(tags), **more})


FILES: Final[dict[str, str]] = {
    "two-annotators.json": _task(1, 2),
    "other-text.json": _task(1).replace('"text"', '"body"', 1).replace("[{", '[{"x": "a b", ', 1),
    "two-texts.json": json.dumps(
        [{"id": 1, "data": {"title": "On", "body": TEXT}, "annotations": [{"id": 1, "result": []}]}]
    ),
    "tag-numbers.jsonl": _tags(1, 0, 0),
    "bare-tags.jsonl": _tags("Chemical", "O", "O"),
    "prefix-behind.jsonl": _tags("Chemical-B", "O", "O"),
    "too-few-tags.jsonl": _tags("B-Chemical", "O"),
    "no-type.jsonl": lines(
        {"text": TEXT, "spans": [SPAN], "id": 1}, {"text": TEXT, "spans": [{"start": 0, "end": 7}]}
    ),
    "other-type.jsonl": lines(
        {"text": TEXT, "entities": [{"start": 0, "end": 7, "kind": "Chemical"}]}
    ),
    "texts-for-numbers.jsonl": lines(
        {"text": TEXT, "entities": [{"start": "0", "end": "7", "type": "Chemical"}]}
    ),
    "links.jsonl": lines(
        {"text": TEXT, "entities": [{"start": 0, "end": 7, "type": "C", "links": [{"x": 1}]}]}
    ),
    "concepts.jsonl": lines(
        {"text": TEXT, "entities": [{"start": 0, "end": 7, "type": "C", "links": {"mesh": "D1"}}]}
    ),
    "length.jsonl": lines(
        {"text": TEXT, "entities": [{"offset": 0, "length": 7, "category": "Chemical"}]}
    ),
    "body.jsonl": lines(
        {"body": TEXT, "annotations": [{"begin": 0, "stop": 7, "category": "Chemical"}]}
    ),
    "two.jsonl": lines({"text": TEXT, "annotations": [SPAN], "predictions": [SPAN]}),
    "rejected.jsonl": lines(
        {"text": TEXT, "spans": [SPAN], "answer": "reject"}, {"text": TEXT, "spans": []}
    ),
    "native.jsonl": lines(
        {"text": TEXT, "spans": [SPAN]}, {"fascicle": 1, "id": "1", "text": TEXT}
    ),
    "no-version.jsonl": lines(
        {"id": "1", "text": TEXT, "mentions": [{"spans": [[0, 7]], "type": "Chemical"}]}
    ),
    "markup.jsonl": lines({"text": "TGF-&beta; and H<sub>2</sub>O"}),
    "emoji.jsonl": lines(
        {"text": "\U0001f600 a b", "entities": [{"start": 2, "end": 3, "type": "X"}]}
    ),
    "numbered.conll": "1\tLithium\tB-Chemical\tO\n2\thelps\tO\tB-X\n\n1\tSo\tO\tO\n2\tit\tO\tO\n",
    "documents.conll": "d1 Lithium NN B-Chemical\nd1 helps VB O\n\nd2 So RB O\nd2 it PP O\n",
    "bare.conll": "Lithium\tChemical\nhelps\tO\n",
    "underscore.conll": "Lithium\tB_Chemical\nhelps\tO\n",
    "tag-first.conll": "B-Chemical\tLithium\nO\thelps\n",
    "columns.conll": "Lithium NN B-Chemical _\nhelps VB O _\n",
    "brackets.conllu": "1\tLithium\tl\tN\t_\t_\t0\troot\t_\tEntity=(Chemical)\n2\thelps\th\tV\t_\t_\t1\tx\t_\t_\n",
    "columns.csv": f'doc,words in it,Tag\n1,"{TEXT}",x\n',
    "quoted.csv": f'"writers ""1""",Tag\n"{TEXT}",x\n',
    "quoted.tsv": 'id\ttext\n1\t"a ""b"" c"\n',
    "offsets.csv": f'text,start,end\n"{TEXT}",0,7\n',
    "titles.csv": "title,abstract,entities\nOn,It hurts,\"[{'start': 0}]\"\n",
    "twice.csv": f"text,text\n{TEXT},{TEXT}\n",
    "western.txt": "caf\xe9 au lait",
    "unknown.dat": "a\tb\tc\n",
    "a.tsv": "x\ty\n1\t2\n",
    "webanno.tsv": "#FORMAT=WebAnno TSV 3.3\nLithium\n",
}
_VALUE: Final = r"(?:'[^']*'|[^\s;,)]+)"
_HINT: Final = re.compile(
    rf"(?:--input-format \w+ and )?--field [\w-]+={_VALUE}(?: --field [\w-]+={_VALUE})*"
    rf"|--(?:columns|input-format|shape|documents|encoding|where) {_VALUE}"
    r"|--columns, such as [\d,]+|--labels [\w,-]+|--bare-tags|\b\w+=accept\b"
)
_PLACEHOLDER: Final = re.compile(r"\b(?:NAMES?|FILE(?:\.json)?|VALUE)\b")


def hints(message: str) -> Iterator[list[str]]:
    """The options that a message names and whose values it tells, as arguments of a command."""
    for found in dict.fromkeys(_HINT.findall(message.replace("fascicle: note: read as", ""))):
        given = found.replace(", such as", "").replace(" and --field", " --field")
        if not _PLACEHOLDER.search(given):
            yield ["--where", given] if given.endswith("=accept") else shlex.split(given)


def _first(message: str) -> str:
    """What a message says, without its counts."""
    return re.sub(r"\d+ documents?.*", "", message)


def _check(cli: Cli, path: Path, *known: str) -> None:
    ask = ("corpus", "convert", path, "--format", "jsonl", *known)
    refused = cli(*ask)
    for options in hints(refused.err):
        result = cli(*ask, *options)
        works = result.code == 0 or _first(result.err) != _first(refused.err)
        assert works, (options, refused.err)
        assert "is not allowed" not in result.err, (options, result.err)
        assert result.err == "" or "unexpected" not in result.err


@pytest.mark.parametrize("name", FILES)
def test_what_a_message_advises_works(name: str, cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(FILES[name].encode("latin-1" if name == "western.txt" else "utf-8"))
    _check(cli, path)


ODD: Final = (
    *marked_odd.ALL,
    *json_odd.ALL,
    *marked_texts.ALL,
    *records.ALL,
    *structured.ALL,
    *papers.CITATIONS,
)


@pytest.mark.parametrize(
    "given", [pytest.param(one, id=f"{one.format}: {one.name}") for one in ODD]
)
def test_what_a_message_about_an_odd_input_advises_works(
    given: Given, cli: Cli, tmp_path: Path
) -> None:
    _check(cli, given.laid(tmp_path), "--input-format", given.format)


def test_there_are_hints_of_each_kind(cli: Cli, tmp_path: Path) -> None:
    kinds = set()
    for name, content in FILES.items():
        path = tmp_path / name
        path.write_bytes(content.encode("latin-1" if name == "western.txt" else "utf-8"))
        for one in hints(cli("corpus", "convert", path, "--format", "jsonl").err):
            kinds.add(one[0] if one[0] != "--field" else one[1].partition("=")[0])
    wanted = {
        "--columns",
        "--labels",
        "--input-format",
        "--bare-tags",
        "--where",
        "text",
        "entities",
        "ignored",
    }
    assert {*wanted, "annotator", "markup", "quotes"} <= kinds
