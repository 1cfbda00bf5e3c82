"""The plain cards of exported folders: what lies in them, not how good it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from fascicle.core.wording import counted
from fascicle.settings.base import Settings
from fascicle.settings.folders.manifest import Learnt, Manifest
from fascicle.settings.inputs import InputFacts
from fascicle.settings.recipes.filter import FilterManifest


def model_card(manifest: Manifest, facts: Sequence[str]) -> str:
    """The plain card of an exported model: what it is, not how good it is."""
    head, reading = manifest.answering, manifest.reading
    lines = [
        f"# {manifest.name}",
        "",
        f"A named entity recogniser for {', '.join(manifest.types)}, written by Fascicle {manifest.fascicle}.",
        "",
        f"- encoder: `{manifest.encoder}`",
        f"- head: {_listed(head)}",
        f"- reads: {_listed(reading)}",
        *(f"- looks up: {line}" for line in (_looked_up(manifest.inputs) if manifest.inputs else ())),
        *(f"- learnt from {name}: {_learnt(one)}" for name, one in (manifest.corpora or {}).items()),
        *(f"- {fact}" for fact in facts),
        "",
        'Use: `fascicle annotate --model FOLDER`, or `fascicle.load("FOLDER").annotate(text)`.',
    ]
    return "\n".join(lines) + "\n"


def _looked_up(inputs: InputFacts) -> Iterator[str]:
    for one in inputs.dictionaries:
        yield f"the {counted(one.names, 'name')} of {one.name}, of which `{one.file}` is a copy"
    if inputs.shapes:
        yield f"the case pattern of each unit (`{inputs.shapes}`)"


def _learnt(one: Learnt) -> str:
    told = f"{', '.join(one.annotates)} in {counted(one.documents, 'document')}"
    told += f", labelled by {one.labelled_by}" if one.labelled_by else ""
    if not one.excluded:
        return told
    more = counted(one.excluded, "more was", "more were")
    return f"{told} ({more} left out as copies of texts of dev, test or each other)"


def _listed(settings: Settings) -> str:
    return ", ".join(f"{name} {value}" for name, value in msgspec.to_builtins(settings).items())


def filter_card(manifest: FilterManifest, facts: Sequence[str]) -> str:
    """The plain card of an exported filter: what it is, not how good it is."""
    threshold = manifest.threshold
    lines = [
        f"# {manifest.name}",
        "",
        f"A filter over mentions of {', '.join(manifest.types)}, written by Fascicle {manifest.fascicle}.",
        "",
        f"- encoder: `{manifest.model.encoder}`",
        f"- reads: the {manifest.reading.unit} of a mention, at most {counted(manifest.reading.max_length, 'piece')}",
        f"- keeps: a probability of at least {threshold.value:g} (chosen for: {threshold.aim})",
        *(f"- {fact}" for fact in facts),
        "",
        "Use: `fascicle combine meta PRED... --filter FOLDER --texts FILE -o OUT`.",
    ]
    return "\n".join(lines) + "\n"
