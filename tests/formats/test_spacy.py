"""Binary files of spaCy: written and read without spaCy, and held against spaCy where it is
installed.
"""

from __future__ import annotations

import os
import tempfile
import warnings
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fascicle.core.document import Document, Link, Mention, unique
from fascicle.errors import FormatError, InputError
from fascicle.formats import ReadReport, WriteReport, detect, read, write
from fascicle.formats.report import FailedDocuments
from fascicle.formats.spacy_strings import murmur64, string_number, symbols

DATA = os.environ.get("FASCICLE_DATA")
IL2 = Link(id="3558", ontology="NCBIGene", curie="NCBIGene:3558")
TEXT = "  The number of IL-2\n\ncases: ORG 😀x. No root, no meta. "
DOCUMENT = Document(
    id="PMC 1",
    text=TEXT,
    words=tuple((TEXT.index(word), TEXT.index(word) + len(word)) for word in TEXT.split()),
    sentences=((2, TEXT.index(" No")), (TEXT.index("No"), len(TEXT) - 1)),
    mentions=(
        Mention(
            ((TEXT.index("IL-2"), TEXT.index("IL-2") + 4),),
            "ORG",
            links=(IL2,),
        ),
        Mention(((TEXT.index("number"), TEXT.index("cases:") + 6),), "long"),
        Mention(
            ((TEXT.index("root,"), TEXT.index("root,") + 5),), "X", source="my model", score=0.5
        ),
    ),
    meta={"year": "2001"},
)


@pytest.fixture
def spacy() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("spacy")


def docs_of(spacy: Any, path: Path) -> list[Any]:
    from spacy.tokens import DocBin  # type: ignore[import-not-found,unused-ignore]

    return list(DocBin().from_disk(path).get_docs(spacy.blank("xx").vocab))


def test_the_numbers_of_strings() -> None:
    # MurmurHash64A with seed 1, from the documentation of spaCy: https://spacy.io/api/stringstore
    assert string_number("apple") == 8566208034543834098
    assert string_number("coffee") == 3197928453018144401
    assert (string_number(""), string_number("ORG"), string_number("root"), string_number("_")) == (
        0,
        383,
        449,
        456,
    )


def test_the_table_of_symbols(spacy: Any) -> None:
    from spacy.strings import get_string_id  # type: ignore[import-not-found,unused-ignore]
    from spacy.symbols import IDS  # type: ignore[import-not-found,unused-ignore]

    assert dict(symbols()) == IDS
    for text in ("", "a", "1234567", "12345678", "123456789", "β-blocker 😀", "x" * 500, *IDS):
        assert string_number(text) == get_string_id(text)
        assert not text or text in IDS or murmur64(text.encode()) == get_string_id(text)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.spacy"
    report = write(path, [DOCUMENT, Document(id="empty", text="")], strict=True)
    assert (report.documents, report.mentions) == (2, 3)
    assert detect(str(path)) == "spacy"
    again, empty = read(path)
    assert again == DOCUMENT
    assert (empty.id, empty.text, empty.mentions) == ("empty", "", ())


def test_words_are_cut_where_mentions_are(tmp_path: Path) -> None:
    document = Document(id="1", text="anti-IL-2s given", mentions=(Mention(((5, 9),), "Gene"),))
    report = write(tmp_path / "a.spacy", [document], strict=True)
    assert report.mentions == 1
    (again,) = read(tmp_path / "a.spacy")
    assert again.mentions == document.mentions
    told = msgspec.structs.replace(document, words=((0, 10), (11, 16)))
    assert write(tmp_path / "b.spacy", [told]).losses == {"not-on-words": 1}


def test_spacy_reads_ours(tmp_path: Path, spacy: Any) -> None:
    path = tmp_path / "a.spacy"
    write(path, [DOCUMENT, Document(id="empty", text="")])
    doc, empty = docs_of(spacy, path)
    assert (doc.text, empty.text) == (TEXT, "")
    assert [token.text for token in doc if not token.is_space] == TEXT.split()
    assert [(one.label_, one.text) for one in doc.ents] == [
        ("long", "number of IL-2\n\ncases:"),
        ("X", "root,"),
    ]
    assert {(one.label_, one.text, one.kb_id_) for one in doc.spans["sc"]} == {
        ("long", "number of IL-2\n\ncases:", ""),
        ("ORG", "IL-2", "NCBIGene:3558"),
    }
    assert [one.text for one in doc.spans["my model"]] == ["root,"]
    assert doc.spans["my model"].attrs["scores"] == [0.5]
    assert [one.text.strip() for one in doc.sents] == [
        TEXT[a:b].strip() for a, b in DOCUMENT.sentences or ()
    ]
    assert doc.user_data["id"] == "PMC 1"
    plain = msgspec.structs.replace(DOCUMENT, mentions=DOCUMENT.mentions[1:2])
    write(path, [plain], overwrite=True)
    (doc,) = docs_of(spacy, path)
    assert ([one.label_ for one in doc.ents], dict(doc.spans)) == (["ORG"], {})
    assert doc.ents[0].kb_id_ == "NCBIGene:3558"


