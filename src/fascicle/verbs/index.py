"""Command ``fascicle index``: term packs, which are vocabularies compiled for finding and
explaining names.
"""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from typing import Any, Final

import msgspec

from fascicle.core.files.apart import Inputs
from fascicle.core.files.atomic import check_target
from fascicle.core.files.source import STDIN
from fascicle.core.wording import plural
from fascicle.errors import InputError
from fascicle.terms.pack.pack import Pack
from fascicle.terms.pack.sets import vocabulary_order
from fascicle.terms.pack.stats import stats_lines as stats_lines
from fascicle.terms.pack.why import explanation_lines as why_lines
from fascicle.terms.rule_problems import RuleProblem
from fascicle.terms.sources.drafts import SourceReport
from fascicle.verbs.console import StepProgress, Tally, with_progress
from fascicle.verbs.messages import emit, say
from fascicle.verbs.options import Declared, Overwrite, call, fills, option, positive, reads, writes
from fascicle.verbs.shared import ReadingAs, read_request
from fascicle.verbs.tasks.index import curate, diff, export, sets, stats, verify, why
from fascicle.verbs.tasks.index_build import build_pack, extend, listed_files, write_left_out

_LOUD: Final = 10  # rules that are printed one by one
_TAKEN: Final = ("conflict", "taken")


_PACK: Final[Any] = option(
    "PACK", reads, help="a folder of fascicle index build, or the name of a shipped pack"
)


class Build(Overwrite):
    """Make a pack from vocabularies.

    In Python: ``fascicle.verbs.tasks.index_build.build_pack("sources.toml", "pack")``

    Attributes:
        sources: a TOML file that names the vocabularies; or one vocabulary, such as hp.obo.gz.
        output: the folder to write.
        kind: type of the concepts of one vocabulary, such as Disease.
        memory: memory for sorting, in MiB; the whole build takes more; default: 256.
        left_out: also write the names in the vocabularies that are not searched for, each with the
            reason.
        json: print the manifest as JSON.
    """

    sources: str = option("SOURCES", reads)
    output: str = option("-o --output PACK", writes, required=True)
    kind: str = option("--type TYPE", default="")
    memory: int = option("--memory MIB", positive, default=256)
    left_out: str | None = option("--left-out TSV", writes)
    json: bool = option("--json")


class Extend(Overwrite):
    """Add your own names and concepts to a pack.

    In Python: ``fascicle.verbs.tasks.index_build.extend("pack", "own.tsv", "mine",
    kind="Disease")``

    Attributes:
        own: a table with the columns concept and surface, and optional ones, such as kind and type;
            a TOML file; or a table of rules of curation.
        output: the folder to write.
        kind: type of the concepts, for a table without such a column.
        linker: linker whose rankers are kept; default: the shipped linker of the pack.
        json: print the manifest as JSON.
    """

    pack: str = _PACK
    own: str = option("TABLE", reads)
    output: str = option("-o --output PACK", writes, required=True)
    kind: str = option("--type TYPE", default="")
    linker: str | None = option("--linker LINKER", reads)
    json: bool = option("--json")


class Fetch(Overwrite):
    """Fetch a public vocabulary from its publisher, and print its table for a sources.toml.

    In Python: ``fascicle.verbs.tasks.index_fetch.fetch("mondo", "vocabularies")``

    Attributes:
        name: name of the vocabulary; default: list all known vocabularies.
        output: the folder for the files; default: only print what would be fetched, and its size.
        table: your own table of vocabularies, in the form of the shipped one; its addresses begin
            with https.
        mebibytes: largest size of a file, in MiB; default: 8192.
        seconds: longest time of a fetch, in seconds; the same command continues it later; default:
            7200.
    """

    name: str = option("NAME ?", default="")
    output: str | None = option("-o --output FOLDER", fills)
    table: str | None = option("--table TOML", reads)
    mebibytes: int = option("--most MIB", positive, default=8_192)
    seconds: int = option("--seconds N", positive, default=7_200)


class CountPack(Declared):
    """Count concepts, names, types and sources of a pack.

    In Python: ``fascicle.verbs.tasks.index.stats("pack")``

    Attributes:
        json: print the counts as JSON.
    """

    pack: str = _PACK
    json: bool = option("--json")


class VerifyPack(CountPack):
    """Read a whole pack, and check every hash and every range.

    In Python: ``fascicle.verbs.tasks.index.verify("pack")``

    Attributes:
        json: print the result as JSON.
    """


