"""Runs: what their folder holds, and that a kill changes nothing."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from tests.support.runs import finish, metrics

from fascicle.core.files.source import Source
from fascicle.errors import FascicleError, InputError, OutputError, RecipeError
from fascicle.evaluation.scoring.inputs import layers
from fascicle.evaluation.scoring.scores import score
from fascicle.formats.predictions import read as read_predictions
from fascicle.loading import load, read_manifest
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.training.corpus import read_part
from fascicle.training.engine.events import Finished, Note, Validated
from fascicle.training.engine.loop import StepDone
from fascicle.training.run import run_recipe

Maker = Callable[..., Recipe]


def kill_in_epoch(recipe: Recipe, folder: Path, epoch: int) -> None:
    """Lets a run go until the second step of an epoch."""
    events = run_recipe(recipe, folder)
    for event in events:
        if isinstance(event, Validated) and event.epoch == epoch - 1:
            break
    assert all(isinstance(e, StepDone) for e in islice(events, 2))
    events.close()  # type: ignore[attr-defined]


def test_what_a_run_folder_holds(tiny_run: Path, toy_corpus: Path) -> None:
    assert {p.name for p in tiny_run.iterdir()} == {
        "best",
        "metrics.jsonl",
        "predictions",
        "recipe.json",
        "run.json",
        "scores.json",
    }
    lines = metrics(tiny_run)
    assert [line["epoch"] for line in lines] == list(range(1, 13))
    assert [line["step"] for line in lines] == list(range(3, 37, 3))
    assert all(set(line) == {"epoch", "step", "loss", "dev"} for line in lines)
    facts = json.loads((tiny_run / "run.json").read_text(encoding="utf-8"))
    assert facts["types"] == ["Chemical", "Disease"]
    assert facts["data"]["train"]["documents"] == 10
    assert facts["data"]["test"]["mentions"] == 18
    assert facts["not_representable"] == {"softmax": {}}
    scores = json.loads((tiny_run / "scores.json").read_text(encoding="utf-8"))
    best = max(lines, key=lambda line: (line["dev"]["micro"]["f1"], -line["epoch"]))
    assert scores["epoch"] == best["epoch"]
    assert scores["dev"]["micro"]["f1"] == scores["test"]["micro"]["f1"] == 1.0


def test_predictions_hold_no_text_and_score_as_recorded(
    tiny_run: Path, toy_corpus: Path, tiny_recipe: Maker
) -> None:
    gold = read_part(tiny_recipe().corpus, "train")
    words = {
        gold_document.text[a:b] for gold_document in gold for a, b in gold_document.words or ()
    }
    lines = metrics(tiny_run)
    names = [*(f"dev-epoch-{line['epoch']:02d}.tsv" for line in lines), "dev.tsv", "test.tsv"]
    assert {p.name for p in (tiny_run / "predictions").iterdir()} == set(names)
    for name, line in zip(names, [*lines, None, None], strict=True):
        path = tiny_run / "predictions" / name
        cells = {
            cell
            for row in path.read_text(encoding="utf-8").splitlines()[1:]
            for cell in row.split("\t")
        }
        assert not cells & {w for w in words if w.isalpha()}
        found = {p.id: p.mentions for p in read_predictions(Source(path=str(path)))}
        recorded = line["dev"]["micro"]["f1"] if line else 1.0
        assert score(layers(gold), found, allow_missing=True).micro.f1 == recorded


def test_events_come_in_order(tiny_recipe: Maker, tmp_path: Path) -> None:
    events = finish(tiny_recipe(training={"epochs": 2}), tmp_path / "run")
    notes = [e.text for e in events if isinstance(e, Note)]
    assert [type(e) for e in events[len(notes) :]] == [*[*[StepDone] * 3, Validated] * 2, Finished]
    assert [e.step for e in events if isinstance(e, StepDone)] == [1, 2, 3, 4, 5, 6]
    assert notes[0].endswith("tag scheme IOB2")
    assert notes[1].startswith("10 of 10 texts of dev are in train too")  # the recipe's parts
    assert notes[2:] == [
        f"{p}: 18 gold mentions, 0 (0.00%) cannot be represented exactly" for p in ("train", "dev")
    ]
    assert events[-1].answer.test is None


@pytest.mark.parametrize("select", ["best-dev", "last"])
def test_patience(tiny_recipe: Maker, tmp_path: Path, select: str) -> None:
    # A rate of nearly nothing: no epoch is better than the first.
    training = {"epochs": 9, "learning_rate": 1e-9, "patience_epochs": 2, "select": select}
    events = finish(tiny_recipe(training=training), tmp_path / "run")
    assert [e.epoch for e in events if isinstance(e, Validated)] == [1, 2, 3]
    assert Note(text="stopped early: no better dev F1 for 2 epochs") in events
    assert events[-1].answer.epoch == (1 if select == "best-dev" else 3)


@pytest.mark.parametrize("pooling", ["first", "max", "mean"])
def test_bf16_after_fp32_in_one_process(
    tiny_recipe: Maker, tmp_path: Path, tiny_run: Path, pooling: str
) -> None:
    recipe = tiny_recipe(model={"pooling": pooling}, training={"epochs": 8, "precision": "bf16"})
    assert finish(recipe, tmp_path / "run")[-1].answer.dev.micro.f1 > 0.8


def test_an_encoder_with_another_way_to_leave_out_its_pooler(
    tiny_recipe: Maker, tiny_encoder: Path, tmp_path: Path
) -> None:
    import transformers
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(tiny_encoder / "tokenizer.json"))
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="[PAD]"
    ).save_pretrained(tmp_path / "e")
    config = transformers.RobertaConfig(
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=35,
        pad_token_id=0,
        bos_token_id=2,
        eos_token_id=3,
    )
    transformers.RobertaModel(config, add_pooling_layer=False).save_pretrained(tmp_path / "e")
    finish(
        tiny_recipe(model={"encoder": str(tmp_path / "e")}, training={"epochs": 1}),
        tmp_path / "run",
    )
    assert load(tmp_path / "run" / "best", links=False).manifest.name == "tiny"
    longer = tiny_recipe(model={"encoder": str(tmp_path / "e")}, reading={"max_length": 35})
    with pytest.raises(RecipeError, match="is more than the 34 pieces"):
        finish(longer, tmp_path / "longer")


def test_a_run_without_its_state_says_that_it_begins_again(
    tiny_recipe: Maker, tmp_path: Path
) -> None:
    recipe = tiny_recipe(training={"epochs": 2})
    kill_in_epoch(recipe, tmp_path / "run", 2)
    shutil.rmtree(tmp_path / "run" / "state")
    events = finish(recipe, tmp_path / "run", resume=True)
    assert [n.text for n in events if isinstance(n, Note)][-1].endswith(
        "training begins again at the first epoch"
    )
    assert [line["epoch"] for line in metrics(tmp_path / "run")] == [1, 2]


def refused(
    recipe: Recipe, folder: Path, error: type[Exception], match: str, *, resume: bool = False
) -> None:
    before = folder.exists()
    with pytest.raises(error, match=match) as caught:
        finish(recipe, folder, resume=resume)
    assert "\n" not in str(caught.value)
    assert folder.exists() == before


def test_a_window_that_the_encoder_cannot_read(tiny_recipe: Maker, tmp_path: Path) -> None:
    recipe = tiny_recipe(reading={"max_length": 65})
    refused(
        recipe,
        tmp_path / "run",
        RecipeError,
        r"reading\.max_length = 65 is more than the 64 pieces that .* reads",
    )


def test_names_that_this_release_does_not_have(tiny_recipe: Maker, tmp_path: Path) -> None:
    recipe = tiny_recipe(reading={"segmenter": "rules@9"})
    refused(
        recipe,
        tmp_path / "run",
        RecipeError,
        r"^reading\.segmenter = 'rules@9' is not allowed: allowed are ",
    )


def test_only_the_end_is_made_again(tiny_recipe: Maker, tmp_path: Path) -> None:
    recipe = tiny_recipe(training={"epochs": 3})
    first = finish(recipe, tmp_path / "run")[-1]
    before = (tmp_path / "run" / "best" / "model.safetensors").read_bytes()
    (tmp_path / "run" / "scores.json").unlink()
    events = list(run_recipe(recipe, tmp_path / "run", resume=True))
    assert not any(isinstance(e, StepDone | Validated) for e in events)
    assert events[-1].answer == first.answer
    assert (tmp_path / "run" / "best" / "model.safetensors").read_bytes() == before


@pytest.mark.parametrize("lacking", ["metrics.jsonl", "best"])
def test_a_run_without_state_that_is_not_complete_begins_again(
    tiny_recipe: Maker, tmp_path: Path, lacking: str
) -> None:
    recipe = tiny_recipe(training={"epochs": 2})
    finish(recipe, tmp_path / "run")
    for name in ("scores.json", lacking):
        path = tmp_path / "run" / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    events = list(run_recipe(recipe, tmp_path / "run", resume=True))
    assert [e.epoch for e in events if isinstance(e, Validated)] == [1, 2]


@pytest.mark.parametrize("documents", ["sentence", "file"])
def test_context_without_neighbours_is_told(
    tiny_recipe: Maker, tmp_path: Path, documents: str
) -> None:
    reading = {"context_sentences": 1}
    recipe = tiny_recipe(reading=reading, corpus={"documents": documents}, training={"epochs": 1})
    notes = [e.text for e in finish(recipe, tmp_path / "run") if isinstance(e, Note)]
    assert any("no sentence is read with context" in text for text in notes) == (
        documents == "sentence"
    )


def test_an_encoder_that_is_none(tiny_recipe: Maker, tmp_path: Path) -> None:
    from fascicle.errors import MissingExtraError, ModelError

    (tmp_path / "empty").mkdir()
    recipe = tiny_recipe(model={"encoder": str(tmp_path / "empty")})
    refused(
        recipe,
        tmp_path / "run",
        ModelError,
        "could not be loaded .*; give a Hugging Face name or a folder",
    )
    # no name on the hub looks like these
    for folder in ("runs/none/encoder", "./none", str(tmp_path / "none")):
        refused(
            tiny_recipe(model={"encoder": folder}),
            tmp_path / "run",
            ModelError,
            f"no folder {folder}",
        )
    recipe = tiny_recipe(model={"encoder": "package:no_such_package/model"})
    refused(recipe, tmp_path / "run", MissingExtraError, "no_such_package")


def test_special_tokens_that_the_encoder_does_not_have(
    tiny_recipe: Maker, tiny_encoder: Path, tmp_path: Path
) -> None:
    bare = json.loads((tiny_encoder / "tokenizer.json").read_text(encoding="utf-8"))
    folder = tmp_path / "bare"
    folder.mkdir()
    for path in tiny_encoder.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    (folder / "tokenizer.json").write_text(
        json.dumps({**bare, "post_processor": None}), encoding="utf-8"
    )
    recipe = tiny_recipe(model={"encoder": str(folder), "level": "piece", "specials": "include"})
    refused(
        recipe, tmp_path / "run", RecipeError, 'model.specials = "include" needs special tokens'
    )


def test_a_corpus_without_mentions(tiny_recipe: Maker, tmp_path: Path) -> None:
    path = tmp_path / "none.tsv"
    path.write_text("the\tO\nrat\tO\n", encoding="utf-8")
    recipe = tiny_recipe(corpus={"train": str(path)})
    refused(
        recipe,
        tmp_path / "run",
        InputError,
        r"none\.tsv holds no mentions; give a corpus with gold annotation",
    )


def test_with_nothing_to_resume_a_run_starts_from_the_beginning(
    tiny_recipe: Maker, tiny_run: Path, toy_corpus: Path, tmp_path: Path
) -> None:
    finish(tiny_recipe(corpus={"test": str(toy_corpus)}), tmp_path / "run", resume=True)
    model = Path("best") / "model.safetensors"
    assert (tmp_path / "run" / model).read_bytes() == (tiny_run / model).read_bytes()


def test_folders_that_are_taken(
    tiny_recipe: Maker, tiny_run: Path, toy_corpus: Path, tmp_path: Path
) -> None:
    same = tiny_recipe(corpus={"test": str(toy_corpus)})
    refused(same, tiny_run, OutputError, "exists already")
    refused(same, tiny_run, OutputError, "is complete", resume=True)
    refused(
        tiny_recipe(seed=2), tiny_run, OutputError, "was started from another recipe", resume=True
    )

    (tmp_path / "notes.txt").touch()
    refused(same, tmp_path, OutputError, "holds no run to resume", resume=True)
    refused(same, tmp_path / "notes.txt", OutputError, "is a file", resume=True)
    refused(same, tmp_path / "notes.txt" / "run", OutputError, "cannot be made: Not a directory")


def test_a_run_of_an_earlier_release_is_known(
    tiny_recipe: Maker, tiny_run: Path, tmp_path: Path
) -> None:
    older = tmp_path / "older"
    shutil.copytree(tiny_run, older)
    told = json.loads((older / "recipe.json").read_text(encoding="utf-8"))
    del told["training"]["validate_every_steps"]
    (older / "recipe.json").write_text(json.dumps(told), encoding="utf-8")
    recipe = tiny_recipe(corpus={"test": told["corpus"]["test"]})
    refused(recipe, older, OutputError, "is complete", resume=True)


def test_a_corpus_in_a_folder(tiny_recipe: Maker, toy_corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "a.txt").write_bytes(toy_corpus.read_bytes())
    corpus = {"train": str(tmp_path / "corpus"), "dev": str(tmp_path / "corpus"), "format": "conll"}
    finish(tiny_recipe(corpus=corpus, training={"epochs": 1}), tmp_path / "run")
    chosen_on = read_manifest(tmp_path / "run" / "best").decision.chosen_on
    (tmp_path / "corpus" / "a.txt").rename(tmp_path / "corpus" / "b.txt")
    finish(tiny_recipe(corpus=corpus, training={"epochs": 1}), tmp_path / "again")
    assert len(chosen_on) == 64
    assert read_manifest(tmp_path / "again" / "best").decision.chosen_on != chosen_on


def test_options_that_a_format_does_not_have(tiny_recipe: Maker, tmp_path: Path) -> None:
    recipe = tiny_recipe(corpus={"where": "split=train"})
    refused(
        recipe,
        tmp_path / "run",
        RecipeError,
        r"\[corpus\].* where.* format records.*, but .* conll",
    )
    (tmp_path / "a.jsonl").write_text('{"text": "rat", "entities": []}\n', encoding="utf-8")
    recipe = tiny_recipe(corpus={"train": str(tmp_path / "a.jsonl")})
    refused(recipe, tmp_path / "run", RecipeError, r"\[corpus\].* documents.* format conll")


def test_what_reading_lost_and_unseen_types_are_told(tiny_recipe: Maker, tmp_path: Path) -> None:
    dev = tmp_path / "dev.pubtator"
    dev.write_text(
        "1|t|the patient has lung cancer\n1|a|\n1\t16\t27\tlung "
        "cancer\tDisease\tD1\n1\t4\t11\tpatient\tPerson\tP1\n"
        "1\t90\t99\tnone\tDisease\tD2\n\n",
        encoding="utf-8",
    )
    recipe = tiny_recipe(corpus={"dev": str(dev), "documents": "auto"}, training={"epochs": 1})
    notes = [e.text for e in finish(recipe, tmp_path / "run") if isinstance(e, Note)]
    assert any("offset-outside" in note for note in notes)
    assert any(note.startswith("dev: 1 gold mention ") and "'Person'" in note for note in notes)


def test_a_changed_corpus_is_not_resumed(
    tiny_recipe: Maker, toy_corpus: Path, tmp_path: Path
) -> None:
    train = tmp_path / "train.tsv"
    train.write_bytes(toy_corpus.read_bytes())
    recipe = tiny_recipe(corpus={"train": str(train)}, training={"epochs": 3})
    for event in run_recipe(recipe, tmp_path / "run"):
        if isinstance(event, Validated):
            break
    train.write_bytes(toy_corpus.read_bytes() * 2)
    with pytest.raises(OutputError, match="the corpus has changed"):
        list(run_recipe(recipe, tmp_path / "run", resume=True))


@pytest.mark.parametrize(
    ("settings", "message"), [({"fields": ["x"]}, "NAME=VALUE"), ({"columns": "a"}, "column")]
)
def test_reading_options_are_checked(
    tiny_recipe: Maker, tmp_path: Path, settings: dict[str, Any], message: str
) -> None:
    records = tmp_path / "records.jsonl"
    records.write_text('{"tokens": ["a"], "entities": []}\n', encoding="utf-8")
    corpus = {"train": str(records), "documents": "auto"} if "fields" in settings else {}
    with pytest.raises(FascicleError, match=message):
        list(run_recipe(tiny_recipe(corpus={**corpus, **settings}), tmp_path / "run"))
