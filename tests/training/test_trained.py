"""``model.start``: the training of a model goes on, on the same or another corpus."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from tests.support.runs import finish, metrics
from transformers import AutoConfig, AutoModel

from fascicle.core.document import Document
from fascicle.errors import FascicleError, ModelError, OutputError, RecipeError
from fascicle.formats import read
from fascicle.formats.conll import ConllOptions
from fascicle.loading import load
from fascicle.models.export.folders import export_model
from fascicle.models.heads.tagger import MultiLabelTagger
from fascicle.runtime.places import find_model
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.training.engine.events import Note
from fascicle.training.experiments.hashes import data_hashes
from fascicle.training.run import run_recipe
from fascicle.training.starting import open_trained

Maker = Callable[..., Recipe]
STILL = {"epochs": 1, "learning_rate": 1e-30, "weight_decay": 0.0}  # a step changes no weight


def going_on(make: Maker, start: Path, **changes: Any) -> Recipe:
    model = {"encoder": "", "start": str(start), **changes.pop("model", {})}
    return make(model=model, training=STILL | changes.pop("training", {}), **changes)


def answers(folder: Path, corpus: Path) -> list[Any]:
    documents = list(read(corpus, format="conll", options=ConllOptions(documents="sentence")))
    return [patch.add for patch in load(folder, links=False).predict(documents)]


def head_of(start: str) -> MultiLabelTagger:
    head = open_trained(start, key="start", use="").model.head("multilabel")
    assert isinstance(head, MultiLabelTagger)
    return head


def notes(recipe: Recipe, folder: Path) -> str:
    return "\n".join(event.text for event in run_recipe(recipe, folder) if isinstance(event, Note))


@pytest.mark.parametrize(
    "changes",
    [
        {"model": {"family": "crf"}},
        {"model": {"family": "multilabel"}},
        {"model": {"family": "span"}},
        {"model": {"family": "span"}, "bundle": {"family": "crf", "weight": 0.5}},
    ],
    ids=["crf", "multilabel", "span", "bundle"],
)
def test_a_model_that_learns_nothing_more_answers_as_before(
    tiny_recipe: Maker, toy_corpus: Path, tmp_path: Path, changes: dict[str, Any]
) -> None:
    finish(tiny_recipe(training={"epochs": 3}, **changes), tmp_path / "first")
    said = notes(going_on(tiny_recipe, tmp_path / "first", **changes), tmp_path / "second")
    assert "is new" not in said
    assert answers(tmp_path / "second", toy_corpus) == answers(tmp_path / "first", toy_corpus) != []


@pytest.mark.parametrize("int8", [False, True], ids=["fp32", "int8"])
@pytest.mark.parametrize("family", ["softmax", "multilabel"])
def test_an_export_can_be_trained_further(
    tiny_recipe: Maker, toy_corpus: Path, tmp_path: Path, family: str, int8: bool
) -> None:
    finish(tiny_recipe(training={"epochs": 3}, model={"family": family}), tmp_path / "first")
    export_model(
        tmp_path / "first",
        tmp_path / "export",
        int8=int8,
        sample=[Document(id="1", text="aspirin and lung cancer")],
    )
    said = notes(
        going_on(tiny_recipe, tmp_path / "export", model={"family": family}), tmp_path / "second"
    )
    assert "is new" not in said
    first, second = (
        load_file(tmp_path / name / "best" / "model.safetensors") for name in ("first", "second")
    )
    assert first.keys() == second.keys()
    for name, weights in first.items():
        step = weights.abs().max() / 63 if int8 else 1e-6  # of a number in 7 bits
        assert (weights - second[name]).abs().max() <= step, name
    assert [{m.key for m in found} for found in answers(tmp_path / "second", toy_corpus)]


def test_a_shipped_model_can_be_trained_further_for_some_of_its_types_and_new_ones(
    tiny_recipe: Maker, tmp_path: Path
) -> None:
    recipe = going_on(
        tiny_recipe,
        find_model("biomed-fast"),
        model={"family": "multilabel"},
        inputs={"shape": True},
        corpus={"types": {"rename": {"Chemical": "Remedy"}}},
    )
    said = notes(recipe, tmp_path / "run")
    assert "goes on with the weights of biomed-fast@2; those of Remedy are new" in said
    before, after = (head_of(start) for start in ("biomed-fast", str(tmp_path / "run")))
    assert set(after.labels) == {"O", "B-Disease", "I-Disease", "B-Remedy", "I-Remedy"}
    for label in ("O", "B-Disease", "I-Disease"):
        old, new = (
            head.linear.weight[head.labels.index(label)].detach() for head in (before, after)
        )
        assert torch.nn.functional.cosine_similarity(old, new, dim=0) > 0.99
    fresh = after.linear.weight[after.labels.index("B-Remedy")].detach()
    assert torch.nn.functional.cosine_similarity(old, fresh, dim=0) < 0.9


def test_a_model_without_a_common_type_hands_on_its_encoder_alone(
    tiny_recipe: Maker, tmp_path: Path
) -> None:
    recipe = going_on(
        tiny_recipe,
        find_model("biomed-fast"),
        model={"family": "multilabel"},
        inputs={"shape": True},
        corpus={"types": {"rename": {"Chemical": "Remedy", "Disease": "Illness"}}},
    )
    assert "the head 'multilabel' is new, for that of biomed-fast@2 has other types" in notes(
        recipe, tmp_path / "run"
    )


def test_an_export_that_lacks_weights_names_its_run_folder(
    tiny_recipe: Maker, tmp_path: Path
) -> None:
    finish(tiny_recipe(model={"family": "span"}), tmp_path / "first")
    export_model(tmp_path / "first", tmp_path / "export", int8=False)
    with pytest.raises(ModelError, match="give the run folder of its training"):
        finish(
            going_on(tiny_recipe, tmp_path / "export", model={"family": "span"}), tmp_path / "run"
        )
    assert not (tmp_path / "run" / "best").exists()


def like(tiny_encoder: Path, folder: Path, kind: str, **settings: Any) -> Path:
    """Copies an encoder with random weights of another configuration."""
    shutil.copytree(tiny_encoder, folder)
    sizes = ("vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads")
    before = AutoConfig.from_pretrained(tiny_encoder)
    facts = {name: getattr(before, name) for name in (*sizes, "intermediate_size")}
    config = AutoConfig.for_model(
        kind, max_position_embeddings=64, pad_token_id=0, **facts, **settings
    )
    torch.manual_seed(1)
    AutoModel.from_config(config, add_pooling_layer=False).save_pretrained(folder)
    return folder


@pytest.mark.parametrize("int8", [False, True], ids=["fp32", "int8"])
def test_an_export_of_another_encoder_with_weights_of_the_same_names_is_refused(
    tiny_recipe: Maker, tiny_encoder: Path, tmp_path: Path, int8: bool
) -> None:
    roberta = like(tiny_encoder, tmp_path / "roberta", "roberta")
    finish(tiny_recipe(training={"epochs": 1}, model={"encoder": str(roberta)}), tmp_path / "first")
    sample = [Document(id="1", text="aspirin and lung cancer")]
    export_model(tmp_path / "first", tmp_path / "export", int8=int8, sample=sample)
    with pytest.raises(ModelError, match="not of the kind BERT; give the run folder"):
        open_trained(str(tmp_path / "export"), key="model.start", use="")


@pytest.mark.parametrize("activation", ["relu", "gelu_new"])
@pytest.mark.parametrize("int8", [False, True], ids=["fp32", "int8"])
def test_an_export_keeps_the_activation_and_the_epsilon_of_its_encoder(
    tiny_recipe: Maker, tiny_encoder: Path, tmp_path: Path, int8: bool, activation: str
) -> None:
    other = like(
        tiny_encoder, tmp_path / "other", "bert", hidden_act=activation, layer_norm_eps=1e-3
    )
    finish(tiny_recipe(training={"epochs": 1}, model={"encoder": str(other)}), tmp_path / "first")
    sample = [Document(id="1", text="aspirin and lung cancer")]
    export_model(tmp_path / "first", tmp_path / "export", int8=int8, sample=sample)
    trained = open_trained(str(tmp_path / "export"), key="model.start", use="")
    config = trained.model.encoder.config
    assert config.hidden_act == activation
    assert config.layer_norm_eps == pytest.approx(1e-3)


def test_training_goes_on_from_what_was_learnt(
    tiny_recipe: Maker, tiny_run: Path, tmp_path: Path
) -> None:
    finish(
        going_on(tiny_recipe, tiny_run, training={"epochs": 1, "learning_rate": 1e-4}),
        tmp_path / "run",
    )
    finish(tiny_recipe(training={"epochs": 1, "learning_rate": 1e-4}), tmp_path / "fresh")
    assert (
        metrics(tmp_path / "run")[0]["dev"]["micro"]["f1"]
        > 0.9
        > metrics(tmp_path / "fresh")[0]["dev"]["micro"]["f1"]
    )


def test_a_head_of_other_types_is_new_and_the_encoder_is_not(
    tiny_recipe: Maker, tiny_run: Path, toy_corpus: Path, tmp_path: Path
) -> None:
    recipe = going_on(tiny_recipe, tiny_run, corpus={"types": {"keep": ["Disease"]}})
    said = notes(recipe, tmp_path / "run")
    assert "'softmax' is new" in said
    assert "Chemical" in said
    before, after = (
        load_file(folder / "best" / "model.safetensors") for folder in (tiny_run, tmp_path / "run")
    )
    encoder = [name for name in before if name.startswith("encoder.")]
    assert encoder
    assert all((before[name] == after[name]).all() for name in encoder)
    assert {
        mention.type for found in answers(tmp_path / "run", toy_corpus) for mention in found
    } <= {"Disease"}


def test_a_head_with_other_settings_is_new(
    tiny_recipe: Maker, tiny_run: Path, tmp_path: Path
) -> None:
    assert "is new" in notes(
        going_on(tiny_recipe, tiny_run, model={"family": "crf"}), tmp_path / "crf"
    )
    assert "is new" in notes(
        going_on(tiny_recipe, tiny_run, model={"scheme": "IO"}), tmp_path / "io"
    )


def test_the_model_names_the_encoder_that_it_began_with(
    tiny_recipe: Maker, tiny_run: Path, tiny_encoder: Path, tmp_path: Path
) -> None:
    finish(going_on(tiny_recipe, tiny_run), tmp_path / "run")
    manifest = json.loads((tmp_path / "run" / "best" / "model.json").read_text(encoding="utf-8"))
    assert manifest["encoder"] == str(tiny_encoder)


def test_a_run_knows_what_it_started_from(
    tiny_recipe: Maker, tiny_run: Path, tmp_path: Path
) -> None:
    shutil.copytree(tiny_run, tmp_path / "copy")
    recipe = going_on(tiny_recipe, tmp_path / "copy", training={"learning_rate": 1e-3})
    before = data_hashes(recipe)
    finish(recipe, tmp_path / "run")
    facts = json.loads((tmp_path / "run" / "run.json").read_text(encoding="utf-8"))
    assert facts["data"]["model.start"]["sha256"] == before["model.start"]
    assert (
        data_hashes(going_on(tiny_recipe, tmp_path / "run"))["model.start"] != before["model.start"]
    )
    (tmp_path / "run" / "scores.json").unlink()  # as if the run had not come to its end
    shutil.rmtree(tmp_path / "copy" / "best")
    shutil.copytree(tmp_path / "run" / "best", tmp_path / "copy" / "best")
    with pytest.raises(OutputError, match="the model that training starts from has changed"):
        finish(recipe, tmp_path / "run", resume=True)
    weights = tmp_path / "copy" / "best" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-4] + b"1234")
    with pytest.raises(ModelError, match="safetensors"):
        finish(recipe, tmp_path / "again")


def test_what_training_cannot_go_on_from_is_refused(
    tiny_recipe: Maker, tiny_run: Path, toy_corpus: Path, tmp_path: Path
) -> None:
    names = tmp_path / "names.tsv"
    names.write_text("Chemical\taspirin\n", encoding="utf-8")
    half = tmp_path / "half"
    shutil.copytree(tiny_run, half)
    (half / "scores.json").unlink()  # as if it had been killed
    places = {tmp_path / "none": "does not exist", tmp_path: "model"}
    places[half] = "has not ended; finish it, or give its model so far, .*best"
    for wrong, word in {**places, names: "is a dictionary .*, which cannot be trained"}.items():
        with pytest.raises(FascicleError, match=word):
            finish(going_on(tiny_recipe, wrong), tmp_path / "run")
        assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "model",
    [{"start": "runs/a"}, {"encoder": ""}, {"encoder": "", "start": "runs/a", "revision": "main"}],
)
def test_an_encoder_is_named_once(tiny_recipe: Maker, model: dict[str, str]) -> None:
    with pytest.raises(RecipeError, match=r"encoder|revision"):
        tiny_recipe(model=model)


NAMES = {
    "one": "Chemical\taspirin\nDisease\tlung cancer\n",
    "two": "Disease\tlung cancer\nOrgan\tliver\n",
}


def test_vectors_of_inputs_go_on_by_their_names(
    tiny_recipe: Maker, tiny_run: Path, toy_corpus: Path, tmp_path: Path
) -> None:
    """A model gets dictionaries later and answers as before; then others, of which it knows the
    shared types.
    """
    for name, text in NAMES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    first = {"dictionaries": [str(tmp_path / "one")], "shape": True}
    said = notes(going_on(tiny_recipe, tiny_run, inputs=first), tmp_path / "given")
    assert "of 20 vectors of inputs 0 go on" in said
    assert answers(tmp_path / "given", toy_corpus) == answers(tiny_run, toy_corpus)
    training = {"epochs": 1, "learning_rate": 1e-2}
    finish(going_on(tiny_recipe, tiny_run, inputs=first, training=training), tmp_path / "learnt")
    said = notes(going_on(tiny_recipe, tmp_path / "learnt", inputs=first), tmp_path / "same")
    assert "of 20 vectors of inputs 20 go on" in said
    assert answers(tmp_path / "same", toy_corpus) == answers(tmp_path / "learnt", toy_corpus)
    second = {"dictionaries": [str(tmp_path / "two")]}
    said = notes(going_on(tiny_recipe, tmp_path / "learnt", inputs=second), tmp_path / "other")
    assert "of 8 vectors of inputs 4 go on" in said
    assert "16 vectors of inputs of tiny are not used" in said
    before, after = (
        load_file(tmp_path / name / "best" / "model.safetensors")[
            "heads.softmax.units.vectors.table"
        ]
        for name in ("learnt", "other")
    )
    assert before[4:8].any()
    assert (after[:4] == before[4:8]).all()
    assert after[4:].abs().max() < 1e-20
    said = notes(going_on(tiny_recipe, tmp_path / "learnt"), tmp_path / "none")
    assert "20 vectors of inputs of tiny are not used" in said
