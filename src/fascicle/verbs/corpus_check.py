"""Command ``fascicle corpus check``: finds defects of a corpus, and texts that it shares with
others.
"""

from __future__ import annotations

import argparse
import difflib
import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from fascicle.core.arguments import Paths, to_path_list, validate_arguments
from fascicle.core.document import GOLD, Document
from fascicle.core.files.atomic import check_target, open_output
from fascicle.core.files.source import STDIN
from fascicle.core.wording import plural
from fascicle.errors import UsageError
from fascicle.evaluation.doctor.checks.contract import NEVER, SEVERITIES, CheckSettings
from fascicle.evaluation.doctor.checks.reach import tokenizer_file
from fascicle.evaluation.doctor.examine import (
    CorpusReport,
    Examination,
    checks,
    examine,
    markdown,
    summary,
)
from fascicle.evaluation.doctor.parts import SPLITS, CheckedPart, GivenPart
from fascicle.evaluation.systems.model import Watch
from fascicle.formats.conll import ConllOptions
from fascicle.formats.exclusions import write_exclusions
from fascicle.formats.outputs import STDOUT
from fascicle.formats.report import FailedDocuments, ReadReport
from fascicle.formats.requests import ReadRequest, expand_paths, parse_pairs, read_file
from fascicle.verbs.console import with_progress
from fascicle.verbs.messages import say
from fascicle.verbs.options import OVERWRITE, call, natural, option, positive, reads, writes
from fascicle.verbs.shared import ReadingAs, input_format, read_request

_EXIT = (
    "exit codes: 0 done; 2 bad input or usage, or nothing could be read; 3 a document could not be "
    "read, or there is a finding of at least the severity of --fail-on (by default an error)"
)


_MODEL = "what a model can return"


def _share(text: str) -> Fraction:
    """Parses a number above 0 and up to 1 exactly."""
    try:
        value = Fraction(text)
    except (ValueError, ZeroDivisionError):
        value = Fraction(0)
    if not 0 < value <= 1 or value.denominator > 10**6:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not allowed, give a number above 0 and up to 1 with at most six "
            "decimals, such as 0.7"
        )
    return value


class Against:
    """Options for reading the other corpora.

    Attributes:
        against_format: format of OTHER; default: auto.
        against_field: as --field, for the records of OTHER; may be repeated.
    """

    against_format: str = input_format("--against-format")
    against_field: list[str] = option("--against-field NAME=VALUE ...")


class Options(ReadingAs, Against):
    """Find defects, and copies of texts in other parts and corpora.

    In Python: ``fascicle.check("train.tsv", dev="dev.tsv", test="test.tsv")``

    Attributes:
        files: corpora without parts; - for standard input.
        train: the train part of a corpus.
        dev: the dev part of a corpus.
        test: the test part of a corpus.
        against: other corpora that may contain copies.
        source: source of the mentions that are checked; default: gold.
        near: lowest Jaccard similarity of near duplicates; default: 0.7.
        min_words: lowest number of words of a text whose copies count as leaks; default: 8.
        long_sentence: report sentences of more than N words; default: 128.
        tokenizer: a folder with a tokenizer.json; mentions that no model with this tokenizer can
            return are reported.
        width: highest number of units (see --level) in a mention; default: no limit.
        level: the unit of --width; default: word.
        max_length: number of pieces in a window of the model; default: 256.
        output: file of the report; default: standard output.
        json: print the report as JSON.
        exclude_list: also write the list of documents that training must leave out.
        examples: number of examples for each finding; default: 5.
        skip: leave out the finding with this code; may be repeated.
        fail_on: lowest severity of a finding that makes the exit code 3; never: findings do not
            change the exit code; default: error.
    """

    epilog = _EXIT
    files: list[str] = option("CORPUS *", reads)
    train: list[str] = option("--train FILE +", reads)
    dev: list[str] = option("--dev FILE +", reads)
    test: list[str] = option("--test FILE +", reads)
    against: list[str] = option("--against OTHER +", reads)
    source: str = option("--source NAME", default=GOLD)
    near: Fraction = option("--near SHARE", _share, default=CheckSettings.near)
    min_words: int = option("--min-words N", natural, default=CheckSettings.min_words)
    long_sentence: int = option("--long N", natural, default=CheckSettings.long_sentence)
    tokenizer: str | None = option("--tokenizer DIR", reads, group=_MODEL)
    width: int | None = option("--width N", positive, group=_MODEL)
    level: Literal["word", "piece"] = option(
        "--level", choices=("word", "piece"), default="word", group=_MODEL
    )
    max_length: int = option("--max-length N", positive, default=256, group=_MODEL)
    output: str = option("-o --output REPORT", writes, default=STDOUT, group="report")
    json: bool = option("--json")
    exclude_list: str | None = option("--exclude-list TSV", writes, group="report")
    examples: int = option("--examples N", natural, default=CheckSettings.examples, group="report")
    skip: list[str] = option("--skip CODE ...", group="report")
    fail_on: str = option(
        "--fail-on", choices=(*SEVERITIES, NEVER), default="error", group="report"
    )
    overwrite: bool = OVERWRITE


