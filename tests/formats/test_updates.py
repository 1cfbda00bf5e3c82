"""Files that follow each other: each citation in its latest state."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fascicle.errors import FormatError
from fascicle.formats import ReadReport
from fascicle.formats.files import latest
from fascicle.formats.report import FailedDocuments

DATA = os.environ.get("FASCICLE_DATA")


def citation(pmid: str, title: str, version: int = 1) -> str:
    return (
        "<PubmedArticle><MedlineCitation><PMID "
        f'Version="{version}">{pmid}</PMID><Article><ArticleTitle>{title}'
        "</ArticleTitle></Article></MedlineCitation></PubmedArticle>"
    )


def deleted(*pmids: str) -> str:
    return (
        f"<DeleteCitation>{''.join(f'<PMID>{one}</PMID>' for one in pmids)}</DeleteCitation>"
        if pmids
        else ""
    )


def files(folder: Path, *contents: str) -> list[Path]:
    paths = [folder / f"{number}.xml" for number in range(len(contents))]
    for path, content in zip(paths, contents, strict=True):
        path.write_text(f"<PubmedArticleSet>{content}</PubmedArticleSet>", encoding="utf-8")
    return paths


def test_the_latest_state(tmp_path: Path) -> None:
    report = ReadReport()
    paths = files(
        tmp_path,
        citation("1", "old")
        + citation("2", "gone")
        + citation("3", "back")
        + citation("4", "kept"),
        citation("1", "new") + deleted("2", "3", "99"),
        citation("3", "again") + citation("5", "second", 2) + citation("5", "first", 1),
    )
    found = list(latest(paths, report=report))
    assert [(one.id, one.text) for one in found] == [
        ("4", "kept"),
        ("1", "new"),
        ("3", "again"),
        ("5", "second"),
    ]
    assert [one.meta.get("version") for one in found] == [None, None, None, "2"]
    assert report.deleted == {str(paths[1]): ["2", "3", "99"]}
    assert report.documents == 4
    assert not report.events


def test_bad_citations(tmp_path: Path) -> None:
    paths = files(tmp_path, citation("1", "old"), citation("", "no id") + citation("1", "new"))
    with pytest.raises(FormatError, match="PMID"):
        list(latest(paths))
    report = ReadReport(aside=FailedDocuments(keep_going=True))
    assert [one.text for one in latest(paths, report=report)] == ["new"]
    assert report.aside.count == 1


EDIT = st.tuples(st.sampled_from("123"), st.integers(1, 3))


@settings(max_examples=40, deadline=None)
@given(
    history=st.lists(
        st.tuples(st.lists(EDIT, min_size=1, max_size=4), st.sets(st.sampled_from("1234"))),
        max_size=4,
    )
)
def test_a_naive_table_has_the_same(
    tmp_path_factory: pytest.TempPathFactory, history: list[tuple[list[tuple[str, int]], set[str]]]
) -> None:
    table: dict[str, str] = {}
    contents = []
    for number, (edits, gone) in enumerate(history):
        rows = [
            (pmid, version, f"{number} {at} {version}") for at, (pmid, version) in enumerate(edits)
        ]
        contents.append(
            "".join(citation(pmid, title, version) for pmid, version, title in rows)
            + deleted(*sorted(gone))
        )
        for pmid in {pmid for pmid, _ in edits}:
            table[pmid] = max(
                (version, at, title) for at, (one, version, title) in enumerate(rows) if one == pmid
            )[2]
        for pmid in gone:
            table.pop(pmid, None)
    paths = files(tmp_path_factory.mktemp("a"), *contents)
    assert {one.id: one.text for one in latest(paths)} == table


@pytest.mark.skipif(not DATA, reason="FASCICLE_DATA is not set")
def test_an_update_file_of_pubmed(tmp_path: Path) -> None:
    update = Path(str(DATA)) / "raw-xml" / "medline16n0902.xml.gz"
    report = ReadReport()
    assert sum(1 for _ in latest([update], report=report)) == 604
    (withdrawn,) = report.deleted.values()
    (before,) = files(tmp_path, citation(withdrawn[0], "withdrawn") + citation("1", "kept"))
    found = {one.id: one.text for one in latest([before, update])}
    assert len(found) == 605
    assert found["1"] == "kept"
    assert withdrawn[0] not in found