class Why(Declared):
    """Explain how a pack treats a name.

    In Python: ``fascicle.verbs.tasks.index.why("pack", "cancer")``

    Attributes:
        surface: any name, in quotes if it has spaces.
        json: print the explanation as JSON.
    """

    pack: str = _PACK
    surface: str = option("SURFACE")
    json: bool = option("--json")


class Sets(CountPack):
    """List concepts of several vocabularies that are the same, with the evidence.

    In Python: ``fascicle.verbs.tasks.index.sets("pack")``

    Attributes:
        json: print each pair as JSON.
    """


class Diff(ReadingAs):
    """List the differences between two packs.

    In Python: ``fascicle.verbs.tasks.index.diff("before", "pack")``

    Attributes:
        other: the new pack, or a table of rules for the first one, which are only tried.
        corpus: also list the mentions in these texts that are new, disappear or change their link.
        json: print each difference as JSON.
    """

    pack: str = _PACK
    other: str = option("PACK", reads)
    corpus: list[str] = option("--corpus FILE +", reads)
    json: bool = option("--json")


class ExportPack(Overwrite):
    """Write the names of a pack as a table.

    In Python: ``fascicle.verbs.tasks.index.export("pack", "names.tsv")``

    Attributes:
        output: the table to write; .gz compresses it; default: standard output.
        silent: write the names that are not searched for, and not the others.
    """

    pack: str = _PACK
    output: str = option("-o --output TSV", writes, default="-")
    silent: bool = option("--silent")


class Curate(Overwrite, ReadingAs):
    """Propose rules for names that cause wrong mentions in texts.

    In Python: ``fascicle.verbs.tasks.index.curate("pack", "rules.tsv", corpus="train.tsv",
    texts="texts/")``

    Attributes:
        corpus: corpora with gold mentions, which show where a name is right.
        texts: texts without gold mentions, in which names are counted.
        output: the table to write; .gz compresses it; default: standard output.
    """

    pack: str = _PACK
    corpus: list[str] = option("--corpus GOLD +", reads)
    texts: list[str] = option("--text RAW +", reads)
    output: str = option("-o --output TSV", writes, default="-")


def _run_build(args: Build) -> int:
    """Builds a pack; returns the exit code."""
    limit = args.left_out
    reports = defaultdict[str, SourceReport](
        lambda: SourceReport(labels=None if limit is None else [])
    )
    findings: list[RuleProblem] = []
    steps = StepProgress()
    if limit is not None:
        Inputs.of(listed_files(args.sources)).refuse(limit)
        check_target(limit, overwrite=args.overwrite)
    try:
        with closing(steps):
            built = call(build_pack, args, told=steps.see, reports=reports, findings=findings)
    except InputError:
        _say_read(
            {name: report for name, report in reports.items() if report.losses}, all_lines=True
        )
        raise
    _say_read(reports, all_lines=args.verbose)
    _say_rules(findings, all_lines=args.verbose)
    if limit is not None:
        write_left_out(limit, args.output, reports.values(), overwrite=args.overwrite)
    notes = (
        f"{plural(built.counts['concepts'], 'concept')} and {plural(built.counts['names'], 'name')}"
    )
    emit(msgspec.to_builtins(built), [built.full_name], as_json=args.json)
    say(f"wrote {args.output} with {notes}")
    return 0


def _run_extend(args: Extend) -> int:
    """Extends a pack; returns the exit code."""
    reports: dict[str, SourceReport] = {}
    findings: list[RuleProblem] = []
    steps = StepProgress()
    with closing(steps):
        built = call(extend, args, told=steps.see, reports=reports, findings=findings)
    _say_read(reports, all_lines=args.verbose)
    _say_rules(findings, all_lines=args.verbose)
    emit(msgspec.to_builtins(built), [built.full_name], as_json=args.json)
    notes = (
        f"{plural(built.counts['concepts'], 'concept')} and {plural(built.counts['names'], 'name')}"
    )
    say(
        f"wrote {args.output} with {notes}; it can be given as a pack and, with --link, as a linker"
    )
    return 0


def _run_fetch(args: Fetch) -> int:
    """Fetches a vocabulary, or lists what can be; returns the exit code."""
    from fascicle.verbs.tasks import index_fetch  # late: it loads what the network needs

    table = args.table or index_fetch.PUBLIC
    if not args.name:
        for name, row in index_fetch.vocabularies(table).items():
            sys.stdout.write(f"{name}\t{row.title}\t{row.licence}\t{row.page}\n")
        return 0
    limits = call(index_fetch.FetchLimits, args)
    fetched = index_fetch.fetch(
        args.name, args.output, table=table, limits=limits, overwrite=args.overwrite, told=say
    )
    if fetched is not None:
        sys.stdout.write(index_fetch.source_table(args.name, fetched, table=table))
        say(f"{fetched.path} has the SHA-256 {fetched.sha256}, as of {fetched.fetched}")
    return 0


