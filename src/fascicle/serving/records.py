"""Contents of requests and responses, beside documents."""

from __future__ import annotations

from collections.abc import Container
from types import MappingProxyType
from typing import Any, Final, Literal

import msgspec

from fascicle.core.codec import DocumentRecord, GivenDocument
from fascicle.linking.decisions import Decision
from fascicle.terms.pack.pack import Concept
from fascicle.terms.searching import MatchKind

# older names of the choices of a request, which are read for one release
OLDER: Final = MappingProxyType({"threshold": "min_score", "only": "types", "links": "link"})
_Status = Literal["done", "refused", "failed", "timed_out"]


def twice_named(names: Container[str]) -> str:
    """Returns a sentence if a choice is given under both of its names; else an empty text."""
    return next(
        (
            f"{older} is an older name of {name}: give {name} alone"
            for name, older in OLDER.items()
            if name in names and older in names
        ),
        "",
    )


class Problem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What went wrong.

    Attributes:
        title: of the kind of problem.
        status: of HTTP.
        detail: one sentence: what was given, what is allowed, what to do.
        code: a short stable name, as `fascicle.errors.CODES` has them.
        type: there is no page about it, so it is ``"about:blank"``.
    """

    title: str
    status: int
    detail: str
    code: str
    type: str = "about:blank"


class Health(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the service can annotate.

    Attributes:
        status: ``"ready"`` if every pipeline has a worker that runs.
        version: of Fascicle.
    """

    status: Literal["ready", "not-ready"]
    version: str


class Alive(msgspec.Struct, frozen=True, kw_only=True):
    """That the service answers.

    Attributes:
        status: always ``"live"``.
        version: of Fascicle.
    """

    status: Literal["live"] = "live"
    version: str


class Pipelines(msgspec.Struct, frozen=True, kw_only=True):
    """What is served; the first pipeline is asked where a request names none."""

    pipelines: tuple[PipelineFacts, ...]


