"""The command, a request and the stream of a predictor treat documents alike."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from fascicle.cli import main
from fascicle.core import codec
from fascicle.core.document import Document, Link, Mention, Patch
from fascicle.core.mention import AMBIGUOUS
from fascicle.errors import FascicleError, InputError, LossError, OutputError, UsageError
from fascicle.formats import write
from fascicle.formats.catalogue import FORMATS
from fascicle.formats.files import read
from fascicle.formats.losses import HeldFields
from fascicle.formats.outputs import WriteRequest
from fascicle.formats.report import FailedDocuments, ReadReport
from fascicle.formats.requests import ReadRequest
from fascicle.loading import load
from fascicle.runtime.composing import compose
from fascicle.settings.choices import Choices
from fascicle.text.annotator import Annotator
from fascicle.verbs.tasks.annotate import (
    AnnotateRequest,
    ProgressCallbacks,
    annotate,
    annotate_files,
    held_links,
)

EARLIER = (Mention(((0, 4),), "Disease", source="names"), Mention(((0, 4),), "Disease"))
DOCUMENTS = (
    Document(id="earlier", text="lung cancer", mentions=EARLIER),
    Document(id="empty", text=""),
    Document(id="unseen", text="\u200b\n"),
    Document(id="good", text="aspirin against fever"),
)


class Fragile(Annotator):
    """Finds every ``fever``; a text with ``cancer`` is more than it can bear."""

    name = "fragile"  # type: ignore[assignment]
    types = ("Disease",)  # type: ignore[assignment]

    def predict(self, documents: Sequence[Document]) -> list[Patch]:
        if any("cancer" in document.text for document in documents):
            raise RuntimeError("a network of its own mind")
        found = [document.text.find("fever") for document in documents]
        return [
            Patch(add=(Mention(((at, at + 5),), "Disease", source=self.name),) if at >= 0 else ())
            for at in found
        ]


def FRAGILE(held: HeldFields) -> Annotator:  # noqa: N802
    return Fragile()


@pytest.fixture
def names(tmp_path: Path) -> Path:
    path = tmp_path / "names.tsv"
    path.write_text("Chemical\taspirin\nDisease\tlung cancer\n", encoding="utf-8")
    return path


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Four documents, with a line that is none between them."""
    path = tmp_path / "in.jsonl"
    lines = [codec.encode(document) for document in DOCUMENTS]
    path.write_bytes(b"\n".join([*lines[:2], b'{"fascicle": 1, "id": 3}', *lines[2:]]) + b"\n")
    return path


def going_on() -> ReadReport:
    return ReadReport(aside=FailedDocuments(keep_going=True))


def test_python_and_the_command_treat_documents_alike(
    capsys: pytest.CaptureFixture[str], names: Path, corpus: Path, tmp_path: Path
) -> None:
    asked = ["annotate", str(corpus), "--model", str(names), "--no-link"]
    assert main([*asked, "-o", str(tmp_path / "command.jsonl")]) == 3
    said = capsys.readouterr().err
    report = going_on()
    streamed = list(load(names, links=False).stream(read(corpus, report=report)))
    request = AnnotateRequest(
        files=(str(corpus),), writing=WriteRequest(path=str(tmp_path / "request.jsonl"))
    )
    account = annotate_files(request, lambda held: load(names, links=False))
    assert (
        list(read(tmp_path / "command.jsonl")) == list(read(tmp_path / "request.jsonl")) == streamed
    )
    assert (tmp_path / "command.jsonl").read_bytes() == (tmp_path / "request.jsonl").read_bytes()
    assert (account.written, account.aside) == (4, 1)
    assert account.reading.aside.sentences == report.aside.sentences
    assert report.aside.sentences[0] in said

    first, empty, unseen, good = streamed
    assert {(m.source, m.type, m.text_in(first.text)) for m in first.mentions} == {
        ("gold", "Disease", "lung"),
        ("names", "Disease", "lung cancer"),
    }
    assert [(event.kind, event.code) for event in first.events] == [("note", "replaced")]
    for document in (empty, unseen):
        assert [(event.kind, event.code) for event in document.events] == [("note", "empty-text")]
    assert not good.events


