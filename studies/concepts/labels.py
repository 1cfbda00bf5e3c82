"""Are labels of the pack linked to their concepts? 400 of each vocabulary; see ``plan.md``.

python -m studies.concepts.labels [--name NAME] [--linker LINKER]

Writes ``results/concepts-labels-NAME.json``.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from fascicle.linking.opening import find
from fascicle.settings.folders.vocabularies import DEFAULT_LINKER
from fascicle.terms.pack import layout
from fascicle.terms.pack.pack import Pack
from studies.common import write_result
from studies.concepts.neutral import Asked, answers, by_hash
from studies.concepts.same import Same

SIZE: Final = 400
_SPECIES: Final = {
    "NCBITaxon:9606": "in patients",
    "NCBITaxon:10090": "in mice",
    "NCBITaxon:10116": "in rats",
}
VERDICTS: Final = ("right", "namesake", "same name", "wrong", "none")


class Label(NamedTuple):
    """A concept with its preferred name."""

    asked: Asked
    curie: str


def main(argv: Sequence[str] | None = None) -> int:
    """Measures and stores."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--name", default="now")
    parser.add_argument("--linker", default=DEFAULT_LINKER)
    args = parser.parse_args(argv)
    found = find(args.linker)
    linker, same, rows = found.opened(), Same(), {}
    for part in found.parts:
        for title, labels in drawn(part.pack).items():
            rows[title] = counts = _counts(labels, linker, part.pack, same)
            print(title, counts, flush=True)
    write_result(
        f"concepts-labels-{args.name}",
        {"packs": [one.pack.full_name for one in found.parts], "rows": rows},
    )
    return 0


def drawn(pack: Pack) -> dict[str, list[Label]]:
    """The labels of each type of each vocabulary, drawn by the hash of the identifier."""
    kept = (pack.flag_rows & layout.OBSOLETE) == 0
    found = {}
    for number, prefix in enumerate(pack.prefixes):
        for kind, name in enumerate(pack.types):
            rows = np.flatnonzero(kept & (pack.prefix_rows == number) & (pack.type_rows == kind))
            if len(rows):
                found[f"{prefix} {name}"] = _of_vocabulary(pack, rows, name)
            for taxon, where in _SPECIES.items() if name == "Gene" else ():
                own = (
                    rows[np.array([pack.taxa[int(row)] == taxon for row in pack.taxon_rows[rows]])]
                    if len(rows)
                    else rows
                )
                if len(own):
                    found[f"{prefix} {name} {where}"] = _of_vocabulary(pack, own, name, where)
    return found


def _of_vocabulary(pack: Pack, rows: Any, kind: str, where: str = "") -> list[Label]:
    labels, curies = pack.labels_at(rows), pack.curies.strings.take(rows)
    often = Counter(label.lower() for label in labels)
    own = [
        Label(Asked(label, kind, where), curie)
        for label, curie in zip(labels, curies, strict=True)
        if often[label.lower()] == 1 and label != curie
    ]
    return sorted(own, key=lambda one: by_hash(one.curie))[:SIZE]


def _counts(labels: Sequence[Label], linker: Any, pack: Pack, same: Same) -> dict[str, int]:
    said = answers(linker, [one.asked for one in labels])
    judged = Counter(
        _judged(one, {link.curie for link in links}, pack, same)
        for one, links in zip(labels, said, strict=True)
    )
    return {"labels": len(labels), **{verdict: judged[verdict] for verdict in VERDICTS}}


def _judged(label: Label, said: Collection[str], pack: Pack, same: Same) -> str:
    """``namesake``: the gene of another species; ``same name``: a concept that has this very
    name too.
    """
    if not said:
        return "none"
    if all(same(one, label.curie) for one in said):
        return "right"
    if all(same.namesakes(one, label.curie) for one in said):
        return "namesake"
    wanted = label.asked.surface.lower()
    named = all(wanted in {term.surface.lower() for term in pack.names(one)} for one in said)
    return "same name" if named else "wrong"


if __name__ == "__main__":
    raise SystemExit(main())
