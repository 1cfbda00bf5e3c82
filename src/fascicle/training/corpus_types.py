"""Some types of a corpus, or its types under other names: what ``[corpus.types]`` of a recipe asks for.

It changes the gold of train, dev and test alike, so that what a model is not taught is not asked of it either.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import msgspec

from fascicle.core.document import GOLD, Document, Mention
from fascicle.core.wording import counted
from fascicle.errors import RecipeError
from fascicle.settings.recipes.recogniser import CorpusTypes


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """The documents of a part as a recipe wants them.

    Attributes:
        documents: the same, with the gold that is left.
        labels: label in the files -> gold mentions of it.
        left_out: label -> gold mentions that are left out.
        renamed: label -> gold mentions that have another now.
        merged: mentions that became one with another, of the same spans, when both got one name.
    """

    documents: list[Document]
    labels: Counter[str]
    left_out: Counter[str]
    renamed: Counter[str]
    merged: int

    def lines(self, part: str) -> Iterator[str]:
        """What was done, as sentences."""
        if self.left_out:
            lost = counted(self.left_out.total(), "gold mention is", "gold mentions are")
            yield f"{part}: {lost} left out ({_listed(self.left_out)})"
        if self.renamed:
            changed = counted(self.renamed.total(), "gold mention has", "gold mentions have")
            yield f"{part}: {changed} another type ({_listed(self.renamed)})"
        if self.merged:
            yield f"{part}: {counted(self.merged, 'gold mention')} became one with another of the same range"


def choose_types(documents: list[Document], wanted: CorpusTypes | None) -> Chosen:
    """Leaves out and renames gold mentions.

    Args:
        documents: of a part.
        wanted: by labels as they stand in the files; ``None`` for all as they are.
    """
    labels = Counter(m.type for d in documents for m in d.layer(GOLD))
    if wanted is None:
        return Chosen(documents=documents, labels=labels, left_out=Counter(), renamed=Counter(), merged=0)
    gone = {label for label in labels if not wanted.keeps(label)}
    left_out = Counter({label: labels[label] for label in sorted(gone)})
    renamed = Counter({label: labels[label] for label in sorted(wanted.rename) if label in labels.keys() - gone})
    if not gone and not renamed:
        return Chosen(documents=documents, labels=labels, left_out=left_out, renamed=renamed, merged=0)
    pairs = [_changed(document, gone, wanted.rename) for document in documents]
    merged = sum(count for _, count in pairs)
    return Chosen(documents=[d for d, _ in pairs], labels=labels, left_out=left_out, renamed=renamed, merged=merged)


def check_labels(wanted: CorpusTypes, labels: Mapping[str, int]) -> None:
    """Refuses labels that no part of the corpus has.

    Args:
        wanted: of the recipe.
        labels: of all parts.

    Raises:
        RecipeError: names them, and those that there are.
    """
    for key in ("keep", "drop", "rename"):
        unknown = [label for label in getattr(wanted, key) if label not in labels]
        if unknown:
            there = ", ".join(map(repr, sorted(labels))) or "none"
            raise RecipeError(
                f"corpus.types.{key} names {', '.join(map(repr, unknown))}, a label that no gold mention of the corpus "
                f"has; its labels are {there}"
            )


def _changed(document: Document, gone: set[str], names: Mapping[str, str]) -> tuple[Document, int]:
    """The document with other gold, and how many gold mentions became one with another."""
    kept: dict[tuple[str, object], Mention] = {}
    others, merged = [], 0
    for mention in document.mentions:
        if mention.source != GOLD:
            others.append(mention)
        elif mention.type not in gone:
            name = names.get(mention.type, mention.type)
            new = mention if name == mention.type else msgspec.structs.replace(mention, type=name)
            merged += kept.setdefault((name, mention.spans), new) is not new
    return msgspec.structs.replace(document, mentions=(*kept.values(), *others)), merged


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{count:,} {label}" for label, count in counts.items())
