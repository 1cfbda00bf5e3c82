"""Packed runs, and the rows of combinations made from them."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fascicle.core.document import Document, Mention, Patch
from fascicle.core.files.source import Source
from fascicle.errors import InputError, OutputError
from fascicle.formats.predictions import Prediction, read, write
from fascicle.training.experiments.grid import read_grid
from studies import collect_predictions as collect_predictions
from studies.combining import gains, tables
from studies.combining import measure as module
from studies.common import GRIDS

pytest.importorskip("torch")
Keys = set[tuple[int, int]]
GOLD: dict[str, Keys] = {str(i): {(0, 1), (2, 3)} for i in range(6)}
SAID: dict[str, dict[str, Keys]] = {
    "spanpred": {i: {(0, 1), (2, 3), (4, 5)} for i in GOLD},
    "softmax": {i: {(0, 1), (2, 3)} | ({(6, 7)} if i in "01" else set()) for i in GOLD},
    "crf": {i: {(0, 1), (8, 9)} for i in GOLD},
}


def mentions(keys: Keys) -> tuple[Mention, ...]:
    return tuple(Mention((key,), "A", score=0.123456) for key in sorted(keys))


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Complete runs of three systems, packed."""
    pack = collect_predictions.pack
    for system, said in SAID.items():
        folder = tmp_path / "runs" / f"toy-{system}-s1"
        (folder / "predictions").mkdir(parents=True)
        facts = {
            "recipe": "toy",
            "data": {part: {"sha256": part} for part in ("dev", "test")},
            "environment": {},
        }
        (folder / "run.json").write_text(json.dumps(facts), encoding="utf-8")
        for name in ("dev-epoch-01", "dev", "test"):
            write(
                folder / "predictions" / f"{name}.tsv",
                [Prediction(id=i, mentions=mentions(k)) for i, k in said.items()],
            )
        with pytest.raises(InputError, match="holds no complete run"):
            pack(folder, tmp_path / "no")
        (folder / "scores.json").write_text("{}", encoding="utf-8")
        size = pack(folder, tmp_path / "packed" / folder.name)
        assert size == sum(
            p.stat().st_size for p in (tmp_path / "packed" / folder.name).rglob("*.*")
        )
        with pytest.raises(OutputError, match="exists already"):
            pack(folder, tmp_path / "packed" / folder.name)
    return tmp_path / "packed"


def test_packed_runs_say_the_same(runs: Path, tmp_path: Path) -> None:
    folder = runs / "toy-softmax-s1"
    assert "environment" not in json.loads((folder / "run.json").read_text(encoding="utf-8"))
    for name, score in (("dev", 0.1235), ("dev-epoch-01", None)):
        found = {
            p.id: p.mentions
            for p in read(Source(path=str(folder / "predictions" / f"{name}.tsv.gz")))
        }
        assert {i: {m.spans[0] for m in said} for i, said in found.items()} == SAID["softmax"]
        assert {m.score for said in found.values() for m in said} == {score}


def part(runs: Path, name: str) -> Any:
    documents = [
        Document(
            id=i, text="abcdefghij", mentions=tuple(Mention((key,), "A") for key in sorted(keys))
        )
        for i, keys in GOLD.items()
    ]
    return module.Part(documents=documents, sha256=name, name=name, runs=runs, corpus="toy")


def test_the_rows(runs: Path) -> None:
    chosen = module.choice(part(runs, "dev"))
    assert chosen["single"] == "SEQ"
    assert chosen["dev"]["combination"]["f1"] == 1.0  # SpanPred and SEQ both
    result = module.scored(part(runs, "test"), {**chosen, "date": "today"})
    rows = result["rows"]
    assert rows["chosen on dev"]["micro"]["f1"] == 1.0
    assert rows["SpanPred x SEQ"]["micro"]["precision"] == 1.0
    assert rows["SpanPred ∪ SEQ ∪ SeqCRF"]["micro"]["predicted"] == 6 * 4 + 2
    assert rows["SEQ"]["over_single"]["estimate"] == 0.0
    assert rows["chosen on dev"]["over_single"]["estimate"] == pytest.approx(1 - 24 / 26)
    assert not any("seeds" in name for name in rows)  # one seed is no control
    documents = part(runs, "test").documents
    other = module.Part(documents=documents, sha256="x", name="test", runs=runs, corpus="toy")
    with pytest.raises(InputError, match="saw another test part"):
        module.scored(other, chosen)


def test_gains_are_over_each_single_system(runs: Path) -> None:
    found = gains.gains(part(runs, "test"))
    assert set(found["SpanPred ∪ SEQ"]) == {"SpanPred", "SEQ", "SeqCRF"}
    assert set(found["SEQ"]) == {"SpanPred", "SeqCRF"}
    recall = found["SpanPred ∪ SEQ ∪ SeqCRF"]["SeqCRF"]["recall"]  # which finds one of two
    assert recall == [50.0, 50.0, 50.0]
    precision = found["SpanPred x SEQ"]["SpanPred"]["precision"]  # one of three is wrong
    assert precision == pytest.approx([100 / 3] * 3, abs=1e-3)
    for name, of in found.items():
        for alone, measures in of.items():
            if name in of and alone in found:
                assert found[alone][name]["f1"][0] == -measures["f1"][0]
    assert gains.earlier_epochs(part(runs, "test")) is None  # no filter was trained


