"""Jobs about the texts of a folder, which nobody annotates: its files are read once, and rows of
curation are tried on them as often as wanted.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

import msgspec
from msgspec.structs import replace

from fascicle.core import codec
from fascicle.core.document import Document
from fascicle.core.files.atomic import open_output
from fascicle.core.files.source import stem
from fascicle.core.files.tree import lower_suffix, open_tree
from fascicle.errors import FascicleError, InputError
from fascicle.formats.catalogue import FORMATS
from fascicle.formats.files import read, unique_ids
from fascicle.formats.handlers import ANNOTATIONS
from fascicle.formats.report import ReadReport
from fascicle.pipeline.pipeline import OpenPipeline
from fascicle.serving.advice import for_client
from fascicle.serving.content import plain_name
from fascicle.serving.messages import JobEnded, JobOrder, Reached, TryRules
from fascicle.serving.work import open_work

DoJob = Callable[[OpenPipeline, JobOrder, Callable[[Reached], None]], JobEnded]
TEXTS: Final = "texts.jsonl"  # beside the rows that are tried on them
_FILES: Final = "files"
_MOST: Final = 10_000  # texts on which rows are tried
_STEP: Final = 100  # texts after which progress is reported
_DEEPEST: Final = 8  # parts of a path, so that it is not too long for a file system


def read_texts(
    open_pipeline: OpenPipeline, order: JobOrder, send: Callable[[Reached], None]
) -> JobEnded:
    """Writes the texts of a file, or of all files in a zip, as JSON Lines.

    Files of annotations in a zip are left out: only texts are needed.

    Args:
        open_pipeline: not called.
        order: the file; problems with files of the zip become reasons.
        send: takes the progress.

    Raises:
        InputError: there is no text, or more than may be tried.
    """
    report = ReadReport()
    report.aside.keep_going = True
    left_out: Counter[str] = Counter()
    count = characters = 0
    with open_output(order.output, overwrite=True) as stream:
        for document in unique_ids(_texts(order, report, left_out)):
            count, characters = count + 1, characters + len(document.text)
            if count > _MOST or characters > order.characters:
                raise InputError(
                    f"the files have more than {_MOST:,} texts, or more than "
                    f"{order.characters:,} characters; try rows on fewer of them, or with fascicle "
                    "index diff --corpus",
                    code="too-large",
                )
            stream.write(codec.encode(Document(id=document.id, text=document.text)) + b"\n")
            if count % _STEP == 0:
                send(Reached(documents=count, of=0, quarantined=report.aside.count))
    problems = _problems(order, report)
    if not count:
        raise InputError(problems[0] if problems else "there is no file with texts")
    return JobEnded(
        documents=count + report.aside.count,
        quarantined=report.aside.count,
        reasons=dict.fromkeys(problems, 1),
        losses=dict(left_out),
    )


def _problems(order: JobOrder, report: ReadReport) -> list[str]:
    files = f"{order.folder}/{_FILES}/"
    return [
        for_client(text.replace(files, ""), order.folder, of_job=True)
        for text in report.aside.sentences
    ]


def _texts(order: JobOrder, report: ReadReport, left_out: Counter[str]) -> Iterator[Document]:
    """Yields the documents of a file; those of a zip file by file, unless its format has many."""
    form = FORMATS.get(order.reading)
    if lower_suffix(order.input) != ".zip" or (form and form.many):
        yield from read(order.input, format=order.reading, report=report)
        return
    place = Path(order.folder) / _FILES
    with open_tree(order.input, suffixes=None) as tree:
        for name in tree.names:
            if lower_suffix(name) in ANNOTATIONS:
                left_out["annotation-files"] += 1
                continue
            path = place.joinpath(*map(plain_name, name.split("/")[-_DEEPEST:]))
            path.parent.mkdir(parents=True)
            try:
                path.write_bytes(tree.read(name))
                for document in read(str(path), format=order.reading, report=report):
                    yield _below(document, path, place)
            except FascicleError as error:
                report.aside.add(InputError(str(error)))
            finally:
                shutil.rmtree(place)


def _below(document: Document, path: Path, top: Path) -> Document:
    """Returns a document under the path of its file, if its id is the name of the file."""
    if document.id.partition(":")[0] != stem(str(path)):
        return document
    return replace(document, id="/".join((*path.parent.relative_to(top).parts, document.id)))


def try_names(
    open_pipeline: OpenPipeline, order: JobOrder, send: Callable[[Reached], None]
) -> JobEnded:
    """Tries rules on the texts of another job, and writes what `try_rules` returns.

    Args:
        open_pipeline: opens the pipeline, whose first pack gets the rules.
        order: its file has the rules.
        send: takes the progress.

    Raises:
        InputError: the pipeline finds no names of a pack.
    """
    rules = msgspec.json.decode(Path(order.input).read_bytes(), type=TryRules)
    texts = Path(order.folder) / TEXTS
    with texts.open("rb") as stream:
        of = sum(1 for _ in stream)
    work = open_work(open_pipeline, "")
    documents = _counted(read(str(texts), format="jsonl"), of, send)
    answer = work.try_rules(rules, documents)
    if answer is None:
        raise InputError("no step of this pipeline finds the names of a term pack")
    with open_output(order.output, overwrite=True) as output:
        output.write(msgspec.json.encode(answer) + b"\n")
    return JobEnded(documents=of, quarantined=0, reasons={}, losses={})


def _counted(
    documents: Iterable[Document], of: int, send: Callable[[Reached], None]
) -> Iterator[Document]:
    for count, document in enumerate(documents):
        if count % _STEP == 0:
            send(Reached(documents=count, of=of, quarantined=0))
        yield document
