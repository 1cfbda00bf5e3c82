"""Annotations of Europe PMC, which quote an article, laid over its text in a file beside them.

The service is described at https://europepmc.org/AnnotationsApi. An annotation has no offsets: it
has the quoted words (``exact``), and some characters before (``prefix``) and after them
(``postfix``).
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from operator import eq
from pathlib import Path
from typing import Any, Final

import msgspec

from fascicle.core.absent import without_nulls
from fascicle.core.document import Document
from fascicle.core.files.source import Source, is_file, read_whole_text
from fascicle.core.mention import Span, parse_link
from fascicle.formats.collect import MentionCollector

STEP: Final = "europepmc"
_ID: Final = re.compile(r"[A-Za-z0-9]+")  # of an article; it names a file
_FACTS: Final = ("subType", "section", "provider")


class _Tag(msgspec.Struct):
    uri: str
    name: str = ""


class Quote(msgspec.Struct):
    """Words of a text, and the words around them."""

    exact: str
    prefix: str = ""
    postfix: str = ""


class _Quote(Quote, kw_only=True):
    type: str
    tags: list[_Tag] = []
    subType: str = ""  # noqa: N815 - as in the files
    section: str = ""
    provider: str = ""


class _Article(msgspec.Struct):
    annotations: list[_Quote]
    extId: str = ""  # noqa: N815
    pmcid: str = ""


def from_record(
    record: Mapping[str, Any], identifier: str, *, meta: dict[str, str], source: Source
) -> Document:
    """Makes a document from an article of an answer; its text is ``PMCID.txt`` or ``ID.txt`` beside
    the file.

    Tags are links. A quote that is nowhere in the text is left out (``offset-outside``).

    Args:
        record: an article with its annotations.
        identifier: id of the document.
        meta: further facts.
        source: the file with the annotations.

    Raises:
        ValueError: a part has another form, or there is no text.
    """
    stated = msgspec.convert(without_nulls(record), _Article)
    text = _article_text(stated, source)
    collector = MentionCollector(text, step=STEP)
    placed: set[tuple[str, Span]] = set()
    for quote in _merged(stated.annotations):
        free = (span for span in quoted_places(quote, text) if (quote.type, span) not in placed)
        span = next(free, None)
        if span is None:
            collector.drop(
                f"the text has no place for the quote {quote.exact[:80]!r} of type {quote.type!r}"
            )
            continue
        placed.add((quote.type, span))
        links = tuple(parse_link(tag.uri, tag.name) for tag in quote.tags)
        attributes = tuple((name, value) for name in _FACTS if (value := getattr(quote, name)))
        collector.add([span], quote.type, links=links, attributes=attributes)
    return collector.document(identifier, meta=meta)


def _merged(quotes: Iterable[_Quote]) -> list[_Quote]:
    """Returns the annotations; those of one quote with other tags are one, as of one place."""
    merged: list[_Quote] = []
    by_words: defaultdict[tuple[str, ...], list[_Quote]] = defaultdict(list)
    for quote in quotes:
        facts = (getattr(quote, name) for name in _FACTS)
        same = by_words[(quote.type, quote.exact, quote.prefix, quote.postfix, *facts)]
        other = next((first for first in same if not _share(first.tags, quote.tags)), None)
        if other is None:
            same.append(quote)
            merged.append(quote)
        else:
            other.tags = [*other.tags, *quote.tags]
    return merged


def _share(tags: Sequence[_Tag], rivals: Sequence[_Tag]) -> bool:
    """True if two annotations have a tag in common, or one of them has none."""
    return not (tags and rivals) or any(tag in tags for tag in rivals)


def _article_text(article: _Article, source: Source) -> str:
    names = [f"{name}.txt" for name in (article.pmcid, article.extId) if _ID.fullmatch(name)]
    for name in names:
        path = Path(source.path).parent / name
        if is_file(path):
            return read_whole_text(Source(path=os.fspath(path), encoding=source.encoding))
    raise ValueError(
        f"the annotations quote an article whose text is not here; put it beside them as "
        f"{' or '.join(names) or 'ID.txt, under an id of letters and digits'}"
    )


def quoted_places(quote: Quote, text: str) -> Iterator[Span]:
    """Yields the places of the quoted words whose surroundings agree best with those of the
    quote, in order.
    """
    words = quote.exact.split()
    if not words:
        return
    spans = [match.span() for match in re.finditer(r"\s+".join(map(re.escape, words)), text)]
    before, after = _letters(quote.prefix)[::-1], _letters(quote.postfix)
    size = 2 * max(len(quote.prefix), len(quote.postfix)) + 20  # blanks of the text are not counted
    shared = [
        _common_length(before, _letters(text[max(0, start - size) : start])[::-1])
        + _common_length(after, _letters(text[end : end + size]))
        for start, end in spans
    ]
    yield from (span for span, count in zip(spans, shared, strict=True) if count == max(shared))


def _letters(text: str) -> str:
    return "".join(text.split())


def _common_length(first: str, second: str) -> int:
    return sum(takewhile(bool, map(eq, first, second)))
