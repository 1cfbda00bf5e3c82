"""Table of the formats: one row per format, with the same names for the command line, recipes and
Python.

A row gives the modules and constants of the reader and the writer; they are imported at their first
use. To add a format, write a module with such constants, and add a row.
"""

from __future__ import annotations

import difflib
from contextlib import suppress
from importlib import import_module
from pathlib import PurePath
from types import MappingProxyType
from typing import Final, cast

import msgspec

import fascicle.plugins as plugins
from fascicle.core.files.source import suffix
from fascicle.core.lazy import cached_property
from fascicle.errors import PluginError, UsageError
from fascicle.formats.handlers import FormatReader, FormatWriter, reader_of, writer_of

# in place of a module, for the reader or writer that another package registers
_PLUGGED: Final = "plug-in"
EARLIER: Final = MappingProxyType({"native": "jsonl"})  # earlier name -> the name of today


class Format(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """File format of the table.

    Attributes:
        name: in options, recipes and Python.
        means: for the help.
        suffixes: of its files, the first one the usual one; none if no file alone shows the format.
        also: further suffixes of files that are read.
        reads: module of its `FormatReader` in this package, or that another package has it; empty
            if its files hold no texts.
        writes: module of its `FormatWriter` in the same way; empty if such files are only read.
        many: whether documents are written to several files, so that a folder, or a zip, is one
            corpus.
        annotated: whether mentions can be written to its files.
    """

    name: str
    means: str
    suffixes: tuple[str, ...]
    reads: str = ""
    writes: str = ""
    many: bool = False
    annotated: bool = True
    also: tuple[str, ...] = ()

    @cached_property
    def reader(self) -> FormatReader:
        """Reader of files in this format.

        Raises:
            UsageError: they hold no texts.
        """
        if _PLUGGED in (self.reads, self.writes):
            return reader_of(plugins.load_plugin("readers", self.name), name=self.name)
        if not self.reads:
            raise UsageError(
                f"files of the format {self.name} hold no texts, so no documents can be read from "
                f"them; give one of {', '.join(READABLE)}"
            )
        return cast(FormatReader, _load(self.reads, self.name, "READER"))

    @cached_property
    def writer(self) -> FormatWriter:
        """Writer of files in this format.

        Raises:
            UsageError: they are only read.
        """
        if _PLUGGED in (self.reads, self.writes):
            return writer_of(plugins.load_plugin("writers", self.name), name=self.name)
        if not self.writes:
            message = (
                f"files of the format {self.name} are read and not written; write one of "
                f"{', '.join(ANNOTATED)}"
            )
            raise UsageError(message)
        return cast(FormatWriter, _load(self.writes, self.name, "WRITER"))


def _row(  # noqa: PLR0913 - the columns of the table
    name: str,
    means: str,
    *,
    ends: str = "",
    module: str = "",
    reads: str = "",
    writes: str = "",
    many: bool = False,
    annotated: bool = True,
    also: str = "",
) -> Format:
    """Makes one row of the table from suffixes separated by blanks, and the module that reads,
    writes, or does both.
    """
    return Format(
        name=name,
        means=means,
        suffixes=tuple(ends.split()),
        reads=reads or module,
        writes=writes or module,
        many=many,
        annotated=annotated,
        also=tuple(also.split()),
    )


_RECORDS: Final = "simple JSON records with text and entities (the JSON of other tools can be read)"
_PREDICTIONS: Final = "mentions and a hash of the text, never the text"
_TASKS: Final = "tasks for Label Studio in JSON"
_BRAT: Final = "a folder, or a .zip, of .txt and .ann files"
_OFFSETS: Final = "a folder, or a .zip, of .txt files with one table of offsets (.tsv) beside them"
_ACE: Final = (
    "a folder, or a .zip, of .sgm files with their entities (.apf.xml) beside them, as ACE has them"
)
_KNOWTATOR: Final = (
    "a folder, or a .zip, of .txt files and annotation of Knowtator "
    "(.knowtator.xml), as CRAFT has it"
)
_GATE: Final = "documents of GATE in its own XML (its JSON, bdocjs, is read as records)"
_WEB: Final = "JSON-LD with annotations as the W3C describes them, beside their texts"
_STAM: Final = "annotation stores of STAM in JSON (.stam.json)"
_WEBANNO: Final = "one document in WebAnno TSV 3, as INCEpTION exports it"
_CAS: Final = "one document in UIMA CAS (JSON; XMI can be read), as INCEpTION exports it"
_PARQUET: Final = "a folder with tables of mentions, documents and relations, for data frames"
_PUBTATOR3: Final = "BioC in JSON, as the service of PubTator 3 answers"
_HTML: Final = "one page of marked texts (read: the visible text of any page)"
_ROWS: Final = (
    _row(
        "jsonl",
        "everything, one document per line",
        ends=".jsonl .jsonlines .json",
        module="native",
    ),
    _row("records", _RECORDS, ends=".records.jsonl", module="records"),
    _row("pubtator", "PubTator", ends=".pubtator", module="pubtator"),
    _row("bioc", "BioC in XML", ends=".bioc.xml .xml", module="bioc_files"),
    _row("bioc-json", "BioC in JSON", ends=".bioc.json", module="bioc_files"),
    _row(
        "conll",
        "one token with its IOB2 tag in each line",
        ends=".conll .iob2 .iob .bio",
        also=".conllu .conllup .gold_conll",
        reads="conll",
        writes="conll_write",
    ),
    _row("webanno", _WEBANNO, ends=".webanno.tsv", reads="inception", writes="inception_write"),
    _row("cas", _CAS, ends=".cas.json", also=".xmi", reads="cas", writes="inception_write"),
    _row("brat", _BRAT, ends=".zip .ann .a1 .a2", reads="brat", writes="brat_write", many=True),
    _row("offsets", _OFFSETS, reads="offset_tables", many=True, annotated=False),
    _row("ace", _ACE, reads="ldc", many=True, annotated=False),
    _row("knowtator", _KNOWTATOR, reads="knowtator", many=True, annotated=False),
    _row("gate-xml", _GATE, reads="gate_xml", annotated=False),
    _row("web-annotation", _WEB, reads="web_annotation", annotated=False),
    _row("stam", _STAM, ends=".stam.json", reads="stam", annotated=False),
    _row("ontonotes", "names of OntoNotes", ends=".name", reads="ldc", many=True, annotated=False),
    _row("parquet", _PARQUET, ends=".parquet", module="parquet", many=True),
    _row(
        "spacy",
        "binary files of spaCy (DocBin)",
        ends=".spacy",
        reads="spacy_read",
        writes="spacy_write",
    ),
    _row("kazu", "documents of Kazu in JSON", ends=".kazu.jsonl .kazu.json", module="kazu"),
    _row(
        "label-studio",
        _TASKS,
        ends=".label-studio.json",
        reads="records",
        writes="label_studio_write",
    ),
    _row("pubtator3", _PUBTATOR3, ends=".pubtator3.json", module="bioc_files"),
    _row(
        "tsv",
        "mentions only: document, type, start, end, score, text, links, names",
        ends=".tsv",
        writes="tables",
    ),
    _row("csv", "the same for spreadsheets", ends=".csv", writes="tables"),
    _row(
        "xlsx",
        "a sheet of mentions (a sheet with a column of texts can be read)",
        ends=".xlsx",
        module="office",
    ),
    _row("livingner", "the table that LivingNER takes", ends=".livingner.tsv", writes="tables"),
    _row(
        "socialdisner",
        "the table that SocialDisNER takes",
        ends=".socialdisner.tsv",
        writes="tables",
    ),
    _row("predictions", _PREDICTIONS, ends=".predictions.jsonl", writes="predictions"),
    _row("text", "texts with marked mentions, for people", ends=".txt", writes="textview"),
    _row("html", _HTML, ends=".html .htm", module="web_page"),
    _row(
        "medline",
        "citations of PubMed or Europe PMC in XML",
        ends=".xml",
        reads="medline",
        annotated=False,
    ),
    _row(
        "citations",
        "exports of reference managers",
        ends=".nbib .ris .enw .ciw",
        reads="citations",
        annotated=False,
    ),
    _row("bibtex", "references in BibTeX", ends=".bib", reads="bibtex", annotated=False),
    _row("endnote", "references in the XML of EndNote", reads="endnote", annotated=False),
    _row(
        "jats",
        "articles in XML, as PubMed Central has them",
        ends=".nxml",
        reads="jats",
        annotated=False,
    ),
    _row("tei", "articles in TEI, as GROBID makes them of PDFs", reads="tei", annotated=False),
    _row("pdf", "the text of a PDF, column by column", ends=".pdf", reads="pdf", annotated=False),
    _row("docx", "the text of a Word document", ends=".docx", reads="docx", annotated=False),
    _row("table", "CSV or TSV with a column of texts", reads="text_tables", annotated=False),
    _row(
        "plain",
        "the text of one document alone",
        ends=".txt .text",
        also=".md",
        module="native",
        annotated=False,
    ),
)
FORMATS: Final = MappingProxyType({row.name: row for row in _ROWS})
READABLE: Final = tuple(row.name for row in _ROWS if row.reads)
ANNOTATED: Final = tuple(row.name for row in _ROWS if row.annotated)
# for a part of many documents
PARTS: Final = tuple(
    row.name for row in _ROWS if row.annotated and (not row.many or row.name in ("brat", "parquet"))
)


def canonical_name(name: str) -> str:
    """Returns the current name of a format; an earlier name is translated."""
    return EARLIER.get(name, name)


def format_named(name: str) -> Format:
    """Returns the format with a name.

    Args:
        name: a name of `FORMATS`, or an earlier one, or that of a reader or writer of another
            package.

    Raises:
        UsageError: there is none of this name; the message has the nearest.
        PluginError: a plug-in that cannot be loaded.
    """
    row = FORMATS.get(canonical_name(name)) or _plugin_format(name)
    if row is None:
        names = (
            *FORMATS,
            *EARLIER,
            *plugins.plugin_names("readers"),
            *plugins.plugin_names("writers"),
        )
        same = readable_by_suffix(f".{name}")
        near = [same] if same else difflib.get_close_matches(name, names, n=1)
        hint = f" (did you mean {canonical_name(near[0])!r}?)" if near else ""
        message = (
            f"the format {name!r} is not known{hint}; choose auto or one of {', '.join(FORMATS)}"
        )
        raise UsageError(message, key=name, code="unknown-name")
    return row


def readable_names() -> tuple[str, ...]:
    """Returns the names of all formats that can be read, those of plug-ins last."""
    return tuple(dict.fromkeys((*READABLE, *plugins.plugin_names("readers"))))


def readable_by_suffix(end: str) -> str:
    """Returns the name of the format that reads files with a suffix, or the empty string."""
    return next((row.name for row in _ROWS if row.reads and end in (*row.suffixes, *row.also)), "")


def format_of_output(path: str) -> str:
    """Returns the format for the file name of an output, or the empty string; a final ``.gz`` is
    ignored.
    """
    name = path.lower().removesuffix(".gz")
    ends = {
        end: row.name
        for row in reversed(_ROWS)
        if row.writes
        for end in row.suffixes
        if name.endswith(end)
    }
    return ends[max(ends, key=len)] if ends else plugged_by_suffix(PurePath(name).suffix, "writers")


def plugged_by_suffix(end: str, group: str) -> str:
    """Returns the name of the plug-in reader or writer for a suffix, or the empty string.

    Suffixes of `FORMATS` are never looked up, and plug-ins that cannot be loaded are ignored.

    Args:
        end: the suffix; may be empty.
        group: ``"readers"`` or ``"writers"``.

    Raises:
        UsageError: several plug-ins have this suffix.
    """
    if not end or any(end in (*row.suffixes, *row.also) for row in _ROWS):
        return ""
    names = []
    for name in plugins.plugin_names(group):
        with suppress(PluginError):
            if end in plugins.load_plugin(group, name).suffixes and name not in FORMATS:
                names.append(name)
    if len(names) > 1:
        message = (
            f"files that end with {end} are for the {group} {' and '.join(names)}; choose "
            "one with format=NAME"
        )
        raise UsageError(message, key=end, code="ambiguous-name")
    return names[0] if names else ""


def _plugin_format(name: str) -> Format | None:
    groups = [group for group in ("readers", "writers") if name in plugins.plugin_names(group)]
    if not groups:
        return None
    return Format(
        name=name,
        means="a plug-in",
        suffixes=tuple(plugins.load_plugin(groups[-1], name).suffixes),
        reads=_PLUGGED * ("readers" in groups),
        writes=_PLUGGED * ("writers" in groups),
    )


def format_to_write(path: str, requested: str = "auto") -> str:
    """Returns the name of the format in which an output is written.

    Args:
        path: of the output; ``"-"`` for standard output.
        requested: a name of a format, or ``"auto"``: what the name of the output tells; ``jsonl``
            if that has no suffix.

    Raises:
        UsageError: there is no such format, or the suffix belongs to no format.
    """
    if requested != "auto":
        return format_named(requested).name
    name, end = format_of_output(path), suffix(path)
    if end and not name:
        suffixes = sorted({one for row in _ROWS if row.writes for one in row.suffixes})
        raise UsageError(
            f"{path} ends with {end}, which stands for no output format; name it "
            f"{', '.join(suffixes)}, or choose the format with format=NAME",
            file=path,
        )
    return name or "jsonl"


def _load(module: str, name: str, what: str) -> object:
    """Returns the reader or writer of a module: that of the format, or the one of all."""
    constants = vars(import_module(f"fascicle.formats.{module}"))
    return constants.get(f"{name.upper().replace('-', '_')}_{what}") or constants[what]
