"""Command ``fascicle label``: writes weak labels of raw text, by any predictor, in one file
without the text.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from fascicle.core.arrays import int_array
from fascicle.core.progress import progress
from fascicle.core.tags import SCHEMES
from fascicle.core.wording import plural
from fascicle.errors import UsageError
from fascicle.formats.requests import ReadRequest
from fascicle.formats.weak_labels import ERROR, HARD, STEPS, End, Header, read_entries
from fascicle.verbs.console import Tally
from fascicle.verbs.messages import emit, say
from fascicle.verbs.options import Overwrite, Threads, call, number, option, reads, writes
from fascicle.verbs.shared import (
    ModelChoices,
    ReadingAs,
    choices_of,
    input_format,
    read_request,
)
from fascicle.verbs.tasks.annotate import ProgressCallbacks
from fascicle.verbs.tasks.label import LabelRequest, label_files

_PROBABILITY = number("between 0 and 1, such as 0.01", lambda value: 0 < value < 1)
_APART = "documents from which nothing may be learned"


class Options(ModelChoices, Threads, Overwrite, ReadingAs):
    """Options of ``fascicle label``.

    In Python: ``fascicle.verbs.tasks.label.label("texts/", "weak.labels", model="biomed")``

    Attributes:
        model: a model, an ensemble, a dictionary, a term pack or a pipeline.
        files: texts, folders of *.txt, corpora, zips.
        given: texts with mentions of another tool, which become the labels, in place of MODEL and
            FILE; a score of a mention, or its attribute score, confidence or probability, becomes
            the probability.
        output: the file to write, compressed with gzip.
        floor: lowest probability that is kept; default: 0.01.
        exclude: leave out the documents in this list, which fascicle corpus check --exclude-list
            writes.
        against: leave out copies of these documents: same id or text, near duplicates, or shared
            sentences and titles.
        against_format: format of CORPUS; default: auto.
        note: a note on the licence of texts and model; it is stored in the file.
        device: device for a model of torch: cpu (default), cuda, or auto.
        resume: resume the same command after an interruption; if there is nothing to resume, start
            from the beginning.
        show: only show the content of a label file.
        json: with --show: print the content of the file as JSON.
    """

    model: str | None = option("MODEL ?", reads)
    files: list[str] = option("FILE *", reads)
    given: list[str] = option("--from FILE +", reads)
    output: str | None = option("-o --output LABELS", writes)
    floor: float = option("--floor P", _PROBABILITY, default=LabelRequest.floor)
    exclude: str | None = option("--exclude TSV", reads, group=_APART)
    against: list[str] = option("--against CORPUS +", reads, group=_APART)
    against_format: str = input_format("--against-format", group=_APART)
    note: str = option("--note NOTE", default="")
    device: str | None = option("--device DEVICE")
    resume: bool = option("--resume")
    show: str | None = option("--show LABELS", reads)
    json: bool = option("--json")


def run(args: Options) -> int:
    """Labels texts, or shows a label file; returns the exit code."""
    if args.show is not None:
        if args.model is not None or args.output:
            raise UsageError(
                "--show names a label file, and nothing is labelled; leave out model, texts and "
                "output"
            )
        return _show(args.show, as_json=args.json)
    if args.json:
        raise UsageError("--json is about --show; leave it out")
    if args.given and args.model is not None:
        raise UsageError(
            "--from names texts that have their labels, and nothing is predicted; leave out "
            "MODEL and FILE"
        )
    if not args.given and (args.model is None or not args.files):
        raise UsageError(
            "nothing to label was given; name a model, texts and an output: MODEL FILE ... -o "
            "LABELS"
        )
    if not args.output:
        raise UsageError("no place to write was given; name a file with -o")
    tally, bar = Tally(), progress()
    try:
        label_files(
            _request_of(args),
            account=tally.account,
            listener=ProgressCallbacks(tell=say, seen=bar.see),
        )
    finally:
        bar.end()
    return tally.end(args.output)


def _request_of(args: Options) -> LabelRequest:
    against = ReadRequest(format=args.against_format, asked_by="--against-format")
    files = tuple(args.given or args.files)
    return call(
        LabelRequest,
        args,
        choices=choices_of(args, link=()),
        files=files,
        reading=read_request(args),
        reading_against=against,
    )


def _show(path: str, *, as_json: bool) -> int:
    facts = read_label_facts(path)
    return emit(facts.as_dict(), facts.lines(), as_json=as_json, ensure_ascii=True)


@dataclass(frozen=True, kw_only=True)
class LabelFacts:
    """Facts about a label file.

    Attributes:
        path: of the file.
        header: its first line.
        end: its last line.
        tagged: for each type, the words with a tag of the answer.
        expected: for each type, the sum of its probabilities: the expected number of words in its
            mentions.
    """

    path: str
    header: Header
    end: End
    tagged: dict[str, int]
    expected: dict[str, float]

    def as_dict(self) -> dict[str, Any]:
        """Returns the facts for JSON."""
        end = {name: getattr(self.end, name) for name in End.__struct_fields__}
        by_type = {
            name: {
                "mentions": self.end.mentions.get(name, 0),
                "tagged": self.tagged[name],
                "expected": round(self.expected[name], 1),
            }
            for name in self.header.types
        }
        return {**msgspec.structs.asdict(self.header), **end, "error": ERROR, "types": by_type}

    def lines(self) -> Iterator[str]:
        """Yields the facts as text, one screen."""
        head, end = self.header, self.end
        yield f"{self.path}: {plural(end.documents, 'document')}, {plural(end.words, 'word')}"
        yield f"by {head.model} ({head.sha256[:12]}), Fascicle {head.release}"
        yield f"words of {head.segmenter}, tags {head.scheme}"
        yield f"probabilities: {head.meaning}, from {head.floor:g}, within {ERROR:.4f}"
        if head.note:
            yield f"note: {head.note}"
        yield from (f"{name}: {value}" for name, value in head.options.items())
        for reason, count in sorted(end.left_out.items()):
            yield f"left out, {reason}: {plural(count, 'document')}"
        wide = max(len("type"), *map(len, head.types))
        yield f"{'type':{wide}} {'mentions':>10} {'words':>10} {'expected':>12}"
        for name in head.types:
            mentions, words, expected = (
                end.mentions.get(name, 0),
                self.tagged[name],
                self.expected[name],
            )
            yield f"{name:{wide}} {mentions:>10,} {words:>10,} {expected:>12,.1f}"


def read_label_facts(path: str | os.PathLike[str]) -> LabelFacts:
    """Reads a label file to its end.

    Args:
        path: of the file.

    Raises:
        InputError, FormatError: see ``formats.weak_labels.read_entries``.
    """
    header, entries = read_entries(os.fspath(path))
    width = SCHEMES[header.scheme].width
    tagged, steps = (np.zeros(len(header.types), dtype=np.int64) for _ in range(2))
    end = None
    for entry in entries:
        if isinstance(entry, End):
            end = entry
            break
        kind, value = (
            int_array(entry.tag) // width,
            int_array(entry.value),
        )
        tagged += np.bincount(kind[value >= HARD], minlength=len(tagged))
        np.add.at(steps, kind, value % HARD)
    assert end is not None, "a file without a last line is an error of the reader"
    return LabelFacts(
        path=os.fspath(path),
        header=header,
        end=end,
        tagged=dict(zip(header.types, tagged.tolist(), strict=True)),
        expected={
            name: count / STEPS for name, count in zip(header.types, steps.tolist(), strict=True)
        },
    )
