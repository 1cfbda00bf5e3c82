"""Masked language modelling: what is hidden, the loss, resuming, and what comes out."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from safetensors.torch import load_file
from tests.support.pretraining import make_encoder, make_recipe, make_text
from tests.support.runs import finish, metrics, read_json

from fascicle.cli import main
from fascicle.errors import FascicleError, InputError, OutputError, RecipeError
from fascicle.models.encoder import load_pretrained
from fascicle.settings.recipes.corpora import TextSettings
from fascicle.settings.recipes.pretraining import MaskingSettings, PretrainingRecipe
from fascicle.training.engine.events import Note, Validated
from fascicle.training.engine.loop import StepDone
from fascicle.training.engine.optim import RowGradients
from fascicle.training.raw.masking import LOGITS, NAME, PLACES, MaskedModel, PretrainingFinished
from fascicle.training.raw.pretraining import (
    Mask,
    MaskedSet,
    chosen_pieces,
    held_out_set,
    hidden_ids,
    predict_hidden,
)
from fascicle.training.raw.windows import read_windows
from fascicle.training.run import run_recipe


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_encoder(tmp_path_factory.mktemp("encoder"))


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_text(tmp_path_factory.mktemp("text") / "text.jsonl")


@pytest.fixture(scope="module")
def data(encoder: Path, text: Path) -> MaskedSet:
    tokenizer = load_pretrained(str(encoder)).tokenizer
    windows = read_windows(TextSettings(files=(str(text),), window=32), tokenizer, seed=1).learned
    assert tokenizer.mask is not None
    mask = Mask(token=tokenizer.mask, ordinary=tokenizer.ordinary())
    return MaskedSet(windows=windows, masking=MaskingSettings(), mask=mask)


# -- What is hidden
# ----------------------------------------------------------------------------------------------------


class Drawn:
    """A generator that gives out numbers that are known."""

    def __init__(self, draws: Any) -> None:
        self._draws = draws

    def random(self, shape: Any) -> Any:
        assert self._draws.shape == shape
        return self._draws


def words_of(begins: Any, special: Any) -> list[list[tuple[int, int]]]:
    """Pieces word by word, the slow way."""
    found: list[list[tuple[int, int]]] = []
    for row in range(len(begins)):
        inside = False
        for at in range(begins.shape[1]):
            if special[row, at]:
                inside = False
            elif inside and not begins[row, at]:
                found[-1].append((row, at))
            else:
                found.append([(row, at)])
                inside = True
    return found


flags = hnp.arrays(np.bool_, (3, 9))


@given(
    flags,
    flags,
    hnp.arrays(np.float64, (3, 9), elements=st.floats(0, 1, exclude_max=True)),
    st.booleans(),
)
def test_what_is_guessed_equals_a_slow_loop(
    begins: Any, special: Any, draws: Any, whole: bool
) -> None:
    special[0, 0] = False  # something can be guessed
    masking = MaskingSettings(share=0.4, whole_words=whole)
    found = chosen_pieces(begins, special, masking, Drawn(draws))  # type: ignore[arg-type]
    words = words_of(begins | (not whole), special)
    picked = [word for word in words if draws[word[0]] < 0.4] or [
        min(words, key=lambda word: draws[word[0]])
    ]
    assert set(zip(*np.nonzero(found), strict=True)) == {place for word in picked for place in word}


def test_the_shares_are_those_that_are_asked_for(data: MaskedSet) -> None:
    ids = np.tile(np.arange(100, 200), (200, 10))
    begins, special = ids % 3 != 0, ids == 199
    chance = np.random.default_rng(1)
    guessed = chosen_pieces(begins, special, data.masking, chance)
    assert guessed[~special].mean() == pytest.approx(0.15, abs=0.005)
    mask = Mask(token=7, ordinary=np.arange(1000, 1010))
    shown = hidden_ids(ids, guessed, data.masking, mask=mask, chance=chance)
    assert np.array_equal(shown[~guessed], ids[~guessed])
    inside = shown[guessed]
    assert (inside == 7).mean() == pytest.approx(0.8, abs=0.01)
    assert (inside >= 1000).mean() == pytest.approx(0.1, abs=0.01)
    assert (inside == ids[guessed]).mean() == pytest.approx(0.1, abs=0.01)
    assert set(inside[inside >= 1000]) == set(range(1000, 1010))


def test_special_tokens_are_never_hidden_nor_drawn(data: MaskedSet) -> None:
    special = {0, 1, 2, 3, 4}
    assert not special & set(data.mask.ordinary.tolist())
    masking = MaskingSettings(share=0.9, masked=0.0, random=1.0)
    for batch, targets in MaskedSet(windows=data.windows, masking=masking, mask=data.mask).batches(
        size=4, seed=1, epoch=0
    ):
        assert not special & set(targets[NAME].tolist())
        assert not special & set(batch["input_ids"].flatten()[batch[PLACES]].tolist())


def test_each_epoch_reads_all_of_the_text_and_hides_other_words(data: MaskedSet) -> None:
    def epoch(number: int, seed: int = 1) -> list[Any]:
        return list(data.batches(size=4, seed=seed, epoch=number))

    def original(batches: list[Any]) -> list[list[int]]:
        rows = []
        for batch, targets in batches:
            ids = batch["input_ids"].clone()
            ids.view(-1)[batch[PLACES]] = targets[NAME]
            rows += [
                [i for i, real in zip(r, m, strict=True) if real]
                for r, m in zip(ids.tolist(), batch["attention_mask"].tolist(), strict=True)
            ]
        return sorted(rows)

    whole = data.windows.batch(range(len(data.windows)))
    expected = sorted(
        [i for i, real in zip(r, m, strict=True) if real]
        for r, m in zip(whole.ids.tolist(), whole.attention_mask.tolist(), strict=True)
    )
    first, again, second, other = epoch(0), epoch(0), epoch(1), epoch(0, seed=2)
    assert original(first) == original(second) == original(other) == expected
    assert len(first) == data.count(4)
    assert all(
        torch.equal(a[0]["input_ids"], b[0]["input_ids"]) for a, b in zip(first, again, strict=True)
    )
    assert not torch.equal(first[0][0]["input_ids"], second[0][0]["input_ids"])
    assert not torch.equal(first[0][0]["input_ids"], other[0][0]["input_ids"])


# -- The loss
# ----------------------------------------------------------------------------------------------------------


def test_the_loss_of_some_rows_is_that_of_all(encoder: Path, data: MaskedSet) -> None:
    """Against logits of every place and a loss that ignores those where nothing is guessed,
    gradients included.
    """
    torch.manual_seed(1)
    model = MaskedModel(load_pretrained(str(encoder)).encoder).eval()
    batch, targets = next(data.batches(size=4, seed=1, epoch=0))
    loss = model.loss(model(batch), targets)
    loss.backward()
    gradients = {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}
    model.zero_grad()
    states = model.encoder(batch["input_ids"], batch["attention_mask"])
    hidden = F.layer_norm(
        F.gelu(states @ model.transform.weight.T + model.transform.bias),
        model.norm.normalized_shape,
        model.norm.weight,
        model.norm.bias,
        eps=1e-12,
    )
    labels = torch.full(batch["input_ids"].shape, -100).flatten()
    labels[batch[PLACES]] = targets[NAME]
    table = model.encoder.network.embeddings.word_embeddings.weight  # type: ignore[union-attr]
    full = F.cross_entropy((hidden @ table.T + model.bias).flatten(0, 1), labels, ignore_index=-100)  # type: ignore[operator,union-attr]
    full.backward()
    assert torch.allclose(loss, full, atol=1e-6)
    for name, parameter in model.named_parameters():
        if parameter.grad is not None:
            assert torch.allclose(gradients[name], parameter.grad, atol=1e-6), name


def test_the_embeddings_are_the_last_layer(encoder: Path) -> None:
    model = MaskedModel(load_pretrained(str(encoder)).encoder)
    table = model.encoder.network.embeddings.word_embeddings.weight  # type: ignore[union-attr]
    assert model.embeddings is table
    states = torch.randn(3, 32)
    before = model.logits(states)
    with torch.no_grad():
        table[5] += 1.0  # type: ignore[index,operator]
    changed = (model.logits(states) != before).any(dim=0)
    assert changed.nonzero().flatten().tolist() == [5]


def test_gradients_of_rows_and_of_the_last_layer_are_added(
    encoder: Path, data: MaskedSet, monkeypatch: Any
) -> None:
    """The loop reads the embeddings with gradients of rows; those of the tied last layer are
    dense.
    """
    monkeypatch.setattr("fascicle.training.engine.optim._LARGE", 1)
    torch.manual_seed(1)
    model = MaskedModel(load_pretrained(str(encoder)).encoder).eval()
    batch, targets = next(data.batches(size=4, seed=1, epoch=0))
    model.loss(model(batch), targets).backward()
    assert model.embeddings.grad is not None
    plain = model.embeddings.grad.clone()
    model.zero_grad()
    rows = RowGradients(model)
    for _ in range(2):
        with rows.collected():
            loss = model.loss(model(batch), targets)
        loss.backward()
        rows.fill()
        assert torch.allclose(model.embeddings.grad, plain, atol=1e-7)
        model.zero_grad()
        rows.clear()


def test_held_out_text_is_guessed_alike_each_time(encoder: Path, data: MaskedSet) -> None:
    """Against the loss of all its windows in one batch."""
    torch.manual_seed(1)
    model = MaskedModel(load_pretrained(str(encoder)).encoder)
    held_out = held_out_set(data.windows, data.masking, data.mask)
    one, two = predict_hidden(model, held_out), predict_hidden(model, held_out)
    assert one == two
    assert one["perplexity"] == pytest.approx(math.exp(one["loss"]))
    total, pieces = 0.0, 0
    for at in range(0, len(data.windows), 8):
        chosen = np.arange(at, min(at + 8, len(data.windows)))
        batch, targets = held_out.batch(chosen, np.random.default_rng((20, at)))
        assert set(batch["input_ids"].flatten()[batch[PLACES]].tolist()) == {data.mask.token}
        for place, wanted in zip(batch[PLACES].tolist(), targets[NAME].tolist(), strict=True):
            row = place // batch["input_ids"].shape[1]
            with torch.no_grad():
                length = int(batch["attention_mask"][row].sum())
                alone = {
                    "input_ids": batch["input_ids"][row : row + 1, :length],
                    "attention_mask": batch["attention_mask"][row : row + 1, :length],
                    PLACES: torch.tensor([place - row * batch["input_ids"].shape[1]]),
                }
                total -= float(model(alone)[NAME][LOGITS].log_softmax(-1)[0, wanted])
            pieces += 1
    assert pieces == one["pieces"]
    assert one["loss"] == pytest.approx(total / pieces, rel=1e-4)


# -- Runs
# --------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def whole_run(
    encoder: Path, text: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, list[Any]]:
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("runs") / "run"
    return folder, finish(make_recipe(encoder, text, training={"epochs": 3}), folder)


def test_perplexity_falls_and_the_folder_tells_it(
    whole_run: tuple[Path, list[Any]], encoder: Path
) -> None:
    folder, events = whole_run
    scored = [e.lines[0]["held_out"]["perplexity"] for e in events if isinstance(e, Validated)]
    ended = events[-1]
    assert isinstance(ended, PretrainingFinished)
    assert ended.held_out is not None
    assert ended.held_out["perplexity"] == scored[-1] < 0.7 * scored[0]
    assert read_json(folder / "scores.json")["held_out"]["perplexity"] == scored[-1]
    assert not (folder / "state").exists()
    card = (folder / "encoder" / "README.md").read_text(encoding="utf-8")
    facts = read_json(folder / "run.json")
    for told in (
        facts["data"]["text.files.0"]["sha256"],
        f"{scored[-1]:.3f}",
        f"{facts['windows']['pieces']:,}",
    ):
        assert told in card


def test_the_result_is_an_encoder(whole_run: tuple[Path, list[Any]], encoder: Path) -> None:
    before, after = load_pretrained(str(encoder)), load_pretrained(str(whole_run[0] / "encoder"))
    assert after.tokenizer.sha256 == before.tokenizer.sha256
    assert (after.tokenizer.pad, after.tokenizer.mask) == (
        before.tokenizer.pad,
        before.tokenizer.mask,
    )
    states = [dict(one.encoder.network.state_dict()) for one in (before, after)]
    assert states[0].keys() == states[1].keys()
    assert not torch.equal(
        states[0]["embeddings.word_embeddings.weight"],
        states[1]["embeddings.word_embeddings.weight"],
    )


def stopped(recipe: PretrainingRecipe, folder: Path, after: int, *, resume: bool = False) -> None:
    """Ends a run in the middle, as a kill would: whatever follows from the step is done, and no
    more.
    """
    events: Iterator[Any] = run_recipe(recipe, folder, resume=resume)
    for event in events:
        if isinstance(event, StepDone) and event.step > after:
            break
    events.close()  # type: ignore[attr-defined]


@pytest.mark.parametrize("stops", [(3,), (7, 19), (12, 13, 30)])
@pytest.mark.parametrize("minutes", [1e-9, 0.0])
def test_a_kill_changes_nothing(
    whole_run: tuple[Path, list[Any]],
    encoder: Path,
    text: Path,
    tmp_path: Path,
    stops: tuple[int, ...],
    minutes: float,
) -> None:
    """With checkpoints after every step, and with those of every fifth step alone."""
    recipe = make_recipe(encoder, text, training={"epochs": 3, "checkpoint_minutes": minutes})
    for number, stop in enumerate(stops):
        resume = bool(number) and (tmp_path / "run").exists()
        stopped(recipe, tmp_path / "run", stop, resume=resume)
    resumed = (tmp_path / "run").exists()  # a run that was never saved leaves no folder
    assert resumed or (minutes == 0.0 and stops == (3,))
    events = finish(recipe, tmp_path / "run", resume=resumed)
    assert not resumed or any(
        isinstance(e, Note) and e.text.startswith("resumed after step") for e in events
    )
    if minutes and resumed:
        assert Note(text=f"resumed after step {stops[-1]}") in events
    assert metrics(tmp_path / "run") == metrics(whole_run[0])
    weights = [
        load_file(folder / "encoder" / "model.safetensors")
        for folder in (tmp_path / "run", whole_run[0])
    ]
    assert all(
        torch.equal(weights[0][name], weights[1][name])
        for name in weights[0].keys() | weights[1].keys()
    )


def test_a_recogniser_is_trained_on_it(
    encoder: Path, text: Path, toy_corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pretraining, recogniser = tmp_path / "pretrain.toml", tmp_path / "train.toml"
    pretraining.write_text(
        f'name = "domain"\n[text]\nfiles = ["{text}"]\nwindow = 32\nheld_out = '
        f'0.2\n[model]\nencoder = "{encoder}"\n'
        "[vocabulary]\nprune = true\nadd_words = 9\nword_pieces = 2\n[training]\nbatch_size = 8\n",
        encoding="utf-8",
    )
    assert (
        main(
            ["pretrain", str(pretraining), "-o", str(tmp_path / "run"), "--json", "--threads", "1"]
        )
        == 0
    )
    told = json.loads(capsys.readouterr().out)
    assert told["held_out"]["perplexity"] > 1
    recogniser.write_text(
        f'name = "toy"\n[corpus]\ntrain = "{toy_corpus}"\ndev = "{toy_corpus}"\n[model]\nencoder = '
        f'"{tmp_path / "run" / "encoder"}"\n[reading]\nmax_length = 64\n[training]\nepochs = 1\n',
        encoding="utf-8",
    )
    assert main(["train", str(recogniser), "-o", str(tmp_path / "model"), "--threads", "1"]) == 0
    assert (tmp_path / "model" / "best" / "model.json").exists()
    capsys.readouterr()
    said = ["--text", "Aspirin caused hepatitis.", "--format", "jsonl"]
    assert main(["annotate", "--model", str(tmp_path / "model"), *said]) == 0
    assert json.loads(capsys.readouterr().out)["text"] == "Aspirin caused hepatitis."
    assert main(["pretrain", str(recogniser)]) == 2
    assert "[text]" in capsys.readouterr().err


# -- Refusals
# ----------------------------------------------------------------------------------------------------------


def test_an_encoder_without_a_mask_token_is_refused(text: Path, tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match="mask token"):
        finish(make_recipe(make_encoder(tmp_path, mask=False), text), tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        ({"text": {"window": 65}}, "text.window"),
        ({"text": {"fields": ["text"]}}, "text.fields"),
        ({"text": {"held_out": 1.0}}, "no text is left"),
    ],
)
def test_what_does_not_fit_is_refused(
    encoder: Path, text: Path, tmp_path: Path, tables: Any, said: str
) -> None:
    with pytest.raises(FascicleError, match=said):
        finish(make_recipe(encoder, text, **tables), tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "tables",
    [
        {"text": {"files": []}},
        {"text": {"files": ["a", "a"]}},
        {"text": {"keep": {"license": []}}},
        {"masking": {"masked": 0.8, "random": 0.3}},
        {"masking": {"share": 0.0}},
        {"training": {"optimizer": "adam"}},
        {"corpus": {"train": "x"}},
    ],
)
def test_settings_that_mean_nothing_are_refused(encoder: Path, text: Path, tables: Any) -> None:
    with pytest.raises(RecipeError):
        make_recipe(encoder, text, **tables)


def test_an_empty_text_file_is_refused(encoder: Path, tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("")
    with pytest.raises(InputError, match=r"text\.txt"):
        finish(make_recipe(encoder, tmp_path / "text.txt"), tmp_path / "run")


def test_a_run_does_not_go_on_with_other_text(encoder: Path, tmp_path: Path) -> None:
    path = make_text(tmp_path / "text.jsonl")
    recipe = make_recipe(encoder, path)
    stopped(recipe, tmp_path / "run", 8)
    make_text(path, seed=2)
    with pytest.raises(OutputError, match="the text"):
        finish(recipe, tmp_path / "run", resume=True)


@pytest.mark.parametrize("key", ["tokenizer", "windows", "held_out"])
def test_a_run_of_a_version_that_wrote_less_does_not_go_on(
    encoder: Path, text: Path, tmp_path: Path, key: str
) -> None:
    recipe, facts = make_recipe(encoder, text), tmp_path / "run" / "run.json"
    stopped(recipe, tmp_path / "run", 8)
    facts.write_text(
        json.dumps({name: value for name, value in read_json(facts).items() if name != key})
    )
    with pytest.raises(OutputError, match=rf"run\.json .* no '{key}'"):
        finish(recipe, tmp_path / "run", resume=True)


def test_without_held_out_text_there_is_no_perplexity(
    encoder: Path, text: Path, tmp_path: Path
) -> None:
    events = finish(make_recipe(encoder, text, text={"held_out": 0.0}), tmp_path / "run")
    assert events[-1].held_out is None
    assert any(isinstance(event, Note) and "held out" in event.text for event in events)
    assert load_pretrained(str(tmp_path / "run" / "encoder")).encoder.width == 32


def test_a_run_does_not_go_on_with_another_tokenizer(text: Path, tmp_path: Path) -> None:
    encoder = make_encoder(tmp_path / "encoder")
    recipe = make_recipe(encoder, text)
    stopped(recipe, tmp_path / "run", 8)
    content = (encoder / "tokenizer.json").read_text(encoding="utf-8")
    assert "##itis" in content
    (encoder / "tokenizer.json").write_text(content.replace("##itis", "##itus"), encoding="utf-8")
    with pytest.raises(OutputError, match="tokenizer"):
        finish(recipe, tmp_path / "run", resume=True)
