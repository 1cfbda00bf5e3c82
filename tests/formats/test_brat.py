"""brat standoff: folders and zips, every kind of line, what is odd in real files, and what may
not be read.
"""

from __future__ import annotations

import hashlib
import io
import re
import stat
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fascicle.cli import main
from fascicle.core.document import Document, Link, Mention
from fascicle.core.files import tree
from fascicle.core.files.owned import RECORD
from fascicle.errors import FormatError, InputError, OutputError, UsageError
from fascicle.formats import ReadReport, detect, read, write
from fascicle.formats.brat import BratOptions
from fascicle.formats.brat_lines import document_id, file_name, parse_reference
from fascicle.formats.sources import source_sha256
from fascicle.settings.recipes.corpora import CorpusSettings
from fascicle.training.corpus import read_part

TEXT = "Aspirin and fever.\nAsthma was seen.\n"


def _folder(place: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        file = place / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return place


def _zip(place: Path, files: dict[str, str | bytes]) -> Path:
    with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return place


def _one(
    place: Path,
    annotation: str | bytes,
    text: str | bytes = TEXT,
    options: BratOptions | None = None,
) -> Document:
    folder = _folder(place / "corpus", {"a.txt": text, "a.ann": annotation})
    (document,) = read(folder, format="brat", options=options)
    return document


def _codes(document: Document) -> list[tuple[str, str]]:
    return [(event.kind, event.code) for event in document.events]


# Places


FILES: dict[str, str | bytes] = {
    "LICENSE": "free",
    "train/b.txt": "beta",
    "train/b.ann": "T1\tX 0 4\tbeta\n",
    "train/a.txt": "alpha",
    "train/a.ann": "T1\tX 0 5\talpha\n",
    "train/deep/c.TXT": "gamma",
    "train/deep/c.Ann": "T1\tX 0 5\tgamma\n",
    "train/.hidden.ann": "not brat",
    "__MACOSX/train/._a.ann": b"\0\5",
    "test/a.txt": "alpha",
    "test/a.ann": "",
}


def test_a_folder_a_zip_and_a_folder_in_a_zip(tmp_path: Path) -> None:
    folder = _folder(tmp_path / "corpus", FILES)
    archive = _zip(tmp_path / "corpus.zip", FILES)
    for whole in (folder, archive):
        report = ReadReport()
        found = list(read(whole, report=report))
        assert [d.id for d in found] == ["test/a", "train/a", "b", "c"]
        assert [m.text_in(d.text) for d in found for m in d.mentions] == ["alpha", "beta", "gamma"]
        assert set(report.formats.values()) == {"brat"}
        part = list(read(f"{whole}/train"))
        assert [d.id for d in part] == ["a", "b", "c"]
        assert [d.text for d in part] == ["alpha", "beta", "gamma"]
        assert list(read(f"{whole}/train/")) == part
        for one in ("train/a.ann", "train/a.txt"):
            assert list(read(f"{whole}/{one}", format="brat")) == part[:1]


def test_reading_streams(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "a.txt": "alpha",
        "a.ann": "",
        "b.txt": "beta",
        "b.ann": "not brat",
    }
    for whole in (_folder(tmp_path / "corpus", files), _zip(tmp_path / "corpus.zip", files)):
        documents = read(whole)
        assert next(documents).id == "a"
        with pytest.raises(FormatError, match=r"b\.ann:1: no line of this file"):
            next(documents)


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"a.txt": "", "a.ann": ""}, "brat"),
        ({"a.txt": "", "a.a1": ""}, "brat"),
        ({"train/a.txt": "", "train/a.ann": ""}, "brat"),
        ({"a/b/c/d.txt": "", "a/b/c/d.ann": ""}, "brat"),
        ({"a.txt": ""}, "plain"),
        ({"README.txt": "", "train/a.txt": "", "train/a.ann": ""}, "plain"),
        ({"a.txt": "", ".a.ann": "", "a.conf": ""}, "plain"),
    ],
)
def test_detection_of_folders(tmp_path: Path, files: dict[str, str | bytes], expected: str) -> None:
    assert detect(str(_folder(tmp_path / "corpus", files))) == expected


def test_a_folder_of_texts_stays_plain(tmp_path: Path) -> None:
    folder = _folder(tmp_path / "corpus", {"b.txt": "beta", "a.txt": "alpha", "notes.md": "x"})
    report = ReadReport()
    assert [(d.id, d.text, d.events) for d in read(folder, report=report)] == [
        ("a", "alpha", ()),
        ("b", "beta", ()),
    ]
    assert set(report.formats.values()) == {"plain"}


def test_detection_of_zips_and_files(tmp_path: Path) -> None:
    archive = _zip(tmp_path / "corpus.data", FILES)
    assert (
        detect(str(archive))
        == detect(f"{archive}/train")
        == detect(f"{archive}/train/a.txt")
        == "brat"
    )
    folder = _folder(tmp_path / "corpus", FILES)
    assert detect(f"{folder}/train/a.ann") == "brat"
    assert detect(f"{folder}/train/a.txt") == "plain"
    texts = _zip(tmp_path / "texts.zip", {"a.txt": "alpha"})
    with pytest.raises(FormatError, match=r"texts\.zip holds no brat annotation"):
        read(texts)
    (document,) = read(texts, format="brat")
    assert (document.text, _codes(document)) == ("alpha", [("note", "no-annotation")])


