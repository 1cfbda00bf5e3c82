"""``fascicle corpus check``: what is wrong with a corpus, and what it shares with others."""

from __future__ import annotations

import difflib
import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from fascicle.commands.console import with_progress
from fascicle.commands.options import called
from fascicle.commands.saying import say
from fascicle.commands.shared import reading_of
from fascicle.core.wording import counted
from fascicle.doctor.checks.table import CHECKS
from fascicle.doctor.checks.unreachable import tokenizer_file
from fascicle.doctor.report import Report, markdown, summary
from fascicle.doctor.settings import NEVER, SEVERITIES, CheckSettings
from fascicle.errors import UsageError
from fascicle.files.atomic import check_target, output
from fascicle.files.source import STDIN
from fascicle.formats.exclusions import write_exclusions
from fascicle.formats.requests import STDOUT, ReadRequest, pairs
from fascicle.tasks.check import CheckRequest, examined


def run_check(args: Any) -> int:
    """Checks as the options of `fascicle.commands.corpus_check` say; returns the exit code."""
    _check_paths(args.files, args.train, args.dev, args.test, against=args.against)
    _check_codes(args.skip)
    if args.output == args.exclude_list == STDOUT:
        raise UsageError("report and exclusion list cannot both go to standard output; name a file with -o")
    for path in (args.output, args.exclude_list):
        if path and path != STDOUT:
            check_target(path, overwrite=args.overwrite)
    checked = examined(_request_of(args), watch=partial(with_progress, quiet=False))
    found = checked.examination
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
        for line in (line for reading in checked.readings for line in reading.lines()):
            say(line)
    for place in found.corpus.unread:
        say(f"failed: {place.message}")
    return 3 if found.corpus.unread or _fails(found.report, args.fail_on) else 0


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


def _request_of(args: Any) -> CheckRequest:
    # Other corpora are read as their formats are by default: the other options say how to read what is checked.
    against = ReadRequest(
        format=args.against_format,
        encoding=args.encoding,
        fields=pairs(args.against_field, key="--against-field", example="text=body"),
        asked_by="--against-format",
    )
    return called(
        CheckRequest,
        args,
        parts=tuple((part, path) for part in ("train", "dev", "test") for path in getattr(args, part)),
        reading=reading_of(args),
        reading_against=against,
        settings=_settings_of(args),
        skip=frozenset(args.skip),
    )


def _settings_of(args: Any) -> CheckSettings:
    if args.width is not None and not args.tokenizer:
        raise UsageError("--width needs --tokenizer, for it counts words or pieces that a tokenizer reads")
    if args.tokenizer and not tokenizer_file(Path(args.tokenizer)).is_file():
        raise UsageError(f"there is no tokenizer.json at {args.tokenizer}; name the folder of a model, or the file")
    if args.max_length < 8:
        raise UsageError(f"--max-length {args.max_length} is not allowed; give 8 or more")
    return called(CheckSettings, args, tokenizer=Path(args.tokenizer) if args.tokenizer else None)


def _fails(report: Report, level: str) -> bool:
    grave = () if level == NEVER else SEVERITIES[: [str(name) for name in SEVERITIES].index(level) + 1]
    return any(report.count(name) for name in grave)
