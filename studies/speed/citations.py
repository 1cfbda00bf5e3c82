"""Where the time of ``fascicle run`` goes, from citations in MEDLINE XML to linked mentions, on one
core.

usage: python -m studies.speed.citations [--citations 3000] [--models biomed@2 ...] [--rounds 3]
       [--beside TEXT] python -m studies.speed.citations --changed 3 [--citations 3000] [--models
       biomed@2 ...] [--beside TEXT]

``FASCICLE_DATA`` names the corpora. CPU time of one thread: what else the machine does disturbs it
less than the clock on the wall. The first 604 citations are those of an update file of MEDLINE;
each further one has the fields of one of them around the text of another abstract, so that no text
comes twice. Written: ``results/citations.json``. With ``--changed`` the same run is updated with so
many changed citations: ``results/citations-update.json``.
"""

from __future__ import annotations

import argparse
import gc
import gzip
import io
import itertools
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

os.environ["RAYON_NUM_THREADS"] = "1"  # before the tokenizer is loaded
os.environ["TOKENIZERS_PARALLELISM"] = "false"

import fascicle.core.files.source as source
import fascicle.formats.medline as medline
import fascicle.pipeline.loading as opening
import fascicle.pipeline.pipeline as cutting
import fascicle.pipeline.runner as applying
import fascicle.pipeline.running.run as running
import fascicle.runtime.predictor as predicting
import fascicle.runtime.ruled as ruling
from fascicle.pipeline.loading import PipelineOpener
from fascicle.pipeline.running.records import Shard, ShardMarker
from fascicle.pipeline.running.run import Run
from fascicle.pipeline.running.shard_worker import ShardWorker
from fascicle.pipeline.workers import freeze_loaded
from studies.common import MODELS, write_result
from studies.speed.clock import Clock, SameProcess, TimedScorer

MEDLINE = "raw-xml/medline16n0902.xml.gz"
ABSTRACTS = "text-abstracts/abstracts.jsonl.gz"
PIPELINE = """
[[steps]]
kind = "recogniser"
name = "model"
model = "{model}"
[[steps]]
kind = "abbreviations"
[[steps]]
kind = "link"
[shards]
documents = {shard}
"""
NETWORK = "network"
OTHERS = "the rest"


