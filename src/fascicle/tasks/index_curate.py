"""Proposing rules of curation for a term pack: what ``fascicle index curate`` does."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from fascicle.core.arguments import checked
from fascicle.core.document import Document
from fascicle.core.wording import counted
from fascicle.errors import UsageError
from fascicle.files.atomic import check_target, output
from fascicle.formats.account import Account
from fascicle.formats.requests import Input, ReadRequest, paths_of, read_inputs
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


@dataclass(frozen=True, kw_only=True)
class CurateRequest:
    """What is proposed about, from which evidence, and where to.

    Attributes:
        pack: folder that ``fascicle index build`` wrote.
        table: the file to write; ``.gz`` at the end of its name packs it, and ``"-"`` is standard output.
        corpus: corpora with gold. Each says something of the types that its gold has.
        texts: without gold, or with gold that is not looked at.
        reading: how corpora are read; texts are read by what they are.
        settings: when there is enough evidence for a rule.
        overwrite: replace an existing file.
    """

    pack: str | os.PathLike[str]
    table: str | os.PathLike[str]
    corpus: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    reading: ReadRequest = field(default_factory=ReadRequest)
    settings: ProposalSettings = field(default_factory=ProposalSettings)
    overwrite: bool = False


@checked
def curate(
    pack: str | os.PathLike[str],
    table: str | os.PathLike[str],
    *,
    corpus: Paths = (),
    texts: Paths = (),
    overwrite: bool = False,
) -> Curated:
    """Writes a table of rules that texts speak for; see `curate_pack`, which takes everything else.

    Args:
        pack: folder that ``fascicle index build`` wrote.
        table: the file to write.
        corpus: corpora with gold, a path or several.
        texts: without gold, a path or several.
        overwrite: replace an existing file.

    Raises:
        FascicleError: see `curate_pack`.
    """
    gold, raw = listed(corpus, name="corpus"), listed(texts, name="texts")
    return curate_pack(CurateRequest(pack=pack, table=table, corpus=gold, texts=raw, overwrite=overwrite))


def curate_pack(request: CurateRequest, *, account: Account | None = None, watch: Watch = iter) -> Curated:
    """Writes a table of rules; `build_pack` reads it as it is, or as a person edited it.

    Args:
        request: what is proposed about, and where to.
        account: receives what could not be read.
        watch: documents go through it one by one, to show progress.

    Raises:
        UsageError: neither corpora nor texts.
        PackError: the pack cannot be opened.
        InputError: a text cannot be read.
        OutputError: the file exists, or cannot be written.
    """
    if not request.corpus and not request.texts:
        raise UsageError("no text was given; give corpora with gold, or texts without, in which names are counted")
    check_target(request.table, overwrite=request.overwrite)
    pack, told = Pack.open(request.pack), account or Account()
    evidence, notes = Evidence(pack), list[str]()
    for path in request.corpus:
        types = evidence.read_gold(watch(_documents([path], request.reading, told)))
        named = ", ".join(sorted(types))
        notes.append(f"{path} decides about {named}" if types else f"{path} has no gold of a type of the pack")
    if request.texts:
        evidence.read_raw(watch(_documents(request.texts, ReadRequest(), told)))
    found = proposals(pack, evidence.counts, request.settings)
    with output(request.table, overwrite=request.overwrite) as stream:
        stream.write(written(rule for one in found for rule in one.rules).encode())
    notes.append(f"{counted(len(evidence.counts), 'name was', 'names were')} found")
    return Curated(proposals=tuple(found), names=len(evidence.counts), notes=tuple(notes))


def _documents(paths: Iterable[str], request: ReadRequest, account: Account) -> Iterator[Document]:
    inputs = [Input(name=path) for path in paths_of(tuple(paths), request)]
    return (document for _, document in read_inputs(inputs, request, report=account.reading))
