"""Several dictionaries find together what each finds alone; copies of dictionaries find what
these find.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from fascicle.core.document import Document
from fascicle.errors import ModelError
from fascicle.terms.dictionary import DictionaryEntry, pack_dictionary
from fascicle.terms.finding import CombinedFinder, open_packed_dictionary
from fascicle.terms.list_words import WordReader
from fascicle.terms.matcher import Matcher, read_typed_names

WORDS = ("lung", "cancer", "Aspirin", "of", "the", "IL", "-", "2", "pain", ".", "Pain")


def entries(seed: int) -> list[DictionaryEntry]:
    draw = random.Random(seed)
    names = [" ".join(draw.choices(WORDS, k=draw.randint(1, 3))) for _ in range(12)]
    return [DictionaryEntry(name, draw.choice(("Disease", "Chemical", "Gene"))) for name in names]


def documents(seed: int) -> list[Document]:
    draw = random.Random(seed)
    texts = [" ".join(draw.choices(WORDS, k=draw.randint(0, 40))) for _ in range(20)]
    return [Document(id=str(at), text=text) for at, text in enumerate(texts)]


@pytest.mark.parametrize("seed", range(20))
def test_each_finds_what_it_finds_alone(seed: int) -> None:
    reader = WordReader()
    matchers = [
        Matcher(entries(seed + 100 * at), rule="three-casings", reader=reader) for at in range(3)
    ]
    given = documents(seed)
    together = list(CombinedFinder(matchers).matches(iter(given)))
    alone = zip(
        *(
            Matcher(entries(seed + 100 * at), rule="three-casings").matches(given)
            for at in range(3)
        ),
        strict=True,
    )
    assert together == [tuple(match for of_one in found for match in of_one) for found in alone]
    assert any(together)
    assert CombinedFinder(matchers).types == tuple(
        sorted({kind for m in matchers for kind in m.types})
    )


@pytest.mark.parametrize("seed", range(10))
def test_a_copy_finds_what_the_dictionary_finds(seed: int, tmp_path: Path) -> None:
    given = entries(seed)
    content, count = pack_dictionary(given[::-1] + given[:3])
    assert (content, count) == pack_dictionary(given)
    assert count == len(set(given))
    (tmp_path / "copy.tsv.gz").write_bytes(content)
    copy = open_packed_dictionary(
        tmp_path / "copy.tsv.gz", rule="three-casings", reader=WordReader()
    )
    matcher = Matcher(given, rule="three-casings")
    assert list(copy.matches(documents(seed))) == list(matcher.matches(documents(seed)))
    assert copy.types == matcher.types


def test_names_that_look_like_a_header_are_names_in_a_copy(tmp_path: Path) -> None:
    (tmp_path / "given.tsv").write_text("Type\tName\ntype\tname\nA\t b \n", encoding="utf-8")
    read = list(read_typed_names(str(tmp_path / "given.tsv")))
    assert [one.name for one in read] == ["name", " b "]
    (tmp_path / "copy.tsv.gz").write_bytes(pack_dictionary([DictionaryEntry("name", "type")])[0])
    found = open_packed_dictionary(
        tmp_path / "copy.tsv.gz", rule="raw", reader=WordReader()
    ).matches([Document(id="d", text="name")])
    assert [match.types for match in next(iter(found))] == [("type",)]


@pytest.mark.parametrize("content", [b"", b"\x1f\x8b", b"Disease\n", b"\xff\xfe\x00"])
def test_a_damaged_copy(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "copy.tsv.gz").write_bytes(content)
    with pytest.raises(ModelError, match=r"copy\.tsv\.gz cannot be used") as error:
        open_packed_dictionary(tmp_path / "copy.tsv.gz", rule="raw", reader=WordReader())
    assert "\n" not in str(error.value)
