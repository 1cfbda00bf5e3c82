"""Runs on weak labels: human labels of train and dev change no number, and the dictionary is
part of the data.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
import torch
from tests.support.grids import make_grid, write_json

from fascicle.core.document import GOLD
from fascicle.errors import (
    FascicleError,
    FormatError,
    InputError,
    OutputError,
    UsageError,
)
from fascicle.loading import read_manifest
from fascicle.models.encoder import load_pretrained
from fascicle.models.heads.contract import IGNORED
from fascicle.models.heads.tagger import CrfTagger
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.training.corpus import Parts, read_part
from fascicle.training.engine.events import Note, Validated
from fascicle.training.experiments.grid import read_grid
from fascicle.training.experiments.queue import plan_runs
from fascicle.training.experiments.results import make_result
from fascicle.training.labelling import unknown_ranges, weak_labels
from fascicle.training.recogniser.parts import read_parts
from fascicle.training.recogniser.prepare import Prepared, prepare
from fascicle.training.run import run_recipe

Maker = Callable[..., Recipe]
Dictionary = dict[str, str]
SPAN = {"family": "span", "width": 3, "negatives": 8}
BINDER = {"family": "binder", "hidden": 16, "width": 8}
# Every family, a bundle, and a decision that is fitted on dev.
RUNS: dict[str, dict[str, Any]] = {
    "softmax": {"decision": {"tune": "nothing"}},
    "crf": {"model": {"family": "crf"}},
    "biaffine": {"model": {"family": "biaffine", "hidden": 8}},
    "binder": {"model": BINDER},
    "binder fitted on dev": {"model": {**BINDER, "thresholds": "dev", "windows": "mentions"}},
    "bundle": {"model": SPAN, "bundle": {"family": "softmax", "level": "piece", "weight": 0.5}},
}


@pytest.fixture
def poisoned(toy_corpus: Path, tmp_path: Path) -> Path:
    """The toy corpus with other mentions, of other lengths and of a type that is none."""
    kinds = {
        "the": "B-Poison",
        "patient": "I-Poison",
        "in": "B-Chemical",
        "pain": "B-Chemical",
        "failure": "B-Disease",
    }
    lines = toy_corpus.read_text(encoding="utf-8").splitlines()
    words = [line.partition("\t")[0] for line in lines]
    path = tmp_path / toy_corpus.name  # ids of documents are made from it
    path.write_text(
        "".join(f"{w}\t{kinds.get(w, 'O')}\n" if w else "\n" for w in words), encoding="utf-8"
    )
    return path


def prepared(recipe: Recipe) -> tuple[Parts, Prepared]:
    torch.manual_seed(recipe.seed)
    parts = read_parts(recipe.corpus, weak_labels(recipe))
    return parts, prepare(recipe, parts, load_pretrained(recipe.model.encoder))


def numbers(folder: Path) -> dict[str, Any]:
    """All that a run folder says, but times, and hashes of files."""
    lines = [
        json.loads(x) for x in (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    scores = json.loads((folder / "scores.json").read_text(encoding="utf-8"))
    facts = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    sizes = {
        part: {k: v for k, v in of.items() if k != "sha256"} for part, of in facts["data"].items()
    }
    return {
        "lines": [{k: v for k, v in line.items() if k != "seconds"} for line in lines],
        "scores": {k: v for k, v in scores.items() if k != "seconds"},
        "facts": [facts["types"], facts["not_representable"], facts["windows"], sizes],
        "predictions": {
            p.name: p.read_text(encoding="utf-8") for p in (folder / "predictions").iterdir()
        },
        "weights": {p.parent.name: p.read_bytes() for p in folder.glob("best*/model.safetensors")},
        "manifests": [
            msgspec.structs.replace(m, decision=msgspec.structs.replace(m.decision, chosen_on=""))
            for m in (read_manifest(place) for place in sorted(folder.glob("best*")))
        ],
    }


@pytest.mark.parametrize("kind", RUNS)
def test_human_labels_of_train_and_dev_change_nothing(
    tiny_recipe: Maker,
    toy_dictionary: Dictionary,
    toy_corpus: Path,
    poisoned: Path,
    tmp_path: Path,
    kind: str,
) -> None:
    parts, notes, results = {}, {}, {}
    for name, path in (("clean", toy_corpus), ("poisoned", poisoned)):
        corpus = {"train": str(path), "dev": str(path), "test": str(toy_corpus)}
        recipe = tiny_recipe(
            corpus=corpus, distant=toy_dictionary, training={"epochs": 3}, **RUNS[kind]
        )
        parts[name], ready = prepared(recipe)
        events = list(run_recipe(recipe, tmp_path / name))
        notes[name] = [e.text for e in events if isinstance(e, Note) and "tag scheme" not in e.text]
        results[name] = make_result(
            tmp_path / name, recipe, portable=recipe, recipe_hash="", labels={}
        )
        results[f"{name} data"] = (
            {n: [a.tolist() for a in gold] for n, gold in ready.data.gold.items()},
            [
                {n: t.tolist() for n, t in targets.items()}
                for _, targets in ready.data.batches(size=4, seed=1, epoch=0)
            ],
        )
    human = [
        read_part(r.corpus, "train")
        for r in (tiny_recipe(), tiny_recipe(corpus={"train": str(poisoned)}))
    ]
    assert human[0] != human[1]
    # The reader's own notes tell the tag scheme of the human labels.
    assert parts["clean"] == replace(parts["poisoned"], notes=parts["clean"].notes)
    assert results["clean data"] == results["poisoned data"]
    assert numbers(tmp_path / "clean") == numbers(tmp_path / "poisoned")
    assert notes["clean"] == notes["poisoned"]
    for key in ("dev", "test", "test_counts", "test_recall", "test_f1_interval"):
        assert results["clean"][key] == results["poisoned"][key]


def targets_of(recipe: Recipe, text: str) -> dict[str, Any]:
    """What each head is taught of the one sentence with that text."""
    parts, ready = prepared(recipe)
    (number,) = (i for i, d in enumerate(parts.train) if d.text == text)
    found = {}
    for name, head in ready.data.heads.items():
        windows = [w for w in ready.data.views[head.level].windows if w.document == number]
        gold = [ready.data.gold[name][number]] * len(windows)
        found[name] = head.targets(gold, windows, chance=np.random.default_rng(0))
    return found


def test_each_head_of_a_bundle_leaves_the_unknown_out_in_its_own_way(
    tiny_recipe: Maker, toy_dictionary: Dictionary
) -> None:
    b_chemical, b_disease, x = 1, 3, IGNORED
    recipe = tiny_recipe(distant=toy_dictionary, bundle={"family": "crf"})
    found = targets_of(recipe, "caffeine and aspirin .")
    assert found["softmax"].tolist() == [[x, x, b_chemical, 0]]
    assert found["crf"].tolist() == [[-1, -1, b_chemical, 0]]
    found = targets_of(recipe, "hepatitis in patients with heart failure")
    assert found["softmax"].tolist() == [[b_disease, 0, 0, 0, x, x]]
    assert CrfTagger.unknown_tag == -1
    model = {"family": "span", "width": 2}
    found = targets_of(tiny_recipe(distant=toy_dictionary, model=model), "caffeine and aspirin .")
    assert found["span"].tolist() == [[[x, x], [0, 0], [1, 0], [0, x]]]


MODELS: list[dict[str, Any]] = [
    {"family": "softmax"},
    {"family": "crf"},
    {"family": "span", "width": 3},
    {"family": "biaffine", "width": 3, "hidden": 16},
    {**BINDER, "hidden": 32},
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model["family"])
def test_weak_labels_are_learnt(
    tiny_recipe: Maker, toy_dictionary: Dictionary, tmp_path: Path, model: Any
) -> None:
    recipe = tiny_recipe(distant=toy_dictionary, model=model, training={"epochs": 30})
    *_, finished = run_recipe(recipe, tmp_path / "run")
    counts = finished.answer.dev.counts
    assert (counts.tp, counts.fp, counts.fn) == (12, 0, 0)


def test_scores_of_dev_leave_out_what_nobody_knows(
    tiny_recipe: Maker, toy_dictionary: Dictionary, toy_corpus: Path, tmp_path: Path
) -> None:
    """Recorded scores against the predictions of every epoch, by loops; test is scored on all of
    its human labels.
    """
    recipe = tiny_recipe(
        distant=toy_dictionary, corpus={"test": str(toy_corpus)}, training={"epochs": 6}
    )
    list(run_recipe(recipe, tmp_path / "run"))
    parts = read_parts(recipe.corpus, weak_labels(recipe))
    lines = [
        json.loads(x)
        for x in (tmp_path / "run" / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    left_out = 0
    for line in lines:
        wrong = 0
        for identifier, kind, start, end in rows(
            tmp_path / "run" / "predictions" / f"dev-epoch-{line['epoch']:02d}.tsv"
        ):
            (document,) = (d for d in parts.dev if d.id == identifier)
            is_gold = any(
                (m.type, m.start, m.end) == (kind, start, end) for m in document.layer(GOLD)
            )
            unsure = any(start < b and a < end for a, b in unknown_ranges(document))
            wrong += not is_gold and not unsure
            left_out += not is_gold and unsure
        assert line["dev"]["micro"]["fp"] == wrong
        assert line["dev"]["micro"]["support"] == 12
    assert left_out
    scores = json.loads((tmp_path / "run" / "scores.json").read_text(encoding="utf-8"))["test"][
        "micro"
    ]
    assert (scores["support"], scores["predicted"]) == (
        18,
        len(rows(tmp_path / "run" / "predictions" / "test.tsv")),
    )


def rows(path: Path) -> list[tuple[str, str, int, int]]:
    """Document, type, start and end of every prediction."""
    split = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()[1:]]
    return [(identifier, kind, int(start), int(end)) for identifier, kind, start, end, *_ in split]


def test_what_is_said_and_written_down(
    tiny_recipe: Maker, toy_dictionary: Dictionary, toy_corpus: Path, tmp_path: Path
) -> None:
    core = tmp_path / "core.tsv"
    core.write_text("Disease\tpain\nDisease\tfever\n \t\nGene\tBRCA1\n", encoding="utf-8")
    distant = {"core": str(core), "full": toy_dictionary["full"]}
    recipe = tiny_recipe(distant=distant, corpus={"test": str(toy_corpus)}, training={"epochs": 1})
    notes = [e.text for e in run_recipe(recipe, tmp_path / "run") if isinstance(e, Note)]
    labels = "labels by dictionary three-casings rules@1: 5 mentions (5 Disease), 5 unknown"
    for said in (
        f"{core}: 3 names",
        f"{core}: 1 row without a name was left out (first: {core}, line 3)",
        f"train: {labels}",
        f"dev: {labels}",
        "the dictionary names nothing in train of the types Gene; the model lacks them",
        "dev: predictions over an unknown phrase that are no weak label count neither as right "
        "nor as wrong",
        "train: 5 weak labels, 0 (0.00%) cannot be represented exactly",
        "test: 7 gold mentions are of types that train lacks ('Chemical'); they count as missed",
    ):
        assert said in notes
    facts = json.loads((tmp_path / "run" / "run.json").read_text(encoding="utf-8"))
    assert facts["types"] == ["Disease"]
    assert list(facts["data"]) == ["train", "dev", "test", "distant.core", "distant.full"]
    assert facts["data"]["distant.core"] == {
        "sha256": hashlib.sha256(core.read_bytes()).hexdigest()
    }
    assert [facts["data"][part]["mentions"] for part in ("train", "dev", "test")] == [5, 5, 18]
    scores = json.loads((tmp_path / "run" / "scores.json").read_text(encoding="utf-8"))
    assert scores["test"]["micro"]["support"] == 18


def test_seen_is_what_was_taught(
    tiny_recipe: Maker, toy_dictionary: Dictionary, toy_corpus: Path, tmp_path: Path
) -> None:
    recipe = tiny_recipe(
        distant=toy_dictionary, corpus={"test": str(toy_corpus)}, training={"epochs": 1}
    )
    list(run_recipe(recipe, tmp_path / "run"))
    recall = make_result(tmp_path / "run", recipe, portable=recipe, recipe_hash="", labels={})[
        "test_recall"
    ]
    assert (recall["seen"]["gold"], recall["unseen"]["gold"]) == (12, 6)


def test_descriptions_of_what_a_dictionary_names_nothing_of(
    tiny_recipe: Maker, tmp_path: Path
) -> None:
    """A type that the dictionary has and that train lacks may be described; one that neither has
    may not.
    """
    core, types = tmp_path / "core.tsv", tmp_path / "types.toml"
    core.write_text("Disease\tpain\nGene\tNOT THERE\n", encoding="utf-8")
    model = {**BINDER, "type_view": "description", "types": str(types)}
    recipe = tiny_recipe(distant={"core": str(core)}, model=model)
    described = '[[type]]\nname = "{}"\ndescription = "{}"\n'
    types.write_text(
        described.format("Disease", "a cancer") + described.format("Gene", "a gene"),
        encoding="utf-8",
    )
    parts, done = prepared(recipe)
    assert (parts.types, parts.untaught) == (("Disease",), ("Gene",))
    with core.open("a", encoding="utf-8") as stream:
        stream.writelines(f"T{number}\tNOT {number}\n" for number in range(2000))
    assert any(
        "2,001 types: Gene, T0, T1, ..." in note
        for note in read_parts(recipe.corpus, weak_labels(recipe)).notes
    )
    core.write_text("Disease\tpain\nGene\tNOT THERE\n", encoding="utf-8")
    assert done.manifest.descriptions["binder"].names == ("Disease",)
    with types.open("a", encoding="utf-8") as stream:
        stream.write(described.format("Drug", "a drug"))
    assert any(
        "describes 'Drug', which train has no mention of" in note
        for note in prepared(recipe)[1].notes
    )


def test_a_dev_part_without_mentions_is_told(
    tiny_recipe: Maker, toy_dictionary: Dictionary, tmp_path: Path
) -> None:
    dev = tmp_path / "dev.tsv"
    dev.write_text("nothing\tO\nhere\tO\n\n", encoding="utf-8")
    for distant in ({"distant": toy_dictionary}, {}):
        parts, _ = prepared(tiny_recipe(corpus={"dev": str(dev)}, **distant))
        assert any(
            note.startswith("dev holds no mention, so what is chosen on it") for note in parts.notes
        )
        parts, _ = prepared(tiny_recipe(**distant))
        assert not any("holds no mention" in note for note in parts.notes)


def test_a_changed_dictionary_is_not_resumed(
    tiny_recipe: Maker, toy_dictionary: Dictionary, tmp_path: Path
) -> None:
    core = tmp_path / "core.tsv"
    core.write_bytes(Path(toy_dictionary["core"]).read_bytes())
    recipe = tiny_recipe(distant={**toy_dictionary, "core": str(core)}, training={"epochs": 3})
    for event in run_recipe(recipe, tmp_path / "run"):
        if isinstance(event, Validated):
            break
    with core.open("a", encoding="utf-8") as stream:
        stream.write("Disease\tfever\n")
    with pytest.raises(
        OutputError, match=r"the dictionary has changed since the run in .* began; start a new run"
    ):
        list(run_recipe(recipe, tmp_path / "run", resume=True))


def test_a_changed_dictionary_makes_results_stale(
    tiny_encoder: Path, toy_dictionary: Dictionary, toy_corpus: Path, tmp_path: Path
) -> None:
    (tmp_path / "core.tsv").write_bytes(Path(toy_dictionary["core"]).read_bytes())
    recipe = (
        f'model.encoder = "{tiny_encoder}"\nreading = {{ max_length = 32, overlap = 4 }}\n'
        'training = { epochs = 1, precision = "fp32" }\ndistant.core = "core.tsv"'
    )
    part = f'corpus = {{ train = "{toy_corpus}", dev = "{toy_corpus}", documents = "sentence" }}'
    path = make_grid(
        tmp_path, "toy", recipe=recipe, corpora={"toy": part}, systems=["softmax"]
    ).path

    def look() -> Any:
        (found,) = plan_runs(
            read_grid(path).runs, folder=tmp_path / "runs", results=tmp_path / "results"
        )
        return found

    list(run_recipe(look().recipe, look().folder))
    assert look().state == "complete"
    write_json(tmp_path / "results" / "toy-softmax-s1.json", {"hash": look().hash})
    assert (look().state, look().stale) == ("done", "")
    before = look().hash
    (tmp_path / "core.tsv").write_text("Disease\tpain\n", encoding="utf-8")
    assert (look().state, look().stale) == ("unable", before)


Wrong = tuple[dict[str, Any], str | None, type[FascicleError], str]
WRONG: dict[str, Wrong] = {  # settings, rows of the dictionary, and what the error names
    "missing": ({}, None, InputError, r"core\.tsv.*not exist"),
    "empty": ({}, "", InputError, r"core\.tsv holds no name"),
    "blank": ({}, "\n\n", InputError, r"core\.tsv holds no name"),
    "no column of types": ({}, "pain\nfever\n", FormatError, r":1: 1 .*column.* 2 are needed"),
    "a name without a type": (
        {},
        "Disease\tpain\n\tfever\n",
        FormatError,
        ":2: .*'fever'.* no type",
    ),
    "nothing matches": ({}, "Gene\tBRCA1\n", InputError, r"1 name.*toy\.tsv"),
    "stop words": ({}, "Gene\tthe\n", InputError, "2 stop words .*THE, the"),
    "signs": ({}, "Gene\t.\n", InputError, "1 entry and no name"),
    "types that one type would replace": (
        {"type": "Chemical"},
        "Chemical\taspirin\nDisease\tpain\n",
        InputError,
        r"column 0 of \S+core\.tsv.*'Chemical'.*'Disease'.*type = 'Chemical'",
    ),
    "types in other case": (
        {"type": "drug"},
        "T1\taspirin\nDrug\tpain\n",
        InputError,
        "and others, such as 'T1'",
    ),
    "no such encoding": ({"encoding": "utf-9"}, "Disease\tpain\n", UsageError, "'utf-9'"),
}


def test_typed_names_are_no_phrases_without_types(tiny_recipe: Maker, tmp_path: Path) -> None:
    core, full = tmp_path / "core.tsv", tmp_path / "full.tsv"
    for path in (core, full):
        path.write_text("Chemical\taspirin\nChemical\tcaffeine\n", encoding="utf-8")
    with pytest.raises(
        FormatError,
        match=r"full\.tsv:1: 2 TAB-separated columns, but rows of phrases without a type",
    ):
        list(
            run_recipe(
                tiny_recipe(distant={"core": str(core), "full": str(full)}), tmp_path / "run"
            )
        )
    (tmp_path / "sub").mkdir()
    same = str(tmp_path / "." / "sub" / ".." / "core.tsv")
    with pytest.raises(
        InputError,
        match=r"^distant\.core and distant\.full are both .*core\.tsv; set distant.full to another file",
    ):
        list(run_recipe(tiny_recipe(distant={"core": str(core), "full": same}), tmp_path / "run"))
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("case", WRONG)
def test_a_dictionary_that_cannot_be_used_is_refused_before_an_encoder_is_read(
    tiny_recipe: Maker, tmp_path: Path, case: str
) -> None:
    settings, content, error, message = WRONG[case]
    core = tmp_path / "core.tsv"
    if content is not None:
        core.write_text(content, encoding="utf-8")
    recipe = tiny_recipe(
        distant={"core": str(core), **settings}, model={"encoder": str(tmp_path / "no-encoder")}
    )
    with pytest.raises(error, match=message) as caught:
        list(run_recipe(recipe, tmp_path / "run"))
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "run").exists()
