"""ACE: texts without their tags, offsets with their last character, and what is damaged."""

from __future__ import annotations

import html
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.document import Document
from fascicle.errors import FormatError
from fascicle.formats import ReadReport, read
from fascicle.formats.report import FailedDocuments
from fascicle.formats.sources import input_state, source_sha256

SGM = """<DOC>
<DOCID> CNN_1 </DOCID>
<BODY>
<TEXT>
<TURN>
The mayor of Paris met AT&amp;T and
Mr. Smith.
</TURN>
</TEXT>
</BODY>
</DOC>
"""
TEXT = "\n CNN_1 \n\n\n\nThe mayor of Paris met AT&T and\nMr. Smith.\n\n\n\n\n"
# type, subtype, kind, entity, words
MENTIONS = (
    ("PER", "Individual", "NOM", "E1", "The mayor of Paris"),
    ("GPE", "Population-Center", "NAM", "E2", "Paris"),
    ("ORG", "Commercial", "NAM", "E3", "AT&T"),
    ("PER", "Individual", "NAM", "E4", "Mr. Smith"),
)
MORE = """<timex2 ID="T1"/><relation ID="R1"/><relation ID="R2"/>"""


def apf(
    text: str,
    mentions: tuple[tuple[str, ...], ...] = MENTIONS,
    *,
    more: str = MORE,
    name: str = "CNN_1",
) -> str:
    """The XML of mentions, with the offsets of their words in a text; what is & there may be
    written as an escape.
    """
    entities = []
    for at, (kind, subtype, form, entity, words) in enumerate(mentions):
        written = words if words in text else html.escape(words)
        start = text.index(written)
        entities.append(
            f'<entity ID="{entity}" TYPE="{kind}" SUBTYPE="{subtype}" CLASS="SPC">'
            f'<entity_mention ID="{entity}-{at}" TYPE="{form}" LDCTYPE="{form}">'
            f'<extent><charseq START="{start}" '
            f'END="{start + len(written) - 1}">{html.escape(words)}</charseq></extent>'
            f'<head><charseq START="0" END="1">x</charseq></head></entity_mention>'
            f'<entity_attributes><name NAME="x"/></entity_attributes></entity>'
        )
    return (
        '<?xml version="1.0"?>\n<!DOCTYPE source_file SYSTEM "apf.v5.1.1.dtd">\n'
        f'<source_file URI="{name}.sgm" TYPE="text"><document '
        f'DOCID="{name}">{"".join(entities)}{more}</document>'
        "</source_file>"
    )


def place(folder: Path, *, name: str = "CNN_1", sgm: str = SGM, xml: str = "") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.sgm").write_bytes(sgm.encode())
    (folder / f"{name}.apf.xml").write_bytes((xml or apf(TEXT)).encode())
    return folder


def _read(path: Path, report: ReadReport | None = None) -> list[Document]:
    return list(read(path, format="ace", report=report))


def test_a_text_and_its_entities(tmp_path: Path) -> None:
    report = ReadReport()
    (document,) = _read(place(tmp_path), report)
    assert document.id == "CNN_1"
    assert document.text == TEXT
    found = {(m.type, m.text_in(document.text), m.attributes) for m in document.mentions}
    assert found == {
        (kind, words, (("subtype", subtype), ("mention", form), ("entity", entity)))
        for kind, subtype, form, entity, words in MENTIONS
    }
    assert dict(report.events) == {("loss", "parts-left-out"): 1, ("loss", "relations-left-out"): 1}


def related(*ends: tuple[str, str], of_2004: bool = False) -> str:
    """A relation between mentions with two arguments or more, as the guidelines of 2005 or 2004
    have it.
    """
    arguments = "".join(
        f'<rel_mention_arg ENTITYMENTIONID="{name}" ARGNUM="{role[-1]}"/>'
        if of_2004
        else f'<relation_mention_argument REFID="{name}" ROLE="{role}">'
        '<extent><charseq START="0" END="1">x</charseq></extent></relation_mention_argument>'
        for role, name in ends
    )
    return (
        '<relation ID="R1" TYPE="PHYS" SUBTYPE="Located" TENSE="Past">'
        '<relation_argument REFID="E1" ROLE="Arg-1"/><relation_mention ID="R1-1">'
        f'<extent><charseq START="0" END="1">x</charseq></extent>{arguments}</relation_mention></relation>'
    )