class RawDocuments(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Documents as they came: each is looked at by itself, so that a bad one costs itself alone."""

    documents: tuple[msgspec.Raw, ...]


class Documents(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Documents; of each the text alone must be there."""

    documents: tuple[GivenDocument, ...]


class DocumentAnswer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What became of a document.

    Attributes:
        id: of the document.
        status: ``"done"``; ``"refused"``, since it cannot be used as given; ``"failed"`` at a step;
            ``"timed_out"``.
        document: with its mentions.
        candidates: of the links of its mentions, where they were asked for.
        problem: why it is not done.
    """

    id: str
    status: _Status
    document: DocumentRecord | None = None
    candidates: tuple[Decision, ...] | None = None
    problem: Problem | None = None


class Answers(msgspec.Struct, frozen=True, kw_only=True):
    """An answer for each document, in order."""

    documents: tuple[DocumentAnswer, ...]


class RawAnswer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A `DocumentAnswer` whose document is already JSON."""

    id: str
    status: _Status
    document: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    candidates: tuple[Decision, ...] | None = None
    problem: Problem | None = None


class RawAnswers(msgspec.Struct, frozen=True, kw_only=True):
    """`Answers` whose documents are already JSON."""

    documents: tuple[RawAnswer, ...]


class FileFormat(msgspec.Struct, frozen=True, kw_only=True):
    """A format of files.

    Attributes:
        name: of it.
        means: one line.
        suffixes: by which its files are known.
        reads: whether it is read.
        writes: whether it is written.
        suffix: of a file that is written here.
    """

    name: str
    means: str
    suffixes: tuple[str, ...]
    reads: bool
    writes: bool
    suffix: str


class FileFormats(msgspec.Struct, frozen=True, kw_only=True):
    """All formats."""

    formats: tuple[FileFormat, ...]


class ReadAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """A file that was read.

    Attributes:
        documents: of it.
        format: in which it was read.
        notes: sentences about it.
        problems: sentences about what could not be read.
    """

    documents: tuple[DocumentRecord, ...]
    format: str
    notes: tuple[str, ...]
    problems: tuple[str, ...]


class Decisions(msgspec.Struct, frozen=True, kw_only=True):
    """What is said of each mention of a document."""

    decisions: tuple[Decision, ...]


class Parent(msgspec.Struct, frozen=True, kw_only=True):
    """A concept above another one."""

    curie: str
    label: str


class ConceptAnswer(Concept, frozen=True, kw_only=True):
    """A concept with what stands beside it.

    Attributes:
        pack: the pack that has it.
        names: of it, at most 50.
        parents: the concepts above it.
        page: about it on the web, as a text.
    """

    pack: str
    names: tuple[str, ...]
    parents: tuple[Parent, ...]
    page: str


class ConceptFound(msgspec.Struct, frozen=True, kw_only=True):
    """A concept that was found by a part of a name.

    Attributes:
        curie: its identifier; of several concepts that are equal, the leading one.
        label: its preferred name.
        type: of it.
        taxon: CURIE of its species, or empty.
        definition: or empty.
        sources: vocabularies that name it.
        parents: the concepts above it.
        same: CURIEs of the concepts that are equal to it.
        name: by which it was found.
        how: the query is its identifier, is a name, is the beginning of one, is the beginning of a
            word in one, or is one slip away from such a beginning.
        pack: the pack that has it.
    """

    curie: str
    label: str
    type: str
    taxon: str
    definition: str
    sources: tuple[str, ...]
    parents: tuple[Parent, ...]
    same: tuple[str, ...]
    name: str
    how: MatchKind
    pack: str


class ConceptsFound(msgspec.Struct, frozen=True, kw_only=True):
    """Concepts that were found, the likeliest first."""

    concepts: tuple[ConceptFound, ...]


class KazuDocument(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A document as Kazu has it.

    Attributes:
        idx: its id.
        sections: with their texts and entities.
        metadata: further facts.
    """

    idx: str
    sections: tuple[dict[str, Any], ...]
    metadata: dict[str, Any] = {}


class KazuAnnotations(msgspec.Struct, frozen=True, kw_only=True):
    """A document for the components of Label Studio that the page of Kazu has.

    Attributes:
        ls_view: its labelling configuration, as XML.
        ls_tasks: a task for each section.
        doc: the document.
    """

    ls_view: str
    ls_tasks: tuple[dict[str, Any], ...]
    doc: KazuDocument


class StepFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A step of a pipeline.

    Attributes:
        name: of the step.
        needs: parts of a document that must be there before.
        gives: parts that it adds.
    """

    name: str
    needs: tuple[str, ...] = ()
    gives: tuple[str, ...] = ()


class VocabularyFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A source of a pack.

    Attributes:
        name: of the source.
        date: of its data.
        licence: of its data.
        url: where it is from.
    """

    name: str
    date: str = ""
    licence: str = ""
    url: str = ""


class PackFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A term pack that a pipeline uses.

    Attributes:
        name: of the pack, with the beginning of its hash.
        concepts: how many it has.
        types: of its concepts.
        vocabularies: its sources.
    """

    name: str
    concepts: int
    types: tuple[str, ...]
    vocabularies: tuple[VocabularyFacts, ...] = ()


class PipelineFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What a pipeline is.

    Attributes:
        name: under which it is served.
        steps: in order.
        types: of the mentions that it finds, as far as its steps say.
        all_types: whether every step says the types of what it finds.
        sources: of these mentions.
        packs: the packs that it uses.
        links: whether it links mentions to concepts.
        fingerprint: decides, with the release, what it answers.
        examples: texts to try it with.
    """

    name: str
    steps: tuple[StepFacts, ...]
    types: tuple[str, ...] = ()
    all_types: bool = False
    sources: tuple[str, ...] = ()
    packs: tuple[PackFacts, ...] = ()
    links: bool = False
    fingerprint: str = ""
    examples: tuple[str, ...] = ()
