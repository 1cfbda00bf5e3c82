"""``fascicle corpus check``: what is wrong with a corpus, and what it shares with others."""

from __future__ import annotations

import argparse
import difflib
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from fascicle.commands.console import say, with_progress
from fascicle.commands.inputs import reading_of
from fascicle.core.document import Document
from fascicle.core.wording import counted
from fascicle.doctor.checks import CHECKS
from fascicle.doctor.examine import examine
from fascicle.doctor.parts import SPLITS, Given, Part
from fascicle.doctor.report import Report, markdown, summary
from fascicle.doctor.settings import NEVER, SEVERITIES, Settings
from fascicle.doctor.unreachable import tokenizer_file
from fascicle.errors import UsageError
from fascicle.formats.atomic import check_target, output
from fascicle.formats.conll import ConllOptions
from fascicle.formats.exclusions import write_exclusions
from fascicle.formats.report import ReadReport
from fascicle.formats.requests import STDOUT, ReadRequest, pairs, paths_of, read_file
from fascicle.formats.source import STDIN


def run_check(args: argparse.Namespace) -> int:
    """Checks as the options of `fascicle.commands.corpus_check` say; returns the exit code."""
    _check_paths(args.files, args.train, args.dev, args.test, against=args.against)
    _check_codes(args.skip)
    if args.output == args.exclude_list == STDOUT:
        raise UsageError("report and exclusion list cannot both go to standard output; name a file with -o")
    for path in (args.output, args.exclude_list):
        if path and path != STDOUT:
            check_target(path, overwrite=args.overwrite)
    settings = _settings_of(args)
    places, against = list(_places_of(args)), list(_against_of(args))
    found = examine(places, against=against, settings=settings, skip=frozenset(args.skip))
    text = markdown(found.report, names_all=args.verbose)
    if args.json:
        text = json.dumps(found.report.as_dict(), ensure_ascii=False) + "\n"
    with output(args.output, overwrite=args.overwrite) as stream:
        stream.write(text.encode())
    if args.exclude_list:
        count = write_exclusions(args.exclude_list, found.exclusions, overwrite=args.overwrite)
        say(f"{counted(count, 'document')} written to the exclusion list {args.exclude_list}")
    if args.output != STDOUT:
        say(summary(found.report))
    if args.verbose:
        for line in (line for place in (*places, *against) for line in place.report.lines()):
            say(line)
    for place in found.case.unread:
        say(f"failed: {place.message}")
    return 3 if found.case.unread or _fails(found.report, args.fail_on) else 0


def _check_codes(codes: Sequence[str]) -> None:
    for code in codes:
        if code not in CHECKS:
            near = difflib.get_close_matches(code, CHECKS, n=1)
            hint = f" (did you mean {near[0]}?)" if near else ""
            raise UsageError(f"there is no finding {code!r}{hint}; the codes are {', '.join(CHECKS)}")


def _check_paths(*parts: list[str], against: list[str]) -> None:
    if not any(parts):
        raise UsageError("no corpus was given; name files, or parts with --train, --dev and --test")
    for given in (*parts, against):
        if twice := next((path for path in given if given.count(path) > 1), None):
            raise UsageError(f"{twice} was given twice; name each file once")
    if sum(STDIN in given for given in (*parts, against)) > 1:
        raise UsageError("standard input (-) was given twice; it can be read once")


def _places_of(args: argparse.Namespace) -> Iterator[Given]:
    request = reading_of(args)
    named = [(Part(name=name, role=name), path) for name in ("train", "dev", "test") for path in getattr(args, name)]
    whole = [(Part(name=path, role="corpus", order=order), path) for order, path in enumerate(args.files)]
    for part, given in (*named, *whole):
        own = _of_split(request, part.role) if part.role in SPLITS else request
        yield from (_given(path, part, own) for path in paths_of([given], request))


def _against_of(args: argparse.Namespace) -> Iterator[Given]:
    """Other corpora are read as their formats are by default: the other options say how to read what is checked."""
    request = ReadRequest(
        format=args.against_format,
        encoding=args.encoding,
        fields=pairs(args.against_field, key="--against-field", example="text=body"),
        asked_by="--against-format",
    )
    for order, given in enumerate(args.against):
        part = Part(name=given, role="against", order=order)
        yield from (_given(path, part, request) for path in paths_of([given], request))


def _of_split(request: ReadRequest, role: str) -> ReadRequest:
    return replace(request, where=tuple((name, value.replace("{part}", role)) for name, value in request.where))


def _given(path: str, part: Part, request: ReadRequest) -> Given:
    report = ReadReport()
    token, tags = request.token_and_tags

    def documents() -> Iterator[Document]:
        return with_progress(read_file(path, request, report=report), quiet=False)

    columns = ConllOptions(token_column=token, tag_columns=tags)
    return Given(part=part, path=path, documents=documents, report=report, encoding=request.encoding, columns=columns)


def _settings_of(args: argparse.Namespace) -> Settings:
    if args.width is not None and not args.tokenizer:
        raise UsageError("--width needs --tokenizer, for it counts words or pieces that a tokenizer reads")
    if args.tokenizer and not tokenizer_file(Path(args.tokenizer)).is_file():
        raise UsageError(f"there is no tokenizer.json at {args.tokenizer}; name the folder of a model, or the file")
    if args.max_length < 8:
        raise UsageError(f"--max-length {args.max_length} is not allowed; give 8 or more")
    return Settings(
        source=args.source,
        examples=args.examples,
        min_words=args.min_words,
        near=args.near,
        long_sentence=args.long,
        tokenizer=Path(args.tokenizer) if args.tokenizer else None,
        width=args.width,
        level=args.level,
        max_length=args.max_length,
    )


def _fails(report: Report, level: str) -> bool:
    return level != NEVER and any(report.count(name) for name in SEVERITIES[: _grave(level) + 1])


def _grave(level: str) -> int:
    return [str(name) for name in SEVERITIES].index(level)
