"""Descriptions of types: one sentence for everything that can be wrong with a file; the variants."""

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
    path.write_text('[[type]]\nname = "geo-loc 2"\ndescription = "One\\n  two\\tthree."', encoding="utf-8")
    only = TypeDescription(name="geo-loc 2", description="One two three.")
    assert read_types(path) == TypeDescriptions(types=(only,))


LONG = " ".join(["word"] * 2000)
TOML_ADVICE = "begin each type with a line [[type]], write texts in quotes, and save the file as UTF-8"
WRONG = {
    "empty": (GOOD, "", ": no type is described; begin each type with a line [[type]]"),
    "no tables": (GOOD, "type = []", ": no type is described; begin each type with a line [[type]]"),
    "one table": (GOOD, '[type]\nname = "x"', ": type is not a list of tables; begin each type with a line [[type]]"),
    "a list of texts": (GOOD, 'type = ["Gem"]', ": type is not a list of tables; begin each type with a line [[type]]"),
    "a table per label": (
        GOOD,
        '[Gem]\ndescription = "x"',
        ": unknown key Gem; each type begins with a line [[type]] and has its label as name",
    ),
    "not TOML": (
        'name = "Rock"',
        "name = Rock",
        " is not a readable TOML file: Invalid value (at line 2, column 8); " + TOML_ADVICE,
    ),
    "a key twice": (
        'name = "Rock"',
        'name = "Rock"\nname = "Rock"',
        " is not a readable TOML file: Cannot overwrite a value (at line 3, column 14); " + TOML_ADVICE,
    ),
    "too deep": (GOOD, f"type = {'[' * 9999}", " is not a readable TOML file: its values are nested too deeply"),
    "unknown, near": (
        'source = "ours"',
        'sorce = "ours"',
        ": the type 'Rock': unknown key sorce; did you mean source?",
    ),
    "unknown, nothing near": (
        'source = "ours"',
        "zzz = 1",
        ": the type 'Rock': unknown key zzz; allowed are description, examples, keyword, name, source",
    ),
    "no name": (
        'name = "Gem"\n',
        "",
        ": the type in table 2: a type has no name: give the label that the corpus uses",
    ),
    "an empty name": (
        'name = "Gem"',
        'name = "-"',
        ": a type has no name: give the label that the corpus uses",
    ),
    "a name with a blank": (
        'name = "Gem"',
        'name = "Gem "',
        ": the name 'Gem ' has white space around it or a control character in it",
    ),
    "a name of two lines": (
        'name = "Gem"',
        'name = "Gem\\nRock"',
        ": the name 'Gem\\nRock' has white space around it or a control character in it",
    ),
    "a number for a name": (
        'name = "Gem"',
        "name = 3",
        ": the type in table 2: name = 3 is not allowed: expected `str`, got `int`",
    ),
    "no description": (
        'description = "A mineral that is cut for its beauty."\n',
        "",
        ": the type 'Gem' has no description: say in one or two sentences what belongs to it",
    ),
    "a blank description": (
        '"A mineral that is cut for its beauty."',
        '" \\u200b\\n . "',
        ": the type 'Gem' has no description: say in one or two sentences what belongs to it",
    ),
    "2,000 words": (
        "A mineral that is cut for its beauty.",
        LONG,
        ": the description of 'Gem' has 2000 words, at most 100 are allowed: shorten it",
    ),
    "one endless word": (
        "A mineral that is cut for its beauty.",
        "x" * 1001,
        ": the description of 'Gem' has 1001 characters, at most 1000 are allowed: shorten it",
    ),
    "a control character": (
        "A mineral",
        "A\\u0000mineral",
        ": the description of 'Gem' has a control character in it: remove it",
    ),
    "a long keyword": (
        '"gemstone"',
        '"a b c d e f g h i j k"',
        ": the keyword of 'Gem' has 11 words, at most 10 are allowed: shorten it",
    ),
    "a keyword without a word": (
        '"gemstone"',
        '"--"',
        ": the keyword of 'Gem' has no word: give a short phrase, or leave it out",
    ),
    "examples that are one text": (
        '["She wore an [[opal]]."]',
        '"She wore an [[opal]]."',
        ": the type 'Gem': examples = 'She wore an [[opal]].' is not allowed: expected `array`, got `str`",
    ),
    "an example that is a number": (
        '["She wore an [[opal]]."]',
        "[1]",
        ": the type 'Gem': examples = [1] is not allowed: expected `str`, got `int`",
    ),
    "an example without mention": (
        "[[opal]]",
        "opal",
        ": an example of 'Gem' cannot be used: 'She wore an opal.' does not have exactly one mention between [[ and ]]",
    ),
    "a long example": (
        "She wore an",
        "so " * 61,
        ": an example of 'Gem' has 62 words, at most 60 are allowed: shorten it",
    ),
    "one name twice": (
        'name = "Gem"',
        'name = "Rock"',
        ": more than one description of 'Rock': a label stands for one type",
    ),
    "one description twice": (
        '"A mineral that is cut for its beauty."',
        '"  A natural\\tsolid of one\\n or more minerals. "',
        ": the types 'Gem' and 'Rock' have the same description: no model could tell them apart; "
        "say what belongs to each in other words",
    ),
    "one description in two cases": (
        "A mineral that is cut for its beauty.",
        "A NATURAL solid of one or more Minerals.",
        ": the types 'Gem' and 'Rock' have the same description: no model could tell them apart; "
        "say what belongs to each in other words",
    ),
    "one keyword twice": (
        '"gemstone"',
        '"Rock"',
        ": the types 'Gem' and 'Rock' have the same keyword: no model could tell them apart; "
        "say what belongs to each in other words",
    ),
}