@dataclass(frozen=True, kw_only=True)
class CheckRequest:
    """Request to check a corpus.

    Attributes:
        files: corpora that are not divided into parts.
        parts: ``(train, dev or test, path)``.
        against: other corpora, whose texts are compared with these.
        reading: format and options of the files; ``{part}`` in a value of ``where`` becomes the
            name of the part.
        reading_against: format and options of the other corpora.
        settings: of the checks.
        skip: codes of checks to leave out.
    """

    files: tuple[str, ...] = ()
    parts: tuple[tuple[str, str], ...] = ()
    against: tuple[str, ...] = ()
    reading: ReadRequest = field(default_factory=ReadRequest)
    reading_against: ReadRequest = field(default_factory=ReadRequest)
    settings: CheckSettings = field(default_factory=CheckSettings)
    skip: Collection[str] = ()


@validate_arguments
def check(
    train: Paths = (),
    *,
    dev: Paths = (),
    test: Paths = (),
    against: Paths = (),
    settings: CheckSettings | None = None,
) -> Examination:
    """Checks a corpus: leaks between its parts, doubtful mentions, and texts that other corpora
    have too.

    Args:
        train: files of the training part, in any format.
        dev: files of the development part.
        test: files of the test part.
        against: other corpora.
        settings: of the checks.

    Returns:
        The findings; ``report.findings`` for a program,
        `fascicle.evaluation.doctor.examine.markdown` for a person.

    Raises:
        UsageError: no file was given.
        InputError: nothing could be read.
    """
    by_role = (("train", train), ("dev", dev), ("test", test))
    parts = tuple(
        (part, path) for part, value in by_role for path in to_path_list(value, name=part)
    )
    if not parts:
        raise UsageError("no file was given; name those of train, dev or test")
    request = CheckRequest(
        parts=parts,
        against=to_path_list(against, name="against"),
        settings=settings or CheckSettings(),
    )
    return run_checks(request)[0]


def run_checks(
    request: CheckRequest, *, watch: Watch = iter
) -> tuple[Examination, list[ReadReport]]:
    """Runs the checks of a request.

    Args:
        request: files and settings.
        watch: wraps the stream of documents, to show progress.

    Returns:
        Report, exclusions and unreadable documents; and the detected format of each file.

    Raises:
        InputError: see `check`.
    """
    places, against = list(_places(request, watch)), list(_against(request, watch))
    findings = examine(places, against=against, settings=request.settings, skip=request.skip)
    return findings, [place.report for place in (*places, *against)]


def _places(request: CheckRequest, watch: Watch) -> Iterator[GivenPart]:
    places = [(CheckedPart(name=name, role=name), path) for name, path in request.parts]
    whole = [
        (CheckedPart(name=path, role="corpus", order=order), path)
        for order, path in enumerate(request.files)
    ]
    for part, path in (*places, *whole):
        own = _of_split(request.reading, part.role) if part.role in SPLITS else request.reading
        yield from (
            _open_part(path, part, own, watch) for path in expand_paths([path], request.reading)
        )


def _against(request: CheckRequest, watch: Watch) -> Iterator[GivenPart]:
    for order, corpus in enumerate(request.against):
        part, reading = (
            CheckedPart(name=corpus, role="against", order=order),
            request.reading_against,
        )
        yield from (
            _open_part(path, part, reading, watch) for path in expand_paths([corpus], reading)
        )


def _of_split(request: ReadRequest, role: str) -> ReadRequest:
    return replace(
        request, where=tuple((name, value.replace("{part}", role)) for name, value in request.where)
    )


