"""The card of a pretrained encoder: what it learned from, how, and what it cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fascicle.core.wording import counted
from fascicle.settings.recipes.pretraining import PretrainingRecipe
from fascicle.training.pretraining.events import PretrainingFinished


def card_of(recipe: PretrainingRecipe, facts: Mapping[str, Any], ended: PretrainingFinished) -> str:
    """The card as Markdown.

    Args:
        recipe: of the run.
        facts: ``run.json`` of the run.
        ended: what it gave.
    """
    return "\n".join(_lines(recipe, facts, ended)) + "\n"


def _lines(recipe: PretrainingRecipe, facts: Mapping[str, Any], ended: PretrainingFinished) -> Iterator[str]:
    data, documents = facts["data"], facts["documents"]
    yield f"# {recipe.name}\n"
    yield (
        f"The encoder `{recipe.model.encoder}`, trained further by masked language modelling. It has no head: name "
        "this folder as `model.encoder` of a recipe.\n"
    )
    yield "| | |\n|---|---|"
    for name, value in _rows(recipe, facts, ended):
        yield f"| {name} | {value} |"
    yield "\n## Text\n"
    for at, path in enumerate(recipe.text.files):
        yield f"- `{Path(path).name}`, sha256 `{data[f'text.files.{at}']['sha256']}`"
    if recipe.text.exclude:
        yield f"- left out by `{Path(recipe.text.exclude).name}`, sha256 `{data['text.exclude']['sha256']}`"
    for name, values in documents["facts"].items():
        yield f"- {name}: {', '.join(f'{value} ({count:,})' for value, count in values.items())}"


def _rows(recipe: PretrainingRecipe, facts: Mapping[str, Any], ended: PretrainingFinished) -> Iterator[tuple[str, str]]:
    documents, environment = facts["documents"], facts["environment"]
    learned = facts["windows"]["pieces"]
    yield "pieces", f"{learned:,} in {counted(recipe.training.epochs, 'epoch')}"
    yield "steps", f"{ended.step:,} of {facts['steps']:,}"
    yield "documents", f"drawn from {documents['learned']:,}; {documents['held_out']:,} more are held out"
    yield "seed", str(recipe.seed)
    if ended.held_out is not None:
        yield "held-out pseudo-perplexity", f"{ended.held_out.perplexity:.3f} ({ended.held_out.pieces:,} hidden pieces)"
    yield "cost", f"{ended.cost / 3600:.2f} hours, {environment['threads']} threads, {facts['precision']}"
    yield "processor", str(environment["processor"])
    yield "vocabulary", f"{facts['tokenizer']['size']:,} pieces, tokenizer sha256 `{facts['tokenizer']['sha256']}`"
    yield (
        "windows",
        f"{facts['windows']['windows']:,} of {recipe.text.window} pieces, sha256 `{facts['windows']['sha256']}`",
    )
    yield "Fascicle", str(environment["packages"]["fascicle"])
