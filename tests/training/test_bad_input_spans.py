"""Corpora that are hard on a span head: nothing breaks, and what a head cannot say is counted
and scored as missed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from fascicle.core.document import GOLD, Document, Mention
from fascicle.evaluation.scoring.inputs import layers
from fascicle.evaluation.scoring.scores import Scores, score
from fascicle.formats import write
from fascicle.loading import load
from fascicle.models.encoder import load_pretrained
from fascicle.models.heads.contract import IGNORED
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.text.windows import scores_span
from fascicle.training.engine.events import Finished, Note
from fascicle.training.recogniser.data import TrainingSet
from fascicle.training.recogniser.parts import read_parts
from fascicle.training.recogniser.prepare import prepare
from fascicle.training.run import run_recipe

Maker = Callable[..., Recipe]
Spans = dict[tuple[str, str], str]


def document(text: str, mentions: Sequence[tuple[str, str]] = (), *, name: str) -> Document:
    """A sentence with gold, each mention by its words (their first place in the text) and its
    type.
    """
    found = tuple(Mention(((text.index(w), text.index(w) + len(w)),), kind) for w, kind in mentions)
    whole = ((0, len(text)),) if text.strip() else ()
    return Document(id=name, text=text, sentences=whole, mentions=found)


def corpus(path: Path, content: Sequence[tuple[str, Sequence[tuple[str, str]]]]) -> str:
    """A file of documents."""
    write(path, [document(text, gold, name=str(i)) for i, (text, gold) in enumerate(content)])
    return str(path)


@dataclass(frozen=True, kw_only=True)
class Run:
    """A finished run."""

    folder: Path
    notes: list[str]
    dev: Scores

    def lost(self) -> dict[str, int]:
        facts = json.loads((self.folder / "run.json").read_text(encoding="utf-8"))
        (reasons,) = facts["not_representable"].values()
        return dict(reasons)

    def found(self, texts: Sequence[str]) -> list[list[tuple[str, str]]]:
        return [
            [(text[m.start : m.end], m.type) for m in d.mentions]
            for text, d in zip(
                texts, load(self.folder / "best", links=False).annotate(texts), strict=True
            )
        ]


@pytest.fixture
def finished(tiny_recipe: Maker, tmp_path: Path) -> Callable[..., Run]:
    def make(path: str = "", epochs: int = 20, **model: Any) -> Run:
        given = {"train": path, "dev": path, "documents": "auto"} if path else {}
        training = {"epochs": epochs, "batch_size": 1, "learning_rate": 3e-3}
        recipe = tiny_recipe(
            corpus=given, model={"family": "span", "pooling": "max", **model}, training=training
        )
        events = list(run_recipe(recipe, tmp_path / "run"))
        last = events[-1]
        assert isinstance(last, Finished)
        return Run(
            folder=last.folder,
            notes=[e.text for e in events if isinstance(e, Note)],
            dev=last.answer.dev,
        )

    return make


def assert_only_missed(run: Run, count: int) -> None:
    """All of dev is found but so many mentions, and nothing else is said."""
    assert (run.dev.counts.fn, run.dev.counts.fp) == (count, 0)
    total = run.dev.counts.tp + count
    assert run.dev.micro.recall == pytest.approx(1 - count / total)


@pytest.mark.parametrize(("width", "wide"), [(1, 4), (2, 1)])
def test_mentions_wider_than_the_head_are_counted_and_missed(
    finished: Callable[..., Run], width: int, wide: int
) -> None:
    """The toy corpus has three mentions of two words and one of three."""
    run = finished(width=width, width_embedding=4)
    assert run.lost() == ({"too-wide": wide} if wide else {})
    for part in ("train", "dev"):
        told = [f"{part}: 18 gold mentions, {wide} ({wide / 18:.2%}) cannot be represented exactly"]
        told += (
            [f"{part}:   {wide} too-wide: has more words or pieces than the width of the head"]
            if wide
            else []
        )
        assert [note for note in run.notes if note.startswith(f"{part}: ")] == told
    assert_only_missed(run, wide)


def test_the_width_that_is_left_to_the_data_is_told(
    finished: Callable[..., Run], tmp_path: Path
) -> None:
    """Of 200 mentions two are of three words and one of four: with 99 % covered two words would
    do for 197.
    """
    short = [("lung cancer", [("lung cancer", "Disease")])] * 197
    long = [("liver heart failure", [("liver heart failure", "Disease")])] * 2
    longest = [("chronic liver heart failure", [("chronic liver heart failure", "Disease")])]
    run = finished(corpus(tmp_path / "a.jsonl", [*short, *long, *longest]), epochs=1)
    assert "width 3 words: covers 99% of the gold mentions of train" in run.notes
    assert load(run.folder / "best", links=False).manifest.heads["span"].width == 3
    assert run.lost() == {"too-wide": 1}


def test_a_width_of_one_is_told_in_the_singular(
    finished: Callable[..., Run], tmp_path: Path
) -> None:
    run = finished(
        corpus(tmp_path / "a.jsonl", [("aspirin caused pain", [("aspirin", "Chemical")])]), epochs=1
    )
    assert "width 1 word: covers 99% of the gold mentions of train" in run.notes


def test_one_word_sentences_and_documents(finished: Callable[..., Run], tmp_path: Path) -> None:
    content = [
        ("aspirin", [("aspirin", "Chemical")]),
        ("pain", [("pain", "Disease")]),
        ("the", []),
        (".", []),
    ]
    run = finished(
        corpus(tmp_path / "a.jsonl", content), width=8, representation="hybrid", width_embedding=4
    )
    assert_only_missed(run, 0)
    assert run.found([text for text, _ in content]) == [
        [("aspirin", "Chemical")],
        [("pain", "Disease")],
        [],
        [],
    ]


def test_documents_without_text_or_words(finished: Callable[..., Run], tmp_path: Path) -> None:
    full = ("aspirin caused pain", [("aspirin", "Chemical"), ("pain", "Disease")])
    run = finished(
        corpus(tmp_path / "a.jsonl", [("", []), full, (" \n", []), ("the", []), ("", [])])
    )
    assert_only_missed(run, 0)
    assert run.found(["", full[0], " \n\t"]) == [
        [],
        [("aspirin", "Chemical"), ("pain", "Disease")],
        [],
    ]


def test_a_type_that_occurs_once(finished: Callable[..., Run], tmp_path: Path) -> None:
    content = [
        ("aspirin caused pain", [("aspirin", "Chemical")]),
        ("caffeine caused fever", [("caffeine", "Chemical")]),
        ("the doctor gave ibuprofen", [("doctor", "Person"), ("ibuprofen", "Chemical")]),
    ]
    run = finished(corpus(tmp_path / "a.jsonl", content), negatives=4)
    assert_only_missed(run, 0)
    assert {name: (c.tp, c.fn) for name, c in run.dev.by_type.items()} == {
        "Chemical": (3, 0),
        "Person": (1, 0),
    }


@pytest.mark.parametrize(
    ("family", "decoding"), [("span", "nested"), ("span", "optimal"), ("biaffine", "greedy")]
)
def test_a_single_type(
    finished: Callable[..., Run], tmp_path: Path, family: str, decoding: str
) -> None:
    content = [
        ("aspirin caused pain", [("aspirin", "Chemical")]),
        ("no aspirin", [("aspirin", "Chemical")]),
    ]
    run = finished(
        corpus(tmp_path / "a.jsonl", content), family=family, decoding=decoding, width=2, epochs=12
    )
    assert load(run.folder / "best", links=False).manifest.types == ("Chemical",)
    assert_only_missed(run, 0)


NESTED: list[tuple[str, list[tuple[str, str]]]] = [
    (
        "chronic liver failure",
        [("chronic liver failure", "Disease"), ("liver", "Organ"), ("liver", "Disease")],
    ),
    (
        "lung cancer pain",
        [("lung cancer", "Disease"), ("cancer pain", "Disease"), ("lung", "Organ")],
    ),
    ("no heart pain", [("heart", "Organ"), ("heart pain", "Disease")]),
]


def test_two_types_on_one_span(finished: Callable[..., Run], tmp_path: Path) -> None:
    """A nested head learns all but one of two types on one span; nested and crossing mentions
    come back.
    """
    path = corpus(tmp_path / "a.jsonl", NESTED)
    run = finished(
        path, family="biaffine", hidden=32, width=3, width_embedding=4, decoding="nested", epochs=30
    )
    assert run.lost() == {"same-span": 1}
    assert "train:   1 same-span: has the range of another mention: one type is taught" in run.notes
    assert_only_missed(run, 1)
    wanted = [sorted(set(gold)) for _, gold in NESTED]
    wanted[0].remove(("liver", "Organ"))
    assert [sorted(found) for found in run.found([text for text, _ in NESTED])] == wanted


@pytest.mark.parametrize("decoding", ["greedy", "optimal"])
def test_a_flat_head_finds_gold_that_does_not_overlap(
    finished: Callable[..., Run], tmp_path: Path, decoding: str
) -> None:
    run = finished(
        corpus(tmp_path / "a.jsonl", NESTED), width=3, width_embedding=4, decoding=decoding
    )
    assert run.lost() == {"overlapped": 5}
    assert run.dev.counts.fp == 0
    # inner mentions are taught too; "lung" and "cancer pain" fit beside each other
    assert run.dev.counts.fn in (4, 5)
    gold = read_parts_of(run)
    found = load(run.folder / "best", links=False).predict(gold)
    for document, patch in zip(gold, found, strict=True):
        for mention in document.layer(GOLD):  # what was not found had no place beside what was
            assert any(one.start < mention.end and mention.start < one.end for one in patch.add)
        borders = [
            place for m in sorted(patch.add, key=lambda m: m.start) for place in (m.start, m.end)
        ]
        assert borders == sorted(borders)


def read_parts_of(run: Run) -> list[Document]:
    from fascicle.settings.recipes.any import parse_recipe

    values = json.loads((run.folder / "recipe.json").read_text(encoding="utf-8"))
    values["model"] = {**values["model"].pop("head"), **values["model"]}
    return read_parts(parse_recipe(values, origin="recipe.json").corpus).dev


# A sentence of 2,000 words

WORDS = [
    "the",
    "patient",
    "has",
    "lung",
    "cancer",
    "pain",
    "and",
    "fever",
    ",",
    "caffeine",
    "caused",
    "hepatitis",
]
COUNT = 2_000


def long_sentence(*, name: str, every: int = 25) -> Document:
    """Mentions of one to four words, at regular places."""
    chance = np.random.default_rng(5)
    words = [WORDS[i] for i in chance.integers(0, len(WORDS), COUNT)]
    starts = np.cumsum([0, *(len(word) + 1 for word in words)]).tolist()
    text = " ".join(words)
    ranges = [(i, i + 1 + i // every % 4) for i in range(0, COUNT - 4, every)]
    mentions = tuple(Mention(((starts[a], starts[b] - 1),), "Disease") for a, b in ranges)
    return Document(id=name, text=text, sentences=((0, len(text)),), mentions=mentions)


def training_set_of(recipe: Recipe) -> TrainingSet:
    return prepare(recipe, read_parts(recipe.corpus), load_pretrained(recipe.model.encoder)).data


def test_a_sentence_of_thousands_of_words_is_taught_in_windows(
    tiny_recipe: Maker, tmp_path: Path
) -> None:
    """Every mention is taught in exactly one window, and no batch is larger than its windows."""
    write(tmp_path / "a.jsonl", [long_sentence(name="1")])
    path = str(tmp_path / "a.jsonl")
    data = training_set_of(
        tiny_recipe(
            corpus={"train": path, "dev": path, "documents": "auto"},
            model={"family": "span", "pooling": "max", "width": 4, "decoding": "nested"},
            reading={"max_length": 64, "overlap": 16},
        )
    )
    assert len(data.windows) > COUNT / 64
    assert data.mentions == 80
    assert data.lost == {"span": {}}
    taught, cells = 0, 0
    for batch, targets in data.batches(size=16, seed=1, epoch=0):
        found = targets["span"]
        assert batch["input_ids"].shape[1] <= 64
        assert found.shape[1] <= 62
        taught += int((found > 0).sum())
        cells += int((found != IGNORED).sum())
    spans = sum(1 for a in range(COUNT) for b in range(a + 1, min(a + 4, COUNT) + 1))
    answered = sum(
        any(scores_span(w, a, b) for w in data.windows if w.units[0] <= a < w.units[1])
        for a in range(COUNT)
        for b in range(a + 1, min(a + 4, COUNT) + 1)
    )
    assert taught == 80
    assert cells == answered == spans


def test_a_sentence_of_thousands_of_words_is_predicted(tiny_recipe: Maker, tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", [long_sentence(name="1")])
    path = str(tmp_path / "a.jsonl")
    recipe = tiny_recipe(
        corpus={"train": path, "dev": path, "documents": "auto"},
        model={"family": "biaffine", "pooling": "max", "hidden": 8, "decoding": "nested"},
        reading={"max_length": 64, "overlap": 16},
        training={"epochs": 1},
    )
    events = list(run_recipe(recipe, tmp_path / "run"))
    assert isinstance(events[-1], Finished)
    (gold,) = read_parts(recipe.corpus).dev
    model = load(tmp_path / "run" / "best", links=False)
    with torch.no_grad():
        (patch,) = model.predict([gold])
    again = score(layers([gold]), {gold.id: patch.add})
    assert again.counts == events[-1].answer.dev.counts
    assert len(gold.layer(GOLD)) == again.counts.tp + again.counts.fn == 80
    assert len({m.spans for m in patch.add}) == len(patch.add)


def test_a_mention_wider_than_any_head_lowers_the_width_to_the_most_there_is(
    tiny_recipe: Callable[..., Recipe], tmp_path: Path
) -> None:
    words = [f"aspirin\t{tag}-Disease\n" for tag in ["B", *["I"] * 299]]
    path = tmp_path / "long.tsv"
    path.write_text("".join(words) + "\n" + "pain\tB-Disease\n\n", encoding="utf-8")
    recipe = tiny_recipe(
        corpus={"train": str(path), "dev": str(path)},
        model={"family": "span"},
        training={"epochs": 1},
    )
    events = list(run_recipe(recipe, tmp_path / "run"))
    notes = [event.text for event in events if isinstance(event, Note)]
    assert any(text.startswith("width 256 words: the most there is") for text in notes)
