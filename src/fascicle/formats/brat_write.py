"""Writer for brat standoff: a folder of ``.txt`` and ``.ann`` pairs, or a zip of them."""

from __future__ import annotations

import re
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import BinaryIO, Final

from fascicle.core.document import Document, Link, Mention, MentionKey, Relation
from fascicle.core.files.atomic import check_folder, check_target
from fascicle.core.files.source import LONGEST_NAME, STDIN
from fascicle.core.files.tree import lower_suffix
from fascicle.core.mention import join_over_blanks
from fascicle.core.wording import plural, shorten
from fascicle.errors import InputError, UsageError
from fascicle.formats import brat_lines
from fascicle.formats.brat_lines import (
    file_name,
    format_reference,
    join_fragments,
    parse_reference,
    parts_on_lines,
)
from fascicle.formats.handlers import SUFFIXES, TEXT, FormatWriter, file_text
from fascicle.formats.losses import held_fields
from fascicle.formats.report import WriteReport

_WHOLE: Final = "ids text-between-words mentions discontinuous nested link-ontologies"
_HOLDS: Final = held_fields("brat", _WHOLE, partly="relations links link-names attributes")
_ANN: Final = ".ann"
ZIP_DATE: Final = (1980, 1, 1, 0, 0, 0)  # the same content gives the same bytes
_MODE: Final = 0o100644 << 16
_UNIX: Final = 3
_NOT_A_WORD: Final = re.compile(r"[\s\x00-\x1f\x7f-\x9f]")
_ENDS_LINE: Final = re.compile(r"[\n\r\0]")


_Files = tuple[tuple[str, bytes], ...]


def _check_place(path: str, *, overwrite: bool) -> None:
    """Checks that documents can be written to a path; call it before long work.

    Raises:
        UsageError: standard output, or the name of a single file.
        OutputError: it exists and may not be overwritten, or it is a folder with other things in it
            than a brat corpus as it was written.
    """
    if path == STDIN:
        raise UsageError("brat has two files for each document; name a folder or a .zip to write")
    if path.lower().endswith(".zip"):
        check_target(path, overwrite=overwrite)
        return
    if lower_suffix(path) in (*SUFFIXES, ".gz"):
        raise UsageError(
            f"brat is written to a folder or a .zip, but {path} is the name of a file; give "
            "another name"
        )
    check_folder(Path(path), kind="brat", overwrite=overwrite)


@contextmanager
def _into_zip(stream: BinaryIO, _: object = None) -> Iterator[Callable[[_Files], None]]:
    """Yields the function that writes the files of one document into a zip."""
    with zipfile.ZipFile(stream, "w") as archive:

        def write_files(files: _Files) -> None:
            for name, content in files:
                info = zipfile.ZipInfo(name, date_time=ZIP_DATE)
                info.compress_type = zipfile.ZIP_DEFLATED
                info.external_attr, info.create_system = _MODE, _UNIX
                archive.writestr(info, content)

        yield write_files


@contextmanager
def _into_folder(folder: Path) -> Iterator[Callable[[_Files], None]]:
    """Yields the function that writes the files of one document into an empty folder.

    It raises an `InputError` if two ids give the same file name on the file system; the second is
    not written.
    """

    def write_files(files: _Files) -> None:
        for name, content in files:
            try:
                with (folder / name).open("xb") as stream:
                    stream.write(content)
            except FileExistsError:
                raise InputError(
                    f"two documents would both be in the file {name!r}, since this file system "
                    "does not tell their ids apart; write a .zip"
                ) from None

    yield write_files


def _encoder() -> Callable[[Document, WriteReport], _Files]:
    """Returns the function that encodes a document as its two files.

    Links become N lines, and attributes become A lines, or notes if they are named
    ``AnnotatorNotes``. Relations become R lines or equivalences. Counted as lost are other
    relations without exactly two arguments with roles, links and attributes that a line cannot
    hold, and NUL in the text (written as a blank). A text that begins with U+FEFF gets a second one
    in front, because readers treat the first as a byte order mark.

    It raises an `InputError` for two documents of one id, an id that cannot name a file, or a type
    that a line cannot hold.
    """
    names: set[str] = set()

    def encode(document: Document, report: WriteReport) -> _Files:
        name = _name(document)
        if name in names:
            raise InputError(
                f"two documents have the id {document.id!r}, which names their files; rename one "
                "of them"
            )
        text, content = file_text(document, report)
        lines = "".join(
            f"{line}\n" for line in _AnnotationFile(document, text, report).lines()
        ).encode()
        names.add(name)
        return ((name + TEXT, content), (name + _ANN, lines))

    return encode


def _name(document: Document) -> str:
    try:
        name = file_name(document.id)
        length = len(f"{name}{TEXT}".encode())
    except UnicodeEncodeError:
        raise InputError(
            f"the id {document.id!r} is not Unicode, so it cannot name a file; rename it"
        ) from None
    if not name or length > LONGEST_NAME:
        raise InputError(
            f"the id {shorten(document.id)!r} cannot name a file: it needs 1 to "
            f"{plural(LONGEST_NAME - len(TEXT), 'byte')}, and has {length - len(TEXT)}; rename it"
        )
    return name


