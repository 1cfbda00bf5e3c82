"""Distillation by layers: what is compared, what stays as it is, what comes out, and what is
refused.
"""

from __future__ import annotations

import itertools
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from tokenizers import Tokenizer

from fascicle.errors import FascicleError, InputError, RecipeError
from fascicle.formats import read
from fascicle.formats.conll import ConllOptions
from fascicle.formats.exclusions import Exclusion, write_exclusions
from fascicle.formats.predictions import text_hash
from fascicle.models.encoder import Encoder, Pretrained, load_pretrained, save_pretrained
from fascicle.models.layers import with_layers
from fascicle.settings.recipes.any import parse_any
from fascicle.settings.recipes.distil import DistilRecipe, LayerSettings, TeacherSettings
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.text.pieces import PieceTokenizer
from fascicle.training.distil.run import LayersFinished
from fascicle.training.distil.student import (
    LAYERS,
    LayerLosses,
    Student,
    Teacher,
    differing_pieces,
    map_token_ids,
)
from fascicle.training.engine.events import Validated
from fascicle.training.engine.loop import StepDone
from fascicle.training.experiments.hashes import data_hashes, recipe_hash
from fascicle.training.run import prepare_distil, run_recipe
from fascicle.training.starting import open_encoder

Make = Callable[..., DistilRecipe]


@pytest.fixture(scope="module")
def make(tiny_encoder: Path, toy_corpus: Path) -> Make:
    """Recipes of students of the tiny encoder, which has two layers of two heads."""
    defaults: dict[str, Any] = {
        "name": "small",
        "teacher": {"encoder": str(tiny_encoder)},
        "student": {"size": {"layers": 1, "hidden": 12, "heads": 2, "feed_forward": 16}},
        "corpus": {"train": str(toy_corpus), "dev": str(toy_corpus), "documents": "sentence"},
        "reading": {"max_length": 32, "overlap": 4},
        "layers": {},
        "training": {"epochs": 3, "learning_rate": 1e-2, "batch_size": 4, "precision": "fp32"},
    }

    def made(**changes: Any) -> DistilRecipe:
        tables = {key: value for key, value in {**defaults, **changes}.items() if value is not None}
        recipe = parse_any(tables, origin="small.toml")
        assert isinstance(recipe, DistilRecipe)
        return recipe

    return made


def batch_of(pretrained: Pretrained, *texts: str) -> dict[str, torch.Tensor]:
    tokenizer = pretrained.tokenizer
    rows = [[*tokenizer.prefix, *ids, *tokenizer.suffix] for ids, _ in tokenizer.encode(texts)]
    longest = max(map(len, rows))
    padded = torch.tensor([row + [tokenizer.pad] * (longest - len(row)) for row in rows])
    mask = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in rows])
    return {"input_ids": padded, "attention_mask": mask}


def said_by(one: Pretrained, batch: dict[str, torch.Tensor]) -> Any:
    """What transformers says of all layers."""
    network: Any = one.encoder.network.eval()
    network.set_attn_implementation("eager")
    return network(**batch, output_hidden_states=True, output_attentions=True)


TEXTS = ("the patient has lung cancer .", "aspirin caused pain in the heart , and fever .")


@pytest.mark.parametrize("compared", ["scores", "probabilities"])
@pytest.mark.parametrize("faithful", [False, True])
def test_a_student_that_is_its_teacher_has_no_loss(
    tiny_encoder: Path, compared: str, faithful: bool
) -> None:
    """The projection begins as the identity where widths are equal."""
    one, other = load_pretrained(str(tiny_encoder)), load_pretrained(str(tiny_encoder))
    settings = LayerSettings(compared=compared, faithful=faithful)  # type: ignore[arg-type]
    losses = LayerLosses(settings, student=one.encoder, teacher=Teacher(other, one.tokenizer))
    found = Student(one.encoder, layers=losses).eval()(batch_of(one, *TEXTS))[LAYERS]
    assert set(found) == {"hidden", "attention"}
    assert all(float(loss.detach()) == pytest.approx(0, abs=1e-9) for loss in found.values())


