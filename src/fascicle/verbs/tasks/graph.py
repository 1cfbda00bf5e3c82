"""Graphs of files and of runs: what decides their bytes, and what is said about them."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

import msgspec

from fascicle.core.files import owned
from fascicle.core.files.apart import Inputs
from fascicle.core.files.atomic import check_folder, complete_replacement
from fascicle.core.files.remote import is_url
from fascicle.core.files.source import STDIN
from fascicle.core.wording import plural
from fascicle.errors import InputError, OutputError, UsageError
from fascicle.formats.requests import ReadRequest
from fascicle.graph.counts import MOST_CONCEPTS
from fascicle.graph.kgx import KIND, PREFIX, GraphTotals, check_prefix, write_graph
from fascicle.pipeline.running.folder import RunFolder
from fascicle.pipeline.running.parts import documents_of_run, parts_of_run
from fascicle.pipeline.running.plan import states_of_inputs
from fascicle.pipeline.running.run import Run

_INPUTS: Final = "set of inputs"
_WHOLE: Final = "jsonl"  # the format that holds all of a document
_RECORD: Final = ".fascicle-run-graph.json"  # of a run: its graph


def graph_causes(
    paths: Sequence[str], reading: ReadRequest, *, source: str | None = None
) -> dict[str, str]:
    """Returns what decides the documents of a graph; empty for standard input, which cannot be read
    again.

    Args:
        paths: of files and corpora.
        reading: how they are read.
        source: of the mentions.
    """
    if STDIN in paths:
        return {}
    options = msgspec.json.encode([replace(reading, asked_by=""), source], order="deterministic")
    states = "".join(states_of_inputs(paths)).encode(errors="surrogateescape")
    return {_INPUTS: _digest(states), "set of options": _digest(options)}


class GraphPlan(msgspec.Struct, frozen=True, kw_only=True):
    """Graph of a run, as `fascicle.graph.kgx.write_graph` takes it.

    Attributes:
        folder: of the graph.
        prefix: of the ids of documents.
        json_lines: write JSON Lines in place of TSV.
    """

    folder: str
    prefix: str = PREFIX
    json_lines: bool = False


def plan_graph(
    folder: str | os.PathLike[str] | None, prefix: str, json_lines: bool
) -> GraphPlan | None:
    """Returns the plan of a graph; ``None`` if there is no folder for it.

    Raises:
        UsageError: a form without a folder, or a prefix that is not allowed.
    """
    check_prefix(prefix)
    if folder is not None:
        return GraphPlan(folder=os.path.realpath(folder), prefix=prefix, json_lines=json_lines)
    if json_lines or prefix != PREFIX:
        raise UsageError(
            "prefix=PREFIX and json_lines=True are for graphs, and no graph is asked for; give "
            "graph=FOLDER, or leave them out"
        )
    return None


class _GraphRecord(GraphPlan, frozen=True, kw_only=True):
    """Graph of a run as it was planned, and what was written.

    Attributes:
        parts: digest of the parts that the graph was made of; empty if it is still to be written.
        content: digest of the record of its folder; empty if none was written yet.
    """

    parts: str = ""
    content: str = ""


def graph_of_run(
    run: Run, plan: GraphPlan | None, inputs: Inputs, *, again: bool, tell: Callable[[str], None]
) -> Callable[[], None]:
    """Checks that the graph of a run can be written.

    Args:
        run: with parts in the format jsonl.
        plan: ``None`` for no other graph than the run has.
        inputs: of the run.
        again: whether the run, and so its own graph, may be there already.
        tell: called with notes.

    Returns:
        Function that writes the graph of the complete run, with the errors of `renew_graph`.

    Raises:
        UsageError: parts in another format, or one folder would lie in the other.
        OutputError: the graph cannot be written.
    """
    if plan is None:
        return partial(renew_graph, run.folder, tell)
    before = _recorded(run.folder) if again else None
    content = before.content if before is not None and before.folder == plan.folder else ""
    record = _GraphRecord(**msgspec.structs.asdict(plan), content=content)
    _check_graph(run, plan.folder, inputs, overwrite=_is_own(record))
    return partial(_write_first, run.folder, record, tell)


def renew_graph(folder: RunFolder, tell: Callable[[str], None]) -> None:
    """Writes the graph of a complete run anew, if the run has one that was made of other parts.

    Args:
        folder: of the run.
        tell: called with notes, such as that the graph is no longer where it was.

    Raises:
        InputError: no mention of the run has a link.
        OutputError: the graph cannot be written, or was changed or replaced, or its record is
            damaged.
    """
    record = _recorded(folder)
    if record is None or record.parts == _digest_of_parts(folder):
        return
    if record.content and not complete_replacement(record.folder):
        tell(f"note: the graph of this run is no longer in {record.folder}, so it is not renewed")
    else:
        _write(folder, record, tell)


def _recorded(folder: RunFolder) -> _GraphRecord | None:
    """Returns the record of the graph of a run; earlier releases recorded a path alone."""
    try:
        record = msgspec.json.decode(
            folder.content(_RECORD) or b"null", type=_GraphRecord | str | None
        )
    except (msgspec.MsgspecError, ValueError) as error:
        raise OutputError(
            f"{folder.place.at(_RECORD)} is damaged ({error}); remove it, and make the graph with "
            "fascicle graph",
            code="damaged",
        ) from None
    return _GraphRecord(folder=record) if isinstance(record, str) else record


def _is_own(record: _GraphRecord) -> bool:
    """True if the folder of the graph holds what the run wrote there."""
    return bool(record.content) and record.content == _digest_of_graph(record.folder)


def _digest_of_graph(folder: str) -> str:
    """Returns the digest of the record of a graph's files; empty if there is none."""
    try:
        return _digest((Path(folder) / owned.RECORD).read_bytes())
    except OSError:
        return ""


