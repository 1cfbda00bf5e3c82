"""A model that learnt neither CRAFT nor BioNLP13CG, beside the answers of other tools on both.

usage: python -m studies.conventions.foreign RUN

RUN is ``without-plain-s1`` of ``grids/conventions.toml``. It answers raw text with the thresholds
that its own dev part chose, and without a decision of documents. Scores are strict: both ends and
the type. The answers of the other tools are those that HunFlair's experiments published; GNormPlus,
tmChem and SR4GN stand under *misc*. What taught these tools is not known here. Written:
``results/conventions-foreign.json``. ``FASCICLE_DATA`` names the corpora.
"""

from __future__ import annotations

import argparse
import csv
import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from fascicle.core.document import Document, Mention
from fascicle.evaluation.scoring.scores import score
from fascicle.evaluation.uncertainty.intervals import bootstrap_f1
from fascicle.formats import read
from fascicle.loading import load_all_types
from fascicle.terms.abbreviations.resolving import Found
from studies.common import write_result
from studies.decision.development import CANCER
from studies.packs import gold

TYPES: Final = ("Gene", "Chemical", "Species")
TOOLS: Final = ("huner", "misc")


def main(argv: Sequence[str] | None = None) -> None:
    """Answers, scores, writes and prints."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("run", type=Path)
    args = parser.parse_args(argv)
    model, rows = load_all_types(args.run), dict[str, Any]()
    for name, documents in corpora().items():
        patches = model.predict([Document(id=one.id, text=one.text) for one in documents])
        said = {"model": {one.id: patch.add for one, patch in zip(documents, patches, strict=True)}}
        said |= {tool: answers(f"{tool}_{name}.ann", documents) for tool in TOOLS}
        truth = {one.id: one.mentions for one in documents}
        for kind in TYPES:
            if any(mention.type == kind for mentions in truth.values() for mention in mentions):
                rows[f"{name} {kind}"] = {
                    who: figures(truth, found, kind) for who, found in said.items()
                }
    write_result("conventions-foreign", {"run": args.run.name, "rows": rows})
    for name, one in rows.items():
        print(name, *(f"{who} {100 * of_one['f1']:.1f}" for who, of_one in one.items()))


def corpora() -> dict[str, list[Document]]:
    """The texts of both corpora under the types of the models; gold is no more than text, ends
    and type.
    """
    files = read(Path(os.environ["FASCICLE_DATA"]) / "bionlp13cg" / "standoff.zip")
    return {
        "bionlp": [_typed(one, CANCER, key=one.id.removeprefix("PMID-")) for one in files],
        "craft": [
            _typed(one, {kind: kind for kind in TYPES}, key=one.id)
            for part in ("train", "dev", "test")
            for one in gold.craft(part)
        ],
    }


def _typed(document: Document, types: Mapping[str, str], *, key: str) -> Document:
    mentions = {
        (m.spans, types[m.type]): Mention(m.spans, types[m.type])
        for m in document.mentions
        if m.type in types
    }
    return Document(id=key, text=document.text, mentions=tuple(mentions.values()))


def answers(file: str, documents: Sequence[Document]) -> Found:
    """What another tool answered on the texts."""
    said: dict[str, list[Mention]] = defaultdict(list)
    path = Path(os.environ["FASCICLE_DATA"]) / "rivals-hunflair" / file
    with path.open(encoding="utf-8", newline="") as stream:
        for key, start, end, _, kind in csv.reader(stream, delimiter="\t", quoting=csv.QUOTE_NONE):
            said[key.removeprefix("PMID-")].append(Mention(((int(start), int(end)),), kind))
    return {
        one.id: tuple(dict.fromkeys(m for m in said[one.id] if m.end <= len(one.text)))
        for one in documents
    }


def figures(truth: Found, found: Found, kind: str) -> dict[str, Any]:
    """Scores of one type."""
    kept = [
        {key: tuple(m for m in mentions if m.type == kind) for key, mentions in one.items()}
        for one in (truth, found)
    ]
    strict = score(*kept)
    return {
        **{name: getattr(strict.micro, name) for name in ("precision", "recall", "f1")},
        "interval": bootstrap_f1(strict).as_dict(),
        "overlap_f1": score(*kept, rule="loose").micro.f1,
        "mentions": sum(map(len, kept[0].values())),
    }


if __name__ == "__main__":
    main()
