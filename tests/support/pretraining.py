"""A tiny text and a tiny encoder with a mask token."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.support.tiny_encoder import make_tiny_encoder

from fascicle.settings.recipes.any import parse_any
from fascicle.settings.recipes.pretraining import PretrainingRecipe

_LETTERS = "abcdefghijklmnopqrstuvwxy"  # no z: a word with it is unknown
_WORDS = "the of in and patient doctor liver heart cancer pain fever took gave saw lung kidney"
_PARTS = "caus had with kinas aspir hepat ##ed ##es ##ase ##in ##it ##is ##itis"
PIECES = (
    *("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ".", ",", "-"),
    *(_WORDS.split() + _PARTS.split()),
    *_LETTERS,
    *("##" + letter for letter in _LETTERS),
)
_SUBJECTS, _VERBS = ("the doctor", "the patient"), ("saw", "gave", "took", "had", "caused")
_OBJECTS = (
    "pain",
    "fever",
    "aspirin",
    "hepatitis",
    "kinases",
    "zinc",
    "cancer of the liver",
    "pain in the heart",
)


def make_encoder(folder: Path, *, mask: bool = True) -> Path:
    """A folder with a random BERT of two small layers and a WordPiece tokenizer; it reads at
    most 64 pieces.
    """
    return make_tiny_encoder(folder, [piece for piece in PIECES if mask or piece != "[MASK]"])


def make_text(path: Path, *, documents: int = 60, seed: int = 1) -> Path:
    """Sentences of a small grammar as JSON Lines."""
    chance = random.Random(seed)

    def sentence() -> str:
        return f"{chance.choice(_SUBJECTS)} {chance.choice(_VERBS)} {chance.choice(_OBJECTS)}."

    records = [
        {"id": f"d{i}", "license": "CC0", "text": " ".join(sentence() for _ in range(6))}
        for i in range(documents)
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def make_recipe(encoder: Path, text: Path, /, **tables: Mapping[str, Any]) -> PretrainingRecipe:
    """A recipe that runs in a second: ``make_recipe(encoder, text, training={"epochs": 2})``."""
    values: dict[str, Any] = {
        "name": "tiny",
        "text": {"files": [str(text)], "window": 32, "held_out": 0.2},
        "model": {"encoder": str(encoder)},
        "training": {
            "batch_size": 4,
            "learning_rate": 5e-3,
            "validate_every_steps": 5,
            "precision": "fp32",
        },
    }
    for name, table in tables.items():
        values[name] = {**values.get(name, {}), **table}
    return parse_any(values, origin="test")
