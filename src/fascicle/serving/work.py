"""Work that a worker does for an order, in any process."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Protocol

import msgspec

from fascicle.core import codec
from fascicle.core.document import LINKED, Document
from fascicle.core.files.source import suffix
from fascicle.core.lazy import cached_property
from fascicle.core.wording import plural
from fascicle.errors import FascicleError, InputError
from fascicle.formats.outputs import WriteRequest, write_documents
from fascicle.formats.report import FailedDocuments, ReadReport, WriteReport
from fascicle.formats.requests import ReadRequest, read_all_documents
from fascicle.linking.decisions import Decision
from fascicle.linking.linker import Linker
from fascicle.linking.opening import Linkers, Linking, without_links
from fascicle.pipeline.pipeline import OpenPipeline, Pipeline
from fascicle.pipeline.rules import Rules
from fascicle.pipeline.runner import Failure, Result, Watch, ignore_progress
from fascicle.serving import messages
from fascicle.serving.advice import for_client
from fascicle.serving.messages import (
    Annotate,
    Answer,
    Answered,
    Explain,
    FileRead,
    FileWritten,
    Look,
    Looked,
    Options,
    ReadFile,
    Search,
    Searched,
    TriedRules,
    TryRules,
    WriteFile,
    Wrong,
)
from fascicle.serving.records import PackFacts, PipelineFacts, StepFacts, VocabularyFacts
from fascicle.serving.trying import try_rules
from fascicle.terms.pack.pack import Pack
from fascicle.terms.pack.tried import TryOn, try_on_pack
from fascicle.terms.recognising import PackRecogniser
from fascicle.terms.searching import HOW, FoundConcept, NameSearch
from fascicle.text.annotator import Annotator

OnStart = Callable[[Sequence[Document]], None]
_LINKS: Final = frozenset({"links"})
_TABLES: Final = (".csv", ".tsv")  # of texts, if a column is named
_PORTION: Final = 50  # names of a concept that are sent


def _ignore_documents(documents: Sequence[Document]) -> None:
    """Ignores the documents."""


class Work(Protocol):
    """Executor of orders, in one thread."""

    @property
    def facts(self) -> PipelineFacts | None:
        """Facts about the pipeline, or ``None`` if it is other work."""

    def do(
        self,
        order: messages.Order,
        *,
        watch: Watch = ignore_progress,
        on_start: OnStart = _ignore_documents,
    ) -> messages.Result:
        """Executes an order.

        Args:
            order: what to do.
            watch: as of `fascicle.pipeline.runner.run_batch`.
            on_start: function that is called with the documents of the order at first.
        """


OpenWork = Callable[[], Work]


class PipelineWork:
    """Pipeline that annotates, and explains its links.

    Attributes:
        pipeline: the pipeline.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        name: str,
        *,
        examples: Sequence[str] = (),
        try_on: TryOn | None = None,
    ) -> None:
        """Stores the pipeline, the name under which it is served, example texts, and what tries
        rules on packs.
        """
        self.pipeline, self._name, self._examples = pipeline, name, tuple(examples)
        self._only_link = frozenset(step.name for step in pipeline.steps if step.gives == _LINKS)
        self._others = frozenset(step.name for step in pipeline.steps) - self._only_link
        # so that portions of documents share the pack before the rules, and that with them
        self._try_on = try_on or lru_cache(2)(try_on_pack)

    def do(
        self,
        order: messages.Order,
        *,
        watch: Watch = ignore_progress,
        on_start: OnStart = _ignore_documents,
    ) -> messages.Result:
        """Executes an order; see `Work`."""
        match order:
            case Annotate(documents=raw, options=options):
                documents = [codec.decode(bytes(document)) for document in raw]
                on_start(documents)
                results = self.pipeline.of_batch(
                    documents, without=self._without(options), watch=watch
                )
                return Answered(
                    answers=tuple(self._answer(document, options) for document in results)
                )
            case Explain(document=one, candidates=most):
                document = codec.decode(bytes(one))
                return Answered(answers=(Answer(decisions=self._decisions(document, most)),))
            case Look(curie=curie):
                return Looked(concept=self._concept(curie))
            case Search():
                return Searched(concepts=tuple(self._search(order)))
            case TryRules():
                texts = (codec.decode(bytes(document)) for document in order.documents)
                return TriedRules(answer=self.try_rules(order, texts))
            case _:
                raise TypeError(f"a pipeline does no {type(order).__name__}")

    def _without(self, options: Options) -> frozenset[str]:
        """Returns the names of the steps that are not done."""
        if not options.find:
            return self._others
        steps = self._only_link | self._others
        unchosen = steps.difference(options.steps) if options.steps else frozenset()
        return unchosen if options.links else unchosen | self._only_link

    def _answer(self, result: Result, options: Options) -> Answer:
        if result.document is None:
            return Answer(failure=result.failure, seconds=result.seconds)
        document = _apply_options(result.given, result.document, options)
        if not options.links:
            document = _remove_links(result.given, document)
        try:
            decisions = (
                self._decisions(document, options.candidates) if options.candidates else None
            )
        except Exception as error:
            return Answer(
                failure=Failure("candidates", type(error).__name__, str(error)),
                seconds=result.seconds,
            )
        return Answer(
            document=msgspec.Raw(codec.encode(document)),
            mentions=len(document.mentions),
            decisions=decisions,
            seconds=result.seconds,
        )

    def _decisions(self, document: Document, most: int) -> tuple[Decision, ...]:
        """Returns the decisions of the first linker about the mentions of a document, without
        their existing links.
        """
        for linker in self._linkers:
            (decisions,) = linker.explained([without_links(document, linker.covers)], most=most)
            return tuple(decisions)
        return ()

    @cached_property
    def _linkers(self) -> tuple[Linking, ...]:
        return tuple(part for part in _parts(self.pipeline) if hasattr(part, "explained"))

    @cached_property
    def _packs(self) -> tuple[Pack, ...]:
        return tuple(
            {
                pack.full_name: pack for part in _parts(self.pipeline) for pack in _packs_of(part)
            }.values()
        )

    def _concept(self, curie: str) -> dict[str, Any] | None:
        for pack in self._packs:
            if int(pack.concept_rows([curie])[0]) >= 0:
                return {
                    **msgspec.to_builtins(pack.concept(curie)),
                    "pack": pack.full_name,
                    "names": list(
                        dict.fromkeys(term.surface for term in pack.names(curie) if not term.silent)
                    )[:_PORTION],
                    "parents": _parents(pack, curie),
                }
        return None

    @cached_property
    def _searches(self) -> tuple[NameSearch, ...]:
        return tuple(map(NameSearch, self._packs))

    def _search(self, order: Search) -> list[dict[str, Any]]:
        """Returns the concepts of a search: those of all packs, the nearest names first."""
        hits = [
            (HOW.index(hit.how), pack, hit)
            for pack, search in zip(self._packs, self._searches, strict=True)
            for hit in search.find(order.query, most=order.most, type=order.kind)
        ]
        hits.sort(key=lambda hit: hit[0])
        return [_hit(pack, hit) for _, pack, hit in hits[: order.most]]

    def try_rules(self, order: TryRules, documents: Iterable[Document]) -> dict[str, Any] | None:
        """Explains a name in the first pack that finds names, and tries rules on it.

        Args:
            order: name and rules.
            documents: in which changes are searched, in place of those of the order.

        Returns:
            See `try_rules`; ``None`` if no step finds the names of a pack.
        """
        finders = [part for part in _parts(self.pipeline) if isinstance(part, PackRecogniser)]
        packs = [(pack, finder) for finder in finders for pack in _packs_of(finder)]
        if not packs:
            return None
        pack, finder = packs[0]
        return try_rules(pack, order, finder.settings, self._try_on, documents=documents)

    @cached_property
    def facts(self) -> PipelineFacts:
        """Facts about the pipeline."""
        steps = self.pipeline.steps[1:]  # the first one splits texts into words for the others
        types = [kind for step in steps for kind in _types_of(step)]
        sources = [
            source for step in steps for source in sorted(getattr(step, "sources", None) or ())
        ]
        made_by = msgspec.json.encode(self.pipeline.made_by(), order="sorted")
        return PipelineFacts(
            name=self._name,
            steps=tuple(
                StepFacts(
                    name=step.name, needs=tuple(sorted(step.needs)), gives=tuple(sorted(step.gives))
                )
                for step in steps
            ),
            types=tuple(dict.fromkeys(types)),
            all_types=all("mentions" not in step.gives or _types_of(step) for step in steps),
            sources=tuple(dict.fromkeys(sources)),
            packs=tuple(map(_pack_facts, self._packs)),
            links=any("links" in step.gives for step in steps),
            fingerprint=hashlib.sha256(made_by).hexdigest(),
            examples=self._examples,
        )