def test_places_that_are_not_there(tmp_path: Path) -> None:
    archive = _zip(tmp_path / "corpus.zip", FILES)
    with pytest.raises(
        InputError, match=r"there is no dev in .*corpus\.zip; its folders are __MACOSX, test, train"
    ):
        read(f"{archive}/dev")
    with pytest.raises(FormatError, match=r"is not a \.txt or \.ann or \.a1 or \.a2 file"):
        list(read(f"{archive}/LICENSE", format="brat"))
    with pytest.raises(InputError, match="there is no file"):
        read(tmp_path / "other.zip/train")
    with pytest.raises(InputError, match="there is no file"):
        read(_folder(tmp_path / "corpus", FILES) / "dev")
    with pytest.raises(UsageError, match="standard input is one file"):
        list(read("-", format="brat"))
    for empty in (_zip(tmp_path / "empty.zip", {}), _folder(tmp_path / "empty", {"x/y.md": ""})):
        with pytest.raises(InputError, match="is empty"):
            list(read(empty, format="brat"))
    (tmp_path / "fake.zip").write_bytes(b"PK no zip")
    with pytest.raises(FormatError, match=r"fake\.zip is neither a zip"):
        list(read(tmp_path / "fake.zip"))


def test_annotation_without_text_and_two_texts(tmp_path: Path) -> None:
    lonely: dict[str, str | bytes] = {"train/a.txt": "alpha", "train/b.ann": "T1\tX 0 4\tbeta\n"}
    for whole in (_folder(tmp_path / "corpus", lonely), _zip(tmp_path / "corpus.zip", lonely)):
        with pytest.raises(FormatError, match=r"train/b\.ann has no text b\.txt beside it"):
            list(read(whole))
    twice = _zip(tmp_path / "twice.zip", {"a.txt": "alpha", "a.TXT": "beta", "a.ann": ""})
    with pytest.raises(FormatError, match="two texts of one name"):
        list(read(twice))


def test_text_without_annotation_and_empty_annotation(tmp_path: Path) -> None:
    folder = _folder(
        tmp_path / "corpus",
        {"a.txt": "alpha", "b.txt": "beta", "b.ann": "", "c.txt": "", "c.ann": ""},
    )
    found = list(read(folder))
    assert [(d.id, d.text, _codes(d)) for d in found] == [
        ("a", "alpha", [("note", "no-annotation")]),
        ("b", "beta", []),
        ("c", "", []),
    ]


# Lines


def test_fragments_nesting_and_crossing(tmp_path: Path) -> None:
    document = _one(
        tmp_path,
        "T1\tX 0 7\tAspirin\nT2\tY 0 17\tAspirin and fever\nT3\tX 12 17;0 7\tfever Aspirin\n"
        "T4\tX 8 11;26 29\tand was\nT5\tX 8 11;11 17\tand fever\n",
    )
    assert [(m.type, m.spans) for m in document.mentions] == [
        ("X", ((0, 7), (12, 17))),
        ("Y", ((0, 17),)),
        ("X", ((0, 7),)),
        ("X", ((8, 11), (26, 29))),
        ("X", ((8, 11), (11, 17))),
    ]
    # T5 has its fragments joined without a blank, as before brat 1.3.
    assert [event.code for event in document.events] == ["fragments-sorted"]


@pytest.mark.parametrize(
    ("middle", "expected"),
    [
        ("Reference T1 Wikidata:Q42", ("T1", Link(id="Q42", ontology="Wikidata", name="n"))),
        ("Reference T1 OBT:OBT:000061", ("T1", Link(id="OBT:000061", ontology="OBT", name="n"))),
        ("Reference T1 -:MESH:D1", ("T1", Link(id="MESH:D1", name="n"))),
        ("CHEBI:71629 T2", ("T2", Link(id="71629", ontology="CHEBI", name="n"))),
        (
            "OntoBiotope Annotation:T3 Referent:OBT:000061",
            ("T3", Link(id="OBT:000061", ontology="OntoBiotope", name="n")),
        ),
        (
            "NCBI_Taxonomy Referent:1110546 Annotation:T3",
            ("T3", Link(id="1110546", ontology="NCBI_Taxonomy", name="n")),
        ),
        ("Reference Annotation:T3 Referent:GO:1", ("T3", Link(id="1", ontology="GO", name="n"))),
        ("Reference T1 Wikidata:NULL", ("T1", None)),
        ("Reference T1 Wikidata:", ("T1", None)),
        ("Reference T1 Wikidata:nil", ("T1", None)),
        ("Reference T1 Wikida", None),
        ("Reference T1 :Q42", None),
        ("Reference T1", None),
        ("Reference  Wikidata:Q42", None),
        ("a b c:d e", None),
        ("", None),
    ],
)
def test_references(middle: str, expected: tuple[str, Link | None] | None) -> None:
    found = parse_reference(middle, "n")
    assert (found[:2] if found else None) == expected


