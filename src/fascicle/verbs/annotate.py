"""Command ``fascicle annotate``: runs a model over texts and corpora, in bounded memory."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from threading import Thread

from fascicle.core.progress import progress
from fascicle.core.wording import plural
from fascicle.errors import UsageError
from fascicle.formats.catalogue import FORMATS
from fascicle.formats.losses import HeldFields
from fascicle.formats.outputs import STDOUT
from fascicle.formats.report import ReadReport, WriteReport
from fascicle.formats.requests import resolve_inputs
from fascicle.formats.textview import ViewOptions
from fascicle.loading import DEFAULT_MODEL, open_model
from fascicle.settings.folders.vocabularies import DEFAULT_LINKER
from fascicle.text.annotator import Annotator
from fascicle.verbs import shared
from fascicle.verbs.console import Tally
from fascicle.verbs.messages import emit, say
from fascicle.verbs.options import (
    Overwrite,
    Threads,
    call,
    fills,
    first_given,
    option,
    reads,
    writes,
)
from fascicle.verbs.process import pause_garbage_collection
from fascicle.verbs.tasks.annotate import (
    AnnotateRequest,
    ProgressCallbacks,
    annotate_files,
    held_links,
)

_MODEL = (
    "name of a shipped model or pack, a model folder, a dictionary (.tsv: a type, a TAB and a name "
    "in each row), a plug-in, or a term pack of index build; several packs are allowed; default: "
    f"{DEFAULT_MODEL}"
)
_OF_DOCUMENTS = ("output", "format", "json", "segments", "abbreviations", "resume", "strict")

# characters of texts for which threads, and looking for unused objects, take longer than they save
_SHORT = 1_000


class Options(
    shared.AllChoices,
    shared.Beside,
    shared.Colour,
    Threads,
    Overwrite,
    shared.StrictWriting,
    shared.ReadingOptions,
):
    """Options of ``fascicle annotate``.

    In Python: ``fascicle.annotate("texts/", "mentions.tsv", model="biomed")``

    Attributes:
        files: texts, folders of *.txt, corpora, zips; - for standard input.
        text: a text to annotate; may be repeated; short texts use one thread.
        output: a file. Or a folder: a path that is one or ends with /, and for several inputs a
            path without a suffix.
        resume: resume the same command after an interruption; if there is nothing to resume, start
            from the beginning.
        json: print the documents as JSON.
        segments: also write the sentences and words of the text.
        abbreviations: also write definitions of short forms in a text; only the formats jsonl,
            parquet and text hold them.
        save_pipeline: also write the model with its choices as a pipeline, which run, serve, label
            and evaluate take.
        device: where the network computes: cpu (default), cuda, for an export with the package
            onnxruntime-gpu, or auto.
        trace: print what each part of the model added, changed or dropped, in place of documents.
    """

    files: list[str] = option("FILE *", reads)
    text: list[str] = option("--text TEXT ...")
    model: list[str] = option("--model MODEL ...", reads, help=_MODEL)
    output: str | None = option("-o --output OUTPUT", fills)
    resume: bool = option("--resume")
    format: str | None = shared.output_format(
        "text on a terminal, by the suffix of the output, else jsonl"
    )
    json: bool = option("--json")
    segments: bool = option("--segments")
    abbreviations: bool = option("--abbreviations")
    save_pipeline: str | None = option("--save-pipeline FILE", writes)
    device: str | None = option("--device DEVICE")
    trace: bool = option("--trace")


def run(args: Options) -> int:
    """Runs the annotation; returns the exit code."""
    request, tally = _request_of(args), Tally()
    lists: list[tuple[str, Annotator]] = []
    if args.trace:
        return _trace(args, request)
    on_stdout = request.writing.path == STDOUT
    bar = progress(quiet=on_stdout and sys.stdout.isatty())
    listener = ProgressCallbacks(
        tell=say, seen=bar.see, wrote=partial(_say_written, verbose=args.verbose)
    )
    # its modules are imported while the graph of the model is opened
    if not args.no_link and _is_short(args):
        Thread(target=import_module, args=("fascicle.linking.opening",)).start()
    try:
        with pause_garbage_collection() if _is_short(args) else nullcontext():
            opener = _opener_of(args, lists)
            annotate_files(request, opener, account=tally.account, listener=listener)
    finally:
        bar.end()
    _note_lists_without_mentions(lists)
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
    if not args.text and not args.files:
        if args.link and args.link[-1] != DEFAULT_LINKER:
            raise UsageError(
                f"nothing to annotate was given, for --link took {args.link[-1]} as its linker; "
                f"name files before --link, or write --link={DEFAULT_LINKER}"
            )
        raise UsageError(
            "nothing to annotate was given; name files or folders, - for standard input, or "
            '--text "..."'
        )
    writing = shared.write_request(args)
    on_terminal = writing.path == STDOUT and sys.stdout.isatty() and args.format is None
    options = writing.options
    if isinstance(options, ViewOptions):
        options = replace(options, title=len(args.text) != 1)
    form = "jsonl" if args.json else "text" if on_terminal else writing.format
    return call(
        AnnotateRequest,
        args,
        texts=tuple(args.text),
        reading=shared.read_request(args),
        writing=replace(writing, format=form, options=options),
        also_read=(args.described,) if args.described else (),
    )


def _opener_of(
    args: Options, lists: list[tuple[str, Annotator]]
) -> Callable[[HeldFields], Annotator]:
    """Returns what opens the model with its choices; writes it as a pipeline if asked for.

    Args:
        args: the options.
        lists: receives the lists of own names.
    """
    choices = shared.choices_of(args)
    model = tuple(args.model or (DEFAULT_MODEL,))
    threads = args.threads or (1 if _is_short(args) else None)

    def opened(held: HeldFields) -> Annotator:
        with pause_garbage_collection():
            predictor = open_model(
                model,
                choices,
                threads=threads,
                device=args.device,
                held=held_links(held),
                note=say,
            )
        _note_unread(args.described, predictor.parts[0])
        if args.save_pipeline:
            predictor.save(args.save_pipeline, overwrite=args.overwrite)
        lists.extend(predictor.own_lists)
        return predictor

    return opened


def _trace(args: Options, request: AnnotateRequest) -> int:
    """Prints the trace of each document; returns the exit code.

    Raises:
        UsageError: options for documents, which are not written.
    """
    if option := first_given(args, _OF_DOCUMENTS):
        raise UsageError(f"--trace prints changes in place of documents; leave out {option}")
    predictor = _opener_of(args, [])(FORMATS["jsonl"].writer.holds)
    inputs = resolve_inputs(request.files, request.texts, request.reading)
    for _, document in inputs.documents(ReadReport()):
        emit({}, f"{document.id}\n{predictor.trace(document)}\n", as_json=False)
    return 0


def _note_lists_without_mentions(lists: Sequence[tuple[str, Annotator]]) -> None:
    for path, names in lists:
        if getattr(names, "places", 1) == 0:
            say(f"note: none of the names in {path} is in the texts that were read now")


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
