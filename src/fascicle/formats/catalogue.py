"""The formats: one row for each, the same names for the command line, recipes and Python.

A row names the constants that read and write its files, and the modules with them are imported when they are needed. A
new format is a module with such constants, and a row.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from importlib import import_module
from types import MappingProxyType
from typing import Final

import fascicle.plugins as plugins
from fascicle.core import contracts
from fascicle.errors import PluginError, UsageError
from fascicle.files.source import suffix
from fascicle.formats import plugged
from fascicle.formats.handlers import Reader, Writer

EARLIER: Final = MappingProxyType({"native": "jsonl"})  # earlier name -> the name of today


@dataclass(frozen=True, kw_only=True)
class Format:
    """One file format.

    Attributes:
        name: in options, recipes and Python.
        means: for the help.
        suffixes: of its files, the first one the usual one; none if no file alone shows the format.
        reads: ``module:name`` of its `Reader`; empty if its files hold no texts.
        writes: ``module:name`` of its `Writer`; empty if such files are only read.
        many: whether documents are written to several files, so that a folder, or a zip, is one corpus.
        annotated: whether mentions can be written to its files.
    """

    name: str
    means: str
    suffixes: tuple[str, ...]
    reads: str = ""
    writes: str = ""
    many: bool = False
    annotated: bool = True

    @cached_property
    def reader(self) -> Reader:
        """How its files are read.

        Raises:
            UsageError: they hold no texts.
        """
        if not self.reads:
            raise UsageError(
                f"files of the format {self.name} hold no texts, so no documents can be read from them; give one of "
                f"{', '.join(READABLE)}"
            )
        found = _loaded(self.reads)
        assert isinstance(found, Reader)
        return found

    @cached_property
    def writer(self) -> Writer:
        """How its files are written.

        Raises:
            UsageError: they are only read.
        """
        if not self.writes:
            raise UsageError(
                f"files of the format {self.name} are read and not written; write one of {', '.join(ANNOTATED)}"
            )
        found = _loaded(self.writes)
        assert isinstance(found, Writer)
        return found


class _Plugged(Format):
    """The format of the reader, the writer, or both, that other packages have under its name."""

    @cached_property
    def reader(self) -> Reader:
        """See `Format`."""
        return reader_of(plugins.load_reader(self.name), name=self.name)

    @cached_property
    def writer(self) -> Writer:
        """See `Format`."""
        return writer_of(plugins.load_writer(self.name), name=self.name)


def reader_of(reader: contracts.Reader, *, name: str) -> Reader:
    """The reader of a format, from an object that meets the protocol; ``name`` is that of the format."""
    return Reader(read=plugged.reading(reader, name=name))


def writer_of(writer: contracts.Writer, *, name: str) -> Writer:
    """The writer of a format, from an object that meets the protocol.

    Args:
        writer: the object.
        name: of the format.

    Raises:
        PluginError: it says that it holds a field that does not exist.
    """
    return Writer(
        holds=plugged.holds_of(writer, name=name),
        encoder=plugged.encoding(writer, name=name),
        into=partial(plugged.framed, writer),
    )


_ROWS: Final = (
    Format(
        name="jsonl",
        means="everything, one document per line",
        suffixes=(".jsonl", ".jsonlines", ".json"),
        reads="fascicle.formats.native:READER",
        writes="fascicle.formats.native:WRITER",
    ),
    Format(
        name="records",
        means="simple JSON records with text and entities; the JSON of other tools is read",
        suffixes=(".records.jsonl",),
        reads="fascicle.formats.jsonl:READER",
        writes="fascicle.formats.jsonl:WRITER",
    ),
    Format(
        name="pubtator",
        means="PubTator",
        suffixes=(".pubtator",),
        reads="fascicle.formats.pubtator:READER",
        writes="fascicle.formats.pubtator:WRITER",
    ),
    Format(
        name="bioc",
        means="BioC in XML",
        suffixes=(".bioc.xml", ".xml"),
        reads="fascicle.formats.bioc_xml:READER",
        writes="fascicle.formats.bioc_xml:WRITER",
    ),
    Format(
        name="bioc-json",
        means="BioC in JSON",
        suffixes=(".bioc.json",),
        reads="fascicle.formats.bioc_json:READER",
        writes="fascicle.formats.bioc_json:WRITER",
    ),
    Format(
        name="conll",
        means="a token per line with its IOB2 tag",
        suffixes=(".conll", ".iob2", ".iob", ".bio"),
        reads="fascicle.formats.conll:READER",
        writes="fascicle.formats.conll_write:WRITER",
    ),
    Format(
        name="brat",
        means="a folder, or a .zip, of .txt and .ann files",
        suffixes=(".zip", ".ann", ".a1", ".a2"),
        reads="fascicle.formats.brat:READER",
        writes="fascicle.formats.brat_write:WRITER",
        many=True,
    ),
    Format(
        name="offsets",
        means="a folder, or a .zip, of .txt files with one table of offsets (.tsv) beside them",
        suffixes=(),
        reads="fascicle.formats.offsets:READER",
        many=True,
        annotated=False,
    ),
    Format(
        name="parquet",
        means="a folder with a table of mentions, for data frames, and one of documents",
        suffixes=(".parquet",),
        reads="fascicle.formats.parquet:READER",
        writes="fascicle.formats.parquet:WRITER",
        many=True,
    ),
    Format(
        name="spacy",
        means="binary files of spaCy (DocBin)",
        suffixes=(".spacy",),
        reads="fascicle.formats.spacy_read:READER",
        writes="fascicle.formats.spacy_write:WRITER",
    ),
    Format(
        name="kazu",
        means="documents of Kazu in JSON",
        suffixes=(".kazu.jsonl", ".kazu.json"),
        reads="fascicle.formats.kazu:READER",
        writes="fascicle.formats.kazu:WRITER",
    ),
    Format(
        name="label-studio",
        means="tasks for Label Studio in JSON",
        suffixes=(".label-studio.json",),
        reads="fascicle.formats.jsonl:READER",
        writes="fascicle.formats.label_studio:WRITER",
    ),
    Format(
        name="pubtator3",
        means="BioC in JSON, as the service of PubTator 3 answers",
        suffixes=(".pubtator3.json",),
        reads="fascicle.formats.bioc_json:READER",
        writes="fascicle.formats.bioc_json:PUBTATOR3_WRITER",
    ),
    Format(
        name="tsv",
        means="mentions only: document, type, start, end, score, text",
        suffixes=(".tsv",),
        writes="fascicle.formats.tables:TSV_WRITER",
    ),
    Format(
        name="csv",
        means="the same for spreadsheets",
        suffixes=(".csv",),
        writes="fascicle.formats.tables:CSV_WRITER",
    ),
    Format(
        name="predictions",
        means="mentions and a hash of the text, never the text",
        suffixes=(".predictions.jsonl",),
        writes="fascicle.formats.predictions:WRITER",
    ),
    Format(
        name="text",
        means="for reading",
        suffixes=(".txt",),
        writes="fascicle.formats.textview:WRITER",
    ),
    Format(
        name="html",
        means="read: the text that a page shows; written: one page of marked texts",
        suffixes=(".html", ".htm"),
        reads="fascicle.formats.web_page:READER",
        writes="fascicle.formats.web_page:WRITER",
    ),
    Format(
        name="medline",
        means="citations of PubMed in XML",
        suffixes=(".xml",),
        reads="fascicle.formats.medline:READER",
        annotated=False,
    ),
    Format(
        name="jats",
        means="articles in XML, as PubMed Central has them",
        suffixes=(".nxml",),
        reads="fascicle.formats.jats:READER",
        annotated=False,
    ),
    Format(
        name="table",
        means="CSV or TSV with a column of texts",
        suffixes=(),
        reads="fascicle.formats.text_tables:READER",
        annotated=False,
    ),
    Format(
        name="plain",
        means="the text of one document alone",
        suffixes=(".txt", ".text"),
        annotated=False,
        reads="fascicle.formats.plain:READER",
        writes="fascicle.formats.plain:WRITER",
    ),
)
FORMATS: Final[Mapping[str, Format]] = MappingProxyType({row.name: row for row in _ROWS})
READABLE: Final = tuple(row.name for row in _ROWS if row.reads)
ANNOTATED: Final = tuple(row.name for row in _ROWS if row.annotated)
PARTS: Final = tuple(row.name for row in _ROWS if row.annotated and not row.many)  # for a part of many documents


def canonical_name(name: str) -> str:
    """The name of a format as it is today; an earlier name still stands for it."""
    return EARLIER.get(name, name)


def format_named(name: str) -> Format:
    """A format.

    Args:
        name: a name of `FORMATS`, or an earlier one, or that of a reader or writer of another package.

    Raises:
        UsageError: there is none of this name; the message has the nearest.
        PluginError: a plug-in that cannot be loaded.
    """
    found = FORMATS.get(canonical_name(name)) or _plugged(name)
    if found is None:
        near = difflib.get_close_matches(name, [*FORMATS, *EARLIER, *_plugged_names()], n=1)
        hint = f" (did you mean {canonical_name(near[0])!r}?)" if near else ""
        raise UsageError(
            f"the format {name!r} is not known{hint}; choose auto or one of {', '.join(FORMATS)}",
            key=name,
            code="unknown-name",
        )
    return found


def readable_names() -> tuple[str, ...]:
    """The names of all formats that can be read, those of plug-ins at the end."""
    return tuple(dict.fromkeys((*READABLE, *plugins.names("readers"))))


def readable_by_suffix(end: str) -> str:
    """The format that files with a suffix are read in, or the empty string."""
    return next((row.name for row in _ROWS if row.reads and end in row.suffixes), "")


def format_of_output(path: str) -> str:
    """The format that the name of an output tells, or the empty string; ``.gz`` at its end counts for nothing."""
    name = path.lower().removesuffix(".gz")
    ends = {end: row.name for row in reversed(_ROWS) if row.writes for end in row.suffixes if name.endswith(end)}
    return ends[max(ends, key=len)] if ends else plugged_by_suffix(suffix(path), "writers")


def plugged_by_suffix(end: str, group: str) -> str:
    """The reader or writer of another package that a suffix stands for, or the empty string.

    A suffix of `FORMATS` stands for none, and plug-ins that cannot be loaded are left out.

    Args:
        end: the suffix; may be empty.
        group: ``"readers"`` or ``"writers"``.

    Raises:
        UsageError: it stands for several.
    """
    if not end or any(end in row.suffixes for row in _ROWS):
        return ""
    found = []
    for name in plugins.names(group):
        with suppress(PluginError):
            found += [name] if end in plugins.load(group, name).suffixes and name not in FORMATS else []
    if len(found) > 1:
        raise UsageError(
            f"files that end with {end} are for the {group} {' and '.join(found)}; choose one with format=NAME",
            key=end,
            code="ambiguous-name",
        )
    return found[0] if found else ""


def _plugged_names() -> tuple[str, ...]:
    return tuple(dict.fromkeys((*plugins.names("readers"), *plugins.names("writers"))))


def _plugged(name: str) -> Format | None:
    reads, writes = (name in plugins.names(group) for group in ("readers", "writers"))
    if not (reads or writes):
        return None
    suffixes = plugins.load_writer(name).suffixes if writes else plugins.load_reader(name).suffixes
    read, written = (name if there else "" for there in (reads, writes))
    return _Plugged(name=name, means="a plug-in", suffixes=tuple(suffixes), reads=read, writes=written)


def format_to_write(path: str, asked: str = "auto") -> str:
    """The name of the format to write an output in.

    Args:
        path: of the output; ``"-"`` for standard output.
        asked: a name of a format, or ``"auto"``: what the name of the output tells; ``jsonl`` if that has no suffix.

    Raises:
        UsageError: there is no such format, or a suffix stands for none.
    """
    if asked != "auto":
        return format_named(asked).name
    found, end = format_of_output(path), suffix(path)
    if end and not found:
        known = sorted({one for row in _ROWS if row.writes for one in row.suffixes})
        raise UsageError(
            f"{path} ends with {end}, which stands for no output format; name it {', '.join(known)}, or choose the "
            "format with format=NAME",
            file=path,
        )
    return found or "jsonl"


def _loaded(place: str) -> object:
    module, _, name = place.partition(":")
    found: object = getattr(import_module(module), name)
    return found
