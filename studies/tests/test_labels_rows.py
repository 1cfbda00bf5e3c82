"""The study of hard and soft labels: its plan can be read, its sample is repeatable, its rows
are scored by hand.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fascicle.core.document import Document, Mention
from fascicle.formats import read, write
from fascicle.formats.weak_labels import (
    End,
    Header,
    pack_labels,
    pack_lines,
    read_entries,
    read_labels,
)
from fascicle.training.experiments.grid import read_grid
from studies.common import GRIDS
from studies.labels.open_texts import main, opened
from studies.labels.rows import Row, facts, row_scores, table
from studies.labels.sample import sample

ROW = Row(corpus="x", files={}, label="GENE", type="Gene")


def test_the_plan_has_four_arms_of_the_same_texts() -> None:
    runs = read_grid(GRIDS / "labels.toml").runs
    assert len(runs) == 8
    found = {(run.recipe.parts["weak"].soft or False, run.recipe.model.head.scheme) for run in runs}
    assert found == {(soft, scheme) for soft in (True, False) for scheme in ("BIO", "IO")}
    assert len({run.recipe.parts["weak"].weak_labels for run in runs}) == 1


def test_a_sample_depends_on_ids_alone() -> None:
    documents = [Document(id=f"d{n}", text="x" * (10 + n % 3)) for n in range(50)]
    found = sample(documents, characters=120, longest=11)
    assert found == sample(documents[::-1], characters=120, longest=11)
    assert 100 < sum(len(document.text) for document in found) <= 120
    assert {len(document.text) for document in found} == {10, 11}


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


def test_only_texts_whose_licence_leaves_no_use_out_may_teach_what_ships(tmp_path: Path) -> None:
    licences = [
        "CC BY 4.0",
        "CC BY-NC 4.0",
        "as PubMed",
        "CC BY-SA 4.0",
        "not stated (abstract only)",
        "CC0",
    ]
    texts = [
        Document(id=f"d{n}", text=f"word {'x' * n}", meta={"license": one})
        for n, one in enumerate(licences)
    ]
    write(str(tmp_path / "sample.jsonl"), texts)
    shape = {
        "types": ("A",),
        "scheme": "BIO",
        "meaning": "sigmoid",
        "segmenter": "rules@1",
        "floor": 0.1,
    }
    header = Header(model="m", sha256="0" * 64, release="0", **shape)  # type: ignore[arg-type]
    said = [
        (np.array([[n % 2 == 0, False]] * count), np.full((count, 2), n / 9))
        for n, count in enumerate([1, *[2] * 5])
    ]
    entries = [
        pack_labels(d, tags=t, probabilities=p, floor=0.1)
        for d, (t, p) in zip(texts, said, strict=True)
    ]
    end = End(documents=6, words=11, mentions={"A": 5}, left_out={"copy": 1})
    (tmp_path / "sample.labels").write_bytes(pack_lines([header, *entries, end]))
    assert (
        main(
            [
                *(str(tmp_path / f"sample.{kind}") for kind in ("jsonl", "labels")),
                "-o",
                str(tmp_path / "open"),
            ]
        )
        == 0
    )
    left = list(read(tmp_path / "open.jsonl"))
    assert [one.id for one in left] == ["d0", "d2", "d5"]
    found = list(read_labels(tmp_path / "open.labels", left))
    assert [labels.document.id for labels in found] == ["d0", "d2", "d5"]
    for labels in found:
        n = int(labels.document.id[1:])
        assert labels.tags.tolist() == said[n][0].tolist()
        np.testing.assert_allclose(labels.probabilities, said[n][1], atol=1 / 510)
    *_, last = read_entries(tmp_path / "open.labels")[1]
    assert last == End(documents=3, words=5, mentions={"A": 3}, left_out={"copy": 1, "licence": 3})
    with pytest.raises(ValueError, match="licence"):
        opened(['{"id": "a", "text": "x"}'])
