"""A fault that each of 300 documents has is said once, with a count, whatever reads them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

Cli = Callable[..., Any]
TEXT: Final = "Lithium caused tremor."
MANY: Final = 300


def _lines(record: Callable[[int], object]) -> str:
    return "".join(json.dumps(record(number)) + "\n" for number in range(MANY))


def _each(text: str) -> str:
    return "".join(text.replace("NUMBER", str(number + 1)) for number in range(MANY))


def _task(number: int) -> object:
    return {
        "id": number,
        "data": {"text": TEXT},
        "annotations": [{"id": one, "result": []} for one in (1, 2)],
    }


FILES: Final = {
    "a.jsonl": _lines(
        lambda _: {"text": TEXT, "entities": [{"start": "x", "end": 7, "type": "C"}]}
    ),
    "unknown.jsonl": _lines(lambda _: {"x": 1}),
    "outside.jsonl": _lines(
        lambda _: {"text": TEXT, "entities": [{"start": 0, "end": 700, "type": "C"}]}
    ),
    "gate.jsonl": _lines(
        lambda _: {"text": TEXT, "annotation_sets": {"x": {"annotations": [{"start": "x"}]}}}
    ),
    "native.jsonl": _lines(
        lambda n: {
            "fascicle": 1,
            "id": str(n),
            "text": "",
            "mentions": [{"spans": [], "type": "X"}],
        }
    ),
    "a.kazu.jsonl": _lines(lambda n: {"idx": str(n), "sections": [{"text": 1}]}),
    "tasks.json": json.dumps([_task(number) for number in range(MANY)]),
    "a.csv": "id,text\n" + _each("NUMBER,a b,c\n"),
    "no-id.nbib": _each("TI  - On NUMBER\n\n"),
    "odd.nbib": _each("PMID- NUMBER\nTI  - On NUMBER\nbad line here\n\n"),
    "a.conll": _each("IL-2\tB-Gene\nx\n\n"),
    "short.pubtator": _each("NUMBER|t|Gout\nNUMBER|a|x\nNUMBER\t0\t9\n\n"),
    "outside.pubtator": _each("NUMBER|t|Gout\nNUMBER|a|x\nNUMBER\t0\t90\tGout\tD\tX\n\n"),
    "bioc.jsonl": _lines(lambda n: {"id": str(n), "passages": [{"offset": "x"}]}),
    "bioc.xml": "<collection><source/><date/><key/>"
    + _each(
        "<document><id>NUMBER</id><passage><offset>x</offset><text>a</text></passage></document>"
    )
    + "</collection>",
    "medline.xml": "<PubmedArticleSet>"
    + _each(
        "<PubmedArticle><MedlineCitation><Article><ArticleTitle>a</ArticleTitle></Article></MedlineCitation></PubmedArticle>"
    )
    + "</PubmedArticleSet>",
}
FOLDERS: Final = {
    "brat": (TEXT.encode(), "NUMBER.ann", "T1 bad\n"),
    "plain": (b"a\0b", "", ""),
    "knowtator": (
        TEXT.encode(),
        "NUMBER.txt.knowtator.xml",
        "<annotations textSource='NUMBER.txt'><annotation><span start='x' "
        "end='2'/></annotation></annotations>",
    ),
}


def _check(result: Any) -> None:
    lines = result.err.splitlines()
    assert len(lines) <= 6, lines[:10]
    assert result.code == 2 or "300" in result.err, lines


@pytest.mark.parametrize("name", FILES)
def test_a_file(name: str, cli: Cli, tmp_path: Path) -> None:
    (tmp_path / name).write_text(FILES[name], encoding="utf-8")
    _check(cli("corpus", "convert", tmp_path / name, "--format", "jsonl"))


@pytest.mark.parametrize("name", FOLDERS)
def test_a_folder(name: str, cli: Cli, tmp_path: Path) -> None:
    content, beside, annotation = FOLDERS[name]
    for number in range(MANY):
        (tmp_path / f"{number}.txt").write_bytes(content)
        if beside:
            path = tmp_path / beside.replace("NUMBER", str(number))
            path.write_text(annotation.replace("NUMBER", str(number)), encoding="utf-8")
    _check(cli("corpus", "convert", tmp_path, "--format", "jsonl", "--input-format", name))
