"""Graphs of files and of runs: what decides their bytes, and what is said about them."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

import msgspec

from fascicle.core.files.apart import Inputs
from fascicle.core.files.atomic import check_folder
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
_RECORD: Final = ".fascicle-run-graph.json"  # of a run: the plan of its graph


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


@contextmanager
def graph_of_run(
    run: Run, plan: GraphPlan | None, inputs: Inputs, *, again: bool, tell: Callable[[str], None]
) -> Iterator[None]:
    """Writes the graph of a run when the block that completes the run ends without an error.

    Args:
        run: with parts in the format jsonl.
        plan: ``None`` for no graph.
        inputs: of the run.
        again: whether the run, and so its own graph, may be there already.
        tell: called with notes.

    Raises:
        UsageError: parts in another format, or one folder would lie in the other.
        InputError: no mention of the run has a link.
        OutputError: the graph cannot be written.
    """
    if plan is None:
        yield
        return
    recorded = _recorded(run.folder)
    overwrite = again and recorded is not None and recorded.folder == plan.folder
    _check_graph(run, plan.folder, inputs, overwrite=overwrite)
    yield
    run.folder.write_json(_RECORD, plan)
    _write(run.folder, plan, "no graph", overwrite=overwrite, tell=tell)


def renew_graph(folder: RunFolder, tell: Callable[[str], None]) -> None:
    """Writes the graph of a complete run anew, if the run has one.

    Args:
        folder: of the run.
        tell: called with notes, such as that the graph is no longer where it was.

    Raises:
        InputError: no mention of the run has a link.
        OutputError: the graph cannot be written, or was changed.
    """
    plan = _recorded(folder)
    if plan is not None and os.path.isdir(plan.folder):  # noqa: PTH112
        _write(folder, plan, "no new graph", overwrite=True, tell=tell)
    elif plan is not None:
        tell(f"note: the graph of this run is no longer in {plan.folder}, so it is not renewed")


def _recorded(folder: RunFolder) -> GraphPlan | None:
    return msgspec.json.decode(folder.content(_RECORD) or b"null", type=GraphPlan | None)


def _write(
    folder: RunFolder, plan: GraphPlan, lack: str, *, overwrite: bool, tell: Callable[[str], None]
) -> None:
    """Writes the graph of a complete run; ``lack`` is what the run has after an error."""
    digest = _digest("".join(part.sha256 for part in parts_of_run(folder)).encode())
    try:
        totals = write_graph(
            documents_of_run(folder),
            **msgspec.structs.asdict(plan),
            overwrite=overwrite,
            made_by={_INPUTS: digest},
            tell=tell,
        )
    except (InputError, OutputError) as error:
        advice = f"; fascicle graph {folder.name} -o FOLDER makes it"
        is_place = isinstance(error, OutputError) and not is_url(folder.name)
        raise error.saying(
            f"the run in {folder.name} is complete, but has {lack}: {error}{advice * is_place}"
        ) from None
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