def main() -> None:
    """Measures and writes ``results/citations.json``."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--citations", type=int, default=3_000)
    parser.add_argument("--models", nargs="+", default=list(MODELS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--beside", default="nothing else")
    parser.add_argument("--changed", type=int, default=0)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "citations.xml.gz"
        texts = write_citations(path, args.citations)
        if args.changed:
            updates = {model: updated(path, model, args.changed) for model in args.models}
            write_result(
                "citations-update",
                {"citations": args.citations, "beside": args.beside, "models": updates},
            )
            print(json.dumps(updates, indent=1))
            return
        rounds: dict[str, list[dict[str, Any]]] = {model: [] for model in args.models}
        for _, model in itertools.product(range(args.rounds), args.models):
            rounds[model].append(measured(path, model))
    report = {
        "citations": args.citations,
        "characters": texts,
        "beside": args.beside,
        "models": {model: summary(found, args.citations) for model, found in rounds.items()},
    }
    write_result("citations", report)
    for model, found in report["models"].items():
        print(model, json.dumps(found, indent=1))


def write_citations(path: Path, count: int) -> int:
    """Writes so many citations as MEDLINE XML, packed; returns the characters of their texts."""
    data = Path(os.environ["FASCICLE_DATA"])
    with gzip.open(data / MEDLINE) as stream:
        real = list(ElementTree.parse(stream).getroot().iter("MedlineCitation"))
    others = _abstracts(data / ABSTRACTS)
    characters = 0
    with gzip.open(path, "wb", compresslevel=6) as out:
        out.write(b'<?xml version="1.0" encoding="UTF-8"?>\n<MedlineCitationSet>\n')
        for number in range(count):
            citation = real[number % len(real)]
            if number >= len(real):
                _set_text(citation, 90_000_000 + number, *next(others))
            characters += sum(len("".join(one.itertext())) for one in _parts(citation))
            out.write(ElementTree.tostring(citation, encoding="utf-8") + b"\n")
        out.write(b"</MedlineCitationSet>\n")
    return characters


def _abstracts(path: Path) -> Iterator[tuple[str, str]]:
    """Titles and abstracts, each once; ends with an error if there are too few."""
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        for line in stream:
            record = json.loads(line)
            yield record.get("title") or "", record.get("abstract") or ""
    raise SystemExit("there are not so many abstracts; ask for fewer citations")


def _parts(citation: ElementTree.Element) -> list[ElementTree.Element]:
    return [*citation.iter("ArticleTitle"), *citation.iter("AbstractText")]


def _set_text(citation: ElementTree.Element, pmid: int, title: str, abstract: str) -> None:
    """Gives the fields of a citation another id and another text, in as many parts as it had."""
    number = citation.find("PMID")
    assert number is not None
    number.text = str(pmid)
    heads, parts = list(citation.iter("ArticleTitle")), list(citation.iter("AbstractText"))
    sentences = abstract.split(". ")
    share = -(-len(sentences) // max(1, len(parts)))
    for one in (*heads, *parts):
        for child in list(one):
            one.remove(child)
    for one in heads:
        one.text = title
    for at, one in enumerate(parts):
        one.text = ". ".join(sentences[at * share : (at + 1) * share])


class _Frozen(SameProcess):
    """A pool of this process, which keeps what is loaded from the search for unused objects."""

    def run(
        self, shards: Sequence[Shard], *, tick: Callable[[int, int], None]
    ) -> Iterator[ShardMarker]:
        """Does the shards one after the other."""
        worker = self._open()
        before = gc.get_threshold()
        freeze_loaded()  # as a worker process does
        for shard in shards:
            yield worker.process(shard)
        gc.unfreeze()
        gc.set_threshold(*before)


def measured(path: Path, model: str) -> dict[str, Any]:
    """CPU seconds of each stage of one run, without loading."""
    clock = Clock()
    with tempfile.TemporaryDirectory() as folder:
        pipeline = Path(folder) / "pipeline.toml"
        pipeline.write_text(PIPELINE.format(model=model, shard=2_000), encoding="utf-8")
        with watched(clock), clock.stage(OTHERS):
            opener = PipelineOpener(given=str(pipeline))
            totals = Run.of([str(path)], opener, str(Path(folder) / "out"), pool=_Frozen).do()
        parts = sorted((Path(folder) / "out").glob("part-*"))
        size = sum(part.stat().st_size for part in parts)
    return {
        "spent": dict(clock.spent),
        "documents": totals.done,
        "pieces": clock.pieces,
        "padding": clock.padded / clock.pieces - 1,
        "windows": clock.windows,
        "bytes": size,
    }


def updated(path: Path, model: str, changed: int) -> dict[str, Any]:
    """CPU seconds of a run and of its update with a file of changed citations, spread over all,
    without loading.
    """
    spent: list[dict[str, float]] = []
    with tempfile.TemporaryDirectory() as folder:
        pipeline, later = Path(folder) / "pipeline.toml", Path(folder) / "later.xml.gz"
        pipeline.write_text(PIPELINE.format(model=model, shard=2_000), encoding="utf-8")
        count = _write_changed(path, later, changed)
        for inputs in ([path], [path, later]):
            clock = Clock()
            with watched(clock), clock.stage(OTHERS):
                run = Run.of(
                    [*map(str, inputs)],
                    PipelineOpener(given=str(pipeline)),
                    f"{folder}/out",
                    pool=_Frozen,
                )
                done = run.do(update=True).done
            if done != count:
                raise SystemExit(f"{done} documents are done, of {count}")
            spent.append(_counted(clock.spent))
    run_seconds, update_seconds = (sum(one.values()) for one in spent)
    return {
        "changed": changed,
        "run_ms": round(1000 * run_seconds / count, 3),
        "update_ms": round(1000 * update_seconds / count, 3),
        "share": round(update_seconds / run_seconds, 4),
        "stages_ms": {name: round(1000 * value / count, 4) for name, value in spent[1].items()},
    }


def _write_changed(path: Path, later: Path, changed: int) -> int:
    """Writes some of the citations of a file with another title; returns how many the file has."""
    with gzip.open(path) as stream:
        every = list(ElementTree.parse(stream).getroot().iter("MedlineCitation"))
    with gzip.open(later, "wb") as out:
        out.write(b"<MedlineCitationSet>\n")
        for citation in every[:: max(1, len(every) // changed)][:changed]:
            (title,) = citation.iter("ArticleTitle")
            title.text = f"{title.text or ''} It was changed."
            out.write(ElementTree.tostring(citation, encoding="utf-8") + b"\n")
        out.write(b"</MedlineCitationSet>\n")
    return len(every)


def summary(rounds: Sequence[Mapping[str, Any]], citations: int) -> dict[str, Any]:
    """Milliseconds a citation of each stage: those of the round with the median total, and its
    share.
    """
    totals = [sum(_counted(one["spent"]).values()) for one in rounds]
    chosen = rounds[sorted(range(len(rounds)), key=totals.__getitem__)[len(rounds) // 2]]
    spent = _counted(chosen["spent"])
    total = sum(spent.values())
    return {
        "totals_ms": [round(1000 * one / citations, 3) for one in totals],
        "stages_ms": {name: round(1000 * value / citations, 4) for name, value in spent.items()},
        "shares": {name: round(value / total, 4) for name, value in spent.items()},
        "everything_but_the_network": round(1 - spent[NETWORK] / total, 4),
        "citations_per_second_and_core": round(citations / total, 2),
        "limit_without": {
            name: round(citations / (total - value), 2) for name, value in spent.items()
        },
        **{name: chosen[name] for name in ("documents", "pieces", "windows", "padding", "bytes")},
        "load_seconds": round(chosen["spent"].get("load", 0.0), 3),
    }


def _counted(spent: Mapping[str, float]) -> dict[str, float]:
    """The stages that cost something for each citation, the largest first; loading is done once."""
    kept = {name: value for name, value in spent.items() if name != "load"}
    return dict(sorted(kept.items(), key=lambda one: -one[1]))


@contextmanager
def watched(clock: Clock) -> Iterator[None]:
    """Everything of a run with a clock around its stages."""
    with _changed(_stages(clock)):
        yield


def _stages(clock: Clock) -> list[tuple[Any, str, Callable[..., Any]]]:
    """Each function that is a stage, and the same with a clock around it."""
    import fascicle.core.files.elements as parsing
    import fascicle.formats.outputs as writing
    import fascicle.linking.linker as linking
    import fascicle.pipeline.running.plan as planning
    import fascicle.pipeline.running.shard_worker as reading_shards
    import fascicle.pipeline.running.shard_worker as working
    import fascicle.runtime.decoding.decoders as decoders
    import fascicle.terms.abbreviations.finder as abbreviations
    import fascicle.text.pieces as pieces
    import fascicle.text.reading as reading

    named: list[tuple[Any, str, str]] = [
        (opening, "open_pipeline", "load"),
        (medline, "_document", "text and fields"),
        (reading_shards, "documents_sha256", "check of inputs"),
        (planning._Building, "add", "plan"),
        (pieces.PieceTokenizer, "encode", "tokenise"),
        (reading, "encode_documents", "units and windows"),
        (reading, "make_windows", "units and windows"),
        (reading, "compute_unit_inputs", "units and windows"),
        (predicting, "collate", "units and windows"),
        (predicting.ModelPredictor, "_make_patches", "decision"),
        (predicting, "add_whole_text_names", "decision"),
        (predicting, "answer_cells", "decision"),
        (ruling, "all_decided", "decision"),
        (ruling, "apply_rules", "abbreviations"),
        (abbreviations.AbbreviationFinder, "run", "abbreviations"),
        (linking.Linker, "predict", "link"),
        (applying, "apply", "apply"),
        (writing, "write_each", "write"),
        (working._Counts, "see", "account"),
        (ShardWorker, "_marker", "account"),
        (working.SavedResults, "add", "save"),
        (running, "finalize", "finish"),
    ]
    found = [
        (owner, name, clock.around(stage, getattr(owner, name))) for owner, name, stage in named
    ]
    found.append((source, "open_bytes", _opened(clock, source.open_bytes)))
    found.append((medline, "elements", _each(clock, "parse", parsing.elements)))
    found.append((cutting._Cut, "run", _each(clock, "cut", cutting._Cut.run)))
    found.append((cutting.Pipeline, "results", _each(clock, OTHERS, cutting.Pipeline.results)))
    score = predicting.ModelPredictor._score
    found.append((predicting.ModelPredictor, "_score", _scoring(clock, score)))
    found += [
        (kind, name, clock.around("decode", getattr(kind, name)))
        for kind in _decoders(decoders)
        for name in ("take", "decide")
    ]
    return found


def _decoders(module: Any) -> list[type]:
    """The classes of decoders that say themselves how they take and decide."""
    from fascicle.runtime.decoding import tagger

    named = (vars(one).values() for one in (module, tagger))
    classes = {one for values in named for one in values if isinstance(one, type)}
    return [
        one
        for one in classes
        if {"take", "decide"} <= vars(one).keys() and not getattr(one, "_is_protocol", False)
    ]


def _scoring(clock: Clock, score: Callable[..., Any]) -> Callable[..., Any]:
    def timed(self: Any, *args: Any) -> Any:
        before = self._scorer
        self._scorer = TimedScorer(before, clock)
        try:
            return score(self, *args)
        finally:
            self._scorer = before

    return timed


def _each(
    clock: Clock, stage: str, work: Callable[..., Iterator[Any]]
) -> Callable[..., Iterator[Any]]:
    """A generator that counts what it does between two answers for a stage."""

    def timed(*args: Any, **options: Any) -> Iterator[Any]:
        inner = work(*args, **options)
        while True:
            with clock.stage(stage):
                value = next(inner, clock)
            if value is clock:
                return
            yield value

    return timed


def _opened(clock: Clock, work: Callable[..., Any]) -> Callable[..., Any]:
    @contextmanager
    def timed(*args: Any, **options: Any) -> Iterator[Any]:
        with work(*args, **options) as stream:
            yield _Read(stream, clock)

    return timed


class _Read(io.RawIOBase):
    """A stream that counts its reading."""

    def __init__(self, stream: Any, clock: Clock) -> None:
        self._stream, self.read = stream, clock.around("decompress", stream.read)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def _changed(stages: Sequence[tuple[Any, str, Callable[..., Any]]]) -> Iterator[None]:
    before = [(owner, name, vars(owner)[name]) for owner, name, _ in stages]
    for owner, name, work in stages:
        setattr(owner, name, work)
    try:
        yield
    finally:
        for owner, name, work in reversed(before):
            setattr(owner, name, work)


if __name__ == "__main__":
    main()
