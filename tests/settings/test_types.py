"""Descriptions of types: one sentence for everything that can be wrong with a file; the
variants.
"""

from __future__ import annotations

import tomllib
from itertools import combinations
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fascicle.errors import RecipeError
from fascicle.settings.types import (
    MAX_CHARACTERS,
    MAX_WORDS,
    Instance,
    TypeDescription,
    TypeDescriptions,
    check_types,
    parse_instance,
    parse_types,
    read_types,
)

GOOD = """\
[[type]]
name = "Rock"
keyword = "rock"
description = "A natural solid of one or more minerals."
examples = ["They quarried [[basalt]] there.", "[[Red gneiss]] lay below.", "It is a kind of [[tuff]]"]
source = "ours"

[[type]]
name = "Gem"
keyword = "gemstone"
description = "A mineral that is cut for its beauty."
examples = ["She wore an [[opal]]."]
"""


def message(folder: Path, text: str) -> str:
    path = folder / "t.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(RecipeError) as caught:
        read_types(path)
    found = str(caught.value)
    assert "\n" not in found
    assert found.startswith(str(path))
    return found.removeprefix(str(path))


def good() -> TypeDescriptions:
    return parse_types(tomllib.loads(GOOD), origin="good")


def test_a_good_file_is_ordered_by_name(tmp_path: Path) -> None:
    path = tmp_path / "t.toml"
    path.write_text(GOOD, encoding="utf-8")
    found = read_types(path)
    assert found == good()
    assert found.names == ("Gem", "Rock")
    assert found.texts("keyword") == ("gemstone", "rock")
    assert found.texts("guideline") == (
        "A mineral that is cut for its beauty.",
        "A natural solid of one or more minerals.",
    )
    assert [i.surface for (i,) in found.instances(1)] == ["opal", "basalt"]
    assert msgspec.json.decode(msgspec.json.encode(found), type=TypeDescriptions) == found


def test_one_type_is_enough_and_needs_only_name_and_description(tmp_path: Path) -> None:
    path = tmp_path / "t.toml"
    path.write_text(
        '[[type]]\nname = "geo-loc 2"\ndescription = "One\\n  two\\tthree."', encoding="utf-8"
    )
    only = TypeDescription(name="geo-loc 2", description="One two three.")
    assert read_types(path) == TypeDescriptions(types=(only,))


CUT = "A mineral that is cut for its beauty."
OPAL = '["She wore an [[opal]]."]'
WRONG = [  # what is replaced, by what, and what the message names beside the file
    (GOOD, "", ["no type", "[[type]]"]),
    (GOOD, "type = []", ["no type", "[[type]]"]),
    (GOOD, '[type]\nname = "x"', ["type", "[[type]]"]),
    (GOOD, 'type = ["Gem"]', ["type", "[[type]]"]),
    (GOOD, '[Gem]\ndescription = "x"', ["key Gem", "[[type]]"]),
    ('name = "Rock"', "name = Rock", ["TOML", "line 2, column 8", "[[type]]", "UTF-8"]),
    ('name = "Rock"', 'name = "Rock"\nname = "Rock"', ["TOML", "line 3"]),
    (GOOD, f"type = {'[' * 9999}", ["TOML", "nested too deeply"]),
    ('source = "ours"', 'sorce = "ours"', ["'Rock'", "sorce", "source?"]),
    (
        'source = "ours"',
        "zzz = 1",
        ["'Rock'", "zzz", "description, examples, keyword, name, source"],
    ),
    ('name = "Gem"\n', "", ["table 2", "no name"]),
    ('name = "Gem"', 'name = "-"', ["no name"]),
    ('name = "Gem"', 'name = "Gem "', ["'Gem '", "white space"]),
    ('name = "Gem"', 'name = "Gem\\nRock"', ["'Gem\\nRock'", "control character"]),
    ('name = "Gem"', "name = 3", ["table 2", "name = 3", "`str`"]),
    (f'description = "{CUT}"\n', "", ["'Gem'", "no description"]),
    (f'"{CUT}"', '" \\u200b\\n . "', ["'Gem'", "no description"]),
    (CUT, " ".join(["word"] * 2000), ["description of 'Gem'", "2000 words", "100"]),
    (CUT, "x" * 1001, ["description of 'Gem'", "1001 characters", "1000"]),
    ("A mineral", "A\\u0001mineral", ["description of 'Gem'", "control character"]),
    ("A mineral", "A\\u0000mineral", ["NUL character"]),
    ('"gemstone"', '"a b c d e f g h i j k"', ["keyword of 'Gem'", "11 words", "10"]),
    ('"gemstone"', '"--"', ["keyword of 'Gem'", "no word"]),
    (OPAL, '"She wore an [[opal]]."', ["'Gem'", "examples", "`array`"]),
    (OPAL, "[1]", ["'Gem'", "examples = [1]", "`str`"]),
    ("[[opal]]", "opal", ["example of 'Gem'", "'She wore an opal.'", "[[ and ]]"]),
    ("She wore an", "so " * 61, ["example of 'Gem'", "62 words", "60"]),
    ('name = "Gem"', 'name = "Rock"', ["more than one", "'Rock'"]),
    (
        f'"{CUT}"',
        '"  A natural\\tsolid of one\\n or more minerals. "',
        ["'Gem' and 'Rock'", "same description"],
    ),
    (CUT, "A NATURAL solid of one or more Minerals.", ["'Gem' and 'Rock'", "same description"]),
    ('"gemstone"', '"Rock"', ["'Gem' and 'Rock'", "same keyword"]),
]


