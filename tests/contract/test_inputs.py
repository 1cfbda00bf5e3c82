"""Heads that look units up: what they learn, save, export and refuse; and that nothing changes
where they do not.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
import torch
from torch import Tensor

from fascicle.core.document import Document, Mention
from fascicle.errors import FascicleError, ModelError
from fascicle.loading import load
from fascicle.models.encoder import load_pretrained
from fascicle.models.export.folders import export_model
from fascicle.models.model import TorchScorer, load_model, save_model
from fascicle.runtime.predictor import ModelPredictor
from fascicle.settings.folders.manifest import read_manifest, write_manifest
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.text.pieces import PieceTokenizer
from fascicle.text.reading import Reading
from fascicle.text.windows import FEATURES, collate
from fascicle.training.corpus import Parts
from fascicle.training.engine.loop import Trainer
from fascicle.training.recogniser.parts import read_parts
from fascicle.training.recogniser.prepare import Prepared, prepare, with_answering_head
from fascicle.training.run import run_recipe

NAMES = (
    "Chemical\taspirin\nChemical\tcaffeine\nDisease\tlung cancer\nDisease\theart "
    "failure\nOrgan\tlung\n"
)
MODELS: dict[str, dict[str, Any]] = {
    "crf": {"model": {"family": "crf"}},
    "span": {"model": {"family": "span", "level": "piece"}},
    "binder": {"model": {"family": "binder"}},
    "multilabel": {"model": {"family": "multilabel", "inference_pooling": "max"}},
    "softmax with special tokens": {
        "model": {"family": "softmax", "level": "piece", "specials": "include"}
    },
    "bundle": {
        "model": {"family": "softmax"},
        "bundle": {"family": "span", "level": "piece", "weight": 0.5},
    },
}
LEARNT = ("crf", "span", "bundle")


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("names")
    (folder / "names.tsv").write_text(NAMES, encoding="utf-8")
    (folder / "organs.tsv").write_text(
        "Organ\tlung\nOrgan\tliver\nDisease\tcancer\n", encoding="utf-8"
    )
    return folder


@pytest.fixture(scope="module")
def inputs(names: Path) -> dict[str, Any]:
    return {"dictionaries": [str(names / "names.tsv"), str(names / "organs.tsv")], "shape": True}


@dataclass(frozen=True, kw_only=True)
class Made:
    """A model, and what it was made of."""

    recipe: Recipe
    parts: Parts
    prepared: Prepared
    tokenizer: PieceTokenizer

    def trained(self) -> Made:
        for _ in self.trainer().run():
            pass
        self.prepared.model.eval()
        return self

    def trainer(self) -> Trainer:
        return Trainer(
            self.prepared.model, self.prepared.data, self.recipe.training, seed=self.recipe.seed
        )

    def predictor(self, *, answer: str = "", **options: Any) -> ModelPredictor:
        manifest = (
            with_answering_head(self.prepared.manifest, answer)
            if answer
            else self.prepared.manifest
        )
        scorer = TorchScorer(model=self.prepared.model.eval(), answer=answer)
        return ModelPredictor(
            manifest, self.tokenizer, scorer, read=self.prepared.inputs.reader, **options
        )

    def save(self, folder: Path) -> Path:
        folder.mkdir(parents=True)
        files = self.prepared.inputs.files
        manifest = self.prepared.manifest
        save_model(
            folder,
            self.prepared.model,
            manifest=manifest,
            tokenizer=self.tokenizer,
            dictionaries=files,
        )
        return folder

    def read(self, texts: list[str]) -> Reading:
        documents = [Document(id=str(at), text=text) for at, text in enumerate(texts)]
        level = self.prepared.manifest.answering.level
        return self.prepared.inputs.reader(
            documents, self.tokenizer, reading=self.recipe.reading, level=level
        )

    def tables(self, texts: list[str], **changes: Tensor) -> dict[str, Tensor]:
        """What the answering head says of the first window of each text."""
        read = self.read(texts)
        arrays = collate([cut[0] for cut in read.windows], read.pieces, self.tokenizer)
        batch = {name: torch.from_numpy(array) for name, array in arrays.items()} | changes
        with torch.no_grad():
            return self.prepared.model.eval().answers(batch)


def make(recipe: Recipe) -> Made:
    pretrained = load_pretrained(recipe.model.encoder)
    torch.manual_seed(recipe.seed)
    parts = read_parts(recipe.corpus)
    prepared = prepare(recipe, parts, pretrained)
    return Made(recipe=recipe, parts=parts, prepared=prepared, tokenizer=pretrained.tokenizer)


@pytest.fixture(scope="module", params=LEARNT)
def learnt(
    request: pytest.FixtureRequest, tiny_recipe: Callable[..., Recipe], inputs: dict[str, Any]
) -> Made:
    tables = MODELS[request.param]
    epochs = 30 if request.param == "crf" else 60
    return make(tiny_recipe(**tables, inputs=inputs, training={"epochs": epochs})).trained()


def assert_same(ours: tuple[Mention, ...], theirs: tuple[Mention, ...]) -> None:
    assert [m.key for m in ours] == [m.key for m in theirs]
    assert [m.score for m in ours] == pytest.approx([m.score for m in theirs], abs=1e-5)


@pytest.mark.parametrize("name", MODELS)
def test_a_fresh_model_computes_what_it_would_without(
    tiny_recipe: Callable[..., Recipe], inputs: dict[str, Any], name: str
) -> None:
    plain = make(tiny_recipe(**MODELS[name]))
    drawn = torch.get_rng_state()
    made = make(tiny_recipe(**MODELS[name], inputs={**inputs, "dropout": 0.0}))
    assert torch.equal(drawn, torch.get_rng_state())
    ours, theirs = made.prepared.model.state_dict(), plain.prepared.model.state_dict()
    vectors = {key for key in ours if key.endswith("units.vectors.table")}
    assert ours.keys() - vectors == theirs.keys()
    assert len(vectors) == len(made.prepared.model.heads)
    assert all(torch.equal(theirs[key], ours[key]) for key in theirs)
    assert not any(ours[key].any() for key in vectors)
    texts = [d.text for d in made.parts.train]
    tables, others = made.tables(texts), plain.tables(texts)
    assert tables.keys() == others.keys()
    assert all(torch.equal(tables[key], others[key]) for key in tables)
    losses = []
    for one in (plain, made):
        model = one.prepared.model.train()
        batch, targets = next(one.prepared.data.batches(size=4, seed=1, epoch=0))
        torch.manual_seed(3)
        losses.append(model.loss(model(batch), targets))
    assert torch.equal(losses[0], losses[1])


def unit_states(made: Made, batch: dict[str, Tensor], *, training: bool) -> Tensor:
    """The states of units of the answering head, from zero states of pieces: the vectors alone."""
    model = made.prepared.model
    units = model.head(model.answer).units
    units.train(training)
    units.dropout.p = 0.0
    shape = (*batch["input_ids"].shape, model.encoder.width)
    with torch.no_grad():
        found: Tensor = units(torch.zeros(shape), batch)
    return found


def with_vectors(made: Made) -> Made:
    """With vectors that tell all columns apart."""
    chance = torch.Generator().manual_seed(1)
    for head in made.prepared.model.heads.values():
        table = head.units.vectors.table  # type: ignore[union-attr]
        with torch.no_grad():
            table.copy_(torch.randn(table.shape, generator=chance))
    return made


@pytest.mark.parametrize("pooling", ["first", "max", "mean"])
def test_a_unit_gets_the_sum_of_its_vectors(
    tiny_recipe: Callable[..., Recipe], inputs: dict[str, Any], pooling: str
) -> None:
    made = with_vectors(make(tiny_recipe(model={"pooling": pooling}, inputs=inputs)))
    read = made.read(["the Lung cancer pain of a patient", "LUNG"])
    batch = {
        name: torch.from_numpy(array)
        for name, array in collate(
            [cut[0] for cut in read.windows], read.pieces, made.tokenizer
        ).items()
    }
    states = unit_states(made, batch, training=False)
    table = made.prepared.model.head("softmax").units.vectors.table  # type: ignore[union-attr]
    for row, pieces in enumerate(read.pieces):
        assert pieces.inputs is not None
        for at, known in enumerate(pieces.inputs.rows):
            wanted = sum(
                (table[column] for column in np.flatnonzero(known)), torch.zeros(table.shape[1])
            )
            assert torch.allclose(states[row, at], wanted, atol=1e-6)
    assert not states[1, 1:].any()
    assert made.prepared.manifest.inputs.types == ("Chemical", "Disease", "Organ")  # type: ignore[union-attr]


def test_features_are_dropped_for_whole_windows_in_training_alone(
    tiny_recipe: Callable[..., Recipe], inputs: dict[str, Any]
) -> None:
    made = with_vectors(make(tiny_recipe(inputs={**inputs, "dropout": 0.5})))
    vectors = made.prepared.model.head("softmax").units.vectors
    assert vectors is not None
    features = torch.ones(400, 3, len(vectors.table), dtype=torch.long)
    with torch.no_grad():
        vectors.eval()
        random = torch.get_rng_state()
        whole = vectors(features)
        assert torch.equal(random, torch.get_rng_state())
        vectors.train()
        dropped = vectors(features)
    blocks = torch.split(vectors.table.detach(), list(vectors.blocks))
    outcomes = [torch.zeros(32), blocks[0].sum(0), blocks[1].sum(0), vectors.table.detach().sum(0)]
    which = [[bool(torch.allclose(row[0], one, atol=1e-4)) for one in outcomes] for row in dropped]
    assert [sum(row) for row in which] == [1] * 400
    assert all(60 < count < 140 for count in torch.tensor(which).sum(0).tolist())
    assert torch.allclose(dropped, dropped[:, :1].expand(-1, 3, -1))
    assert torch.allclose(whole, outcomes[3].expand(400, 3, -1), atol=1e-4)


@pytest.mark.parametrize("name", MODELS)
def test_neither_padding_nor_neighbours_change_anything(
    tiny_recipe: Callable[..., Recipe], inputs: dict[str, Any], name: str
) -> None:
    made = with_vectors(make(tiny_recipe(**MODELS[name], inputs=inputs)))
    texts = [d.text for d in made.parts.train] + ["", "Lung cancer", "aspirin " * 60]
    documents = [Document(id=str(at), text=text) for at, text in enumerate(texts)]
    for head in made.prepared.manifest.heads:
        predictor = made.predictor(answer=head)
        together = predictor.predict(documents)
        for document, patch in zip(documents, together, strict=True):
            assert_same(predictor.predict([document])[0].add, patch.add)
    whole = Document(id="d", text=" . ".join(texts * 2))
    parts = made.predictor(max_characters=100)
    assert_same(parts.predict([whole])[0].add, made.predictor().predict([whole])[0].add)


@pytest.mark.parametrize("name", MODELS)
def test_what_is_known_changes_the_answer(
    tiny_recipe: Callable[..., Recipe], inputs: dict[str, Any], name: str
) -> None:
    made = with_vectors(make(tiny_recipe(**MODELS[name], inputs=inputs)))
    texts = ["the Lung cancer pain"]
    read = made.read(texts)
    features = collate([read.windows[0][0]], read.pieces, made.tokenizer)[FEATURES]
    tables, others = (
        made.tables(texts),
        made.tables(texts, features=torch.from_numpy(np.zeros_like(features))),
    )
    assert any(not torch.allclose(tables[key], others[key], atol=1e-3) for key in tables)


def test_every_vector_of_what_is_seen_is_trained(learnt: Made) -> None:
    for head in learnt.prepared.model.heads.values():
        table = head.units.vectors.table.detach()  # type: ignore[union-attr]
        seen = np.concatenate(
            [p.inputs.rows for p in learnt.prepared.data.views[head.level].pieces]  # type: ignore[index]
        ).any(axis=0)
        assert seen.any()
        assert not seen.all()
        assert table.abs().sum(dim=1).gt(0).numpy().tolist() == seen.tolist()


def test_ten_sentences_are_learnt(learnt: Made) -> None:
    gold = learnt.parts.train
    found = learnt.predictor().predict(gold)
    right = sum(
        len({(m.type, m.spans) for m in d.mentions} & {(m.type, m.spans) for m in p.add})
        for d, p in zip(gold, found, strict=True)
    )
    assert right == sum(len(d.mentions) for d in gold) == sum(len(p.add) for p in found)


@pytest.fixture(scope="module")
def saved(learnt: Made, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return learnt.save(tmp_path_factory.mktemp("saved") / "model")


def test_a_saved_model_needs_no_other_file(learnt: Made, saved: Path, tmp_path: Path) -> None:
    shutil.move(shutil.copytree(saved, tmp_path / "one"), tmp_path / "two")
    predictor = load(tmp_path / "two", links=False)
    assert predictor.predict(learnt.parts.train) == learnt.predictor().predict(learnt.parts.train)
    facts = read_manifest(saved).inputs
    assert facts
    assert [one.name for one in facts.dictionaries] == ["names.tsv", "organs.tsv"]
    assert {one.file for one in facts.dictionaries} <= read_manifest(saved).files.keys()
    assert [one.names for one in facts.dictionaries] == [5, 3]
    assert (
        load_model(saved, read_manifest(saved)).state_dict().keys()
        == learnt.prepared.model.state_dict().keys()
    )


@pytest.mark.parametrize("int8", [False, True])
def test_the_exported_model_predicts_the_same(
    learnt: Made, saved: Path, tmp_path: Path, int8: bool
) -> None:
    pytest.importorskip("onnx")
    export_model(saved, tmp_path / "onnx", int8=int8, sample=learnt.parts.train)
    manifest = read_manifest(tmp_path / "onnx")
    assert manifest.inputs == read_manifest(saved).inputs
    texts = [Document(id=str(at), text=d.text) for at, d in enumerate(learnt.parts.train)]
    ours, theirs = (
        load(tmp_path / "onnx", links=False).predict(texts),
        learnt.predictor().predict(texts),
    )
    if not int8:
        for patch, other in zip(ours, theirs, strict=True):
            assert_same(patch.add, other.add)
    keys = [[m.key for m in patch.add] for patch in ours]
    assert (
        sum(a == [m.key for m in b.add] for a, b in zip(keys, theirs, strict=True)) >= len(keys) - 1
    )
    assert "looks up: the 5 names of names.tsv" in (tmp_path / "onnx" / "README.md").read_text(
        encoding="utf-8"
    )


def without_hash(folder: Path) -> None:
    manifest = read_manifest(folder)
    write_manifest(folder, manifest, names=sorted(manifest.files.keys() - {"dictionary-2.tsv.gz"}))


def flipped(folder: Path) -> None:
    path = folder / "dictionary-1.tsv.gz"
    content = path.read_bytes()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))


def saying(**changes: Any) -> Callable[[Path], None]:
    """Changes what the manifest says of the inputs."""

    def change(folder: Path) -> None:
        manifest = read_manifest(folder)
        assert manifest.inputs
        write_manifest(
            folder,
            msgspec.structs.replace(
                manifest, inputs=msgspec.structs.replace(manifest.inputs, **changes)
            ),
        )

    return change


def with_another_rule(folder: Path) -> None:
    inputs = read_manifest(folder).inputs
    assert inputs
    saying(
        dictionaries=tuple(
            msgspec.structs.replace(one, rule="unheard") for one in inputs.dictionaries
        )
    )(folder)


def named_elsewhere(folder: Path) -> None:
    path = folder / "model.json"
    path.write_text(
        path.read_text(encoding="utf-8").replace('"file": "dict', '"file": "../dict'),
        encoding="utf-8",
    )


@pytest.mark.parametrize(
    ("told", "damage"),
    [
        ("lacks dictionary-1.tsv.gz", lambda folder: (folder / "dictionary-1.tsv.gz").unlink()),
        ("dictionary-1.tsv.gz is damaged", flipped),
        ("no hash of dictionary-2.tsv.gz", without_hash),
        ("types", saying(types=("Chemical", "Disease", "Place"))),
        ("shapes@9", saying(shapes="shapes@9")),
        ("unheard", with_another_rule),
        ("dictionaries", named_elsewhere),
    ],
)
def test_a_folder_without_its_dictionary_is_refused(
    tiny_recipe: Callable[..., Recipe],
    inputs: dict[str, Any],
    tmp_path: Path,
    told: str,
    damage: Callable[[Path], object],
) -> None:
    folder = make(tiny_recipe(inputs=inputs)).save(tmp_path / "model")
    load(folder, links=False)
    damage(folder)
    for use in (load, lambda place: export_model(place, tmp_path / "export", int8=False)):
        with pytest.raises(ModelError, match=told) as error:
            use(folder)
        assert "\n" not in str(error.value)
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_a_model_is_not_run_without_what_it_reads(learnt: Made) -> None:
    manifest = learnt.prepared.manifest
    with pytest.raises(ValueError, match="looks units up"):
        ModelPredictor(manifest, learnt.tokenizer, TorchScorer(model=learnt.prepared.model))


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("Chemical\n", "column"),
        ("\n", "no name"),
        ("\taspirin\n", "type"),
        ("".join(f"T{at}\tname{at}\n" * 2 for at in range(65)), "65 types"),
        ("Chemical\t-\n", "no name"),
        (None, "does not exist"),
    ],
)
def test_dictionaries_that_cannot_be_read(
    tiny_recipe: Callable[..., Recipe], tmp_path: Path, content: str | None, told: str
) -> None:
    path = tmp_path / "names.tsv"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    with pytest.raises(FascicleError, match=told) as error:
        list(run_recipe(tiny_recipe(inputs={"dictionaries": [str(path)]}), tmp_path / "run"))
    assert "\n" not in str(error.value)
    path.unlink(missing_ok=True)
    path.mkdir()
    with pytest.raises(FascicleError, match="folder"):
        list(run_recipe(tiny_recipe(inputs={"dictionaries": [str(path)]}), tmp_path / "run"))


def test_other_types_are_looked_for_with_the_same_dictionary(
    tiny_recipe: Callable[..., Recipe], inputs: dict[str, Any], toy_types: Path, tmp_path: Path
) -> None:
    made = with_vectors(make(tiny_recipe(model={"family": "binder"}, inputs=inputs)))
    folder = made.save(tmp_path / "model")
    own, same = load(folder, links=False), load(folder, types=toy_types, links=False)
    for patch, other in zip(
        own.predict(made.parts.train), same.predict(made.parts.train), strict=True
    ):
        assert_same(patch.add, other.add)