class _AnnotationFile:
    """Lines about the mentions and the relations of one document; counts what they cannot hold."""

    def __init__(self, document: Document, text: str, report: WriteReport) -> None:
        self._document, self._text, self._report = document, text, report
        self._numbers: defaultdict[str, Iterator[int]] = defaultdict(lambda: count(1))
        self._ids: dict[MentionKey, str] = {}

    def lines(self) -> Iterator[str]:
        for mention in self._document.mentions:
            yield from self._mention(mention)
        for relation in self._document.relations:
            yield from self._relation(relation)

    def _mention(self, mention: Mention) -> Iterator[str]:
        own = self._ids[mention.key] = self._next_id("T")
        if join_over_blanks(mention.spans, self._text) != mention.spans:
            self._report.lose("joined-fragments", self._document, mention)
        parts = parts_on_lines(self._text, mention.spans)
        spans = ";".join(f"{start} {end}" for start, end in parts)
        kind = _type(mention, self._document)
        yield f"{own}\t{kind} {spans}\t{join_fragments(self._text, parts)}"
        yield from self._links(mention, own)
        yield from self._attributes(mention, own)

    def _relation(self, relation: Relation) -> Iterator[str]:
        arguments = [(role, self._ids[key]) for role, key in relation.arguments]
        if _is_equivalence(relation):
            yield f"*\t{relation.type} {' '.join(target for _, target in arguments)}"
            if relation.attributes:  # the line has no id that they could refer to
                self._report.lose("attributes", self._document, count=len(relation.attributes))
        elif _is_binary(relation):
            own = self._next_id("R")
            yield f"{own}\t{relation.type} {' '.join(map(':'.join, arguments))}\t"
            yield from self._attributes(relation, own)
        else:
            self._report.lose("relations", self._document)

    def _links(self, mention: Mention, target: str) -> Iterator[str]:
        for link in mention.links:
            if not _fits(link):
                self._report.lose("links", self._document, mention)
                continue
            name = link.name
            if _ENDS_LINE.search(name) or "\t" in name:
                self._report.lose("link-names", self._document, mention)
                name = ""
            reference = f"{brat_lines.REFERENCE} {target} {format_reference(link)}"
            yield f"{self._next_id('N')}\t{reference}\t{name}"

    def _attributes(self, owner: Mention | Relation, target: str) -> Iterator[str]:
        for name, value in owner.attributes:
            if not name or _NOT_A_WORD.search(name) or _ENDS_LINE.search(value):
                self._lose_attribute(owner)
            elif name == brat_lines.NOTE:
                yield f"{self._next_id('#')}\t{brat_lines.NOTE} {target}\t{value}"
            elif name == brat_lines.REFERENCE and _is_reference(target, value):
                yield f"{self._next_id('N')}\t{brat_lines.REFERENCE} {target} {value}"
            elif "\t" in value:  # brat cuts an A line at a TAB
                self._lose_attribute(owner)
            else:
                line = f"{name} {target} {value}" if value else f"{name} {target}"
                yield f"{self._next_id('A')}\t{line}"

    def _lose_attribute(self, owner: Mention | Relation) -> None:
        mention = owner if isinstance(owner, Mention) else None
        self._report.lose("attributes", self._document, mention)

    def _next_id(self, letter: str) -> str:
        return f"{letter}{next(self._numbers[letter])}"


def _is_equivalence(relation: Relation) -> bool:
    """True if a relation says what a ``*`` line says; other relations without roles may be
    something else.
    """
    roles = [role for role, _ in relation.arguments]
    return relation.type == brat_lines.EQUIVALENCE and len(roles) > 1 and not any(roles)


def _is_binary(relation: Relation) -> bool:
    roles = [role for role, _ in relation.arguments]
    is_word = [bool(name) and not _NOT_A_WORD.search(name) for name in (relation.type, *roles)]
    return len(roles) == 2 and all(is_word) and ":" not in "".join(roles)


def _type(mention: Mention, document: Document) -> str:
    if _NOT_A_WORD.search(mention.type):
        raise InputError(
            f"the type {mention.type!r} of document {document.id!r} cannot be written to a brat "
            "file; it may not hold blanks or control characters, so rename it"
        )
    return mention.type


def _fits(link: Link) -> bool:
    if not brat_lines.names_an_entry(link.id) or _NOT_A_WORD.search(link.id + link.ontology):
        return False
    return ":" not in link.ontology and link.ontology != brat_lines.NO_ONTOLOGY


def _is_reference(target: str, value: str) -> bool:
    """True if an attribute is a reference without an entry: it was read from an N line, and can
    be written as one.
    """
    reference, _, name = value.partition("\t")
    parsed = parse_reference(f"{brat_lines.REFERENCE} {target} {reference}", name)
    return "\t" not in name and parsed == (target, None, reference)


WRITER: Final = FormatWriter(
    holds=_HOLDS,
    encoder=lambda _: _encoder(),
    into=_into_zip,
    into_folder=_into_folder,
    check=_check_place,
)
