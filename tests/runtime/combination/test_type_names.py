"""Names of types: renaming, and names under which systems can never agree."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

from fascicle.core.document import Mention
from fascicle.errors import InputError
from fascicle.runtime.combination.align import System
from fascicle.runtime.combination.type_names import TypeMap, check_types, parse_map, rename


def system(name: str, *types: str) -> System:
    return System(
        name=name, mentions={"a": [Mention(((n, n + 1),), t) for n, t in enumerate(types)], "b": []}
    )


def types_of(systems: list[System]) -> list[list[str]]:
    return [[m.type for m in one.mentions["a"]] for one in systems]


def test_renaming() -> None:
    names = TypeMap(
        everywhere={"Drug": "Chemical", "Cell": ""},
        systems={"two": {"Drug": "Drug", "DNA": "Gene"}},
    )
    renamed, said = rename(
        [system("one", "Drug", "Cell", "Gene"), system("two", "Drug", "DNA", "Cell")], names
    )
    assert types_of(renamed) == [["Chemical", "Gene"], ["Drug", "Gene"]]
    assert said == ["mentions left out, for the map gives their types no name: 2"]
    assert [list(one.mentions) for one in renamed] == [["a", "b"]] * 2


def test_what_is_not_renamed_stays_as_it_is() -> None:
    one = system("one", "Drug")
    ((same,), said) = rename(
        [one], TypeMap(everywhere={"Durg": "Chemical"}, systems={"oen": {"Drug": "Chemical"}})
    )
    assert same is one
    assert said == [
        "the map has a table for 'oen', which is none of the systems (did you mean 'one'?)",
        "the map renames 'Durg', which is none of the types (did you mean 'Drug'?)",
    ]


def test_reading_a_map() -> None:
    names = parse_map({"A": "B", "tool": {"C": "", "D": "E"}}, origin="m.toml")
    assert (names.of("tool"), names.of("other")) == ({"A": "B", "C": "", "D": "E"}, {"A": "B"})
    for values, message in (
        ({}, "renames nothing"),
        ({"t": {}}, "renames nothing"),
        ({"A": 1}, r"m\.toml: A = 1"),
    ):
        with pytest.raises(InputError, match=message):
            parse_map(values, origin="m.toml")
    with pytest.raises(InputError, match=r"m\.toml: tool\.C = \['x'\]"):
        parse_map({"tool": {"C": ["x"]}}, origin="m.toml")


@pytest.mark.parametrize(
    ("one", "other"), [("CHEMICAL", "Chemical"), ("cell_type", "Cell Type"), ("ﬁsh", "FISH")]
)
@pytest.mark.parametrize("agree", [True, False])
def test_names_that_differ_in_spelling(one: str, other: str, agree: bool) -> None:
    types = {"first": {one, "Gene"}, "second": {other, "Gene"}}
    with pytest.raises(
        InputError, match=f'"{other}" = "{one}"; if not, say distinct_types=True'
    ) as error:
        check_types(types, agree=agree)
    assert f"first has the type {one!r} and second has {other!r}" in str(error.value)
    both = {"third": {one, other, "Gene"}}
    for order in permutations((types | both).items()):
        # a system that has both says that they are two
        assert check_types(dict(order), agree=agree) == []


@pytest.mark.parametrize(
    ("one", "other", "line"),
    [
        ({"Diseases"}, {"Disease", "Gene"}, '"Diseases" = "Disease"'),
        ({"CHEM"}, {"Chemical"}, '"CHEM" = "Chemical"'),
        ({"GeneOrGeneProduct", "Age"}, {"Gene"}, '"GeneOrGeneProduct" = "Gene"'),
        ({'B-Dis"ease'}, {"Disease"}, r'"B-Dis\\"ease" = "Disease"'),
    ],
)
def test_disjoint_types_with_near_names(one: set[str], other: set[str], line: str) -> None:
    for agree in (True, False):
        with pytest.raises(InputError, match=line):
            check_types({"first": other, "second": one}, agree=agree)


def test_disjoint_types_without_near_names() -> None:
    types: dict[str, Any] = {"first": {"Disease"}, "second": {"Chemical"}}
    with pytest.raises(
        InputError, match=r"second has the types 'Chemical', .*they have 'Disease'.*map=FILE"
    ):
        check_types(types)
    assert len(check_types(types, agree=False)) == 2
    # each agrees with the third
    assert check_types({**types, "third": {"Disease", "Chemical"}}) == []


def test_types_that_one_system_alone_has() -> None:
    types = {"first": {"Disease", "Drug"}, "second": {"Disease", "Chemical", "Species"}}
    (second, first) = check_types(types)
    assert all(
        part in first for part in ("first has the type 'Drug'", "second has not", "map=FILE")
    )
    assert second.startswith("second has the types 'Chemical', 'Species', which first has not; ")
    (alone,) = check_types({"zero": {"Disease"}, "one": {"Disease"}, "two": {"Disease", "Drug"}})
    assert alone.startswith("two has the type 'Drug', which no other system has; ")


def test_who_says_nothing_uses_no_other_names() -> None:
    assert check_types({"first": {"Disease"}, "second": set()}) == []
