"""Training honours the exclusion list of the corpus doctor: as written by it, against its rules,
and in a whole run.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

pytest.importorskip("torch")

from fascicle.cli import main
from fascicle.core.document import Document, Mention
from fascicle.errors import InputError, OutputError, RecipeError
from fascicle.formats import write
from fascicle.formats.exclusions import Exclusion, write_exclusions
from fascicle.settings.recipes.any import parse_recipe, read_recipe
from fascicle.settings.recipes.corpora import CorpusSettings
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.training.corpus import read_part
from fascicle.training.engine.events import Note
from fascicle.training.engine.folder import recipe_text
from fascicle.training.experiments.hashes import data_hashes, recipe_hash
from fascicle.training.labelling import weak_labels
from fascicle.training.recogniser.parts import read_parts
from fascicle.training.run import run_recipe
from fascicle.training.several import training_documents, without_excluded

COPIED = "the doctor gave the patient with chronic pain some aspirin ."
TEXTS = {"a": COPIED, "b": "no fever and no pain .", "c": "caffeine and aspirin in the patient ."}


def corpus(path: Path, texts: dict[str, str]) -> Path:
    documents = []
    for identifier, text in texts.items():
        at = text.find("pain")
        mentions = (Mention(((at, at + 4),), "Disease"),) if at >= 0 else ()
        documents.append(Document(id=identifier, text=text, mentions=mentions))
    write(path, documents)
    return path


def row(document: str, text: str, **changes: Any) -> Exclusion:
    values: dict[str, Any] = {
        "corpus": "train.jsonl",
        "part": "train",
        "document": document,
        "sha256": hashlib.sha256(text.encode()).hexdigest(),
        "reason": "duplicate",
        "similarity": 1.0,
        "of_corpus": "test.jsonl",
        "of_part": "test",
        "of_document": "t1",
    }
    return Exclusion(**{**values, **changes})


@pytest.fixture
def settings(tmp_path: Path) -> Callable[..., CorpusSettings]:
    """The corpus with an exclusion list of some rows."""
    train = corpus(tmp_path / "train.jsonl", TEXTS)
    dev = corpus(tmp_path / "dev.jsonl", {"d": "chronic pain ."})

    def make(*rows: Exclusion) -> CorpusSettings:
        write_exclusions(tmp_path / "list.tsv", rows, overwrite=True)
        return CorpusSettings(train=str(train), dev=str(dev), exclude=str(tmp_path / "list.tsv"))

    return make


def kept(corpus: CorpusSettings) -> list[str]:
    return [document.id for document in training_documents(corpus)]


def left(corpus: CorpusSettings) -> tuple[list[Document], tuple[str, ...]]:
    return without_excluded(read_part(corpus, "train"), corpus)


def test_the_list_of_the_doctor_is_honoured(tmp_path: Path) -> None:
    train = corpus(tmp_path / "train.jsonl", TEXTS)
    test = corpus(tmp_path / "test.jsonl", {"t1": COPIED.replace(" .", "."), "t2": "heart failure"})
    target = tmp_path / "list.tsv"
    argv = [
        "corpus",
        "check",
        "--train",
        train,
        "--test",
        test,
        "--exclude-list",
        target,
        "-o",
        tmp_path / "r.md",
    ]
    assert main(list(map(str, argv))) == 3  # the copy is an error in the corpus
    given = CorpusSettings(train=str(train), dev=str(train), exclude=str(target))
    documents, notes = left(given)
    assert [document.id for document in documents] == ["b", "c"]
    assert notes == (
        f"train: 1 of 3 documents are left out, as {target} says",
        "train:   1 for duplicate with test (test.jsonl)",
    )


def test_without_a_list_nothing_is_left_out(settings: Callable[..., CorpusSettings]) -> None:
    given = msgspec.structs.replace(settings(), exclude=msgspec.UNSET)
    assert kept(given) == ["a", "b", "c"]
    assert left(given)[1] == ()


def test_the_rules(settings: Callable[..., CorpusSettings]) -> None:
    elsewhere = {"corpus": "other.jsonl", "part": "against"}
    of_train = {"of_part": "train", "of_corpus": "train.jsonl"}
    assert kept(settings(row("a", TEXTS["a"]))) == ["b", "c"]
    # A copy of test may not be learned from, whatever its id and wherever the doctor saw it.
    assert kept(settings(row("x", TEXTS["a"], **elsewhere))) == ["b", "c"]
    assert kept(settings(row("x", TEXTS["a"], of_part="dev", **elsewhere))) == ["b", "c"]
    # Of two copies in training data one may stay: the id decides.
    assert kept(
        settings(row("x", TEXTS["a"], **elsewhere, **of_train), row("b", TEXTS["b"], **of_train))
    ) == ["a", "c"]
    assert kept(settings(row("a", TEXTS["a"], reason="near-duplicate", similarity=0.8))) == [
        "b",
        "c",
    ]
    assert kept(settings()) == ["a", "b", "c"]


def test_documents_of_dev_stay_and_it_is_said(settings: Callable[..., CorpusSettings]) -> None:
    notes = left(settings(row("a", TEXTS["a"]), row("d", "chronic pain .", part="dev")))[1]
    assert (
        notes[-1]
        == "dev: the list names 1 document of dev; they stay, for nothing is learned from dev"
    )


def test_a_list_about_dev_and_test_alone_leaves_all_of_train(
    settings: Callable[..., CorpusSettings],
) -> None:
    assert kept(
        settings(row("d", "chronic pain .", part="dev"), row("t", "fever", part="test"))
    ) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        (
            [row("a", "another text")],
            "was made for other texts: 1 of the 1 documents that it names",
        ),
        ([row("a", TEXTS["a"]), row("b", "x")], "1 of the 2 documents .* the first is 'b'"),
        (
            [row("x", "y", corpus="other.jsonl")],
            "names none of the 3 documents .* made for another corpus",
        ),
        ([row("a", "y", corpus="other.jsonl")], "names none of the 3 documents"),
        ([row(name, text) for name, text in TEXTS.items()], "names every document"),
    ],
)
def test_a_list_for_something_else_is_refused(
    settings: Callable[..., CorpusSettings], rows: list[Exclusion], told: str
) -> None:
    with pytest.raises(InputError, match=told):
        training_documents(settings(*rows))


def test_what_is_no_list_is_refused(
    settings: Callable[..., CorpusSettings], tmp_path: Path
) -> None:
    given = settings()
    Path(str(given.exclude)).write_text("a\tb\n", encoding="utf-8")
    with pytest.raises(InputError, match="not an exclusion list"):
        training_documents(given)
    recipe = tmp_path / "r.toml"
    recipe.write_text(
        'name = "r"\n[corpus]\ntrain = "a"\ndev = "b"\nexclude = ""\n[model]\nencoder = "e"\n'
    )
    with pytest.raises(RecipeError, match=r"corpus\.exclude = '' is not allowed"):
        read_recipe(recipe)


def test_a_recipe_names_it(tmp_path: Path) -> None:
    recipe = tmp_path / "r.toml"
    recipe.write_text(
        'name = "r"\n[corpus]\ntrain = "a"\ndev = "b"\nexclude = "l.tsv"\n[model]\nencoder = "e"\n'
    )
    assert read_recipe(recipe).files()["corpus.exclude"] == str((tmp_path / "l.tsv").resolve())
    silent = parse_recipe(
        {"name": "r", "corpus": {"train": "a", "dev": "b"}, "model": {"encoder": "e"}}, origin="r"
    )
    assert '"exclude":' not in recipe_text(silent)
    assert "corpus.exclude" not in silent.files()


def test_its_content_is_part_of_the_identity_of_a_run(
    settings: Callable[..., CorpusSettings], tiny_recipe: Callable[..., Recipe], tmp_path: Path
) -> None:
    def identity(*rows: Exclusion) -> str:
        recipe = msgspec.structs.replace(tiny_recipe(), corpus=settings(*rows))
        return recipe_hash(recipe, data_hashes(recipe))

    first = identity(row("a", TEXTS["a"]))
    assert first != identity(row("b", TEXTS["b"]))
    assert first == identity(row("a", TEXTS["a"]))
    bare = msgspec.structs.replace(
        tiny_recipe(), corpus=msgspec.structs.replace(settings(), exclude=msgspec.UNSET)
    )
    assert recipe_hash(bare, data_hashes(bare)) not in (first, identity())
    moved = settings(row("a", TEXTS["a"]))
    (tmp_path / "elsewhere").mkdir()
    target = Path(str(moved.exclude)).rename(tmp_path / "elsewhere" / "l.tsv")
    recipe = msgspec.structs.replace(
        tiny_recipe(), corpus=msgspec.structs.replace(moved, exclude=str(target))
    )
    assert recipe_hash(recipe, data_hashes(recipe)) == first


def test_weak_labels_are_made_of_what_is_left(
    settings: Callable[..., CorpusSettings],
    tiny_recipe: Callable[..., Recipe],
    toy_dictionary: dict[str, str],
) -> None:
    recipe = tiny_recipe(distant=toy_dictionary)
    parts = read_parts(settings(row("a", TEXTS["a"])), weak_labels(recipe))
    assert [document.id for document in parts.train] == ["b", "c"]
    assert any(note.startswith("train: 1 of 3 documents are left out") for note in parts.notes)


def test_a_run_says_it_and_refuses_to_go_on_with_another_list(
    settings: Callable[..., CorpusSettings], tiny_recipe: Callable[..., Recipe], tmp_path: Path
) -> None:
    recipe = tiny_recipe(training={"epochs": 1}, corpus={"documents": "auto"})
    given = settings(row("a", TEXTS["a"]))
    recipe = msgspec.structs.replace(recipe, corpus=given)
    events = list(run_recipe(recipe, tmp_path / "run"))
    assert any(isinstance(e, Note) and "1 of 3 documents are left out" in e.text for e in events)
    data = json.loads((tmp_path / "run" / "run.json").read_text(encoding="utf-8"))["data"]
    assert data["train"]["documents"] == 2
    assert len(data["exclude"]["sha256"]) == 64
    (tmp_path / "run" / "scores.json").unlink()
    settings(row("b", TEXTS["b"]))
    with pytest.raises(OutputError, match="the exclusion list has changed since the run"):
        list(run_recipe(recipe, tmp_path / "run", resume=True))
