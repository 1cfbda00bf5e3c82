"""Context changes the states of a sentence, and nothing else about what a head sees."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from fascicle.core.document import Document
from fascicle.models.encoder import Pretrained, load_pretrained
from fascicle.models.nn.pooling import POOLINGS
from fascicle.settings.recipes.recogniser import ReadingSettings
from fascicle.text.pieces import encode_documents
from fascicle.text.reading import read_documents
from fascicle.text.windows import NO_CONTEXT, Batch, Context, collate, make_windows

PARTS = (
    "the doctor gave caffeine.",
    "hepatitis caused chronic pain in patients.",
    "the patient had fever.",
)


def document_of(parts: tuple[str, ...]) -> Document:
    starts = np.cumsum([0, *(len(p) + 1 for p in parts[:-1])]).tolist()
    sentences = tuple((a, a + len(p)) for a, p in zip(starts, parts, strict=True))
    return Document(id="d", text=" ".join(parts), sentences=sentences)


def read(pretrained: Pretrained, parts: tuple[str, ...], context: Context) -> Batch:
    """The middle sentence of a document of three, collated."""
    document = document_of(parts)
    pieces = encode_documents([document], pretrained.tokenizer, segmenter="rules@1", level="word")
    windows = make_windows(
        pieces[0], document=0, unit="sentence", capacity=60, overlap=8, context=context
    )
    assert len(windows) == 3
    return collate(windows[1:2], pieces, pretrained.tokenizer)


@torch.no_grad()
def unit_states(pretrained: Pretrained, arrays: Batch, pooling: str) -> Tensor:
    batch = {name: torch.from_numpy(a) for name, a in arrays.items()}
    states = pretrained.encoder.eval()(batch["input_ids"], batch["attention_mask"])
    module = POOLINGS[pooling]()
    return module(states, **{name: batch[name] for name in module.needs})[
        0, : int(batch["unit_count"][0])
    ]


@pytest.mark.parametrize("pooling", ["first", "max", "mean"])
@pytest.mark.parametrize(
    "context", [Context(characters=30), Context(sentences=1)], ids=["characters", "sentences"]
)
def test_a_sentence_feels_its_context_and_only_if_it_is_read(
    tiny_encoder: Path, context: Context, pooling: str
) -> None:
    pretrained = load_pretrained(str(tiny_encoder))
    for changed in (0, 2):
        other = tuple(
            "no aspirin for the heart." if i == changed else p for i, p in enumerate(PARTS)
        )
        for kind in (context, NO_CONTEXT):
            one, two = (
                unit_states(pretrained, read(pretrained, p, kind), pooling) for p in (PARTS, other)
            )
            assert one.shape == two.shape == (7, 32)
            assert torch.equal(one, two) == (kind == NO_CONTEXT)
            assert not (kind == context and bool((one == two).all(dim=1).any()))  # every word of it


def test_the_settings_of_a_model_are_obeyed(tiny_encoder: Path) -> None:
    tokenizer = load_pretrained(str(tiny_encoder)).tokenizer
    documents = [document_of(PARTS), document_of(PARTS[::-1])]
    for reading, context in (
        (ReadingSettings(max_length=64, context_sentences=1), Context(sentences=1)),
        (ReadingSettings(max_length=64, context_characters=20), Context(characters=20)),
        (ReadingSettings(max_length=64), NO_CONTEXT),
    ):
        read_all = read_documents(documents, tokenizer, reading=reading, level="word")
        for i, (pieces, windows) in enumerate(zip(read_all.pieces, read_all.windows, strict=True)):
            assert windows == make_windows(
                pieces, document=i, unit="sentence", capacity=62, overlap=32, context=context
            )
        lengths = [w.pieces[1] - w.pieces[0] for w in read_all.windows[0]]
        own = np.diff(read_all.pieces[0].sentences, axis=1)[:, 0].tolist()
        assert (lengths == own) == (context == NO_CONTEXT)
