"""What all writers share: a document that a format cannot hold never costs the others."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from fascicle.core.document import Document, Mention, Section
from fascicle.errors import InputError
from fascicle.formats import read, write
from fascicle.formats.catalogue import ANNOTATED
from fascicle.formats.outputs import WriteRequest, write_documents
from fascicle.formats.report import FailedDocuments, WriteReport

# For each output format a document that it cannot hold, and what in it is at fault.
BAD = {
    "pubtator": (Document(id="a|b", text="asthma"), "a|b"),
    "bioc": (Document(id="a\tb", text="asthma"), "a\\tb"),
    "bioc-json": (Document(id="a\udc80", text="asthma"), "\\udc80"),
    "pubtator3": (Document(id="a\udc80", text="asthma"), "\\udc80"),
    "kazu": (Document(id="a\udc80", text="asthma"), "\\udc80"),
    "label-studio": (Document(id="a\udc80", text="asthma"), "\\udc80"),
    "spacy": (Document(id="a\udc80", text="asthma"), "\\udc80"),
    "parquet": (Document(id="a\udc80", text="asthma"), "\\udc80"),
    "conll": (Document(id="bad", text="a\tb", words=((0, 3),)), "a\\tb"),
    "brat": (Document(id="b" * 300, text="asthma"), "b" * 50),
    "tsv": (Document(id="a\tb", text="asthma", mentions=(Mention(((0, 6),), "X"),)), "a\\tb"),
    "csv": (Document(id="a\x85b", text="asthma", mentions=(Mention(((0, 6),), "X"),)), "a\\x85b"),
    "livingner": (Document(id="a\tb", text="asthma", mentions=(Mention(((0, 6),), "X"),)), "a\\tb"),
    "socialdisner": (
        Document(id="a\tb", text="asthma", mentions=(Mention(((0, 6),), "X"),)),
        "a\\tb",
    ),
    "xlsx": (Document(id="a\tb", text="asthma", mentions=(Mention(((0, 6),), "X"),)), "a\\tb"),
    "jsonl": (Document(id="a\udc80", text="asthma"), "\\udc80"),
    "records": (Document(id="a\udc80", text="asthma"), "\\udc80"),
    "html": (Document(id="a\udc80", text="asthma"), "\\udc80"),
    "predictions": (Document(id="a\udc80", text="asthma"), "\\udc80"),
    "text": (Document(id="a\udc80", text="asthma"), "\\udc80"),
}


def good(number: int) -> Document:
    return Document(
        id=f"good-{number}",
        text="asthma",
        mentions=(Mention(((0, 6),), "Disease"),),
        words=((0, 6),),
    )


def test_every_format_has_a_case() -> None:
    assert BAD.keys() == set(ANNOTATED) - {"webanno", "cas"}  # whose files are one document


@pytest.mark.parametrize("packed", ["", ".zip"])
@pytest.mark.parametrize("name", BAD)
def test_one_bad_document_does_not_cost_the_others(tmp_path: Path, name: str, packed: str) -> None:
    if module := {"parquet": "pyarrow", "xlsx": "openpyxl"}.get(name):
        pytest.importorskip(module)
    bad, fault = BAD[name]
    path = tmp_path / f"out{packed if name == 'brat' else ''}"
    heard: list[str] = []
    report = WriteReport(aside=FailedDocuments(keep_going=True, tell=heard.append))
    written = write_documents(
        [good(1), bad, good(2), bad], WriteRequest(path=str(path), format=name), report=report
    )
    assert written is report
    assert (report.documents, report.mentions, report.aside.count) == (2, 2, 2)
    assert all(fault in sentence for sentence in heard)
    assert len(heard) == 2
    only_good = tmp_path / f"good{packed if name == 'brat' else ''}"
    write_documents([good(1), good(2)], WriteRequest(path=str(only_good), format=name))
    assert contents(path) == contents(only_good)


@pytest.mark.parametrize("name", ["xlsx", "brat"])
def test_the_same_documents_give_the_same_archive_at_any_time(tmp_path: Path, name: str) -> None:
    paths = [tmp_path / f"{number}{'.zip' if name == 'brat' else ''}" for number in (1, 2)]
    if name == "xlsx":
        pytest.importorskip("openpyxl")
    for path in paths:
        write_documents([good(1)], WriteRequest(path=str(path), format=name))
        time.sleep(2.1)  # a date in a zip has steps of two seconds
    assert contents(paths[0]) == contents(paths[1])


@pytest.mark.parametrize("name", BAD)
def test_one_bad_document_is_an_error_unless_it_is_asked_to_go_on(
    tmp_path: Path, name: str
) -> None:
    if module := {"parquet": "pyarrow", "xlsx": "openpyxl"}.get(name):
        pytest.importorskip(module)
    with pytest.raises(InputError, match=r"document|id|word"):
        write_documents(
            [good(1), BAD[name][0]], WriteRequest(path=str(tmp_path / "out"), format=name)
        )
    assert list(tmp_path.iterdir()) == []


BY_ID = {"brat", "csv", "livingner", "parquet", "predictions", "socialdisner", "tsv", "xlsx"}
TWINS = [
    Document(id="1", text=text, mentions=(Mention(((at, at + 6),), "X"),))
    for text, at in (("no asthma", 3), ("asthma no", 0))
]


@pytest.mark.parametrize("name", sorted(BY_ID))
def test_two_documents_of_one_id_are_refused_where_it_alone_tells_them(
    tmp_path: Path, name: str
) -> None:
    if module := {"parquet": "pyarrow", "xlsx": "openpyxl"}.get(name):
        pytest.importorskip(module)
    path = tmp_path / ("out.zip" if name == "brat" else "out")
    with pytest.raises(InputError, match="two documents have the id '1'"):
        write(path, TWINS, format=name)
    assert not path.exists()


@pytest.mark.parametrize("name", sorted(BAD.keys() - BY_ID - {"text", "html"}))
def test_two_documents_of_one_id_stay_two(tmp_path: Path, name: str) -> None:
    if name == "spacy":
        pytest.importorskip(name)
    write(tmp_path / "out", TWINS, format=name)
    back = list(read(tmp_path / "out", format="records" if name == "label-studio" else name))
    assert [(one.text, one.mentions) for one in back] == [(one.text, one.mentions) for one in TWINS]


def test_what_is_counted_of_a_document_that_is_set_aside_is_not_lost_twice(tmp_path: Path) -> None:
    bad = Document(
        id="1", text="a b", mentions=(Mention(((0, 1), (2, 3)), "X"), Mention(((0, 1),), "Y\tZ"))
    )
    report = WriteReport(aside=FailedDocuments(keep_going=True))
    write(tmp_path / "out.pubtator", [bad], report=report)
    assert (report.documents, report.mentions, report.losses, report.aside.count) == (0, 0, {}, 1)


def test_errors_of_reading_are_not_taken_for_those_of_writing(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text('{"text": "a"}\nbroken\n')
    report = WriteReport(aside=FailedDocuments(keep_going=True))
    with pytest.raises(InputError, match=r"in\.jsonl:2"):
        write(tmp_path / "out.pubtator", read(path), report=report)
    assert report.aside.count == 0


def contents(path: Path) -> dict[str, bytes]:
    if path.is_dir():
        files = (file for file in path.rglob("*") if file.is_file())
        return {str(file.relative_to(path)): file.read_bytes() for file in files}
    return {"": path.read_bytes()}


@pytest.mark.parametrize(
    "name", ["bioc", "bioc-json", "pubtator", "kazu", "conll", "label-studio", "spacy", "jsonl"]
)
def test_many_sections_and_mentions_take_linear_time(tmp_path: Path, name: str) -> None:
    # They take a second or two; looking at all sections or borders for each mention takes minutes.
    count = 20_000
    document = Document(
        id="1",
        text="a b\n\n" * count,
        sections=tuple(Section(5 * at, 5 * at + 3, "part") for at in range(count)),
        mentions=tuple(Mention(((5 * at, 5 * at + 1),), "Gene") for at in range(count)),
    )
    began = time.process_time()
    write(tmp_path / "out", [document], format=name)
    assert time.process_time() - began < 8