def test_links_attributes_and_notes(tmp_path: Path) -> None:
    document = _one(
        tmp_path,
        "N1\tReference T1 MESH:D001241\tAspirin\n"  # what refers to a mention may come before it
        "T1\tDrug 0 7\tAspirin\n"
        "N2\tReference T1 DB:00945\t\n"
        "N3\tReference T1 Wikidata:NULL\tno entry\n"
        "A1\tNegated T1\n"
        "A2\tConfidence T1 very high\n"
        "M1\tSpeculation T1\n"
        "#1\tAnnotatorNotes T1\tC1, C2\tand a TAB\n"
        "#2\tOther T1\t\n",
    )
    (mention,) = document.mentions
    assert mention.links == (
        Link(id="D001241", ontology="MESH", name="Aspirin"),
        Link(id="00945", ontology="DB"),
    )
    assert mention.attributes == (
        ("Reference", "Wikidata:NULL\tno entry"),
        ("Negated", ""),
        ("Confidence", "very high"),
        ("Speculation", ""),
        ("AnnotatorNotes", "C1, C2\tand a TAB"),
        ("Other", ""),
    )
    assert document.events == ()


EVENTS = (
    "T1\tDrug 0 7\tAspirin\nT2\tCause 8 11\tand\nT3\tSite 12 17\tfever\n"
    "E1\tCause:T2 Theme:T1\nE2\tLocation Bacterium:T1\nR1\tPart-of Arg1:T1 Arg2:T3\t\n*\tEquiv "
    "T1 T3\n"
    "A1\tNegated E1\nM2\tSpeculation E2\nA3\tOdd T2\nN1\tReference T2 X:1\n#1\tAnnotatorNotes "
    "E1\twhy\n# a remark\n"
)


def test_what_the_data_model_does_not_hold_is_counted(tmp_path: Path) -> None:
    document = _one(tmp_path, EVENTS)
    assert [m.type for m in document.mentions] == ["Drug", "Site"]
    said = {event.code: event.message for event in document.events}
    assert {code: re.findall(r"\d+", message) for code, message in said.items()} == {
        "attributes-left-out": ["3"],
        "events-left-out": ["2"],
        "links-left-out": ["1"],
        "notes-left-out": ["2"],
        "triggers-left-out": ["1"],
    }
    assert {event.kind for event in document.events} == {"loss"}
    assert [one.type for one in document.relations] == ["Part-of", "Equiv"]


def test_types_of_relations_may_hold_a_colon(tmp_path: Path) -> None:
    """As those of ChemProt do (``CPR:4``); brat divides only the arguments there."""
    lines = "T1\tDrug 0 7\tAspirin\nT2\tDrug 8 11\tand\nR1\tCPR:4 Arg1:T1 Arg2:T2\t\n"
    document = _one(tmp_path, lines)
    assert [one.type for one in document.relations] == ["CPR:4"]
    report = write(tmp_path / "out", [document], format="brat")
    assert not report.losses["relations"]
    (back,) = read(tmp_path / "out", format="brat")
    assert back.relations == document.relations


def test_attributes_of_events_belong_to_their_triggers(tmp_path: Path) -> None:
    lines = "T1\tDrug 0 7\tAspirin\nM1\tNegation E1\nM2\tNegation E2\n"
    lines += "T2\tCause 8 11\tand\nE1\tCause:T2 Theme:T1\nE2\tCause:T2\nM3\tSpeculation E2\n"
    document = _one(tmp_path, lines, options=BratOptions(triggers=True))
    assert [one.attributes for one in document.mentions] == [
        (),
        (("Negation", ""), ("Speculation", "")),
    ]
    assert ("loss", "attributes-left-out") not in _codes(document)


def test_options(tmp_path: Path) -> None:
    a1, a2 = (
        "T1\tDrug 0 7\tAspirin\n",
        "T2\tCause 8 11\tand\nT3\tSite 12 17\tfever\nE1\tCause:T2 Theme:T1\n",
    )
    more = a2 + "N1\tReference T1 X:1\tn\n"
    folder = _folder(tmp_path / "corpus", {"a.txt": TEXT, "a.a2": more, "a.a1": a1})

    def types(**options: Any) -> list[str]:
        (document,) = read(folder, options=BratOptions(**options))
        assert sum(len(m.links) for m in document.mentions) == (
            "Drug" in [m.type for m in document.mentions]
        )
        return [m.type for m in document.mentions]

    assert types() == ["Drug"]
    assert types(suffixes=(".a1", ".a2")) == ["Drug", "Site"]
    assert types(suffixes=(".a2",)) == ["Site"]
    assert types(triggers=True) == ["Drug", "Cause"]
    assert types(suffixes=(".a1", ".a2"), triggers=True, leave_out=("Drug",)) == ["Cause", "Site"]
    (document,) = read(folder, options=BratOptions(leave_out=("Drug",)))
    assert ("note", "types-left-out") in _codes(document)
    assert ("loss", "suffix-left-out") in _codes(document)
    for wrong in ((), (".txt",)):
        with pytest.raises(UsageError, match=r"give some of \.ann, \.a1, \.a2"):
            BratOptions(suffixes=wrong)


