"""A model that is sent to the workers of joblib, Dask and datasets, as their users send one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from tests.support.finder import Finder

import fascicle

TEXTS = [f"Lithium gave no tremor to patient {number}." for number in range(6)]
NAMES = "Chemical\tlithium\nDisease\ttremor\n"


@pytest.fixture(params=["names.tsv", "biomed-fast"])
def found(request: pytest.FixtureRequest, tmp_path: Path) -> Finder:
    (tmp_path / "names.tsv").write_text(NAMES, encoding="utf-8")
    named = tmp_path / "names.tsv" if request.param == "names.tsv" else request.param
    return Finder(fascicle.load(named))


@pytest.fixture
def expected(found: Finder) -> list[list[list[str]]]:
    mentions = [found(text)[0] for text in TEXTS]
    assert all(["Chemical", "Lithium"] in of_one for of_one in mentions)
    return mentions


def check(results: Any, expected: list[list[list[str]]]) -> None:
    mentions, processes = zip(*results, strict=True)
    assert list(mentions) == expected
    assert os.getpid() not in processes


def test_joblib(found: Finder, expected: list[list[list[str]]]) -> None:
    joblib = pytest.importorskip("joblib")
    check(joblib.Parallel(n_jobs=2)(map(joblib.delayed(found), TEXTS)), expected)


def test_dask(found: Finder, expected: list[list[list[str]]]) -> None:
    bag = pytest.importorskip("dask.bag")
    results = bag.from_sequence(TEXTS, npartitions=2).map(found)
    check(results.compute(scheduler="processes", num_workers=2), expected)


def test_datasets(found: Finder, expected: list[list[list[str]]]) -> None:
    datasets = pytest.importorskip("datasets")

    def answer(row: dict[str, str]) -> dict[str, Any]:
        mentions, process = found(row["text"])
        return {"mentions": mentions, "process": process}

    rows = datasets.Dataset.from_dict({"text": TEXTS}).map(answer, num_proc=2)
    check([(row["mentions"], row["process"]) for row in rows], expected)
