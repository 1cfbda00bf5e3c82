"""Several corpora in one run: what is read, what is drawn, what is taught, how dev is scored,
and what is refused.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file

from fascicle.core.document import GOLD, Document, Mention
from fascicle.errors import FascicleError, InputError, RecipeError
from fascicle.formats import write
from fascicle.formats.exclusions import Exclusion, write_exclusions
from fascicle.loading import load
from fascicle.models.encoder import load_pretrained
from fascicle.models.export.folders import export_model
from fascicle.models.heads.contract import IGNORED
from fascicle.models.model import TorchScorer
from fascicle.runtime.predictor import ModelPredictor
from fascicle.settings.folders.manifest import read_manifest
from fascicle.settings.heads import HEADS
from fascicle.settings.recipes.any import parse_recipe
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.settings.recipes.strict import merge_tables
from fascicle.training.engine.events import Finished, Note, Validated
from fascicle.training.engine.loop import StepDone, Trainer
from fascicle.training.recogniser.data import Mixture, TrainingSet, quotas
from fascicle.training.recogniser.judging import SeveralCorpora
from fascicle.training.recogniser.parts import read_data
from fascicle.training.recogniser.prepare import Prepared, prepare
from fascicle.training.run import run_recipe
from fascicle.verbs.export import export

Maker = Callable[..., Recipe]
DRUGS = {
    "0": ("aspirin caused pain .", ["aspirin/Drug"]),
    "1": ("the patient took ibuprofen .", ["ibuprofen/Drug"]),
    "2": ("caffeine and aspirin .", ["caffeine/Drug", "aspirin/Drug"]),
    "3": ("no fever in the patient", []),
    "4": ("5 mg of caffeine for pain", ["caffeine/Drug"]),
}
ILLS = {
    "0": ("aspirin caused pain .", ["pain/Disease"]),
    "1": ("no fever , no pain .", ["fever/Disease", "pain/Disease"]),
    "2": ("chronic liver failure", ["liver failure/Disease", "liver/Organ"]),
}


def corpus(path: Path, texts: dict[str, tuple[str, list[str]]]) -> str:
    """Writes documents whose mentions are ``SURFACE/TYPE``, each the first place of its surface
    that is free.
    """
    documents = []
    for key, (text, marked) in texts.items():
        mentions: list[Mention] = []
        for one in marked:
            surface, _, kind = one.partition("/")
            starts = [i for i in range(len(text)) if text.startswith(surface, i)]
            start = next(s for s in starts if all(m.type != kind or m.start != s for m in mentions))
            mentions.append(Mention(((start, start + len(surface)),), kind))
        documents.append(
            Document(
                id=key, text=text, mentions=tuple(sorted(mentions, key=lambda m: (m.spans, m.type)))
            )
        )
    write(path, documents)
    return str(path)


@pytest.fixture
def make(tmp_path: Path, tiny_encoder: Path) -> Maker:
    """Makes recipes with the parts ``drugs`` and ``ills``; changes are merged table by table,
    ``None`` takes out.
    """
    drugs, ills = corpus(tmp_path / "drugs.jsonl", DRUGS), corpus(tmp_path / "ills.jsonl", ILLS)
    renamed = {"rename": {"Drug": "Chemical"}}
    values: dict[str, Any] = {
        "name": "several",
        "parts": {
            "drugs": {"train": drugs, "dev": drugs, "annotates": ["Chemical"], "types": renamed},
            "ills": {
                "train": ills,
                "dev": ills,
                "annotates": ["Disease"],
                "types": {"drop": ["Organ"]},
            },
        },
        "reading": {"max_length": 32, "overlap": 4},
        "model": {"encoder": str(tiny_encoder), "family": "multilabel"},
        "training": {"epochs": 3, "learning_rate": 1e-2, "batch_size": 2, "precision": "fp32"},
    }

    def made(**changes: Any) -> Recipe:
        return parse_recipe(without_none(merge_tables(values, changes)), origin="several.toml")

    return made


def without_none(values: dict[str, Any]) -> dict[str, Any]:
    return {
        k: without_none(v) if isinstance(v, dict) else v for k, v in values.items() if v is not None
    }


def prepared(recipe: Recipe) -> Prepared:
    torch.manual_seed(recipe.seed)
    return prepare(recipe, read_data(recipe), load_pretrained(recipe.model.encoder))


def rows(data: TrainingSet, **order: int) -> list[Any]:
    """Everything of every batch of an epoch, as lists."""
    return [
        ({n: t.tolist() for n, t in batch.items()}, {n: t.tolist() for n, t in targets.items()})
        for batch, targets in data.batches(**order)
    ]


# ------------------------------------------------------------------------------------------------------------ drawing
def naive_draws(
    sizes: Sequence[int], counts: Sequence[int], *, epochs: int, seed: int
) -> list[Counter[tuple[int, int]]]:
    """Hands out cards: each part has a deck, which is shuffled anew whenever it is used up."""
    decks: list[list[int]] = [[] for _ in sizes]
    shuffles = [0] * len(sizes)
    found = []
    for _ in range(epochs):
        drawn: Counter[tuple[int, int]] = Counter()
        for part, count in enumerate(counts):
            for _ in range(count):
                if not decks[part]:
                    chance = np.random.default_rng((seed, shuffles[part], part, 1))
                    decks[part] = chance.permutation(sizes[part]).tolist()
                    shuffles[part] += 1
                drawn[part, decks[part].pop(0)] += 1
        found.append(drawn)
    return found


@given(
    parts=st.lists(st.tuples(st.integers(1, 7), st.integers(1, 20)), min_size=1, max_size=4),
    seed=st.integers(0, 3),
)
def test_draws_are_those_of_decks_that_are_dealt_to_their_end(
    parts: list[tuple[int, int]], seed: int
) -> None:
    sizes, counts = zip(*parts, strict=True)
    part_of = np.repeat(np.arange(len(sizes)), sizes)
    number_in_part = np.concatenate([np.arange(size) for size in sizes])
    mixture = Mixture(part_of=part_of, quotas=counts)
    expected = naive_draws(sizes, counts, epochs=5, seed=seed)
    total: Counter[tuple[int, int]] = Counter()
    for epoch, wanted in enumerate(expected):
        drawn = mixture.drawn(seed=seed, epoch=epoch)
        assert drawn.tolist() == sorted(drawn.tolist())
        found = Counter((int(part_of[i]), int(number_in_part[i])) for i in drawn)
        assert found == wanted
        assert found.total() == mixture.size == sum(counts)
        total += found
        for part, size in enumerate(sizes):  # no window comes again before all others of its part
            times = [total[part, i] for i in range(size)]
            assert max(times) - min(times) <= 1


@given(
    parts=st.lists(
        st.tuples(st.integers(1, 10_000), st.floats(0.01, 100), st.sampled_from(["a", "b"])),
        min_size=1,
        max_size=5,
    ),
    power=st.floats(0, 1),
    total=st.integers(1, 5000),
)
def test_shares(parts: list[tuple[int, float, str]], power: float, total: int) -> None:
    sizes, weights = [p[0] for p in parts], [p[1] for p in parts]
    found = quotas(sizes, weights, power=power, total=total)
    assert sum(found) == total
    raw = [weight * size**power for size, weight in zip(sizes, weights, strict=True)]
    for count, share in zip(found, raw, strict=True):
        assert abs(count - total * share / sum(raw)) < 1 + 1e-6


def test_shares_by_size_and_all_alike() -> None:
    assert quotas([100, 300], [1, 1], power=1, total=400) == (100, 300)
    assert quotas([100, 300], [1, 1], power=0, total=400) == (200, 200)
    assert quotas([100, 400], [1, 1], power=0.5, total=300) == (100, 200)
    assert quotas([100, 300], [3, 1], power=1, total=400) == (200, 200)
    assert quotas([1, 1, 1], [1, 1, 1], power=1, total=4) == (2, 1, 1)


@pytest.mark.parametrize("family", ["multilabel", "crf", "span"])
def test_one_part_drawn_by_size_gives_the_batches_of_one_corpus(make: Maker, family: str) -> None:
    ills = make().corpora()["ills"]
    paths = {"train": ills.dev, "dev": ills.dev, "types": {"drop": ["Organ"]}}
    several = prepared(make(parts={"drugs": None}, model={"family": family}))
    plain = prepared(make(parts=None, corpus=paths, model={"family": family}))
    for epoch in range(4):
        order = {"size": 2, "seed": 5, "epoch": epoch}
        assert rows(several.data, **order) == rows(plain.data, **order)
    assert several.data.count(2) == plain.data.count(2)
    assert several.manifest.types == plain.manifest.types


def test_an_epoch_has_the_stated_number_of_windows(make: Maker) -> None:
    data = prepared(
        make(mixture={"windows": 11, "power": 0.0}, parts={"ills": {"weight": 1.5}})
    ).data
    assert data.mixture is not None
    assert data.mixture.quotas == (4, 7)
    batches = list(data.batches(size=4, seed=1, epoch=2))
    assert len(batches) == data.count(4) == 3
    assert sum(len(batch["input_ids"]) for batch, _ in batches) == 11
    assert rows(data, size=4, seed=1, epoch=2) == rows(data, size=4, seed=1, epoch=2)
    assert rows(data, size=4, seed=1, epoch=2) != rows(data, size=4, seed=1, epoch=3)


# ----------------------------------------------------------------------------------------------------------- teaching
def test_a_corpus_teaches_nothing_of_types_that_it_does_not_annotate(make: Maker) -> None:
    """Cell by cell, from the gold: labels are O, B and I of Chemical, B and I of Disease."""
    data = prepared(make()).data
    parts = read_data(make())
    wide = prepared(make(mixture={"unannotated": "absent"})).data
    own = {"drugs": [1, 2], "ills": [3, 4]}
    for document, masked, plain in zip(
        parts.train, data.gold["multilabel"], wide.gold["multilabel"], strict=True
    ):
        known = own[document.id.partition("/")[0]]
        for unit in range(len(plain)):
            for label in range(5):
                told = label in known or (label == 0 and any(plain[unit, k] == 1 for k in known))
                assert masked[unit, label] == (plain[unit, label] if told else IGNORED)


def test_the_loss_leaves_cells_out_as_a_loop_does(make: Maker) -> None:
    ready = prepared(make())
    head = ready.model.head("multilabel")
    for batch, targets in ready.data.batches(size=3, seed=1, epoch=0):
        emissions = ready.model(batch)["multilabel"]["emissions"].detach()
        cells = [
            -np.log(1 / (1 + np.exp(-e if t else e)))
            for e, t in zip(
                emissions.flatten().tolist(), targets["multilabel"].flatten().tolist(), strict=True
            )
            if t >= 0
        ]
        found = float(head.loss({"emissions": emissions}, targets["multilabel"]))
        assert found == pytest.approx(sum(cells) / len(cells), rel=1e-5)


FAMILIES: dict[str, dict[str, Any]] = {family: {"family": family} for family in HEADS}
FAMILIES["binder"] |= {"type_view": "atomic", "hidden": 8, "width_embedding": 0}


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_every_family_learns_from_types_that_are_apart(make: Maker, family: str) -> None:
    """No corpus has both types, and the model finds both in one sentence."""
    recipe = make(model=FAMILIES[family], training={"epochs": 40})
    ready = prepared(recipe)
    trainer = Trainer(ready.model, ready.data, recipe.training, seed=1)
    losses = [event.loss for event in trainer.run() if isinstance(event, StepDone)]
    assert np.mean(losses[-8:]) < np.mean(losses[:8]) / 4
    pretrained = load_pretrained(recipe.model.encoder)
    predictor = ModelPredictor(
        ready.manifest, pretrained.tokenizer, TorchScorer(model=ready.model.eval())
    )
    (patch,) = predictor.predict([Document(id="d", text=ILLS["0"][0])])
    assert [(m.type, m.start) for m in patch.add] == [("Chemical", 0), ("Disease", 15)]


def test_what_is_not_declared_cannot_poison(make: Maker, tmp_path: Path) -> None:
    """Whatever a part says of a type that it drops, the run is the same, to the last bit of its
    weights.
    """
    poisoned = {
        k: (text, [*marked, f"{text.split()[0]}/Organ"]) for k, (text, marked) in ILLS.items()
    }
    path = corpus(tmp_path / "poisoned.jsonl", poisoned)
    runs = []
    for name, ills in (("clean", {}), ("poisoned", {"train": path, "dev": path})):
        list(run_recipe(make(parts={"ills": ills}), tmp_path / name))
        runs.append((tmp_path / name / "best" / "model.safetensors").read_bytes())
    assert runs[0] == runs[1]


# ------------------------------------------------------------------------------------------------------------ scoring
TYPES = ("A", "B", "C")
SPANS = st.lists(st.tuples(st.integers(0, 3), st.sampled_from(TYPES)), unique=True, max_size=5)


@given(
    gold=st.lists(st.tuples(st.sampled_from("xyz"), SPANS, SPANS), min_size=1, max_size=6),
    declared=st.fixed_dictionaries(
        {p: st.lists(st.sampled_from(TYPES), unique=True, min_size=1) for p in "xyz"}
    ),
)
def test_the_dev_score_is_the_mean_over_cells(
    gold: list[tuple[str, Any, Any]], declared: dict[str, list[str]]
) -> None:
    documents, found = [], {}
    cells: dict[tuple[str, str], list[int]] = {}
    for number, (part, right, said) in enumerate(gold):
        right = [(at, kind) for at, kind in right if kind in declared[part]]
        key = f"{part}/{number}"
        mentions = tuple(Mention(((at, at + 1),), kind, source=GOLD) for at, kind in right)
        documents.append(Document(id=key, text="abcd", mentions=mentions))
        found[key] = tuple(Mention(((at, at + 1),), kind, source="m") for at, kind in said)
        for at in range(4):
            for kind in declared[part]:
                counts = cells.setdefault((part, kind), [0, 0, 0])
                pair = ((at, kind) in right, (at, kind) in said)
                if any(pair):
                    counts[{(True, True): 0, (False, True): 1, (True, False): 2}[pair]] += 1
    f1 = {cell: 2 * tp / (2 * tp + fp + fn) for cell, (tp, fp, fn) in cells.items() if tp + fn}
    judge = SeveralCorpora(annotates=declared)
    scores = judge.scores(documents, found)
    assert scores.macro.f1 == pytest.approx(sum(f1.values()) / len(f1) if f1 else 0.0)
    for kind in TYPES:
        of_type = [value for (_, name), value in f1.items() if name == kind]
        assert judge.f1_of_type(scores, kind) == pytest.approx(
            sum(of_type) / len(of_type) if of_type else 0.0
        )
    told = scores.as_dict()
    assert told["average"] == "macro"
    assert {name: row["f1"] for name, row in told["types"].items() if row["support"]} == {
        f"{part}/{kind}": pytest.approx(value) for (part, kind), value in f1.items()
    }


def test_a_run_is_chosen_by_its_cells(make: Maker, tmp_path: Path) -> None:
    recipe = make(training={"epochs": 8}, decision={"tune": "nothing"})
    events = list(run_recipe(recipe, tmp_path / "run"))
    lines = [
        json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()
    ]
    for line in lines:
        assert set(line["dev"]["types"]) == {"drugs/Chemical", "ills/Disease"}
        cells = [row["f1"] for row in line["dev"]["types"].values()]
        assert line["dev"]["macro"]["f1"] == pytest.approx(sum(cells) / 2)
    best = max(lines, key=lambda line: line["dev"]["macro"]["f1"])
    ended = events[-1]
    assert isinstance(ended, Finished)
    assert ended.answer.epoch == best["epoch"]
    assert ended.answer.dev.macro.f1 >= best["dev"]["macro"]["f1"]
    assert any("macro" in event.figures for event in events if isinstance(event, Validated))
    own = read_manifest(tmp_path / "run" / "best").decision.nothing_by_type
    assert own
    assert len(own) == 2
    predicted = (tmp_path / "run" / "predictions" / "dev.tsv").read_text()
    assert "drugs/0" in predicted


def test_a_threshold_is_fitted_where_its_type_is_annotated(make: Maker, tmp_path: Path) -> None:
    """The same texts with a type that nobody annotated there do not move the threshold of that
    type.
    """
    recipe = make(training={"epochs": 4}, decision={"tune": "nothing"})
    list(run_recipe(recipe, tmp_path / "run"))
    more = {
        f"more{k}": (text, ["pain/Disease"] if "pain" in text else [])
        for k, (text, _) in DRUGS.items()
    }
    widened = corpus(tmp_path / "wide.jsonl", ILLS | more)
    other = msgspec.structs.replace(
        recipe, parts={**recipe.parts, "ills": make(parts={"ills": {"dev": widened}}).parts["ills"]}
    )
    list(run_recipe(other, tmp_path / "other"))
    own, others = (
        read_manifest(tmp_path / name / "best").decision.nothing_by_type
        for name in ("run", "other")
    )
    assert own
    assert others
    assert own[0] == others[0]


# --------------------------------------------------------------------------------------------------------- guidelines
def test_a_guideline_is_given_to_some_windows_in_training(make: Maker) -> None:
    ready = prepared(make(mixture={"guideline": True, "guideline_dropout": 0.25, "windows": 400}))
    given: Counter[int] = Counter()
    for batch, targets in ready.data.batches(size=8, seed=1, epoch=0):
        known = (targets["multilabel"] != IGNORED).any(dim=1)
        for number, taught in zip(batch["guideline"].tolist(), known.tolist(), strict=True):
            assert number in (0, 1 if taught[1] else 2)
            given[number] += 1
    assert 0.18 < given[0] / 400 < 0.32
    plain = prepared(make(mixture={"windows": 400})).data.batches(size=8, seed=1, epoch=0)
    assert all("guideline" not in batch for batch, _ in plain)


def test_no_guideline_is_the_plain_network(make: Maker) -> None:
    ready = prepared(make(mixture={"guideline": True}))
    model = ready.model.eval()
    batch, _ = next(ready.data.batches(size=8, seed=1, epoch=0))
    plain = {name: table for name, table in batch.items() if name != "guideline"}
    expected = model(plain)["multilabel"]["emissions"]
    # all vectors are zero at first
    assert torch.equal(model(batch)["multilabel"]["emissions"], expected)
    with torch.no_grad():
        model.guidelines.weight[1:] = 1.0
    mixed = model(batch | {"guideline": torch.tensor([0, 1, 2, 0, 1, 2, 0, 1])})["multilabel"][
        "emissions"
    ]
    for row in range(8):
        assert torch.equal(mixed[row], expected[row]) == (row % 3 == 0)
    assert torch.equal(model.answers(batch)["emissions"], expected)


def test_guidelines_are_learnt_and_left_behind(make: Maker, tmp_path: Path) -> None:
    recipe = make(mixture={"guideline": True}, training={"epochs": 4})
    ready = prepared(recipe)
    trainer = Trainer(ready.model, ready.data, recipe.training, seed=1)
    list(trainer.run())
    learnt = ready.model.guidelines.weight
    assert not learnt[0].any()
    assert learnt[1].any()
    assert learnt[2].any()
    list(run_recipe(recipe, tmp_path / "run"))
    list(run_recipe(make(training={"epochs": 1}), tmp_path / "plain"))
    kept, plain = (
        load_file(tmp_path / name / "best" / "model.safetensors").keys()
        for name in ("run", "plain")
    )
    assert kept == plain
    export_model(tmp_path / "run", tmp_path / "onnx", int8=False)
    documents = [msgspec.structs.replace(d, mentions=()) for d in read_data(recipe).dev]
    answers = [
        load(str(tmp_path / name), links=False).predict(documents) for name in ("run", "onnx")
    ]
    for one, other in zip(*answers, strict=True):
        assert [m.key for m in one.add] == [m.key for m in other.add]
        assert [m.score for m in one.add] == pytest.approx([m.score for m in other.add], abs=1e-5)


# ----------------------------------------------------------------------------------------------------------- refusals
REFUSED: list[tuple[dict[str, Any], type[FascicleError], str]] = [
    (
        {"ills": {"annotates": ["Disease", "Gene"]}},
        RecipeError,
        r"parts\.ills\.annotates names 'Gene', of which train has",
    ),
    (
        {"drugs": {"types": None}},
        RecipeError,
        r"gold of parts\.drugs has 'Drug', which parts\.drugs\.annotates does not",
    ),
    (
        {"ills": {"types": {"drop": ["Organs"]}}},
        RecipeError,
        r"parts\.ills\.types\.drop names 'Organs'",
    ),
    (
        {"ills": {"types": {"drop": ["Organ", "Disease"]}}},
        InputError,
        r"train of parts\.ills .* holds no mentions",
    ),
    (
        {"ills": {"types": {"drop": None, "rename": {"Organ": "Disease"}}}},
        RecipeError,
        r"rename gives 'Disease' and 'Organ' the name 'Disease', but mentions of the two overlap .*'2', 8\.\.21",
    ),
    ({"ills": {"format": "conll", "where": "a=b"}}, FascicleError, r"parts\.ills"),
    (
        {"drugs": {"weight": 1e-3}},
        RecipeError,
        r"nothing is learnt from parts\.drugs: an epoch of 8 windows has none",
    ),
]


@pytest.mark.parametrize(("parts", "kind", "match"), REFUSED)
def test_parts_that_do_not_fit_their_gold(
    make: Maker, tmp_path: Path, parts: dict[str, Any], kind: type[FascicleError], match: str
) -> None:
    with pytest.raises(kind, match=match) as caught:
        list(run_recipe(make(parts=parts), tmp_path / "run"))
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "run").exists()


def test_labels_of_one_range_become_one_mention(make: Maker, tmp_path: Path) -> None:
    twice = corpus(
        tmp_path / "twice.jsonl", {"0": ("no fever", ["fever/Disease", "fever/Symptom"])}
    )
    table = {
        "train": twice,
        "dev": twice,
        "types": {"drop": None, "rename": {"Symptom": "Disease"}},
    }
    parts = read_data(make(parts={"ills": table}))
    assert sum(len(d.layer(GOLD)) for d in parts.train if d.id == "ills/0") == 1
    assert any("became one" in note for note in parts.notes)


def test_a_type_that_dev_lacks_is_told(make: Maker, tmp_path: Path) -> None:
    few = corpus(tmp_path / "few.jsonl", {"0": ("no fever", [])})
    notes = read_data(make(parts={"ills": {"dev": few}})).notes
    assert any(note.startswith("ills: dev has no gold mention of 'Disease'") for note in notes)


# --------------------------------------------------------------------------------------------------------- exclusions
def excluded(path: Path, *texts: str, first: int = 0) -> str:
    rows = [
        Exclusion(
            corpus="ills.jsonl",
            part="train",
            document=str(number),
            sha256=hashlib.sha256(text.encode()).hexdigest(),
            reason="duplicate",
            similarity=1.0,
            of_corpus="drugs.jsonl",
            of_part="test",
            of_document="0",
        )
        for number, text in enumerate(texts, start=first)
    ]
    write_exclusions(path, rows)
    return str(path)


def test_what_is_left_out_need_not_fit_the_names_of_types(make: Maker, tmp_path: Path) -> None:
    """Mentions that a new name lets overlap stop a run only where they would be learned from or
    scored.
    """
    dev = corpus(tmp_path / "dev.jsonl", {"0": ILLS["0"]})
    renamed = {"types": {"drop": None, "rename": {"Organ": "Disease"}}, "dev": dev}
    listed = renamed | {"exclude": excluded(tmp_path / "list.tsv", ILLS["2"][0], first=2)}
    parts = {
        "train": corpus(
            tmp_path / "more.jsonl", ILLS | {"3": ("pain , liver", ["pain/Disease", "liver/Organ"])}
        )
    }
    with pytest.raises(RecipeError, match=r"mentions of the two overlap"):
        read_data(make(parts={"ills": parts | renamed}))
    read = read_data(make(parts={"ills": parts | listed}))
    assert [d.id for d in read.train if d.id.startswith("ills/")] == ["ills/0", "ills/1", "ills/3"]
    with pytest.raises(RecipeError, match=r"mentions of the two overlap"):
        read_data(make(parts={"ills": parts | listed | {"dev": parts["train"]}}))


def test_copies_are_left_out_counted_and_recorded(make: Maker, tmp_path: Path) -> None:
    given = excluded(tmp_path / "list.tsv", ILLS["0"][0])
    recipe = make(
        parts={"ills": {"exclude": given}, "drugs": {"exclude": given}}, training={"epochs": 1}
    )
    parts = read_data(recipe)
    assert [one.excluded for one in parts.several] == [1, 1]  # the same text stands in both
    assert not {"drugs/0", "ills/0"} & {d.id for d in parts.train}
    assert {"drugs/0", "ills/0"} <= {d.id for d in parts.dev}
    notes = [e.text for e in run_recipe(recipe, tmp_path / "run") if isinstance(e, Note)]
    assert any(note.startswith("ills: train: 1 of 3 documents are left out") for note in notes)
    facts = json.loads((tmp_path / "run" / "run.json").read_text())
    assert facts["parts"]["ills"]["train"] == {"documents": 2, "mentions": 3, "excluded": 1}
    assert facts["parts"]["ills"]["annotates"] == ["Disease"]
    assert (
        facts["data"]["parts.ills.exclude"]["sha256"]
        == facts["data"]["parts.drugs.exclude"]["sha256"]
    )
    export(tmp_path / "run", tmp_path / "onnx", int8=True)  # on the texts of both parts
    card = (tmp_path / "onnx" / "README.md").read_text()
    assert "learnt from ills: Disease in 2 documents (1 more was left out" in card


def test_a_list_that_is_about_no_part(make: Maker, tmp_path: Path) -> None:
    given = excluded(tmp_path / "list.tsv", "another text")
    with pytest.raises(InputError, match="names none of the"):
        read_data(make(parts={"drugs": {"exclude": given}}))
    of_ills = excluded(tmp_path / "ills.tsv", ILLS["0"][0], ILLS["1"][0])
    table = {"train": corpus(tmp_path / "x.jsonl", {"9": DRUGS["4"]}), "exclude": of_ills}
    # a list of several may say nothing of one
    read_data(make(parts={"ills": {"exclude": of_ills}, "drugs": table}))


def test_several_files_of_one_part(make: Maker, tmp_path: Path) -> None:
    more = corpus(tmp_path / "more.jsonl", {"0": ("hepatitis", ["hepatitis/Disease"])})
    ills = make().corpora()["ills"].dev
    recipe = make(
        parts={
            "ills": {
                "train": [ills, more],
                "exclude": excluded(tmp_path / "list.tsv", ILLS["0"][0]),
            }
        }
    )
    texts = [d.text for d in read_data(recipe).several[1].train]
    assert texts == [ILLS["1"][0], ILLS["2"][0], "hepatitis"]
