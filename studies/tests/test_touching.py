"""The counts of mentions that touch, overlap or have a breaker, against all pairs; the page has
the stored counts.
"""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.document import GOLD, Document, Mention
from studies.common import RESULTS
from studies.multilabel.touching import counts_of, table

TEXT = "aa b\ncc;d  e(f"
PLACES = st.tuples(st.integers(0, len(TEXT) - 1), st.integers(1, len(TEXT)), st.sampled_from("AB"))


@given(
    st.sets(
        PLACES.filter(
            lambda row: row[0] < row[1] and not {TEXT[row[0]], TEXT[row[1] - 1]} & {" ", "\n"}
        ),
        max_size=6,
    )
)
def test_all_pairs_give_the_same_counts(rows: set[tuple[int, int, str]]) -> None:
    mentions = tuple(
        Mention(((start, end),), kind, source=GOLD) for start, end, kind in sorted(rows)
    )
    found = counts_of([Document(id="d", text=TEXT, mentions=mentions)])
    expected = dict.fromkeys(("mentions", "touching", "same_type", "other_type", "breaker"), 0)
    for row in rows:
        others = [(a, b, kind == row[2]) for a, b, kind in rows if (a, b, kind) != row]
        over = {same for a, b, same in others if a < row[1] and row[0] < b}
        gaps = [TEXT[row[1] : a] for a, _, same in others if same and row[1] <= a]
        gaps += [TEXT[b : row[0]] for _, b, same in others if same and b <= row[0]]
        expected["mentions"] += 1
        expected["same_type"] += True in over
        expected["other_type"] += False in over
        expected["touching"] += any(not gap.strip() and "\n" not in gap for gap in gaps)
        expected["breaker"] += any(character in TEXT[row[0] : row[1]] for character in "();")
    assert {name: found[name] for name in expected} == expected


def test_the_table_has_a_row_for_each_corpus() -> None:
    stored = json.loads((RESULTS / "touching.json").read_text(encoding="utf-8"))["corpora"]
    assert len(stored) > 30
    rows = [line.split(" | ") for line in table().splitlines()[2:]]
    assert {row[0].removeprefix("| "): int(row[1].replace(",", "")) for row in rows} == {
        name: counts["mentions"] for name, counts in stored.items()
    }
