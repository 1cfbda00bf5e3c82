"""What do term packs recognise on gold, dictionary alone, beside literal matching of the same
names?

usage: FASCICLE_DATA=... python -m studies.packs.recognition --packs FOLDER [--part test] [--only
NAME ...]

Plan
----
This plan was committed before anything was run on a test part.

*Names.* All vocabularies of ``packs/biomed.toml`` are built into one pack, which decides the type
of each concept. The concepts of each type and their names, without obsolete ones, then make a pack
of their own, built with the defaults. Both systems are given exactly these names, so a difference
is one of matching alone. There is no curation, and no name is chosen by gold. (Changed after the
first run, by what BioID train shows: names of cell lines that end in *cell* or *cell line*, such as
``HeLa cell``, are left out for both systems.)

*Corpora.* Test parts of BC5CDR, NCBI-disease, Linnaeus, BioID (cell lines), BioRED, NLM-Gene and
CRAFT (the types with a vocabulary at hand: CHEBI, CL, MONDO, NCBITaxon, PR and UBERON as Chemical,
CellType, Disease, Species, Gene and Anatomy). Families and domains of NLM-Gene are no genes and
left out, and variants of BioRED have no vocabulary. Discontinuous mentions of CRAFT stay in the
gold: no matcher finds them.

*Systems.* (1) `PackRecogniser` with the default `RecognitionSettings`; they were chosen on
development and train parts.
(2) `Literal`: Kazu-style, all names in lower case, the longest match at token borders, nothing
    else. (3) For reading
only, literal matching of names of at least three characters: it shows how much of (2) is short
names alone.

*Measure.* Strict: document, type and both ends. Precision, recall and F1 of each type by itself, as
each type has a pack of its own, with 95 % percentile bootstrap intervals of F1 over documents
(1,000 draws, seed 0), and the difference of (1) and (2) over the same draws. BioID has captions as
documents.

*Links.* Of the mentions that (1) finds right and whose gold has identifiers: the share that is
linked, and of those the share whose CURIE is one of gold's, by mention. Vocabularies overlap, so a
right concept of another vocabulary counts as wrong here; the share within the vocabulary of the
gold is given beside it. (Added after the first run, which showed that most links of diseases and
chemicals leave the vocabulary of the gold: a link is *equivalent* if it is right, or if a source of
the whole pack gives a reference between it and a gold identifier, in either direction.)

*Bar.* The F1 of (1) is higher than that of (2) on every row.

``--part dev`` (train, where a corpus has no development part) is what changes of the rules are
chosen on; it writes nothing. Writes ``results/pack-recognition.json``.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from fascicle.core.document import Document
from fascicle.core.mention import Mention
from fascicle.evaluation.scoring.scores import Scores, score
from fascicle.evaluation.uncertainty.intervals import bootstrap_f1
from fascicle.settings.inputs import RecognitionSettings
from fascicle.terms.pack.pack import Pack
from fascicle.terms.recognising import PackRecogniser
from studies.common import paired, write_result
from studies.packs.gold import NAMES, documents
from studies.packs.literal import Literal
from studies.packs.names import of_type, surfaces, whole

NAME = "pack-recognition"
SOURCE = "dictionary"
SHORTEST = 3  # characters of a name for the third system
Found = Mapping[str, Sequence[Mention]]


def main() -> int:
    """Runs the systems on the parts that are asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--packs", type=Path, required=True, help="folder of the packs; those missing are built"
    )
    parser.add_argument("--part", choices=("dev", "test"), default="test")
    parser.add_argument("--only", nargs="+", choices=NAMES, default=NAMES)
    args = parser.parse_args()
    corpora = {name: documents(name, args.part) for name in args.only}
    kinds = sorted(
        {mention.type for texts in corpora.values() for one in texts for mention in one.mentions}
    )
    rows, packs = [], {}
    references = References(whole(args.packs))
    for kind in kinds:
        pack = of_type(args.packs, kind)
        packs[kind] = {"pack": pack.full_name, "concepts": len(pack), "names": len(pack.active)}
        systems = _Systems(pack, kind, references)
        for name, texts in corpora.items():
            if any(mention.type == kind for one in texts for mention in one.mentions):
                rows.append(systems.row(name, texts))
                sys.stdout.write(_told(rows[-1]) + "\n")
                sys.stdout.flush()
    if args.part == "test" and set(args.only) == set(NAMES):
        write_result(NAME, {"part": args.part, "packs": packs, "rows": rows})
    return 0