def test_we_read_those_of_spacy(tmp_path: Path, spacy: Any) -> None:
    from spacy.tokens import Doc, DocBin, Span  # type: ignore[import-not-found,unused-ignore]

    vocab = spacy.blank("en").vocab
    doc = Doc(
        vocab, words=["The", "number", "of", "cases", "."], spaces=[True, True, True, False, False]
    )
    doc.ents = [Span(doc, 1, 2, label="NUM"), Span(doc, 2, 4, label="agent", kb_id="Q1")]
    doc.spans["sc"] = [Span(doc, 0, 4, label="X"), Span(doc, 1, 2, label="NUM")]
    doc.spans["other"] = [Span(doc, 3, 4, label="Y")]
    doc.spans["empty"] = []
    doc.cats = {"good": 1.0}
    doc.user_data["note"] = "n"
    doc[0].tag_ = "DT"
    for attrs in (None, ("ENT_TYPE", "TAG"), ("ENT_IOB", "ENT_TYPE", "TAG")):
        given = {} if attrs is None else {"attrs": attrs}
        DocBin(docs=[doc, Doc(vocab, words=[])], store_user_data=True, **given).to_disk(
            tmp_path / "a.spacy"
        )
        found, empty = read(tmp_path / "a.spacy")
        assert (found.id, found.text, empty.text) == ("a:1", doc.text, "")
        said = {(m.spans, m.type, m.source) for m in found.mentions}
        expected = {
            ((4, 10), "NUM", "gold"),
            ((11, 19), "agent", "gold"),
            ((0, 19), "X", "gold"),
            ((14, 19), "Y", "other"),
        }
        assert said == {(((a, b),), kind, source) for (a, b), kind, source in expected}
        codes = {event.code for event in found.events}
        assert codes == {"user-data-left-out", "categories-left-out", "grammar-left-out"}
        assert all(
            event.kind == "note" for event in found.events if event.code == "grammar-left-out"
        )


CHARACTERS = st.characters(codec="utf-8") | st.sampled_from(" \n\u00a0")
NAME = st.text(st.characters(codec="utf-8"), min_size=1, max_size=6) | st.sampled_from(
    ["ORG", "number", "case", "dep"]
)


@st.composite
def documents(draw: st.DrawFn) -> Document:
    text = draw(
        st.lists(
            st.sampled_from(["number", " ", "  ", "root"]) | st.text(CHARACTERS, max_size=6)
        ).map("".join)
    )
    borders = sorted(draw(st.sets(st.integers(0, len(text)), max_size=12)))
    words = tuple(
        (a, b) for a, b in zip(borders[::2], borders[1::2], strict=False) if text[a:b].strip()
    )
    mentions: list[Mention] = []
    if words:
        place = st.tuples(*[st.integers(0, len(words) - 1)] * 2).map(sorted)
        span = place.map(lambda at: ((words[at[0]][0], words[at[1]][1]),))
        links = st.lists(st.builds(Link, id=NAME), max_size=1).map(tuple)
        source = st.sampled_from(["gold", "gold", "model"])
        score = st.none() | st.floats(0, 1)
        mentions = draw(
            st.lists(
                st.builds(Mention, span, NAME, source=source, score=score, links=links), max_size=5
            )
        )
    meta = draw(
        st.dictionaries(NAME, st.text(st.characters(codec="utf-8"), max_size=5), max_size=2)
    )
    return Document(id=draw(NAME), text=text, words=words, mentions=unique(mentions)[0], meta=meta)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(found=st.lists(documents(), min_size=1, max_size=3, unique_by=lambda one: one.id))
def test_round_trip(found: list[Document]) -> None:
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "a.spacy"
        report = write(path, found)
        assert set(report.losses) <= {"words"}  # between words there was something else
        for document, again in zip(found, read(path), strict=True):
            assert (again.id, again.text, again.meta) == (document.id, document.text, document.meta)
            assert again.mentions == document.mentions
            assert report.losses or not document.words or again.words == document.words


def test_a_bad_document_costs_itself(tmp_path: Path) -> None:
    path = tmp_path / "a.spacy"
    write(path, [Document(id=name, text=f"is {name}") for name in ("one", "two", "three")])
    message = msgspec.msgpack.decode(zlib.decompress(path.read_bytes()))
    message["strings"].remove("two")
    path.write_bytes(zlib.compress(msgspec.msgpack.encode(message)))
    report = ReadReport(aside=FailedDocuments(keep_going=True))
    assert [one.id for one in read(path, report=report)] == ["one", "three"]
    assert report.aside.count == 1


