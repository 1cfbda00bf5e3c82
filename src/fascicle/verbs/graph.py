"""Command ``fascicle graph``: makes a knowledge graph of documents with links."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from fascicle.core.document import Document
from fascicle.formats.sources import distinct_files, notes_on
from fascicle.graph.kgx import write_graph
from fascicle.pipeline.running.parts import expand_runs
from fascicle.verbs import shared
from fascicle.verbs.console import Tally, with_progress
from fascicle.verbs.messages import emit, say, say_notes
from fascicle.verbs.options import Overwrite, Strict, call, option, reads, writes
from fascicle.verbs.tasks.graph import graph_causes, graph_notes, unnamed_note


class Options(shared.GraphForm, Overwrite, Strict, shared.ReadingOptions):
    """Options of ``fascicle graph``.

    In Python: ``fascicle.graph.kgx.write_graph(fascicle.read("annotated.jsonl"), "graph")``

    Attributes:
        files: folders of runs, or documents with links; - for standard input.
        output: the folder of the graph, with nodes.tsv and edges.tsv.
        source: only the mentions of this source.
        json: print the counts as JSON.
    """

    files: list[str] = option("RUN +", reads)
    output: str = option("-o --output FOLDER", writes, required=True)
    source: str | None = option("--source NAME")
    json: bool = option("--json")


def run(args: Options) -> int:
    """Writes the graph; returns the exit code."""
    tally = Tally()
    account = tally.account
    paths, reading = expand_runs(args.files), shared.read_request(args)
    totals = call(
        write_graph,
        args,
        documents=documents_of(args, tally),
        folder=args.output,
        made_by=graph_causes(paths, reading, source=args.source),
        tell=say,
    )
    account.written, account.mentions = totals.documents, totals.mentions
    emit(msgspec.to_builtins(totals), "", as_json=args.json)
    for note in graph_notes(totals):
        say(note)
    return tally.end(args.output, strict=args.strict, verbose=args.verbose)


def documents_of(args: Any, tally: Tally) -> Iterator[Document]:
    """Yields the documents of the runs and files of a command, and counts them.

    Args:
        args: with ``files``, ``source`` and the options of reading.
        tally: counts.
    """
    request, files = shared.read_request(args), expand_runs(args.files)
    say_notes(notes_on((), others=files))
    reading = shared.counted_documents(distinct_files(files), request, tally.account)
    return shared.select_source(with_progress(reading), args.source)


def say_unnamed(links: int) -> None:
    """Says how many links were left out, if there are some."""
    if links:
        say(unnamed_note(links))
