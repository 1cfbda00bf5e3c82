"""The scripts that look at trained bi-encoders: what is partly right, similarities, types
described later, 8 bits.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.support.runs import finish

from fascicle.core.document import GOLD, Document, Mention
from fascicle.errors import InputError
from fascicle.loading import load
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.settings.types import read_types
from fascicle.training.corpus import read_part
from fascicle.training.experiments.grid import GridRun
from studies import common
from studies.binder import analysis, distant, unseen_types
from studies.binder.densities_picture import load_densities
from studies.common import GRIDS, ROOT
from studies.speed import int8_heads

Maker = Callable[..., Recipe]


@pytest.fixture(autouse=True)
def results(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The results of scripts go to a folder of the test."""
    monkeypatch.setattr(common, "RESULTS", tmp_path / "results")
    return tmp_path / "results"


@pytest.fixture(scope="module")
def binder(tiny_recipe: Maker, toy_corpus: Path, toy_types: Path) -> Callable[..., Recipe]:
    def make(**corpus: Any) -> Recipe:
        model = {"family": "binder", "type_view": "description", "types": str(toy_types)}
        return tiny_recipe(
            model=model, corpus={"test": str(toy_corpus), **corpus}, training={"epochs": 6}
        )

    return make


@pytest.fixture(scope="module")
def trained(
    binder: Callable[..., Recipe], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Recipe, Path]:
    recipe, folder = binder(), tmp_path_factory.mktemp("binder") / "run"
    finish(recipe, folder)
    return recipe, folder


