"""A page of annotated texts: one HTML file that needs no script, no network and no other file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, Final

from fascicle.core.annotated import shown, style
from fascicle.core.document import Document
from fascicle.core.html import FORBIDDEN, Html, faithful, tag
from fascicle.formats.handlers import Writer
from fascicle.formats.losses import EVERYTHING, Holds
from fascicle.formats.report import WriteReport
from fascicle.formats.writing import Encode, Put

HOLDS: Final = Holds(
    format="HTML",
    fields=EVERYTHING
    - {"sections", "sentences", "words", "abbreviations", "meta", "changes"}
    - {"link-scores", "link-tiers", "nil-links"},
)
_HEAD: Final = (
    tag("meta", charset="utf-8"),
    tag("meta", http_equiv="Content-Security-Policy", content="default-src 'none'; style-src 'unsafe-inline'"),
    tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
    tag("title", "Annotated texts"),
)


def encode(document: Document, report: WriteReport) -> bytes:
    """One document as an article of the page."""
    report.mentions += len(document.mentions)
    names = " ".join([document.id, *(mention.type for mention in document.mentions)])
    names.encode()  # half of a character in a name is an error, as in every other format
    if unheld := len(FORBIDDEN.findall(document.text + names)):
        report.lose("control-characters", document, count=unheld)
    name = tag("h2", tag("bdi", faithful(document.id)))
    return f"{tag('article', name, shown(document.text, document.mentions, document.origins))}\n".encode()


@contextmanager
def into_page(stream: BinaryIO, encode: Encode) -> Iterator[Put]:
    """Opens a page, to which articles are added; it is closed at the end.

    Args:
        stream: a file.
        encode: makes the articles.
    """
    head = tag("head", *_HEAD, tag("style", style()))
    title = tag("h1", "Annotated texts")
    stream.write(f'<!DOCTYPE html>\n<html lang="en">{head}<body class="fascicle"><main>{title}\n'.encode())
    yield stream.write
    stream.write(Html("</main></body></html>\n").encode())


WRITER: Final = Writer(holds=HOLDS, encoder=lambda _: encode, into=into_page)