@pytest.mark.parametrize(
    "line",
    [
        "sT1\tX 0 7\tAspirin",
        "T1 X 0 7 Aspirin",
        "T1\tX 0 x\tAspirin",
        "T1\tX 0\tAspirin",
        "T1\tX 0 7;\tAspirin",
        "T1\tX 0 7 9 12\tAspirin",
        "T1\t0 7\tAspirin",
        "T1\tX 0 ٧\tAspirin",
        "T1\tX 0 " + "9" * 40 + "\tAspirin",
        "N1\tReference T2",
        "N1",
        "A1\tNegated",
        "A1 Negated T2",
        "E1",
        "R1",
        "words",
        "\u2028",
    ],
)
def test_a_malformed_line_is_counted_and_left_out(tmp_path: Path, line: str) -> None:
    document = _one(tmp_path, f"\n \nT2\tX 0 7\tAspirin\n{line}\nT3\tX 12 17\tfever\n")
    assert [m.spans for m in document.mentions] == [((0, 7),), ((12, 17),)]
    if line.strip():
        assert _codes(document) == [("loss", "malformed-line")]
        assert document.events[0].message.startswith("a.ann:4: ")


def test_lines_that_are_nearly_right(tmp_path: Path) -> None:
    document = _one(
        tmp_path,
        "T1\tX 0 7 \tAspirin\r\nT2\tCell Line 12 17\nT3\tY 0 7\tAspirin\n"
        "N1\tReference T3 A:1\tn\tReference T1 A:2\tm\n",
    )
    assert [(m.type, m.spans) for m in document.mentions] == [
        ("X", ((0, 7),)),
        ("Y", ((0, 7),)),
        ("Cell Line", ((12, 17),)),
    ]
    assert document.mentions[1].links == (Link(id="1", ontology="A", name="n"),)
    assert _codes(document) == [("loss", "malformed-line")]


def test_a_file_without_one_line_of_brat(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"a\.ann:2: no line of this file is one of brat"):
        _one(tmp_path, "\ndocument\ttype\tstart\nx\ty\t1\n")


@pytest.mark.parametrize(
    ("annotation", "spans", "codes"),
    [
        ("T1\tX 0 99\tAspirin", [], [("loss", "offset-outside")]),
        ("T1\tX -1 7\tAspirin", [], [("loss", "offset-outside")]),
        ("T1\tX 7 0\tAspirin", [], [("loss", "offset-outside")]),
        ("T1\tX 3 3\t", [], [("loss", "offset-outside")]),
        ("T1\tX 0 7;8 8\tAspirin", [], [("loss", "offset-outside")]),
        ("T1\tX 0 7\taspirin", [((0, 7),)], [("repair", "text-mismatch")]),
        ("T1\tX 0 7;12 17\tAspirin sever", [((0, 7), (12, 17))], [("repair", "text-mismatch")]),
        ("T1\tX 0 8\tAspirin", [((0, 8),)], [("repair", "text-mismatch")]),
        ("T1\tX 0 5;3 7\tAspir irin", [((0, 7),)], [("repair", "overlapping-fragments")]),
        ("T1\tX 0 7;0 7\tAspirin Aspirin", [((0, 7),)], [("repair", "overlapping-fragments")]),
        ("N1\tReference T9 A:1\tn\nT1\tX 0 7", [((0, 7),)], [("loss", "dangling-reference")]),
        ("A1\tNegated T9\nT1\tX 0 7", [((0, 7),)], [("loss", "dangling-reference")]),
        (
            "T1\tX 0 99\nA1\tNegated T1",
            [],
            [("loss", "attributes-left-out"), ("loss", "offset-outside")],
        ),
    ],
)
def test_wrong_offsets_and_references(
    tmp_path: Path, annotation: str, spans: list[object], codes: list[tuple[str, str]]
) -> None:
    document = _one(tmp_path, annotation)
    assert [m.spans for m in document.mentions] == spans
    assert _codes(document) == codes
    assert all(
        "Aspirin" not in event.message and "aspirin" not in event.message
        for event in document.events
    )
    places = [event.message for event in document.events if not event.code.endswith("left-out")]
    assert all(message.startswith("a.ann:1: ") for message in places)


def test_ids_and_mentions_that_are_there_twice(tmp_path: Path) -> None:
    same_id = _one(tmp_path, "T1\tX 0 7\tAspirin\nT1\tX 12 17\tfever\nN1\tReference T1 A:1\tn\n")
    assert [(m.spans, len(m.links)) for m in same_id.mentions] == [(((0, 7),), 1), (((12, 17),), 0)]
    assert _codes(same_id) == [("repair", "duplicate-annotation-id")]
    first_lost = _one(
        tmp_path / "lost", "T1\tX 0 99\tAspirin\nT1\tX 12 17\tfever\nN1\tReference T1 A:1\tn\n"
    )
    assert [(m.spans, len(m.links)) for m in first_lost.mentions] == [(((12, 17),), 0)]
    assert set(_codes(first_lost)) == {
        ("repair", "duplicate-annotation-id"),
        ("loss", "links-left-out"),
        ("loss", "offset-outside"),
    }
    same = _one(
        tmp_path / "other",
        "T1\tX 0 7;12 17\tAspirin fever\nT2\tX 12 17;0 7\tfever Aspirin\nT3\tY 0 7;12 "
        "17\tAspirin fever\n"
        "N1\tReference T1 A:1\tn\nN2\tReference T2 A:1\tn\nN3\tReference T2 A:2\tn\nA1\tNegated "
        "T2\n",
    )
    assert [(m.type, [link.id for link in m.links]) for m in same.mentions] == [
        ("X", ["1", "2"]),
        ("Y", []),
    ]
    assert same.mentions[0].attributes == (("Negated", ""),)
    assert _codes(same) == [("repair", "fragments-sorted"), ("repair", "duplicate-mention")]


