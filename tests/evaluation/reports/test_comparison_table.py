"""The comparison as text, as Markdown and as JSON: the figures, and what may be said about them."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from fascicle.core.document import Mention
from fascicle.evaluation.comparison.comparing import Cells, Comparison, compare, make_cells
from fascicle.evaluation.comparison.search import Floors, SearchResult, as_dict, choose, search
from fascicle.evaluation.reports.comparison_table import SHOWN, as_markdown, as_text, make_sections
from fascicle.runtime.combination.align import System

GOLD = {str(d): [Mention(((n, n + 1),), "XY"[n % 2]) for n in range(6)] for d in range(30)}


def cells_from(*numbers: int, names: str = "first second third fourth fifth") -> Cells:
    """Systems that find so many of the six mentions of each document, the last ones first."""
    systems = [
        System(name=name, mentions={d: mentions[6 - number :] for d, mentions in GOLD.items()})
        for name, number in zip(names.split(), numbers, strict=False)
    ]
    return make_cells(System(name="the gold", mentions=GOLD), systems)


def compared(
    cells: Cells, *, resamples: int = 999, **floors: float
) -> tuple[Comparison, SearchResult]:
    drawn = cells.drawn(resamples=resamples, seed=0)
    choices = choose(cells, drawn, search(cells, drawn), floors=Floors(**floors))
    return compare(cells, drawn), choices


def lines_of(text: str, title: str) -> list[str]:
    return text[text.index(f"{title}\n") :].split("\n\n")[0].splitlines()[2:]


def test_the_text() -> None:
    comparison, choices = compared(cells_from(5, 4, 2))
    text = as_text(make_sections(comparison, choices, commands=["one", "two", "three"]))
    systems = lines_of(text, "Systems")
    assert systems[1].split() == [
        *(
            "A",
            "first",
            "100.00",
            "[100.00,",
            "100.00]",
            "83.33",
            "[83.33,",
            "83.33]",
            "90.91",
            "[90.91,",
            "90.91]",
        ),
        *("150", "150", "0", "30", "30", "0"),
    ]
    assert systems[4].startswith(
        "Strict match of document, type and offsets over 30 documents with 180 gold mentions;"
    )
    pairs = lines_of(text, "Pairs")
    assert pairs[1].startswith("A - B")
    assert pairs[4] == (
        "In F1, A is better than B and C, B is better than C at the level of 5% by both tests, "
        "corrected for 3 pairs "
        "by Holm's method."
    )
    assert [
        line.split()
        for line in lines_of(text, "Gold mentions that the row misses and the column finds")
    ] == [
        ["A", "B", "C"],
        ["A", "0", "0"],
        ["B", "30", "0"],
        ["C", "90", "60"],
    ]
    types = lines_of(text, "Types")
    assert types[1].split() == ["X", "90", "A", "100.00", "66.67", "80.00", "0"]
    assert types[4].split() == ["union", "100.00", "66.67", "80.00"]
    chosen = lines_of(text, "Choices")
    assert chosen[1].split()[:4] == ["F1", "union", "A", "+"]
    assert "No combination has a higher F1 than A alone (90.91 at best)." in chosen
    assert chosen[-6:] == ["F1:", "  one", "precision at recall >= 83.33:", "  two", *chosen[-2:]]
    assert chosen[-1] == "  three"


def test_what_cannot_be_told_apart_is_not_called_different() -> None:
    comparison, _ = compared(cells_from(5, 5))
    (said, honest) = lines_of(as_text(make_sections(comparison)), "Pairs")[2:]
    assert said == "No difference in F1 is shown at the level of 5% by both tests."
    assert "training seeds" in honest
    comparison, _ = compared(cells_from(5, 5, 2))
    said = lines_of(as_text(make_sections(comparison)), "Pairs")[4]
    assert said.startswith("In F1, A is better than C, B is better than C at the level")
    assert said.endswith("for the other 1 the data do not show a difference.")


def test_too_few_draws_for_so_many_pairs_are_said() -> None:
    comparison, _ = compared(cells_from(5, 4, 3, 2, 1), resamples=300)
    text = as_text(make_sections(comparison))
    assert (
        "With 10 pairs and 300 draws no corrected p-value of the bootstrap can be below 0.066"
        in text
    )
    needed = int(re.findall(r"give --resamples ([0-9,]+) or more", text)[0].replace(",", ""))
    enough, _ = compared(cells_from(5, 4, 3, 2, 1), resamples=needed)
    assert "give --resamples" not in as_text(make_sections(enough))
    assert all(pair.differ() for pair in enough.pairs)


def test_a_floor_that_nothing_reaches() -> None:
    comparison, choices = compared(cells_from(3, 2), recall=0.9)
    chosen = lines_of(
        as_text(make_sections(comparison, choices, commands=["one", "", "three"])), "Choices"
    )
    assert "No combination has a recall of at least 90.00; the highest is 50.00." in chosen
    assert [line for line in chosen if line.startswith("  ")] == ["  one", "  three"]
    value = as_dict(comparison, choices, commands=["one", "", "three"])
    assert [one.get("command") for one in value["best"]] == ["one", None, "three"]
    assert value["best"][1] == {"aim": "precision", "floor": 0.9, "combination": None}


def test_a_command_that_is_best_at_all_is_shown_once() -> None:
    comparison, choices = compared(cells_from(5, 4, 2))
    chosen = lines_of(
        as_text(make_sections(comparison, choices, commands=["one", "two", "one"])), "Choices"
    )
    assert chosen[-4:] == [
        "F1; recall at precision >= 100.00:",
        "  one",
        "precision at recall >= 83.33:",
        "  two",
    ]


def test_the_markdown() -> None:
    comparison, choices = compared(cells_from(5, 4, names="a|b c"))
    text = as_markdown(
        "Report", make_sections(comparison, choices, commands=["fascicle combine", "two", "three"])
    )
    assert text.startswith("# Report\n\n## Systems\n\n| system | P |")
    assert r"| A a\|b | 100.00" in text
    assert "\n```\nfascicle combine\n```\n" in text
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}) == 1


def test_names_of_others_have_no_meaning_in_markdown() -> None:
    name = "[x](http://y)*b*<img src=z>"
    comparison, _ = compared(cells_from(5, 4, names=f"{name} c"))
    text = as_markdown(name, make_sections(comparison), notes=[name])
    assert "](http" not in text.replace("\\]", "")
    assert "<img" not in text
    assert "*b*" not in text


def test_only_different_combinations_are_listed() -> None:
    comparison, choices = compared(cells_from(5, 4, 3, 2, 1))
    rows = lines_of(
        as_text(make_sections(comparison, choices, commands=["", "", ""])), "Combinations"
    )
    # the systems are nested
    assert len({one.counts for one in choices.candidates if not one.repeats}) == 5
    assert len(rows) == 1 + 5 + 1
    assert all(number in rows[-1] for number in ("101 combinations", "5 of which"))
    assert SHOWN == 10


def test_more_systems_than_letters() -> None:
    names = " ".join(f"n{n}" for n in range(27))
    cells = cells_from(*[3] * 27, names=names)
    comparison = compare(cells, cells.drawn(resamples=20, seed=0))
    rows = lines_of(as_text(make_sections(comparison)), "Systems")
    assert (rows[1].split()[:2], rows[27].split()[:2]) == (["1", "n0"], ["27", "n26"])


def test_the_json_holds_everything() -> None:
    comparison, choices = compared(cells_from(5, 4, 2))
    value: dict[str, Any] = json.loads(
        json.dumps(as_dict(comparison, choices, commands=["one", "two", "three"]))
    )
    assert (value["documents"], value["gold"], value["best_single"]) == (30, 180, "first")
    assert [one["name"] for one in value["systems"]] == ["first", "second", "third"]
    assert value["systems"][1]["types"]["X"]["recall"] == pytest.approx(2 / 3)
    assert value["systems"][2]["f1"]["estimate"] == pytest.approx(0.5)
    assert value["misses_found_by"]["third"] == {"first": 90, "second": 60, "third": 0}
    assert value["types"]["Y"]["unique_true"] == {"first": 30, "second": 0, "third": 0}
    assert (value["union"]["tp"], value["intersection"]["tp"], len(value["combinations"])) == (
        150,
        60,
        len(choices.candidates),
    )
    assert value["pairs"][0]["difference"]["estimate"] == pytest.approx(10 / 11 - 0.8)
    weighted = next(one for one in value["combinations"] if one["rule"] == "weighted")
    assert len(weighted["weights"]) == len(weighted["systems"])
    assert [one["command"] for one in value["best"]] == ["one", "two", "three"]
    bare = as_dict(comparison)
    assert {"best", "combinations"}.isdisjoint(bare)


@pytest.mark.parametrize(("documents", "is_said"), [(4, True), (30, False)])
def test_too_few_documents_to_show_anything(documents: int, is_said: bool) -> None:
    gold = {d: mentions for d, mentions in GOLD.items() if int(d) < documents}
    systems = [
        System(name=name, mentions={d: mentions[6 - found :] for d, mentions in gold.items()})
        for name, found in (("first", 6), ("second", 0))
    ]
    cells = make_cells(System(name="the gold", mentions=gold), systems)
    text = as_text(make_sections(compare(cells, cells.drawn(resamples=999, seed=0))))
    assert (
        f"With 1 pair and {documents} documents no difference can be shown, however large" in text
    ) is is_said