def _open_part(path: str, part: CheckedPart, request: ReadRequest, watch: Watch) -> GivenPart:
    report = ReadReport(aside=FailedDocuments(keep_going=True))
    token, tags = request.token_and_tags

    def documents() -> Iterator[Document]:
        return watch(read_file(path, request, report=report))

    columns = ConllOptions(token_column=token, tag_columns=tags)
    return GivenPart(
        part=part,
        path=path,
        documents=documents,
        report=report,
        encoding=request.encoding,
        columns=columns,
    )


def _check_outputs(args: Options) -> None:
    """Refuses places that cannot be written to, before long work."""
    if args.output == args.exclude_list == STDOUT:
        raise UsageError(
            "report and exclusion list cannot both go to standard output; name a file with -o"
        )
    for path in (args.output, args.exclude_list):
        if path and path != STDOUT:
            check_target(path, overwrite=args.overwrite)


def run(args: Options) -> int:
    """Runs the checks; returns the exit code."""
    _check_paths(args.files, args.train, args.dev, args.test, against=args.against)
    _check_codes(args.skip)
    _check_outputs(args)
    findings, readings = run_checks(_request_of(args), watch=with_progress)
    text = markdown(findings.report, names_all=args.verbose)
    if args.json:
        text = json.dumps(findings.report.as_dict(), ensure_ascii=False) + "\n"
    with open_output(args.output, overwrite=args.overwrite) as stream:
        stream.write(text.encode())
    if args.exclude_list:
        count = write_exclusions(args.exclude_list, findings.exclusions, overwrite=args.overwrite)
        say(f"{plural(count, 'document')} written to the exclusion list {args.exclude_list}")
    if args.output != STDOUT:
        say(summary(findings.report))
    if args.verbose:
        for line in (line for reading in readings for line in reading.lines()):
            say(line)
    for place in findings.corpus.unread:
        say(f"failed: {place.message}")
    return 3 if findings.corpus.unread or _fails(findings.report, args.fail_on) else 0


def _check_codes(codes: Sequence[str]) -> None:
    for code in codes:
        if code not in checks():
            near = difflib.get_close_matches(code, checks(), n=1)
            hint = f" (did you mean {near[0]}?)" if near else ""
            raise UsageError(
                f"there is no finding {code!r}{hint}; the codes are {', '.join(checks())}"
            )


def _check_paths(*parts: list[str], against: list[str]) -> None:
    if not any(parts):
        raise UsageError("no corpus was given; name files, or parts with --train, --dev and --test")
    for paths in (*parts, against):
        if twice := next((path for path in paths if paths.count(path) > 1), None):
            raise UsageError(f"{twice} was given twice; name each file once")
    if sum(STDIN in paths for paths in (*parts, against)) > 1:
        raise UsageError("standard input (-) was given twice; it can be read once")


def _request_of(args: Any) -> CheckRequest:
    # Other corpora are read with default options: the other options are for the checked files.
    against = ReadRequest(
        format=args.against_format,
        encoding=args.encoding,
        fields=parse_pairs(args.against_field, key="--against-field", example="text=body"),
        asked_by="--against-format",
    )
    return call(
        CheckRequest,
        args,
        parts=tuple(
            (part, path) for part in ("train", "dev", "test") for path in getattr(args, part)
        ),
        reading=read_request(args),
        reading_against=against,
        settings=_settings_of(args),
        skip=frozenset(args.skip),
    )


def _settings_of(args: Any) -> CheckSettings:
    if args.width is not None and not args.tokenizer:
        raise UsageError(
            "--width needs --tokenizer, for it counts words or pieces that a tokenizer reads"
        )
    if args.tokenizer and not tokenizer_file(Path(args.tokenizer)).is_file():
        raise UsageError(
            f"there is no tokenizer.json at {args.tokenizer}; name the folder of a model, or the "
            "file"
        )
    if args.max_length < 8:
        raise UsageError(f"--max-length {args.max_length} is not allowed; give 8 or more")
    return call(CheckSettings, args, tokenizer=Path(args.tokenizer) if args.tokenizer else None)


def _fails(report: CorpusReport, level: str) -> bool:
    grave = (
        () if level == NEVER else SEVERITIES[: [str(name) for name in SEVERITIES].index(level) + 1]
    )
    return any(report.count(name) for name in grave)
