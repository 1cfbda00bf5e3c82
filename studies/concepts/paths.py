"""Is the answer for a text the same on every way in? See ``plan.md``.

python -m studies.concepts.paths FOLDER [--texts 2000] [--pairs biomed-fast=basic basic
biomed=basic]

A pair is a model and its linker; a pack alone gives links of its own. FOLDER gets what each way
wrote. Only ``link`` and ``evaluate --links`` take the mentions of ``annotate``; in each of the
other ways the model runs. Writes ``results/concepts-paths.json``, and prints the first text that
differs on a way.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

import fascicle
from fascicle.cli import main as command
from fascicle.core.document import GOLD, Document
from fascicle.core.mention import AMBIGUOUS, Mention
from fascicle.formats import read, write
from fascicle.serving.client.clients import Client
from fascicle.verbs.evaluate_links import evaluate_links
from fascicle.verbs.tasks.link_cases import mention_concepts
from studies.common import result, write_result
from studies.concepts.neutral import by_hash

PAIRS: Final = ("biomed-fast=basic", "basic", "biomed=basic")
_RESULT: Final = "concepts-paths"
_PATIENCE: Final = 300  # seconds until a service has opened its model
_PIPELINE: Final = """name = "paths"

[[steps]]
kind = "recogniser"
name = "model"
model = "{model}"

[[steps]]
kind = "link"
linker = "{linker}"
"""


class Asked(NamedTuple):
    """What a way is asked.

    Attributes:
        texts: file of the texts.
        place: folder for what is written.
        model: name of a model or a pack.
        linker: name of its linker; empty for a pack, which gives links of its own.
    """

    texts: Path
    place: Path
    model: str
    linker: str


Way = Callable[[Asked], list[Document]]


def main(argv: Sequence[str] | None = None) -> int:
    """Compares and stores; returns 1 if a way differs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--texts", type=int, default=2000)
    parser.add_argument("--pairs", nargs="+", default=list(PAIRS))
    args = parser.parse_args(argv)
    rows = result(_RESULT).get("rows", {})
    for pair in args.pairs:
        place = args.folder / pair
        place.mkdir(parents=True, exist_ok=True)
        write(place / "texts.jsonl", drawn(args.texts), format="native", overwrite=True)
        model, _, linker = pair.partition("=")
        rows[pair] = compared(Asked(place / "texts.jsonl", place, model, linker))
        print(pair, rows[pair], flush=True)
        write_result(_RESULT, {"rows": rows})
    return int(any(any(rows[pair]["different"].values()) for pair in args.pairs))


def drawn(count: int) -> list[Document]:
    """The first abstracts with their titles, in the order of the hashes of their identifiers."""
    path = Path(os.environ["FASCICLE_DATA"]) / "text-abstracts" / "abstracts.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        lines = sorted(map(json.loads, stream), key=lambda one: by_hash(str(one["id"])))
    texts = (
        (str(one["id"]), f"{one.get('title') or ''}\n{one.get('abstract') or ''}".strip())
        for one in lines
    )
    return [Document(id=identifier, text=text) for identifier, text in texts if text][:count]


def compared(asked: Asked) -> dict[str, Any]:
    """How many texts have other mentions or links on each way than by ``annotate``."""
    first = by_annotate(asked)
    mentions = [mention for one in first for mention in one.mentions]
    found = {name: differing(name, first, way(asked)) for name, way in ways(asked).items()}
    if asked.linker:
        found["evaluate --links"] = misjudged(asked, first)
    return {
        "texts": len(first),
        "mentions": len(mentions),
        "links": sum(not link.nil for mention in mentions for link in mention.links),
        "different": found,
    }


def ways(asked: Asked) -> Mapping[str, Way]:
    """The ways other than ``annotate`` that write documents; ``link`` only where a linker is
    given.
    """
    linked: Mapping[str, Way] = {"link": by_link} if asked.linker else {}
    return {**linked, "run": by_run, "serve": by_serve, "Python": by_python}


def differing(name: str, first: Sequence[Document], other: Sequence[Document]) -> int:
    """How many texts have other mentions, byte by byte; the first is printed."""
    pairs = [(one, two) for one, two in zip(first, other, strict=True) if said(one) != said(two)]
    for one, two in pairs[:1]:
        print(name, "differs:", one.id, said(one), said(two), sep="\n")
    return len(pairs)


def said(document: Document) -> bytes:
    """The identifier and the mentions of a document with their links, as bytes."""
    return msgspec.json.encode(
        (document.id, sorted(document.mentions, key=lambda one: (one.key, one.source)))
    )


