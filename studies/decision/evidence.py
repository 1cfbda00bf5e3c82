"""What evidence from outside the network changes: longer names of the pack, formulas, variants; on
development texts.

usage: python -m studies.decision.evidence FOLDER [MODEL ...]

FOLDER is that of ``studies.decision.development --aside``; at most 100 texts of a file are read,
those with the lowest hashes. The two files of texts set aside taught nothing; the shipped models
learnt from the others. Writes ``results/decision-evidence.json``.
"""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final
from unittest import mock

import msgspec

from fascicle.core.document import GOLD, Document, Patch
from fascicle.evaluation.scoring.scores import score
from fascicle.formats import read
from fascicle.loading import load_single
from fascicle.runtime.decoding import deciding
from fascicle.runtime.predictor import ModelPredictor
from fascicle.runtime.ruled import known_names
from fascicle.text.segment import segmenter
from studies.common import write_result

FILES: Final = (
    "nlm-gene-aside",
    "gnormplus-aside",
    "biored",
    "bc5cdr",
    "ncbi-disease",
    "bionlp13cg",
)
_TEXTS: Final = 100


def main(argv: Sequence[str] | None = None) -> None:
    """Reads, decides twice, scores, writes and prints."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("models", nargs="*", default=["biomed", "biomed-fast"])
    args = parser.parse_args(argv)
    rows = {}
    for name in args.models:
        model = load_single(name, threads=1)
        for file in FILES:
            every = read(args.folder / f"{file}.jsonl")
            documents = sorted(every, key=lambda one: hashlib.sha256(one.id.encode()).digest())[
                :_TEXTS
            ]
            for kind, numbers in measured(model, documents).items():
                rows[f"{model.name} {file} {kind}"] = numbers
                print(model.name, file, kind, numbers, flush=True)
    write_result("decision-evidence", {"texts": _TEXTS, "rows": rows})


def measured(
    model: ModelPredictor, documents: Sequence[Document]
) -> dict[str, Mapping[str, float]]:
    """Strict F1 of each type without the evidence and with it."""
    shown = [Document(id=one.id, text=one.text) for one in documents]
    patches = model.with_document(msgspec.UNSET).predict(shown)
    with mock.patch.object(
        deciding, "with_evidence", lambda documents, patches, *_, **__: list(patches)
    ):
        before = _decided(model, shown, patches)
    after = _decided(model, shown, patches)
    kinds = sorted({mention.type for one in documents for mention in one.layer(GOLD)})
    return {
        kind: {
            "mentions": sum(
                mention.type == kind for one in documents for mention in one.layer(GOLD)
            ),
            "before": _f1(documents, before, kind),
            "after": _f1(documents, after, kind),
        }
        for kind in kinds
    }


def _decided(
    model: ModelPredictor, shown: Sequence[Document], patches: Sequence[Patch]
) -> list[Patch]:
    rules = model.manifest.decision.document
    assert rules
    cuts = segmenter(model.segmenter).sentences
    return deciding.all_decided(
        shown, patches, rules, sentences=cuts, knows=known_names(rules), source=model.name
    )


def _f1(documents: Sequence[Document], patches: Sequence[Patch], kind: str) -> float:
    gold = {one.id: tuple(m for m in one.layer(GOLD) if m.type == kind) for one in documents}
    found = {
        one.id: tuple(m for m in patch.add if m.type == kind)
        for one, patch in zip(documents, patches, strict=True)
    }
    return score(gold, found).micro.f1


if __name__ == "__main__":
    main()
