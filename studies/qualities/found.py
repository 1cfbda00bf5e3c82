"""How many other forms of names of HPO a pack finds, what else it finds, and what it costs.

usage: FASCICLE_DATA=... python -m studies.qualities.found LIST.jsonl ANSWERS.tsv

``LIST.jsonl`` is from ``studies.qualities.forms``. A form is found if a mention with one of its
concepts, or of a name of several concepts, has a character of the quality and one of the entity.
``ANSWERS.tsv`` gets 60 composed mentions, drawn from all abstracts, to be read. If it is there, its
first two columns are counted: ``yes`` where the text says the quality of the entity, else ``no``;
and whether this is a ``finding`` or a ``change``, such as a blood pressure that a drug reduced.
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
from pathlib import Path
from statistics import median

from fascicle.core.document import Document, Patch
from fascicle.core.mention import Mention, fragments_overlap
from fascicle.terms.pack.pack import Pack
from fascicle.terms.recognising import PackRecogniser
from fascicle.verbs.tasks.index_build import build_pack
from studies.common import write_result

_READ = 60
_TIMED = 300  # abstracts
_ROUNDS = 7
_CONTEXT = 90  # characters


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
    judged = read_answers(Path(sys.argv[2]), new, by_id)
    write_result(
        "qualities-found",
        {
            "forms": len(forms),
            "found": len(forms) - len(missed),
            "found without composed names": as_written,
            "composed mentions in all abstracts": len(new),
            "read": judged,
            "cost": round(ratio, 3),
        },
    )
    print(f"{len(forms)} forms, {len(missed)} missed; {len(new)} composed mentions; {judged}")


def read_answers(
    path: Path, new: list[tuple[str, Mention]], texts: dict[str, str]
) -> dict[str, int]:
    """Counts the verdicts of a file, or writes it without verdicts."""
    if path.exists():
        rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
        return dict(Counter(word for row in rows for word in row[:2]))
    lines = []
    for number, mention in random.Random(70).sample(new, _READ):
        text = texts[number]
        context = text[max(0, mention.start - _CONTEXT) : mention.end + _CONTEXT]
        name = mention.links[0].name if mention.links else "(several)"
        row = ("", "", name, mention.text_in(text), number, " ".join(context.split()))
        lines.append("\t".join(row))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return {}


if __name__ == "__main__":
    main()
