"""Proposing rules of curation for a term pack: what ``fascicle index curate`` does."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from fascicle.core.arguments import checked
from fascicle.core.document import Document
from fascicle.core.wording import counted
from fascicle.errors import UsageError
from fascicle.files.atomic import check_target, output
from fascicle.formats.account import Account
from fascicle.formats.requests import ReadRequest, documents_of
from fascicle.knowledge.curation.rules import written
from fascicle.knowledge.pack.evidence import Evidence
from fascicle.knowledge.pack.pack import Pack
from fascicle.knowledge.pack.proposing import Proposal, ProposalSettings, proposals
from fascicle.tasks.paths import Paths, listed

Watch = Callable[[Iterable[Document]], Iterator[Document]]


@dataclass(frozen=True, kw_only=True)
class Curated:
    """What was proposed.

    Attributes:
        proposals: the most harmful name first.
        names: how many names with a type were found in the texts.
        notes: sentences that a reader of the proposals must know.
    """

    proposals: tuple[Proposal, ...]
    names: int
    notes: tuple[str, ...] = ()


@checked
def curate(  # noqa: PLR0913
    pack: str | os.PathLike[str],
    table: str | os.PathLike[str],
    *,
    corpus: Paths = (),
    texts: Paths = (),
    reading: ReadRequest | None = None,
    settings: ProposalSettings | None = None,
    overwrite: bool = False,
    account: Account | None = None,
    watch: Watch = iter,
) -> Curated:
    """Writes a table of rules that texts speak for; `build_pack` reads it as it is, or as a person edited it.

    Args:
        pack: folder that ``fascicle index build`` wrote.
        table: the file to write; ``.gz`` at the end of its name packs it, and ``"-"`` is standard output.
        corpus: corpora with gold, a path or several. Each says something of the types that its gold has.
        texts: without gold, or with gold that is not looked at; a path or several.
        reading: how corpora are read; texts are read by what they are.
        settings: when there is enough evidence for a rule.
        overwrite: replace an existing file.
        account: receives what could not be read.
        watch: documents go through it one by one, to show progress.

    Raises:
        UsageError: neither corpora nor texts.
        PackError: the pack cannot be opened.
        InputError: a text cannot be read.
        OutputError: the file exists, or cannot be written.
    """
    gold, raw = listed(corpus, name="corpus"), listed(texts, name="texts")
    if not gold and not raw:
        raise UsageError("no text was given; give corpora with gold, or texts without, in which names are counted")
    check_target(table, overwrite=overwrite)
    opened, told = Pack.open(pack), account or Account()
    evidence, notes = Evidence(opened), list[str]()
    for path in gold:
        types = evidence.read_gold(watch(documents_of([path], reading or ReadRequest(), report=told.reading)))
        named = ", ".join(sorted(types))
        notes.append(f"{path} decides about {named}" if types else f"{path} has no gold of a type of the pack")
    if raw:
        evidence.read_raw(watch(documents_of(raw, ReadRequest(), report=told.reading)))
    found = proposals(opened, evidence.counts, settings or ProposalSettings())
    with output(table, overwrite=overwrite) as stream:
        stream.write(written(rule for one in found for rule in one.rules).encode())
    notes.append(f"{counted(len(evidence.counts), 'name was', 'names were')} found")
    return Curated(proposals=tuple(found), names=len(evidence.counts), notes=tuple(notes))