# Text


def test_offsets_are_code_points(tmp_path: Path) -> None:
    document = _one(
        tmp_path,
        "T1\tX 2 6\tcell\nT2\tX 7 11\tline\nT3\tX 12 14\te\u0301\n",
        "𝛽-cell\u2028line e\u0301",
    )
    assert [m.text_in(document.text) for m in document.mentions] == ["cell", "line", "e\u0301"]
    assert document.events == ()


def test_text_with_crlf_stays_as_it_is(tmp_path: Path) -> None:
    text = "a drug\r\nfor fever\r\n"
    document = _one(
        tmp_path, "T1\tX 2 6\tdrug\r\nT2\tX 12 17\tfever\r\nT3\tX 2 11\tdrug for\r\n", text
    )
    assert document.text == text
    assert [m.text_in(text) for m in document.mentions] == ["drug\r\nfor", "drug", "fever"]
    assert document.events == ()


@given(st.text("ab\r\n𝛽", min_size=1, max_size=12), st.booleans(), st.booleans(), st.data())
def test_offsets_of_files_that_were_changed_after_annotation(
    tmp_path_factory: pytest.TempPathFactory,
    text: str,
    marked: bool,
    joined: bool,
    data: st.DataObject,
) -> None:
    """The text was annotated with LF (and a mark that counts) and has CRLF (and a mark that does
    not count) now.
    """
    # Every character of the annotated text is told apart by its words, so that only one way of
    # counting fits.
    annotated = "".join(
        f"{sign}{number:04d}" if sign not in "\r\n" else "\n" for number, sign in enumerate(text)
    )
    counted = ("\ufeff" if marked else "") + annotated
    now = counted.replace("\n", "\r\n") if joined else counted
    starts = [
        at for at, sign in enumerate(counted) if sign.isdigit() and not counted[at - 1].isdigit()
    ]
    if not starts:
        return
    chosen = data.draw(st.lists(st.sampled_from(starts), unique=True, min_size=1))
    lines = [f"T{at}\tX {at} {at + 4}\t{counted[at : at + 4]}" for at in chosen]
    document = _one(tmp_path_factory.mktemp("moved"), "\n".join(lines), now)
    assert document.text == now.removeprefix("\ufeff")
    assert {m.text_in(document.text) for m in document.mentions} == {
        counted[at : at + 4] for at in chosen
    }
    changed = any(document.text.index(counted[at : at + 4]) != at for at in chosen)
    assert _codes(document) == ([("repair", "offsets-moved")] if changed else [])


def test_a_mark_that_the_offsets_do_not_count(tmp_path: Path) -> None:
    document = _one(tmp_path, b"\xef\xbb\xbfT1\tX 0 3\tabc\n", b"\xef\xbb\xbfabc abc")
    assert (document.text, [m.spans for m in document.mentions], document.events) == (
        "abc abc",
        [((0, 3),)],
        (),
    )


def test_a_text_that_begins_like_a_mark(tmp_path: Path) -> None:
    document = Document(
        id="a", text="\ufeffaa", mentions=(Mention(((1, 2),), "X"), Mention(((0, 1),), "Y"))
    )
    write(tmp_path / "out.zip", [document])
    assert list(read(tmp_path / "out.zip")) == [document]


def test_other_encodings(tmp_path: Path) -> None:
    annotation, text = "T1\tX 0 5\tÄrger\n", "Ärger über"
    folder = _folder(
        tmp_path / "corpus",
        {"a.txt": text.encode("latin-1"), "a.ann": annotation.encode("latin-1")},
    )
    (document,) = read(folder, encoding="latin-1")
    assert (document.text, document.events) == (text, ())
    with pytest.raises(FormatError, match=r"a\.txt is not utf-8 text .*position 0.*encoding="):
        list(read(folder, encoding="utf-8"))
    (folder / "a.txt").write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match=r"a\.ann is not utf-8 text"):
        list(read(folder, encoding="utf-8"))
    (folder / "a.txt").write_bytes(b"a\0b")
    with pytest.raises(
        FormatError,
        match=r"a\.txt is a binary file or text in another encoding \(a NUL at character 1",
    ):
        list(read(folder, encoding="utf-8"))
    wide = _folder(
        tmp_path / "wide", {"a.txt": text.encode("utf-16"), "a.ann": annotation.encode("utf-16")}
    )
    (document,) = read(wide, encoding="utf-16")
    assert (document.text, document.events) == (text, ())


# Archives from strangers


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("../a.txt", "leads out of it"),
        ("train/../../a.txt", "leads out of it"),
        ("/etc/a.txt", "leads out of it"),
        ("C:/a.txt", "leads out of it"),
        ("..\\a.txt", "leads out of it"),
        ("C:\\a.txt", "leads out of it"),
    ],
)
def test_paths_that_lead_out_of_a_zip(tmp_path: Path, name: str, message: str) -> None:
    archive = _zip(tmp_path / "corpus.zip", {"a.txt": "alpha", "a.ann": "", name: "x"})
    with pytest.raises(FormatError, match=message):
        read(archive)


