"""Reports: what a person and a program read."""

from __future__ import annotations

import json
from collections.abc import Callable

from fascicle.core.document import Document, Mention
from fascicle.evaluation.doctor.examine import Examination, markdown, summary

Examine = Callable[..., Examination]


def document(identifier: str, text: str, *spans: tuple[int, int]) -> Document:
    return Document(
        id=identifier, text=text, mentions=tuple(Mention((span,), "X_1") for span in spans)
    )


def test_examples_come_from_all_parts_in_turn(examine_documents: Examine) -> None:
    def bad(name: str, count: int) -> list[Document]:
        return [
            document(f"{name}{number}", f"{name} word{number} end.", (0, len(name) + 1))
            for number in range(count)
        ]

    parts = {"train": bad("train", 9), "dev": bad("dev", 1), "test": bad("test", 9)}
    report = examine_documents(parts, examples=5).report
    (finding,) = (f for f in report.findings if f.code == "edge-space")
    assert [example.document for example in finding.examples] == [
        "train0",
        "dev0",
        "test0",
        "train1",
        "test1",
    ]
    assert (finding.count, finding.by_part) == (19, {"train": 9, "dev": 1, "test": 9})
    assert all(not f.examples for f in examine_documents(parts, examples=0).report.findings)


def test_nothing_of_a_text_breaks_the_page(examine_documents: Examine) -> None:
    text = (
        "a `b` | <c> *d*\n\x1b[31m red, and not cut off here, for it goes on for more than "
        "eighty signs. "
    )
    found = examine_documents({"corpus|x": [document("i|<d>*", text, (0, len(text)), (1, 3))]})
    page = markdown(found.report)
    assert "\x1b" not in page
    lines = page.splitlines()
    (row,) = (line for line in lines if line.startswith("| corpus"))
    assert row.replace("\\|", "").count("|") == 7
    (shown,) = (line for line in lines if line.startswith("- ") and f"0-{len(text)} " in line)
    assert shown.startswith("- corpus|x, document i|\\<d>\\*, ")
    assert "\\u000a\\u001b" in shown
    assert shown.count("...") == 1
    assert all(len(line.split("``")) in (1, 3) for line in lines)


def test_a_program_reads_the_same(examine_documents: Examine) -> None:
    found = examine_documents(
        {"train": [document("a", "One two.", (0, 4))], "against": [document("b", "Three.")]}
    )
    value = json.loads(json.dumps(found.report.as_dict()))
    assert value["fascicle_corpus_check"] == 1
    (part,) = value["parts"]
    assert (part["name"], part["role"], part["files"]) == ("train", "train", ["train"])
    assert [part[name] for name in ("documents", "sentences", "words", "mentions")] == [1, 1, 3, 1]
    (finding,) = value["findings"]
    assert (finding["code"], finding["count"], finding["by_part"]) == (
        "edge-space",
        1,
        {"train": 1},
    )
    place = {"part": "train", "file": "train", "line": None, "document": "a", "spans": [[0, 4]]}
    assert finding["examples"] == [{**place, "text": "One ", "message": "X_1"}]
    assert (value["compared"], value["excluded"], value["skipped"]) == (1, 0, [])


def test_the_gravest_comes_first_and_is_counted(examine_documents: Examine) -> None:
    found = examine_documents(
        {"train": [document("a", "One two.", (0, 4)), document("b", "Three."), document("c", "")]}
    )
    assert [f.severity for f in found.report.findings] == ["error", "warning", "note"]
    assert (
        summary(found.report)
        == "3 documents checked; kinds of findings: 1 error, 1 warning, 1 note"
    )
