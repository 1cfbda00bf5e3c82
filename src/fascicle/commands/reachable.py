"""``fascicle evaluate --report --unreachable-for``: what gold no model of a kind can find."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from fascicle.core.document import Document
from fascicle.doctor.reach import reach_of
from fascicle.loading import find_model
from fascicle.settings.folders.manifest import check_files, read_manifest
from fascicle.text.pieces import PieceTokenizer


def unreachable_part(models: Iterable[str], documents: Sequence[Document]) -> list[dict[str, Any]]:
    """For each model a part of the report; nothing but its manifest and its tokenizer is needed.

    Args:
        models: folders, or names of shipped models.
        documents: with gold.

    Raises:
        ModelError: there is no such model, or its folder is damaged.
    """
    parts = []
    for model in models:
        folder = find_model(model)
        manifest = read_manifest(folder)
        check_files(folder, manifest)
        tokenizer = PieceTokenizer.from_file(folder / "tokenizer.json", pad=manifest.tokenizer.pad)
        parts.append(reach_of(documents, manifest, tokenizer).as_dict())
    return parts