def test_links_in_a_zip(tmp_path: Path) -> None:
    path = tmp_path / "corpus.zip"
    with zipfile.ZipFile(path, "w") as archive:
        info = zipfile.ZipInfo("a.txt")
        info.create_system, info.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
        archive.writestr(info, "/etc/passwd")
        archive.writestr("a.ann", "")
    with pytest.raises(FormatError, match=r"holds the link 'a\.txt'"):
        read(path)


def _central(data: bytes, offset: int, value: bytes) -> bytes:
    """The archive with some bytes of the first entry of its table of contents replaced."""
    at = data.index(b"PK\x01\x02") + offset
    return data[:at] + value + data[at + len(value) :]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: _central(data, 8, b"\x01\x00"), "unpack it with its password"),
        (lambda data: _central(data, 10, b"\x0e\x00"), "packed in a way that is not read"),
        (lambda data: _central(data, 24, (2).to_bytes(4, "little")), "damaged"),
        (lambda data: _central(data, 24, (2**27).to_bytes(4, "little")), "has more than"),
        (lambda data: _central(data, 16, b"\x00\x00\x00\x00"), "damaged"),
        (lambda data: data[:-30], "damaged"),
        (lambda data: data[:60], "damaged"),
    ],
)
def test_damaged_and_lying_archives(
    tmp_path: Path, change: Callable[[bytes], bytes], message: str
) -> None:
    path = _zip(tmp_path / "corpus.zip", {"a.txt": "alpha", "a.ann": ""})
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(FormatError, match=message):
        list(read(path, format="brat"))


@given(st.lists(st.tuples(st.integers(0, 400), st.integers(0, 255)), min_size=1, max_size=4))
def test_no_damage_goes_beyond_a_clear_error(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[int, int]]
) -> None:
    path = _zip(
        tmp_path_factory.mktemp("zip") / "corpus.zip",
        {"a.txt": TEXT, "a.ann": "T1\tX 0 7\tAspirin\n"},
    )
    data = bytearray(path.read_bytes())
    for at, value in changes:
        data[at % len(data)] = value
    path.write_bytes(data)
    try:
        found = list(read(path, format="brat"))
    except InputError:
        return
    assert all(m.end <= len(d.text) for d in found for m in d.mentions)


def test_files_beyond_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files: dict[str, str | bytes] = {
        "a.txt": "a" * 100,
        "a.ann": "",
        "LICENSE": "l" * 101,
        "b.txt": "b" * 101,
    }
    monkeypatch.setattr(tree, "MAX_MEMBER", 100)
    for whole in (_folder(tmp_path / "corpus", files), _zip(tmp_path / "corpus.zip", files)):
        with pytest.raises(FormatError, match=r"b\.txt has more than 100 bytes"):
            list(read(whole))
    assert len(list(read(_zip(tmp_path / "small.zip", dict(list(files.items())[:3]))))) == 1


def test_one_name_twice_and_names_of_windows(tmp_path: Path) -> None:
    path = tmp_path / "corpus.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.txt", "alpha")
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("a.txt", "beta")
    with pytest.raises(FormatError, match=r"holds 'a\.txt' twice"):
        list(read(path, format="brat"))
    windows = _zip(
        tmp_path / "windows.zip", {"train\\a.txt": "alpha", "train\\a.ann": "T1\tX 0 5\talpha"}
    )
    (document,) = read(f"{windows}/train")
    assert (document.id, len(document.mentions)) == ("a", 1)


# Writing


MENTION = Mention(
    ((0, 7), (12, 17)),
    "Drug",
    links=(Link(id="D1", ontology="MESH", name="n"), Link(id="x:1")),
    attributes=(
        ("Negated", ""),
        ("AnnotatorNotes", "why"),
        ("Reference", "Wikidata:NULL\tnone"),
        ("Sure", "very much"),
    ),
)


def test_written_lines(tmp_path: Path) -> None:
    document = Document(id="a", text=TEXT, mentions=(MENTION, Mention(((8, 25),), "X")))
    report = write(tmp_path / "out", [document], format="brat")
    assert (report.documents, report.mentions, report.losses) == (1, 2, {})
    assert (tmp_path / "out/a.txt").read_bytes() == TEXT.encode()
    assert (tmp_path / "out/a.ann").read_text() == (
        "T1\tDrug 0 7;12 17\tAspirin fever\n"
        "N1\tReference T1 MESH:D1\tn\n"
        "N2\tReference T1 -:x:1\t\n"
        "A1\tNegated T1\n"
        "#1\tAnnotatorNotes T1\twhy\n"
        "N3\tReference T1 Wikidata:NULL\tnone\n"
        "A2\tSure T1 very much\n"
        "T2\tX 8 18;19 25\tand fever. Asthma\n"
    )
    (found,) = read(tmp_path / "out")
    assert found.having(events=()) == document
    assert [event.code for event in found.events] == ["fragments-joined"]


