"""Command ``fascicle annotate``: runs a model over texts and corpora, in bounded memory."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import Any

from fascicle.core.progress import progress
from fascicle.core.wording import plural
from fascicle.errors import UsageError
from fascicle.formats.outputs import STDOUT
from fascicle.formats.report import WriteReport
from fascicle.loading import DEFAULT_MODEL, filter_output, load_all_types, open_own_names
from fascicle.runtime.places import pack_folders
from fascicle.settings.decision import Ends
from fascicle.settings.folders.vocabularies import AUTO, DEFAULT_LINKER, pack_types
from fascicle.settings.inputs import Case, RecognitionSettings
from fascicle.text.annotator import Annotator
from fascicle.verbs import shared
from fascicle.verbs.console import Tally
from fascicle.verbs.messages import say
from fascicle.verbs.options import Overwrite, Threads, call, fills, number, option, reads
from fascicle.verbs.process import pause_garbage_collection
from fascicle.verbs.tasks.annotate import (
    AnnotateRequest,
    PredictorOpener,
    ProgressCallbacks,
    annotate_files,
)

_MODEL = (
    "name of a shipped model or pack, a model folder, a dictionary (.tsv: a type, a TAB and a "
    "name in each "
    "row), a plug-in, or a term pack of index build; several packs are allowed; default: "
    f"{DEFAULT_MODEL}"
)
_SCORE = (
    "leave out mentions with a score below X; TYPE=X,... gives a number for each of some types; "
    "mentions of "
    "dictionaries have no score and stay; default: 0, for term packs "
    f"{RecognitionSettings().threshold:g}"
)
_ALSO = (
    "your own names: a dictionary or term pack that is added to the model; its mentions replace "
    "overlapping "
    "mentions of the model, but longer ones that have a link stay; if several overlap, the first "
    "has precedence"
)
_LINK = (
    "link mentions to concepts with the shipped linker, a folder of fascicle linker fit, or the "
    "names of a "
    "pack; if there are several, the first with a concept for a mention answers; default: "
    f"{DEFAULT_LINKER}, "
    "if it covers a type of the model, and the format holds links"
)

# characters of texts for which threads, and looking for unused objects, take longer than they save
_SHORT = 1_000


def _names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise argparse.ArgumentTypeError(
            "no type was given; name at least one, or leave out the option"
        )
    return names


_share = number("from 0 to 1", lambda value: 0 <= value <= 1)


def _threshold(text: str) -> float | dict[str, float]:
    """Parses a number, or one for each of some types, for ``type=``."""
    if "=" not in text:
        return _share(text)
    found: dict[str, float] = {}
    for pair in text.split(","):
        kind, _, value = pair.rpartition("=")
        if not kind.strip():
            raise argparse.ArgumentTypeError(
                f"{pair!r} names no type; give one number for all types, or TYPE=X for some"
            )
        if kind.strip() in found:
            raise argparse.ArgumentTypeError(
                f"the type {kind.strip()!r} is given twice; give one number for each type"
            )
        found[kind.strip()] = _share(value)
    return found


class Options(
    shared.Assertions, shared.Colour, Threads, Overwrite, shared.StrictWriting, shared.Reading
):
    """Options of ``fascicle annotate``.

    In Python: ``fascicle.annotate("texts/", "mentions.tsv", model="biomed")``

    Attributes:
        files: texts, folders of *.txt, corpora, zips; - for standard input.
        text: a text to annotate; may be repeated; short texts use one thread.
        types: search for the types that this file describes (for a trained model of the family
            binder).
        only: only mentions of these types.
        nested: for term packs: also find names inside others, and all types of a name.
        output: a file, or a folder (ends with /, exists, or several inputs and no suffix).
        resume: resume the same command after an interruption; if there is nothing to resume, start
            from the beginning.
        json: print the documents as JSON.
        segments: also write the sentences and words of the text.
        abbreviations: also write definitions of short forms in a text; only the formats jsonl and
            text hold them.
        variants: also find sequence variants, such as c.1799T>A, Val600Glu and rs113488022, with
            their names in HGVS.
        no_link: no links.
        ontology: give links only in this vocabulary of the pack.
    """

    files: list[str] = option("FILE *", reads)
    text: list[str] = option("--text TEXT ...")
    model: list[str] = option("--model MODEL ...", reads, help=_MODEL)
    also: list[str] = option("--also NAMES ...", reads, help=_ALSO)
    case: Case = shared.CASE
    types: str | None = option("--types TYPES.toml", reads)
    only: list[str] = option("--only TYPE,...", _names, action="extend", default=[])
    threshold: float | dict[str, float] | None = option(
        "--threshold --min-score X", _threshold, help=_SCORE
    )
    ends: Ends | None = shared.ENDS
    nested: bool = option("--nested")
    output: str | None = option("-o --output OUTPUT", fills)
    resume: bool = option("--resume")
    format: str | None = shared.output_format(
        "text on a terminal, by the suffix of the output, else jsonl"
    )
    json: bool = option("--json")
    segments: bool = option("--segments")
    abbreviations: bool = option("--abbreviations")
    variants: bool = option("--variants")
    link: list[str] = option(
        "--link LINKER ?", reads, action="append", const=DEFAULT_LINKER, default=[], help=_LINK
    )
    no_link: bool = option("--no-link")
    ontology: str = shared.ONTOLOGY


def run(args: Options) -> int:
    """Runs the annotation; returns the exit code."""
    request, tally = _request_of(args), Tally()
    on_stdout = request.writing.path == STDOUT
    shown = progress(quiet=on_stdout and sys.stdout.isatty())
    listener = ProgressCallbacks(
        tell=say, seen=shown.see, wrote=partial(_say_written, verbose=args.verbose)
    )
    # its modules are imported while the graph of the model is opened
    if not args.no_link and _is_short(args):
        Thread(target=import_module, args=("fascicle.linking.opening",)).start()
    try:
        with pause_garbage_collection() if _is_short(args) else nullcontext():
            annotate_files(request, _opener_of(args), account=tally.account, listener=listener)
    finally:
        shown.end()
    tally.say(verbose=args.verbose)
    tally.close(request.writing.path, quiet=bool(args.text) and on_stdout)
    return tally.exit_code(strict=args.strict)


def _is_short(args: Options) -> bool:
    return bool(args.text) and sum(map(len, args.text)) <= _SHORT


def _request_of(args: Options) -> AnnotateRequest:
    """Builds the annotation request from the options."""
    if args.json and args.format not in (None, "jsonl"):
        raise UsageError(
            f"--json and --format {args.format} were given; --json is --format jsonl, give one "
            "of them"
        )
    if args.no_link and args.link:
        raise UsageError("--link and --no-link were given; choose one of the two")
    if not args.text and not args.files:
        if args.link and args.link[-1] != DEFAULT_LINKER:
            raise UsageError(
                f"nothing to annotate was given, for --link took {args.link[-1]} as its linker; "
                "name files before "
                f"--link, or write --link={DEFAULT_LINKER}"
            )
        raise UsageError(
            "nothing to annotate was given; name files or folders, - for standard input, or "
            '--text "..."'
        )
    writing = shared.write_request(args)
    shown = writing.path == STDOUT and sys.stdout.isatty() and args.format is None
    options = replace(writing.options, title=len(args.text) != 1)
    form = "jsonl" if args.json else "text" if shown else writing.format
    return call(
        AnnotateRequest,
        args,
        texts=tuple(args.text),
        reading=shared.read_request(args),
        writing=replace(writing, format=form, options=options),
        also_read=(args.types,) if args.types else (),
    )


def _opener_of(args: Options) -> PredictorOpener:
    """Builds the opener of the predictor from the options."""
    link = None if args.no_link else tuple(args.link) or AUTO
    return PredictorOpener(
        load=_loader_of(args),
        link=link,
        ontology=args.ontology,
        variants=args.variants,
        assertions=shared.Assertions.wanted(args),
    )


def _loader_of(args: Options) -> Callable[[], Annotator]:
    """Returns a function that opens the predictor with the requested filters on its mentions.

    Raises:
        UsageError: several models that are no term packs, or an option that only packs support.
    """
    model = tuple(args.model or (DEFAULT_MODEL,))
    threads = args.threads or (1 if _is_short(args) else None)
    asked = partial(
        _opened,
        model,
        threads=threads,
        types=args.types,
        also=args.also,
        case=args.case,
        links=not args.no_link,
    )
    chosen = partial(
        asked, only=tuple(args.only), threshold=args.threshold or 0.0, variants=args.variants
    )
    if not pack_folders(model):
        if args.nested:
            raise UsageError(f"--nested is for term packs, and {model[0]} is none; leave it out")
        return partial(chosen, ends=args.ends)
    if args.ends:
        raise UsageError(f"--ends is for models, and {model[0]} is a term pack; leave it out")
    known = {kind for pack in pack_folders(model) for kind in pack_types(pack)}
    mixed = bool(args.also) or args.variants
    given: dict[str, Any] = {
        "types": tuple(kind for kind in args.only if kind in known or not mixed),
        "overlaps": "nested" if args.nested else None,
        "threshold": None if isinstance(args.threshold, dict) else args.threshold,
        "links": False if args.no_link else None,
    }
    recognition = RecognitionSettings(
        **{name: value for name, value in given.items() if value is not None}
    )
    if mixed:
        return partial(chosen, recognition=recognition)
    return partial(
        asked,
        recognition=recognition,
        threshold=args.threshold if isinstance(args.threshold, dict) else 0.0,
    )


def _opened(
    model: Sequence[str],
    *,
    types: str | None,
    threads: int | None,
    also: list[str],
    case: Case,
    links: bool,
    recognition: RecognitionSettings | None = None,
    **chosen: Any,
) -> Annotator:
    with pause_garbage_collection():
        predictor = load_all_types(
            model, threads=threads, types=types, case=case, recognition=recognition
        )
        names = open_own_names(also, case=case, links=links)
    # before notes: a refusal is one sentence
    filtered = filter_output(predictor, also=names, **chosen)
    _note_unread(types, predictor)
    for path, one in zip(also, names, strict=True):
        if summary := getattr(one, "summary", ""):
            say(f"{path}: {summary}")
    return filtered


def _say_written(path: Path, report: WriteReport, *, verbose: bool) -> None:
    if verbose:
        say(
            f"wrote {path}: {plural(report.documents, 'document')}, "
            f"{plural(report.mentions, 'mention')}"
        )


def _note_unread(types: str | None, predictor: Annotator) -> None:
    """Prints a note if the model reads only the names, keywords or examples of the type
    descriptions.
    """
    from fascicle.runtime.predictor import ModelPredictor

    view = (
        predictor.manifest.answering.needs.reads
        if types and isinstance(predictor, ModelPredictor)
        else ""
    )
    if view not in ("", "description"):
        what = {"name": "the names", "keyword": "the keywords", "instances": "the examples"}.get(
            view
        )
        say(f"note: of {types} the model reads {what} alone, no description: type_view = {view!r}")
