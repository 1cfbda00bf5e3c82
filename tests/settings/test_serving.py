"""Projects of several curators: who has which document."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.errors import RecipeError
from fascicle.settings.serving import Project, read_project

NAMES = ("Ada", "Ben", "Cy", "Dora", "Eve")
IDS = [f"doc-{number}" for number in range(2_000)]


def of(*curators: str, each: int = 0) -> Project:
    return Project(curators=curators, per_document=each)


def test_everyone_has_every_document_by_default() -> None:
    assert of("Ben", "Ada").assigned("a") == ("Ben", "Ada")


@given(st.text(), st.integers(1, 5), st.permutations(NAMES))
def test_so_many_have_a_document_whatever_the_order_of_the_curators(
    name: str, each: int, order: list[str]
) -> None:
    found = of(*order, each=each).assigned(name)
    assert len(set(found)) == len(found) == each
    assert set(found) == set(of(*NAMES, each=each).assigned(name))


@given(st.text(), st.integers(1, 4), st.sampled_from(NAMES))
def test_who_leaves_changes_no_assignment_of_others(name: str, each: int, leaves: str) -> None:
    before = set(of(*NAMES, each=each).assigned(name))
    after = set(of(*(one for one in NAMES if one != leaves), each=each).assigned(name))
    assert before - {leaves} <= after
    assert before == after or leaves in before


def test_the_work_is_shared_evenly() -> None:
    counts = Counter(name for one in IDS for name in of(*NAMES, each=2).assigned(one))
    assert all(700 < counts[name] < 900 for name in NAMES)


def test_a_project_is_read(tmp_path: Path) -> None:
    place = tmp_path / "project.toml"
    place.write_text(
        'name = "Drugs"\ncurators = ["Ada", "Ben"]\nper_document = 1\n[guidelines]\nChemical = '
        '"no classes"\n""="all"\n'
    )
    found = read_project(place)
    assert (found.name, found.per_document, found.private) == ("Drugs", 1, True)
    assert found.guidelines == {"Chemical": "no classes", "": "all"}


@pytest.mark.parametrize(
    "content",
    [
        "",
        "curators = []",
        'curators = ["Ada", "Ada"]',
        'curators = [""]',
        'curators = ["a\\nb"]',
        'curators = ["Ada"]\nper_document = 2',
        'curators = ["Ada"]\nper_document = -1',
        'curators = ["Ada"]\ncurator = "Ben"',
        'curators = ["Ada"]\nguidelines = "none"',
    ],
)
def test_what_is_not_allowed_is_one_sentence(tmp_path: Path, content: str) -> None:
    place = tmp_path / "project.toml"
    place.write_text(content)
    with pytest.raises(RecipeError) as caught:
        read_project(place)
    assert "regex" not in str(caught.value)
    assert "\n" not in str(caught.value)
    with pytest.raises(RecipeError):
        read_project(tmp_path / "none.toml")