@pytest.mark.parametrize("of_2004", [False, True])
def test_mentions_of_relations_are_relations(tmp_path: Path, of_2004: bool) -> None:
    ends = (("Arg-1", "E1-0"), ("Arg-2", "E2-1"))
    more = related(*ends, of_2004=of_2004)
    (document,) = _read(place(tmp_path, xml=apf(TEXT, more=more)))
    (relation,) = document.relations
    words = {mention.key: mention.text_in(TEXT) for mention in document.mentions}
    assert [(role, words[key]) for role, key in relation.arguments] == [
        ("Arg-1", "The mayor of Paris"),
        ("Arg-2", "Paris"),
    ]
    assert (relation.type, relation.attributes) == (
        "PHYS",
        (("subtype", "Located"), ("tense", "Past")),
    )
    assert document.events == ()


def test_a_relation_without_all_of_its_entities_is_counted(tmp_path: Path) -> None:
    ends = (("Arg-1", "E1-0"), ("Arg-2", "E2-1"), ("Arg-3", "E4-3"))
    xml = apf(TEXT, more=related(*ends))
    start = xml.index("<charseq", xml.index('ID="E4-3"'))
    xml = xml[:start] + xml[start:].replace('START="', 'START="9', 1).replace('END="', 'END="9', 1)
    (document,) = _read(place(tmp_path, xml=xml))
    assert not document.relations
    assert {event.code for event in document.events} == {"offset-outside", "relations-left-out"}


def test_a_relation_without_two_entities_is_counted(tmp_path: Path) -> None:
    times = related(("Arg-1", "E1-0"), ("Arg-2", "E2-1"), ("Time-Within", "T1-1"))
    gone = related(("Arg-1", "E1-0"), ("Arg-2", "E9-9")) * 2
    (document,) = _read(place(tmp_path, xml=apf(TEXT, more=times + gone)))
    assert [len(relation.arguments) for relation in document.relations] == [2]
    (event,) = document.events
    assert (event.code, event.message[:11]) == ("relations-left-out", "2 relations"[:11])


def test_offsets_that_count_an_escape_by_its_characters(tmp_path: Path) -> None:
    report = ReadReport()
    (document,) = _read(place(tmp_path, xml=apf(TEXT.replace("&", "&amp;"), more="")), report)
    assert document.text == TEXT
    assert {m.text_in(document.text) for m in document.mentions} == {
        words for *_, words in MENTIONS
    }
    assert dict(report.events) == {("repair", "offsets-moved"): 1}


def test_of_four_folders_of_one_text_the_final_one_is_read(tmp_path: Path) -> None:
    for folder in ("adj", "fp1", "fp2"):
        place(tmp_path / "bn" / folder, xml=apf(TEXT, (), more=""))
    place(tmp_path / "bn" / "timex2norm")
    (document,) = _read(tmp_path)
    assert len(document.mentions) == len(MENTIONS)


def test_a_zip(tmp_path: Path) -> None:
    folder = place(tmp_path / "nw")
    with zipfile.ZipFile(tmp_path / "ace.zip", "w") as archive:
        for file in folder.iterdir():
            archive.write(file, f"nw/{file.name}")
    assert _read(tmp_path / "ace.zip/nw") == _read(folder)


@pytest.mark.parametrize("packed", [False, True])
def test_the_hash_and_the_state_of_a_place_follow_its_entities(
    tmp_path: Path, packed: bool
) -> None:
    def told(entities: str) -> tuple[str, str]:
        folder = path = place(tmp_path / "nw", xml=entities)
        if packed:
            path = tmp_path / "ace.zip"
            with zipfile.ZipFile(path, "w") as archive:
                for file in sorted(folder.iterdir()):
                    archive.write(file, file.name)
        return source_sha256(str(path)), input_state(str(path))

    before = told(apf(TEXT))
    after = told(apf(TEXT, MENTIONS[1:]))
    assert before[0] != after[0]
    assert before[1] != after[1]


@pytest.mark.parametrize(
    ("xml", "said"),
    [
        ("<source_file><entity", "no well-formed XML"),
        (apf(TEXT).replace("START=", "BEGIN="), "no extent whose START and END are numbers"),
        (apf(TEXT).replace('TYPE="PER"', 'TYPE=""'), "has no type"),
    ],
)
def test_damaged_entities_set_their_text_aside(tmp_path: Path, xml: str, said: str) -> None:
    place(tmp_path, xml=xml)
    with pytest.raises(FormatError, match=said):
        _read(tmp_path)
    place(tmp_path, name="CNN_2")
    report = ReadReport(aside=FailedDocuments(keep_going=True))
    assert [one.id for one in _read(tmp_path, report)] == ["CNN_2"]
    assert report.aside.count == 1


