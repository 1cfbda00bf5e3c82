"""``decision.abbreviations = "fit"``: a run ends with rules that were chosen on its dev part."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from fascicle.core.document import Document, Mention
from fascicle.formats import write
from fascicle.loading import load
from fascicle.settings.folders.manifest import read_manifest
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.training.experiments.hashes import recipe_hash
from fascicle.training.run import run_recipe

Maker = Callable[..., Recipe]
TEXT = "the patient had lung cancer ( LC ) . the doctor gave LC for the patient"
LC = (53, 55)


def test_a_run_chooses_rules_and_keeps_them(
    tiny_run: Path, tiny_recipe: Maker, toy_corpus: Path, tmp_path: Path
) -> None:
    found = load(tiny_run, links=False)(TEXT)  # a model of the same recipe
    places = {mention.spans[0] for mention in found}
    assert LC not in places
    gold = Document(
        id="1", text=TEXT, mentions=tuple(Mention((span,), "Disease") for span in {*places, LC})
    )
    write(tmp_path / "dev.jsonl", [gold])
    corpus = {"train": str(toy_corpus), "dev": str(tmp_path / "dev.jsonl"), "documents": "auto"}
    recipe = tiny_recipe(
        corpus=corpus, decision={"abbreviations": "fit"}, training={"select": "last"}
    )
    *_, finished = run_recipe(recipe, tmp_path / "run")
    scores = json.loads((tmp_path / "run" / "scores.json").read_text(encoding="utf-8"))
    chosen, rules = (
        scores["abbreviations"],
        read_manifest(tmp_path / "run" / "best").decision.abbreviations,
    )
    assert rules
    assert rules.chosen_on
    assert (chosen["spread"], chosen["drop"], chosen["one_type"]) == (
        rules.spread,
        rules.drop,
        rules.one_type,
    )
    assert chosen["dev_f1"] == finished.answer.dev.micro.f1 > chosen["dev_f1_without"]
    assert chosen["definitions"] == 1
    assert LC in {mention.spans[0] for mention in load(tmp_path / "run", links=False)(TEXT)}


def test_rules_that_are_off_change_no_hash(tiny_recipe: Maker) -> None:
    data = {"train": "1", "dev": "2"}
    plain, off, fit = (
        recipe_hash(tiny_recipe(decision=decision), data)
        for decision in ({}, {"abbreviations": "off"}, {"abbreviations": "fit"})
    )
    assert plain == off != fit
