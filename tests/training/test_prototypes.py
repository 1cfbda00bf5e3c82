"""Instances of types drawn from train: sentences of the gold, the same for the same seed, and
all can be read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from fascicle.core.document import Document, Mention
from fascicle.errors import RecipeError
from fascicle.loading import load
from fascicle.models.encoder import Pretrained, load_pretrained
from fascicle.models.export.folders import export_model
from fascicle.settings.folders.manifest import read_manifest
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.settings.types import TypeDescriptions
from fascicle.training.corpus import read_part
from fascicle.training.recogniser.prototypes import DrawSettings, draw_types
from fascicle.training.run import run_recipe

Maker = Callable[..., Recipe]
BINDER = {
    "family": "binder",
    "type_view": "instances",
    "instances": 4,
    "hidden": 16,
    "dropout": 0.0,
}
GOOD = ("aspirin caused pain", "pain caused aspirin", "aspirin pain")
DRAW = DrawSettings(number=4, seed=1, segmenter="rules@1")


@pytest.fixture(scope="module")
def pretrained(tiny_encoder: Path) -> Pretrained:
    return load_pretrained(str(tiny_encoder))


@pytest.fixture(scope="module")
def documents(tiny_recipe: Maker) -> list[Document]:
    return list(read_part(tiny_recipe().corpus, "train"))


def examples(found: TypeDescriptions) -> dict[str, tuple[str, ...]]:
    return {one.name: one.examples for one in found.types}


def marked(documents: Sequence[Document]) -> set[tuple[str, str]]:
    """Every mention of documents that are sentences, in double brackets, with its type."""
    return {
        (f"{d.text[: m.start]}[[{d.text[m.start : m.end]}]]{d.text[m.end :]}", m.type)
        for d in documents
        for m in d.mentions
    }


def test_they_are_sentences_of_train_drawn_by_the_seed(
    documents: list[Document], pretrained: Pretrained
) -> None:
    found = draw_types(documents, ("Chemical", "Disease"), pretrained, draw=DRAW)
    assert found.names == ("Chemical", "Disease")
    assert all(
        (text, name) in marked(documents)
        for name, texts in examples(found).items()
        for text in texts
    )
    assert all(len(texts) == len(set(texts)) == 4 for texts in examples(found).values())
    assert draw_types(documents[::-1], ("Disease", "Chemical"), pretrained, draw=DRAW) == found
    others = [
        draw_types(documents, ("Chemical", "Disease"), pretrained, draw=seeded(seed))
        for seed in range(2, 6)
    ]
    assert any(other != found for other in others)
    everything = draw_types(
        documents,
        ("Chemical", "Disease"),
        pretrained,
        draw=DrawSettings(**{**vars(DRAW), "number": 1000}),
    )
    assert {
        (text.lower(), name) for name, texts in examples(everything).items() for text in texts
    } == {(text.lower(), name) for text, name in marked(documents)}


def seeded(seed: int) -> DrawSettings:
    return DrawSettings(number=4, seed=seed, segmenter="rules@1")


def test_what_cannot_stand_for_a_type_is_left_out(pretrained: Pretrained) -> None:
    good = [sentence(text, ("aspirin", "C")) for text in GOOD]
    others = [sentence(text, ("pain", "D")) for text in GOOD]
    long = "pain " * 70 + "aspirin"
    bad = [
        sentence(long, ("aspirin", "C")),
        sentence("x" * 700 + " aspirin", ("aspirin", "C")),
        sentence("[[2]] aspirin", ("aspirin", "C")),
        sentence("cancer caused aspirin", ("aspirin", "C"), ("aspirin", "D")),
        sentence("aspirin \x07 caused pain", ("aspirin", "C")),
        Document(
            id="apart", text="aspirin and its acid", mentions=(Mention(((0, 7), (16, 20)), "C"),)
        ),
        Document(
            id="across",
            text="a pain. B pain",
            sentences=((0, 7), (8, 14)),
            mentions=(Mention(((2, 14),), "C"),),
        ),
    ]
    found = draw_types([*bad, *good, *others], ("C", "D"), pretrained, draw=DRAW)
    assert set(examples(found)["C"]) == {text.replace("aspirin", "[[aspirin]]") for text in GOOD}
    spaced = [sentence("aspirin\n caused  pain", ("aspirin", "C")), *good[1:]]
    assert set(examples(draw_types(spaced, ("C",), pretrained, draw=DRAW))["C"]) == set(
        examples(found)["C"]
    )
    with pytest.raises(
        RecipeError, match="train has 2 sentences that can stand for the type 'C', and 3 are read"
    ):
        draw_types([*bad, *good[1:], *others], ("C", "D"), pretrained, draw=DRAW)


def sentence(text: str, *mentions: tuple[str, str]) -> Document:
    found = tuple(Mention(((text.index(w), text.index(w) + len(w)),), kind) for w, kind in mentions)
    return Document(id=text[:40], text=text, sentences=((0, len(text)),), mentions=found)


def test_a_run_keeps_them_and_needs_no_file(
    tiny_recipe: Maker, documents: list[Document], pretrained: Pretrained, tmp_path: Path
) -> None:
    recipe = tiny_recipe(model=BINDER, training={"epochs": 12})
    runs = [tmp_path / "a", tmp_path / "b"]
    for run in runs:
        for _ in run_recipe(recipe, run):
            pass
    manifests = [read_manifest(run / "best") for run in runs]
    wanted = draw_types(documents, ("Chemical", "Disease"), pretrained, draw=DRAW)
    assert [m.descriptions["binder"] for m in manifests] == [wanted] * 2
    texts = [Document(id=d.id, text=d.text) for d in documents]
    first, second = (load(run / "best", links=False).predict(texts) for run in runs)
    assert first == second
    export_model(runs[0], tmp_path / "fp32", int8=False)
    exported = load(tmp_path / "fp32", links=False).predict(texts)
    assert [{m.key for m in p.add} for p in exported] == [{m.key for m in p.add} for p in first]
    assert any(p.add for p in first)


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (
            {"type_view": "keyword", "types": "t.toml"},
            'instances = 4 has no effect with type_view = "keyword"',
        ),
        ({"types": "t.toml"}, "instances = 4 and types = .* exclude each other"),
        ({"instances": 2}, "instances = 2 is not allowed, for 3 are read of each type: draw more"),
    ],
)
def test_settings_that_mean_nothing(tiny_recipe: Maker, model: dict[str, Any], said: str) -> None:
    with pytest.raises(RecipeError, match=said):
        tiny_recipe(model={**BINDER, **model})