def test_a_document_that_cannot_be_answered_is_set_aside_alike(tmp_path: Path) -> None:
    heard: list[InputError] = []
    streamed = list(Fragile().stream(DOCUMENTS, aside=heard.append))
    (tmp_path / "in.jsonl").write_bytes(
        b"".join(codec.encode(document) + b"\n" for document in DOCUMENTS)
    )
    request = AnnotateRequest(
        files=(str(tmp_path / "in.jsonl"),), writing=WriteRequest(path=str(tmp_path / "out.jsonl"))
    )
    told: list[int] = []
    listener = ProgressCallbacks(seen=lambda documents, reached, total: told.append(documents))
    account = annotate_files(request, FRAGILE, listener=listener)
    assert list(read(tmp_path / "out.jsonl")) == streamed
    assert account.predicting.sentences == [str(error) for error in heard]
    assert (account.read, account.written, account.aside) == (4, 3, 1)
    assert told == [2, 3, 4]


def test_texts_in_place_of_files(tmp_path: Path) -> None:
    texts = ("no fever", "cancer", "")
    request = AnnotateRequest(texts=texts, writing=WriteRequest(path=str(tmp_path / "out.jsonl")))
    annotate_files(request, FRAGILE)
    assert list(read(tmp_path / "out.jsonl")) == list(
        Fragile().stream(texts, aside=lambda error: None)
    )


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"files": ()}, UsageError),
        ({"texts": ("fever",)}, UsageError),
        ({"files": ("missing.txt",)}, InputError),
        ({"writing": WriteRequest(path="in.txt", format="jsonl", overwrite=True)}, OutputError),
        ({"writing": WriteRequest(path="there.jsonl")}, OutputError),
        ({"writing": WriteRequest(path="out.docx")}, UsageError),
        ({"writing": WriteRequest(path="out.jsonl", format="jsno")}, UsageError),
        ({"writing": WriteRequest(path="out/", format="medline")}, UsageError),
        ({"writing": WriteRequest(path="out/", format="pdf")}, UsageError),
        ({"writing": WriteRequest(format="brat")}, UsageError),
        ({"writing": WriteRequest(resume=True)}, UsageError),
        ({"writing": WriteRequest(path="out.txt", resume=True)}, UsageError),
        ({"writing": WriteRequest(path="out.xlsx", resume=True)}, UsageError),
        ({"writing": WriteRequest(path="out.jsonl.gz", resume=True)}, UsageError),
        ({"writing": WriteRequest(path=f"{'n' * 240}.jsonl", resume=True)}, UsageError),
        (
            {
                "writing": WriteRequest(path="out.jsonl"),
                "also_read": ("out.jsonl",),
                "files": ("in.txt",),
            },
            None,
        ),
    ],
)
def test_what_is_refused_is_refused_before_the_predictor_is_opened(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    changes: dict[str, Any],
    error: type[FascicleError] | None,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.txt").write_text("no fever", encoding="utf-8")
    (tmp_path / "there.jsonl").write_text("mine", encoding="utf-8")
    opened: list[Annotator] = []

    def predictor(holds: HeldFields) -> Annotator:
        opened.append(Fragile())
        return opened[0]

    request = AnnotateRequest(**{"files": ("in.txt",), **changes})
    if error is None:
        annotate_files(request, predictor)
        return
    with pytest.raises(error):
        annotate_files(request, predictor)
    assert not opened
    assert (tmp_path / "in.txt").read_text(encoding="utf-8") == "no fever"


def test_one_file_for_each_input(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for name in ("a", "b"):
        (tmp_path / "in" / f"{name}.txt").write_text(f"{name}: fever", encoding="utf-8")
    wrote: list[str] = []
    request = AnnotateRequest(
        files=(str(tmp_path / "in"),),
        reading=ReadRequest(format="plain"),
        writing=WriteRequest(path=f"{tmp_path}/out/", format="records"),
    )
    annotate_files(
        request,
        FRAGILE,
        listener=ProgressCallbacks(wrote=lambda path, report: wrote.append(path.name)),
    )
    assert wrote == ["a.records.jsonl", "b.records.jsonl"]
    (document,) = read(tmp_path / "out" / "b.records.jsonl")
    assert [m.text_in(document.text) for m in document.mentions] == ["fever"]


@pytest.mark.parametrize(
    ("output", "form", "chosen"),
    [
        ("out.jsonl", "auto", "jsonl"),
        ("out.tsv", "auto", "tsv"),
        ("out/", "conll", "conll"),
        ("out", "brat", "brat"),
    ],
)
def test_the_predictor_is_opened_for_what_the_output_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, output: str, form: str, chosen: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.txt").write_text("a fever", encoding="utf-8")
    asked: list[HeldFields] = []

    def opened(holds: HeldFields) -> Annotator:
        asked.append(holds)
        return Fragile()

    annotate_files(
        AnnotateRequest(files=("in.txt",), writing=WriteRequest(path=output, format=form)), opened
    )
    assert asked == [FORMATS[chosen].writer.holds]


@pytest.mark.parametrize(
    ("form", "link", "links"),
    [
        ("jsonl", "auto", True),
        ("conll", "auto", False),
        ("conll", ("basic",), True),
        ("jsonl", None, False),
    ],
)
def test_links_that_the_output_cannot_hold_are_given_only_if_a_linker_was_named(
    form: str, link: str | tuple[str, ...] | None, links: bool
) -> None:
    held = held_links(FORMATS[form].writer.holds)
    predictor = compose(Fragile(), Choices(link=link or ()), output=held)
    assert predictor.links == links


@pytest.mark.parametrize("form", ["pubtator", "bioc", "bioc-json", "brat", "spacy", "tsv"])
def test_ambiguous_links_without_a_place_in_the_output_are_counted_also_by_default(
    tmp_path: Path, form: str
) -> None:
    holds = FORMATS[form].writer.holds
    answers = (
        Link(id="D007669", ontology="MESH", name="Kidney Calculi", score=0.4, tier=AMBIGUOUS),
        Link(id="D053040", ontology="MESH", name="Nephrolithiasis", score=0.4, tier=AMBIGUOUS),
        Link(id="", nil=True, score=0.9, tier="absent"),
        Link(id="D001241", ontology="MESH", name="Aspirin", score=0.9, tier="exact"),
    )
    keep = held_links(holds).keep
    assert keep is not None
    mention = Mention(((0, 7),), "Disease", source=holds.source, links=keep(answers))
    document = Document(id="1", text="Aspirin", mentions=(mention,))
    report = write(tmp_path / "out", [document], format=form)
    # what nobody asked for (a score, how a link was made, that there is none) is no loss
    assert report.losses == {"ambiguous": 2}
    with pytest.raises(LossError, match="would lose ambiguous"):
        write(tmp_path / "strict", [document], format=form, strict=True)


def test_python_takes_own_names_and_shows_how_far_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in.txt").write_text("Aspirin at rest", encoding="utf-8")
    (tmp_path / "own.tsv").write_text("Drug\taspirin\nGene\tREST\n", encoding="utf-8")
    said = []
    for number, case in enumerate(("auto", "any")):
        out = tmp_path / f"{number}.jsonl"
        annotate(
            tmp_path / "in.txt",
            out,
            model="biomed-fast",
            also=tmp_path / "own.tsv",
            case=case,
            progress=True,
        )
        (document,) = read(out)
        said.append([mention.text for mention in document if mention.source == "own"])
    assert said == [["Aspirin"], ["Aspirin", "rest"]]
    assert capsys.readouterr().out == ""
