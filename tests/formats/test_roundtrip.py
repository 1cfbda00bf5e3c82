"""Whatever is written is read back: native, predictions, PubTator, CoNLL, JSON Lines, brat."""

from __future__ import annotations

import io
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fascicle.core.document import Document, Event, Link, Mention, Section, unique
from fascicle.core.files.source import Source
from fascicle.core.mention import display_identifier
from fascicle.formats import ConllOptions, ConllWriteOptions, read, write
from fascicle.formats.collect import join_tokens
from fascicle.formats.predictions import Prediction, json_line, make_prediction, write_tsv
from fascicle.formats.predictions import read as read_predictions

TEXT = st.text(st.characters(codec="utf-8"), max_size=60)
NAME = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)
PLAIN_NAME = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Zs", "Zl", "Zp"]),
    min_size=1,
    max_size=8,
)
SCORE = st.none() | st.floats(0, 1)
LINK = st.builds(Link, id=NAME, ontology=TEXT, name=TEXT, score=SCORE)
EVENT = st.builds(
    Event, step=NAME, kind=st.sampled_from(["loss", "repair", "note"]), code=NAME, message=TEXT
)


@st.composite
def fragments(draw: st.DrawFn, length: int, most: int = 3) -> tuple[tuple[int, int], ...]:
    count = draw(st.integers(1, min(most, (length + 1) // 2)))
    places = draw(
        st.lists(st.integers(0, length), min_size=2 * count, max_size=2 * count, unique=True)
    )
    ordered = sorted(places)
    return tuple(zip(ordered[::2], ordered[1::2], strict=True))


@st.composite
def ranges(draw: st.DrawFn, length: int) -> tuple[tuple[int, int], ...] | None:
    if not draw(st.booleans()):
        return None
    borders = sorted(draw(st.sets(st.integers(0, length), max_size=8)))
    return tuple(zip(borders[::2], borders[1::2], strict=False))


@st.composite
def documents(draw: st.DrawFn) -> Document:
    text = draw(TEXT)
    mentions: list[Mention] = []
    if text:
        mention = st.builds(
            Mention,
            fragments(len(text)),
            NAME,
            score=SCORE,
            source=NAME,
            links=st.lists(LINK, max_size=2).map(tuple),
            attributes=st.lists(st.tuples(NAME, TEXT), max_size=2).map(tuple),
        )
        mentions = draw(st.lists(mention, max_size=5))
    return Document(
        id=draw(NAME),
        text=text,
        sections=draw(st.none() | st.just((Section(0, len(text), "all"),))),
        sentences=draw(ranges(len(text))),
        words=draw(ranges(len(text))),
        mentions=unique(mentions)[0],
        meta=draw(st.dictionaries(NAME, TEXT, max_size=2)),
        events=tuple(draw(st.lists(EVENT, max_size=2))),
    )


def _through(
    found: list[Document],
    name: str,
    *,
    write_options: Any = None,
    read_options: Any = None,
    file: str = "file",
) -> list[Document]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / file
        write(path, found, format=name, options=write_options)
        return list(read(path, format=name, options=read_options))


def _unique_ids(found: list[Any]) -> bool:
    return len({one.id for one in found}) == len(found)


few = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@few
@given(st.lists(documents(), min_size=1, max_size=3).filter(_unique_ids))
def test_native(found: list[Document]) -> None:
    assert _through(found, "native") == found


@few
@given(st.lists(documents().map(make_prediction), min_size=1, max_size=3).filter(_unique_ids))
def test_predictions_as_json_lines(found: list[Prediction]) -> None:
    assert _predictions(io.BytesIO(b"".join(map(json_line, found))), "") == found


@st.composite
def plain_predictions(draw: st.DrawFn) -> Prediction:
    mention = st.builds(Mention, fragments(40), PLAIN_NAME, score=SCORE, source=st.just("me"))
    return Prediction(
        id=draw(PLAIN_NAME), mentions=unique(draw(st.lists(mention, min_size=1, max_size=5)))[0]
    )


@few
@given(st.lists(plain_predictions(), max_size=3).filter(_unique_ids))
def test_predictions_as_tsv(found: list[Prediction]) -> None:
    stream = io.BytesIO()
    write_tsv(found, stream)
    assert _predictions(stream, "me") == found


def _predictions(stream: io.BytesIO, mention_source: str) -> list[Prediction]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        path.write_bytes(stream.getvalue())
        return list(read_predictions(Source(path=str(path)), mention_source=mention_source))


CONCEPT = st.from_regex(r"(MESH:)?[CD][0-9]{1,6}", fullmatch=True)
LINE = st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0"), max_size=30)


@st.composite
def pubtator_documents(draw: st.DrawFn) -> Document:
    title, abstract = draw(LINE), draw(LINE)
    text = f"{title} {abstract}" if abstract else title
    sections = [Section(0, len(title), "title")] if title else []
    sections += [Section(len(title) + 1, len(text), "abstract")] if abstract else []
    mentions: list[Mention] = []
    if text:
        links = st.lists(CONCEPT, max_size=3, unique=True).map(
            lambda ids: tuple(Link(id=i) for i in ids)
        )
        mentions = draw(
            st.lists(
                st.builds(Mention, fragments(len(text), 1), PLAIN_NAME, links=links), max_size=4
            )
        )
    identifier = draw(PLAIN_NAME.filter(lambda name: "|" not in name and "\ufeff" not in name))
    return Document(
        id=identifier, text=text, sections=tuple(sections), mentions=unique(mentions)[0]
    )


@few
@given(
    st.lists(
        pubtator_documents().filter(lambda d: d.sections and d.sections[0].start == 0),
        min_size=1,
        max_size=3,
    )
)
def test_pubtator(found: list[Document]) -> None:
    found = [msgspec.structs.replace(d, id=f"{number}{d.id}") for number, d in enumerate(found)]
    for document, same in zip(found, _through(found, "pubtator"), strict=True):
        assert (same.id, same.text, same.sections) == (
            document.id,
            document.text,
            document.sections,
        )
        for mention, read_back in zip(document.mentions, same.mentions, strict=True):
            assert (mention.spans, mention.type) == (read_back.spans, read_back.type)
            assert list(map(display_identifier, mention.links)) == list(
                map(display_identifier, read_back.links)
            )


TOKEN = st.text(
    st.characters(codec="utf-8", exclude_characters="\t\r\n\0"), min_size=1, max_size=5
).filter(lambda token: token.strip(" ") != "" and not token.startswith("\ufeff"))


@st.composite
def tagged_documents(draw: st.DrawFn) -> Document:
    sentences = draw(st.lists(st.lists(TOKEN, min_size=1, max_size=6), min_size=1, max_size=3))
    mentions = []
    first = 0
    for sentence in sentences:
        for spans in draw(st.lists(fragments(len(sentence), 1), max_size=3)):
            mentions.append(([(first + spans[0][0], first + spans[0][1])], draw(PLAIN_NAME), None))
        first += len(sentence)
    document = join_tokens("x", sentences, mentions, step="test")
    return msgspec.structs.replace(document, events=())


@few
@given(st.lists(tagged_documents(), min_size=1, max_size=3))
def test_conll(found: list[Document]) -> None:
    found = [msgspec.structs.replace(d, id=f"file:{number}") for number, d in enumerate(found, 1)]
    same = _through(
        found,
        "conll",
        write_options=ConllWriteOptions(layers=10),
        read_options=ConllOptions(tag_columns=None, documents="docstart"),
    )
    assert same == found


@few
@given(st.lists(documents(), min_size=1, max_size=3).filter(_unique_ids))
def test_json_lines_keep_text_and_mentions(found: list[Document]) -> None:
    for document, same in zip(found, _through(found, "jsonl"), strict=True):
        assert (same.id, same.text, same.sentences) == (
            document.id,
            document.text,
            document.sentences,
        )
        assert {(m.spans, m.type) for m in same.mentions} == {
            (m.spans, m.type) for m in document.mentions
        }


ENTRY = PLAIN_NAME.filter(lambda name: name.upper() not in ("NULL", "NIL"))
ONTOLOGY = PLAIN_NAME.filter(lambda name: ":" not in name and name != "-") | st.just("")
VALUE = st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0"), max_size=12)
CLEAN = st.text(st.characters(codec="utf-8", exclude_characters="\t\r\n\0"), max_size=12)
LINES = st.text(
    st.characters(codec="utf-8", exclude_characters="\0") | st.sampled_from("\r\n\t\ufeff "),
    max_size=40,
)


@st.composite
def brat_documents(draw: st.DrawFn) -> Document:
    text = draw(LINES)
    mentions: list[Mention] = []
    if text:
        link = st.builds(Link, id=ENTRY, ontology=ONTOLOGY, name=CLEAN)
        names = PLAIN_NAME | st.sampled_from(["AnnotatorNotes", "Reference"])
        values = VALUE | st.sampled_from(["X:NULL", "X:", "X:NULL\tname", "-:NIL", "X:NULL\ta\tb"])
        attributes = st.tuples(names, values).filter(_fits_brat)
        mention = st.builds(
            Mention,
            fragments(len(text)),
            PLAIN_NAME,
            links=st.lists(link, max_size=3).map(tuple),
            attributes=st.lists(attributes, max_size=3).map(tuple),
        )
        mentions = draw(st.lists(mention, max_size=5))
    return Document(id=draw(NAME), text=text, mentions=unique(mentions)[0])


def _fits_brat(attribute: tuple[str, str]) -> bool:
    """True if brat keeps an attribute: it cuts an ``A`` line, but no note or reference, at a TAB."""
    kept = attribute[0] == "AnnotatorNotes" or attribute == ("Reference", "X:NULL\tname")
    return kept or "\t" not in attribute[1]


def _without_gaps_of_blanks(document: Document) -> Document:
    """Removes mentions with two fragments that brat cannot tell from one name over a line end."""
    text = document.text
    kept = [
        m
        for m in document.mentions
        if not any(text[a:b].isspace() for (_, a), (b, _) in pairwise(m.spans))
    ]
    return msgspec.structs.replace(document, mentions=tuple(kept))


@few
@given(
    st.lists(brat_documents(), min_size=1, max_size=3).filter(_unique_ids),
    st.sampled_from(["file", "file.zip"]),
)
def test_brat(found: list[Document], file: str) -> None:
    found = [_without_gaps_of_blanks(document) for document in found]
    again = _through(found, "brat", file=file)
    # a fragment over a line end is written as two, which is said when they are read
    same = {document.id: msgspec.structs.replace(document, events=()) for document in again}
    assert same == {document.id: document for document in found}