def test_the_analysis_of_a_run(
    trained: tuple[Recipe, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    script, folder = analysis, trained[1]
    monkeypatch.setattr("sys.argv", ["binder_analysis.py", str(folder), "--bins", "20"])
    script.main()
    value = json.loads((tmp_path / "results" / "binder_analysis.json").read_text(encoding="utf-8"))[
        "runs"
    ]["run"]
    scores = json.loads((folder / "scores.json").read_text(encoding="utf-8"))["test"]
    assert value["f1"]["ALL"]["span"] == scores["micro"]["f1"]
    assert {k: of["span"] for k, of in value["f1"].items() if k != "ALL"} == {
        k: of["f1"] for k, of in scores["types"].items()
    }
    for of in value["f1"].values():
        assert of["span"] <= min(of["start"], of["end"])
        assert max(of["start"], of["end"]) <= of["loose"]
    assert value["partly_right"]["pairs"] == sum(value["partly_right"]["kinds"].values())
    made = json.loads(
        (tmp_path / "results" / "binder-densities" / "run.json").read_text(encoding="utf-8")
    )
    assert load_densities(str(tmp_path / "results" / "binder-densities" / "run.json")).note == ""
    assert [panel["title"] for panel in made["panels"]] == ["run: Chemical", "run: Disease"]
    for panel, kind in zip(made["panels"], ("Chemical", "Disease"), strict=True):
        assert len(panel["edges"]) == 21
        assert {name: len(counts) for name, counts in panel["counts"].items()} == dict.fromkeys(
            ("entity", "non-entity", "threshold"), 20
        )
        told = value["similarities"]["types"][kind]
        assert (
            sum(panel["counts"]["entity"])
            == told["entity"]
            == told["gold"]
            == scores["types"][kind]["support"]
        )
        assert sum(panel["counts"]["threshold"]) == 10
        assert sum(panel["counts"]["non-entity"]) == told["non-entity"]


def test_runs_that_cannot_be_analysed(tiny_run: Path, tmp_path: Path) -> None:
    script = analysis
    with pytest.raises(InputError, match=r"has the family 'softmax'; give one of 'binder'$"):
        script.analysed(tiny_run, "test", bins=5)
    with pytest.raises(
        InputError, match=r"holds no complete run; give the folder of a training run$"
    ):
        script.analysed(tmp_path, "test", bins=5)


def test_a_type_that_was_left_out(
    binder: Callable[..., Recipe], toy_types: Path, tmp_path: Path
) -> None:
    script = unseen_types
    folder = tmp_path / "run"
    recipe = binder(types={"drop": ["Disease"]})
    finish(recipe, folder)
    value = script.measured(folder)
    assert (value["left_out"], value["seed"]) == (["Disease"], 1)
    gold = read_part(binder().corpus, "test")
    diseases = {(d.id, m.spans) for d in gold for m in d.layer(GOLD) if m.type == "Disease"}
    (tmp_path / "one.toml").write_text(
        script.as_toml(read_types(toy_types).select(["Disease"])), encoding="utf-8"
    )
    for way, file in (("alone", tmp_path / "one.toml"), ("together", toy_types)):
        patches = load(folder / "best", types=file, links=False).predict(gold)
        said = {
            (d.id, m.spans)
            for d, p in zip(gold, patches, strict=True)
            for m in p.add
            if m.type == "Disease"
        }
        micro = value["types"]["Disease"][way]["micro"]
        assert (micro["support"], micro["predicted"], micro["tp"]) == (
            len(diseases),
            len(said),
            len(said & diseases),
        )
    far, near = (
        script.predicted(folder, read_types(tmp_path / "one.toml"), gold, lower=x)
        for x in (12.0, 0.0)
    )
    assert sum(map(len, far)) > sum(map(len, near))
    assert value["types"]["Disease"]["in_hindsight"] == best_of_all_cutoffs(
        far, [d.id for d in gold], diseases
    )
    assert (
        value["types"]["Disease"]["in_hindsight"]["f1"]
        >= value["types"]["Disease"]["alone"]["micro"]["f1"]
    )


def best_of_all_cutoffs(
    found: list[tuple[Mention, ...]], ids: list[str], gold: set[Any]
) -> dict[str, float]:
    """Every score as a cutoff, one after the other."""
    best = {"precision": 0.0, "recall": 0.0, "f1": 0.0, "found": 0}
    for cutoff in sorted({m.score or 0.0 for ms in found for m in ms}, reverse=True):
        said = {
            (key, m.spans)
            for key, ms in zip(ids, found, strict=True)
            for m in ms
            if (m.score or 0.0) >= cutoff
        }
        right = len(said & gold)
        f1 = 2 * right / (len(said) + len(gold))
        if f1 > best["f1"]:
            best = {
                "precision": right / len(said),
                "recall": right / len(gold),
                "f1": f1,
                "found": len(said),
            }
    return best


def test_the_best_cutoff() -> None:
    """Scores of few values, so that many are equal, against every cutoff."""
    script = unseen_types
    chance = random.Random(0)
    documents, found = [], []
    for number in range(200):
        spans = [((i, i + 1),) for i in range(6)]
        gold = tuple(
            Mention(s, "A", source=GOLD) for s in chance.sample(spans, chance.randrange(4))
        )
        documents.append(Document(id=str(number), text="abcdef", mentions=gold))
        said = chance.sample(spans, chance.randrange(5))
        found.append(
            tuple(Mention(s, "A", score=chance.choice((0.1, 0.2, 0.5, 0.9))) for s in said)
        )
    for size in (1, 2, 5, 200):
        right = {(d.id, m.spans) for d in documents[:size] for m in d.layer(GOLD)}
        expected = best_of_all_cutoffs(found[:size], [d.id for d in documents[:size]], right)
        assert script.in_hindsight(documents[:size], found[:size], "A") == expected


def test_a_run_that_leaves_nothing_out(
    trained: tuple[Recipe, Path], tiny_run: Path, toy_types: Path
) -> None:
    script, folder = unseen_types, trained[1]
    value = script.measured(folder)
    scores = json.loads((folder / "scores.json").read_text(encoding="utf-8"))["test"]["types"]
    assert value["left_out"] == []
    assert {k: of["micro"]["f1"] for k, of in value["trained"].items()} == {
        k: of["f1"] for k, of in scores.items()
    }
    micro = json.loads((folder / "scores.json").read_text(encoding="utf-8"))["test"]["micro"]["f1"]
    assert value["all"]["description"]["micro"]["f1"] == micro
    assert set(value["all"]) == {"description", "keyword", "name"}
    types = read_types(toy_types)
    told = script.in_other_words(types, "keyword")
    assert [(t.name, t.description) for t in told.types] == [
        (t.name, t.keyword) for t in types.types
    ]
    with pytest.raises(InputError, match="reads no descriptions of types"):
        script.measured(tiny_run)


@pytest.mark.parametrize(
    "path", sorted((ROOT / "recipes" / "types").glob("*.toml")), ids=lambda path: path.stem
)
def test_descriptions_are_written_as_they_are_read(path: Path, tmp_path: Path) -> None:
    types = read_types(path)
    (tmp_path / "types.toml").write_text(unseen_types.as_toml(types), encoding="utf-8")
    assert read_types(tmp_path / "types.toml") == types


def test_the_plan_of_unseen_types() -> None:
    from fascicle.training.experiments.grid import read_grid

    grid = read_grid(GRIDS / "unseen.toml")
    known = read_types(ROOT / "recipes" / "types" / "bionlp13cg.toml").names
    for run in grid.runs:
        types = run.recipe.corpus.types
        assert bool(types) == run.variant.startswith("without-")
        if types:
            (label,) = types.drop
            assert label in known
            assert run.variant == f"without-{label.lower().replace('_', '-')}"


@pytest.mark.slow
def test_eight_bits(trained: tuple[Recipe, Path], tmp_path: Path) -> None:
    recipe, folder = trained
    run = GridRun(recipe=recipe, origin=tmp_path / "grid.toml", tier="cpu")
    found = int8_heads.compared(run, folder)
    scores = json.loads((folder / "scores.json").read_text(encoding="utf-8"))["test"]
    assert found["f1"] == scores["micro"]["f1"]
    assert (
        found["difference"]["low"] <= found["difference"]["estimate"] <= found["difference"]["high"]
    )
    assert found["difference"]["estimate"] == pytest.approx(found["int8_f1"] - found["f1"])


def test_labels_are_counted_by_word() -> None:
    """A mention is as many words as have a character of it; one that ends inside a word has the
    whole word.
    """
    text = "Renal failure after cisplatin-like drugs"
    mentions = (
        Mention(((0, 13),), "Disease"),
        Mention(((20, 25),), "Chemical"),
        Mention(((0, 5), (34, 40)), "Drug"),
    )
    found = distant.by_word([Document(id="d", text=text, mentions=mentions)])
    covered = [(m.type, text[start:end]) for m in found["d"] for start, end in m.spans]
    assert sorted(covered) == [
        ("Chemical", "cisplatin"),
        ("Disease", "Renal"),
        ("Disease", "failure"),
        ("Drug", "Renal"),
        ("Drug", "drugs"),
    ]