class FileWork:
    """Reader and writer of files for clients; runs in a worker, so that a bad file does not harm
    the service.
    """

    @property
    def facts(self) -> PipelineFacts | None:
        """Always ``None``: this work is no pipeline."""
        return None

    def do(
        self,
        order: messages.Order,
        *,
        watch: Watch = ignore_progress,
        on_start: OnStart = _ignore_documents,
    ) -> messages.Result:
        """Executes an order; see `Work`."""
        assert isinstance(order, ReadFile | WriteFile)
        try:
            return _read_file(order) if isinstance(order, ReadFile) else _write_file(order)
        except FascicleError as error:
            message = for_client(str(error), Path(order.path).parent)
            return Wrong(error=type(error).__name__, message=message, code=error.code)


def open_work(open_pipeline: OpenPipeline, name: str) -> PipelineWork:
    """Opens a pipeline for a worker.

    Args:
        open_pipeline: opens it.
        name: under which it is served.
    """
    return PipelineWork(open_pipeline(), name, examples=getattr(open_pipeline, "examples", ()))


def _apply_options(document: Document, result: Document, options: Options) -> Document:
    """Removes mentions of the pipeline that the options exclude; those of the given document
    stay.
    """
    if not options.only and not options.threshold:
        return result
    before = {mention.key for mention in document.mentions}
    mentions = tuple(
        mention
        for mention in result.mentions
        if mention.key in before
        or (
            (not options.only or mention.type in options.only)
            and (mention.score is None or mention.score >= options.threshold)
        )
    )
    return result if len(mentions) == len(result.mentions) else result.having(mentions=mentions)