def test_gains_of_filters(runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "load_filter", lambda folder: Keeper())
    for kind in ("meta2", "meta3", "meta3-best"):
        (tmp_path / "filters" / f"toy-{kind}-s1").mkdir(parents=True)
        held_out = json.dumps({"held_out": {"tp": 9, "fn": 1, "fp": 3, "tn": 1}})
        (tmp_path / "filters" / f"toy-{kind}-s1" / "scores.json").write_text(
            held_out, encoding="utf-8"
        )
    module.judge(part(runs, "test"), tmp_path / "filters")
    assert gains.earlier_epochs(part(runs, "test")) == [0.0, 0.0, 0.0]
    found = gains.gains(part(runs, "test"))["Meta(SpanPred ∪ SEQ)"]
    assert found["SpanPred"]["precision"][0] == pytest.approx(100 / 3, abs=1e-3)
    assert found["SpanPred"]["recall"] == [0.0, 0.0, 0.0]


def test_the_control_is_a_vote_of_seeds(runs: Path, tmp_path: Path) -> None:
    for seed in (2, 3):
        (runs / f"toy-softmax-s{seed}").symlink_to(runs / "toy-softmax-s1")
    result = module.scored(
        part(runs, "test"), {**module.choice(part(runs, "dev")), "date": "today"}
    )
    assert result["control"]["name"] == "2 seeds of SEQ, vote"
    assert result["control"]["estimate"] == pytest.approx(1 - 24 / 26)
    (tmp_path / "combining").mkdir()
    (tmp_path / "combining" / "bc5cdr.json").write_text(json.dumps(result), encoding="utf-8")
    lines = tables.control(tmp_path).splitlines()
    assert lines[-1].startswith("| bc5cdr | 2 seeds of SEQ, vote | +7.69 (")
    assert lines[-2] == "| genia-events | not measured | not measured |"
    rows = result["rows"]
    assert rows["3 seeds of SEQ, vote"]["micro"] == rows["SEQ"]["micro"]
    assert rows["2 seeds of SEQ, union"]["over_single"]["estimate"] == 0.0


def test_systems_beside_the_three_are_chosen_from_too(runs: Path) -> None:
    (runs / "toy-bundle-s1").symlink_to(runs / "toy-crf-s1")
    chosen = module.choice(part(runs, "dev"))
    assert "BL-SpanNER" in chosen["dev"]["singles"]
    assert "SpanNER" not in chosen["dev"]["singles"]
    rows = module.scored(part(runs, "test"), {**chosen, "date": "today"})["rows"]
    assert rows["BL-SpanNER"]["micro"] == rows["SeqCRF"]["micro"]


class Keeper:
    """In place of a filter: it keeps what is gold."""

    def judge(self, documents: list[Document], given: list[tuple[Mention, ...]]) -> list[Patch]:
        gold = [{(m.spans, m.type) for m in d.layer("gold")} for d in documents]
        kept = [
            tuple(m for m in said if (m.spans, m.type) in right)
            for said, right in zip(given, gold, strict=True)
        ]
        return [Patch(add=mentions) for mentions in kept]


def test_a_filter_is_held_against_its_member_that_was_best_on_dev(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "load_filter", lambda folder: Keeper())
    for kind in ("meta2", "meta3-best"):
        (tmp_path / "filters" / f"toy-{kind}-s1").mkdir(parents=True)
        held_out = json.dumps({"held_out": {"tp": 9, "fn": 1, "fp": 3, "tn": 1}})
        (tmp_path / "filters" / f"toy-{kind}-s1" / "scores.json").write_text(
            held_out, encoding="utf-8"
        )
    chosen = {**module.choice(part(runs, "dev")), "date": "today"}
    module.judge(part(runs, "test"), tmp_path / "filters")
    result = module.scored(part(runs, "test"), chosen)
    two, three = "Meta(SpanPred ∪ SEQ)", "Meta(SpanPred ∪ SEQ ∪ SeqCRF), without earlier epochs"
    assert list(result["filters"]) == [two, three]
    for name in (two, three):
        assert result["rows"][name]["micro"]["f1"] == 1.0
        gains = result["filters"][name]
        assert gains["over"] == "SEQ"
        assert gains["recall"]["estimate"] == 0.0
        assert gains["precision"]["estimate"] == pytest.approx(2 / 14)
    (tmp_path / "combining").mkdir()
    (tmp_path / "combining" / "bc5cdr.json").write_text(json.dumps(result), encoding="utf-8")
    assert f"| bc5cdr | {two} | SEQ | +14.29 (" in tables.filters(tmp_path)
    assert f"| {three} |" in tables.combining("bc5cdr", tmp_path)
    assert (
        tables.filters(tmp_path).splitlines()[-1].endswith("| 25 % of 4, 10 % of 10 | 100 %, 0 % |")
    )


def test_claims_are_differences_on_the_same_seeds(tmp_path: Path) -> None:

    grid = read_grid(GRIDS / "claims.toml")
    seeds = [
        dataclasses.replace(r, recipe=msgspec.structs.replace(r.recipe, seed=s))
        for r in grid.runs
        for s in (1, 2, 3)
    ]
    empty = dataclasses.replace(grid, path=tmp_path / "grids" / "claims.toml", runs=tuple(seeds))
    assert len(tables.claims(empty).splitlines()) == 2
    empty.results.mkdir(parents=True)
    for system, f1 in (("spanpred", 0.7), ("spanpred-specials", 0.6)):
        value = json.loads((grid.results / f"conll04-{system}-s1.json").read_text(encoding="utf-8"))
        value["dev"]["micro"]["f1"] = f1
        (empty.results / f"conll04-{system}-s1.json").write_text(
            json.dumps(value), encoding="utf-8"
        )
    rows = tables.claims(empty).splitlines()[2:]
    assert "| -10.00 (1 of 3 seeds) |" in rows[0]
    assert [row.endswith("| not run |") for row in rows] == [False, *[True] * 4]
