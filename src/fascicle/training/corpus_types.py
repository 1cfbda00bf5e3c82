"""Some types of a corpus, or its types under other names: what ``[corpus.types]`` of a recipe asks for.

It changes the gold of train, dev and test alike, so that what a model is not taught is not asked of it either.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from fascicle.core.document import GOLD, Document, Mention
from fascicle.core.spans import overlaps
from fascicle.core.wording import counted
from fascicle.errors import RecipeError
from fascicle.settings.recipes.corpora import CorpusTypes


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


def check_labels(wanted: CorpusTypes, labels: Mapping[str, int], *, place: str = "corpus") -> None:
    """Refuses labels that no part of the corpus has.

    Args:
        wanted: of the recipe.
        labels: of all parts.
        place: of the corpus in the recipe.

    Raises:
        RecipeError: names them, and those that there are.
    """
    for key in ("keep", "drop", "rename"):
        unknown = [label for label in getattr(wanted, key) if label not in labels]
        if unknown:
            there = ", ".join(map(repr, sorted(labels))) or "none"
            raise RecipeError(
                f"{place}.types.{key} names {', '.join(map(repr, unknown))}, a label that no gold mention of the "
                f"corpus has; its labels are {there}"
            )


def check_merged(documents: Sequence[Document], wanted: CorpusTypes, *, place: str) -> None:
    """Refuses names under which mentions of different labels overlap as mentions of one type.

    Two mentions of the same range become one, which is counted and no error.

    Args:
        documents: of a part, with the labels of the files.
        wanted: of the recipe.
        place: of the corpus in the recipe.

    Raises:
        RecipeError: names the first two.
    """
    for document in documents:
        reaching: dict[str, list[Mention]] = {}  # by their new names, those that the next mention may overlap
        for mention in sorted(filter(lambda m: wanted.keeps(m.type), document.layer(GOLD)), key=lambda m: m.start):
            name = wanted.rename.get(mention.type, mention.type)
            before = [m for m in reaching.get(name, ()) if m.end > mention.start]
            other = next((m for m in before if m.type != mention.type and _crosses(m, mention)), None)
            if other is not None:
                raise RecipeError(
                    f"{place}.types.rename gives {other.type!r} and {mention.type!r} the name {name!r}, but mentions "
                    f"of the two overlap (document {document.id!r}, {other.start}..{other.end} and "
                    f"{mention.start}..{mention.end}): give them two names, or drop one"
                )
            reaching[name] = [*before, mention]


def _crosses(one: Mention, other: Mention) -> bool:
    """Whether two mentions overlap and have different ranges."""
    return one.spans != other.spans and any(overlaps(a, b) for a in one.spans for b in other.spans)


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