@pytest.mark.parametrize("case", sorted(WRONG))
def test_every_mistake_is_one_sentence(case: str, tmp_path: Path) -> None:
    old, new, expected = WRONG[case]
    assert old in GOOD
    assert message(tmp_path, GOOD.replace(old, new)) == expected


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match=r"^there are no descriptions of types at .*none\.toml; give the path of"):
        read_types(tmp_path / "none.toml")
    with pytest.raises(RecipeError, match=r"^\S+ is a folder; give the path of a TOML file$"):
        read_types(tmp_path)
    with pytest.raises(
        RecipeError, match=r"^the path is empty, or that of the current folder; give the path of a TOML"
    ):
        read_types("")
    (tmp_path / "latin.toml").write_bytes(b'[[type]]\nname = "Gr\xfcn"')
    with pytest.raises(RecipeError, match="is not a readable TOML file"):
        read_types(tmp_path / "latin.toml")


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
@given(st.lists(st.tuples(st.text("abAB_-", min_size=1, max_size=2), WORDS, st.sampled_from([" ", "  ", "\n", " \t"]))))
def test_files_are_refused_exactly_where_two_types_are_one(drawn: list[tuple[str, list[str], str]]) -> None:
    tables = [{"name": name, "description": gap.join(found)} for name, found, gap in drawn]
    pairs = list(combinations(drawn, 2))
    same = any(a[0] == b[0] or [w.lower() for w in a[1]] == [w.lower() for w in b[1]] for a, b in pairs)
    nameless = any(not set(name) - {"_", "-"} for name, *_ in drawn)
    if same or nameless or not drawn:
        with pytest.raises(RecipeError):
            parse_types({"type": tables}, origin="o")
    else:
        found = parse_types({"type": tables}, origin="o")
        assert found == parse_types({"type": tables[::-1]}, origin="o")
        assert [(d.name, d.description) for d in found.types] == sorted((n, " ".join(w)) for n, w, _ in drawn)


# --- types too few or too many, and the variants


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        (("Gem",), "t: a description of 'Rock', which is not among the types; describe exactly 'Gem'"),
        (("Rock", "Sand", "Gem", "Clay"), "t: no description of 'Clay', 'Sand'; describe exactly 'Clay', 'Gem', "),
        (("gem", "Rock"), "t: no description of 'gem' and a description of 'Gem', which is not among the types; "),
        ([f"t{i:02}" for i in range(12)], "t: no description of 't00', 't01', 't02', 't03', 't04', 't05', 't06', "),
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
        types=(TypeDescription(name="a", description="x"), TypeDescription(name="b", description="y"))
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
    with pytest.raises(RecipeError, match=r"^no description of 'Sand': described are 'Gem', 'Rock'$"):
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
        ("cells took up [[[3H]thymidine]] at once", "cells took up [3H]thymidine at once", "[3H]thymidine"),
        ("the [[acid [4]]] (a salt)", "the acid [4] (a salt)", "acid [4]"),
        ("seen [1] in [[opal]] [2]", "seen [1] in opal [2]", "opal"),
    ],
)
def test_a_mention_in_double_brackets(written: str, text: str, surface: str) -> None:
    found = parse_instance(written)
    assert (found.text, found.surface) == (text, surface)
    assert found.text[found.start : found.end] == surface
    assert found.marked("<e> ", " </e>") == written.replace(f"[[{surface}]]", f"<e> {surface} </e>")


@pytest.mark.parametrize(
    "written",
    [
        "",
        "opal",
        "[[opal",
        "opal]]",
        "]]opal[[",
        "[[opal]] and [[gem]]",
        "[[]]",
        "[[ ]]",
        "[[opal ]]",
        "[[\topal]]",
        "[[]",
    ],
)
def test_anything_else_is_refused(written: str) -> None:
    with pytest.raises(ValueError, match=r"exactly one mention between|an empty mention"):
        parse_instance(written)


PLAIN = st.text(st.characters(exclude_characters="[]"), max_size=8)


@given(PLAIN, PLAIN.filter(lambda text: bool(text) and text == text.strip()), PLAIN)
def test_marks_and_reading_are_inverse(before: str, surface: str, after: str) -> None:
    found = parse_instance(f"{before}[[{surface}]]{after}")
    assert found == Instance(text=before + surface + after, start=len(before), end=len(before) + len(surface))
    assert parse_instance(found.marked("[[", "]]")) == found


@pytest.mark.parametrize(("start", "end"), [(-1, 2), (2, 2), (3, 2), (0, 7), (2, 4)])
def test_a_mention_outside_its_text(start: int, end: int) -> None:
    with pytest.raises(ValueError, match=r"is not inside the 6 characters|white space"):
        Instance(text="ab  cd", start=start, end=end)
