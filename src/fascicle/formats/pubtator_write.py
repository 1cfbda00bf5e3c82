"""Writing PubTator: title, abstract, and a line for each mention."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Final

from fascicle.core.document import Document, Link, Mention
from fascicle.core.mention import told
from fascicle.formats.handlers import Writer
from fascicle.formats.losses import Holds
from fascicle.formats.pubtator import NAMES, RAW_ID, TITLE, links_of, sections_of
from fascicle.formats.report import WriteReport
from fascicle.formats.writing import checked_name

_PARTLY: Final = frozenset({"sections", "links", "link-ontologies", "link-curies", "attributes"})
HOLDS: Final = Holds(
    format="PubTator",
    fields=_PARTLY | {"ids", "text-between-words", "mentions", "nested"},
    partly=_PARTLY,
)
_LINE_BREAK: Final = re.compile(r"\r\n|[\r\n]")
_NOT_IN_LINES: Final = re.compile(r"[\r\n\0]")
_NOT_IN_COLUMNS: Final = re.compile(r"[\t\r\n\0]")


def encode(document: Document, report: WriteReport) -> bytes:
    """Makes the lines of one document.

    The section ``title`` is the title; a document without one is all title. Line breaks and NUL in the text become
    blanks (offsets stay), which is counted; so are other sections, and links and attributes that a line cannot hold.

    Raises:
        InputError: an id or a type that would break the lines.
    """
    identifier = checked_name(document.id, what="the document id", forbidden="|")
    text = _NOT_IN_LINES.sub(" ", document.text)
    for code, count in (("line-breaks", len(_LINE_BREAK.findall(document.text))), ("nul", document.text.count("\0"))):
        if count:
            report.lose(code, document, count=count)
    end = _title_end(document)
    title, abstract = text[:end], text[end + 1 :]
    if not set(document.sections or ()) <= set(sections_of(title, abstract)):
        report.lose("sections", document)
    rows = [f"{identifier}|t|{title}", f"{identifier}|a|{abstract}"]
    rows += ["\t".join(_columns(mention, document, text, report)) for mention in document.mentions]
    report.mentions += len(document.mentions)
    return ("\n".join(rows) + "\n\n").encode()


def _title_end(document: Document) -> int:
    """Where the title ends; the character there is not written, since reading puts a blank there."""
    sections = document.sections or ()
    titles = [section.end for section in sections if section.name == TITLE and section.start == 0]
    if not titles:
        return len(document.text)
    end, length = titles[0], len(document.text)
    return end if end < length - 1 and document.text[end] in " \r\n" else length


def _columns(mention: Mention, document: Document, text: str, report: WriteReport) -> list[str]:
    kind = checked_name(mention.type, what=f"the type of a mention of document {document.id!r},")
    words = text[mention.start : mention.end].replace("\t", " ")
    columns = [document.id, str(mention.start), str(mention.end), words, kind, *_facts(mention)]
    if not (mention.links or mention.attributes):
        return columns
    links, attributes = links_of(columns)
    count_links(mention, links, document, report)
    if lost := sum(attribute not in attributes for attribute in mention.attributes):
        report.lose("attributes", document, mention, count=lost)
    return columns


def count_links(mention: Mention, found: Iterable[Link], document: Document, report: WriteReport) -> None:
    """Counts what of the links of a mention is not in its file.

    Args:
        mention: that was written.
        found: the links that are read back.
        document: its own.
        report: receives the counts.
    """
    left, lost = list(found), Counter[str]()
    for link in mention.links:
        same = [one for one in left if link.id in (one.id, one.curie)]
        if not same:
            lost["links"] += 1
            continue
        one = max(same, key=lambda one: (one.curie == link.curie, one.ontology == link.ontology))
        left.remove(one)
        lost["link-ontologies"] += bool(link.ontology) and one.ontology != link.ontology
        lost["link-curies"] += bool(link.curie) and one.curie != link.curie
    for code, count in (+lost).items():
        report.lose(code, document, mention, count=count)


def _facts(mention: Mention) -> list[str]:
    """The column of concept ids, and that of names where there are any."""
    names = dict(mention.attributes).get(NAMES, "")
    concept = concept_column(mention)
    return [concept, names] if names and not _NOT_IN_COLUMNS.search(names) else [concept]


def concept_column(mention: Mention) -> str:
    """The concept ids of a mention in one column: as it was read, unless the links were changed since."""
    ids = [told(link) for link in mention.links]
    concept = "|".join(name for name in ids if not _NOT_IN_COLUMNS.search(name))
    raw = dict(mention.attributes).get(RAW_ID, concept)
    if not _NOT_IN_COLUMNS.search(raw) and [told(link) for link in links_of(["", "", "", "", "", raw])[0]] == ids:
        return raw
    return concept


WRITER: Final = Writer(holds=HOLDS, encoder=lambda _: encode)
