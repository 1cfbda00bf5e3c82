"""Messages between the service and its workers: JSON in both directions, and no pickles."""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec

from fascicle.linking.decisions import Decision
from fascicle.pipeline.runner import Failure
from fascicle.pipeline.workers import WorkerFailed, Working
from fascicle.serving.records import PipelineFacts
from fascicle.settings.pipeline import Limits
from fascicle.terms.curation import CurationRule


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked for beside the documents.

    Attributes:
        threshold: mentions that the pipeline finds with a lower score are left out; those without a
            score stay.
        only: types of the mentions to keep; empty for all.
        links: whether mentions get links; without, the steps that only link are not done.
        candidates: concepts that are told of each mention, the best first; 0 for none.
        find: whether mentions are found; without, the steps that only link are done alone.
        steps: names of the steps that are done; empty for all.
    """

    threshold: float = 0.0
    only: tuple[str, ...] = ()
    links: bool = True
    candidates: int = 0
    find: bool = True
    steps: tuple[str, ...] = ()


class Annotate(msgspec.Struct, frozen=True, kw_only=True, tag="annotate"):
    """Documents for the pipeline, as `fascicle.core.codec` writes them."""

    documents: tuple[msgspec.Raw, ...]
    options: Options


class Explain(msgspec.Struct, frozen=True, kw_only=True, tag="explain"):
    """A document whose links are to be explained, by so many candidates of each mention."""

    document: msgspec.Raw
    candidates: int


class Look(msgspec.Struct, frozen=True, kw_only=True, tag="look"):
    """A concept that is asked for."""

    curie: str


class Search(msgspec.Struct, frozen=True, kw_only=True, tag="search"):
    """A part of a name whose concepts are asked for: of one type, or of any if it is empty, and
    so many at most.
    """

    query: str
    kind: str
    most: int


class TryRules(msgspec.Struct, frozen=True, kw_only=True, tag="try"):
    """A name that is explained, and rules of curation whose changes in documents are asked for.

    Attributes:
        name: empty for none.
        before: rules that follow those of the pack already.
        rules: that follow them.
        documents: as `fascicle.core.codec` writes them.
    """

    name: str
    before: tuple[CurationRule, ...]
    rules: tuple[CurationRule, ...]
    documents: tuple[msgspec.Raw, ...]


class ReadFile(msgspec.Struct, frozen=True, kw_only=True, tag="read"):
    """A file to read.

    Attributes:
        path: of it.
        format: its name, or ``"auto"``.
        encoding: its name, or ``"auto"``.
        column: of a table, that has the texts; empty for the usual names.
        documents: greatest number of documents.
        characters: greatest number of characters of all their texts.
    """

    path: str
    format: str
    documents: int
    characters: int
    encoding: str = "auto"
    column: str = ""


class WriteFile(msgspec.Struct, frozen=True, kw_only=True, tag="write"):
    """A file to write.

    Attributes:
        documents: as `fascicle.core.codec` writes them.
        format: its name.
        path: of it.
    """

    documents: tuple[msgspec.Raw, ...]
    format: str
    path: str


class Answer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What became of a document.

    Attributes:
        document: as `fascicle.core.codec` writes it, unless a step failed.
        mentions: how many it has.
        failure: why there is no document.
        decisions: candidates of its mentions, where they were asked for.
        seconds: the seconds that the steps took.
    """

    document: msgspec.Raw = msgspec.Raw(b"null")
    mentions: int = 0
    failure: Failure | None = None
    decisions: tuple[Decision, ...] | None = None
    seconds: float = 0.0


class PipelineReady(msgspec.Struct, frozen=True, kw_only=True, tag="ready"):
    """The worker has opened the pipeline; of other work there are no facts."""

    facts: PipelineFacts | None = None


class Answered(msgspec.Struct, frozen=True, kw_only=True, tag="answered"):
    """The answers to an order, one for each document."""

    answers: tuple[Answer, ...]


class Looked(msgspec.Struct, frozen=True, kw_only=True, tag="looked"):
    """A concept as plain values, or ``None`` if no pack has it."""

    concept: dict[str, Any] | None


class Searched(msgspec.Struct, frozen=True, kw_only=True, tag="searched"):
    """Concepts that were found, as plain values, the likeliest first."""

    concepts: tuple[dict[str, Any], ...]


class TriedRules(msgspec.Struct, frozen=True, kw_only=True, tag="tried"):
    """What a name is in a pack, and what rules would change, as plain values; ``None`` if the
    pipeline has no pack that finds names.
    """

    answer: dict[str, Any] | None


class FileRead(msgspec.Struct, frozen=True, kw_only=True, tag="file-read"):
    """A file that was read.

    Attributes:
        documents: as `fascicle.core.codec` writes them.
        format: in which it was read.
        notes: what is to be said of it.
        problems: what could not be read.
    """

    documents: tuple[msgspec.Raw, ...]
    format: str
    notes: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


class FileWritten(msgspec.Struct, frozen=True, kw_only=True, tag="file-written"):
    """A file that was written.

    Attributes:
        losses: what the format cannot hold, by code -> number.
    """

    losses: dict[str, int]


class Wrong(msgspec.Struct, frozen=True, kw_only=True, tag="wrong"):
    """An order that cannot be done.

    Attributes:
        error: class of the error.
        message: of the error.
        code: of an error of `fascicle.errors`; empty for a fault.
    """

    error: str
    message: str
    code: str = ""


Order = Annotate | Explain | Look | Search | TryRules | ReadFile | WriteFile
Result = Answered | Looked | Searched | TriedRules | FileRead | FileWritten | Wrong
Message = PipelineReady | Working | Result | WorkerFailed
ORDERS: Final = msgspec.json.Decoder(Order)
MESSAGES: Final[msgspec.json.Decoder[Message]] = msgspec.json.Decoder(Message)


# what a job does: annotate a file, read the texts of files, or try rules on texts
JobKind = Literal["annotate", "texts", "names"]


class JobOrder(msgspec.Struct, frozen=True, kw_only=True):
    """Order for a job.

    Attributes:
        kind: what it does.
        input: path of the file.
        reading: format of the file, or ``"auto"``.
        folder: of the job.
        output: path of the result.
        format: of the result.
        workers: processes.
        limits: of these.
        characters: greatest number of characters of texts.
    """

    kind: JobKind = "annotate"
    input: str
    reading: str
    folder: str
    output: str
    format: str
    workers: int
    limits: Limits
    characters: int = 1 << 30


class Reached(msgspec.Struct, frozen=True, kw_only=True, tag="reached"):
    """Progress message of a job: documents that are processed, and the total."""

    documents: int
    of: int
    quarantined: int


class JobEnded(msgspec.Struct, frozen=True, kw_only=True, tag="ended"):
    """Message that a job is done.

    Attributes:
        documents: number of documents that came in.
        quarantined: number of documents that are not in the result.
        reasons: ``step: error`` -> number of documents in quarantine.
        losses: what reading lost or repaired (harmless repairs apart), and what the format of the
            result cannot hold, by code -> number.
    """

    documents: int
    quarantined: int
    reasons: dict[str, int]
    losses: dict[str, int]


class Broken(msgspec.Struct, frozen=True, kw_only=True, tag="broken"):
    """Message that a job has failed."""

    message: str


_JobMessage = Reached | JobEnded | Broken
JOB_MESSAGES: Final[msgspec.json.Decoder[_JobMessage]] = msgspec.json.Decoder(_JobMessage)
