"""Labels from names as sequences of tokens: what matches, and how labels are counted."""

from __future__ import annotations

import itertools
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from fascicle.formats import read
from studies.binder.token_labels import counted, matched, rates

NAMES = {
    ("lung", "cancer"): "Disease",
    ("cancer",): "Disease",
    ("5-HT",): "Chemical",
    ("aspirin",): "Chemical",
}


def test_the_longest_name_wins_and_hyphens_are_no_blanks() -> None:
    tokens = [
        "Aspirin",
        "for",
        "lung",
        "cancer",
        ",",
        "cancer",
        ",",
        "5",
        "-",
        "HT",
        "and",
        "5-HT",
        ".",
    ]
    assert list(matched(tokens, NAMES)) == [
        (2, 4, "Disease"),
        (5, 6, "Disease"),
        (11, 12, "Chemical"),
    ]


def test_right_labels_are_counted_by_token_and_by_mention(tmp_path: Path) -> None:
    rows = (
        "small\tB-Disease lung\tI-Disease cancer\tI-Disease and\tO aspirin\tB-Chemical for\tO "
        "5-HT\tO"
    )
    (tmp_path / "a.tsv").write_text(rows.replace(" ", "\n") + "\n")
    found = counted(read(tmp_path / "a.tsv", format="conll"), NAMES)
    assert found["tokens"] == {"Chemical": (1, 2, 1), "Disease": (2, 2, 3)}
    assert found["mentions"] == {"Chemical": (1, 2, 1), "Disease": (0, 1, 1)}
    assert rates({"train": found}, "train", "tokens") == (3, 4, 4)
    assert rates({"train": found}, "train", "mentions", "Chemical") == (1, 2, 1)


@given(
    st.lists(st.sampled_from("ab"), max_size=12),
    st.sets(st.text(alphabet="ab", min_size=1, max_size=3)),
)
def test_labels_are_names_that_do_not_overlap(tokens: list[str], chosen: set[str]) -> None:
    names = {tuple(name): "X" for name in chosen}
    found = list(matched(tokens, names))
    assert all(tuple(tokens[start:end]) in names for start, end, _ in found)
    assert all(one[1] <= other[0] for one, other in itertools.pairwise(found))
    covered = {at for start, end, _ in found for at in range(start, end)}
    assert all(at in covered for at, token in enumerate(tokens) if (token,) in names)
