"""Checking a corpus: what is wrong with it, and what it shares with others."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace

from fascicle.core.arguments import checked
from fascicle.core.document import Document
from fascicle.doctor.examine import Examination, examine
from fascicle.doctor.parts import SPLITS, Given, Part
from fascicle.doctor.settings import CheckSettings
from fascicle.errors import UsageError
from fascicle.formats.conll import ConllOptions
from fascicle.formats.report import ReadReport
from fascicle.formats.requests import ReadRequest, paths_of, read_file
from fascicle.systems.model import Watch
from fascicle.tasks.paths import Paths, listed


@dataclass(frozen=True, kw_only=True)
class CheckRequest:
    """What is checked.

    Attributes:
        files: corpora that are not divided into parts.
        parts: ``(train, dev or test, path)``.
        against: other corpora, whose texts are compared with these.
        reading: how the files are read; ``{part}`` in a value of ``where`` becomes the name of the part.
        reading_against: how the other corpora are read.
        settings: of the checks.
        skip: codes of checks that are not wanted.
    """

    files: tuple[str, ...] = ()
    parts: tuple[tuple[str, str], ...] = ()
    against: tuple[str, ...] = ()
    reading: ReadRequest = field(default_factory=ReadRequest)
    reading_against: ReadRequest = field(default_factory=ReadRequest)
    settings: CheckSettings = field(default_factory=CheckSettings)
    skip: Collection[str] = ()


@dataclass(frozen=True, kw_only=True)
class Checked:
    """What was found.

    Attributes:
        examination: report, exclusions, and what could not be read.
        readings: what the readers found out about each file.
    """

    examination: Examination
    readings: tuple[ReadReport, ...]


@checked
def check(
    train: Paths = (), *, dev: Paths = (), test: Paths = (), against: Paths = (), settings: CheckSettings | None = None
) -> Examination:
    """Checks a corpus: leaks between its parts, doubtful mentions, and texts that other corpora have too.

    Args:
        train: files of the training part, in any format.
        dev: of the development part.
        test: of the test part.
        against: other corpora.
        settings: the usual ones by default.

    Returns:
        The findings; ``report.findings`` for a program, `fascicle.doctor.report.markdown` for a person.

    Raises:
        UsageError: no file was given.
        InputError: nothing could be read.
    """
    named = (("train", train), ("dev", dev), ("test", test))
    parts = tuple((part, path) for part, given in named for path in listed(given, name=part))
    if not parts:
        raise UsageError("no file was given; name those of train, dev or test")
    request = CheckRequest(parts=parts, against=listed(against, name="against"), settings=settings or CheckSettings())
    return examined(request).examination


def examined(request: CheckRequest, *, watch: Watch = iter) -> Checked:
    """Checks what a request names.

    Args:
        request: what to check.
        watch: documents go through it one by one, to show progress.

    Raises:
        InputError: see `check`.
    """
    places, against = list(_places(request, watch)), list(_against(request, watch))
    found = examine(places, against=against, settings=request.settings, skip=request.skip)
    return Checked(examination=found, readings=tuple(place.report for place in (*places, *against)))


def _places(request: CheckRequest, watch: Watch) -> Iterator[Given]:
    named = [(Part(name=name, role=name), path) for name, path in request.parts]
    whole = [(Part(name=path, role="corpus", order=order), path) for order, path in enumerate(request.files)]
    for part, given in (*named, *whole):
        own = _of_split(request.reading, part.role) if part.role in SPLITS else request.reading
        yield from (_given(path, part, own, watch) for path in paths_of([given], request.reading))


def _against(request: CheckRequest, watch: Watch) -> Iterator[Given]:
    for order, given in enumerate(request.against):
        part, reading = Part(name=given, role="against", order=order), request.reading_against
        yield from (_given(path, part, reading, watch) for path in paths_of([given], reading))


def _of_split(request: ReadRequest, role: str) -> ReadRequest:
    return replace(request, where=tuple((name, value.replace("{part}", role)) for name, value in request.where))


def _given(path: str, part: Part, request: ReadRequest, watch: Watch) -> Given:
    report = ReadReport()
    token, tags = request.token_and_tags

    def documents() -> Iterator[Document]:
        return watch(read_file(path, request, report=report))

    columns = ConllOptions(token_column=token, tag_columns=tags)
    return Given(part=part, path=path, documents=documents, report=report, encoding=request.encoding, columns=columns)