def test_what_the_lines_cannot_hold_is_counted(tmp_path: Path) -> None:
    links = (
        Link(id="1", ontology="A", score=0.5),
        Link(id="2", ontology="A", name="two\nlines"),
        Link(id="has blank"),
        Link(id="3", ontology="a:b"),
        Link(id="4", ontology="-"),
        Link(id="NULL", ontology="A"),
        Link(id=""),
    )
    attributes = (
        ("has blank", "x"),
        ("", "x"),
        ("note", "two\nlines"),
        ("Reference", "no reference"),
    )
    mentions = (
        Mention(((0, 1),), "X", score=0.5, source="a", links=links, attributes=attributes),
        Mention(((0, 1),), "X", score=0.5, source="b"),
    )
    report = write(tmp_path / "out.zip", [Document(id="a", text="a\0b", mentions=mentions)])
    assert report.losses == {
        "scores": 1,
        "sources": 1,
        "second-source": 1,
        "link-scores": 1,
        "link-names": 1,
        "links": 5,
        "attributes": 3,
        "nul": 1,
    }
    (found,) = read(tmp_path / "out.zip")
    assert found.text == "a b"
    assert found.events == ()


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (
            Document(id="a", text="b", mentions=(Mention(((0, 1),), "Cell Line"),)),
            "the type 'Cell Line'",
        ),
        (Document(id="a", text="b", mentions=(Mention(((0, 1),), "X\tY"),)), "the type"),
        (Document(id="", text="b"), "cannot name a file"),
        (Document(id="é" * 200, text="b"), "needs 1 to 251 bytes, and has 400"),
        (Document(id="\ud800", text="b"), "is not Unicode"),
        (Document(id="first", text="b"), "two documents have the id 'first'"),
    ],
)
@pytest.mark.parametrize("target", ["out", "out.zip"])
def test_what_cannot_be_written_leaves_nothing(
    tmp_path: Path, document: Document, message: str, target: str
) -> None:
    with pytest.raises(InputError, match=message):
        write(tmp_path / target, [Document(id="first", text="x"), document], format="brat")
    assert list(tmp_path.iterdir()) == []


def test_ids_that_a_file_system_does_not_tell_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = Path.open

    def insensitive(self: Path, *args: Any, **kwargs: Any) -> Any:
        return original(self.with_name(self.name.lower()), *args, **kwargs)

    documents = [Document(id="a", text="x"), Document(id="A", text="y")]
    monkeypatch.setattr(Path, "open", insensitive)
    with pytest.raises(InputError, match=r"both be in the file 'A\.txt'.*write a \.zip"):
        write(tmp_path / "out", documents, format="brat")
    monkeypatch.undo()
    write(tmp_path / "out.zip", documents)
    assert [d.id for d in read(tmp_path / "out.zip")] == ["A", "a"]


IDS = st.text(
    st.characters(codec="utf-8") | st.sampled_from('%/\\:.*?"<>| A4E\n\0'), min_size=1, max_size=12
)


@given(IDS)
@example(".a")
@example("..")
@example("a%2Fb/c")
def test_every_id_has_a_file_name_of_its_own(identifier: str) -> None:
    name = file_name(identifier)
    assert document_id(name) == identifier
    assert not set(name) & set('/\\:*?"<>|\0\n\t')
    assert not name.startswith(".")


@given(st.text(st.sampled_from("%0123456789ABCDEFGabc."), min_size=1, max_size=9))
def test_no_two_file_names_stand_for_one_id_that_was_written(name: str) -> None:
    identifier = document_id(name)
    assert identifier == name or file_name(identifier) == name


def test_writing_refuses_what_exists(tmp_path: Path) -> None:
    document = Document(id="a", text="alpha")
    place = tmp_path / "out"
    write(place, [document], format="brat")
    with pytest.raises(OutputError, match="exists already"):
        write(place, [document], format="brat")
    write(place, [Document(id="b", text="beta")], format="brat", overwrite=True)
    assert sorted(file.name for file in place.iterdir() if file.name != RECORD) == [
        "b.ann",
        "b.txt",
    ]
    (place / "deep").mkdir()
    (place / "deep/thesis.docx").write_text("mine")
    with pytest.raises(OutputError, match=r"'deep/thesis\.docx'"):
        write(place, [document], format="brat", overwrite=True)
    (place / "deep/thesis.docx").rename(place / "deep/thesis.txt")
    with pytest.raises(OutputError, match=r"'deep/thesis\.txt'"):
        write(place, [document], format="brat", overwrite=True)
    assert (place / "deep/thesis.txt").exists()
    for wrong in ("-", tmp_path / "x.ann", tmp_path / "x.txt", tmp_path / "x.zip.gz"):
        with pytest.raises(UsageError, match="name"):
            write(wrong, [document], format="brat")
    with pytest.raises(OutputError, match="is a file"):
        write(_folder(tmp_path, {"file": ""}) / "file", [document], format="brat")


def test_a_failing_stream_leaves_nothing(tmp_path: Path) -> None:
    source = _folder(
        tmp_path / "in", {"a.txt": "alpha", "a.ann": "", "b.txt": "beta", "b.ann": "no brat"}
    )
    for target in ("out", "out.zip"):
        with pytest.raises(FormatError):
            write(tmp_path / target, read(source), format="brat")
    assert [entry.name for entry in tmp_path.iterdir()] == ["in"]


def test_the_same_documents_give_the_same_zip(tmp_path: Path) -> None:
    document = Document(id="a", text=TEXT, mentions=(MENTION,))
    for name in ("x.zip", "y.zip"):
        write(tmp_path / name, [document])
    assert (tmp_path / "x.zip").read_bytes() == (tmp_path / "y.zip").read_bytes()
    with zipfile.ZipFile(io.BytesIO((tmp_path / "x.zip").read_bytes())) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == ["a.txt", "a.ann"]


# Recipes and commands


