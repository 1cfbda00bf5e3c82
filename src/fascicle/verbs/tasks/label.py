"""Writes weak labels of raw text: the predictions of a model, ensemble or dictionary by word
(``fascicle label``).
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any, BinaryIO, Final

from fascicle.annotation import Annotation, Passage
from fascicle.core.arguments import AnyPath, Paths, to_path_list, validate_arguments
from fascicle.core.document import Document, Mention, Patch, unique
from fascicle.core.files.apart import Inputs
from fascicle.core.files.part import PartFile, part_paths
from fascicle.core.printed import as_printed
from fascicle.core.stream import Outcome, answer_each, chunks, failure_error
from fascicle.core.tags import SCHEMES
from fascicle.core.wording import plural
from fascicle.errors import InputError, UsageError, explain_errors
from fascicle.evaluation.doctor.leaks import ProtectedTexts, read_protected
from fascicle.formats.account import Account
from fascicle.formats.outputs import STDOUT
from fascicle.formats.requests import ReadRequest, resolve_inputs
from fascicle.formats.weak_labels import End, Header, PackedLabels, pack_labels, pack_lines
from fascicle.loading import DEFAULT_MODEL, open_model
from fascicle.settings.choices import NO_CHOICES, Choices
from fascicle.settings.pipeline import is_pipeline
from fascicle.text.annotator import Annotator, Tagged, TagSpace, map_to_words
from fascicle.verbs.tasks.annotate import (
    ProgressCallbacks,
    output_causes,
    report_interruption,
    tell_notes,
)
from fascicle.verbs.tasks.pipeline_predictions import PipelinePredictor
from fascicle.version import VERSION

_SCORES: Final = frozenset(("score", "confidence", "probability"))  # attributes of other tools
_ADVICE: Final = "; divide percentages by 100, or give the attribute another name"


@dataclass(frozen=True, kw_only=True)
class LabelRequest:
    """Request to label texts.

    Attributes:
        model: as `fascicle.load` takes it, or a pipeline: the mentions of all its steps are labels.
            ``None``: the mentions that the texts have; their score, or an attribute that states
            one, is the probability.
        choices: about the mentions of a model; a pipeline has its own.
        files: texts, as `fascicle.annotate` takes them.
        output: the file to write.
        reading: format and options of the texts.
        floor: least probability that is kept.
        exclude: an exclusion list of ``fascicle corpus check``; empty for none.
        against: protected corpora: copies of their documents are left out.
        reading_against: format and options of these corpora.
        note: on the licence of texts and model, for the file.
        threads: of the network; all usable cores by default.
        device: as `fascicle.load` takes it.
        overwrite: replace an existing file.
        resume: continue an interrupted run.
    """

    model: str | None = None
    choices: Choices = NO_CHOICES
    files: tuple[str, ...]
    output: str
    reading: ReadRequest = field(default_factory=ReadRequest)
    floor: float = 0.01
    exclude: str = ""
    against: tuple[str, ...] = ()
    reading_against: ReadRequest = field(default_factory=ReadRequest)
    note: str = ""
    threads: int | None = None
    device: str | None = None
    overwrite: bool = False
    resume: bool = False

    def check(self) -> None:
        """Refuses invalid requests before any file is opened.

        Raises:
            UsageError: a floor that is no probability, or standard input with labels in it.
            OutputError: the output is one of the inputs.
        """
        if self.model is None and STDOUT in self.files:
            raise UsageError(
                "texts that have their labels are read twice; name a file in place of -"
            )
        if self.output == STDOUT:
            raise UsageError(
                "labels are written to a file, for they are packed and can go on; name one in "
                "place of -"
            )
        if not 0 < self.floor < 1:
            raise UsageError(
                f"the floor {self.floor:g} is not allowed; give a probability between 0 and 1, "
                "such as 0.01"
            )
        inputs = Inputs.of([*self.files, *self.against, *([self.exclude] if self.exclude else [])])
        inputs.refuse(self.output)
        inputs.refuse(part_paths(self.output)[0])


@validate_arguments
def label(
    files: Paths,
    output: AnyPath,
    *,
    model: AnyPath | None = DEFAULT_MODEL,
    against: Paths = (),
    overwrite: bool = False,
    resume: bool = False,
) -> Account:
    """Labels texts in bounded memory, as ``fascicle label`` does; `label_files` has all other
    options.

    Args:
        files: a file, a folder, or several.
        output: the file of labels.
        model: as `fascicle.load` takes it; ``None``: the mentions that the texts have are their
            labels.
        against: protected corpora: copies of their documents are left out.
        overwrite: replace an existing file.
        resume: continue an interrupted run.

    Returns:
        The account of all documents.

    Raises:
        FascicleError: see `label_files`.
    """
    request = LabelRequest(
        model=None if model is None else os.fspath(model),
        files=to_path_list(files),
        output=os.fspath(output),
        against=to_path_list(against),
        overwrite=overwrite,
        resume=resume,
    )
    return label_files(request)


def _teacher(request: LabelRequest) -> Annotator:
    """Opens the model or the pipeline of a request, or what stands for another tool."""
    if request.model is not None and not is_pipeline(request.model):
        return open_model(
            request.model, request.choices, threads=request.threads, device=request.device
        )
    from fascicle.runtime.wrapped import PluggedPredictor

    if request.model is None:
        return PluggedPredictor(_OtherTool(_types_in(request)), package="the texts")
    from fascicle.pipeline.loading import open_pipeline, refuse_choices

    refuse_choices(request.model, request.choices)
    predictor = PipelinePredictor(open_pipeline(request.model))
    return PluggedPredictor(predictor, package=f"the pipeline {predictor.name}")


class _OtherTool:
    """Mentions that texts have, as the answer of a predictor."""

    name = "other-tool"
    fingerprint = "the mentions of the texts"

    def __init__(self, types: tuple[str, ...]) -> None:
        self.types = types

    def predict(self, documents: Sequence[Document]) -> list[Patch]:
        """Returns the mentions of each document under one source."""
        return [Patch(add=unique(map(self._own, document.mentions))[0]) for document in documents]

    def _own(self, mention: Mention) -> Mention:
        return Mention(mention.spans, mention.type, score=_probability(mention), source=self.name)


def _probability(mention: Mention) -> float | None:
    """Returns the score of a mention, or the number that an attribute states as one.

    Raises:
        ValueError: the number is no probability.
    """
    stated = [value for name, value in mention.attributes if name.lower() in _SCORES]
    if mention.score is not None or not stated:
        return mention.score
    try:
        value = float(stated[0])
    except ValueError:
        return None
    if not 0 <= value <= 1:
        raise ValueError(
            f"the probability {stated[0][:20]!r} of a mention of {mention.type!r} is not between "
            "0 and 1"
        )
    return value


def _types_in(request: LabelRequest) -> tuple[str, ...]:
    """Returns the types of all mentions, and refuses numbers that are no probabilities before
    anything is written.
    """
    types = set[str]()
    for place, document in resolve_inputs(request.files, (), request.reading).documents(
        Account().reading
    ):
        types.update(mention.type for mention in document.mentions)
        with explain_errors(
            f"document {document.id!r} has no usable labels", at=place, advice=_ADVICE
        ):
            for mention in document.mentions:
                _probability(mention)
    if not types:
        raise InputError(
            "the texts have no mentions that could be labels; name a model that finds some"
        )
    return tuple(sorted(types))


def _note_on_scores(name: str) -> str:
    return (
        f"note: {name} says how probable the mentions of its answer are, and nothing of those "
        "below its threshold, which soft labels read as 0; a tagger says how probable every tag is"
    )


def label_files(
    request: LabelRequest,
    *,
    open_predictor: Callable[[], Annotator] | None = None,
    account: Account | None = None,
    listener: ProgressCallbacks | None = None,
) -> Account:
    """Labels texts in bounded memory; see `formats.weak_labels` for the file.

    Args:
        request: inputs and output.
        open_predictor: returns the predictor; by default `fascicle.load` of the model of the
            request.
        account: receives the counts; a new one by default. Its ``left_out`` counts documents by the
            reason.
        listener: receives the progress.

    Returns:
        The account of all documents.

    Raises:
        UsageError: nothing to label, or options that are not allowed.
        OutputError: the output exists already, is an input, or cannot be written; or another run
            cannot be resumed.
        InputError: the texts hold no document, or none could be labelled.
        ModelError: see `fascicle.load`.
    """
    request.check()
    resolved = resolve_inputs(request.files, (), request.reading)
    listener = listener or ProgressCallbacks()
    tell_notes(resolved, request.reading, listener)
    account = Account() if account is None else account
    kept_apart = _protected_of(request)
    predictor = _teacher(request) if open_predictor is None else open_predictor()
    if predictor.tag_space.meaning == "mention-score":
        listener.tell(_note_on_scores(predictor.name))
    work = _Work(
        request=request,
        predictor=predictor,
        space=predictor.tag_space,
        run=Annotation(
            predictor=predictor, account=account, seen=partial(_see, listener, resolved.size)
        ),
        protected=kept_apart,
        listener=listener,
    )
    try:
        work.write(resolved.documents(account.reading))
    finally:
        getattr(predictor, "close", lambda: None)()
    for note in kept_apart.notes(account.left_out):
        listener.tell(note)
    account.check()
    return account


@dataclass(kw_only=True)
class _Counts:
    """Counts for the last line of the file."""

    words: int = 0
    mentions: Counter[str] = field(default_factory=Counter)

    def state(self) -> dict[str, Any]:
        return {"words": self.words, "mentions_by_type": dict(self.mentions)}

    def restore(self, state: Mapping[str, Any]) -> None:
        self.words += state["words"]
        self.mentions.update(state["mentions_by_type"])


def _protected_of(request: LabelRequest) -> ProtectedTexts:
    return read_protected(
        exclude=request.exclude, against=request.against, reading=request.reading_against
    )


def _see(listener: ProgressCallbacks, total: int | None, documents: int, reached: int) -> None:
    listener.seen(documents, reached, total)


@dataclass(frozen=True, kw_only=True)
class _Work:
    """Run over all inputs, block by block: a block is read, screened, labelled and packed together.

    The end of a block depends on its documents alone, and the journal has no entry within a block:
    so a resumed run makes the same batches and writes the same bytes.
    """

    request: LabelRequest
    predictor: Annotator
    space: TagSpace
    run: Annotation
    protected: ProtectedTexts
    listener: ProgressCallbacks
    counts: _Counts = field(default_factory=_Counts)

    def write(self, documents: Iterator[tuple[str, Document]]) -> None:
        """Writes all documents into the file."""
        request = self.request
        part = PartFile(
            request.output,
            made_by=self._made_by(),
            overwrite=request.overwrite,
            resume=request.resume,
        )
        with (
            report_interruption(part, request.output, self.listener),
            part.opened(request.output) as stream,
        ):
            stream.write(pack_lines([self._header()]))
            part.begin()
            self._write_blocks(stream, part, self.run.passages(documents, digests=True))
            stream.write(pack_lines([self._end()]))

    def _write_blocks(self, stream: BinaryIO, part: PartFile, passages: Iterator[Passage]) -> None:
        if part.done is not None:
            self.run.skip(passages, part.done)
            self.counts.restore(part.done)
            count = plural(part.done["documents"], "document")
            self.listener.tell(f"going on after {count} of the interrupted run")
        account = self.run.account
        for block in _blocks(passages):
            entries = list(self._entries([passage.document for passage in block]))
            if entries:
                stream.write(pack_lines(entries))
                account.release()
            self.run.seen(block[-1].number, block[-1].reached)
            part.keep(partial(self._state, block[-1]))
        account.refuse_nothing()
        if not self.counts.words:
            raise InputError(_nothing(account))

    def _entries(self, documents: Sequence[Document]) -> Iterator[PackedLabels]:
        account = self.run.account
        reasons = self.protected.reasons(documents)
        account.left_out.update(filter(None, reasons))
        printed = [
            as_printed(document)
            for document, reason in zip(documents, reasons, strict=True)
            if not reason
        ]
        for document, tagged in answer_each(self.predictor.tag, printed) if printed else ():
            if isinstance(tagged, Exception):
                account.predicting.add(failure_error(Outcome(document, error=tagged)))
            else:
                yield self._entry(document, tagged)

    def _entry(self, document: Document, tagged: Tagged) -> PackedLabels:
        types, account = self.predictor.types, self.run.account
        mapped = map_to_words(tagged.patch.add, tagged.words, types=types)
        tags = mapped.tags(SCHEMES[self.space.scheme], words=len(tagged.words), types=len(types))
        account.written += 1
        account.mentions += len(mapped.spans)
        for reason, count in mapped.lost.items():
            account.losses[reason] += count
            account.examples.setdefault(reason, document.id)
        self.counts.words += len(tagged.words)
        self.counts.mentions.update(types[kind] for kind in mapped.spans[:, 2].tolist())
        return pack_labels(
            document, tags=tags, probabilities=tagged.probabilities, floor=self.request.floor
        )

    def _header(self) -> Header:
        predictor, request, space = self.predictor, self.request, self.space
        options = {
            "texts": " ".join(request.files),
            "exclude": request.exclude,
            "against": " ".join(request.against),
            "reading": _describe_reading(request.reading),
        }
        return Header(
            model=predictor.name,
            sha256=self._made_by()["model"],
            release=VERSION,
            types=predictor.types,
            scheme=space.scheme,
            meaning=space.meaning,
            segmenter=predictor.segmenter,
            floor=request.floor,
            note=request.note,
            options={name: value for name, value in options.items() if value},
        )

    def _end(self) -> End:
        account = self.run.account
        return End(
            account.written,
            self.counts.words,
            dict(sorted(self.counts.mentions.items())),
            dict(account.left_out),
        )

    def _state(self, at: Passage) -> dict[str, Any]:
        account = self.run.account.state()
        return {
            "documents": at.number,
            "digest": at.digest,
            "account": account,
            **self.counts.state(),
        }

    def _made_by(self) -> dict[str, str]:
        """Returns everything that affects the bytes of the file, beside the documents."""
        request = self.request
        options = [
            _describe_reading(request.reading),
            request.floor,
            request.note,
            list(request.files),
            request.device,
        ]
        return output_causes(self.predictor, options) | {
            "set of texts to leave out": self.protected.sha256
        }


def _blocks(passages: Iterator[Passage]) -> Iterator[list[Passage]]:
    waiting: list[Passage] = []

    def documents() -> Iterator[Document]:
        for passage in passages:
            waiting.append(passage)
            yield passage.document

    for chunk in chunks(documents()):
        block, waiting[:] = waiting[: len(chunk)], waiting[len(chunk) :]
        yield block


def _describe_reading(reading: ReadRequest) -> str:
    """Returns the reading options that were given, as JSON; empty if none was."""
    usual = asdict(ReadRequest())
    values = {
        name: value
        for name, value in asdict(reading).items()
        if value != usual[name] and name != "asked_by"
    }
    return json.dumps(values, sort_keys=True) if values else ""


def _nothing(account: Account) -> str:
    """Returns the reason why nothing was written."""
    if account.left_out.total() < account.read or not account.read:
        return "the texts hold no word; give files with text"
    many = "the only document" if account.read == 1 else f"every one of {account.read:,} documents"
    return f"{many} was left out as a copy of what nothing may be learned from; give other texts"
