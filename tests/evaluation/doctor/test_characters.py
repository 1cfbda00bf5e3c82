"""Encoding trouble: what is found, and what is left in peace."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.document import Document
from fascicle.evaluation.doctor.checks.texts import (
    CONTROL,
    INVISIBLE,
    make_character_check,
    mojibake,
)
from fascicle.evaluation.doctor.examine import Examination
from fascicle.evaluation.doctor.parts import CheckedDocument, CheckedPart, GivenPart, load_parts

Examine = Callable[..., Examination]


def item(text: str) -> CheckedDocument:
    given = GivenPart(
        part=CheckedPart(name="train", role="train"),
        path="x",
        documents=lambda: [Document(id="a", text=text)],
    )
    return load_parts([given])[0][0]


def garbled(text: str, encoding: str) -> str:
    """Its UTF-8, read as another encoding; where cp1252 has no character, as latin-1, as
    programs do.
    """
    return "".join(
        bytes([byte]).decode(encoding)
        if encoding == "latin-1" or byte not in (0x81, 0x8D, 0x8F, 0x90, 0x9D)
        else chr(byte)
        for byte in text.encode()
    )


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1"])
@pytest.mark.parametrize(
    "text",
    [
        "café",
        "naïve",
        "5 µm",
        "TNF-α",
        "3′ – 5′",
        "“so”",
        "Łódź",
        "русский",
        "日本語",
        "🙂",
        "±",
        "½",
    ],
)
def test_garbled_texts_are_found(text: str, encoding: str) -> None:
    (hit,) = mojibake(item(f"He said {garbled(text, encoding)} to her."))
    (start, end) = hit.spans[0]
    assert 8 <= start < end


@pytest.mark.parametrize(
    "text",
    [
        "café, naïve, São Tomé, «CAFÉ», „Ä“, ÜBER”, É»",
        "size 5\u00a0×\u00a010 mm, 2 × 3, ±5 °C, 10–20 µm, β-TrCP, “É…”",
        "NÃO, IRMÃ, À «cela», à… l’été",
        "Łódź, Škoda, Ærø, ÞÓR, Ñandú",
        "русский язык, 日本語, العربية, ‘so’, Ω",
    ],
)
def test_other_texts_are_not(text: str) -> None:
    assert list(mojibake(item(text))) == []


@given(
    st.text(
        st.characters(min_codepoint=0xA1, max_codepoint=0xFF, exclude_categories=("Cc",)),
        min_size=1,
        max_size=5,
    )
)
def test_every_garbled_latin_1_text_is_found(text: str) -> None:
    assert list(mojibake(item(garbled(text, "cp1252"))))


@given(st.characters(exclude_categories=("Cs",)))
def test_control_characters_are_those_of_unicode(character: str) -> None:
    found = bool(list(make_character_check(CONTROL)(item(f"a{character}b"))))
    assert found == (unicodedata.category(character) == "Cc" and character not in "\t\n\r")


@pytest.mark.parametrize("character", ["\u00ad", "\u200b", "\u202e", "\ufeff", "\ue000"])
def test_invisible_characters(character: str) -> None:
    (hit,) = make_character_check(INVISIBLE)(item(f"ab{character}c{character}"))
    assert hit.spans == ((2, 3),)
    assert hit.message.startswith(f"2 places, first U+{ord(character):04X}")
    assert not list(
        make_character_check(INVISIBLE)(item("a b\u00a0c\u200dd"))
    )  # joiners are part of many scripts and emoji


def test_mixed_forms_need_both(examine_documents: Examine) -> None:
    nfc, nfd, plain = "caf\u00e9 opens", "cafe\u0301 closes", "a plain text"

    def count(*texts: str) -> int:
        documents = [Document(id=str(number), text=text) for number, text in enumerate(texts)]
        found = examine_documents({"train": documents}).report.findings
        return sum(f.count for f in found if f.code == "mixed-normal-forms")

    assert count(nfc, nfd, plain, nfd + " again") == 2
    assert count(nfd, plain) == count(nfc, plain) == 0
    (finding,) = (
        f
        for f in examine_documents(
            {"train": [Document(id="a", text=nfd), Document(id="b", text=nfc)]}
        ).report.findings
        if f.code == "mixed-normal-forms"
    )
    assert finding.examples[0].spans == ((3, 4),)
    assert finding.details == ("Composed characters, in NFC, are in 1 other document.",)