def test_a_part_of_a_recipe(tmp_path: Path) -> None:
    archive = _zip(tmp_path / "corpus.zip", FILES)
    folder = _folder(tmp_path / "corpus", FILES)
    for whole in (archive, folder):
        corpus = CorpusSettings(train=f"{whole}/train", dev=f"{whole}/test", format="brat")
        assert [d.id for d in read_part(corpus, "train")] == ["a", "b", "c"]
        assert [d.id for d in read_part(corpus, "dev")] == ["a"]
    listed = {
        name.removeprefix("train/"): content
        for name, content in FILES.items()
        if name.startswith("train/")
    }
    lines = [
        f"{name} {hashlib.sha256(str(content).encode()).hexdigest()}\n"
        for name, content in sorted(listed.items())
        if not name.startswith(".")
    ]
    expected = hashlib.sha256("".join(lines).encode()).hexdigest()
    assert source_sha256(f"{archive}/train") == source_sha256(f"{folder}/train") == expected
    (folder / "train/a.ann").write_text("T1\tY 0 5\talpha\n")
    assert source_sha256(f"{folder}/train") != expected


def test_commands(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    archive, out = _zip(tmp_path / "corpus.zip", FILES), tmp_path / "out"

    def run(*argv: object) -> tuple[int, str]:
        capfd.readouterr()
        code = main([str(argument) for argument in argv])
        found = capfd.readouterr()
        return code, found.out + found.err

    assert run("corpus", "convert", f"{archive}/train", "-o", out, "--format", "brat")[0] == 0
    assert run("corpus", "convert", out, "-o", tmp_path / "back.zip")[0] == 0
    assert list(read(tmp_path / "back.zip")) == list(read(out)) == list(read(f"{archive}/train"))
    assert re.search(r"^mentions +3$", run("corpus", "stats", out)[1], re.MULTILINE)
    code, said = run("corpus", "convert", out, "--format", "brat")
    assert (code, "name a folder or a .zip" in said) == (2, True)
    code, said = run("corpus", "convert", out, "-o", out, "--format", "brat")
    assert (code, str(out) in said) == (2, True)
    code, said = run("evaluate", out, tmp_path / "back.zip")
    assert (code, "100.00" in said) == (0, True)


def test_annotate(tmp_path: Path, tiny_run: Path, capfd: pytest.CaptureFixture[str]) -> None:
    texts = _folder(tmp_path / "texts", {"a.txt": "aspirin caused pain .", "b.txt": "no fever"})
    model = ("--model", str(tiny_run / "best"))
    out = tmp_path / "out"
    assert main(["annotate", str(texts), *model, "-o", str(out), "--format", "brat"]) == 0
    assert sorted(file.name for file in out.iterdir() if file.name != RECORD) == [
        "a.ann",
        "a.txt",
        "b.ann",
        "b.txt",
    ]
    found = {d.id: [(m.type, m.text_in(d.text)) for m in d.mentions] for d in read(out)}
    assert found["a"] == [("Chemical", "aspirin"), ("Disease", "pain")]
    assert main(["annotate", str(out), *model, "-o", str(tmp_path / "again.zip")]) == 0
    assert {
        d.id: [(m.type, m.text_in(d.text)) for m in d.mentions]
        for d in read(tmp_path / "again.zip")
    } == found
    capfd.readouterr()
    for path, folder, message in (
        (texts, texts, str(texts)),
        (out, out, "input"),
        (out / "a.txt", out, "input"),
    ):
        assert (
            main(
                [
                    "annotate",
                    str(path),
                    *model,
                    "-o",
                    str(folder),
                    "--format",
                    "brat",
                    "--overwrite",
                ]
            )
            == 2
        )
        assert message in capfd.readouterr().err
    assert sorted(file.name for file in texts.iterdir()) == ["a.txt", "b.txt"]


def test_lines_may_end_in_a_carriage_return_alone(tmp_path: Path) -> None:
    document = _one(tmp_path, "T1\tChem 0 7\tAspirin\rT2\tDis 12 17\tfever\r")
    assert [(m.type, m.start, m.end) for m in document.mentions] == [
        ("Chem", 0, 7),
        ("Dis", 12, 17),
    ]
    assert _codes(document) == []


def test_a_short_line_that_names_a_long_text_often_costs_little(tmp_path: Path) -> None:
    """Ten thousand fragments over a text of a million characters: no copy of what cannot agree
    is made.
    """
    text = "a" * 1_000_000
    ranges = ";".join(["0 1000000"] * 10_000)
    tracemalloc.start()
    try:
        document = _one(tmp_path, f"T1\tX {ranges}\tx\n", text)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 100 * len(text)
    assert document.events


def test_an_attribute_with_a_tab_is_counted(tmp_path: Path) -> None:
    """``_parse_attribute_annotation`` of brat parts a line at TABs, and cuts what follows."""
    attributes = (("a", "x\ty"), ("b", "x"))
    mention = Mention(((0, 1),), "X", attributes=attributes)
    losses = write(
        tmp_path / "out", [Document(id="d", text="a", mentions=(mention,))], format="brat"
    )
    assert losses.losses["attributes"] == 1
    assert "b T1 x" in (tmp_path / "out" / "d.ann").read_text()
    assert "x\ty" not in (tmp_path / "out" / "d.ann").read_text()
