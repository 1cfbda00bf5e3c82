"""References in BibTeX: a document for each entry, of its title and its abstract.

The grammar is that of https://www.bibtex.org/Format/. No package is needed: pybtex leaves commands
of TeX in the text, and a base install would not have it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from fascicle.core.document import Document, Event
from fascicle.core.effects import make_event
from fascicle.core.files.source import Source
from fascicle.core.wording import plural
from fascicle.errors import FormatError, Place
from fascicle.formats.citations import fact_text
from fascicle.formats.extraction import collapse, field_note, join_sections
from fascicle.formats.handlers import FormatReader
from fascicle.formats.inline import read_markup
from fascicle.formats.report import ReadReport
from fascicle.formats.tex import read_tex, unknown_commands
from fascicle.text.raised import Line

_STEP: Final = "bibtex"
_BETWEEN: Final = "\n\n"  # as in RIS
ENTRY: Final = re.compile(r"(?:^|(?<=[})]))[ \t]*@[ \t]*([A-Za-z]+)[ \t]*[{(]", re.MULTILINE)
_NO_REFERENCE: Final = ("comment", "preamble")
_STRING: Final = "string"
_KEY: Final = re.compile(r"\s*([^,\s{}\"=]+)\s*(?:,|(?=[})]))")
_NAME: Final = re.compile(r"[\s,]*([A-Za-z][\w:.+/-]*)\s*=\s*")
_BARE: Final = re.compile(r"[\w:.+/-]+")
_JOINED: Final = re.compile(r"\s*#\s*")
_END: Final = re.compile(r"[\s,]*[})]")
# braces and quotation marks, without those behind a backslash
_SIGN: Final = re.compile(r"\\.|[{}\"]", re.DOTALL)
# alone above the line, perhaps a mark; what is raised within a formula belongs to it
_RAISED: Final = re.compile(r"\\textsuperscript\{([^{}]*)\}|\$\^(?:\{([^{}$]*)\}|(\w))\$")
_MONTHS: Final = "jan feb mar apr may jun jul aug sep oct nov dec"
_META: Final = MappingProxyType(
    {
        "doi": ("doi",),
        "pmid": ("pmid",),
        "journal": ("journal", "journaltitle", "booktitle"),
        "year": ("year", "date"),
        "language": ("language",),
        "keywords": ("keywords",),
    }
)


def read(source: Source, options: None, report: ReadReport) -> Iterator[Document]:
    """Yields the references of a file; the id of each is its key.

    Args:
        source: the file.
        options: none.
        report: an entry that cannot be read is set aside.

    Raises:
        FormatError: an entry that breaks the rules of BibTeX.
    """
    text, strings = source.text(), {month: month for month in _MONTHS.split()}
    starts, line, at = list(ENTRY.finditer(text)), 1, 0
    for number, start in enumerate(starts):
        line, at = line + text.count("\n", at, start.start()), start.start()
        kind = start[1].lower()
        if kind in _NO_REFERENCE:
            continue
        end = starts[number + 1].start() if number + 1 < len(starts) else len(text)
        with report.aside.one():
            entry = _Entry(text[start.end() : end], Place(source.path, line), strings)
            if kind == _STRING:
                strings |= dict(entry.fields())
            else:
                yield _document(entry.key(), kind, dict(entry.fields()))


class _Entry:
    """Parser of one entry, from behind its opening brace."""

    def __init__(self, text: str, place: Place, strings: Mapping[str, str]) -> None:
        self._text, self._place, self._strings = text, place, strings
        self._at = 0

    def key(self) -> str:
        """Returns the key and moves behind it."""
        return self._next(_KEY, "its key")[1]

    def fields(self) -> Iterator[tuple[str, str]]:
        """Yields each name in small letters, and its value."""
        while not _END.match(self._text, self._at):
            name = self._next(_NAME, "a name with = behind it, or its end")[1]
            yield name.lower(), self._value()

    def _value(self) -> str:
        parts = [self._part()]
        while joined := _JOINED.match(self._text, self._at):
            self._at = joined.end()
            parts.append(self._part())
        return "".join(parts)

    def _part(self) -> str:
        opening = self._text[self._at : self._at + 1]
        if opening in ("{", '"'):
            return self._enclosed(closing="}" if opening == "{" else '"')
        word = self._next(_BARE, "a value in braces or quotation marks")[0]
        if word.isdecimal():
            return word
        return self._strings.get(word.lower(), word)

    def _enclosed(self, *, closing: str) -> str:
        begin, depth = self._at + 1, 0
        for sign in _SIGN.finditer(self._text, begin):
            if sign[0] == closing and depth == 0:
                self._at = sign.end()
                return self._text[begin : sign.start()]
            depth += {"{": 1, "}": -1}.get(sign[0], 0)
        raise FormatError("a value of the entry does not end; close its braces", at=self._place)

    def _next(self, pattern: re.Pattern[str], what: str) -> re.Match[str]:
        match = pattern.match(self._text, self._at)
        if match is None:
            raise FormatError(f"the entry lacks {what}; see its commas and braces", at=self._place)
        self._at = match.end()
        return match


def _document(key: str, kind: str, fields: Mapping[str, str]) -> Document:
    line, values = Line(), {name: collapse(read_tex(value)) for name, value in fields.items()}
    title, abstract = (_field_text(fields.get(name, ""), line) for name in ("title", "abstract"))
    text, sections = join_sections([("title", title), ("abstract", abstract)], between=_BETWEEN)
    meta, used = _facts(values)
    unread = sorted(name for name in values.keys() - used if values[name])
    events = (*field_note(unread, step=_STEP), *line.events(_STEP), *_kept_event(fields))
    meta["publication-types"] = kind
    return Document(id=key, text=text, sections=sections, meta=meta, events=events)


def _facts(values: Mapping[str, str]) -> tuple[dict[str, str], set[str]]:
    """Returns facts about an entry, and the names of all fields that are read."""
    meta, used = dict[str, str](), {"title", "abstract"}
    for fact, names in _META.items():
        for name in names:
            if fact not in meta and (value := fact_text(fact, [values.get(name, "")])):
                meta[fact] = value
                used.add(name)
    return meta, used


def _kept_event(fields: Mapping[str, str]) -> Iterator[Event]:
    """Yields an event about commands of TeX that stayed in the text; none without commands."""
    texts = (fields.get(name, "") for name in ("title", "abstract"))
    if commands := unknown_commands(" ".join(texts)):
        what = plural(len(commands), "unknown command", "unknown commands")
        message = f"{what} of TeX stayed in the text; the first is {commands[0]}"
        yield make_event("markup-kept", step=_STEP, message=message)


def _field_text(tex: str, line: Line) -> str:
    """Returns a text without raised marks, which the line counts."""
    return read_markup(collapse(read_tex(_RAISED.sub(r"<sup>\1\2\3</sup>", tex))), line).strip()


READER: Final = FormatReader(read=read)