class _Systems:
    """The three systems with the names of one type."""

    def __init__(self, pack: Pack, kind: str, references: References) -> None:
        names = surfaces(pack)
        self._kind, self._references = kind, references
        self._ours = PackRecogniser({SOURCE: pack}, settings=RecognitionSettings())
        self._literal, self._longer = Literal(names), Literal(names, shortest=SHORTEST)

    def row(self, corpus: str, texts: Sequence[Document]) -> dict[str, object]:
        """The scores of one type of a corpus."""
        gold = {
            one.id: [mention for mention in one.mentions if mention.type == self._kind]
            for one in texts
        }
        bare = [Document(id=one.id, text=one.text) for one in texts]
        ours = {
            one.id: patch.add for one, patch in zip(bare, self._ours.predict(bare), strict=True)
        }
        literal, longer = (
            self._matched(matcher, bare) for matcher in (self._literal, self._longer)
        )
        scores = [score(gold, found) for found in (ours, literal, longer)]
        return {
            "corpus": corpus,
            "type": self._kind,
            "documents": len(texts),
            "gold": sum(map(len, gold.values())),
            "dictionary": _rates(scores[0]),
            "literal": _rates(scores[1]),
            "literal_longer": _rates(scores[2]),
            "difference": paired(scores[0], scores[1]),
            "links": links(gold, ours, self._references),
        }

    def _matched(self, matcher: Literal, texts: Sequence[Document]) -> Found:
        return {
            one.id: [Mention((span,), self._kind, source=SOURCE) for span in matcher.find(one.text)]
            for one in texts
        }


class References:
    """Which concepts the sources of a pack say are those of another vocabulary."""

    def __init__(self, pack: Pack) -> None:
        """Takes the pack of all vocabularies."""
        self._pack = pack
        self._known: dict[str, frozenset[str]] = {}

    def between(self, one: str, other: str) -> bool:
        """Whether either of two concepts refers to the other."""
        return one == other or other in self._of(one) or one in self._of(other)

    def _of(self, curie: str) -> frozenset[str]:
        if curie not in self._known:
            row = int(self._pack.concept_rows([curie])[0])
            found = () if row < 0 else self._pack.concept_at(row).references
            self._known[curie] = frozenset(cross.curie for cross in found)
        return self._known[curie]


def links(gold: Found, found: Found, references: References) -> dict[str, int]:
    """How many right mentions with identifiers are linked, and how many of these links are
    right.
    """
    counts = Counter[str]()
    for identifier, mentions in gold.items():
        known = {
            mention.spans: {link.curie for link in mention.links}
            for mention in mentions
            if mention.links
        }
        for mention in found[identifier]:
            right = known.get(mention.spans)
            if right is None:
                continue
            counts["mentions"] += 1
            for link in mention.links[:1]:
                prefix = link.curie.partition(":")[0]
                counts["linked"] += 1
                counts["same vocabulary"] += any(one.startswith(f"{prefix}:") for one in right)
                counts["right"] += link.curie in right
                counts["equivalent"] += any(references.between(link.curie, one) for one in right)
    return {
        key: counts[key] for key in ("mentions", "linked", "same vocabulary", "right", "equivalent")
    }


def _rates(scores: Scores) -> dict[str, object]:
    counts, micro = scores.counts, scores.micro
    return {
        "tp": counts.tp,
        "fp": counts.fp,
        "fn": counts.fn,
        "precision": micro.precision,
        "recall": micro.recall,
        "f1": micro.f1,
        "f1_interval": bootstrap_f1(scores).as_dict(),
    }


def _told(row: Mapping[str, object]) -> str:
    cells = [f"{row['corpus']:13}{row['type']:10}{row['gold']:6}"]
    for system in ("dictionary", "literal", "literal_longer"):
        rates = row[system]
        assert isinstance(rates, dict)
        cells.append(" ".join(f"{100 * rates[key]:5.1f}" for key in ("precision", "recall", "f1")))
    return " | ".join([*cells, str(row["links"])])


if __name__ == "__main__":
    sys.exit(main())
