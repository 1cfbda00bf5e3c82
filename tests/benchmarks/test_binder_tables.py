"""Tables of the study of BINDER, from results files that the tests write."""

from __future__ import annotations

import importlib
import json
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from fascicle.experiments.grid import Grid, read_grid
from fascicle.experiments.hashes import recipe_hash

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
PAGE = BENCHMARKS.parent / "docs" / "studies" / "binder-tables.md"


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module("binder_tables")


@pytest.fixture
def paper(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module("binder_paper")


def rows(table: str) -> list[dict[str, str]]:
    lines = [[c.strip() for c in x.strip("|").split("|")] for x in table.splitlines() if x.startswith("|")]
    return [dict(zip(lines[0], cells, strict=True)) for cells in lines[2:]]


GRID = """\
name = "binder"
compare = "crf"
[recipe]
model.encoder = "tiny"
corpus = { train = "a", dev = "b", test = "c" }
[corpora.conll04]
[corpora.bc5cdr]
[systems.softmax]
[systems.crf]
model.family = "crf"
[systems.spanner]
model.family = "span"
[systems.binder]
model.family = "binder"
[variants.shared]
model.shared = true
[variants.rate]
training.learning_rate = 2e-4
corpus.test = ""
[[run]]
corpora = ["conll04", "bc5cdr"]
systems = ["softmax", "crf", "spanner", "binder"]
seeds = [1, 2]
tier = "cpu"
[[run]]
corpora = ["conll04"]
systems = ["binder"]
variants = ["shared", "rate"]
seeds = [1, 2, 3]
tier = "cpu"
"""
DISTANT = """\
name = "distant"
[recipe]
model.encoder = "tiny"
corpus = { train = "a", dev = "b", test = "c" }
distant.core = "d"
[corpora.bc5cdr]
[systems.softmax]
[systems.binder]
model.family = "binder"
[variants.raw]
distant.rule = "raw"
[[run]]
corpora = ["bc5cdr"]
systems = ["softmax", "binder"]
seeds = [1, 2]
tier = "cpu"
[[run]]
corpora = ["bc5cdr"]
systems = ["binder"]
variants = ["raw"]
seeds = [1]
tier = "cpu"
"""
NOISE = """\
name = "noise"
[recipe]
model.encoder = "tiny"
corpus = { train = "a", dev = "b", test = "c" }
[corpora."conll04-drop-0.1"]
[corpora."conll04-drop-0.2"]
[corpora."conll04-drop-0.4"]
[systems.softmax]
[systems.spanner]
model.family = "span"
[systems.binder]
model.family = "binder"
[[run]]
corpora = ["conll04-drop-0.1", "conll04-drop-0.2", "conll04-drop-0.4"]
systems = ["softmax", "spanner", "binder"]
seeds = [1]
tier = "cpu"
"""


def grid_of(text: str, folder: Path) -> Grid:
    name = re.search(r'name = "(\w+)"', text)
    assert name
    path = folder / f"{name[1]}.toml"
    path.write_text(text, encoding="utf-8")
    (folder / "results" / name[1]).mkdir(parents=True)
    return read_grid(path)


def on_test(grid: Grid, name: str, counts: list[list[int]]) -> None:
    """Writes the result of a run, with the counts of true positives, false positives and false negatives."""
    run = next(run for run in grid.runs if run.name == name)
    tp, fp, fn = (sum(c[i] for c in counts) for i in range(3))
    data = {part: part for part in ("train", "dev", "test", *(["distant.core"] if run.recipe.distant else []))}
    micro = {"precision": tp / (tp + fp), "recall": tp / (tp + fn), "f1": 2 * tp / (2 * tp + fp + fn)}
    value = {
        "hash": recipe_hash(run.recipe, data),
        "dev": {"micro": micro},
        "test": {"micro": micro},
        "test_counts": counts,
        "test_f1_interval": {"estimate": micro["f1"], "low": micro["f1"] - 0.1, "high": micro["f1"] + 0.1},
        "facts": {"data": {part: {"sha256": sha} for part, sha in data.items()}},
    }
    (grid.results / f"{name}.json").write_text(json.dumps(value), encoding="utf-8")


def test_nothing_is_run(made: ModuleType, tmp_path: Path) -> None:
    """Every table stands without a single result."""
    grid, weak, noise = (grid_of(text, tmp_path) for text in (GRID, DISTANT, NOISE))
    results = tmp_path / "results"
    texts = [
        made.supervised(grid),
        made.beside(grid, grid),
        made.distant(weak),
        made.noise(noise, grid),
        made.goals(grid, weak),
    ]
    texts += [made.variants(grid, number) for number in (4, 5, 6)]
    parts = (made.breakdown, made.partly, made.densities, made.unseen, made.reworded)
    texts += [of(results) for of in (made.rules, made.cost, made.contrast, *parts)]
    assert all("not run" in text for text in texts)


def test_supervised_beside_the_paper(made: ModuleType, tmp_path: Path) -> None:
    grid = grid_of(GRID, tmp_path)
    on_test(grid, "bc5cdr-crf-s1", [[8, 2, 2], [6, 4, 4]])
    on_test(grid, "bc5cdr-binder-s1", [[9, 1, 1], [6, 4, 4]])
    on_test(grid, "bc5cdr-binder-s2", [[9, 1, 1], [7, 3, 3]])
    conll04, bc5cdr = rows(made.supervised(grid))
    assert (conll04["test F1"], conll04["BINDER"], conll04["paper: BINDER"]) == ("conll04", "not run", "")
    assert bc5cdr["SeqCRF"] == "70.00 (1 of 2 seeds)"
    assert bc5cdr["BINDER"] == "77.50 ± 3.54"
    assert bc5cdr["paper: BINDER"] == "91.9"
    assert bc5cdr["paper: beside it"] == "90.9, Wang et al."
    # One seed is common; of two documents one differs, and both may be drawn twice.
    conll04, *bc5cdr = rows(made.beside(grid, grid))
    assert (conll04["BINDER less"], conll04["SeqCRF"]) == ("F1", "not run")
    assert [row["BINDER less"] for row in bc5cdr] == ["F1", "precision", "recall"]
    assert [row["SeqCRF"] for row in bc5cdr] == ["+5.00 (+0.0 to +10.0)"] * 3
    assert {(row["SEQ"], row["biaffine"]) for row in bc5cdr} == {("not run", "")}


def test_variants_beside_the_paper(made: ModuleType, tmp_path: Path) -> None:
    grid = grid_of(GRID, tmp_path)
    for name, right in (("conll04-binder-s1", 8), ("conll04-binder-shared-s1", 7), ("conll04-binder-shared-s3", 9)):
        on_test(grid, name, [[right, 10 - right, 10 - right]])
    full, shared, *others = rows(made.variants(grid, 4))
    assert full["Table 4"] == "full model"
    assert (full["conll04, F1"], full["conll04, F1 less the full model"]) == ("80.00 (1 of 2 seeds)", "")
    assert (shared["conll04, P"], shared["conll04, R"]) == ("80.00 ± 14.14 (2 of 3 seeds)",) * 2
    assert shared["conll04, F1 less the full model"] == "-10.00 (-10.0 to -10.0) (1 of 2 seeds)"
    assert shared["paper, ACE2005: P / R / F1"] == "89.3 / 89.3 / 89.3"
    assert {row["conll04, F1"] for row in others} == {""}  # not planned here
    assert others[-1]["paper, ACE2005: P / R / F1"] == ""


def test_variants_with_intervals_over_seeds_and_documents(made: ModuleType, tmp_path: Path) -> None:
    """Of two seeds and two documents, of which only one differs with one seed, every draw is known."""
    grid = grid_of(GRID, tmp_path)
    for name, right in (("binder-s1", 5), ("binder-s2", 5), ("binder-shared-s1", 5), ("binder-shared-s2", 9)):
        on_test(grid, f"conll04-{name}", [[5, 5, 5], [right, 10 - right, 10 - right]])
    shared = rows(made.variants(grid, 4))[1]
    # Gains are 0 and 0 with the first seed, 0 and 40 with the second: at most 40, where both draws are of the second.
    assert shared["conll04, F1 less the full model"] == "+10.00 (+0.0 to +40.0)"


def test_distant_beside_the_paper(made: ModuleType, tmp_path: Path) -> None:
    weak = grid_of(DISTANT, tmp_path)
    for seed in (1, 2):
        on_test(weak, f"bc5cdr-softmax-s{seed}", [[5, 5, 5], [6, 4, 4]])
        on_test(weak, f"bc5cdr-binder-s{seed}", [[6, 4, 4], [7, 3, 3]])
    on_test(weak, "bc5cdr-binder-raw-s1", [[4, 6, 6], [5, 5, 5]])
    micro = {"precision": 0.8, "recall": 0.5, "f1": 0.6}
    said = {"raw": {"test": {"micro": micro, "types": {}}}}
    (tmp_path / "results" / "distant.json").write_text(json.dumps(said), encoding="utf-8")
    found, before = rows(made.distant(weak)), "F1 less that of the labels before"
    assert list(found[0].values()) == ["dictionary alone, as written", "", "80.00", "50.00", "60.00", "", ""]
    assert found[1]["F1"] == "not run"
    raw, binder, _ = (row for row in found if row["test"] == "BINDER")
    assert (raw["labels"], raw["F1"]) == ("as written", "45.00")
    assert (binder["labels"], binder["F1"]) == ("three casings, with phrases", "65.00 ± 0.00")
    assert (raw[before], binder[before]) == ("", "+20.00 (+20.0 to +20.0)")
    assert binder["F1 less SEQ, each seed"] == "+10.00 (+10.0 to +10.0); +10.00 (+10.0 to +10.0)"
    assert [row["test"] for row in found if row["labels"] == "as written"] == ["BINDER"]
    assert [row["F1"] for row in found if row["labels"] == "paper"][-1] == "81.6"
    gains = [
        row for row in rows(made.goals(grid_of(GRID, tmp_path), weak)) if "less matching *as written*" in row["what"]
    ]
    same, other = gains  # the labels that BINDER was taught come first, other labels are named as such
    assert (same["goal"], same["measured"]) == ("none", "-15.00")
    assert (other["goal"], other["measured"]) == ("+8", "+5.00")
    assert ("other labels" in same["what"], "other labels" in other["what"]) == (False, True)


def test_labels_by_mention_and_by_word(made: ModuleType, tmp_path: Path) -> None:
    rates = {"precision": 0.5, "recall": 0.25, "f1": 0.33}
    said = {
        "reported": [
            {"source": "list", "rule": "raw", "part": "train", "type": "Disease", "precision": 1, "recall": 2}
        ],
        "raw": {"train": {"types": {"Disease": rates}, "words": {"types": {"Disease": dict(rates, recall=1.0)}}}},
    }
    (tmp_path / "distant.json").write_text(json.dumps(said), encoding="utf-8")
    found = rows(made.rules(tmp_path))
    assert list(found[1].values()) == [
        "as written",
        "train",
        "Disease",
        "50.0 / 25.0",
        "50.0 / 100.0",
        "1.0 / 2.0 (list)",
    ]
    assert {(row["mentions: P / R"], row["words: P / R"]) for row in (found[0], *found[2:])} == {("not run",) * 2}


def test_noise_against_none(made: ModuleType, tmp_path: Path) -> None:
    clean, noise = grid_of(GRID, tmp_path), grid_of(NOISE, tmp_path)
    on_test(clean, "conll04-binder-s1", [[8, 2, 2]])
    on_test(noise, "conll04-drop-0.2-binder-s1", [[6, 4, 4]])
    on_test(noise, "conll04-drop-0.2-softmax-s1", [[5, 5, 5]])
    none, first, second, _ = rows(made.noise(noise, clean))
    assert (none["noise"], none["BINDER"], none["BINDER less SEQ"]) == ("none", "80.00 (1 of 2 seeds)", "not run")
    assert (first["share"], first["BINDER"], first["BINDER, less no noise"]) == ("0.1", "not run", "not run")
    assert (second["BINDER"], second["BINDER, less no noise"]) == ("60.00", "-20.00 (-20.0 to -20.0)")
    assert second["SEQ, less no noise"] == "not run"  # there is no clean run
    assert second["BINDER less SEQ"] == "+10.00 (+10.0 to +10.0)"
    on_test(noise, "conll04-drop-0.2-spanner-s1", [[6, 2, 4]])
    empty, parts, *_ = rows(made.noise_parts(noise))
    assert (empty["share"], empty["BINDER, precision"]) == ("0.1", "not run")
    assert (parts["share"], parts["SpanNER, precision"], parts["SpanNER, recall"]) == ("0.2", "75.00", "60.00")
    assert (parts["BINDER, precision"], parts["SEQ, recall"]) == ("60.00", "50.00")


def test_what_is_measured_apart_from_grids(made: ModuleType, tmp_path: Path) -> None:
    ratio = {"median": 1.25, "low": 1.2, "high": 1.3}
    speed = {"binder": {"words_per_cpu_second": 1234, "ratio": ratio}, "softmax": {"words_per_cpu_second": 1500}}
    cost = {
        "training": {**speed, "per_type": speed["binder"]},
        "inference": {key: {**speed, "mentions": {"binder": 9}} for key in ("torch", "fp32", "int8")},
    }
    (tmp_path / "binder_cost.json").write_text(json.dumps(cost), encoding="utf-8")
    found = {row.pop("words a CPU second (time over SEQ)"): list(row.values()) for row in rows(made.cost(tmp_path))}
    assert found["SEQ (softmax tagger)"][0] == "1,500"
    assert found["BINDER, one encoder"][1] == "1,234 (1.25, 1.20 to 1.30)"
    assert found["one pass for each type"][2:] == ["no export", "no export", "", "147", "1,110"]
    assert found["BINDER, one encoder"][4] == "9"
    assert found["SeqCRF"][0] == "not run"
    pair = {"type": "A", "predicted": "a|b", "predicted_in_training": 2, "gold": "b", "gold_in_training": 0, "times": 3}
    partly = {
        "pairs": 3,
        "kinds": {"left, longer": 3},
        "training": {"predicted": 3, "gold": 0, "same": 0, "neither": 0},
    }
    rules = ("span", "start", "end", "loose")
    f1 = {
        k: dict(zip(rules, of, strict=True))
        for k, of in {"ALL": (0.5, 0.6, 0.7, 0.8), "A": (0.1, 0.2, 0.3, 0.4)}.items()
    }
    run = {"f1": f1, "partly_right": {**partly, "most_frequent": [pair]}}
    (tmp_path / "binder_analysis.json").write_text(json.dumps({"runs": {"x-s1": run}}), encoding="utf-8")
    first, second, *_ = (list(row.values()) for row in rows(made.breakdown(tmp_path)))
    assert first == ["`x-s1`", "A", "10.0", "20.0", "30.0", "40.0"]
    assert second[1:] == ["ALL", "50.0", "60.0", "70.0", "80.0"]
    text = made.partly(tmp_path)
    assert "3 predictions are right but for a boundary (left, longer 3)" in text
    assert "| A | a\\|b (2) | b (0) | 3 |" in text


def test_densities_in_numbers(made: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "binder-densities").mkdir()
    counts = {"entity": [1, 0, 0, 9], "non-entity": [999, 1, 0, 0], "threshold": [0, 0, 2, 0]}
    panel = {"title": "x-s1: Cell", "edges": [-2, -1, 0, 1, 2], "counts": counts}
    (tmp_path / "binder-densities" / "x-s1.json").write_text(json.dumps({"panels": [panel]}), encoding="utf-8")
    (row,) = rows(made.densities(tmp_path))
    assert list(row.values()) == ["`x-s1`", "Cell", "-1.0, 2.0, 2.0", "1.0, 1.0, 1.0", "-1.0"]


def test_types_that_were_left_out(made: ModuleType, tmp_path: Path) -> None:
    def scores(f1: float) -> dict[str, Any]:
        micro = {"precision": f1, "recall": f1, "f1": f1, "support": 7}
        return {"micro": micro, "f1_interval": {"low": f1 - 0.1, "high": f1 + 0.1}}

    hindsight = {"precision": 0.6, "recall": 0.4, "f1": 0.48, "found": 9}
    runs = {
        "all-s1": {
            "seed": 1,
            "left_out": [],
            "trained": {"Cell": scores(0.8), "Organ": scores(0.7)},
            "all": {"description": scores(0.75), "keyword": scores(0.5), "name": scores(0.25)},
        },
        "less-s1": {
            "seed": 1,
            "left_out": ["Cell"],
            "types": {"Cell": {"alone": scores(0.3), "together": scores(0.2), "in_hindsight": hindsight}},
        },
    }
    (tmp_path / "unseen_types.json").write_text(json.dumps({"runs": runs}), encoding="utf-8")
    (row,) = rows(made.unseen(tmp_path))
    assert list(row.values()) == [
        "Cell",
        "7",
        "1",
        "30.0 / 30.0 / 30.0 (20.0 to 40.0)",
        "20.0 / 20.0 / 20.0 (10.0 to 30.0)",
        "60.0 / 40.0 / 48.0",
        "80.0",
    ]
    found = [list(row.values()) for row in rows(made.reworded(tmp_path))]
    assert found[0] == ["the description it was trained on", "1", "75.0 / 75.0 / 75.0 (65.0 to 85.0)"]
    assert [row[2][:4] for row in found] == ["75.0", "50.0", "25.0"]


def test_the_lead_depends_on_the_run_of_the_crf(made: ModuleType, tmp_path: Path) -> None:
    leads = importlib.import_module("binder_leads")
    part = {"facts": {"data": {"test": {"sha256": "no abstracts are known"}}}}

    def wrote(plan: str, name: str, tp: int) -> None:
        (tmp_path / plan).mkdir(exist_ok=True)
        value = part | {"test": {"micro": {"f1": tp / 10}}, "test_counts": [[tp, 10 - tp, 10 - tp]] * 2}
        (tmp_path / plan / f"{name}.json").write_text(json.dumps(value), encoding="utf-8")

    wrote("binder", leads.FIRST, 8)
    wrote("first", "ncbi-disease-crf-s1", 6)
    wrote("bundling", "ncbi-disease-crf-s1", 9)
    found = {row["run of SeqCRF"]: row for row in rows(leads.leads(tmp_path))}
    assert found["`first/ncbi-disease-crf-s1`"]["BINDER less it"].startswith("+20.00")
    assert found["`bundling/ncbi-disease-crf-s1`"]["BINDER less it"].startswith("-10.00")
    assert found["`combining/ncbi-disease-crf-s1`"]["its test F1"] == "not run"


def test_the_numbers_of_the_paper_fit_each_other(paper: ModuleType) -> None:
    """F1 of printed precision and recall, rounded to one digit each."""
    printed = [numbers for of in paper.TABLES.values() for _, numbers in of.values() if numbers]
    for precision, recall, f1 in (*printed, *paper.DISTANT.values()):
        assert abs(2 * precision * recall / (precision + recall) - f1) < 0.16, (precision, recall, f1)
    assert {of[""][1] for of in paper.TABLES.values()} == {(89.1, 89.8, 89.5)}


@pytest.mark.slow
def test_cells_of_the_real_grids_are_planned(made: ModuleType) -> None:
    """No table asks for a cell that no plan has, so that none stays empty for ever."""
    binder, weak, noise = (read_grid(BENCHMARKS / "grids" / f"{n}.toml") for n in ("binder", "distant", "noise"))
    systems = ("SEQ", "SeqCRF", "SpanNER", "BINDER")
    assert all(row[name] for row in rows(made.supervised(binder)) for name in systems)
    for number in (4, 5, 6):
        for row in rows(made.variants(binder, number)):
            assert all(row[f"{corpus}, {w}"] for corpus in made.VARIANT_CORPORA for w in ("P", "R", "F1")), row
    assert all(row["F1"] for row in rows(made.distant(weak)))
    for row in rows(made.noise(noise, binder)):
        assert all(row[name] for name in ("SEQ", "SpanNER", "BINDER")), row


def test_the_page_has_every_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(BENCHMARKS)
    tables = importlib.import_module("tables")
    names = re.findall(r"<!-- table ([\w-]+) -->", PAGE.read_text(encoding="utf-8"))
    own = {name for name in tables.TABLES if name.startswith("binder-")}
    assert set(names) == own | {"binder", "binder-dev", "distant"}
    assert PAGE in tables.PAGES


def test_curves_of_noise(made: ModuleType, tmp_path: Path) -> None:
    drawn = importlib.import_module("noise_curves")
    clean, noise = grid_of(GRID, tmp_path), grid_of(NOISE, tmp_path)
    on_test(clean, "conll04-binder-s1", [[8, 2, 2]])
    on_test(clean, "conll04-binder-s2", [[9, 1, 1]])
    assert drawn.curves(noise, clean) == {}
    on_test(noise, "conll04-drop-0.2-binder-s1", [[6, 4, 4]])
    found = drawn.curves(noise, clean)
    assert list(found) == [("conll04", kind) for kind in ("drop", "shift", "flip")]
    points = found["conll04", "drop"]["binder"]
    assert [(p.share, p.f1) for p in points] == [(0.0, pytest.approx(80)), (0.2, pytest.approx(60))]
    assert all(p.low <= p.f1 <= p.high for p in points)
    assert found["conll04", "drop"]["softmax"] == []
    with drawn.sheet() as figure:
        drawn.draw(figure, found)
        lines = [line for line in figure.axes[0].get_lines() if line.get_label() == "BINDER"]
    assert [list(line.get_ydata()) for line in lines] == [[pytest.approx(80), pytest.approx(60)]]
    assert [axes.get_title() for axes in figure.axes][:2] == ["conll04: dropped", "conll04: shifted by a word"]
