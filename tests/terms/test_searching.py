"""Search for concepts as one types: against a slow and obvious search, and in time on the
shipped pack.
"""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.settings.folders.vocabularies import shipped_packs
from fascicle.terms.keys.key import key
from fascicle.terms.pack.pack import Pack
from fascicle.terms.searching import NameSearch
from fascicle.verbs.tasks.index_build import build_pack

NAMES = {
    "T:1": ["Diabetes Mellitus", "diabetes", "DM"],
    "T:2": ["diabetes insipidus", "DI"],
    "T:3": ["lung cancer", "carcinoma of the lung", "Lung-Carcinoma"],
    "T:4": ["heart failure", "cardiac failure"],
    "T:5": ["β-catenin", "CTNNB1", "catenin"],
    "T:6": ["Sjögren's syndrome", "sicca"],
    "T:7": ["aab", "aba", "baa", "aaab", "abab aab"],
    "T:8": ["abcdefgh ijkl", "abcdefghijkl", "abcdefg"],
}
TYPES = {"T:5": "Gene"}


@pytest.fixture(scope="module")
def pack(tmp_path_factory: pytest.TempPathFactory) -> Pack:
    folder = tmp_path_factory.mktemp("pack")
    for kind in ("Disease", "Gene"):
        rows = [
            (c, n) for c, names in NAMES.items() if TYPES.get(c, "Disease") == kind for n in names
        ]
        lines = "".join(f"{concept}\t{name}\n" for concept, name in rows)
        (folder / f"{kind}.tsv").write_text(f"id\tname\n{lines}", encoding="utf-8")
    columns = 'columns = { id = "id", name = "name" }'
    sources = "".join(
        f'[sources.{kind}]\npath = "{kind}.tsv"\nreader = "table"\ntype = "{kind}"\n{columns}\n'
        for kind in ("Disease", "Gene")
    )
    (folder / "sources.toml").write_text(f'name = "toy"\n{sources}', encoding="utf-8")
    build_pack(folder / "sources.toml", folder / "pack")
    return Pack.open(folder / "pack")


@pytest.fixture(scope="module")
def search(pack: Pack) -> NameSearch:
    return NameSearch(pack)


def slips(one: str, other: str) -> int:
    """Slips between two strings: changed, missing and further characters, and neighbours that
    changed places.
    """
    table = {(-1, j): j + 1 for j in range(-1, len(other))} | {
        (i, -1): i + 1 for i in range(-1, len(one))
    }
    for i in range(len(one)):
        for j in range(len(other)):
            ways = [
                table[i - 1, j] + 1,
                table[i, j - 1] + 1,
                table[i - 1, j - 1] + (one[i] != other[j]),
            ]
            if i and j and one[i] == other[j - 1] and one[i - 1] == other[j]:
                ways.append(table[i - 2, j - 2] + 1)
            table[i, j] = min(ways)
    return table[len(one) - 1, len(other) - 1]


def expected(query: str) -> dict[str, str]:
    """How each concept is found, if it is."""
    typed, found = key(query, 1), {}
    for concept, names in NAMES.items():
        ways = set()
        for name in (key(one, 1) for one in names):
            begins = [
                at
                for at in range(len(name))
                if name[at] not in " -" and (not at or name[at - 1] in " -")
            ]
            ways |= {"name"} if name == typed else set()
            ways |= {
                "beginning" if at == 0 else "word" for at in begins if name[at:].startswith(typed)
            }
            if len(typed) >= 4:
                tails = (
                    name[at : at + size]
                    for at in begins
                    for size in range(len(typed) - 1, len(typed) + 2)
                )
                ways |= {"slip" for tail in tails if slips(typed, tail) == 1}
        order = [one for one in ("name", "beginning", "word", "slip") if one in ways]
        found |= {concept: order[0]} if order else {}
    return found


def typed_queries() -> st.SearchStrategy[str]:
    names = st.sampled_from([name for names in NAMES.values() for name in names])
    letters = st.text("abcdgjmnu -'", min_size=0, max_size=2)

    @st.composite
    def changed(draw: st.DrawFn) -> str:
        name = draw(names)
        start = draw(st.sampled_from([0, *(at + 1 for at, one in enumerate(name) if one in " -")]))
        part = name[start : draw(st.integers(start + 1, len(name)))]
        at = draw(st.integers(0, len(part)))
        return part[:at] + draw(letters) + part[at + draw(st.integers(0, 2)) :]

    return changed() | st.text("ab ", max_size=6)


@given(query=typed_queries())
def test_the_same_concepts_are_found_as_by_a_slow_search(
    search: NameSearch, pack: Pack, query: str
) -> None:
    if not key(query, 1) or key(query, 1)[0] in " -":
        return
    found = search.find(query, most=50)
    assert {pack.curie(one.row): one.how for one in found} == expected(query)
    ranks = [("name", "beginning", "word", "slip").index(one.how) for one in found]
    assert ranks == sorted(ranks)


@pytest.mark.parametrize(
    ("query", "curie", "how"),
    [
        ("diab", "T:1", "beginning"),
        ("DIABETES", "T:1", "name"),
        ("diabtes", "T:1", "slip"),
        ("iabetes", "T:1", "slip"),
        ("cancer", "T:3", "word"),
        ("carcinoma of", "T:3", "beginning"),
        ("beta-cat", "T:5", "beginning"),
        ("Sjogren", "T:6", "beginning"),
        ("T:4", "T:4", "identifier"),
    ],
)
def test_what_is_typed_is_found(
    search: NameSearch, pack: Pack, query: str, curie: str, how: str
) -> None:
    first = search.find(query, most=1)[0]
    assert (pack.curie(first.row), first.how) == (curie, how)


def test_a_type_and_a_number_limit_what_is_found(search: NameSearch, pack: Pack) -> None:
    assert [pack.curie(one.row) for one in search.find("ca", most=9, type="Gene")] == ["T:5"]
    assert search.find("T:5", most=9, type="Disease") == []
    assert search.find("ca", most=9, type="Unknown") == []
    assert len(search.find("di", most=1)) == 1
    assert search.find("  ", most=5) == search.find("", most=5) == []


@pytest.mark.slow
@pytest.mark.skipif(
    "basic@2" not in shipped_packs(), reason="the pack is not built: see packs/basic.toml"
)
def test_the_shipped_pack_is_searched_in_time(tmp_path: Path) -> None:
    pack, draw = Pack.open("basic"), random.Random(53)
    search, surfaces = NameSearch(pack), pack.active.surfaces
    seconds = []
    for _ in range(500):
        query = surfaces[draw.randrange(len(surfaces))][: draw.randint(2, 20)]
        if draw.random() < 0.4:
            at = draw.randrange(len(query))
            query = query[:at] + draw.choice("aeinrst") + query[at + 1 :]
        begun = time.thread_time()
        search.find(query, most=10, type=draw.choice(["", "Disease", "Chemical"]))
        seconds.append(time.thread_time() - begun)
    assert sorted(seconds)[494] < 0.05
