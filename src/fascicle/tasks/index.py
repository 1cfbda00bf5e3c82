"""What is in a term pack, and what two of them differ in: what ``fascicle index`` does with packs that are there."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from itertools import chain

import msgspec

from fascicle.core.arguments import checked
from fascicle.files.atomic import output
from fascicle.formats.account import Account
from fascicle.formats.requests import ReadRequest, documents_of
from fascicle.knowledge.pack.checks import looking_through
from fascicle.knowledge.pack.diff import Change, changes
from fascicle.knowledge.pack.export import COLUMNS, rows
from fascicle.knowledge.pack.mentions import mention_changes
from fascicle.knowledge.pack.pack import Pack
from fascicle.knowledge.pack.sets import EVIDENCE, make_sets
from fascicle.knowledge.pack.stats import PackStats, pack_stats
from fascicle.knowledge.pack.verifying import verify as verify_pack
from fascicle.knowledge.pack.why import Why
from fascicle.knowledge.pack.why import why as why_in
from fascicle.tasks.paths import Paths, listed


@checked
def stats(pack: str | os.PathLike[str]) -> PackStats:
    """Counts concepts, names and what was left out of a pack.

    Args:
        pack: folder that ``fascicle index build`` wrote.

    Raises:
        PackError: it cannot be opened, or has values that cannot be.
    """
    opened = Pack.open(pack)
    with looking_through(opened.folder):
        return pack_stats(opened)


class Verified(msgspec.Struct, frozen=True, kw_only=True):
    """A pack in which everything is right.

    Attributes:
        pack: its full name.
        files: how many were read.
        size: bytes of all of them.
    """

    pack: str
    files: int
    size: int


@checked
def verify(pack: str | os.PathLike[str], *, told: Callable[[str, int], None] = lambda step, count: None) -> Verified:
    """Reads all files of a pack, and checks every hash, every range and every order.

    Args:
        pack: folder that ``fascicle index build`` wrote.
        told: is called with what is being done and a count, now and then.

    Raises:
        PackError: it cannot be opened, a file was changed, or what is in it cannot be.
    """
    opened = Pack.open(pack)
    size = verify_pack(opened, told=told)
    return Verified(pack=opened.full_name, files=len(opened.manifest.files), size=size)


@checked
def why(pack: str | os.PathLike[str], surface: str) -> Why:
    """Explains a surface: its keys, the terms that it finds with their concepts, and what is kept out and why.

    Args:
        pack: folder that ``fascicle index build`` wrote.
        surface: any name.

    Raises:
        PackError: the pack cannot be opened, or has values that cannot be.
    """
    opened = Pack.open(pack)
    with looking_through(opened.folder):
        return why_in(opened, surface)


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


@checked
def diff(
    first: str | os.PathLike[str],
    second: str | os.PathLike[str],
    *,
    corpus: Paths = (),
    reading: ReadRequest | None = None,
    account: Account | None = None,
) -> Iterator[Change]:
    """All differences between two packs, one after the other: in concepts, in terms, and in what they find in texts.

    Args:
        first: folder of the pack that was before.
        second: folder of the pack that is now.
        corpus: texts or documents in which both packs are looked for.
        reading: how these are read.
        account: receives what could not be read.

    Raises:
        PackError: a pack cannot be opened, or has values that cannot be.
        InputError: a text cannot be read.
    """
    packs = Pack.open(first), Pack.open(second)
    paths = listed(corpus, name="corpus")
    if not paths:
        return changes(*packs)
    request, told = reading or ReadRequest(), account or Account()
    documents = documents_of(paths, request, report=told.reading)
    return chain(changes(*packs), mention_changes(*packs, documents))


@checked
def export(
    pack: str | os.PathLike[str], table: str | os.PathLike[str], *, silent: bool = False, overwrite: bool = False
) -> int:
    """Writes the terms of a pack as TSV with a line of titles; a source of a pack can be such a file.

    Args:
        pack: folder that ``fascicle index build`` wrote.
        table: the file; ``.gz`` at the end of its name packs it, and ``"-"`` is standard output.
        silent: write the terms that are kept out in place of those that are found.
        overwrite: replace an existing file.

    Returns:
        How many terms were written.

    Raises:
        PackError: the pack cannot be opened, or has values that cannot be.
        OutputError: the file exists, or cannot be written.
    """
    opened = Pack.open(pack)
    count = 0
    with looking_through(opened.folder), output(table, overwrite=overwrite) as stream:
        stream.write(("\t".join(COLUMNS) + "\n").encode())
        for row in rows(opened, silent=silent):
            stream.write(("\t".join(row) + "\n").encode())
            count += 1
    return count