@pytest.mark.parametrize(("old", "new", "named"), WRONG)
def test_every_mistake_is_one_sentence(
    old: str, new: str, named: list[str], tmp_path: Path
) -> None:
    assert old in GOOD
    said = message(tmp_path, GOOD.replace(old, new))
    assert all(name in said for name in named), said


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "latin.toml").write_bytes(b'[[type]]\nname = "Gr\xfcn"')
    for path, named in (
        (tmp_path / "none.toml", "none"),
        (tmp_path, "folder"),
        ("", "empty"),
        (tmp_path / "latin.toml", "TOML"),
    ):
        with pytest.raises(RecipeError, match=named):
            read_types(path)


def test_a_byte_order_mark_is_no_part_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "marked.toml").write_text(GOOD, encoding="utf-8-sig")
    assert read_types(tmp_path / "marked.toml") == good()


def test_texts_at_the_limit_are_kept_whole() -> None:
    text = " ".join(["x" * 9] * MAX_WORDS["description"])
    assert len(text) < MAX_CHARACTERS["description"]
    table = {"name": "a", "description": text}
    assert parse_types({"type": [table]}, origin="o").types[0].description == text
    with pytest.raises(RecipeError, match="has 101 words, at most 100 are allowed"):
        parse_types({"type": [{**table, "description": f"{text} y"}]}, origin="o")


WORDS = st.lists(st.sampled_from(["ore", "Ore", "a", "cut", "."]), min_size=1, max_size=3).filter(
    lambda found: found != ["."] * len(found)
)


@settings(max_examples=40)
@given(
    st.lists(
        st.tuples(
            st.text("abAB_-", min_size=1, max_size=2),
            WORDS,
            st.sampled_from([" ", "  ", "\n", " \t"]),
        )
    )
)
def test_files_are_refused_exactly_where_two_types_are_one(
    drawn: list[tuple[str, list[str], str]],
) -> None:
    tables = [{"name": name, "description": gap.join(found)} for name, found, gap in drawn]
    pairs = list(combinations(drawn, 2))
    same = any(
        a[0] == b[0] or [w.lower() for w in a[1]] == [w.lower() for w in b[1]] for a, b in pairs
    )
    nameless = any(not set(name) - {"_", "-"} for name, *_ in drawn)
    if same or nameless or not drawn:
        with pytest.raises(RecipeError):
            parse_types({"type": tables}, origin="o")
    else:
        found = parse_types({"type": tables}, origin="o")
        assert found == parse_types({"type": tables[::-1]}, origin="o")
        assert [(d.name, d.description) for d in found.types] == sorted(
            (n, " ".join(w)) for n, w, _ in drawn
        )


# --- types too few or too many, and the variants


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        (
            ("Gem",),
            "t: a description of 'Rock', which is not among the types; describe exactly 'Gem'",
        ),
        (
            ("Rock", "Sand", "Gem", "Clay"),
            "t: no description of 'Clay', 'Sand'; describe exactly 'Clay', 'Gem', ",
        ),
        (
            ("gem", "Rock"),
            "t: no description of 'gem' and a description of 'Gem', which is not among the types; ",
        ),
        (
            [f"t{i:02}" for i in range(12)],
            "t: no description of 't00', 't01', 't02', 't03', 't04', 't05', 't06', ",
        ),
    ],
)
def test_types_too_few_or_too_many(types: tuple[str, ...], expected: str) -> None:
    with pytest.raises(RecipeError) as caught:
        check_types(good(), types, origin="t")
    assert str(caught.value).startswith(expected)
    assert "\n" not in str(caught.value)