def test_losses_are_sums_over_mapped_layers(tiny_encoder: Path) -> None:
    """Against the hidden states and probabilities that transformers gives, layer by layer."""
    teacher = load_pretrained(str(tiny_encoder))
    student = Pretrained(encoder=with_layers(teacher.encoder, (2,)), tokenizer=teacher.tokenizer)
    torch.nn.init.normal_(next(student.encoder.parameters()), std=0.1)
    student.encoder.eval()
    losses = LayerLosses(
        LayerSettings(compared="probabilities", faithful=True),
        student=student.encoder,
        teacher=Teacher(teacher, student.tokenizer),
    )
    assert losses.map == (2,)
    torch.nn.init.normal_(losses.projection.weight)
    torch.nn.init.normal_(losses.projection.bias)
    batch = batch_of(student, *TEXTS)
    found = Student(student.encoder, layers=losses).eval()(batch)[LAYERS]
    ours, theirs = (said_by(one, batch) for one in (student, teacher))
    weight, bias = losses.projection.weight, losses.projection.bias
    states = sum(
        torch.mean((ours.hidden_states[a] @ weight.T + bias - theirs.hidden_states[b]) ** 2)
        for a, b in ((0, 0), (1, 2))
    )
    assert torch.allclose(found["hidden"], states, rtol=1e-4)
    assert torch.allclose(
        found["attention"], torch.mean((ours.attentions[0] - theirs.attentions[1]) ** 2), rtol=1e-4
    )


def test_the_teacher_neither_learns_nor_drops_anything_out(tiny_encoder: Path) -> None:
    pretrained = load_pretrained(str(tiny_encoder))
    assert pretrained.encoder.config.hidden_dropout_prob > 0
    student = load_pretrained(str(tiny_encoder))
    teacher = Teacher(pretrained, student.tokenizer)
    trainable = Student(
        student.encoder,
        layers=LayerLosses(LayerSettings(), student=student.encoder, teacher=teacher),
    )
    trainable.train()
    teacher.encoder.train()  # whatever anybody does
    batch = batch_of(student, *TEXTS)
    once, again = teacher.see(batch), teacher.see(batch)
    assert all(map(torch.equal, once.states, again.states))
    trainable.loss(trainable(batch), {}).backward()  # type: ignore[no-untyped-call]
    assert all(p.grad is None and not p.requires_grad for p in pretrained.encoder.parameters())
    assert not {id(p) for p in pretrained.encoder.parameters()} & {
        id(p) for p in trainable.parameters()
    }
    assert trainable.layers is not None
    assert trainable.layers.projection.bias.grad is not None


def test_an_untrained_student_comes_nearer_and_its_folder_is_an_encoder(
    make: Make, tiny_recipe: Callable[..., Recipe], tmp_path: Path
) -> None:
    events = list(run_recipe(make(), tmp_path / "run"))
    ended = events[-1]
    assert isinstance(ended, LayersFinished)
    losses = [
        event.lines[0]["held_out"]["total"] for event in events if isinstance(event, Validated)
    ]
    assert losses[-1] < losses[0]
    assert ended.held_out["total"] == min(losses)
    assert ended.held_out["total"] == pytest.approx(
        ended.held_out["hidden"] + ended.held_out["attention"], rel=1e-5
    )
    card = (ended.encoder / "README.md").read_text(encoding="utf-8")
    assert f"total {ended.held_out['total']:.4f}" in card
    assert data_hashes(make())["train"] in card
    student = load_pretrained(str(ended.encoder))
    assert (student.encoder.width, student.encoder.config.num_hidden_layers) == (12, 1)
    recipe = tiny_recipe(model={"encoder": str(ended.encoder)}, training={"epochs": 1})
    list(run_recipe(recipe, tmp_path / "trained"))
    assert (tmp_path / "trained" / "best" / "model.json").exists()


