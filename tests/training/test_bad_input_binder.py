"""Corpora and descriptions that are hard on a bi-encoder: nothing breaks, or one sentence says
why it cannot go on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from fascicle.core.document import Document, Mention
from fascicle.errors import InputError, RecipeError
from fascicle.formats import write
from fascicle.loading import load, read_manifest
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.training.engine.events import Finished
from fascicle.training.run import run_recipe

Maker = Callable[..., Recipe]
BINDER = {"family": "binder", "type_view": "name", "hidden": 16, "width": 8}
UNREAD = "\ufffd\ufffd"  # a word of characters that the tokenizer drops


def document(
    name: str, text: str, mentions: Sequence[tuple[str, str]] = (), **parts: Any
) -> Document:
    found = tuple(Mention(((text.index(w), text.index(w) + len(w)),), kind) for w, kind in mentions)
    return Document(id=name, text=text, mentions=found, **parts)


def corpus(path: Path, documents: Sequence[Document]) -> dict[str, str]:
    write(path, documents)
    return {"train": str(path), "dev": str(path), "documents": "auto"}


FULL = document("full", "aspirin caused pain", [("aspirin", "Chemical"), ("pain", "Disease")])


def test_documents_in_which_no_word_begins(tiny_recipe: Maker, tmp_path: Path) -> None:
    empty = [
        document("none", ""),
        document("blank", " \n\t"),
        document("unread", UNREAD, words=((0, 2),), sentences=((0, 2),)),
        document("wordless", "liver", words=(), sentences=()),
    ]
    given = corpus(tmp_path / "a.jsonl", [empty[0], FULL, *empty[1:]])
    recipe = tiny_recipe(
        corpus=given, model=BINDER, training={"epochs": 60, "batch_size": 1, "learning_rate": 3e-3}
    )
    *_, last = run_recipe(recipe, tmp_path / "run")
    assert isinstance(last, Finished)
    model = load(tmp_path / "run" / "best", links=False)
    found = model.predict([*empty, FULL])
    assert [len(patch.add) for patch in found[:-1]] == [0, 0, 0, 0]
    assert {(m.start, m.end, m.type) for m in found[-1].add} == {
        (0, 7, "Chemical"),
        (15, 19, "Disease"),
    }
    assert [patch.add for patch in model.predict(empty)] == [()] * 4


@pytest.mark.parametrize("family", ["binder", "softmax", "span"])
def test_nothing_of_train_is_read(tiny_recipe: Maker, tmp_path: Path, family: str) -> None:
    mentions = (Mention(((0, 2),), "Disease"),)
    unread = Document(
        id="unread", text=UNREAD, words=((0, 2),), sentences=((0, 2),), mentions=mentions
    )
    given = corpus(tmp_path / "a.jsonl", [unread])
    model = BINDER if family == "binder" else {"family": family}
    with pytest.raises(
        InputError, match=r"holds no word that .* reads, so there is nothing to train on; give"
    ) as caught:
        list(run_recipe(tiny_recipe(corpus=given, model=model), tmp_path / "run"))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("windows", ["all", "mentions"])
def test_no_window_holds_a_mention(tiny_recipe: Maker, tmp_path: Path, windows: str) -> None:
    """All gold reaches over the ends of sentences; without mentions thresholds are learnt, or
    nothing is left.
    """
    text = "aspirin caused pain"
    across = Document(
        id="across",
        text=text,
        sentences=((0, 7), (8, 19)),
        mentions=(Mention(((0, 19),), "Disease"),),
    )
    given = corpus(tmp_path / "a.jsonl", [across])
    recipe = tiny_recipe(corpus=given, model={**BINDER, "windows": windows}, training={"epochs": 2})
    if windows == "mentions":
        with pytest.raises(
            RecipeError,
            match='leaves nothing to train on: no window of train holds one; choose "all"',
        ):
            list(run_recipe(recipe, tmp_path / "run"))
        return
    *_, last = run_recipe(recipe, tmp_path / "run")
    assert isinstance(last, Finished)
    assert (last.answer.dev.counts.tp, last.answer.dev.counts.fn) == (0, 1)


TYPE = '[[type]]\nname = "{}"\ndescription = "{}"\n'
WRONG = {
    "the same description": (
        TYPE.format("Chemical", "a thing") + TYPE.format("Disease", "A  thing"),
        "same description",
    ),
    "too few": (TYPE.format("Disease", "an illness"), "no description of 'Chemical'"),
}


@pytest.mark.parametrize("case", WRONG)
def test_descriptions_that_do_not_fit(tiny_recipe: Maker, tmp_path: Path, case: str) -> None:
    content, said = WRONG[case]
    (tmp_path / "types.toml").write_text(content, encoding="utf-8")
    model = {**BINDER, "type_view": "description", "types": str(tmp_path / "types.toml")}
    with pytest.raises(RecipeError, match=said) as caught:
        list(run_recipe(tiny_recipe(model=model), tmp_path / "run"))
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500
    assert not (tmp_path / "run").exists()


def test_a_described_type_without_gold_is_left_out(tiny_recipe: Maker, tmp_path: Path) -> None:
    types = tmp_path / "types.toml"
    kinds = ("Chemical", "Disease", "Gene")
    types.write_text("".join(TYPE.format(name, f"a {name} pain") for name in kinds))
    model = {**BINDER, "type_view": "description", "types": str(types)}
    events = list(run_recipe(tiny_recipe(model=model, training={"epochs": 1}), tmp_path / "run"))
    line = f"{types} describes 'Gene', which train has no mention of: left out"
    assert any(line in str(event) for event in events)
    manifest = read_manifest(tmp_path / "run" / "best")
    assert manifest.descriptions["binder"].names == ("Chemical", "Disease")


def test_descriptions_of_nothing_but_types_that_are_left_out(
    tiny_recipe: Maker, tmp_path: Path
) -> None:
    path = tmp_path / "types.toml"
    path.write_text('[[type]]\nname = "Disease"\ndescription = "an illness"\n', encoding="utf-8")
    model = {**BINDER, "type_view": "description", "types": str(path)}
    recipe = tiny_recipe(corpus={"types": {"keep": ["Chemical"]}}, model=model)
    with pytest.raises(
        RecipeError,
        match=f"^{path}: no description of 'Chemical' and a description of 'Disease', wh",
    ):
        list(run_recipe(recipe, tmp_path / "run"))
