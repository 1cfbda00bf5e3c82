"""Listing what makes sets of concepts in a term pack: what ``fascicle index sets`` does."""

from __future__ import annotations

import os
from collections.abc import Iterator

import msgspec

from fascicle.core.arguments import checked
from fascicle.knowledge.pack.checks import looking_through
from fascicle.knowledge.pack.pack import Pack
from fascicle.knowledge.pack.sets import EVIDENCE, make_sets


class SamePair(msgspec.Struct, frozen=True, kw_only=True):
    """Two concepts of which something says that they are one thing.

    Attributes:
        concept: CURIE of the first.
        label: its preferred name, or its CURIE.
        other: CURIE of the second.
        other_label: its preferred name, or its CURIE.
        evidence: what says so: ``"exact match"``, ``"equal label"`` or ``"single reference"``.
        taken: whether both are in one set; else it is a conflict.
    """

    concept: str
    label: str
    other: str
    other_label: str
    evidence: str
    taken: bool


@checked
def sets(pack: str | os.PathLike[str]) -> Iterator[SamePair]:
    """Lists the pairs of concepts that make the sets of a pack, in the order in which they are looked at.

    Args:
        pack: folder that ``fascicle index build`` wrote.

    Raises:
        PackError: it cannot be opened, or has values that cannot be.
    """
    opened = Pack.open(pack)
    with looking_through(opened.folder):
        found = make_sets(opened).edges
    return (
        SamePair(
            concept=opened.curie(edge.concept),
            label=opened.label_at(edge.concept),
            other=opened.curie(edge.other),
            other_label=opened.label_at(edge.other),
            evidence=EVIDENCE[edge.evidence],
            taken=edge.taken,
        )
        for edge in found
    )
