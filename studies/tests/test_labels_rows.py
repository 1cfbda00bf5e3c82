"""The study of hard and soft labels: its plan can be read, its sample is repeatable, its rows
are scored by hand.
"""

from __future__ import annotations

import pytest

from fascicle.core.document import Document, Mention
from fascicle.training.experiments.grid import read_grid
from studies.common import GRIDS
from studies.labels.rows import Row, facts, row_scores, table

ROW = Row(corpus="x", files={}, label="GENE", type="Gene")


def test_the_plan_has_four_arms_of_the_same_texts() -> None:
    runs = read_grid(GRIDS / "labels.toml").runs
    assert len(runs) == 8
    found = {(run.recipe.parts["weak"].soft or False, run.recipe.model.head.scheme) for run in runs}
    assert found == {(soft, scheme) for soft in (True, False) for scheme in ("BIO", "IO")}
    assert len({run.recipe.parts["weak"].weak_labels for run in runs}) == 1


def pair(
    gold: list[tuple[int, int, str]], said: list[tuple[int, int, str]]
) -> tuple[Document, list[Mention]]:
    mentions = tuple(Mention(((a, b),), kind) for a, b, kind in gold)
    return Document(id="d", text="x" * 20, mentions=mentions), [
        Mention(((a, b),), k, source="m") for a, b, k in said
    ]


def test_a_row_asks_for_one_type() -> None:
    gold = [(0, 2, "GENE"), (3, 5, "GENE"), (6, 8, "cell")]
    scores = row_scores(ROW, [pair(gold, [(0, 2, "Gene"), (6, 8, "CellType"), (9, 11, "Gene")])])
    assert (scores.counts.tp, scores.counts.fp, scores.counts.fn) == (1, 1, 1)


def test_the_table_has_the_mean_over_seeds_and_rows() -> None:
    gold = [(0, 2, "GENE"), (3, 5, "GENE")]
    half, whole = (
        row_scores(ROW, [pair(gold, [(a, b, "Gene") for a, b, _ in gold[:n]])]) for n in (1, 2)
    )
    scores = {"one": [{"r": half}, {"r": whole}], "two": [{"r": whole}, {"r": whole}]}
    shown = table({"arms": list(scores), "rows": facts(scores)})
    assert shown.count("83.33") == 2
    assert shown.count("+16.67") == 2


@pytest.mark.parametrize("part", ["dev", "test"])
def test_every_row_has_both_parts(part: str) -> None:
    from studies.labels.rows import ROWS

    assert all(row.files[part] for row in ROWS)
    assert len({row.name for row in ROWS}) == len(ROWS) == 8
