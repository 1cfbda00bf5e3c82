"""Runs a predictor over texts, folders and corpora (``fascicle annotate``)."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from fascicle.annotation import Annotation, NothingError, OfInput
from fascicle.core.arguments import AnyPath, Paths, to_path_list, validate_arguments
from fascicle.core.files.apart import Inputs
from fascicle.core.files.atomic import Opened, open_output
from fascicle.core.files.folder_run import FolderRun, OutputFiles
from fascicle.core.files.part import PartFile, part_paths
from fascicle.core.progress import choose_progress
from fascicle.core.wording import plural
from fascicle.formats.account import Account
from fascicle.formats.destination import Destination, destination
from fascicle.formats.losses import HeldFields
from fascicle.formats.outputs import WriteRequest, write_documents
from fascicle.formats.report import WriteReport
from fascicle.formats.requests import ReadRequest, ResolvedInputs, resolve_inputs
from fascicle.formats.sources import input_state, notes_on
from fascicle.formats.textview import ViewOptions
from fascicle.loading import DEFAULT_MODEL, open_model, to_choices
from fascicle.settings.base import Share
from fascicle.settings.decision import Ends
from fascicle.settings.inputs import Case
from fascicle.terms.abbreviations.finder import AbbreviationFinder
from fascicle.text.annotator import Annotator
from fascicle.version import VERSION

if TYPE_CHECKING:
    from fascicle.runtime.composing import HeldLinks


class ProgressCallbacks(msgspec.Struct, frozen=True, kw_only=True):
    """Callbacks for the progress of a run; by default they do nothing.

    Attributes:
        tell: called with each sentence for the user.
        seen: called when a document is finished, with the number of documents so far, the bytes of
            the inputs that are read, and the bytes of all inputs, if known.
        wrote: called for each of several output files when it is complete.
    """

    tell: Callable[[str], None] = lambda sentence: None
    seen: Callable[[int, int, int | None], None] = lambda documents, reached, total: None
    wrote: Callable[[Path, WriteReport], None] = lambda path, report: None


class AnnotateRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Request to annotate inputs and to write the result.

    Attributes:
        files: files, folders of ``*.txt`` files, corpora, zips, ``"-"`` for standard input.
        texts: in place of files.
        reading: format and options of the files.
        writing: place and format of the result; standard output by default.
        segments: also give the sentences and words that each text is cut into.
        abbreviations: also give where each text defines short forms.
        also_read: other files that must not be overwritten.
    """

    files: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    reading: ReadRequest = msgspec.field(default_factory=ReadRequest)
    writing: WriteRequest = msgspec.field(default_factory=WriteRequest)
    segments: bool = False
    abbreviations: bool = False
    also_read: tuple[str, ...] = ()


def held_links(format_holds: HeldFields) -> HeldLinks:
    """Returns what an output holds of links; see `HeldFields.links`."""
    from fascicle.runtime.composing import HeldLinks

    return HeldLinks(any="links" in format_holds.fields, keep=format_holds.links)


def tell_notes(resolved: ResolvedInputs, reading: ReadRequest, listener: ProgressCallbacks) -> None:
    """Tells what a user should know of inputs before they are read."""
    for note in notes_on(resolved.places, format=reading.format):
        listener.tell(f"note: {note}")


@contextmanager
def report_interruption(part: PartFile, path: str, listener: ProgressCallbacks) -> Iterator[None]:
    """Tells what becomes of the part of an interrupted run, and where this one can go on if the
    block fails.
    """
    if part.replaced:
        again, _ = part_paths(path)
        listener.tell(
            f"note: {again}, of an interrupted run, is made anew; resume=True would go on with it"
        )
    try:
        yield
    except BaseException:
        if part.kept is not None:
            listener.tell(f"what was done is kept in {part.kept}; resume=True goes on with it")
        raise


def output_causes(predictor: Annotator, options: Sequence[Any]) -> dict[str, str]:
    """Returns what affects the bytes of an output, beside the documents."""
    return {
        "release": VERSION,
        "model": hashlib.sha256(predictor.fingerprint.encode()).hexdigest(),
        "set of options": hashlib.sha256(json.dumps(options, sort_keys=True).encode()).hexdigest(),
    }