def _digest_of_parts(folder: RunFolder) -> str:
    return _digest("".join(part.sha256 for part in parts_of_run(folder)).encode())


def _write_first(folder: RunFolder, record: _GraphRecord, tell: Callable[[str], None]) -> None:
    """Records the plan of a graph, for a retry if this call is killed, and writes the graph."""
    folder.write_json(_RECORD, record)
    _write(folder, record, tell)


def _write(folder: RunFolder, record: _GraphRecord, tell: Callable[[str], None]) -> None:
    """Writes the graph of a complete run, and records what was written."""
    parts, is_own, place = _digest_of_parts(folder), _is_own(record), Path(record.folder)
    try:
        if not is_own and place.is_dir() and any(place.iterdir()):
            raise OutputError(f"there is no record that it wrote what is in {place}")
        totals = write_graph(
            documents_of_run(folder),
            place,
            prefix=record.prefix,
            json_lines=record.json_lines,
            overwrite=is_own,
            made_by={_INPUTS: parts},
            tell=tell,
        )
    except (InputError, OutputError) as error:
        lack = "no new graph" if record.content else "no graph"
        advice = f"; fascicle graph {folder.name} -o FOLDER makes it"
        is_place = isinstance(error, OutputError) and not is_url(folder.name)
        raise error.saying(
            f"the run in {folder.name} is complete, but has {lack}: {error}{advice * is_place}"
        ) from None
    content = _digest_of_graph(record.folder)
    folder.write_json(_RECORD, msgspec.structs.replace(record, parts=parts, content=content))
    for note in graph_notes(totals):
        tell(note)


def _check_graph(run: Run, graph: str, inputs: Inputs, *, overwrite: bool) -> None:
    if run.format != _WHOLE:
        raise UsageError(
            f"a graph is made of parts in the format {_WHOLE}, which holds all links, and not "
            f"{run.format}; write parts in {_WHOLE}, or no graph"
        )
    folder = run.folder.name
    places = Path(graph), Path(os.path.realpath(folder))
    if not is_url(folder) and (
        places[0].is_relative_to(places[1]) or places[1].is_relative_to(places[0])
    ):
        raise UsageError(
            f"the graph {graph} and the run {folder} are to be one folder, or one in the other; "
            "give two folders side by side"
        )
    inputs.refuse(graph)
    check_folder(Path(graph), kind=KIND, overwrite=overwrite)


def graph_notes(totals: GraphTotals) -> Iterator[str]:
    """Yields what is to be said about a graph: what was left out, and its size."""
    if totals.unnamed:
        yield unnamed_note(totals.unnamed)
    if totals.ambiguous:
        yield ambiguous_note(totals.ambiguous)
    if totals.unrelated:
        relations = plural(totals.unrelated, "relation")
        yield f"left out: {relations} whose ends are not two concepts"
    if totals.undated:
        yield (
            f"no date of {plural(totals.undated, 'document')}: it is not in a form such as "
            "2001-03-04"
        )
    if totals.crowded:
        sentences = plural(totals.crowded, "sentence")
        yield f"no pairs of {sentences} with more than {MOST_CONCEPTS} concepts"
    yield (
        f"{plural(totals.concepts, 'concept')}, {plural(totals.mentioned, 'edge')} from documents, "
        f"{plural(totals.pairs, 'pair')} in {plural(totals.sentences, 'sentence')}"
        + f", {plural(totals.related, 'edge')} of relations"
        * bool(totals.related)
    )


def ambiguous_note(mentions: int) -> str:
    """Returns a sentence on mentions with ambiguous links, which are left out."""
    return f"left out: {plural(mentions, 'mention')} with ambiguous links"


def unnamed_note(links: int) -> str:
    """Returns a note about links that were left out."""
    return f"left out: {plural(links, 'link')} without a CURIE"


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
