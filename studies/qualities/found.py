"""How many other forms of names of HPO a pack finds, what else it finds, and what it costs.

usage: FASCICLE_DATA=... python -m studies.qualities.found LIST.jsonl FIRST.tsv FRESH.tsv

``LIST.jsonl`` is from ``studies.qualities.forms``. A form is found if a mention with one of its
concepts, or of a name of several concepts, has a character of the quality and one of the entity.
``FIRST.tsv`` gets 300 composed mentions of all abstracts, drawn by chance, to be read, and
``FRESH.tsv`` 100 others, drawn from what is found after the rule was mended. Where such a file is
there, its first two columns are counted: ``yes`` where the text says the quality of the entity,
else ``no``; and whether a right one is a ``finding``, a ``change``, such as a blood pressure that a
drug reduced, or ``denied`` by words before it, as in "no increase in heart rate".
Writes ``qualities-found.json``.
"""

from __future__ import annotations

import gzip
import json
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

from fascicle.core.document import Document, Patch
from fascicle.core.mention import Mention, fragments_overlap
from fascicle.terms.pack.pack import Pack
from fascicle.terms.recognising import PackRecogniser
from fascicle.verbs.tasks.index_build import build_pack
from studies.common import write_result
from studies.variants.measure import wilson

_DRAWS = {"first": (70, 300), "fresh": (71, 100)}  # seed, and how many mentions
_TIMED = 300  # abstracts
_ROUNDS = 41
_CONTEXT = 100  # characters


def open_pack(folder: Path, data: Path, *, qualities: bool) -> PackRecogniser:
    """Builds a pack of HPO and opens it."""
    sources = folder / f"{qualities}.toml"
    sources.write_text(
        f'name = "hpo"\nqualities = {str(qualities).lower()}\n[sources.hpo]\n'
        f'path = "{data / "onto-hpo" / "hp.obo.gz"}"\nreader = "obo"\ntype = "Phenotype"\n'
    )
    build_pack(sources, folder / str(qualities))
    return PackRecogniser({"hpo": Pack.open(folder / str(qualities))})


def recall(forms: list[dict[str, object]], patches: dict[str, Patch]) -> list[dict[str, object]]:
    """Returns the forms that are missed."""
    missed = []
    for form in forms:
        quality, entity = tuple(form["quality"]), tuple(form["entity"])  # type: ignore[arg-type]
        hits = [
            mention
            for mention in patches[str(form["document"])].add
            if fragments_overlap(mention.spans, (quality,))
            and fragments_overlap(mention.spans, (entity,))
            and (not mention.links or mention.links[0].curie in form["concepts"])  # type: ignore[operator]
        ]
        if not hits:
            missed.append(form)
    return missed


def cost(recognisers: list[PackRecogniser], documents: list[Document]) -> float:
    """Returns the ratio of CPU times of the second to the first, from interleaved rounds."""
    times: list[list[float]] = [[], []]
    for number in range(_ROUNDS + 1):
        for side, recogniser in enumerate(recognisers):
            start = time.process_time()
            recogniser.predict(documents)
            if number:  # the first fills caches
                times[side].append(time.process_time() - start)
    return median(times[1]) / median(times[0])


def main() -> None:
    """Measures and writes."""
    data = Path(os.environ["FASCICLE_DATA"])
    forms = [json.loads(line) for line in Path(sys.argv[1]).read_text().splitlines()]
    with gzip.open(data / "text-abstracts" / "abstracts.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    documents = [Document(id=row["id"], text=row["abstract"]) for row in rows]
    with tempfile.TemporaryDirectory() as folder:
        plain, composed = (
            open_pack(Path(folder), data, qualities=qualities) for qualities in (False, True)
        )
        ratio = cost([plain, composed], documents[:_TIMED])
        after = dict(zip([d.id for d in documents], composed.predict(documents), strict=True))
        before = dict(zip([d.id for d in documents], plain.predict(documents), strict=True))
    missed = recall(forms, after)
    as_written = len(forms) - len(recall(forms, before))
    by_id = {document.id: document.text for document in documents}
    keys = {number: {mention.key for mention in patch.add} for number, patch in before.items()}
    new = [
        (number, mention)
        for number, patch in after.items()
        for mention in patch.add
        if mention.key not in keys[number]
    ]
    read: dict[str, dict[str, object]] = {}
    drawn: set[tuple[str, str]] = set()
    for (draw, (seed, size)), path in zip(_DRAWS.items(), map(Path, sys.argv[2:]), strict=True):
        if not path.exists():
            rest = [row for row in new if (row[0], str(row[1].start)) not in drawn]
            write_draw(path, random.Random(seed).sample(rest, size), by_id)
        rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
        drawn |= {(row[4], row[5]) for row in rows}
        read[draw] = count_answers(rows)
    write_result(
        "qualities-found",
        {
            "forms": len(forms),
            "found": len(forms) - len(missed),
            "found without composed names": as_written,
            "composed mentions in all abstracts": len(new),
            "read": read,
            "cost": round(ratio, 3),
        },
    )
    print(f"{len(forms)} forms, {len(missed)} missed; {len(new)} composed mentions; {read}")


def write_draw(path: Path, mentions: list[tuple[str, Mention]], texts: Mapping[str, str]) -> None:
    """Writes mentions with the words around them, without answers."""
    lines = []
    for number, mention in mentions:
        text = texts[number]
        context = text[max(0, mention.start - _CONTEXT) : mention.end + _CONTEXT]
        name = mention.links[0].name if mention.links else "(several)"
        place = (number, str(mention.start), " ".join(context.split()))
        lines.append("\t".join(("", "", name, mention.text_in(text), *place)))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def count_answers(rows: Sequence[Sequence[str]]) -> dict[str, object]:
    """Returns how many mentions were read and right, the 95 % interval of the share, and the kinds
    of right ones.
    """
    verdicts, kinds = (Counter(row[column] for row in rows) for column in (0, 1))
    return {
        "read": len(rows),
        "right": verdicts["yes"],
        "interval": wilson(verdicts["yes"], len(rows)),
        **{kind: kinds[kind] for kind in ("finding", "change", "denied")},
    }


if __name__ == "__main__":
    main()