@validate_arguments
def annotate(  # noqa: PLR0913 - as users say it
    files: Paths,
    output: AnyPath,
    *,
    model: Paths = DEFAULT_MODEL,
    also: Paths | None = None,
    case: Case = "auto",
    format: str = "auto",  # noqa: A002
    overwrite: bool = False,
    resume: bool = False,
    link: Paths | None = "auto",
    ontology: str = "",
    types: AnyPath | Sequence[AnyPath] | None = None,
    careful: str | Sequence[str] = (),
    only: str | Sequence[str] = (),
    threshold: Share | Mapping[str, Share] = 0.0,
    ends: Ends | None = None,
    nested: bool = False,
    progress: bool = False,
    variants: bool = False,
    assertions: bool | AnyPath = False,
    relations: AnyPath | None = None,
    device: str | None = None,
) -> Account:
    """Annotates files in bounded memory, as ``fascicle annotate`` does; see `annotate_files`.

    Args:
        files: a file, a folder, or several.
        output: a file for all, or a folder (``"name/"``) with a file for each.
        model: as `fascicle.load` takes it; term packs may be several.
        also: your own names beside the model, as `fascicle.load` takes them.
        case: in which capitals names are found, as `fascicle.load` takes it.
        format: of the output, a name of ``formats.catalogue.FORMATS``; by default that of the
            suffix of the output.
        overwrite: replace output of an earlier run.
        resume: continue an interrupted run.
        link: linker of the mentions, as `fascicle.load` takes it; by default the shipped one where
            it covers a type of the model and the format holds links.
        ontology: vocabulary of the links, as `fascicle.load` takes it, like the next six.
        types: types to look for.
        careful: types that a second model confirms.
        only: types of mentions to keep.
        threshold: mentions with a lower score are left out.
        ends: rule for the ends of names.
        nested: for term packs: also find names inside others.
        progress: show how far it is: in a notebook a bar, on a terminal a line that changes.
        variants: also find sequence variants, as `fascicle.load` does.
        assertions: also say which mentions are negated, uncertain and so on, as `fascicle.load`
            takes it.
        relations: folder of a finder of relations.
        device: where the network computes, as `fascicle.load` takes it.

    Returns:
        The account: numbers of documents that were read, written and set aside.

    Raises:
        FascicleError: see `annotate_files` and `fascicle.load`.
    """
    request = AnnotateRequest(
        files=to_path_list(files),
        writing=WriteRequest(
            path=os.fspath(output), format=format, overwrite=overwrite, resume=resume
        ),
    )
    choices = to_choices(
        also=also,
        case=case,
        types=types,
        careful=careful,
        only=only,
        threshold=threshold,
        ends=ends,
        nested=nested,
        link=link,
        ontology=ontology,
        variants=variants,
        assertions=assertions,
        relations=relations,
    )

    def opener(format_holds: HeldFields) -> Annotator:
        names = to_path_list(model, name="model")
        return open_model(names, choices, device=device, held=held_links(format_holds))

    if not progress:
        return annotate_files(request, opener)
    bar = choose_progress()
    try:
        return annotate_files(request, opener, listener=ProgressCallbacks(seen=bar.see))
    finally:
        bar.end()


def annotate_files(
    request: AnnotateRequest,
    open_predictor: Callable[[HeldFields], Annotator],
    *,
    account: Account | None = None,
    listener: ProgressCallbacks | None = None,
) -> Account:
    """Annotates files or texts in bounded memory.

    Earlier mentions of the same predictor are replaced, and an empty text is reported, each by an
    event. A document that cannot be read, annotated or written is set aside, and the run continues.
    Files get their final names when they are complete.

    Args:
        request: inputs and output.
        open_predictor: returns the predictor for an output that holds some fields; called after all
            early checks.
        account: receives the counts; a new one by default. Its ``aside`` is the number of documents
            set aside.
        listener: receives the progress.

    Returns:
        The account of all documents.

    Raises:
        UsageError: nothing to annotate, or options that exclude each other.
        OutputError: an output exists already, is an input, or cannot be written.
        InputError: no input can be read, or every document was set aside.
        LossError: the format would lose something of a document, and that is refused.
    """
    resolved = resolve_inputs(request.files, request.texts, request.reading)
    to = destination(resolved.inputs, request.writing, several=len(request.files) > 1)
    to.refuse(
        Inputs.of(
            [*request.also_read, *(entry.name for entry in resolved.inputs if entry.text is None)]
        )
    )
    listener = ProgressCallbacks() if listener is None else listener
    tell_notes(resolved, request.reading, listener)
    work = _Work(
        request=request,
        given=resolved,
        to=to,
        predictor=open_predictor(to.format.writer.holds),
        account=Account() if account is None else account,
        listener=listener,
    )
    work.write()
    work.account.check()
    return work.account