def test_a_text_without_entities_and_two_texts_of_one_name(tmp_path: Path) -> None:
    (place(tmp_path / "a") / "CNN_1.apf.xml").unlink()
    with pytest.raises(FormatError, match=r"has no CNN_1\.apf\.xml beside it"):
        _read(tmp_path)
    place(tmp_path / "a")
    place(tmp_path / "b")
    with pytest.raises(FormatError, match="two texts of one name"):
        _read(tmp_path)


def test_offsets_outside_the_text_and_other_words_are_reported(tmp_path: Path) -> None:
    xml = (
        apf(TEXT, more="")
        .replace(f'START="{TEXT.index("Mr.")}"', 'START="9999"')
        .replace(">Paris<", ">Rome<")
    )
    report = ReadReport()
    (document,) = _read(place(tmp_path, xml=xml), report)
    assert len(document.mentions) == len(MENTIONS) - 1
    assert dict(report.events) == {("loss", "offset-outside"): 1, ("repair", "text-mismatch"): 1}


WORDS = st.lists(st.text(alphabet="ab&<>\"'é😀", min_size=1, max_size=5), min_size=1, max_size=12)


@given(words=WORDS, marks=st.data(), counted=st.booleans())
def test_any_text_with_tags_and_escapes(
    tmp_path_factory: pytest.TempPathFactory, words: list[str], marks: st.DataObject, counted: bool
) -> None:
    """An oracle writes the words with a tag before each; offsets count the text with escapes or
    the one without.
    """
    plain, raw, spans = "", "", []
    for word in ("Q&Q", *words, "END"):
        escaped = html.escape(word, quote=False)
        spans.append(
            (word, (len(plain), len(plain) + len(word)), (len(raw), len(raw) + len(escaped)))
        )
        plain, raw = f"{plain}{word} ", f"{raw}{escaped} "
    chosen = [
        *marks.draw(st.lists(st.sampled_from(spans[:-1]), unique=True)),
        spans[-1],
    ]  # END stands at one place alone
    entities = "".join(
        '<entity ID="E" TYPE="PER"><entity_mention ID="M"><extent><charseq '
        f'START="{places[counted][0]}" '
        f'END="{places[counted][1] - 1}">{html.escape(word)}</charseq></extent></entity_mention></entity>'
        for word, *places in chosen
    )
    sgm = "".join(
        f"<TURN><A {at}>{html.escape(word, quote=False)} </TURN>"
        for at, (word, *_) in enumerate(spans)
    )
    folder = place(tmp_path_factory.mktemp("ace"), sgm=sgm, xml=f"<document>{entities}</document>")
    (document,) = _read(folder)
    assert document.text == plain
    assert {m.spans[0] for m in document.mentions} == {own for _, own, _ in chosen}
    assert {event.code for event in document.events} == ({"offsets-moved"} if counted else set())


def test_addresses_are_no_escapes(tmp_path: Path) -> None:
    sgm = SGM.replace("<TURN>\n", "<TURN>\nhttp://x.org/?a=1&section=2&copy=3\n")
    text = TEXT.replace("The mayor", "http://x.org/?a=1&section=2&copy=3\nThe mayor")
    for written in (text, text.replace("AT&T", "AT&amp;T")):
        (document,) = _read(place(tmp_path, sgm=sgm, xml=apf(written, more="")))
        assert document.text == text
        assert {m.text_in(text) for m in document.mentions} == {words for *_, words in MENTIONS}


def test_a_number_of_a_character_that_is_too_long_is_no_fault(tmp_path: Path) -> None:
    sgm = f"<DOC>Ann &#{'9' * 5_000}; AT&amp;T</DOC>"
    (tmp_path / "a.sgm").write_text(sgm)
    (tmp_path / "a.apf.xml").write_text("<source_file><document/></source_file>")
    (found,) = read(tmp_path, format="ace")
    assert found.text == "Ann \ufffd AT&T"


def test_offsets_that_count_crlf_as_one_are_converted(tmp_path: Path) -> None:
    """As those of brat, of tables of offsets and of Knowtator; files of Windows have CRLF."""
    folder = place(tmp_path, sgm=SGM.replace("\n", "\r\n"), xml=apf(TEXT))
    (document,) = _read(folder)
    words = [mention.text_in(document.text) for mention in document.mentions]
    assert words == ["The mayor of Paris", "Paris", "AT&T", "Mr. Smith"]
    (event,) = [event for event in document.events if event.code == "offsets-moved"]
    assert "CRLF" in event.message