def test_the_right_types_in_any_order() -> None:
    check_types(good(), ["Rock", "Gem"])
    check_types(good(), iter(("Gem", "Rock")))


@settings(max_examples=40)
@given(st.sets(st.sampled_from("abcd"), min_size=1), st.sets(st.sampled_from("abcd")))
def test_check_types_compares_sets(given_names: set[str], types: set[str]) -> None:
    tables = [{"name": name, "description": f"what is {name}"} for name in given_names]
    found = parse_types({"type": tables}, origin="o")
    if given_names == types:
        check_types(found, types)
        return
    with pytest.raises(RecipeError) as caught:
        check_types(found, types)
    before = str(caught.value).split("; describe exactly")[0]
    assert {name for name in "abcd" if f"'{name}'" in before} == given_names ^ types


def test_a_variant_that_a_file_cannot_serve_is_refused() -> None:
    with pytest.raises(RecipeError, match=r"^no 3 examples for 'Gem': every type needs"):
        good().instances(3)
    bare = TypeDescriptions(
        types=(
            TypeDescription(name="a", description="x"),
            TypeDescription(name="b", description="y"),
        )
    )
    with pytest.raises(RecipeError, match=r"^no keyword for 'a', 'b': every type needs"):
        bare.texts("keyword")
    with pytest.raises(RecipeError, match=r"^no example for 'a', 'b': "):
        bare.instances(1)
    with pytest.raises(ValueError, match="number = 0 is not positive"):
        good().instances(0)


def test_some_of_the_types() -> None:
    assert good().select(["Rock"]).names == ("Rock",)
    assert good().select(("Rock", "Gem", "Rock")) == good()
    with pytest.raises(
        RecipeError, match=r"^no description of 'Sand': described are 'Gem', 'Rock'$"
    ):
        good().select(["Gem", "Sand"])
    with pytest.raises(RecipeError, match="no description of 'any type'"):
        good().select([])


def test_settings_made_by_hand_are_checked_too() -> None:
    a, b = good().types
    with pytest.raises(ValueError, match="not ordered by name"):
        TypeDescriptions(types=(b, a))
    with pytest.raises(ValueError, match="no type is described"):
        TypeDescriptions(types=())
    with pytest.raises(ValueError, match="more than one description of 'Gem'"):
        TypeDescriptions(types=(a, a))


# --- instances


@pytest.mark.parametrize(
    ("written", "text", "surface"),
    [
        ("[[Opal]]", "Opal", "Opal"),
        ("an [[opal]].", "an opal.", "opal"),
        (
            "cells took up [[[3H]thymidine]] at once",
            "cells took up [3H]thymidine at once",
            "[3H]thymidine",
        ),
        ("the [[acid [4]]] (a salt)", "the acid [4] (a salt)", "acid [4]"),
        ("seen [1] in [[opal]] [2]", "seen [1] in opal [2]", "opal"),
    ],
)
def test_a_mention_in_double_brackets(written: str, text: str, surface: str) -> None:
    found = parse_instance(written)
    assert (found.text, found.surface) == (text, surface)
    assert found.text[found.start : found.end] == surface
    assert found.marked("<e> ", " </e>") == written.replace(f"[[{surface}]]", f"<e> {surface} </e>")


NO_MENTION = (
    "",
    "opal",
    "[[opal",
    "opal]]",
    "]]opal[[",
    "[[opal]] and [[gem]]",
    "[[]]",
    "[[ ]]",
    "[[opal ]]",
    "[[]",
)


@pytest.mark.parametrize("written", [*NO_MENTION, "[[\topal]]"])
def test_anything_else_is_refused(written: str) -> None:
    with pytest.raises(ValueError, match=r"exactly one mention between|an empty mention"):
        parse_instance(written)


PLAIN = st.text(st.characters(exclude_characters="[]"), max_size=8)


@given(PLAIN, PLAIN.filter(lambda text: bool(text) and text == text.strip()), PLAIN)
def test_marks_and_reading_are_inverse(before: str, surface: str, after: str) -> None:
    found = parse_instance(f"{before}[[{surface}]]{after}")
    assert found == Instance(
        text=before + surface + after, start=len(before), end=len(before) + len(surface)
    )
    assert parse_instance(found.marked("[[", "]]")) == found


@pytest.mark.parametrize(("start", "end"), [(-1, 2), (2, 2), (3, 2), (0, 7), (2, 4)])
def test_a_mention_outside_its_text(start: int, end: int) -> None:
    with pytest.raises(ValueError, match=r"is not inside the 6 characters|white space"):
        Instance(text="ab  cd", start=start, end=end)