class _Work(msgspec.Struct, frozen=True, kw_only=True):
    """Run over all inputs; a batch may hold documents of several inputs."""

    request: AnnotateRequest
    given: ResolvedInputs
    to: Destination
    predictor: Annotator
    account: Account
    listener: ProgressCallbacks

    def write(self) -> None:
        """Writes all documents to their outputs."""
        if self.to.files is not None:
            self._write_each(self.to.files)
        elif self.to.grows:
            self._write_growing()
        else:
            self._write_one()

    def _write_one(self, *, part: PartFile | None = None, opened: Opened = open_output) -> None:
        """Writes all documents to one output."""
        report = self.account.open_report()
        documents = self._run().documents(
            self.given.documents(self.account.reading), report=report, part=part
        )
        write_documents(documents, self._writing(self.to.path), report=report, opened=opened)
        self.account.add(report)

    def _write_growing(self) -> None:
        """Writes all documents to one file, so that a later run can resume if this one is
        killed.
        """
        writing = self.request.writing
        part = PartFile(
            self.to.path,
            made_by=self._made_by(),
            overwrite=writing.overwrite,
            resume=writing.resume,
        )
        with report_interruption(part, self.to.path, self.listener):
            if part.done is not None:
                count = plural(part.done["documents"], "document")
                self.listener.tell(f"going on after {count} of the interrupted run")
            self._write_one(part=part, opened=part.opened)

    def _write_each(self, outputs: OutputFiles) -> None:
        """Writes one file for each input; an input without a good document gets none."""
        files = FolderRun(outputs, made_by=self._made_by(), state_of=input_state)
        try:
            with files:
                if files.done:
                    self.listener.tell(
                        f"going on after {plural(len(files.done), 'file')} of the interrupted run"
                    )
                for source in self._run().by_input(
                    self.given.documents(self.account.reading), done=files.done
                ):
                    self._write_input(source, outputs.of[source.name], files)
                self.account.refuse_nothing()
        except BaseException:
            if files.kept:
                self.listener.tell(
                    f"the files so far are kept in {outputs.folder}; resume=True goes on with them"
                )
            raise

    def _write_input(self, source: OfInput, place: Path, files: FolderRun) -> None:
        def opened(path: Any, *, overwrite: bool = False) -> Any:
            return files.opened(source.name, source.facts)

        try:
            write_documents(
                source.documents(), self._writing(str(place)), report=source.report, opened=opened
            )
        except NothingError:
            return
        finally:
            source.close()
        self.listener.wrote(place, source.report)

    def _writing(self, path: str) -> WriteRequest:
        """Returns the write request for one file, with the predictor as its source."""
        writing = self.request.writing
        options = writing.options
        if isinstance(options, ViewOptions):
            options = replace(options, types=options.types or self.predictor.types)
        if "facts" in self.predictor.gives:
            from fascicle.formats.tables import TableOptions

            if self.to.format.writer.options is TableOptions:
                table = options if isinstance(options, TableOptions) else TableOptions()
                options = replace(table, with_attributes=True)
        return replace(
            writing,
            path=path,
            format=self.to.format.name,
            source=self.predictor.sources,
            options=options,
        )

    def _run(self) -> Annotation:
        total = self.given.size
        return Annotation(
            predictor=self.predictor,
            account=self.account,
            segments=self.request.segments,
            beside=(AbbreviationFinder(),) if self.request.abbreviations else (),
            seen=lambda documents, reached: self.listener.seen(documents, reached, total),
        )

    def _made_by(self) -> dict[str, str]:
        """Returns everything that affects the bytes of the output, beside the documents."""
        request = self.request
        options = [self.to.format.name, asdict(request.reading), request.segments]
        options += ["abbreviations"] * request.abbreviations
        if request.writing.options is not None and not isinstance(
            request.writing.options, ViewOptions
        ):
            options.append(asdict(request.writing.options))
        return output_causes(self.predictor, options)
