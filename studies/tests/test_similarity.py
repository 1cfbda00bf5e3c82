"""Similarities of all spans of documents, against one document at a time, span by span, by the
paper's formulas.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.support.runs import finish

torch = pytest.importorskip("torch")

from tokenizers import Tokenizer  # noqa: E402

from fascicle.core.document import GOLD, Document, Mention  # noqa: E402
from fascicle.formats.files import read  # noqa: E402
from fascicle.loading import read_manifest  # noqa: E402
from fascicle.models.model import TOKENIZER, TorchScorer, load_model  # noqa: E402
from fascicle.settings.recipes.recogniser import Recipe  # noqa: E402
from fascicle.text.pieces import PieceTokenizer  # noqa: E402
from fascicle.text.reading import read_documents  # noqa: E402
from fascicle.text.targets import HeadLimits, align  # noqa: E402
from studies.binder.similarity import largest_similarity, similarities  # noqa: E402

WIDTH = 3  # pieces


def trained(tiny_recipe: Callable[..., Recipe], folder: Path, **changes: Any) -> Path:
    model = {
        "family": "binder",
        "type_view": "name",
        "width": WIDTH,
        "hidden": 8,
        "width_embedding": 4,
    }
    recipe = tiny_recipe(
        model={**model, **changes.pop("model", {})}, training={"epochs": 2}, **changes
    )
    finish(recipe, folder)
    return folder / "best"


def opened(folder: Path) -> dict[str, Any]:
    manifest = read_manifest(folder)
    tokenizer = PieceTokenizer.from_file(folder / TOKENIZER, pad=manifest.tokenizer.pad)
    return {
        "manifest": manifest,
        "tokenizer": tokenizer,
        "scorer": TorchScorer(model=load_model(folder, manifest)),
    }


def collected(folder: Path, documents: list[Document]) -> tuple[dict[str, list[np.ndarray]], float]:
    model = opened(folder)
    parts, manifest = list(similarities(documents, **model)), model["manifest"]
    names = ("entity", "other", "threshold")
    found = {
        n: [np.concatenate([getattr(p, n)[k] for p in parts]) for k in range(len(manifest.types))]
        for n in names
    }
    return found, largest_similarity(model["scorer"], manifest)


def literal(folder: Path, documents: list[Document]) -> dict[str, list[list[float]]]:
    """One sentence at a time, one span at a time."""
    manifest = read_manifest(folder)
    model = load_model(folder, manifest).eval()
    head = model.head("binder")
    scorer, kinds = head.scorer, range(len(manifest.types))
    tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
    found: dict[str, list[list[float]]] = {
        n: [[] for _ in kinds] for n in ("entity", "other", "threshold")
    }
    with torch.no_grad():
        types = scorer.project_types(head.types())["span"]
        weight = torch.cat([scorer.text["first"].weight, scorer.text["last"].weight], dim=1)
        widths = scorer.width_term()

        def similarity(one: Any, two: Any, pieces: int) -> list[float]:
            vector = weight @ torch.cat([one, two]) + scorer.text["first"].bias + widths[pieces - 1]
            vector = vector / vector.norm()
            return [float(scorer.log_scales["span"].exp() * (vector @ types[k])) for k in kinds]

        for document in documents:
            encoded = tokenizer.encode(document.text)
            ids = torch.tensor([encoded.ids])
            states = model.encoder(ids, torch.ones_like(ids))[0]
            limits = similarity(states[0], states[0], 1)
            for k in kinds:
                limits[k] = (
                    float(scorer.thresholds[k]) if scorer.thresholds is not None else limits[k]
                )
                limits[k] = (
                    manifest.decision.nothing if head.settings.thresholds == "dev" else limits[k]
                )
                found["threshold"][k].append(limits[k])
            words = document.words or ()
            first = {
                a: next(i for i, o in enumerate(encoded.offsets) if o[0] == a and o[1] > a)
                for a, _ in words
            }
            last = {b: max(i for i, o in enumerate(encoded.offsets) if o[1] == b) for _, b in words}
            gold = {(m.start, m.end, m.type) for m in document.layer(GOLD)}
            for at, (a, _) in enumerate(words):
                for _, b in words[at:]:
                    if last[b] - first[a] + 1 > WIDTH:
                        continue
                    scores = similarity(states[first[a]], states[last[b]], last[b] - first[a] + 1)
                    for k, kind in enumerate(manifest.types):
                        found["entity" if (a, b, kind) in gold else "other"][k].append(scores[k])
    return found


@pytest.mark.parametrize("thresholds", ["dynamic", "global", "dev"])
def test_every_span_once_with_its_similarity(
    tiny_recipe: Callable[..., Recipe], toy_corpus: Path, tmp_path: Path, thresholds: str
) -> None:
    folder = trained(tiny_recipe, tmp_path / "run", model={"thresholds": thresholds})
    documents = list(read(str(toy_corpus)))
    assert len(documents) == 10
    found, bound = collected(folder, documents)
    expected = literal(folder, documents)
    for name, of_types in expected.items():
        for k, values in enumerate(of_types):
            assert np.sort(found[name][k]) == pytest.approx(np.sort(values), abs=1e-4), (name, k)
            assert abs(found[name][k]).max() <= bound + 1e-4
    assert sum(map(len, found["entity"])) == 18
    assert len(found["threshold"][0]) == 10


def test_windows_share_no_span(
    tiny_recipe: Callable[..., Recipe], toy_corpus: Path, tmp_path: Path
) -> None:
    """Long texts are read through windows that overlap; what lies in two of them counts once."""
    folder = trained(
        tiny_recipe, tmp_path / "run", reading={"max_length": 12, "overlap": 4, "unit": "packed"}
    )
    sentences = list(read(str(toy_corpus)))
    text = " ".join(d.text for d in sentences)
    ends = np.cumsum([len(d.text) + 1 for d in sentences]).tolist()
    moved = [
        Mention(((m.start + at, m.end + at),), m.type)
        for d, at in zip(sentences, [0, *ends], strict=False)
        for m in d.layer(GOLD)
    ]
    unseen = Mention(((0, 3),), "Gene")  # a type that the model does not know
    words = tuple(
        (a + at, b + at)
        for d, at in zip(sentences, [0, *ends], strict=False)
        for a, b in d.words or ()
    )
    document = Document(
        id="all", text=text, mentions=(unseen, *moved), words=words, sentences=((0, len(text)),)
    )
    found, _ = collected(folder, [document])
    manifest = (model := opened(folder))["manifest"]
    read_ = read_documents([document], model["tokenizer"], reading=manifest.reading, level="word")
    (pieces,), (windows,) = read_.pieces, read_.windows
    assert len(windows) > 5
    limits = HeadLimits(nested=True, pairs=True, pieces=WIDTH)
    lost = align(moved, pieces, windows, types=manifest.types, limits=limits).lost
    assert sum(map(len, found["entity"])) == len(moved) - lost.total()
    last = np.append(pieces.first[1:], len(pieces.ids)) - 1
    narrow = {
        (i, j + 1)
        for i in range(len(words))
        for j in range(i, len(words))
        if last[j] - pieces.first[i] < WIDTH
    }
    held = {s for s in narrow if any(w.units[0] <= s[0] and s[1] <= w.units[1] for w in windows)}
    assert len(found["entity"][0]) + len(found["other"][0]) == len(held)
    assert len(found["threshold"][0]) == len(windows)


def test_a_text_without_words(
    tiny_recipe: Callable[..., Recipe], toy_corpus: Path, tmp_path: Path
) -> None:
    folder = trained(tiny_recipe, tmp_path / "run")
    empty = [Document(id="a", text=""), Document(id="b", text="   ")]
    parts = list(similarities(empty, **opened(folder)))
    assert not any(len(v) for p in parts for of in (p.entity, p.other, p.threshold) for v in of)
