"""A run over several inputs accounts for every document, also for those that break the
predictor.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import pytest

from fascicle.annotation import Annotation, NothingError
from fascicle.core.document import Document, Mention, Patch
from fascicle.errors import InputError
from fascicle.formats import read, write
from fascicle.formats.account import Account
from fascicle.formats.outputs import WriteRequest, write_documents
from fascicle.text.annotator import Annotator


class Fragile(Annotator):
    """Finds ``x`` at the beginning; raises an error for any text with ``!`` in it."""

    name = "fragile"  # type: ignore[assignment]
    types = ("X",)  # type: ignore[assignment]

    def predict(self, documents: Sequence[Document]) -> list[Patch]:
        if any("!" in document.text for document in documents):
            raise IndexError("index 7 is out of bounds")
        return [Patch(add=(Mention(((0, 1),), "X", source=self.name),)) for _ in documents]


def given(*texts: str) -> Iterator[tuple[str, Document]]:
    """Documents of inputs that are named by the first letter of each text."""
    return (
        (text[0], Document(id=f"{text}-{number}", text=f"x {text}"))
        for number, text in enumerate(texts)
    )


def test_documents_that_break_the_predictor_are_set_aside(tmp_path: Path) -> None:
    said: list[str] = []
    account = Account(tell=said.append)
    report = account.open_report()
    documents = Annotation(predictor=Fragile(), account=account).documents(
        given("a", "a!", "b", "b!", "c"), report=report
    )
    write(tmp_path / "out.jsonl", documents, format="native", report=report)
    account.add(report)
    account.check()
    assert [d.id for d in read(tmp_path / "out.jsonl")] == ["a-0", "b-2", "c-4"]
    assert (account.documents, account.written, account.aside, account.mentions) == (5, 3, 2, 3)
    assert ["a!-1" in said[0], "b!-3" in said[1]] == [True, True]


def test_where_every_document_breaks_the_predictor_there_is_no_file(tmp_path: Path) -> None:
    account = Account()
    report = account.open_report()
    documents = Annotation(predictor=Fragile(), account=account).documents(
        given("a!", "b!"), report=report
    )
    with pytest.raises(InputError, match="2 documents"):
        write(tmp_path / "out.jsonl", documents, report=report)
    assert list(tmp_path.iterdir()) == []


def test_each_input_has_its_own_file_and_its_own_facts() -> None:
    account = Account()
    run = Annotation(predictor=Fragile(), account=account)
    content: dict[str, bytes] = {}
    facts = {}
    for one in run.by_input(given("a", "a!", "a", "b!", "c", "c!"), done={}):
        stream = io.BytesIO()

        @contextmanager
        def opened(
            path: object, *, overwrite: bool = False, to: BinaryIO = stream
        ) -> Iterator[BinaryIO]:
            yield to

        try:
            write_documents(
                one.documents(),
                WriteRequest(path=one.name, format="jsonl"),
                report=one.report,
                opened=opened,
            )
        except NothingError:
            continue
        finally:
            one.close()
        content[one.name], facts[one.name] = stream.getvalue(), one.facts()
    account.check()
    assert {name: lines.count(b"\n") for name, lines in content.items()} == {"a": 2, "c": 1}
    assert (account.documents, account.written, account.aside) == (6, 3, 3)

    later = Account()
    again = Annotation(predictor=Fragile(), account=later)
    left = []
    for one in again.by_input(given("a", "a!", "a", "b!", "c", "c!"), done=facts):
        with pytest.raises(NothingError):
            list(one.documents())
        one.close()
        left.append(one.name)
    later.check()
    assert left == ["b"]
    assert (later.documents, later.written, later.aside) == (6, 3, 3)
