"""Tags and character references of HTML inside texts of formats that have none: `TGF-&beta;`,
`H<sub>2</sub>O`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.entities import html5
from typing import Any, Final

from fascicle.core.document import Document, Event, Section
from fascicle.core.effects import make_event
from fascicle.core.wording import plural, unescape_html
from fascicle.formats.handlers import EXTRACTED
from fascicle.formats.unread import fields_argument
from fascicle.text.raised import Level, Line

# formats whose texts have no markup of their own
WITHOUT_MARKUP: Final = ("records", "table", "xlsx", "plain")
_STEP: Final = "markup"
_BLOCKS: Final = "p|br|div|h[1-6]|sec|title|li|ul|ol|list|list-item|abstract"
_TAG: Final = re.compile(
    rf"(</?(?:jats:)?(?:sup|sub|inf|i|b|u|em|strong|italic|bold|sc|span|font|{_BLOCKS})(?:\s[^<>]*)?/?>)",
    re.I,
)
_BLOCK: Final = re.compile(rf"</?(?:jats:)?(?:{_BLOCKS})\b(?!-)", re.I)
_NAME: Final = re.compile(r"/?[\w:]+")
_RAISED: Final = re.compile(r"</?(?:jats:)?sup\b", re.I)
_REFERENCE: Final = re.compile(r"&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z][a-z0-9]{1,31});", re.I)


def count_markup(text: str) -> int:
    """Returns how many tags and character references of HTML a text has."""
    if "<" not in text and "&" not in text:
        return 0
    references = (match[0] for match in _REFERENCE.finditer(text)) if "&" in text else ()
    tags = len(_TAG.findall(text)) if "<" in text else 0
    return tags + sum(match[1] == "#" or match[1:] in html5 for match in references)


def read_markup(text: str, line: Line) -> str:
    """Returns what a text with tags and references shows, with a line end between blocks.

    Args:
        text: perhaps with tags that are themselves escaped, as some exports have them.
        line: what builds the text, and leaves out and counts raised marks.
    """
    if not count_markup(text):
        return text
    is_escaped, raised = _TAG.search(text) is None, 0
    parts = _TAG.split(unescape_html(text) if is_escaped else text)
    names = {_NAME.findall(part)[0].lower() for part in parts[1::2]}
    for at, part in enumerate(parts):
        name = _NAME.findall(part)[0].lower().removeprefix("/") if at % 2 else ""
        is_lone = at % 2 and not _BLOCK.match(part) and not {name, f"/{name}"} <= names
        if at % 2 == 0 or is_lone:  # a lone tag is a sign of the text: the <b> allele
            line.add(
                part if is_escaped else unescape_html(part),
                Level.RAISED if raised > 0 else Level.PLAIN,
            )
        elif _RAISED.match(part):
            raised += -1 if part.startswith("</") else 1
        elif _BLOCK.match(part):
            line.add("\n")
    return re.sub(r"[ \t]*\n\s*", "\n", line.take()).strip()


def documents_with_markup(
    documents: Iterator[Document], name: str, options: Any
) -> Iterator[Document]:
    """Yields documents whose markup is read if the options ask for it, and is reported otherwise.

    Args:
        documents: of a file.
        name: of its format.
        options: of its reader; ``("markup", "html")`` among the fields asks for it.
    """
    fields = dict((*getattr(options, "fields", ()), *getattr(options, "annotation", ())))
    for document in documents:
        count = count_markup(document.text)
        if (
            count
            and "markup" in fields
            and not (document.mentions or document.words or document.sentences)
        ):
            yield _render(document, count)
        elif count:
            yield document.with_events(
                _report_markup(count, name, is_annotated=bool(document.mentions))
            )
        else:
            yield document


def _render(document: Document, count: int) -> Document:
    """Returns the document with the text that its markup shows; offsets of sections are those of
    this text.
    """
    line, text, end, sections = Line(), "", 0, list[Section]()
    for section in document.sections or (Section(0, len(document.text), ""),):
        text += document.text[end : section.start]
        content, end = read_markup(document.text[section.start : section.end], line), section.end
        sections.append(
            Section(len(text), len(text) + len(content), section.name, section.attributes)
        )
        text += content
    message = f"{_describe(count)} read as HTML; offsets are those of the text that they show"
    note = Event(step=_STEP, kind="note", code="markup-read", message=message)
    rendered = Document(
        id=document.id,
        text=text,
        sections=tuple(sections) if document.sections else document.sections,
        meta={**document.meta, **EXTRACTED},
        events=document.events,
    )
    return rendered.with_events(note, *line.events(_STEP))


def _report_markup(count: int, name: str, *, is_annotated: bool) -> Event:
    advice = (
        f"{fields_argument(('markup', 'html'))} reads them"
        if name != "plain"
        else "the format html reads them"
    )
    if is_annotated:
        advice = "offsets of mentions count them"
    return make_event(
        "markup-kept",
        step=_STEP,
        message=f"{_describe(count)} of HTML stayed in the text; {advice}",
    )


def _describe(count: int) -> str:
    return plural(count, "tag or character reference", "tags and character references")
