"""Nothing is lost in silence: what is written is read back, or the report names it."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fascicle.core.document import Change, Document, Link, Mention, Relation, Section, unique
from fascicle.core.files.source import Source
from fascicle.core.marks import FORBIDDEN
from fascicle.core.mention import Fragments, display_identifier
from fascicle.errors import LossError, UsageError
from fascicle.formats import ConllOptions, ConllWriteOptions, read, write
from fascicle.formats.catalogue import ANNOTATED, FORMATS
from fascicle.formats.losses import EVERYTHING, FIELDS, LOSSES, OF_WRITERS, HeldFields
from fascicle.formats.outputs import WriteRequest, write_documents
from fascicle.formats.predictions import read as read_predictions
from fascicle.formats.report import FailedDocuments, WriteReport

ODD = st.sampled_from("\t\n\r\0\ufeff\u2028\x85\x1b |;:,=+-@'\"#-") | st.sampled_from(
    ["\r\n", "'=", "--", "-DOCSTART-"]
)
TEXT = st.lists(
    st.text(st.characters(codec="utf-8"), max_size=5) | ODD | st.just("ab cd"), max_size=9
).map("".join)
NAME = (
    st.lists(st.text(st.characters(codec="utf-8"), max_size=3) | ODD | st.just("x"), max_size=3)
    .map("".join)
    .filter(bool)
)
PLAIN = st.sampled_from(["Disease", "Chemical", "a b", "=SUM", "X-1"])
LINK = st.builds(
    Link,
    id=st.sampled_from(["D003920", "MESH:C1", "C1|D2", "-", "a b"]) | NAME,
    ontology=st.sampled_from(["", "MESH"]) | NAME,
    name=st.just("") | TEXT,
    score=st.none() | st.floats(0, 1),
    tier=st.sampled_from(["", "exact", "k2-plural"]),
    curie=st.sampled_from(["", "MESH:D003920"]),
) | st.builds(
    Link,
    id=st.just(""),
    nil=st.just(True),
    ontology=st.sampled_from(["", "MESH"]),
    score=st.none() | st.floats(0, 1),
)
FACT = st.tuples(
    st.sampled_from(["AnnotatorNotes", "Reference", "pubtator-id", "pubtator-names", "x"]) | NAME,
    TEXT,
)


@st.composite
def ranges(draw: st.DrawFn, length: int, most: int = 8) -> tuple[tuple[int, int], ...]:
    borders = sorted(draw(st.sets(st.integers(0, length), max_size=2 * most)))
    if draw(st.booleans()):  # without gaps
        return tuple(pairwise(borders))
    return tuple(zip(borders[::2], borders[1::2], strict=False))


@st.composite
def mentions(draw: st.DrawFn, length: int, words: tuple[tuple[int, int], ...]) -> Mention:
    spans = draw(ranges(length, 3).filter(bool))
    if words and draw(st.booleans()):
        first, last = sorted(draw(st.tuples(*[st.integers(0, len(words) - 1)] * 2)))
        spans = ((words[first][0], words[last][1]),)
    elif draw(st.booleans()):
        spans = spans[:1]
    return Mention(
        spans,
        draw(PLAIN | NAME),
        score=draw(st.none() | st.floats(0, 1)),
        source=draw(st.sampled_from(["gold", "gold", "predictions", "model"])),
        links=tuple(draw(st.lists(LINK, max_size=2))),
        attributes=tuple(draw(st.lists(FACT, max_size=2))),
    )


@st.composite
def documents(draw: st.DrawFn) -> Document:
    text = draw(TEXT)
    length = len(text)
    words = draw(
        st.none()
        | ranges(length)
        | st.just(tuple(m.span() for m in re.finditer(r"[^ \t\r\n\0]+", text)))
    )
    title = draw(st.integers(0, length))
    sections = (
        Section(0, title, "title", tuple(draw(st.lists(FACT, max_size=2)))),
        Section(min(title + 1, length), length, draw(st.sampled_from(["abstract", "B"]))),
    )
    found = unique(draw(st.lists(mentions(length, words or ()), max_size=4)))[0] if text else ()
    relation = st.builds(
        Relation,
        type=st.sampled_from(["", "Equiv", "type"]) | NAME,
        arguments=st.lists(
            st.tuples(
                st.sampled_from(["", "", "a"]) | NAME, st.sampled_from([one.key for one in found])
            ),
            max_size=3,
        ).map(tuple)
        if found
        else st.just(()),
        attributes=st.lists(FACT | st.just(("type", "x")), max_size=2).map(tuple),
    )
    return Document(
        id=draw(st.just("doc") | NAME | st.just("")),
        text=text,
        sections=draw(st.none() | st.just(sections)),
        sentences=draw(st.none() | ranges(length, 2)),
        words=words,
        mentions=found,
        relations=tuple(draw(st.lists(relation, max_size=2))),
        abbreviations=draw(st.none() | st.just((((0, 0), (0, length)),))),
        meta=draw(st.dictionaries(NAME, TEXT, max_size=1) | st.just({"text": "joined"})),
        changes=tuple(Change(step="choice", taken=((mention, None),)) for mention in found[:1]),
    )


def as_documents(path: Path, original: Document) -> list[Document]:
    """What a file says that refers to the text of a document; a table does not list what has no
    mention.
    """
    found = [(one.id, one.mentions) for one in read_predictions(Source(path=str(path)))] or [
        (original.id, ())
    ]
    return [
        msgspec.structs.replace(original, id=identifier, mentions=said)
        for identifier, said in found
    ]


READERS: dict[str, Callable[[Path, Document], list[Document]]] = {
    "tsv": as_documents,
    "csv": as_documents,
    "predictions": as_documents,
    "conll": lambda path, _: list(
        read(path, format="conll", options=ConllOptions(tag_columns=None, documents="docstart"))
    ),
    **{
        name: lambda path, _, name=name: list(read(path, format=name))
        for name in (
            "jsonl",
            "records",
            "pubtator",
            "bioc",
            "brat",
            "spacy",
            "kazu",
            "label-studio",
            "pubtator3",
            "webanno",
            "cas",
        )
    },
}


def without(losses: Any, *codes: str) -> bool:
    return not any(code in losses for code in codes)


def check_text(before: Document, after: Document, losses: Any) -> None:
    if "text-between-words" in losses:
        return
    expected = before.text
    if "nul" in losses:
        expected = expected.replace("\0", " ")
    if "line-breaks" in losses:
        expected = re.sub(r"[\r\n]", " ", expected)
    if "control-characters" in losses:  # each is another character, in its place
        expected = "".join(
            b if FORBIDDEN.match(a) or a == "\ufeff" else a
            for a, b in zip(expected, after.text, strict=True)
        )
    assert after.text == expected
    if "sections" not in losses:
        given, found = (
            {(one.start, one.end, one.name): one.attributes for one in each.sections or ()}
            for each in (before, after)
        )
        assert given.keys() <= found.keys()
        assert "section-attributes" in losses or all(
            sorted(given[one]) == sorted(found[one]) for one in given
        )
    for field in ("sentences", "words"):
        if getattr(before, field) and field not in losses:
            assert getattr(after, field) == getattr(before, field)


def check_words(before: Document, after: Document, losses: Any) -> None:
    """Of a format that joins words: the words themselves, and what begins and ends sentences."""
    found, given = ([one.text[a:b] for a, b in one.words or ()] for one in (after, before))
    marked = [word for word in given if word.startswith("\ufeff")]
    assert losses["control-characters"] == len(marked)
    assert found == [f"\ufffd{word[1:]}" if word in marked else word for word in given]
    if before.sentences and before.words and "sentences" not in losses:
        number = {word: at for at, word in enumerate(after.words or ())}
        starts = {
            number[next(w for w in after.words or () if w[0] == a)]
            for a, _ in after.sentences or ()
        }
        for a, b in before.sentences:
            inside = [at for at, word in enumerate(before.words) if a <= word[0] < b]
            assert not inside or inside[0] in starts


DROPPED = (
    "second-source",
    "discontinuous",
    "nested",
    "not-on-words",
    "across-sentences",
    "across-sections",
)


def says_more(found: Mention, given: Mention) -> bool:
    """Whether the links of one mention name the entries of another, with vocabularies that the
    others may lack.
    """
    wanted = [link for link in given.links if not link.nil]
    return len(wanted) == len(found.links) and all(
        one.id in (link.id, link.curie) or link.id == display_identifier(one)
        for link, one in zip(wanted, found.links, strict=True)
    )


def closed(spans: Fragments, text: str) -> Fragments:
    """Fragments, of which those with only white space between them are one, as readers join them."""
    joined = [spans[0]]
    for start, end in spans[1:]:
        if text[joined[-1][1] : start].strip():
            joined.append((start, end))
        else:
            joined[-1] = (joined[-1][0], end)
    return tuple(joined)


def are_closed(document: Document) -> bool:
    return any(event.code == "fragments-joined" for event in document.events)


def check_mentions(before: Document, after: Document, losses: Any, *, joined: bool) -> None:
    assert len(after.mentions) == len(before.mentions) - sum(losses[code] for code in DROPPED)
    if joined:
        pairs = sorted((m.type, m.text_in(after.text)) for m in after.mentions)
        assert without(losses, *DROPPED) <= (len(pairs) == len(before.mentions))
        return
    for mention in after.mentions:
        same = [m for m in before.mentions if (m.spans, m.type) == (mention.spans, mention.type)]
        if are_closed(after):
            same += [
                m
                for m in before.mentions
                if (closed(m.spans, before.text), m.type) == (mention.spans, mention.type)
            ]
        assert same
        facts: dict[str, Callable[[Mention], Any]] = {
            "scores": lambda m: m.score,
            "sources": lambda m: m.source,
            "links": lambda m: [link.id for link in m.links if not link.nil],
            "link-ontologies": lambda m: [link.ontology for link in m.links if not link.nil],
            "link-names": lambda m: [link.name for link in m.links if not link.nil],
            "link-scores": lambda m: [link.score for link in m.links if not link.nil],
            "link-tiers": lambda m: [link.tier for link in m.links if not link.nil],
            "link-curies": lambda m: [link.curie for link in m.links if not link.nil],
            "nil-links": lambda m: [link for link in m.links if link.nil],
            "attributes": lambda m: (
                set(m.attributes) - {a for a in m.attributes if a[0].startswith("pubtator-id")}
            ),
        }
        for code, fact in facts.items():
            if without(losses, code, *(["links"] if code.startswith("link-") else [])):
                own = [m for m in same if m.source == mention.source or "sources" in losses]
                assert fact(mention) in [fact(m) for m in own] or any(
                    says_more(mention, m) for m in own
                ), code


def said_by(relation: Relation, losses: Any, text: str | None = None) -> Any:
    places = [
        (role, kind, spans if text is None else closed(spans, text))
        for role, (_, kind, spans) in relation.arguments
    ]
    return relation.type, places, "attributes" in losses or sorted(relation.attributes)


def check_relations(before: Document, after: Document, losses: Any) -> None:
    """Either all come back, or the report says how many do not."""
    given, found = (
        [said_by(one, losses) for one in document.relations] for document in (before, after)
    )
    assert len(found) == len(given) - losses["relations"]
    if are_closed(after):
        given += [said_by(one, losses, before.text) for one in before.relations]
    assert all(one in given for one in found)
    keys = {mention.key for mention in after.mentions}
    assert all(key in keys for one in after.relations for _, key in one.arguments)


def check_told(losses: Any, holds: HeldFields) -> None:
    """A field that is counted as lost is not one that the format says it holds in whole;
    relations go with mentions.
    """
    gone = losses.keys() & (holds.fields - holds.partly)
    assert gone <= ({"relations"} if not without(losses, *DROPPED) else set()), gone


@pytest.mark.parametrize("name", sorted(READERS))
@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(document=documents())
def test_what_is_not_read_back_is_in_the_report(name: str, document: Document) -> None:
    if name == "conll" and document.words is None:
        document = msgspec.structs.replace(document, words=())
    report = WriteReport(aside=FailedDocuments(keep_going=True))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        write_documents([document], WriteRequest(path=str(path), format=name), report=report)
        if report.aside.count:
            assert report.documents == 0
            return
        if "empty-documents" in report.losses:
            return
        (same,) = READERS[name](path, document)
    losses = report.losses
    assert losses.keys() <= LOSSES.keys()
    check_told(losses, FORMATS[name].writer.holds)
    assert "ids" in losses or same.id == document.id
    assert not [event for event in same.events if event.kind == "loss"]
    check_text(document, same, losses)
    if "joined-fragments" in losses:
        assert len(same.mentions) <= len(document.mentions)
        return
    # WebAnno keeps the offsets: blanks replace the text before the first word
    joined = "text-between-words" in losses and name != "webanno"
    if joined:
        check_words(document, same, losses)
    check_mentions(document, same, losses, joined=joined)
    if name in ("tsv", "csv", "predictions"):  # which refer to the document that is here
        assert losses["relations"] == len(document.relations)
    else:
        check_relations(document, same, losses)
    if name != "conll" and FORMATS[name].reads:
        assert (
            "abbreviations" in losses
            or not document.abbreviations
            or same.abbreviations == document.abbreviations
        )
        plain = {
            key: value for key, value in document.meta.items() if (key, value) != ("text", "joined")
        }
        assert "meta" in losses or not plain or same.meta == document.meta
        assert "changes" in losses or same.changes == document.changes


@pytest.mark.parametrize("name", sorted(READERS))
@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(found=st.lists(documents(), min_size=2, max_size=4))
def test_every_document_is_written_or_set_aside(name: str, found: list[Document]) -> None:
    numbered = [
        msgspec.structs.replace(one, id=f"{number}{one.id}") for number, one in enumerate(found)
    ]
    report = WriteReport(aside=FailedDocuments(keep_going=True))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        write_documents(numbered, WriteRequest(path=str(path), format=name), report=report)
        assert report.documents + report.aside.count == len(numbered)
        traceless = report.losses["empty-documents"]
        if name == "predictions":
            assert len(list(read_predictions(Source(path=str(path))))) == report.documents
        elif name not in ("tsv", "csv") and report.documents > traceless:
            assert len(READERS[name](path, numbered[0])) == report.documents - traceless


FULL = Document(
    id="d",
    text="Asthma and rash",
    sections=(Section(0, 6, "title"), Section(7, 10, "methods", (("page", "3"),))),
    sentences=((0, 15),),
    words=((0, 6), (7, 10), (11, 15)),
    mentions=(
        Mention(
            ((0, 6),),
            "Disease",
            score=0.5,
            source="model",
            links=(
                Link(
                    id="D1",
                    ontology="MESH",
                    name="asthma",
                    score=0.5,
                    tier="exact",
                    curie="MESH:D1",
                ),
                Link(id="", nil=True),
            ),
            attributes=(("note", "sure"),),
        ),
    ),
    abbreviations=(((0, 1), (0, 6)),),
    meta={"year": "1999"},
    relations=(
        Relation(
            type="x", arguments=tuple((role, ("model", "Disease", ((0, 6),))) for role in "ab")
        ),
    ),
    changes=(
        Change(step="choice", taken=((Mention(((7, 10),), "Disease", source="model"), None),)),
    ),
)


@pytest.mark.parametrize("name", sorted(ANNOTATED))
def test_each_lost_field_is_counted(tmp_path: Path, name: str) -> None:
    if name == "parquet":
        pytest.importorskip("pyarrow")
    report = write_documents(
        [FULL, msgspec.structs.replace(FULL, id="e")]
        if name not in ("brat", "webanno", "cas")
        else [FULL],
        WriteRequest(path=str(tmp_path / "out"), format=name),
    )
    holds = FORMATS[name].writer.holds
    expected = {
        code
        for code in holds.lacking
        if code not in ("discontinuous", "nested", "second-source", "mentions")
    }
    # the words are joined by blanks; each link is certain
    expected -= {"text-between-words", "ambiguous"}
    # held where there is a column for facts
    tables = {key: {"attributes"} for key in ("tsv", "csv", "xlsx")}
    partly = {
        "pubtator": {"sections", "attributes", "relations"},
        "kazu": {"sentences"},
        **tables,
    }.get(name, set())
    assert set(report.losses) == expected | partly
    assert all(count == report.documents for count in report.losses.values())
    assert all(report.examples[code].startswith("d") for code in report.losses)


@pytest.mark.parametrize("sign", ["\x01", "\x1b", "\x85", "\ufffe"])
@pytest.mark.parametrize("name", sorted(ANNOTATED))
def test_no_field_with_control_characters_is_held_in_whole_and_lost(
    tmp_path: Path, name: str, sign: str
) -> None:
    if name == "parquet":
        pytest.importorskip("pyarrow")
    odd = ((f"key{sign}", "x"), ("y", f"value{sign}"))
    (mention,) = FULL.mentions
    mention = msgspec.structs.replace(
        mention,
        source=FORMATS[name].writer.holds.source,
        links=(Link(id=f"D{sign}1", ontology="MESH", name=f"a{sign}"),),
        attributes=odd,
    )
    document = FULL.having(
        sections=(Section(0, 6, "title"), Section(7, 10, f"methods{sign}", odd)),
        mentions=(mention,),
        relations=tuple(
            Relation(type=kind, arguments=((role, mention.key),), attributes=odd)
            for kind, role in (("x", "y"), (f"x{sign}", "y"), ("x", f"y{sign}"))
        ),
        meta=dict(odd),
    )
    report = write_documents([document], WriteRequest(path=str(tmp_path / "out"), format=name))
    check_told(report.losses, FORMATS[name].writer.holds)
    if name in READERS and name not in ("tsv", "csv", "predictions", "conll"):
        (same,) = READERS[name](tmp_path / "out", document)
        check_relations(document, same, report.losses)
        assert "attributes" in report.losses or same.mentions[0].attributes == odd
        assert without(report.losses, "sections", "section-attributes") <= (
            same.sections == document.sections
        )
        assert "meta" in report.losses or same.meta == document.meta


def test_a_page_counts_each_character_that_it_cannot_hold_of_a_mention(tmp_path: Path) -> None:
    link = Link(id="D\x011", ontology="MESH", name="a\x1b")
    odd = Mention(
        ((0, 6),), "X\x02", source="m\x03", links=(link,), attributes=(("k\x04", "v\x05"),)
    )
    report = write(
        tmp_path / "a.html",
        [Document(id="1\x06", text="asthma\x07", mentions=(odd,))],
        format="html",
    )
    assert report.losses["control-characters"] == 8


def test_only_the_format_that_holds_everything_loses_nothing() -> None:
    assert [name for name in ANNOTATED if not FORMATS[name].writer.holds.lacking] == ["jsonl"]
    assert all(item.writer.holds.fields <= EVERYTHING for item in FORMATS.values() if item.writes)


def test_line_breaks_and_nul_are_counted_one_by_one(tmp_path: Path) -> None:
    report = write(tmp_path / "a.pubtator", [Document(id="1", text="a\r\nb\nc\rd\0e\0")])
    assert report.losses == {"line-breaks": 3, "nul": 2}
    assert write(tmp_path / "a.zip", [Document(id="1", text="a\nb\0\0")]).losses == {"nul": 2}


def test_borders_of_documents(tmp_path: Path) -> None:
    options = ConllWriteOptions(docstart=False)
    assert (
        write(tmp_path / "a.conll", [FULL, FULL], options=options).losses["document-borders"] == 2
    )


def test_a_mention_that_two_sources_have_is_written_once(tmp_path: Path) -> None:
    both = tuple(Mention(((0, 6),), "Disease", source=source) for source in ("a-model", "gold"))
    document = Document(id="d", text="asthma", mentions=both)
    for name, source in (("pubtator", "gold"), ("tsv", "predictions"), ("records", "gold")):
        path = tmp_path / name
        report = write_documents([document], WriteRequest(path=str(path), format=name))
        assert report.losses["second-source"] == 1
        (same,) = READERS[name](path, document)
        assert [(m.type, m.source) for m in same.mentions] == [("Disease", source)]
    # the gold one is kept
    assert write(tmp_path / "b.pubtator", [document]).losses == {"second-source": 1}


def test_a_copy_without_the_mentions_of_others_says_so(tmp_path: Path) -> None:
    document = Document(
        id="d",
        text="asthma",
        mentions=(Mention(((0, 6),), "X"), Mention(((0, 6),), "X", source="model")),
    )
    for name, expected in (
        ("pubtator", {"other-sources": 1, "sources": 1}),
        ("records", {"other-sources": 1, "sources": 1}),
        ("tsv", {}),  # the answer of one system
        ("predictions", {}),
        ("jsonl", {}),
    ):
        request = WriteRequest(path=str(tmp_path / name), format=name, source="model")
        assert write_documents([document], request).losses == expected


def test_strict_writing(tmp_path: Path) -> None:
    bare = Document(id="bare", text="asthma")
    for name, lost in (
        ("pubtator", "scores"),
        ("records", "attributes"),
        ("conll", "ids"),
        ("brat", "words"),
    ):
        with pytest.raises(LossError, match="document 'd' would lose") as caught:
            write(
                tmp_path / "out",
                [bare, FULL] if name != "conll" else [FULL],
                format=name,
                strict=True,
            )
        assert lost in str(caught.value)
        assert list(tmp_path.iterdir()) == []
    report = write(tmp_path / "all", [bare, FULL], format="jsonl", strict=True)
    assert (report.documents, report.losses) == (2, {})
    with pytest.raises(LossError) as caught:
        write(
            tmp_path / "out",
            [FULL],
            format="pubtator",
            strict=True,
            allow_loss=["scores", "sources"],
        )
    assert "scores" not in str(caught.value).replace("link-scores", "")
    report = write(tmp_path / "out", [FULL], format="pubtator", strict=True, allow_loss=LOSSES)
    assert report.losses["scores"] == 1


def test_strict_writing_is_not_going_on(tmp_path: Path) -> None:
    report = WriteReport(aside=FailedDocuments(keep_going=True))
    with pytest.raises(LossError):
        write(tmp_path / "out", [FULL], format="pubtator", strict=True, report=report)
    assert report.aside.count == 0


def test_names_of_losses(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"'scors'.*'scores'"):
        write(tmp_path / "out", [FULL], format="pubtator", strict=True, allow_loss=["scors"])
    assert not FIELDS.keys() & OF_WRITERS.keys()


def test_a_field_that_a_document_has_not_is_not_lost(tmp_path: Path) -> None:
    document = Document(
        id="1", text="a b", words=(), sections=(), meta={"text": "joined"}, abbreviations=()
    )
    for name in ("records", "pubtator", "brat"):
        assert (
            write_documents([document], WriteRequest(path=str(tmp_path / name), format=name)).losses
            == {}
        )


FORMATS_PAGE = Path(__file__).resolve().parents[2] / "docs" / "formats" / "losses.md"


def test_the_page_of_formats_has_the_table_of_what_they_hold() -> None:
    rows = [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in FORMATS_PAGE.read_text().splitlines()
    ]
    header = next(at for at, row in enumerate(rows) if row[:1] == ["field"])
    names = [name.strip("`") for name in rows[header][1:]]
    found = {row[0].split("`")[1]: row[1:] for row in rows[header + 2 : header + 2 + len(FIELDS)]}
    assert names == list(ANNOTATED)
    assert list(found) == list(FIELDS)
    for field, cells in found.items():
        assert cells == [in_words(field, FORMATS[name].writer.holds) for name in names], field
    listed = {row[0].strip("`") for row in rows if len(row) == 2}
    assert OF_WRITERS.keys() <= listed


def in_words(field: str, holds: HeldFields) -> str:
    if field in holds.partly:
        return "part"
    if field in holds.fields:
        return "yes"
    return "text" if field in holds.by_reference else "-"


@pytest.mark.parametrize(
    "name", ["pubtator", "bioc", "bioc-json", "pubtator3", "brat", "tsv", "csv"]
)
def test_one_of_two_is_never_written_as_both(tmp_path: Path, name: str) -> None:
    links = tuple(
        Link(id=one, ontology="MESH", curie=f"MESH:{one}", tier="ambiguous", score=0.5)
        for one in ("D015212", "D043183")
    )
    document = Document(
        id="1",
        text="IBD in patients.",
        mentions=(Mention(((0, 3),), "Disease", source="predictions", links=links),),
    )
    suffix = {"brat": ".zip"}.get(name, "")
    report = write(tmp_path / f"out{suffix}", [document], format=name)
    assert report.losses["ambiguous"] == 2
    assert not [code for code in report.losses if code.startswith("link-")]  # one fact, one line
    content = (tmp_path / f"out{suffix}").read_bytes()
    assert b"D015212" not in content
    assert b"D043183" not in content
    assert name not in ("tsv", "csv") or b"ambiguous: 2 concepts" in content


def test_an_ambiguous_answer_is_shown_as_one(tmp_path: Path) -> None:
    links = tuple(
        Link(id=one, ontology="MESH", curie=f"MESH:{one}", tier="ambiguous") for one in ("D1", "D2")
    )
    document = Document(id="1", text="IBD", mentions=(Mention(((0, 3),), "Disease", links=links),))
    write(tmp_path / "out.html", [document], format="html")
    assert "MESH:D1 or MESH:D2" in (tmp_path / "out.html").read_text(encoding="utf-8")
    write(tmp_path / "out.txt", [document], format="text")
    assert "D1 (ambiguous)" in (tmp_path / "out.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("scored", "mentions", "source", "stays"),
    [
        ((), ("gold", "sys"), "sys", False),
        ((), ("gold", "sys"), "gold", True),
        ((("score", "0.9"),), ("gold", "sys"), "sys", True),
        ((("score", "0.9"),), ("gold", "sys"), "gold", False),
        ((("score", "0.9"),), ("gold",), "gold", True),  # of a corpus that says how sure it is
        ((), ("sys",), "sys", True),
        ((), (), "gold", True),
    ],
)
def test_relations_between_concepts_are_written_with_their_source(
    tmp_path: Path,
    scored: tuple[tuple[str, str], ...],
    mentions: tuple[str, ...],
    source: str,
    stays: bool,
) -> None:
    """docs/scores.md: beside gold mentions, those with a score are of the system that left mentions
    or relations too.
    """
    facts = (("entity1", "D1"), ("entity2", "D2"), *scored)
    document = Document(
        id="1",
        text="asthma",
        mentions=tuple(Mention(((0, 6),), "X", source=name) for name in mentions),
        relations=(Relation(type="CID", attributes=facts),),
    )
    path = tmp_path / "a.pubtator"
    request = WriteRequest(path=str(path), format="pubtator", source=source)
    report = write_documents([document], request)
    (back,) = read(path)
    assert len(back.relations) == int(stays)
    assert report.losses["relations"] == int(not stays)
