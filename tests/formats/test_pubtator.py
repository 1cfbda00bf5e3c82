"""PubTator: text, offsets, concept ids, and what is odd in real files."""

from __future__ import annotations

import json
import os
from pathlib import Path

import msgspec
import pytest

from fascicle.core.document import Document, Link, Mention, Relation, Section
from fascicle.core.mention import display_identifier, parse_link
from fascicle.errors import FormatError, InputError
from fascicle.formats import detect, read, write

DATA = os.environ.get("FASCICLE_DATA")
TWO = """1|t|Aspirin and fever.
1|a|Asthma was seen.
1\t0\t7\tAspirin\tChemical\tD001241
1\t12\t17\tfever\tDisease\t D005334
1\t19\t25\tAsthma\tDisease\tD001249|D005334\tasthma|fever
1\tCID\tD001241\tD005334

2|t|Only a title here
2|a|
2\t0\t4\tOnly\tX
"""


def _read(folder: Path, text: str) -> list[Document]:
    path = folder / "a.txt"
    path.write_bytes(text.encode())
    return list(read(path, format="pubtator"))


def test_text_sections_and_links(tmp_path: Path) -> None:
    first, second = _read(tmp_path, TWO)
    assert first.text == "Aspirin and fever. Asthma was seen."
    assert first.sections == (Section(0, 18, "title"), Section(19, 35, "abstract"))
    assert [m.text_in(first.text) for m in first.mentions] == ["Aspirin", "fever", "Asthma"]
    assert [[link.id for link in m.links] for m in first.mentions] == [
        ["D001241"],
        ["D005334"],
        ["D001249", "D005334"],
    ]
    assert dict(first.mentions[1].attributes) == {"pubtator-id": " D005334"}
    assert dict(first.mentions[2].attributes) == {"pubtator-names": "asthma|fever"}
    concepts = (("entity1", "D001241"), ("entity2", "D005334"))
    assert first.relations == (Relation(type="CID", attributes=concepts),)
    assert (first.events, second.relations) == ((), ())
    assert second.text == "Only a title here"
    assert second.sections == (Section(0, 17, "title"),)
    assert second.mentions[0].links == ()


@pytest.mark.parametrize(
    ("raw", "ids", "kept"),
    [
        ("D1+D2", ["D1", "D2"], True),
        ("9606,10090", ["9606", "10090"], True),
        ("1;2,3", ["1", "2", "3"], True),
        (",15978", ["15978"], True),
        ("MESH:C042511,-", ["MESH:C042511"], True),
        ("7;7", ["7"], True),
        ("C535342|OMIM:116800", ["C535342", "OMIM:116800"], False),
        ("12556(Tax:10090)", ["12556(Tax:10090)"], False),
        ("CVCL_0224", ["CVCL_0224"], False),
        ("c|SUB|G|2633+1|C", ["c|SUB|G|2633+1|C"], False),
        ("p|Allele|A|12", ["p|Allele|A|12"], False),
        ("-", [], False),
        ("-1", [], True),
        ("", [], False),
    ],
)
def test_composite_ids(tmp_path: Path, raw: str, ids: list[str], kept: bool) -> None:
    (document,) = _read(tmp_path, f"1|t|abc\n1\t0\t3\tabc\tX\t{raw}\n")
    (mention,) = document.mentions
    assert [display_identifier(link) for link in mention.links] == ids
    assert dict(mention.attributes).get("pubtator-id") == (raw if kept else None)


def test_windows_line_ends_and_no_blank_line(tmp_path: Path) -> None:
    documents = _read(tmp_path, "1|t|abc\r\n1|a|de\r\n1\t4\t6\tde\tX\t7\r\n2|t|f\r\n2|a|g\r\n")
    assert [d.text for d in documents] == ["abc de", "f g"]
    assert documents[0].mentions[0].links == (Link(id="7"),)