def _say_read(reports: Mapping[str, SourceReport], *, all_lines: bool) -> None:
    for name, report in reports.items():
        for line in report.lines() if all_lines else [report.summary()]:
            say(f"{name}: {line}")


def _say_rules(findings: Sequence[RuleProblem], *, all_lines: bool) -> None:
    """Prints problems with rules; the harmless kinds only as counts."""
    harmful = [
        finding for finding in findings if finding.problem not in ("dead", "overruled", "twice")
    ]
    loud = findings if all_lines else harmful[:_LOUD]
    for finding in loud:
        say(f"curation: {finding.message}")
    if rest := len(findings) - len(loud):
        say(
            f"curation: {plural(rest, 'more rule')} that can go or must be corrected; --verbose "
            "names all of them"
        )


def _run_stats(args: CountPack) -> int:
    """Prints counts; returns the exit code."""
    statistics = stats(args.pack)
    return emit(msgspec.to_builtins(statistics), stats_lines(statistics), as_json=args.json)


def _run_verify(args: VerifyPack) -> int:
    """Verifies a pack; returns the exit code."""
    verified = verify(args.pack)
    line = (
        f"{verified.pack}: {verified.files:,} files with {verified.size:,} bytes are as they "
        "were written"
    )
    return emit(msgspec.to_builtins(verified), [line], as_json=args.json)


def _run_sets(args: Sets) -> int:
    """Prints pairs of concepts, one a line; returns the exit code."""
    counts = Counter[str]()
    for pair in sets(args.pack):
        counts["taken" if pair.taken else "conflict"] += 1
        cells = (
            pair.concept,
            pair.label,
            pair.other,
            pair.other_label,
            pair.evidence,
            _TAKEN[pair.taken],
        )
        _put_row(pair, cells, as_json=args.json)
    say(f"{plural(counts['taken'], 'pair')} taken, {plural(counts['conflict'], 'conflict')}")
    return 0


def _put_row(value: object, cells: Iterable[str], *, as_json: bool) -> None:
    row = (
        msgspec.json.encode(value).decode()
        if as_json
        else "\t".join(" ".join(cell.split()) for cell in cells)
    )
    sys.stdout.write(f"{row}\n")


def _run_why(args: Why) -> int:
    """Prints an explanation; returns the exit code."""
    reasons = why(args.pack, args.surface)
    return emit(msgspec.to_builtins(reasons), why_lines(reasons), as_json=args.json)


def _run_diff(args: Diff) -> int:
    """Prints differences, one a line; returns the exit code."""
    counts, tally, findings = Counter[str](), Tally(), list[RuleProblem]()
    changes = diff(
        args.pack,
        args.other,
        corpus=args.corpus,
        reading=read_request(args),
        account=tally.account,
        findings=findings,
    )
    _say_rules(findings, all_lines=True)
    for change in changes:
        counts[f"{change.what}s {change.change}"] += 1
        _put_row(change, msgspec.structs.astuple(change), as_json=args.json)
    say(
        ", ".join(f"{what}: {count:,}" for what, count in sorted(counts.items()))
        or "the packs do not differ"
    )
    return tally.end()


def _run_export(args: ExportPack) -> int:
    """Writes the table; returns the exit code."""
    count = export(args.pack, args.output, silent=args.silent, overwrite=args.overwrite)
    if args.output != STDIN:
        say(f"wrote {count:,} names to {args.output}")
    if len(order := vocabulary_order(Pack.open(args.pack))) > 1:
        say(
            f"in a file of sources, vocabularies = {json.dumps(order)} keeps which of them lead "
            "sets"
        )
    return 0


def _run_curate(args: Curate) -> int:
    """Writes proposals; returns the exit code."""
    tally = Tally()
    reading = read_request(args)
    curated = call(
        curate, args, table=args.output, reading=reading, account=tally.account, watch=with_progress
    )
    for note in curated.notes:
        say(note)
    count = plural(len(curated.proposals), "proposal")
    say(f"wrote {count} to {args.output}" if args.output != STDIN else count)
    return tally.end()


COMMANDS = {
    "build": (Build, _run_build),
    "extend": (Extend, _run_extend),
    "fetch": (Fetch, _run_fetch),
    "stats": (CountPack, _run_stats),
    "verify": (VerifyPack, _run_verify),
    "why": (Why, _run_why),
    "sets": (Sets, _run_sets),
    "diff": (Diff, _run_diff),
    "export": (ExportPack, _run_export),
    "curate": (Curate, _run_curate),
}