@pytest.mark.parametrize(
    "change", [{"lengths": b"\1\0\0\0"}, {"attrs": [1]}, {"attrs": []}, {"tokens": b"1"}]
)
def test_columns_that_do_not_fit(tmp_path: Path, change: dict[str, Any]) -> None:
    path = tmp_path / "a.spacy"
    write(path, [DOCUMENT])
    message = {**msgspec.msgpack.decode(zlib.decompress(path.read_bytes())), **change}
    path.write_bytes(zlib.compress(msgspec.msgpack.encode(message)))
    with pytest.raises(FormatError, match="DocBin"):
        list(read(path, format="spacy"))


def change_columns(path: Path, change: Callable[[dict[int, Any]], object]) -> None:
    """Writes the file again with other columns, which a function changes in place."""
    message = msgspec.msgpack.decode(zlib.decompress(path.read_bytes()))
    tokens = np.frombuffer(message["tokens"], "<u8").reshape(-1, len(message["attrs"]))
    columns = {name: tokens[:, at].copy() for at, name in enumerate(message["attrs"])}
    change(columns)
    tokens = np.stack(list(columns.values()), axis=1)
    message |= {"attrs": list(columns), "tokens": tokens.tobytes()}
    path.write_bytes(zlib.compress(msgspec.msgpack.encode(message)))


@pytest.mark.parametrize(
    ("starts", "sentences"),
    [
        # the first token of a Doc of spaCy has 1 in any case, and 0 is "not known"; with no other
        # value its has_annotation("SENT_START") is false
        ([1, 0, 0], None),
        ([1, -1, -1], ((0, 5),)),
        ([1, 0, -1], ((0, 5),)),
        ([1, 0, 1], ((0, 3), (4, 5))),
    ],
)
def test_sentences_that_spacy_does_not_know_are_not_invented(
    tmp_path: Path, starts: list[int], sentences: object
) -> None:
    path = tmp_path / "a.spacy"
    write(path, [Document(id="1", text="A b c")])
    change_columns(path, lambda columns: columns.update({80: np.array(starts).astype("<u8")}))
    (document,) = read(path)
    assert document.sentences == sentences


def test_a_blocked_range_is_no_entity_and_no_loss(tmp_path: Path) -> None:
    # doc.set_ents([], blocked=[doc[1:3]]) gives these tokens the tag 3 (B) and no type
    path = tmp_path / "a.spacy"
    write(path, [Document(id="1", text="A b c d", mentions=(Mention(((6, 7),), "X"),))])

    def block(columns: dict[int, Any]) -> None:
        columns[77][1:3] = 3

    change_columns(path, block)
    (document,) = read(path)
    assert [(one.type, one.spans) for one in document.mentions] == [("X", ((6, 7),))]
    assert document.events == ()


def test_what_is_not_read_is_said_of_the_documents_that_have_it(tmp_path: Path) -> None:
    path = tmp_path / "a.spacy"
    write(path, [Document(id="1", text="A b"), Document(id="2", text="c d")])
    entity_ids, tags = np.zeros(4, "<u8"), np.zeros(4, "<u8")
    entity_ids[2], tags[1] = 7, 8
    change_columns(path, lambda columns: columns.update({454: entity_ids, 75: tags}))
    first, second = read(path)
    assert [event.code for event in first.events] == ["grammar-left-out"]
    assert [event.code for event in second.events] == ["attributes-left-out"]


def test_no_bomb_is_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.spacy"
    monkeypatch.setattr("fascicle.formats.spacy_read.MAX_FILE", 10_000)
    path.write_bytes(zlib.compress(bytes(20_000)))
    with pytest.raises(FormatError, match="10,000"):
        list(read(path, format="spacy"))
    path.write_bytes(zlib.compress(bytes(2_000))[:-4])
    with pytest.raises(FormatError, match="cut off"):
        list(read(path, format="spacy"))


def test_a_source_that_is_called_like_gold(tmp_path: Path) -> None:
    document = Document(id="1", text="ab", mentions=(Mention(((0, 2),), "X", source="sc"),))
    with pytest.raises(InputError, match="'sc'"):
        write(tmp_path / "a.spacy", [document])
    report = WriteReport(aside=FailedDocuments(keep_going=True))
    write(tmp_path / "a.spacy", [document, DOCUMENT], report=report)
    assert [one.id for one in read(tmp_path / "a.spacy")] == ["PMC 1"]


@pytest.mark.skipif(not DATA, reason="FASCICLE_DATA is not set")
def test_biored_comes_back(tmp_path: Path) -> None:
    found = list(read(Path(str(DATA)) / "biored" / "Test.BioC.XML"))
    report = write(tmp_path / "a.spacy", found)
    assert report.mentions == sum(len(one.mentions) for one in found)
    assert set(report.losses) == {"sections", "links", "attributes", "relations"}
    for document, again in zip(found, read(tmp_path / "a.spacy"), strict=True):
        assert (again.id, again.text, again.meta) == (document.id, document.text, document.meta)
        assert [(m.spans, m.type, m.links[:1]) for m in again.mentions] == [
            (m.spans, m.type, m.links[:1]) for m in document.mentions
        ]