def test_offsets_are_code_points(tmp_path: Path) -> None:
    (document,) = _read(
        tmp_path, "1|t|𝛽-cell\u2028line\n1|a|x\n1\t2\t6\tcell\tX\n1\t12\t13\tx\tX\n"
    )
    assert [m.text_in(document.text) for m in document.mentions] == ["cell", "x"]
    assert not document.events


def test_other_text_and_offsets_outside(tmp_path: Path) -> None:
    (document,) = _read(
        tmp_path,
        "1|t|abc def\n1|a|\n1\t0\t3\tabd\tX\n1\t4\t99\tdef\tX\n1\t-1\t3\tx\tX\n1\t0\t3\tabc\tX\t5\n",
    )
    assert [m.spans for m in document.mentions] == [((0, 3),)]
    codes = [(e.kind, e.code) for e in document.events]
    assert codes == [
        ("repair", "text-mismatch"),
        *[("loss", "offset-outside")] * 2,
        ("loss", "duplicate-mention-differs"),
        ("repair", "most-offsets-wrong"),
    ]
    assert document.events[0].span == (0, 3)


def test_one_id_twice(tmp_path: Path) -> None:
    text = "1|t|a\n1|a|b\n\n1|t|c\n1|a|d\n1\t0\t1\tc\tX\n\n1|t|e\n1|a|f\n"
    documents = _read(tmp_path, text)
    assert [d.id for d in documents] == ["1", "1#2", "1#3"]
    assert documents[0].meta == {}
    assert documents[1].meta == {"original-id": "1"}
    assert [(e.kind, e.code) for e in documents[1].events] == [("repair", "duplicate-id")]
    assert len(documents[1].mentions) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "1|t|a\n2\t0\t1\ta\tX\n",
            r"a\.txt:2: a row of document '2' stands among those of document '1'",
        ),
        ("0\t1\ta\tX\n", "before any title line"),
        ("1|t|a\n1\t0\t1\ta\n", "a mention needs the columns"),
        ("1|t|a\n1\t0\tx\ta\tX\n", "a mention needs the columns"),
        ("1|t|a\n1\t 0\t1\ta\tX\tD1\n", "start ' 0', end '1'"),
        ("1|t|a\n1\t0.0\t1\ta\tX\tD1\n", "start '0.0', end '1'"),
        ("1|t|a\nsome words\n", "allowed are id|t|title"),
        ("1|t|a\n1|a|b\n1|a|c\n", "two .a. lines"),
        (" |t|a\n", "without a document id"),
    ],
)
def test_wrong_lines(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        _read(tmp_path, text)


def test_an_empty_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is empty"):
        _read(tmp_path, "\n")


def test_told_by_its_first_line(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("\n" + TWO)
    assert detect(str(path)) == "pubtator"


def test_written_as_it_was_read(tmp_path: Path) -> None:
    documents = _read(tmp_path, TWO)
    path = tmp_path / "out.pubtator"
    report = write(path, documents)
    assert (report.documents, report.mentions) == (2, 4)
    written = path.read_text()
    assert "1\t19\t25\tAsthma\tDisease\tD001249|D005334\tasthma|fever\n" in written
    assert [(d.id, d.text, d.sections, d.mentions) for d in read(path)] == [
        (d.id, d.text, d.sections, d.mentions) for d in documents
    ]


def test_columns_after_that_of_names_are_kept(tmp_path: Path) -> None:
    rows = ("19\t25\tAsthma\tDisease\tD001249\t\t0.9\t\tx", "26\t29\tand\tDisease\tD1\tand\tyes")
    text = "1|t|A title of words .\n1|a|Asthma and.\n" + "".join(f"1\t{row}\n" for row in rows)
    documents = _read(tmp_path, text)
    first, second = documents[0].mentions
    assert first.attributes == (("pubtator-rest", "0.9\t\tx"),)
    assert second.attributes == (("pubtator-names", "and"), ("pubtator-rest", "yes"))
    path = tmp_path / "out.pubtator"
    assert not write(path, documents).losses
    assert list(read(path)) == documents


def test_writing_what_does_not_fit(tmp_path: Path) -> None:
    document = Document(
        id="1",
        text="a\nb c",
        sections=(Section(0, 1, "title"),),
        mentions=(Mention(((0, 1), (4, 5)), "X"),),
    )
    path = tmp_path / "out.pubtator"
    assert write(path, [document]).losses == {"line-breaks": 1, "discontinuous": 1}
    assert path.read_text() == "1|t|a\n1|a|b c\n\n"
    for wrong in ("a|b", "a\tb", "", " a", "a\0", "a\x85b", "\ufeffa", "a\u2028"):
        with pytest.raises(InputError, match="cannot be written in this format"):
            write(tmp_path / "no.pubtator", [Document(id=wrong, text="a")])
    assert not (tmp_path / "no.pubtator").exists()


THREE = (
    Link(id="0080327", ontology="DOID", name="x", curie="DOID:0080327"),
    Link(id="D051437", ontology="MESH", curie="MESH:D051437"),
    Link(id="7157"),
)


@pytest.mark.parametrize("name", ["a.pubtator", "a.bioc.xml", "a.bioc.json", "a.pubtator3.json"])
def test_the_vocabulary_of_an_id_comes_back(tmp_path: Path, name: str) -> None:
    """With one CURIE, with several of other vocabularies, and beside an id without one."""
    linked = enumerate((THREE[:1], THREE[:2], THREE))
    mentions = tuple(Mention(((at, at + 1),), "X", links=links) for at, links in linked)
    report = write(tmp_path / name, [Document(id="1", text="abcdef", mentions=mentions)])
    assert not report.losses.keys() & {"links", "link-ontologies", "link-curies"}
    (found,) = read(tmp_path / name)
    for mention, given in zip(found.mentions, mentions, strict=True):
        assert mention.links == tuple(
            msgspec.structs.replace(link, name="") for link in given.links
        )


def test_the_column_of_pubtator_has_curies(tmp_path: Path) -> None:
    mention = Mention(((0, 1),), "X", links=THREE)
    write(tmp_path / "a.pubtator", [Document(id="1", text="abc", mentions=(mention,))])
    assert (tmp_path / "a.pubtator").read_text().splitlines()[
        2
    ] == "1\t0\t1\ta\tX\tDOID:0080327|MESH:D051437|7157"


def test_a_vocabulary_that_the_file_names_apart(tmp_path: Path) -> None:
    """As programs write it that have no CURIEs; what names none of the ids stays a fact."""
    infons = [
        {"type": "X", "identifier": "D1|D2", "vocabulary": "MESH"},
        {"type": "X", "identifier": "D1|7", "vocabulary": "MESH|NCBI Gene"},
        {"type": "X", "identifier": "OMIM:1", "vocabulary": "MESH"},
        {"type": "X", "vocabulary": "MESH"},
    ]
    annotations = [
        {"id": str(at), "infons": one, "text": "a", "locations": [{"offset": at, "length": 1}]}
        for at, one in enumerate(infons)
    ]
    entry = {"id": "1", "passages": [{"offset": 0, "text": "aaaa", "annotations": annotations}]}
    (tmp_path / "a.bioc.json").write_text(json.dumps({"documents": [entry]}))
    (found,) = read(tmp_path / "a.bioc.json")
    assert [[display_identifier(link) for link in one.links] for one in found.mentions] == [
        ["MESH:D1", "MESH:D2"],
        ["MESH:D1", "NCBI Gene:7"],
        ["OMIM:1"],
        [],
    ]
    assert [dict(one.attributes).get("vocabulary") for one in found.mentions] == [
        None,
        None,
        "MESH",
        "MESH",
    ]


def test_what_the_link_of_a_variant_holds_is_no_curie(tmp_path: Path) -> None:
    raw = "CorrespondingGene:673;HGVS:p.V600E"
    (document,) = _read(tmp_path, f"1|t|abc\n1\t0\t3\tabc\tX\t{raw} x\n")
    assert document.mentions[0].links == (Link(id=f"{raw} x"),)


def test_a_tab_in_a_mention_is_a_blank_in_its_column(tmp_path: Path) -> None:
    given = Document(id="1", text="a\tb and c", mentions=(Mention(((0, 3),), "X"),))
    write(tmp_path / "a.pubtator", [given])
    (found,) = read(tmp_path / "a.pubtator")
    assert (found.text, found.mentions, found.events) == (given.text, given.mentions, ())


@pytest.mark.parametrize(
    "row",
    ["CID\tD1\tD2", "Bind\tp|SUB|V||M\t6331\tNovel", "\t\t", "x y\t1\t2\tNo\ta\tb", "a\t1\t2\t"],
)
def test_relations_of_concepts_come_back_as_they_are(tmp_path: Path, row: str) -> None:
    (document,) = _read(tmp_path, f"1|t|a\n1|a|b\n1\t{row}\n\n")
    assert len(document.relations) == 1
    assert write(tmp_path / "b", [document], format="pubtator").losses == {}
    assert (tmp_path / "b").read_text() == f"1|t|a\n1|a|b\n1\t{row}\n\n"
    assert write(tmp_path / "c", [document], format="bioc-json").losses == {}
    (same,) = read(tmp_path / "c")
    assert same.relations == document.relations


ENDS = (("entity1", "D1"), ("entity2", "D2"))


@pytest.mark.parametrize(
    "relation",
    [
        Relation(type="CID", arguments=(("", ("gold", "X", ((0, 1),))),), attributes=ENDS),
        Relation(type="7", attributes=ENDS),
        Relation(type=" 7.0", attributes=ENDS),
        Relation(type="a\tb", attributes=ENDS),
        Relation(type="a", attributes=(*ENDS, ("novel", "x\ty"))),
        Relation(type="a", attributes=(("entity1", "D\n1"), ENDS[1])),
        Relation(type="a", attributes=ENDS[:1]),
        Relation(type="a"),
        Relation(attributes=(("relation", "CID"), ("Chemical", "D1"), ("Disease", "D2"))),
    ],
)
def test_relations_that_no_row_can_hold_are_counted(tmp_path: Path, relation: Relation) -> None:
    mention = Mention(((0, 1),), "X")
    document = Document(id="1", text="a", mentions=(mention,), relations=(relation,))
    assert write(tmp_path / "b", [document], format="pubtator").losses == {"relations": 1}
    (same,) = read(tmp_path / "b", format="pubtator")
    assert (same.relations, same.events) == ((), ())


@pytest.mark.parametrize(
    ("attributes", "losses"),
    [
        # the BioC files of BC5CDR call the ends by their types; its PubTator files have the row
        ((("Chemical", "D1"), ("Disease", "MESH:D2")), {"attributes": 2}),
        ((("entity2", "MESH:D2"), ("entity1", "D1")), {}),
    ],
)
def test_ends_that_are_concepts_of_the_text_are_columns_whatever_they_are_called(
    tmp_path: Path, attributes: tuple[tuple[str, str], ...], losses: dict[str, int]
) -> None:
    mentions = tuple(
        Mention(((at, at + 1),), kind, links=(parse_link(f"MESH:D{at + 1}"),))
        for at, kind in enumerate(("Chemical", "Disease"))
    )
    relation = Relation(type="CID", attributes=attributes)
    document = Document(id="1", text="ab", mentions=mentions, relations=(relation,))
    assert write(tmp_path / "b", [document], format="pubtator").losses == losses
    assert "\n1\tCID\tD1\tMESH:D2\n" in (tmp_path / "b").read_text()


def test_a_relation_of_a_finder_is_a_row_without_its_score(tmp_path: Path) -> None:
    # BC5CDR has four columns for a relation, BioRED a fifth; none is for a probability
    found = Relation(type="CID", attributes=(*ENDS, ("score", "0.91")))
    novel = Relation(
        type="Bind", attributes=(*ENDS, ("novel", "No"), ("score", "0.5"), ("by", "x"))
    )
    document = Document(id="1", text="a", relations=(found, novel))
    assert write(tmp_path / "b", [document], format="pubtator").losses == {"attributes": 3}
    rows = "1\tCID\tD1\tD2\n1\tBind\tD1\tD2\tNo\n"
    assert (tmp_path / "b").read_text() == f"1|t|a\n1|a|\n{rows}\n"
    (same,) = read(tmp_path / "b", format="pubtator")
    assert [one.attributes for one in same.relations] == [ENDS, (*ENDS, ("novel", "No"))]


def test_a_relation_is_one_row_also_if_it_is_stated_with_and_without_prefixes(
    tmp_path: Path,
) -> None:
    # gold may have bare identifiers where a finder names concepts as the mentions are linked
    mentions = tuple(
        Mention(((at, at + 1),), "X", links=(parse_link(f"MESH:D{at + 1}"),)) for at in range(2)
    )
    full = (("entity1", "MESH:D1"), ("entity2", "MESH:D2"))
    relations = tuple(Relation(type="CID", attributes=ends) for ends in (ENDS, full))
    document = Document(id="1", text="ab", mentions=mentions, relations=relations)
    assert write(tmp_path / "b", [document], format="pubtator").losses == {"relations": 1}
    assert (tmp_path / "b").read_text().count("CID") == 1


@pytest.mark.parametrize("score", [(), (("score", "0.9"),)])
def test_a_relation_of_gold_and_finder_is_one_row(
    tmp_path: Path, score: tuple[tuple[str, str], ...]
) -> None:
    # two equal rows would be two relations for the next reader, both without a score
    relations = (
        Relation(type="CID", attributes=ENDS),
        Relation(type="CID", attributes=(*ENDS, *score)),
        Relation(type="CID", attributes=(*ENDS, ("novel", "No"))),
    )
    document = Document(id="1", text="a", relations=relations)
    assert write(tmp_path / "b", [document], format="pubtator").losses == {"relations": 1}
    rows = "1\tCID\tD1\tD2\n1\tCID\tD1\tD2\tNo\n"
    assert (tmp_path / "b").read_text() == f"1|t|a\n1|a|\n{rows}\n"


@pytest.mark.skipif(DATA is None, reason="FASCICLE_DATA is not set")
def test_biored_says_the_same_in_both_formats() -> None:
    first, second = (
        {one.id: sorted(one.relations, key=str) for one in read(Path(str(DATA)) / "biored" / name)}
        for name in ("Test.PubTator", "Test.BioC.XML")
    )
    assert first == second
    assert sum(map(len, first.values())) == 1163


PASSAGES = """1|f|On gout
1|x|β and IL-2.
1|t|Results
1|t|More
1\t8\t9\tβ\tChemical\tC1
1\t28\t32\tMore\tX
"""


def test_passages_with_other_letters_are_lines_of_the_text(tmp_path: Path) -> None:
    """OGER and bconv write the first letter of a passage's type, or x."""
    first, second = _read(tmp_path, PASSAGES + "\n" + TWO.split("\n\n")[1])
    assert first.text == "On gout\nβ and IL-2.\nResults\nMore"
    assert [m.text_in(first.text) for m in first.mentions] == ["β", "More"]
    assert first.sections == (Section(20, 27, "title"), Section(28, 32, "title"))
    assert second.text == "Only a title here"
    (tmp_path / "b.txt").write_text(PASSAGES, encoding="utf-8")
    assert detect(str(tmp_path / "b.txt")) == "pubtator"


@pytest.mark.parametrize("text", ["1|t|a\n2|x|b\n", "1|x|a\n1\t0\t1\ta\tX\n1|x|b\n"])
def test_a_passage_of_another_document_needs_an_empty_line(tmp_path: Path, text: str) -> None:
    with pytest.raises(FormatError, match="column"):
        _read(tmp_path, text)


def test_columns_between_bars_are_not_pubtator(tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_text("gout|x|1\nfever|x|2\n", encoding="utf-8")
    assert detect(str(tmp_path / "b.txt")) == "plain"
