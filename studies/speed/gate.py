"""How much a gate could save that keeps sentences without mentions from the network, and what it
would lose.

usage: python -m studies.speed.gate [--model biomed] [--characters 400000]

``FASCICLE_DATA`` names the texts. The gate is logistic regression over the pieces that a sentence
has, as cheap as a gate can be. The answers of the model itself teach it, on half of the documents
of all sources together; its threshold is the one that loses at most a given share of mentions on a
quarter; it is judged on the last quarter. The pieces of sentences without mentions are what a
perfect gate would save. Written: ``results/gate.json``.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from fascicle.core.document import Document
from fascicle.core.stream import chunks
from fascicle.loading import load_single
from fascicle.runtime.predictor import ModelPredictor
from fascicle.text.segment import sentences
from studies.common import write_result
from studies.speed.duplicates import limited, sources

LOSSES = (0.001, 0.005, 0.02)  # shares of mentions that may be lost
_EPOCHS = 8
_SEED = 1


@dataclass(frozen=True, kw_only=True)
class Sentence:
    """What a gate reads of a sentence, and what the model finds in it.

    Attributes:
        pieces: the different pieces of the sentence.
        length: how many pieces it has.
        mentions: how many mentions are found.
    """

    pieces: np.ndarray[Any, np.dtype[np.int64]]
    length: int
    mentions: int


def main() -> None:
    """Measures and writes ``results/gate.json``."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--model", default="biomed")
    parser.add_argument("--characters", type=int, default=400_000)
    args = parser.parse_args()
    model = load_single(args.model, threads=1)
    parts: dict[str, list[list[Sentence]]] = {}
    for name, documents in sources().items():
        read = [list(answered(model, cut(one))) for one in limited(documents, args.characters)]
        half, quarter = len(read) // 2, len(read) // 4
        groups = (read[:half], read[half : half + quarter], read[half + quarter :])
        parts[name] = [
            [sentence for document in group for sentence in document] for group in groups
        ]
    gate = taught([sentence for learnt, _, _ in parts.values() for sentence in learnt])
    limits = thresholds(gate, [sentence for _, chosen, _ in parts.values() for sentence in chosen])
    found = {name: judged(gate, limits, last) for name, (_, _, last) in parts.items()}
    write_result("gate", {"model": model.name, "characters": args.characters, "sources": found})
    print(json.dumps(found, indent=1))


def cut(document: Document) -> list[Document]:
    """The sentences of a document, each a document."""
    spans = sentences(document.text)
    return [
        Document(id=f"{document.id}/{number}", text=document.text[a:b])
        for number, (a, b) in enumerate(spans)
    ]


def answered(model: ModelPredictor, documents: Iterable[Document]) -> Iterator[Sentence]:
    """Sentences as the model reads and answers them."""
    for chunk in chunks(documents):
        reading = model._encode(chunk)
        for pieces, patch in zip(reading.pieces, model.predict(chunk), strict=True):
            yield Sentence(
                pieces=np.unique(pieces.ids), length=len(pieces.ids), mentions=len(patch.add)
            )


def taught(given: Sequence[Sentence]) -> nn.EmbeddingBag:
    """A weight for each piece, and a bias as the last one: positive where a sentence has a
    mention.
    """
    torch.manual_seed(_SEED)
    rows = 1 + max(int(one.pieces.max(initial=0)) for one in given)
    gate = nn.EmbeddingBag(rows + 1, 1, mode="sum")
    nn.init.zeros_(gate.weight)
    optimizer = torch.optim.Adam(gate.parameters(), lr=0.02)
    answers = torch.tensor([float(one.mentions > 0) for one in given])
    for _ in range(_EPOCHS):
        for rows_of in torch.randperm(len(given)).split(64):
            loss = F.binary_cross_entropy_with_logits(
                scores(gate, [given[i] for i in rows_of]), answers[rows_of]
            )
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return gate


def scores(gate: nn.EmbeddingBag, given: Sequence[Sentence]) -> Tensor:
    """Of each sentence; a piece that the gate has never seen counts nothing."""
    last = gate.num_embeddings - 1
    bags = [np.append(one.pieces[one.pieces < last], last) for one in given]
    starts = np.cumsum([0, *map(len, bags[:-1])])
    return gate(torch.from_numpy(np.concatenate(bags)), torch.from_numpy(starts))[:, 0]  # type: ignore[no-any-return]


@torch.no_grad()
def thresholds(gate: nn.EmbeddingBag, given: Sequence[Sentence]) -> dict[float, float]:
    """By share of mentions that may be lost, the largest threshold that loses no more; what is
    below it is left out.
    """
    values = scores(gate, given).double().numpy()
    order = np.argsort(values, kind="stable")
    lost = np.cumsum(np.array([one.mentions for one in given])[order]) / sum(
        one.mentions for one in given
    )
    found = {}
    for most in LOSSES:
        # the first sentence that must be kept
        kept = int(np.searchsorted(lost, most, side="right"))
        found[most] = float(values[order[kept]]) if kept < len(order) else float("inf")
    return found


@torch.no_grad()
def judged(
    gate: nn.EmbeddingBag, limits: Mapping[float, float], given: Sequence[Sentence]
) -> dict[str, Any]:
    """The shares of pieces that are saved and of mentions that are lost, and the price of
    looking.
    """
    before = time.process_time()
    values = scores(gate, given).double().numpy()
    took = time.process_time() - before
    lengths, mentions = (
        np.array([getattr(one, name) for one in given]) for name in ("length", "mentions")
    )
    shares = {}
    for most, limit in limits.items():
        out = values < limit
        shares[str(most)] = {
            "pieces_saved": round(float(lengths[out].sum() / lengths.sum()), 4),
            "mentions_lost": round(float(mentions[out].sum() / mentions.sum()), 4),
        }
    return {
        "sentences": len(given),
        "mentions": int(mentions.sum()),
        "empty_sentences": round(float((mentions == 0).mean()), 4),
        "pieces_of_empty": round(float(lengths[mentions == 0].sum() / lengths.sum()), 4),
        "gates": shares,
        "looking_microseconds_a_sentence": round(1e6 * took / len(given), 2),
    }


if __name__ == "__main__":
    main()
