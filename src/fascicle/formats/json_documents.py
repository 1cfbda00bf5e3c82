"""Documents made of JSON records: of texts, of tokens, of articles, or of the records of a tool.

Articles have a title, an abstract and paragraphs, without annotation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, pairwise, zip_longest
from typing import Any, Final, NamedTuple

import msgspec

from fascicle.core.document import GOLD, Document, Event, MentionKey, Relation
from fascicle.core.files.source import Source
from fascicle.core.tags import TagCensus
from fascicle.formats.collect import MentionCollector, TokenMention, join_tokens, read_tags
from fascicle.formats.extraction import join_sections
from fascicle.formats.json_record import STEP, RawMention, Record
from fascicle.formats.json_relations import RELATIONS, StatedArgument, read_relations
from fascicle.formats.report import ReadReport
from fascicle.formats.unread import value_at

_ARTICLE: Final = "article"
_TITLE: Final = "title"


def from_records(
    records: Sequence[Record], source: Source, number: int, report: ReadReport
) -> Document:
    """Makes one document from one record, or from the records of one group.

    Args:
        records: at least one.
        source: the file, which names documents without an id.
        number: of the document in the file, from 1.
        report: receives the census of tags.

    Raises:
        FormatError: a record that breaks the rules of its shape.
    """
    first = records[0]
    identifier = first.identifier or f"{source.name}:{number}"
    try:
        document = _make_document(records, identifier, source, report)
        events = tuple(
            event for record in records for event in (*record.events, *record.left_out())
        )
        return document.with_events(*events) if events else document
    except (ValueError, msgspec.ValidationError) as error:
        raise first.error(str(error)) from None


def _make_document(
    records: Sequence[Record], identifier: str, source: Source, report: ReadReport
) -> Document:
    first = records[0]
    meta = first.meta() if len(records) == 1 else {}
    if first.shape.tokens:
        return _of_tokens(records, identifier, meta, source, report)
    votes = report.offset_votes[source.path]
    if first.shape.reader:
        return _of_tool(first, identifier, meta, votes=votes, source=source)
    return _of_text(first, identifier, meta, votes=votes)


class _Placed(NamedTuple):
    """Mentions of a record as ranges of tokens of the document, with the ids of those that are not
    tags, and the number of tokens before the record.
    """

    record: Record
    ids: list[Any]
    ranges: list[TokenMention]
    before: int


def _of_tokens(
    records: Sequence[Record],
    identifier: str,
    meta: dict[str, str],
    source: Source,
    report: ReadReport,
) -> Document:
    sentences: list[list[str]] = []
    mentions: list[TokenMention] = []
    placed: list[_Placed] = []
    before = 0
    for record in records:
        added, lists = record.token_sentences(), record.mention_lists()
        ranges = list(_place_mentions(lists, added, before))
        length = sum(map(len, added))
        if record.shape.tags:
            tags = record.tags(length)
            census = report.tags.setdefault(source.path, TagCensus())
            ranges += read_tags(tags, before, census)
        ids = [mention.id for mention in chain.from_iterable(lists)]
        placed.append(_Placed(record, ids, ranges, before))
        mentions += ranges
        sentences += added
        before += length
    document = join_tokens(identifier, sentences, mentions, step=STEP, meta=meta)
    return _with_relations(document, placed)


def _with_relations(document: Document, placed: Sequence[_Placed]) -> Document:
    relations: list[Relation] = []
    events: list[Event] = []
    for record, ids, ranges, before in placed:
        if record.value.get(RELATIONS):
            keys = {mention.key for mention in document.mentions}
            arguments = []
            for identifier, mention in zip_longest(ids, ranges):
                spans = [(start - before, end - before) for start, end in mention.ranges]
                key = _key_of(mention, document)
                arguments.append(StatedArgument(identifier, spans, key if key in keys else None))
            relations += read_relations(record.value, arguments, events, step=STEP)
    if relations:
        document = document.having(relations=tuple(relations))
    return document.with_events(*events) if events else document


def _key_of(mention: TokenMention, document: Document) -> MentionKey | None:
    words = document.words or ()
    if not all(0 <= start < end <= len(words) for start, end in mention.ranges):
        return None
    return (
        GOLD,
        mention.type,
        tuple(sorted((words[start][0], words[end - 1][1]) for start, end in mention.ranges)),
    )


def _place_mentions(
    lists: list[list[RawMention]], sentences: list[list[str]], before: int
) -> Iterator[TokenMention]:
    """Yields the mentions of a record with token numbers of the document; one list per sentence
    limits them to it.
    """
    ends = list(accumulate(map(len, sentences), initial=before))
    limits = (
        list(pairwise(ends)) if len(lists) == len(sentences) else [(before, ends[-1])] * len(lists)
    )
    for mentions, limit in zip(lists, limits, strict=True):
        for raw in mentions:
            yield TokenMention(
                [(before + start, before + end) for start, end in raw.spans], raw.type, limit
            )


def _plain_reader(name: str) -> Callable[..., Document]:
    """Returns the function for records of a tool or schema that are read without options."""
    from fascicle.formats import bigbio, europepmc_search, gate, papers

    return {
        _ARTICLE: _of_article,
        gate.STEP: gate.from_record,
        bigbio.STEP: bigbio.from_record,
        europepmc_search.STEP: europepmc_search.from_result,
        papers.CONTENT: papers.from_content,
    }[name]


def _of_tool(
    record: Record, identifier: str, meta: dict[str, str], *, votes: Counter[str], source: Source
) -> Document:
    """Makes a document from a record of a tool or schema with its own reader."""
    # late: most files are of no such tool
    from fascicle.formats import europepmc, label_studio, papers, pubannotation

    shape = record.shape
    if shape.reader == label_studio.STEP:
        return label_studio.from_task(
            record.value,
            identifier,
            field=shape.text,
            annotator=shape.annotator,
            part=shape.to_name,
        )
    if shape.reader == pubannotation.STEP:
        return pubannotation.from_record(
            record.value, identifier, meta=meta, unit=shape.offsets, votes=votes
        )
    if shape.reader == europepmc.STEP:
        return europepmc.from_record(record.value, identifier, meta=meta, source=source)
    if shape.reader == _TITLE:
        return _of_article({**record.value, "paragraphs": ()}, identifier, meta=meta)
    try:
        if shape.reader in papers.PARTS:
            return _of_article(papers.PARTS[shape.reader](record.value), identifier, meta=meta)
        return _plain_reader(shape.reader)(record.value, identifier, meta=meta)
    except msgspec.ValidationError as error:
        raise ValueError(f"not in the form of {shape.reader} ({error})") from None


def _of_text(
    record: Record, identifier: str, meta: dict[str, str], *, votes: Counter[str]
) -> Document:
    if "," in record.shape.text and record.shape.text not in record.value:
        return _of_texts(record, identifier, meta)
    text = record.field(record.shape.text, str)
    collector = MentionCollector(text, step=STEP, unit=record.shape.offsets, votes=votes)
    stated = record.mentions()
    for raw in stated:
        collector.add(raw.spans, raw.type, expected=raw.text, **raw.facts)
    events: list[Event] = []
    relations: tuple[Relation, ...] = ()
    # else numbers and ids of mentions name nothing
    if record.shape.entities and record.value.get(RELATIONS):
        arguments = [
            StatedArgument(raw.id, raw.spans, key)
            for raw, key in zip(stated, collector.settle(), strict=True)
        ]
        relations = tuple(read_relations(record.value, arguments, events, step=STEP))
    return collector.document(
        identifier, sentences=record.sentences(), meta=meta, relations=relations, events=events
    )


def _of_texts(record: Record, identifier: str, meta: dict[str, str]) -> Document:
    """Makes a document of several fields, each of which is a section; no mention is read."""
    names = [name.strip() for name in record.shape.text.split(",")]
    if record.shape.entities:
        raise record.error(f"mentions have one text; name one of {', '.join(names)}")
    stated = [name for name in names if value_at(record.value, name) is not None] or names
    parts = [(name, record.field(name, str)) for name in stated]
    text, sections = join_sections(parts, between="\n\n")
    return Document(id=identifier, text=text, sections=sections, meta=meta)


class _Article(msgspec.Struct):
    title: str
    paragraphs: tuple[str, ...]
    abstract: str | tuple[str, ...] | None = None


def _of_article(record: Mapping[str, Any], identifier: str, *, meta: dict[str, str]) -> Document:
    """Makes a document of a record: title, abstract and paragraphs, with an empty line between two
    of them.

    Each is a section, named ``title``, ``abstract`` or ``paragraph``; those that are empty are left
    out.

    Args:
        record: with ``title``, and perhaps with ``abstract``, a text or its sentences, and
            ``paragraphs``.
        identifier: id of the document.
        meta: further facts.

    Raises:
        ValueError: a part has another form.
    """
    try:
        article = msgspec.convert(record, _Article)
    except msgspec.ValidationError as error:
        raise ValueError(
            f"no article ({error}): an article has the fields title (a text) and paragraphs (a "
            "list of texts), and perhaps abstract (a text, or a list of sentences)"
        ) from None
    abstract = article.abstract or ""
    sentences = (abstract,) if isinstance(abstract, str) else map(str.strip, abstract)
    parts = [("title", article.title), ("abstract", " ".join(sentences))]
    text, sections = join_sections(
        [*parts, *(("paragraph", paragraph) for paragraph in article.paragraphs)], between="\n\n"
    )
    return Document(id=identifier, text=text, sections=sections, meta=meta)