@pytest.fixture
def raw_text(tmp_path: Path) -> Path:
    """Forty short documents of what the tiny encoder knows."""
    lines = [json.dumps({"id": str(at), "text": TEXTS[at % 2] * (1 + at % 3)}) for at in range(40)]
    (tmp_path / "texts.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path / "texts.jsonl"


def test_raw_text_teaches_and_a_stopped_run_goes_on_to_the_same_encoder(
    make: Make, raw_text: Path, tmp_path: Path
) -> None:
    text = {"files": [str(raw_text)], "window": 24, "held_out": 0.2}
    settings = {
        "epochs": 2,
        "learning_rate": 1e-2,
        "batch_size": 4,
        "precision": "fp32",
        "validate_every_steps": 5,
    }
    recipe = make(corpus=None, text=text, reading={}, training=settings)
    events = list(run_recipe(recipe, tmp_path / "straight"))
    compared = [event for event in events if isinstance(event, Validated)]
    first, last = (event.lines[0]["held_out"]["total"] for event in (compared[0], compared[-1]))
    assert last < first
    stopped = run_recipe(recipe, tmp_path / "stopped")
    for event in stopped:
        # within an epoch, behind the last state
        if isinstance(event, StepDone) and event.step == 7:
            break
    stopped.close()  # type: ignore[attr-defined]
    torch.manual_seed(9)
    resumed = [
        e.step
        for e in run_recipe(recipe, tmp_path / "stopped", resume=True)
        if isinstance(e, StepDone)
    ]
    assert resumed[0] == 6
    ours, theirs = (
        tmp_path / name / "encoder" / "model.safetensors" for name in ("stopped", "straight")
    )
    assert ours.read_bytes() == theirs.read_bytes()


def listed(path: Path, texts: list[str]) -> str:
    """An exclusion list that names texts."""
    rows = [
        Exclusion(
            corpus="x",
            part="train",
            document=str(number),
            sha256=text_hash(text),
            reason="duplicate",
            similarity=1.0,
            of_corpus="y",
            of_part="test",
            of_document="0",
        )
        for number, text in enumerate(texts)
    ]
    write_exclusions(path, rows)
    return str(path)


@pytest.mark.parametrize("several", [False, True])
def test_documents_of_an_exclusion_list_are_not_learned_from(
    make: Make, toy_corpus: Path, tmp_path: Path, several: bool
) -> None:
    corpus = {"train": str(toy_corpus), "dev": str(toy_corpus), "documents": "sentence"}
    texts = [
        one.text
        for one in read(toy_corpus, format="conll", options=ConllOptions(documents="sentence"))
    ]
    given = corpus | {"exclude": listed(tmp_path / "other.tsv", [f"{text}?" for text in texts[:2]])}
    with pytest.raises(InputError, match="names none of the 10 documents"):
        prepare_distil(make(corpus=given), tmp_path / "run", {})
    given = corpus | {"exclude": listed(tmp_path / "list.tsv", texts[:3])}
    parts = {"corpus": None, "parts": {"one": given | {"annotates": ["Chemical", "Disease"]}}}
    trainee: Any = prepare_distil(
        make(**parts) if several else make(corpus=given), tmp_path / "run", {}
    )
    assert [pieces.text for pieces in trainee.loop.data.pieces] == texts[3:]
    assert any("3 of 10 documents are left out" in note for note in trainee.facts.notes)


def test_what_is_left_out_of_raw_text_is_told(make: Make, raw_text: Path, tmp_path: Path) -> None:
    text = {
        "files": [str(raw_text)],
        "window": 16,
        "held_out": 0.3,
        "exclude": listed(tmp_path / "list.tsv", ["x"]),
    }
    trainee: Any = prepare_distil(make(corpus=None, reading=None, text=text), tmp_path / "run", {})
    assert any("list.tsv names no document of this text" in note for note in trainee.facts.notes)


def test_raw_text_of_which_nothing_is_held_out_is_refused(
    make: Make, raw_text: Path, tmp_path: Path
) -> None:
    recipe = make(
        corpus=None, text={"files": [str(raw_text)], "held_out": 0.0, "window": 24}, reading={}
    )
    with pytest.raises(FascicleError, match="held_out"):
        list(run_recipe(recipe, tmp_path / "run"))


def test_other_weights_in_the_folder_of_a_teacher_are_another_teacher(
    make: Make, tiny_run: Path, tmp_path: Path
) -> None:
    """The hash of the data of a run holds what its teacher is."""
    shutil.copytree(tiny_run, tmp_path / "teacher")
    recipe = make(teacher={"model": str(tmp_path / "teacher")})
    before = data_hashes(recipe)
    assert (
        before["teacher.model"]
        == data_hashes(make(teacher={"model": str(tiny_run)}))["teacher.model"]
    )
    manifest = tmp_path / "teacher" / "best" / "model.json"
    manifest.write_text(manifest.read_text().replace('"name": "tiny"', '"name": "other"'))
    assert data_hashes(recipe) != before
    assert recipe_hash(recipe, before) != recipe_hash(recipe, data_hashes(recipe))


def test_the_encoder_of_a_trained_model_teaches(make: Make, tiny_run: Path, tmp_path: Path) -> None:
    recipe = make(teacher={"model": str(tiny_run)}, student={"layers": [2]})
    ended = list(run_recipe(recipe, tmp_path / "run"))[-1]
    assert isinstance(ended, LayersFinished)
    assert load_pretrained(str(ended.encoder)).encoder.width == 32


def test_the_encoder_of_a_model_folder_becomes_an_encoder_folder(
    tiny_run: Path, tmp_path: Path
) -> None:
    """Whose tokenizer knows its special tokens, which a model folder tells by their use alone."""
    before = open_encoder(TeacherSettings(model=str(tiny_run)))
    (tmp_path / "copy").mkdir()
    save_pretrained(tmp_path / "copy", before)
    after = load_pretrained(str(tmp_path / "copy"))
    assert after.special == before.special
    assert set(after.special) >= {"pad_token", "unk_token", "cls_token", "sep_token"}
    for name in ("prefix", "suffix", "pad", "unknown", "mask", "size"):
        assert getattr(after.tokenizer, name) == getattr(before.tokenizer, name)
    given = batch_of(before, *TEXTS)
    assert all(map(torch.equal, given.values(), batch_of(after, *TEXTS).values()))
    states = [one.encoder.eval()(**given) for one in (before, after)]
    assert torch.equal(states[0], states[1])


def test_chosen_layers_are_those_of_the_teacher(tiny_encoder: Path) -> None:
    whole = load_pretrained(str(tiny_encoder)).encoder.eval()
    batch = batch_of(load_pretrained(str(tiny_encoder)), *TEXTS)
    assert torch.equal(with_layers(whole, (1, 2)).eval()(**batch), whole(**batch))
    first = with_layers(whole, (1,)).eval()
    said = whole.network(**batch, output_hidden_states=True)
    assert torch.allclose(first(**batch), said.hidden_states[1], atol=1e-6)
    assert whole.config.num_hidden_layers == 2


def other_tokenizer(
    tokenizer: PieceTokenizer,
    change: Callable[[dict[str, int]], dict[str, int]],
    specials: dict[str, str],
) -> PieceTokenizer:
    """The same tokenizer with other ids and other names of special tokens, as that of MPNet is
    to that of BERT.
    """
    content = tokenizer.content
    for old, new in specials.items():
        content = content.replace(f'"{old}"', f'"{new}"')
    values = json.loads(content)
    values["model"]["vocab"] = change(values["model"]["vocab"])
    ids = values["model"]["vocab"]
    for added in values["added_tokens"]:
        added["id"] = ids[added["content"]]
    for token in values["post_processor"]["special_tokens"].values():
        token["ids"] = [ids[name] for name in token["tokens"]]
    return PieceTokenizer(
        Tokenizer.from_str(json.dumps(values)), pad=ids[specials.get("[PAD]", "[PAD]")]
    )


def test_tokens_keep_their_strings_and_special_tokens_their_use(tiny_encoder: Path) -> None:
    ours = load_pretrained(str(tiny_encoder)).tokenizer
    theirs = other_tokenizer(
        ours,
        lambda ids: {"[new]": 0, "[PAD]": 1, **{t: i + 4 for t, i in ids.items() if t != "[PAD]"}},
        {"[CLS]": "<s>", "[SEP]": "</s>"},
    )
    found = map_token_ids(ours, theirs)
    assert found[ours.pad] == theirs.pad != ours.pad
    assert [found[i] for i in (*ours.prefix, *ours.suffix)] == [*theirs.prefix, *theirs.suffix]
    assert all(found[at] == at + 4 for token, at in ours.tokens.items() if token != "[PAD]")
    assert differing_pieces(TEXTS, ours, theirs) == 0


def test_a_teacher_with_another_tokenizer_is_refused(tiny_encoder: Path) -> None:
    ours = load_pretrained(str(tiny_encoder)).tokenizer
    without = other_tokenizer(ours, lambda ids: {t: i for t, i in ids.items() if t != "lung"}, {})
    with pytest.raises(RecipeError, match="lung"):
        map_token_ids(ours, without)
    more = other_tokenizer(ours, lambda ids: {**ids, "lungs": len(ids)}, {})
    assert differing_pieces(TEXTS, ours, more) == 0
    with pytest.raises(RecipeError, match="different pieces"):
        differing_pieces(["lungs"], ours, more)
    assert differing_pieces(["lungs", "the patient " * 50], ours, more) == pytest.approx(2 / 102)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"student": {"size": {"layers": 3, "hidden": 12, "heads": 2}}}, "at most as many"),
        ({"student": {"size": {"layers": 1, "hidden": 12, "heads": 3}}}, "heads of attention"),
        ({"student": {"layers": [3]}}, "layer 3"),
        ({"layers": {"map": [1, 2]}}, "layers.map"),
        ({"layers": {"map": [3]}}, "layers.map"),
        ({"reading": {"max_length": 65}}, "max_length"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    make: Make, tmp_path: Path, changes: dict[str, Any], code: str
) -> None:
    with pytest.raises(FascicleError, match=code):
        list(run_recipe(make(**changes), tmp_path / "run"))
    assert not (tmp_path / "run").exists()