def by_annotate(asked: Asked) -> list[Document]:
    """By ``fascicle annotate``."""
    linked = ["--link", asked.linker] if asked.linker else []
    return _commanded(asked, "annotate", [str(asked.texts), *linked, "--model", asked.model])


def by_link(asked: Asked) -> list[Document]:
    """By ``fascicle link`` for the mentions of ``annotate``."""
    bare = asked.place / "bare.jsonl"
    write(bare, map(_bare, read(asked.place / "annotate.jsonl")), format="native", overwrite=True)
    return _commanded(asked, "link", [str(bare), "--linker", asked.linker])


def _bare(document: Document) -> Document:
    """Mentions without links, and nothing else but the text."""
    mentions = tuple(msgspec.structs.replace(one, links=()) for one in document.mentions)
    return Document(id=document.id, text=document.text, mentions=mentions)


def _commanded(asked: Asked, name: str, given: Sequence[str]) -> list[Document]:
    output = asked.place / f"{name}.jsonl"
    _succeed([name, *given, "-o", str(output), "--overwrite"])
    return list(read(output))


def _succeed(given: Sequence[str]) -> None:
    if code := command(given):
        sys.exit(f"fascicle {' '.join(given)} ended with {code}")


def by_run(asked: Asked) -> list[Document]:
    """By ``fascicle run`` of a pipeline with two steps, in a worker; of a pack by its name."""
    pipeline, folder = asked.model, asked.place / f"run-{time.time_ns()}"
    if asked.linker:
        pipeline = str(asked.place / "pipeline.toml")
        Path(pipeline).write_text(
            _PIPELINE.format(model=asked.model, linker=asked.linker), encoding="utf-8"
        )
    _succeed(["run", str(asked.texts), "--pipeline", pipeline, "-o", str(folder)])
    return [one for part in sorted(folder.glob("part-*")) for one in read(part)]


def by_serve(asked: Asked) -> list[Document]:
    """By requests to ``fascicle serve``, which opens the model by its name."""
    with _served(asked) as url, Client(url) as client:
        return client.annotate(read(asked.texts))


@contextmanager
def _served(asked: Asked) -> Iterator[str]:
    """The address of a service."""
    log = asked.place / "serve.log"
    given = [sys.executable, "-m", "fascicle", "serve", asked.model, "--port", "0"]
    with log.open("wb") as stream, subprocess.Popen(given, stderr=stream) as process:
        try:
            until = time.monotonic() + _PATIENCE
            while not (found := re.search(r"http://\S+?:\d+", log.read_text(encoding="utf-8"))):
                if process.poll() is not None or time.monotonic() > until:
                    sys.exit(log.read_text(encoding="utf-8"))
                time.sleep(0.1)
            yield found[0]
        finally:
            process.terminate()
            process.wait()


def by_python(asked: Asked) -> list[Document]:
    """By the library."""
    return list(fascicle.load(asked.model, link=asked.linker or ()).stream(read(asked.texts)))


def misjudged(asked: Asked, first: Sequence[Document]) -> int:
    """How many texts get other links by ``evaluate --links``, which links their mentions as
    those of gold.
    """
    gold = asked.place / "gold.jsonl"
    write(gold, map(_as_gold, first), format="native", overwrite=True)
    (system,) = evaluate_links(gold, linker=asked.linker).systems
    cases: dict[str, list[tuple[Any, ...]]] = {}
    for one in system.cases:
        answer = (one.start, one.type, sorted(one.answer), one.score, one.tier)
        cases.setdefault(one.document, []).append(answer)
    told = [
        (one.id, sorted(_cases(one), key=repr), sorted(cases.get(one.id, []), key=repr))
        for one in first
    ]
    wrong = [each for each in told if each[1] != each[2]]
    for each in wrong[:1]:
        print("evaluate --links differs:", *each, sep="\n")
    return len(wrong)


def _as_gold(document: Document) -> Document:
    mentions = tuple(msgspec.structs.replace(one, source=GOLD) for one in document.mentions)
    return Document(id=document.id, text=document.text, mentions=mentions)


def _cases(document: Document) -> Iterable[tuple[Any, ...]]:
    """The linked mentions of a document as ``evaluate --links`` tells them."""
    return [_case(one) for one in document.mentions if one.links]


def _case(mention: Mention) -> tuple[Any, ...]:
    answered = [link for link in mention.links if not link.nil and link.tier != AMBIGUOUS]
    scores = [link.score for link in answered if link.score is not None]
    score = min(scores) if answered and len(scores) == len(answered) else None
    tier = answered[0].tier if answered else ""
    return (mention.start, mention.type, sorted(mention_concepts(mention)), score, tier)


if __name__ == "__main__":
    raise SystemExit(main())