def _remove_links(document: Document, result: Document) -> Document:
    """Removes links of the pipeline from a document; links of the given document stay."""
    links = {item.key: item.links for item in document.mentions}
    return result.having(
        mentions=tuple(
            msgspec.structs.replace(item, links=links.get(item.key, ())) for item in result.mentions
        ),
        events=tuple(
            item for item in result.events if item.code != LINKED or item in document.events
        ),
    )


def _parts(pipeline: Pipeline) -> Iterator[Any]:
    """Yields the objects behind the steps: predictors and linkers."""
    for step in pipeline.steps:
        behind = getattr(step, "predictor", None) or getattr(step, "step", None) or step
        for part in behind.parts if isinstance(behind, Annotator) else (behind,):
            yield getattr(part, "linker", part)


def _packs_of(part: Any) -> Iterable[Pack]:
    linkers = (
        part.parts if isinstance(part, Linkers) else [part] if isinstance(part, Linker) else []
    )
    packs = part.packs if isinstance(part, PackRecogniser) else [linker.pack for linker in linkers]
    return [linker for linker in packs if isinstance(linker, Pack)]


def _parents(pack: Pack, curie: str) -> list[dict[str, str]]:
    return [
        {"curie": parent, "label": pack.concept(parent).label} for parent in pack.parents(curie)
    ]


def _hit(pack: Pack, match: FoundConcept) -> dict[str, Any]:
    concept = pack.concept_at(match.row)
    _, _, same = pack.answer_at(match.row)
    return {
        "curie": concept.curie,
        "label": concept.label,
        "type": concept.type,
        "taxon": concept.taxon,
        "definition": concept.definition,
        "sources": concept.sources,
        "parents": _parents(pack, concept.curie),
        "same": same,
        "name": match.name,
        "how": match.how,
        "pack": pack.full_name,
    }


def _types_of(step: Any) -> Sequence[str]:
    finder = step if isinstance(step, Rules) else getattr(step, "predictor", None)
    types: Sequence[str] = getattr(finder, "types", ())
    return types


def _pack_facts(pack: Pack) -> PackFacts:
    return PackFacts(
        name=pack.full_name,
        concepts=len(pack),
        types=tuple(pack.types),
        vocabularies=tuple(
            VocabularyFacts(
                name=source.name, date=source.date, licence=source.licence, url=source.url
            )
            for source in pack.manifest.sources
        ),
    )


def _read_request(order: ReadFile) -> ReadRequest:
    is_table = order.column and suffix(order.path) in _TABLES
    return ReadRequest(
        format="table" if is_table and order.format == "auto" else order.format,
        encoding=order.encoding,
        fields=(("text", order.column),) if order.column else (),
    )


def _read_file(order: ReadFile) -> FileRead:
    report = ReadReport(aside=FailedDocuments(keep_going=True))
    documents: list[msgspec.Raw] = []
    characters = 0
    for document in read_all_documents([order.path], _read_request(order), report=report):
        characters += len(document.text)
        if len(documents) == order.documents or characters > order.characters:
            raise InputError(
                f"the file has more than {plural(order.documents, 'document')}, or more than "
                f"{order.characters:,} characters; divide it, or send it as a job",
                code="too-large",
            )
        documents.append(msgspec.Raw(codec.encode(document)))
    folder = Path(order.path).parent
    return FileRead(
        documents=tuple(documents),
        format=report.formats.get(order.path, order.format),
        notes=tuple(for_client(line, folder) for line in report.lines()),
        problems=tuple(for_client(line, folder) for line in report.aside.sentences),
    )


def _write_file(order: WriteFile) -> FileWritten:
    report = WriteReport()
    documents = (codec.decode(bytes(document)) for document in order.documents)
    write_documents(
        documents, WriteRequest(path=order.path, format=order.format, one_file=True), report=report
    )
    return FileWritten(losses=dict(sorted(report.losses.items())))
