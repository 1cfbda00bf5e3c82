"""Tables of the studies of bundling on dev, of gradients and of costs, from results files that
the tests write.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.support.grids import ON_DEV, make_grid, store

from fascicle.training.experiments.grid import Grid, read_grid
from studies.bundling import study_tables as made
from studies.common import GRIDS
from studies.tests.tables import cells, rows


def test_the_studies_have_the_systems_of_the_grid() -> None:
    main, studies = (read_grid(GRIDS / f"{name}.toml") for name in ("bundling", "bundling-studies"))

    def plain(grid: Grid) -> dict[tuple[str, str], Any]:
        return {(r.corpus, r.system): r.recipe for r in grid.runs if not r.variant}

    shared = plain(studies).keys() & plain(main).keys()
    assert len(shared) == 6
    for key in shared:
        one, two = plain(studies)[key], plain(main)[key]
        for part in ("reading", "model", "bundle", "training", "decision"):
            assert getattr(one, part) == getattr(two, part), key
        assert (one.corpus.train, one.corpus.dev, one.corpus.test) == (
            two.corpus.train,
            two.corpus.dev,
            "",
        )
    assert not any(run.recipe.corpus.test for run in studies.runs)


@pytest.fixture
def studies(tmp_path: Path) -> Grid:
    bundle = 'model.family = "span"\nbundle = { family = "softmax", weight = 0.1 }'
    variants = {
        "alpha-0.5": "bundle.weight = 0.5",
        "crf": 'bundle.family = "crf"',
        "boundary": 'model.representation = "boundary"',
    }
    common = {"corpora": ["conll04"], "seeds": [1, 2]}
    of = [
        {"systems": ["bundle"]},
        {"systems": ["bundle"], "variants": list(variants)},
        {"systems": ["crf"]},
    ]
    return make_grid(
        tmp_path,
        "bundling-studies",
        corpora={"conll04": ON_DEV},
        systems={"crf": 'model.family = "crf"', "bundle": bundle},
        variants=variants,
        runs=[common | run for run in of],
    )


def test_weights(tmp_path: Path, studies: Grid) -> None:
    main = make_grid(
        tmp_path, "bundling", corpora=["conll04"], systems=["softmax"], runs=[{"seeds": [1, 2, 3]}]
    )
    store(main, "conll04-softmax-s1", dev=0.5)
    store(main, "conll04-softmax-s3", dev=0.6)  # a seed that the study does not have
    store(studies, "conll04-bundle-s1", dev=0.8)
    store(studies, "conll04-bundle-s2", dev=0.9)
    store(studies, "conll04-bundle-s2", head="softmax", dev=0.7)
    store(studies, "conll04-bundle-alpha-0.5-s1", dev=0.6)
    store(studies, "conll04-bundle-alpha-0.5-s1", head="softmax", dev=0.5)
    assert [row[1:] for row in cells(made.weights(studies, main))] == [
        ["70.00 (1 of 2 seeds)", "85.00 ± 7.07"],
        ["50.00 (1 of 2 seeds)", "60.00 (1 of 2 seeds)"],
        ["50.00 (1 of 2 seeds)", "not run"],
    ]


def test_taggers_vectors_and_other_models(studies: Grid) -> None:
    store(studies, "conll04-crf-s1", dev=0.5)
    store(studies, "conll04-crf-s2", dev=0.7)
    store(studies, "conll04-bundle-crf-s2", dev=0.8)
    store(studies, "conll04-bundle-crf-s2", head="crf", dev=0.75)
    store(studies, "conll04-bundle-boundary-s1", dev=0.4)
    softmax, crf = cells(made.taggers(studies))
    assert softmax[1:] == ["", "not run", "not run"]
    assert crf[1:] == ["60.00 ± 14.14", "75.00 (1 of 2 seeds)", "80.00 (1 of 2 seeds)"]
    boundary, pooling, hybrid = cells(made.representations(studies))
    assert boundary == ["boundary", "", "40.00 (1 of 2 seeds)", "not run"]
    assert (pooling[2], hybrid[2]) == ("", "not run")
    gains = [
        row["gain, same seeds"]
        for row in rows(made.others(studies, studies))
        if "SeqCRF" in row.values()
    ]
    assert gains == ["+5.00 (1 of 2 seeds)", "not planned"]


def test_a_bundle_with_binder_beside_binder_of_its_own_plan(tmp_path: Path, studies: Grid) -> None:
    alone = make_grid(
        tmp_path,
        "binder",
        corpora={"conll04": ON_DEV},
        systems={"binder": 'model.family = "binder"'},
        runs=[{"corpora": ["conll04"], "systems": ["binder"], "seeds": [1, 2]}],
    )
    bundled = 'model.family = "binder"\nbundle = { family = "softmax", weight = 0.1 }'
    studies = make_grid(
        tmp_path,
        "bundling-studies",
        corpora={"conll04": ON_DEV},
        systems={"binder-bundle": bundled},
        runs=[{"corpora": ["conll04"], "systems": ["binder-bundle"], "seeds": [1, 2]}],
    )
    store(alone, "conll04-binder-s1", dev=0.5)
    store(alone, "conll04-binder-s2", dev=0.9)
    store(studies, "conll04-binder-bundle-s1", dev=0.6)
    (row,) = (row for row in rows(made.others(studies, alone)) if "BINDER" in row.values())
    assert row["gain, same seeds"] == "+10.00 (1 of 2 seeds)"


def test_cells_of_the_real_studies_are_planned() -> None:
    """No table asks for a cell that the grid does not have, so that none stays empty for ever."""
    real, main = (read_grid(GRIDS / f"{name}.toml") for name in ("bundling-studies", "bundling"))
    binder = read_grid(GRIDS / "binder.toml")
    texts = [made.taggers(real), made.representations(real), made.others(real, binder)]
    assert not {"", "not planned"} & {cell for text in texts for row in cells(text) for cell in row}
    weights = rows(made.weights(real, main))
    assert [row["dev F1"] for row in weights[:-1]] == [f"alpha = 0.{i}" for i in range(1, 10, 2)]
    assert all(row["conll04, BL-SeqNER"] for row in weights)
