"""Inspects, verifies, compares and exports term packs, and proposes rules of curation
(``fascicle index``).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

import msgspec

from fascicle.core.arguments import AnyPath, Paths, to_path_list, validate_arguments
from fascicle.core.document import Document
from fascicle.core.files.atomic import check_target, open_output
from fascicle.core.wording import plural
from fascicle.errors import UsageError
from fascicle.formats.account import Account
from fascicle.formats.requests import ReadRequest, read_all_documents
from fascicle.terms.curation import format_rules, is_rules_table, read_rules
from fascicle.terms.pack.differences import (
    PackChange,
    find_changes,
    find_tried_changes,
    mention_changes,
)
from fascicle.terms.pack.export import COLUMNS, term_rows
from fascicle.terms.pack.layout import damage_errors
from fascicle.terms.pack.pack import Pack
from fascicle.terms.pack.proposing import Evidence, Proposal, ProposalSettings, proposals
from fascicle.terms.pack.sets import EVIDENCE, make_sets
from fascicle.terms.pack.stats import PackStats, pack_stats
from fascicle.terms.pack.tried import TriedPack, rule_problems, rules_by_key
from fascicle.terms.pack.verifying import verify as verify_pack
from fascicle.terms.pack.why import Explanation
from fascicle.terms.pack.why import explain_name as why_in
from fascicle.terms.rule_problems import RuleProblem


@validate_arguments
def stats(pack: AnyPath) -> PackStats:
    """Counts concepts, names and left-out names of a pack.

    Args:
        pack: folder that ``fascicle index build`` wrote.

    Raises:
        PackError: it cannot be opened, or has values that cannot be.
    """
    opened = Pack.open(pack)
    with damage_errors(opened.folder):
        return pack_stats(opened)


class VerifiedPack(msgspec.Struct, frozen=True, kw_only=True):
    """Result of the verification of a pack without errors.

    Attributes:
        pack: its full name.
        files: number of files read.
        size: bytes of all of them.
    """

    pack: str
    files: int
    size: int


@validate_arguments
def verify(
    pack: AnyPath, *, told: Callable[[str, int], None] = lambda step, count: None
) -> VerifiedPack:
    """Reads all files of a pack, and checks every hash, every range and every order.

    Args:
        pack: folder that ``fascicle index build`` wrote.
        told: called with the current step and a count, now and then.

    Raises:
        PackError: it cannot be opened, a file was changed, or its content is invalid.
    """
    opened = Pack.open(pack)
    size = verify_pack(opened, on_progress=told)
    return VerifiedPack(pack=opened.full_name, files=len(opened.manifest.files), size=size)


@validate_arguments
def why(pack: AnyPath, surface: str) -> Explanation:
    """Explains a surface: its keys, the matching terms with their concepts, and the terms left out
    with the reason.

    Args:
        pack: folder that ``fascicle index build`` wrote.
        surface: any name.

    Raises:
        PackError: the pack cannot be opened, or has values that cannot be.
    """
    opened = Pack.open(pack)
    with damage_errors(opened.folder):
        return why_in(opened, surface)


class SamePair(msgspec.Struct, frozen=True, kw_only=True):
    """Two concepts with evidence that they are the same.

    Attributes:
        concept: CURIE of the first.
        label: its preferred name, or its CURIE.
        other: CURIE of the second.
        other_label: its preferred name, or its CURIE.
        evidence: kind of evidence: ``"exact match"``, ``"equal label"`` or ``"single reference"``.
        taken: whether both are in one set; else it is a conflict.
    """

    concept: str
    label: str
    other: str
    other_label: str
    evidence: str
    taken: bool


@validate_arguments
def sets(pack: AnyPath) -> Iterator[SamePair]:
    """Yields the pairs of concepts that make the sets of a pack, in the order in which they are
    processed.

    Args:
        pack: folder that ``fascicle index build`` wrote.

    Raises:
        PackError: it cannot be opened, or has values that cannot be.
    """
    opened = Pack.open(pack)
    with damage_errors(opened.folder):
        edges = make_sets(opened).edges
    return (
        SamePair(
            concept=opened.curie(edge.concept),
            label=opened.label_at(edge.concept),
            other=opened.curie(edge.other),
            other_label=opened.label_at(edge.other),
            evidence=EVIDENCE[edge.evidence],
            taken=edge.taken,
        )
        for edge in edges
    )


@validate_arguments
def diff(
    first: AnyPath,
    second: AnyPath,
    *,
    corpus: Paths = (),
    reading: ReadRequest | None = None,
    account: Account | None = None,
    findings: list[RuleProblem] | None = None,
) -> Iterator[PackChange]:
    """Yields all differences between two packs: in concepts, in terms, and in the mentions that
    they find in texts.

    Args:
        first: folder of the old pack.
        second: folder of the new pack; or a table of rules of curation, of which only the terms and
            the mentions that they would change are compared.
        corpus: texts or documents in which the names of both packs are looked for.
        reading: format and options of the corpus.
        account: receives errors of reading.
        findings: receives problems with the rules.

    Raises:
        PackError: a pack cannot be opened, or has values that cannot be.
        InputError: a text or a table cannot be read.
        UsageError: rules for a pack with composed names.
    """
    pack, other = Pack.open(first), _other_pack(first, second, findings)
    paths = to_path_list(corpus, name="corpus")
    changes = (
        find_tried_changes(pack, other)
        if isinstance(other, TriedPack)
        else find_changes(pack, other)
    )
    if not paths:
        return changes
    request, tally = reading or ReadRequest(), account or Account()
    documents = read_all_documents(paths, request, report=tally.reading)
    return chain(changes, mention_changes(pack, other, documents))


def _other_pack(
    first: AnyPath,
    second: AnyPath,
    findings: list[RuleProblem] | None,
) -> Pack:
    """Returns the second pack, or the first one with the rules of a table."""
    if not is_rules_table(second):
        return Pack.open(second)
    pack, rules = Pack.open(first), rules_by_key(read_rules([str(second)]))
    if findings is not None:
        findings += rule_problems(pack, rules)
    return TriedPack(pack, rules)


@validate_arguments
def export(
    pack: AnyPath,
    table: AnyPath,
    *,
    silent: bool = False,
    overwrite: bool = False,
) -> int:
    """Writes the terms of a pack as TSV with a line of titles; a source of a pack can be such a
    file.

    Args:
        pack: folder that ``fascicle index build`` wrote.
        table: the file; ``.gz`` at the end of its name packs it, and ``"-"`` is standard output.
        silent: write the terms that are kept out in place of those that are found.
        overwrite: replace an existing file.

    Returns:
        Number of terms written.

    Raises:
        PackError: the pack cannot be opened, or has values that cannot be.
        OutputError: the file exists, or cannot be written.
    """
    opened = Pack.open(pack)
    count = 0
    with damage_errors(opened.folder), open_output(table, overwrite=overwrite) as stream:
        stream.write(("\t".join(COLUMNS) + "\n").encode())
        for row in term_rows(opened, silent=silent):
            stream.write(("\t".join(row) + "\n").encode())
            count += 1
    return count


_Watch = Callable[[Iterable[Document]], Iterator[Document]]


@dataclass(frozen=True, kw_only=True)
class CuratedPack:
    """Proposed rules.

    Attributes:
        proposals: the most harmful name first.
        names: number of names with a type that were found in the texts.
        notes: sentences for the reader of the proposals.
    """

    proposals: tuple[Proposal, ...]
    names: int
    notes: tuple[str, ...] = ()


def _note_on_gold(path: str, types: Collection[str]) -> str:
    if not types:
        return f"{path} has no gold of a type of the pack"
    return f"{path} decides about {', '.join(sorted(types))}"


@validate_arguments
def curate(  # noqa: PLR0913
    pack: AnyPath,
    table: AnyPath,
    *,
    corpus: Paths = (),
    texts: Paths = (),
    reading: ReadRequest | None = None,
    settings: ProposalSettings | None = None,
    overwrite: bool = False,
    account: Account | None = None,
    watch: _Watch = iter,
) -> CuratedPack:
    """Writes a table of rules for which texts give evidence; `build_pack` reads it as it is, or
    edited by a person.

    Args:
        pack: folder that ``fascicle index build`` wrote.
        table: the file to write; ``.gz`` at the end of its name packs it, and ``"-"`` is standard
            output.
        corpus: corpora with gold, a path or several. Each gives evidence for the types of its gold.
        texts: without gold, or with gold that is not used; a path or several.
        reading: format and options of the corpora; the format of texts is detected.
        settings: thresholds of the evidence for a rule.
        overwrite: replace an existing file.
        account: receives errors of reading.
        watch: wraps the stream of documents, to show progress.

    Raises:
        UsageError: neither corpora nor texts.
        PackError: the pack cannot be opened.
        InputError: a text cannot be read.
        OutputError: the file exists, or cannot be written.
    """
    gold, raw = _texts_of(corpus, texts)
    check_target(table, overwrite=overwrite)
    opened, tally = Pack.open(pack), account or Account()
    evidence, notes = Evidence(opened), list[str]()
    for path in gold:
        documents = read_all_documents([path], reading or ReadRequest(), report=tally.reading)
        notes.append(_note_on_gold(path, evidence.read_gold(watch(documents))))
    if raw:
        evidence.read_raw(watch(read_all_documents(raw, ReadRequest(), report=tally.reading)))
    notes.append(f"{plural(len(evidence.counts), 'name was', 'names were')} found")
    proposed = proposals(opened, evidence.counts, settings or ProposalSettings())
    _write_rules(proposed, table, overwrite=overwrite)
    return CuratedPack(proposals=tuple(proposed), names=len(evidence.counts), notes=tuple(notes))


def _texts_of(corpus: Paths, texts: Paths) -> tuple[tuple[str, ...], tuple[str, ...]]:
    gold, raw = to_path_list(corpus, name="corpus"), to_path_list(texts, name="texts")
    if not gold and not raw:
        raise UsageError(
            "no text was given; give corpora with gold, or texts without, in which names are "
            "counted"
        )
    return gold, raw


def _write_rules(proposed: Iterable[Proposal], table: AnyPath, *, overwrite: bool) -> None:
    rules = (rule for proposal in proposed for rule in proposal.rules)
    with open_output(table, overwrite=overwrite) as stream:
        stream.write(format_rules(rules).encode())
