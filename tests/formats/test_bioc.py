"""BioC in XML and JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from fascicle.core.document import Document, Link, Mention, Relation, Section
from fascicle.errors import FormatError, InputError
from fascicle.formats import ReadReport, detect, read, write
from fascicle.formats.report import FailedDocuments

DATA = os.environ.get("FASCICLE_DATA")
TITLE = {"infons": {"type": "title"}, "offset": 0, "text": "IL-2 β😀 x"}


def annotation(places: Sequence[tuple[int, int]], text: str, **infons: Any) -> dict[str, Any]:
    locations = [{"offset": offset, "length": length} for offset, length in places]
    return {"id": "1", "infons": {"type": "Gene", **infons}, "text": text, "locations": locations}


def of(tmp_path: Path, *passages: dict[str, Any], **fields: Any) -> Document:
    path = tmp_path / "a.json"
    entry = {"id": "7", "infons": {"year": "2001"}, "passages": list(passages), **fields}
    path.write_text(json.dumps({"source": "", "date": "", "key": "", "documents": [entry]}))
    assert detect(str(path)) == "bioc-json"
    (found,) = read(path)
    return found


def test_passages_and_annotations(tmp_path: Path) -> None:
    title = {
        **TITLE,
        "annotations": [annotation([(8, 1), (0, 2)], "IL x", identifier="3558|9", note=1)],
    }
    body = {
        "offset": 12,
        "text": "End.",
        "infons": {"section_type": "METHODS", "type": "paragraph"},
    }
    found = of(tmp_path, title, body, relations=[{"id": "R"}])
    assert found.text == "IL-2 β😀 x   End."[:9].ljust(12) + "End."
    assert found.sections == (
        Section(0, 9, "title"),
        Section(12, 16, "methods", (("type", "paragraph"),)),
    )
    links = (Link(id="3558"), Link(id="9"))
    assert found.mentions == (
        Mention(((0, 2), (8, 9)), "Gene", links=links, attributes=(("note", "1"),)),
    )
    assert found.meta == {"year": "2001"}
    assert found.relations == (Relation(),)
    assert [event.code for event in found.events] == ["fragments-sorted"]


def test_sentences(tmp_path: Path) -> None:
    parts = [
        {"offset": 0, "text": "One."},
        {"offset": 6, "text": "IL-2.", "annotations": [annotation([(6, 4)], "IL-2")]},
    ]
    found = of(tmp_path, {"offset": 0, "infons": {"type": "abstract"}, "sentences": parts})
    assert (found.text, found.sentences) == ("One.  IL-2.", ((0, 4), (6, 11)))
    assert found.sections == (Section(0, 11, "abstract"),)
    assert [one.text for one in found] == ["IL-2"]


def test_passages_that_touch_stand_one_blank_apart(tmp_path: Path) -> None:
    # as bioconverters 4.1.1 writes the title, the paragraphs and the items of lists of an article
    title = {"offset": 0, "text": "On gout", "annotations": [annotation([(3, 4)], "gout")]}
    body = {
        "offset": 7,
        "text": "Lithium helped.",
        "annotations": [annotation([(7, 7)], "Lithium")],
    }
    found = of(tmp_path, title, body)
    assert found.text == "On gout Lithium helped."
    assert [one.text for one in found] == ["gout", "Lithium"]
    assert [event.code for event in found.events] == ["offsets-moved"]


def test_passages_that_touch_stay_if_a_blank_or_a_mention_is_at_the_border(tmp_path: Path) -> None:
    title = {"offset": 0, "text": "On gout\n"}
    assert of(tmp_path, title, {"offset": 8, "text": "Fever."}).text == "On gout\nFever."
    body = {"offset": 7, "text": "y pain.", "annotations": [annotation([(3, 5)], "gouty")]}
    found = of(tmp_path, {"offset": 0, "text": "On gout"}, body)
    assert (found.text, [one.text for one in found]) == ("On gouty pain.", ["gouty"])


def test_passages_that_touch_stay_if_an_annotation_is_not_within_its_own_text(
    tmp_path: Path,
) -> None:
    """Offsets are good as they stand: fragments in two passages, and all annotations in one."""
    first, second = {"offset": 0, "text": "Alpha gene"}, {"offset": 10, "text": "beta gene"}
    for own in (
        [annotation([(0, 5), (10, 4)], "Alpha beta")],
        [annotation([(10, 4)], "beta")],
    ):
        found = of(tmp_path, {**first, "annotations": own}, second)
        assert found.text == "Alpha genebeta gene"
        assert len(found.mentions) == 1
        assert [event.code for event in found.events] == []


def test_other_gaps_stay_where_passages_touch(tmp_path: Path) -> None:
    parts = [{"offset": 0, "text": "One"}, {"offset": 3, "text": "Two"}, {"offset": 9, "text": "C"}]
    assert of(tmp_path, *parts).text == "One Two   C"


@pytest.mark.parametrize("name", ["a.bioc.xml", "a.bioc.json", "a.pubtator3.json"])
@pytest.mark.parametrize("sections", [((0, 2), (2, 4)), ((0, 2),), ((1, 3),)])
def test_sections_that_touch_come_back(
    tmp_path: Path, name: str, sections: Sequence[tuple[int, int]]
) -> None:
    one = Document(id="1", text="abcd", sections=tuple(Section(*at, "intro") for at in sections))
    write(tmp_path / name, [one])
    (found,) = read(tmp_path / name)
    assert (found.text, found.sections) == (one.text, one.sections)


@pytest.mark.parametrize(("codec", "size"), [("utf-8", 1), ("utf-16-le", 2)])
def test_offsets_in_other_units(tmp_path: Path, codec: str, size: int) -> None:
    second = "β😀β gene"
    at = len((TITLE["text"] + " ").encode(codec)) // size  # type: ignore[operator]
    start = at + len("β😀β ".encode(codec)) // size
    body = {"offset": at, "text": second, "annotations": [annotation([(start, 4)], "gene")]}
    found = of(tmp_path, TITLE, body)
    assert [one.text for one in found] == ["gene"]
    assert found.text == f"{TITLE['text']} {second}"
    assert [event.code for event in found.events] == ["offsets-moved"]


def of_passages(*, unit: str = "passage", codec: str = "", size: int = 1) -> list[dict[str, Any]]:
    """A title and an abstract of two sentences, whose mentions count from the start of their
    passage or sentence.
    """

    def length(text: str) -> int:
        return len(text.encode(codec)) // size if codec else len(text)

    title = {**TITLE, "text": "IL-2 β.", "annotations": [annotation([(0, 4)], "IL-2")]}
    first, second = "See β.", "IL-6 binds IL-8."
    offset = length("IL-2 β.") + 1
    begin = offset + length(first) + 1
    start = 0 if unit == "sentence" else begin - offset
    found = [annotation([(start, 4)], "IL-6"), annotation([(start + 11, 4)], "IL-8")]
    if unit == "sentence":
        sentences = [
            {"offset": offset, "text": first},
            {"offset": begin, "text": second, "annotations": found},
        ]
        return [title, {"offset": offset, "infons": {}, "sentences": sentences}]
    return [
        title,
        {"offset": offset, "infons": {}, "text": f"{first} {second}", "annotations": found},
    ]


@pytest.mark.parametrize(("codec", "size"), [("", 1), ("utf-8", 1), ("utf-16-le", 2)])
@pytest.mark.parametrize("unit", ["passage", "sentence"])
def test_offsets_that_begin_anew_in_each_passage(
    tmp_path: Path, unit: str, codec: str, size: int
) -> None:
    found = of(tmp_path, *of_passages(unit=unit, codec=codec, size=size))
    assert [one.text for one in found] == ["IL-2", "IL-6", "IL-8"]
    told = [event.code for event in found.events]
    assert told[0] == "offsets-of-passages"
    assert set(told) <= {"offsets-of-passages", "offsets-moved"}


def test_offsets_that_fit_no_way_are_said_and_kept(tmp_path: Path) -> None:
    body = {"offset": 20, "text": "IL-6 binds.", "annotations": [annotation([(3, 4)], "IL-9")]}
    found = of(tmp_path, TITLE, body)
    assert [(one.start, one.end) for one in found] == [(3, 7)]
    assert [event.code for event in found.events] == ["text-mismatch"]


def test_fragments_that_do_not_fit_are_said(tmp_path: Path) -> None:
    right = annotation([(0, 4), (11, 4)], "IL-6 ... IL-8")
    wrong = annotation([(1, 4), (12, 4)], "IL-6 IL-8")
    found = of(tmp_path, {"offset": 0, "text": "IL-6 binds IL-8.", "annotations": [right, wrong]})
    assert [(event.code, event.span) for event in found.events] == [("text-mismatch", (1, 16))]


def test_passages_that_overlap(tmp_path: Path) -> None:
    found = of(
        tmp_path,
        TITLE,
        {"offset": 3, "text": "IL-2", "annotations": [annotation([(3, 4)], "IL-2")]},
    )
    assert found.text == f"{TITLE['text']} IL-2"
    assert [(one.start, one.text) for one in found] == [(10, "IL-2")]
    far = of(
        tmp_path,
        {"offset": 10**15, "text": "IL-2", "annotations": [annotation([(10**15, 4)], "IL-2")]},
    )
    assert (far.text, [one.text for one in far]) == ("IL-2", ["IL-2"])


def test_what_cannot_be_kept_is_said(tmp_path: Path) -> None:
    bad = [
        annotation([(90, 4)], "x"),
        annotation([], "x"),
        annotation([(0, 4)], "IL-3"),
        annotation([(0, 4)], "", type=""),
    ]
    found = of(tmp_path, {**TITLE, "annotations": bad, "infons": {"volume": "3"}})
    assert sorted(event.code for event in found.events) == [
        "infons-left-out",
        "mention-without-type",
        "most-offsets-wrong",
        "offset-outside",
        "offset-outside",
        "text-mismatch",
    ]
    assert len(found.mentions) == 1


@pytest.mark.parametrize(
    "wrap", [lambda entry: {"PubTator3": [entry]}, lambda entry: [{"documents": [entry]}], dict]
)
def test_other_wrappings(tmp_path: Path, wrap: Any) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(wrap({"id": 7, "passages": [TITLE]}), indent=2))
    (found,) = read(path, format="bioc-json")
    assert (found.id, found.text) == ("7", TITLE["text"])


def test_a_bad_document_costs_itself(tmp_path: Path) -> None:
    good, bad = (
        {"id": "1", "passages": [TITLE]},
        {"id": "2", "passages": [{"offset": "x", "text": "a"}]},
    )
    lines, whole = tmp_path / "a.jsonl", tmp_path / "b.json"
    lines.write_text("".join(json.dumps(one) + "\n" for one in (good, bad, {"passages": []}, good)))
    whole.write_text(json.dumps({"documents": [good, bad, {"passages": []}, good]}))
    for path in (lines, whole):
        report = ReadReport(aside=FailedDocuments(keep_going=True))
        assert [one.id for one in read(path, format="bioc-json", report=report)] == ["1", "1#2"]
        assert report.aside.count == 2
        with pytest.raises(FormatError):
            list(read(path, format="bioc-json"))


def test_what_a_collection_says_of_itself_is_noted_once(tmp_path: Path) -> None:
    document = {"id": "1", "passages": [{"offset": 0, "text": "a"}]}
    head = {"source": "PubMed", "date": "", "key": "PMC.key", "infons": {"license": "CC0", "x": 1}}
    path = tmp_path / "a.json"
    path.write_text(json.dumps({**head, "documents": [document, {**document, "id": "2"}]}))
    first, second = read(path, format="bioc-json")
    (event,) = first.events
    assert event.code == "collection-left-out"
    assert event.message.endswith("source: PubMed; key: PMC.key; license: CC0; x: 1")
    assert not second.events
    for nothing in (None, [], ""):
        path.write_text(json.dumps({"infons": nothing, "documents": [document]}))
        assert not next(iter(read(path, format="bioc-json"))).events


@pytest.mark.parametrize("text", ["{}", "[1]", "[", '{"documents": 3}', "nothing", "[" * 5000])
def test_no_collection(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(InputError):
        list(read(path, format="bioc-json"))


def test_numbers_of_xml(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text(
        "<collection><document><id>1</id><passage><offset>1e3</offset></passage></document></collection>"
    )
    with pytest.raises(FormatError, match="1e3"):
        list(read(path))


def test_blanks_between_sections_come_back(tmp_path: Path) -> None:
    text = "Title\n\nBody\r\n\ttail"
    document = Document(
        id="1", text=text, sections=(Section(0, 5, "title"), Section(7, 11, "body"))
    )
    for name in ("a.bioc.xml", "a.bioc.json"):
        assert not write(tmp_path / name, [document]).losses
        (found,) = read(tmp_path / name)
        assert (found.text, found.sections) == (document.text, document.sections)


def test_sections_that_no_passage_can_be_are_counted(tmp_path: Path) -> None:
    sections = (
        Section(0, 9, "all"),
        Section(2, 5, "inside"),
        Section(9, 9, "empty"),
        Section(10, 12),
    )
    document = Document(id="1", text="abc def ghi jk", sections=sections)
    assert write(tmp_path / "a.bioc.json", [document]).losses == {"sections": 3}


@pytest.mark.parametrize(
    ("infons", "section"),
    [
        ({"type": "title", "page": 3, "none": None}, Section(0, 9, "title", (("page", "3"),))),
        (
            {"section_type": "INTRO", "type": "par", "page": "3"},
            Section(0, 9, "intro", (("type", "par"), ("page", "3"))),
        ),
        ({"section_type": None, "type": "Par"}, Section(0, 9, "par")),
        ({"section_type": "", "type": "Par", "x": ""}, Section(0, 9, "par", (("x", ""),))),
    ],
)
def test_facts_of_passages_are_those_of_sections(
    tmp_path: Path, infons: dict[str, Any], section: Section
) -> None:
    found = of(tmp_path, {**TITLE, "annotations": [], "infons": infons})
    assert found.sections == (section,)
    assert not found.events
    for name in ("b.bioc.xml", "b.bioc.json", "b.pubtator3.json"):
        assert not write(tmp_path / name, [found]).losses
        (again,) = read(tmp_path / name)
        assert again.sections == found.sections


def test_facts_of_sections_that_would_hide_their_name_are_counted(tmp_path: Path) -> None:
    facts = (
        ("section_type", "x"),
        ("blanks-before", " "),
        ("type", "y"),
        ("page", "3"),
        ("page", "4"),
    )
    one = Document(id="1", text="ab", sections=(Section(0, 2, "Intro", facts),))
    assert write(tmp_path / "a.bioc.json", [one]).losses == {"section-attributes": 4}
    (found,) = read(tmp_path / "a.bioc.json")
    assert found.sections == (Section(0, 2, "Intro", (("page", "4"),)),)


@pytest.mark.skipif(not DATA, reason="FASCICLE_DATA is not set")
def test_biored_is_what_pubtator_says(tmp_path: Path) -> None:
    folder = Path(str(DATA)) / "biored"
    found, other = list(read(folder / "Test.BioC.XML")), list(read(folder / "Test.PubTator"))
    facts = [
        [(d.id, d.text, [(m.spans, m.type, m.links) for m in d.mentions]) for d in some]
        for some in (found, other)
    ]
    assert facts[0] == facts[1]
    for name in ("a.bioc.xml", "a.bioc.json"):
        assert not write(tmp_path / name, found).losses
        again = list(read(tmp_path / name))
        assert [(d.text, d.sections, d.mentions) for d in again] == [
            (d.text, d.sections, d.mentions) for d in found
        ]


DOCUMENT = Document(
    id="7",
    text="IL-2 β\n\n<x> & y",
    sections=(Section(0, 6, "title"), Section(8, 15, "body")),
    mentions=(
        Mention(((0, 2), (5, 6)), "Gene", links=(Link(id="3558"),), attributes=(("note", "a<b"),)),
        Mention(((8, 11),), "Tag"),
    ),
    meta={"year": "2001"},
)


@pytest.mark.parametrize("name", ["a.bioc.xml", "a.bioc.json"])
def test_the_package_of_bioc_reads_ours(tmp_path: Path, name: str) -> None:
    package = pytest.importorskip(f"bioc.bioc{Path(name).suffix[1:]}")
    path = tmp_path / name
    write(path, [DOCUMENT, Document(id="8", text="")])
    collection = package.loads(path.read_text(encoding="utf-8"))
    one, two = collection.documents
    assert (one.id, two.id, one.infons) == ("7", "8", {"year": "2001"})
    for passage in one.passages:
        assert passage.text == DOCUMENT.text[passage.offset : passage.offset + len(passage.text)]
    found = [
        (
            tuple((at.offset, at.offset + at.length) for at in one.locations),
            one.infons["type"],
            one.text,
        )
        for passage in one.passages
        for one in passage.annotations
    ]
    assert found == [(m.spans, m.type, m.text_in(DOCUMENT.text)) for m in DOCUMENT.mentions]


@pytest.mark.parametrize("kind", ["xml", "json"])
def test_we_read_those_of_the_package_of_bioc(tmp_path: Path, kind: str) -> None:
    bioc, package = pytest.importorskip("bioc"), pytest.importorskip(f"bioc.bioc{kind}")
    collection, document, passage = bioc.BioCCollection(), bioc.BioCDocument(), bioc.BioCPassage()
    document.id, passage.offset, passage.text = "7", 3, "IL-2 β"
    passage.infons["type"] = "title"
    gene = bioc.BioCAnnotation()
    gene.id, gene.text, gene.infons["type"] = "0", "IL-2", "Gene"
    gene.add_location(bioc.BioCLocation(3, 4))
    passage.add_annotation(gene)
    document.add_passage(passage)
    collection.add_document(document)
    path = tmp_path / f"a.{kind}"
    with path.open("w", encoding="utf-8") as stream:
        package.dump(collection, stream)
    (found,) = read(path)
    assert (found.id, found.text, found.sections) == ("7", "   IL-2 β", (Section(3, 9, "title"),))
    assert found.mentions == (Mention(((3, 7),), "Gene"),)


def test_vocabularies_of_one_id_twice_do_not_become_a_fact(tmp_path: Path) -> None:
    links = tuple(Link(id="D003920", ontology=name) for name in ("0", "1"))
    mention = Mention(spans=((0, 2),), type="Disease", links=links)
    write(tmp_path / "a.xml", [Document(id="1", text="ab cd", mentions=(mention,))], format="bioc")
    (found,) = next(iter(read(tmp_path / "a.xml"))).mentions
    assert [key for key, _ in found.attributes if key == "vocabulary"] == []


@pytest.mark.parametrize("name", ["bioc", "bioc-json", "pubtator3"])
def test_a_mention_between_two_sections_keeps_its_place(tmp_path: Path, name: str) -> None:
    sections = (Section(0, 3, "title"), Section(4, 5, "abstract"))
    document = Document(
        id="1", text="ࠀ\n0\n0", sections=sections, mentions=(Mention(((3, 4),), "X"),)
    )
    write(tmp_path / "a", [document], format=name)
    assert list(read(tmp_path / "a", format=name)) == [document]


def test_a_name_of_a_section_that_xml_cannot_hold_is_counted(tmp_path: Path) -> None:
    one = Document(id="1", text="ab", sections=(Section(0, 1, "\x01"), Section(1, 2, "title")))
    assert write(tmp_path / "a.xml", [one], format="bioc").losses == {"sections": 1}
    assert write(tmp_path / "a.json", [one], format="bioc-json").losses == {}
    (found,) = read(tmp_path / "a.json", format="bioc-json")
    assert found.sections == one.sections


@pytest.mark.parametrize("key", ['a"b', "a'b", "a<b>&c;", 'x" y="', "a b"])
@pytest.mark.parametrize("name", ["bioc", "bioc-json"])
def test_every_sign_of_a_key_is_read_back(tmp_path: Path, name: str, key: str) -> None:
    fact = (key, f"{key}!")
    document = Document(
        id=key,
        text="Lithium helps.",
        meta={key: f"{key}?"},
        sections=(Section(0, 14, "title", (fact,)),),
        mentions=(Mention(((0, 7),), "Chemical", attributes=(fact,)),),
    )
    write(tmp_path / "a", [document], format=name)
    (found,) = read(tmp_path / "a", format=name)
    assert (found.id, found.meta[key]) == (key, f"{key}?")
    assert found.sections is not None
    assert fact in found.sections[0].attributes
    assert fact in found.mentions[0].attributes


@pytest.mark.parametrize(
    "sign", ["\u2028", "\x85", "\f", "\v", "\x1c", "\x7f", "\x9f", "\ufffe", "\x00", "\u2400"]
)
def test_every_sign_of_a_text_is_read_back(tmp_path: Path, sign: str) -> None:
    facts = (("control-characters", "x"),)
    text = f"{sign}One{sign}word.{sign} {sign}Two {sign}"
    document = Document(
        id="1",
        text=text,
        sections=(
            Section(1, 10, "title"),
            Section(len(text) - 6, len(text), "abstract", facts),
        ),
        mentions=(Mention(((1, 9),), "A"), Mention(((len(text) - 5, len(text) - 2),), "B")),
    )
    for name in ("bioc", "bioc-json"):
        report = write(tmp_path / name, [document], format=name)
        assert report.losses == {"section-attributes": 1}
        (found,) = read(tmp_path / name, format=name)
        assert (found.text, found.mentions, found.events) == (text, document.mentions, ())
        assert [(one.start, one.end, one.name) for one in found.sections or ()] == [
            (one.start, one.end, one.name) for one in document.sections or ()
        ]


def test_ids_count_within_the_holder_of_a_relation(tmp_path: Path) -> None:
    """The comments of ``BioC.dtd``: ids of annotations are unique at the level at which relations
    appear, so that each passage may have its own T1; an annotation that is left out has its id.
    """

    def passage(
        offset: int, text: str, *kinds: str, relations: Sequence[str] = ("R",)
    ) -> dict[str, Any]:
        words = [(0, text.split()[0]), (text.index(text.split()[1]), text.split()[1])]
        return {
            "offset": offset,
            "text": text,
            "annotations": [
                {
                    **annotation([(offset + start, len(word))], word),
                    "id": f"T{number}",
                    "infons": {"type": kind} if kind else {},
                }
                for number, ((start, word), kind) in enumerate(zip(words, kinds, strict=False), 1)
            ],
            "relations": [
                {"id": name, "infons": {}, "nodes": [{"refid": "T1"}, {"refid": "T2"}]}
                for name in relations
            ],
        }

    both = of(tmp_path, passage(0, "Anna Bob", "P", "P"), passage(9, "Carl Dora", "P", "P"))
    starts = [[key[2][0][0] for _, key in one.arguments] for one in both.relations]
    assert (starts, both.events) == ([[0, 5], [9, 14]], ())
    one = of(tmp_path, passage(0, "Anna Bob", "", "P"), passage(9, "Carl Dora", "P", relations=()))
    assert not one.relations
    assert "relations-left-out" in [event.code for event in one.events]
    inner = {"offset": 0, "annotations": [], "relations": [], **passage(0, "Anna Bob", "P", "P")}
    outer = {
        "offset": 0,
        "sentences": [{**inner, "relations": []}],
        "relations": inner["relations"],
    }
    whole = of(tmp_path, outer, passage(9, "Carl Dora", "P", "P", relations=()))
    assert [key[2][0][0] for _, key in whole.relations[0].arguments] == [0, 5]


@pytest.mark.parametrize("kind", ["", "Bind"])
def test_an_attribute_called_relation_is_not_read_as_the_type(tmp_path: Path, kind: str) -> None:
    """BC5CDR calls the type of a relation so."""
    mentions = Mention(((0, 2),), "Gene"), Mention(((3, 5),), "Gene")
    ends = tuple(("a", mention.key) for mention in mentions)
    stated = Relation(type=kind, arguments=ends, attributes=(("relation", "x"),))
    document = Document(id="1", text="p1 p2", mentions=mentions, relations=(stated,))
    report = write(tmp_path / "out.xml", [document], format="bioc")
    (back,) = read(tmp_path / "out.xml", format="bioc")
    lost = report.losses["attributes"]
    assert lost == (not kind)
    assert back.relations == (replace(stated, attributes=stated.attributes[lost:]),)
