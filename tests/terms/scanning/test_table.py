"""The table of names against a search of all keys at all tokens."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fascicle.errors import FormatError, InputError, OutputError
from fascicle.terms.keys.forms import BREAK
from fascicle.terms.keys.key import TokenReader, key
from fascicle.terms.keys.tokens import Token, tokenise
from fascicle.terms.scanning import building
from fascicle.terms.scanning.building import BITS, KEPT, build_table
from fascicle.terms.scanning.table import NameTable

_WORDS = "il 2 tnf alpha β types II ü 中文 + 's x cats a-b IL2"
WORDS = st.sampled_from(_WORDS.split())
NAMES = st.lists(st.lists(WORDS, min_size=1, max_size=5).map(" ".join), max_size=12)
TEXTS = st.lists(
    st.lists(st.tuples(WORDS, st.sampled_from(["", " ", "-", ", "])), max_size=14), max_size=3
)


def keys_of(names: list[str]) -> list[str]:
    return sorted({key(name, 2) for name in names} - {""})


def naive(keys: list[str], found: list[Token], *, inside_words: bool) -> list[tuple[int, int, int]]:
    row_of = {one: row for row, one in enumerate(keys)}
    spans = [
        (first, last, row_of[" ".join(token.text for token in found[first : last + 1])])
        for first in range(len(found))
        for last in range(first, len(found))
        if " ".join(token.text for token in found[first : last + 1]) in row_of
    ]
    return [
        span for span in spans if inside_words or (found[span[0]].opens and found[span[1]].closes)
    ]


def tokens_of(several: list[str]) -> list[Token]:
    found: list[Token] = []
    for number, text in enumerate(several):
        found += [Token(0, 0, BREAK, opens=True, closes=True)] * (number > 0) + tokenise(text)
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tables")


def opened(folder: Path, keys: list[str], *, bits: int = 64) -> NameTable:
    path = folder / "table"
    path.unlink(missing_ok=True)
    assert build_table(iter(keys), path, bits=bits) == len(keys)
    return NameTable.open(path)


@pytest.mark.parametrize(("bits", "inside_words"), list(product([64, 40, 3, 0], [False, True])))
def test_every_place_of_every_name_is_found(folder: Path, bits: int, inside_words: bool) -> None:
    """Also where hashes have few bits, or none, so that most or all beginnings of names have
    equal ones.
    """

    @settings(max_examples=60)
    @given(NAMES, TEXTS)
    def check(names: list[str], pieces: list[list[tuple[str, str]]]) -> None:
        several = ["".join(map("".join, one)) for one in pieces]
        keys = keys_of(names)
        hits = opened(folder, keys, bits=bits).find(
            TokenReader().read(several), inside_words=inside_words
        )
        expected = naive(keys, tokens_of(several), inside_words=inside_words)
        assert list(zip(*(one.tolist() for one in hits), strict=True)) == expected

    check()


@pytest.mark.parametrize("bits", [64, 40, 3])
@settings(max_examples=40)
@given(names=NAMES, others=NAMES)
def test_rows_of_keys(folder: Path, bits: int, names: list[str], others: list[str]) -> None:
    keys = keys_of(names)
    table = opened(folder, keys, bits=bits)
    asked = [*keys, *keys_of(others), "no such name"]
    expected = [keys.index(one) if one in keys else -1 for one in asked]
    assert table.rows(asked).tolist() == expected
    assert [table.key(row) for row in range(len(table))] == keys


def test_a_name_of_many_tokens_is_found(folder: Path) -> None:
    name = " ".join(f"w{chr(97 + number % 26)}" for number in range(300))
    table = opened(folder, keys_of([name, "wa wb wc"]))
    hits = table.find(TokenReader().read([f"a {name} b"]))
    assert (1, 300) in list(zip(hits.first.tolist(), hits.last.tolist(), strict=True))
    assert table.layout.longest == 300


def test_words_are_not_cut(folder: Path) -> None:
    table = opened(folder, keys_of(["IL", "CAT", "ALK", "EGFR", "alpha", "2"]))

    def matched(text: str, *, inside_words: bool = False) -> list[str]:
        found = TokenReader().read([text])
        hits = table.find(found, inside_words=inside_words)
        return [
            text[found.starts[a] : found.ends[b]]
            for a, b in zip(hits.first, hits.last, strict=True)
        ]

    assert matched("IL2") == []
    assert matched("IL2", inside_words=True) == ["IL", "2"]
    assert matched("TNFalpha") == []
    assert matched("IL-2") == ["IL", "2"]
    assert matched("ALK-positive anti-EGFR CATs concatenate") == ["ALK", "EGFR", "CATs"]


def test_many_batches_build_the_same(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = sorted(
        {f"{a} {b} {c}" for a, b, c in product("abcdefgh", "ijklmn", ["op", "p", "q r s"])}
    )
    paths = [folder / "one", folder / "two"]
    build_table(names, paths[0])
    monkeypatch.setattr(building, "_TOGETHER", 7)
    monkeypatch.setattr(building, "_REMEMBERED", 3)
    build_table(names, paths[1])
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert NameTable.open(paths[0]).rows(names).tolist() == list(range(len(names)))
    found = TokenReader().read([" ; ".join(names)])
    assert set(range(len(names))) <= set(NameTable.open(paths[1]).find(found).rows.tolist())


@pytest.mark.parametrize("keys", [["b", "a"], ["a", "a"], [""]])
def test_keys_that_are_not_sorted_are_refused(folder: Path, keys: list[str]) -> None:
    with pytest.raises(InputError):
        build_table(keys, folder / "refused")
    assert not (folder / "refused").exists()


def test_nothing_is_overwritten(folder: Path) -> None:
    opened(folder, ["a"])
    with pytest.raises(OutputError):
        build_table(["b"], folder / "table")
    assert len(list(folder.glob("*.tmp*"))) == 0


def test_a_broken_file_is_refused(folder: Path) -> None:
    opened(folder, ["a b", "c"])
    data = (folder / "table").read_bytes()
    other = data.replace(b"keys@1", b"keys@0", 1)
    for broken in (
        b"",
        b"x" * 600,
        data[:-64],
        data + bytes(64),
        data[:20] + b"?" + data[21:],
        other,
    ):
        path = folder / "broken"
        path.write_bytes(broken)
        with pytest.raises(FormatError):
            NameTable.open(path)


def test_a_table_without_names(folder: Path) -> None:
    table = opened(folder, [])
    assert len(table.find(TokenReader().read(["a b"])).rows) == len(table) == 0
    assert table.rows(["a"]).tolist() == [-1]
    assert np.array_equal(table.rows([]), [])


def test_the_filter_tells_states_apart_whose_bits_are_cut(folder: Path) -> None:
    """It reads bits that are kept: else every state would have the number 0 there."""
    table = opened(folder, [f"name {number}" for number in range(1_000, 3_000)], bits=KEPT)
    assert not np.any(table._states & np.uint64((1 << (BITS - KEPT)) - 1))
    share = np.unpackbits(table._filter).mean()
    assert 0.05 < share < 0.15
