"""Distillation by answers: what the teacher says, what the student learns of it, and what comes
out.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
import torch
from msgspec.structs import replace

import fascicle
from fascicle.core.document import Document
from fascicle.errors import RecipeError
from fascicle.loading import load
from fascicle.models.heads.contract import IGNORED, Basis
from fascicle.models.heads.tagger import MultiLabelTagger, SoftmaxTagger
from fascicle.settings.heads import MultiLabelSettings, SoftmaxSettings
from fascicle.settings.recipes.any import parse_any
from fascicle.settings.recipes.distil import DistilRecipe
from fascicle.settings.recipes.recogniser import CorpusSettings, ReadingSettings, Recipe
from fascicle.text.reading import read_documents
from fascicle.training.corpus import read_part
from fascicle.training.distil.answers import FILE, AnswerLabels, teacher_answers
from fascicle.training.engine.events import Finished, Validated
from fascicle.training.engine.loop import StepDone
from fascicle.training.run import prepare_distil, run_recipe
from fascicle.verbs.ensemble import ensemble

Make = Callable[..., DistilRecipe]
TYPES = ("Chemical", "Disease")


@pytest.fixture(scope="module")
def teachers(
    tiny_recipe: Callable[..., Recipe], tiny_run: Path, tmp_path_factory: pytest.TempPathFactory
) -> Any:
    """Run folders of models that learned the toy corpus, by family."""
    folder = tmp_path_factory.mktemp("teachers")
    found = {"softmax": tiny_run}
    for family in ("multilabel", "crf", "span"):
        recipe = tiny_recipe(model={"family": family}, training={"epochs": 30, "select": "last"})
        ended = list(run_recipe(recipe, folder / family))[-1]
        assert isinstance(ended, Finished)
        assert ended.answer.dev.micro.f1 > 0.9
        found[family] = folder / family
    return found


@pytest.fixture(scope="module")
def make(teachers: Any, toy_corpus: Path) -> Make:
    """Recipes of students of one layer."""

    def made(teacher: str | Path = "softmax", **changes: Any) -> DistilRecipe:
        defaults: dict[str, Any] = {
            "name": "small",
            "teacher": {"model": str(teachers.get(teacher, teacher))},
            "student": {"layers": [2]},
            "corpus": {"train": str(toy_corpus), "dev": str(toy_corpus), "documents": "sentence"},
            "reading": {"max_length": 32, "overlap": 4},
            "prediction": {},
            "training": {"epochs": 30, "learning_rate": 1e-2, "batch_size": 4, "precision": "fp32"},
        }
        recipe = parse_any({**defaults, **changes}, origin="small.toml")
        assert isinstance(recipe, DistilRecipe)
        return recipe

    return made


def documents_of(path: Path) -> list[Document]:
    corpus = CorpusSettings(train=str(path), dev=str(path), documents="sentence")
    return read_part(corpus, "train")


@pytest.mark.parametrize("family", ["softmax", "multilabel", "crf", "span"])
def test_answers_are_what_the_teacher_says_of_each_word(
    teachers: Any, toy_corpus: Path, family: str
) -> None:
    """In the types and the order of the student, for words that both see; a word that it does
    not see is unknown.
    """
    teacher, documents = load(teachers[family], links=False), documents_of(toy_corpus)
    read = read_documents(
        documents,
        load(teachers["softmax"], links=False)._tokenizer,
        reading=ReadingSettings(),
        level="word",
    )
    wanted = AnswerLabels(types=("Disease", "Chemical"), scheme="BIO", megabytes=1)
    found = teacher_answers(teacher, documents, read.pieces, labels=wanted, folder=Path("nowhere"))
    assert [table.shape for table in found.tables] == [(len(p.units), 4) for p in read.pieces]
    assert found.unseen == 0
    for table, tagged, pieces in zip(
        found.tables, teacher.tag(documents), read.pieces, strict=True
    ):
        words = [tuple(word) for word in tagged.words.tolist()]
        for row, unit in zip(table, pieces.units.tolist(), strict=True):
            said = tagged.probabilities[words.index(tuple(unit))]
            for column, name in enumerate(("Disease", "Chemical")):
                at = 2 * teacher.types.index(name)
                assert row[2 * column : 2 * column + 2] == pytest.approx(
                    said[at : at + 2], abs=1e-3
                )
    other = [replace(read.pieces[0], units=read.pieces[0].units[:1] + np.array([0, 1]))]
    assert (
        teacher_answers(teacher, documents[:1], other, labels=wanted, folder=Path("nowhere")).unseen
        == 1
    )


def test_answers_are_found_again_only_where_nothing_changed(
    teachers: Any, toy_corpus: Path, tmp_path: Path
) -> None:
    teacher, documents = load(teachers["softmax"], links=False), documents_of(toy_corpus)
    pieces = read_documents(
        documents, teacher._tokenizer, reading=ReadingSettings(), level="word"
    ).pieces
    wanted = AnswerLabels(types=TYPES, scheme="BIO", megabytes=1)
    found = teacher_answers(teacher, documents, pieces, labels=wanted, folder=tmp_path)
    found.save(tmp_path)
    asked = teacher.tag
    try:
        teacher.tag = lambda documents: pytest.fail("the teacher was asked again")  # type: ignore[method-assign]
        again = teacher_answers(teacher, documents, pieces, labels=wanted, folder=tmp_path)
        assert all(map(np.array_equal, again.tables, found.tables))
        with pytest.raises(pytest.fail.Exception):
            teacher_answers(teacher, documents[:3], pieces[:3], labels=wanted, folder=tmp_path)
    finally:
        teacher.tag = asked  # type: ignore[method-assign]
    other = teacher_answers(
        load(teachers["crf"], links=False), documents, pieces, labels=wanted, folder=tmp_path
    )
    assert not all(map(np.array_equal, other.tables, found.tables))
    flipped = (tmp_path / FILE).read_bytes()
    for damaged in (b"damaged", flipped[:-1] + bytes([flipped[-1] ^ 1])):
        (tmp_path / FILE).write_bytes(damaged)
        again = teacher_answers(teacher, documents, pieces, labels=wanted, folder=tmp_path)
        assert all(map(np.array_equal, again.tables, found.tables))


def test_more_answers_than_allowed_are_refused(teachers: Any) -> None:
    teacher = load(teachers["softmax"], links=False)
    documents = [Document(id=str(at), text="pain " * 100_000) for at in range(2)]
    pieces = read_documents(
        documents, teacher._tokenizer, reading=ReadingSettings(), level="word"
    ).pieces
    with pytest.raises(RecipeError, match="megabytes"):
        teacher_answers(
            teacher,
            documents,
            pieces,
            labels=AnswerLabels(types=TYPES, scheme="BIO", megabytes=1),
            folder=Path("nowhere"),
        )


def test_the_teacher_of_all_tags_is_a_distribution() -> None:
    head = SoftmaxTagger(SoftmaxSettings(), Basis(types=TYPES, width=4))
    given = np.array(
        [[0.1, 0.2, 0.3, 0.0], [1.0, 1.0, 0.0, 0.0], [-100, -100, -100, -100]], dtype=np.float32
    )
    found = head.soft_gold(given)
    assert found[0] == pytest.approx([0.4, 0.1, 0.2, 0.3, 0.0])
    assert found[1] == pytest.approx([0.0, 0.5, 0.5, 0.0, 0.0])
    assert (found[2] == IGNORED).all()


@pytest.mark.parametrize("kind", [SoftmaxTagger, MultiLabelTagger])
def test_a_head_that_says_what_its_teacher_says_has_no_loss(kind: Any) -> None:
    """At every temperature; and certain answers teach what labels teach."""
    torch.manual_seed(1)
    settings = SoftmaxSettings() if kind is SoftmaxTagger else MultiLabelSettings()
    head = kind(settings, Basis(types=TYPES, width=4))
    logits = torch.randn(2, 3, 5)
    wanted = logits.softmax(-1) if kind is SoftmaxTagger else logits.sigmoid()
    for temperature in (1.0, 4.0):
        assert float(
            head.imitation({"emissions": logits}, wanted, temperature=temperature)
        ) == pytest.approx(0, abs=1e-6)
    spans = np.array([[0, 2, 1]])
    gold = head.gold(spans, units=3)
    certain = gold if kind is MultiLabelTagger else np.eye(5, dtype=np.float32)[gold]
    scores = {"emissions": logits[:1]}
    assert float(head.imitation(scores, torch.from_numpy(certain)[None])) == pytest.approx(
        float(head.loss(scores, torch.from_numpy(gold)[None])), rel=1e-5
    )


@pytest.mark.parametrize("teacher", ["softmax", "multilabel", "crf", "span"])
def test_an_untrained_student_learns_from_answers_alone(
    make: Make, tmp_path: Path, teacher: str
) -> None:
    """Not one label of the gold decides a weight; the run folder is that of a recogniser."""
    student = {"size": {"layers": 1, "hidden": 24, "heads": 2, "feed_forward": 32}}
    events = list(run_recipe(make(teacher, student=student), tmp_path / "run"))
    scored, ended = [event for event in events if isinstance(event, Validated)], events[-1]
    assert isinstance(ended, Finished)
    assert scored[-1].loss < 0.5 * scored[0].loss
    assert ended.answer.dev.micro.f1 > 0.8
    assert not (tmp_path / "run" / FILE).exists()
    predictor = fascicle.load(tmp_path / "run", links=False)
    assert predictor.types == TYPES
    assert predictor.predict(documents_of(Path(make().corpus.train)))  # type: ignore[union-attr]


def test_gold_decides_nothing_without_a_share(make: Make, toy_corpus: Path, tmp_path: Path) -> None:
    poisoned = tmp_path / "poisoned.tsv"
    poisoned.write_text(toy_corpus.read_text().replace("B-Chemical", "B-Disease", 3))
    weights = []
    for name, train, gold in (("a", toy_corpus, 0.0), ("b", poisoned, 0.0), ("c", poisoned, 0.5)):
        corpus = {"train": str(train), "dev": str(toy_corpus), "documents": "sentence"}
        settings = {"epochs": 2, "precision": "fp32", "batch_size": 4, "select": "last"}
        recipe = make(corpus=corpus, prediction={"gold": gold}, training=settings)
        list(run_recipe(recipe, tmp_path / name))
        weights.append((tmp_path / name / "best" / "model.safetensors").read_bytes())
    assert weights[0] == weights[1] != weights[2]


def test_layers_and_answers_are_learned_together(make: Make, tmp_path: Path) -> None:
    training = {"epochs": 6, "learning_rate": 1e-3, "precision": "fp32", "batch_size": 4}
    recipe = make("multilabel", layers={}, training=training)
    trainee: Any = prepare_distil(recipe, tmp_path, {})
    trainable, data = trainee.loop.model, trainee.loop.data
    batch, targets = next(data.batches(size=4, seed=1, epoch=0))
    trainable.eval()
    scores = trainable(batch)
    layers, answers = scores["layers"], scores["multilabel"]["emissions"]
    wanted = scores["taught"]["taught"]
    expected = (
        layers["hidden"]
        + layers["attention"]
        + trainable.answers.model.head("multilabel").loss({"emissions": answers}, wanted)
    )
    assert float(trainable.loss(scores, targets).detach()) == pytest.approx(
        float(expected.detach())
    )
    events = list(run_recipe(recipe, tmp_path / "run"))
    losses = [event.loss for event in events if isinstance(event, StepDone)]
    assert sum(losses[-3:]) < sum(losses[:3])  # three batches are an epoch


def test_what_is_taught_is_of_the_windows_of_the_batch(make: Make, tmp_path: Path) -> None:
    trainee: Any = prepare_distil(make("multilabel"), tmp_path, {})
    data = trainee.loop.data
    # what prediction.megabytes allows
    assert {table.dtype for table in data.answers.tables} == {np.dtype(np.float16)}
    for batch, _ in data.batches(size=3, seed=1, epoch=0):
        taught = batch["taught"].numpy()
        assert taught.shape[:2] == tuple(batch["first_piece"].shape)
        inside = np.arange(taught.shape[1]) < batch["unit_count"].numpy()[:, None]
        assert ((taught >= 0).all(axis=2) == inside).all()
        for row, count in zip(taught, batch["unit_count"].tolist(), strict=True):
            assert any(
                np.array_equal(
                    row[:count], data.head.soft_gold(table[slice(*window.units)].astype(np.float32))
                )
                for window in data.windows
                for table in [data.answers.tables[window.document]]
            )


def test_several_corpora_are_taught_the_types_that_they_do_not_annotate(
    make: Make, teachers: Any, toy_corpus: Path, tmp_path: Path
) -> None:
    """The gold teaches each corpus its own types, the teacher all; without the teacher the
    others stay unknown.
    """
    one = {"train": str(toy_corpus), "dev": str(toy_corpus), "documents": "sentence"}
    parts = {
        "chemicals": one | {"annotates": ["Chemical"], "types": {"drop": ["Disease"]}},
        "diseases": one | {"annotates": ["Disease"], "types": {"drop": ["Chemical"]}},
    }
    defaults = msgspec.to_builtins(make("multilabel"))
    values = {key: defaults[key] for key in ("name", "teacher", "student", "reading", "prediction")}
    recipe = parse_any({**values, "parts": parts, "prediction": {"gold": 0.5}}, origin="a.toml")
    trainee: Any = prepare_distil(recipe, tmp_path, {})  # type: ignore[arg-type]
    data = trainee.loop.data
    assert len(data.windows) == 20
    for batch, targets in data.batches(size=4, seed=1, epoch=0):
        inside = np.arange(batch["taught"].shape[1]) < batch["unit_count"].numpy()[:, None]
        assert (batch["taught"].numpy()[inside] >= 0).all()
        assert (targets["multilabel"].numpy()[inside] < 0).any()
    assert "parts.chemicals.train" in recipe.files()


def test_gold_that_lacks_a_type_of_the_teacher_is_refused(
    make: Make, toy_corpus: Path, tmp_path: Path
) -> None:
    corpus = {
        "train": str(toy_corpus),
        "dev": str(toy_corpus),
        "documents": "sentence",
        "types": {"drop": ["Disease"]},
    }
    with pytest.raises(RecipeError, match="Disease"):
        list(run_recipe(make(corpus=corpus, prediction={"gold": 0.5}), tmp_path / "run"))
    prepare_distil(make(corpus=corpus), tmp_path, {})


def test_a_student_keeps_the_types_apart_that_its_teacher_keeps_apart(
    make: Make, teachers: Any, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(teachers["multilabel"] / "best", tmp_path / "teacher"))
    described = json.loads((folder / "model.json").read_text(encoding="utf-8"))
    described["decision"]["apart"] = ["Disease"]
    (folder / "model.json").write_text(json.dumps(described), encoding="utf-8")
    for decision, kept in (({}, "Disease"), ({"apart": ["Chemical"]}, "Chemical")):
        trainee: Any = prepare_distil(make(folder, decision=decision), tmp_path, {})
        assert trainee.prepared.manifest.types == TYPES
        assert trainee.prepared.manifest.decision.apart == (kept,)


def test_an_ensemble_teaches_by_its_answers(
    make: Make, teachers: Any, tiny_encoder: Path, tmp_path: Path
) -> None:
    """The mean of what its members say; it has no layers."""
    ensemble([teachers["span"], teachers["crf"]], tmp_path / "both", "union")
    recipe = make(tmp_path / "both", student={"encoder": str(tiny_encoder)})
    ended = list(run_recipe(recipe, tmp_path / "run"))[-1]
    assert isinstance(ended, Finished)
    assert ended.answer.head == "multilabel"
    assert ended.answer.dev.micro.f1 > 0.8
    for changes in ({"layers": {}}, {"student": {"layers": [1]}}):
        with pytest.raises(RecipeError, match="layers"):
            list(run_recipe(make(tmp_path / "both", **changes), tmp_path / "other"))


@pytest.mark.parametrize(
    ("teacher", "changes", "said"),
    [
        ("multilabel", {"head": {"family": "softmax"}}, "exclude each other"),
        ("softmax", {"head": {"family": "crf"}}, "cannot imitate"),
        ("softmax", {"head": {"family": "span"}}, "cannot imitate"),
        ("softmax", {"head": {"family": "softmax", "level": "piece"}}, "cannot imitate"),
    ],
)
def test_heads_that_cannot_imitate_are_refused(
    make: Make, tmp_path: Path, teacher: str, changes: dict[str, Any], said: str
) -> None:
    with pytest.raises(RecipeError, match=said):
        list(run_recipe(make(teacher, **changes), tmp_path / "run"))
    assert not (tmp_path / "run").exists()


def test_types_that_the_teacher_does_not_know_are_refused(
    make: Make, toy_corpus: Path, tmp_path: Path
) -> None:
    corpus = {
        "train": str(toy_corpus),
        "dev": str(toy_corpus),
        "types": {"rename": {"Chemical": "Drug"}},
    }
    with pytest.raises(RecipeError, match="Drug"):
        list(run_recipe(make(corpus=corpus), tmp_path / "run"))


def test_a_dictionary_has_no_probabilities_to_teach(
    make: Make, tiny_encoder: Path, tmp_path: Path
) -> None:
    names = tmp_path / "names.tsv"
    names.write_text("Chemical\taspirin\nDisease\tfever\n", encoding="utf-8")
    for changes in (
        {},
        {"student": {"encoder": str(tiny_encoder)}},
        {"head": {"family": "softmax"}},
    ):
        with pytest.raises(RecipeError, match="without probabilities, as a dictionary"):
            list(run_recipe(make(names, **changes), tmp_path / "run"))
        assert not (tmp_path / "run").exists()