def test_layers_that_do_not_divide_need_a_map(tiny_encoder: Path) -> None:
    teacher, student = (load_pretrained(str(tiny_encoder)) for _ in range(2))
    three = type(student.encoder.network)
    config = student.encoder.config
    config.num_hidden_layers = 3
    deep = Pretrained(
        encoder=Encoder(three(config, add_pooling_layer=False)), tokenizer=teacher.tokenizer
    )
    taught_by = Teacher(deep, teacher.tokenizer)
    with pytest.raises(RecipeError, match=r"layers\.map"):
        LayerLosses(LayerSettings(), student=teacher.encoder, teacher=taught_by)
    assert LayerLosses(
        LayerSettings(map=(1, 3)), student=teacher.encoder, teacher=taught_by
    ).map == (1, 3)


def test_heads_need_not_be_equal_without_attention(make: Make, tmp_path: Path) -> None:
    recipe = make(
        student={"size": {"layers": 1, "hidden": 12, "heads": 3, "feed_forward": 16}},
        layers={"attention": 0},
        training={"epochs": 1, "precision": "fp32"},
    )
    ended = list(itertools.islice(run_recipe(recipe, tmp_path / "run"), 100))[-1]
    assert isinstance(ended, LayersFinished)
    assert set(ended.held_out) == {"total", "hidden"}


@pytest.mark.parametrize(
    "changes",
    [
        {"teacher": {}},
        {"teacher": {"encoder": "a", "model": "b"}},
        {"layers": {"hidden": 0, "attention": 0}},
        {"layers": {"map": [2, 1]}},
        {"student": {"layers": [1], "size": {}}},
        {"student": {"size": {"hidden": 10, "heads": 3}}},
        {"prediction": {}},
        {"head": {"family": "softmax"}},
        {"layer": {}},
        {"text": {"files": ["a.txt"]}},
        {"corpus": None},
        {"corpus": None, "text": {"files": ["a.txt"]}, "prediction": {}, "teacher": {"model": "a"}},
        {"corpus": None, "text": {"files": ["a.txt"]}},
    ],
)
def test_recipes_that_mean_nothing_are_refused(make: Make, changes: dict[str, Any]) -> None:
    with pytest.raises(RecipeError):
        make(**changes)
