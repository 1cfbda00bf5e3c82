"""Runs a pipeline over any number of documents, and handles its quarantine (``fascicle run``,
``quarantine``).
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain, groupby

from fascicle.core.arguments import AnyPath, Paths, to_path_list
from fascicle.core.files.apart import Inputs
from fascicle.core.files.remote import is_url
from fascicle.core.files.remote import list_url as listed_url
from fascicle.errors import UsageError
from fascicle.formats.requests import ReadRequest, resolve_inputs
from fascicle.formats.sources import distinct_files
from fascicle.formats.tables import TableOptions
from fascicle.graph.kgx import PREFIX
from fascicle.loading import DEFAULT_MODEL
from fascicle.pipeline.loading import PipelineOpener
from fascicle.pipeline.running.folder import RunFolder
from fascicle.pipeline.running.records import Quarantined, Shard
from fascicle.pipeline.running.report import (
    Totals,
    current_quarantine,
    find_quarantined,
    plan_retry,
)
from fascicle.pipeline.running.run import (
    Run,
    RunProgress,
    StartPool,
    checked_markers,
    finalize,
    open_worker,
)
from fascicle.pipeline.running.supervisor import Supervisor
from fascicle.settings.choices import LINKED_MODEL, Choices
from fascicle.verbs.tasks.graph import graph_of_run, plan_graph, renew_graph
from fascicle.version import VERSION

_Progress = Callable[[RunProgress], None]
_Done = Callable[[Totals], object]
_Tell = Callable[[str], None]


def _silent(_: object) -> None:
    """Tells nobody."""


def run(  # noqa: PLR0913
    files: Paths,
    folder: AnyPath,
    *,
    pipeline: AnyPath = DEFAULT_MODEL,
    choices: Choices | None = None,
    device: str | None = None,
    reading: ReadRequest | None = None,
    format: str = "jsonl",  # noqa: A002
    columns: TableOptions | None = None,
    workers: int | None = None,
    ray: str | None = None,
    resume: bool = False,
    update: bool = False,
    graph: AnyPath | None = None,
    prefix: str = PREFIX,
    json_lines: bool = False,
    progress: _Progress = _silent,
    done: _Done = _silent,
    tell: _Tell = _silent,
) -> Totals:
    """Runs a pipeline over files; finished work is kept, however the run ends.

    Args:
        files: inputs, as ``fascicle annotate`` takes them, but no standard input; and URLs, see
            `fascicle.core.files.remote.list_url`.
        folder: of the run; a path or a URL.
        pipeline: a ``pipeline.toml``, a folder with one, or a model, as `fascicle.load` takes it.
        choices: about the mentions of a model, which are linked by default.
        device: where the network of a model computes, as `fascicle.load` takes it.
        reading: format and options of the files.
        format: of the parts.
        columns: of the parts, if they are tables.
        workers: processes at a time; by default as many as
            `fascicle.pipeline.running.run.default_workers` says, and 1 on a cluster.
        ray: address of a Ray cluster whose machines the workers are on, see
            `fascicle.pipeline.scale.pool_on`; ``""`` for the one that Ray finds, ``None`` for none.
        resume: continue an interrupted run.
        update: the inputs follow each other in time, see `fascicle.pipeline.running.run.Run.do`.
        graph: folder of a graph of the finished run, as `fascicle.graph.kgx.write_graph` makes it;
            by default, the graph that the run has already is renewed.
        prefix: of the ids of documents in the graph.
        json_lines: write the graph as JSON Lines.
        progress: called with the progress of the run, about ten times a second.
        done: called with the account, before the graph is written.
        tell: called with notes about the graph.

    Returns:
        The account: every input document is done or in quarantine.

    Raises:
        FascicleError: see `fascicle.pipeline.running.run.Run.do`; or the run is complete, and has
            no graph.
    """
    plan = plan_graph(graph, prefix, json_lines)
    opener = _opener(pipeline, choices, device)
    paths, place, inputs = _checked_inputs(files, folder, opener, reading)
    opened = Run.of(
        paths,
        opener,
        place,
        reading=reading,
        format=format,
        columns=columns,
        workers=_workers(workers, ray),
        pool=_pool_on(ray),
    )
    write = graph_of_run(opened, plan, inputs, again=resume or update, tell=tell)
    return _end(opened.do(resume=resume, update=update, progress=progress), done, write)


def _end(totals: Totals, done: _Done, write: Callable[[], None]) -> Totals:
    """Gives the account, and writes the graph, even if nobody reads the account."""
    try:
        done(totals)
    except Exception:
        write()
        raise
    write()
    return totals


def _opener(pipeline: AnyPath, choices: Choices | None, device: str | None) -> PipelineOpener:
    return PipelineOpener(given=os.fspath(pipeline), choices=choices or LINKED_MODEL, device=device)


def _checked_inputs(
    files: Paths, folder: AnyPath, opener: PipelineOpener, reading: ReadRequest | None
) -> tuple[list[str], str, Inputs]:
    """Returns the files, the folder, and all that is read on this machine; none of it may be the
    folder.
    """
    paths, place = _paths(to_path_list(files), reading or ReadRequest()), os.fspath(folder)
    inputs = (*paths, opener.given, *opener.choices.paths)
    local = Inputs.of(path for path in inputs if not is_url(path))
    if not is_url(place):
        local.refuse(place, filled=True)
    return paths, place, local


def _workers(count: int | None, ray: str | None) -> int | None:
    return count if ray is None else count or 1


def _pool_on(address: str | None) -> StartPool:
    if address is None:
        return Supervisor
    from fascicle.pipeline.scale import pool_on

    return pool_on(address)


def _paths(files: Sequence[str], reading: ReadRequest) -> list[str]:
    """Returns the files to read, each once; a folder or pattern in an object store is expanded
    to its files.
    """
    if not files:
        raise UsageError("no file was given; name files, folders or URLs")
    names = (
        chain.from_iterable(map(listed_url, group))
        if remote
        else (entry.name for entry in resolve_inputs(tuple(group), (), reading).inputs)
        for remote, group in groupby(files, key=is_url)
    )
    return distinct_files(chain.from_iterable(names))


def list_quarantined(folder: str) -> list[Quarantined]:
    """Returns the records of the quarantine of a run, in the order of the input.

    Raises:
        OutputError: the folder holds no run.
    """
    place = RunFolder(folder)
    records = current_quarantine(place, place.manifest()).values()
    return sorted(records, key=lambda record: (record.shard, record.place, record.id))


def read_quarantined(folder: str, identifier: str) -> Quarantined:
    """Returns one record.

    Raises:
        OutputError: the folder holds no run.
        InputError: the document is not in quarantine.
    """
    place = RunFolder(folder)
    return find_quarantined(place, place.manifest(), identifier)


def retry(
    folder: str,
    *,
    only: Sequence[str] = (),
    pipeline: str | None = None,
    done: _Done = _silent,
    tell: _Tell = _silent,
) -> Totals:
    """Tries documents in quarantine again, under the same limits; the successful ones are written
    to a separate part, and the graph of the run is written anew.

    Args:
        folder: of a run that is complete.
        only: ids; by default all that can be tried.
        pipeline: replaces that of the run, e.g. because a step was corrected.
        done: called with the account, before the graph is written.
        tell: called with notes about the graph.

    Returns:
        The account of the whole run.

    Raises:
        OutputError: the folder holds no run, or one that is not complete.
        UsageError: an id that is not in quarantine.
        FascicleError: the pipeline cannot be opened, or the graph of the run cannot be written.
    """
    run_folder = RunFolder(folder)
    manifest = run_folder.manifest()
    of_run = PipelineOpener(given=manifest.pipeline, choices=manifest.choices)
    opener = (PipelineOpener(given=pipeline) if pipeline else of_run).from_anywhere()
    with opener() as opened:
        made_by = {"release": VERSION, **opened.made_by()}
    with run_folder.place.held() as mark:
        manifest = run_folder.manifest()  # an update may have changed it meanwhile
        deque(checked_markers(run_folder, manifest, run_folder.done(manifest.shards)), maxlen=0)
        again = plan_retry(run_folder, manifest, only=only, made_by=made_by, pipeline=opener.given)
        if again is not None:
            _try_again(folder, opener, again.shards, mark)
        totals = finalize(run_folder, manifest)
    return _end(totals, done, partial(renew_graph, run_folder, tell))


def _try_again(folder: str, opener: PipelineOpener, shards: Sequence[Shard], mark: str) -> None:
    (shard,) = shards
    opening = partial(open_worker, opener, folder, f"{shard.name}.json", mark)
    with Supervisor(opening, limits=opener.limits, workers=1) as supervisor:
        deque(supervisor.run([shard]), maxlen=0)
