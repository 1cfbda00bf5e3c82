"""The recogniser of variants on BioRED and on open text; the plan is in ``plan.md``.

usage: FASCICLE_DATA=... python -m studies.variants.measure train | dev | test | draw | open

``train`` and ``dev`` print scores, errors, and identifiers that are not met. ``test`` writes
``results/variants.json`` with the scores of all three parts. ``draw`` writes the mentions that are
found in the paragraphs of eLife to ``judged.tsv``, with an empty first column for the judgement:
``right``, ``misnamed`` (a variant, with a wrong name) or ``false``. ``open`` reads the judgements,
and writes ``results/variants-open.json``.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import math
import os
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from fascicle.core.document import GOLD, Document, Mention
from fascicle.evaluation.scoring.scores import score
from fascicle.evaluation.uncertainty.intervals import bootstrap
from fascicle.formats.files import read
from fascicle.terms.variant_recogniser import TYPE, VariantRecogniser
from studies.common import write_result

PARTS: Mapping[str, str] = {
    "train": "Train.PubTator.gz",
    "dev": "Dev.PubTator",
    "test": "Test.PubTator",
}
NAME, OPEN = "variants", "variants-open"
JUDGED = Path(__file__).with_name("judged.tsv")
ELIFE, PARAGRAPHS, SEED = "text-elife/elife-02.jsonl.gz", 1_000, 1
WRONG = ("false", "misnamed")
CONTEXT = 60  # characters on both sides of a mention that is judged
_ONE = "ARNDCQEGHILKMFPSTWYVX*"
_THREE = "AlaArgAsnAspCysGlnGluGlyHisIleLeuLysMetPheProSerThrTrpTyrValTerTer"
CODES = {letter: _THREE[3 * at : 3 * at + 3] for at, letter in enumerate(_ONE)}
_SUBSTITUTION = re.compile(r"([pc])\|S[UY]B\|([A-Z*])\|([^|]+)\|([A-Z*])")


def named(identifier: str) -> tuple[str, str]:
    """The kind of a gold identifier and its HGVS name; empty for one that is not counted."""
    if re.fullmatch(r"rs\d+", identifier):
        return "rs", identifier
    found = _SUBSTITUTION.fullmatch(identifier)
    if found is None or not found[3].strip():
        return "", ""
    level, ref, place, alt = found.groups()
    if place.startswith("CODON") or not {ref, alt} <= CODES.keys():
        return "", ""
    if level == "c" and {ref, alt} <= set("ACGT"):
        return "c|SUB", f"c.{place.removeprefix('+')}{'=' if ref == alt else f'{ref}>{alt}'}"
    return f"{level}|SUB", f"p.{CODES[ref]}{place}{'=' if ref == alt else CODES[alt]}"


def documents_of(part: str) -> list[Document]:
    """The abstracts, with their gold variants alone."""
    path = Path(os.environ["FASCICLE_DATA"]) / "biored" / PARTS[part]
    return [
        one.having(mentions=tuple(mention for mention in one.layer(GOLD) if mention.type == TYPE))
        for one in read(path)
    ]


def found_in(documents: Sequence[Document]) -> dict[str, tuple[Mention, ...]]:
    """What the recogniser finds, without a look at the gold."""
    bare = [one.having(mentions=()) for one in documents]
    return {
        one.id: patch.add
        for one, patch in zip(bare, VariantRecogniser().predict(bare), strict=True)
    }


def wanted(documents: Sequence[Document]) -> Iterator[tuple[str, str, str]]:
    """Kind, document and name of each gold identifier, once; of rs numbers also those in
    writing.
    """
    seen = set()
    for document in documents:
        identifiers = {link.id for mention in document.mentions for link in mention.links}
        for kind, name in map(named, sorted(identifiers)):
            if kind and (document.id, name) not in seen:
                seen.add((document.id, name))
                yield kind, document.id, name
                if kind == "rs" and re.search(rf"{name}(?!\d)", document.text, re.IGNORECASE):
                    yield "rs in writing", document.id, name


def names_of(mentions: Sequence[Mention]) -> set[str]:
    """The names that mentions are linked to, in lower case, and the rs numbers beside them."""
    links = [link for mention in mentions for link in mention.links]
    return {
        name.lower()
        for link in links
        for name in (link.id.rpartition(":")[2], *(one.partition(":")[2] for one in link.same))
    }


def met(
    documents: Sequence[Document], found: Mapping[str, Sequence[Mention]]
) -> dict[str, tuple[int, int, list[str]]]:
    """Kind -> how many identifiers are met, how many there are, and which are not met."""
    counts: dict[str, tuple[int, int, list[str]]] = {}
    names = {key: names_of(mentions) for key, mentions in found.items()}
    for kind, document, name in wanted(documents):
        right, all_of, missed = counts.get(kind, (0, 0, []))
        is_met = name.lower() in names[document]
        counts[kind] = (
            right + is_met,
            all_of + 1,
            missed if is_met else [*missed, f"{document} {name}"],
        )
    return counts


def measured(part: str) -> dict[str, object]:
    """All numbers of a part."""
    documents = documents_of(part)
    found = found_in(documents)
    scores = score({one.id: one.mentions for one in documents}, found)
    rates = bootstrap(scores)
    return {
        "abstracts": len(documents),
        "mentions": sum(len(one.mentions) for one in documents),
        **{name: rates[f"micro_{name}"].as_dict() for name in ("precision", "recall", "f1")},
        "identifiers": {
            kind: {"met": right, "of": all_of, "interval": wilson(right, all_of)}
            for kind, (right, all_of, _) in sorted(met(documents, found).items())
        },
    }


def wilson(right: int, all_of: int) -> list[float]:
    """The 95 % interval of a share."""
    z, n = 1.96, max(all_of, 1)
    share = right / n
    middle, half = (
        share + z * z / (2 * n),
        z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)),
    )
    return [round(max(0.0, one) / (1 + z * z / n), 4) for one in (middle - half, middle + half)]


def errors(part: str) -> Iterator[str]:
    """What is found wrongly or not at all, and identifiers that are not met."""
    documents = documents_of(part)
    found = found_in(documents)
    for one in documents:
        gold, ours = {m.spans: m for m in one.mentions}, {m.spans: m for m in found[one.id]}
        for spans in sorted(gold.keys() ^ ours.keys()):
            start, end = spans[0]
            what = "wrong" if spans in ours else "missed"
            before, behind = one.text[max(0, start - 40) : start], one.text[end : end + 30]
            yield f"{what} {one.id}: {before!r} [{one.text[start:end]}] {behind!r}"
    for kind, (_, _, missed) in met(documents, found).items():
        yield from (f"not met {kind}: {name}" for name in missed)


def paragraphs() -> list[str]:
    """The paragraphs that are read."""
    with gzip.open(Path(os.environ["FASCICLE_DATA"]) / ELIFE, "rt", encoding="utf-8") as stream:
        every = [paragraph for line in stream for paragraph in json.loads(line)["paragraphs"]]
    return random.Random(SEED).sample(every, PARAGRAPHS)


def drawn() -> Iterator[list[str]]:
    """Rows to judge: an empty cell, number of the paragraph, text before, mention, text behind,
    name.
    """
    for number, text in enumerate(paragraphs()):
        for one in VariantRecogniser().predict([Document(id=str(number), text=text)])[0].add:
            before, behind = (
                text[max(0, one.start - CONTEXT) : one.start],
                text[one.end : one.end + CONTEXT],
            )
            yield [
                "",
                str(number),
                before,
                text[one.start : one.end],
                behind,
                *(link.id for link in one.links),
            ]


def judged() -> dict[str, object]:
    """The share of false mentions."""
    with JUDGED.open(encoding="utf-8", newline="") as stream:
        said = [row[0] for row in csv.reader(stream, delimiter="\t")]
    if odd := sorted(set(said) - {"right", "misnamed", "false"}):
        raise SystemExit(
            f"{JUDGED.name} has the judgement {odd[0]!r}; write right, misnamed or false"
        )
    counts = {
        what: {"mentions": said.count(what), "interval": wilson(said.count(what), len(said))}
        for what in WRONG
    }
    return {"paragraphs": PARAGRAPHS, "mentions": len(said), **counts}


def main() -> None:
    """Prints errors, or writes a results file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("step", choices=(*PARTS, "draw", "open"))
    step = parser.parse_args().step
    if step == "draw":
        with JUDGED.open("w", encoding="utf-8", newline="") as stream:
            csv.writer(stream, delimiter="\t", lineterminator="\n").writerows(drawn())
    elif step == "open":
        write_result(OPEN, judged())
    elif step == "test":
        write_result(NAME, {part: measured(part) for part in PARTS})
    else:
        print("\n".join(errors(step)))
        print(json.dumps(measured(step), indent=1))


if __name__ == "__main__":
    main()
