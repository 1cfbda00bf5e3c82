"""How right are the labels that a dictionary gives? The weak labels of BC5CDR against the human
ones.

The two rules of `fascicle.terms` with the dictionaries of AutoNER, on the official train, dev and
test parts; `core` is the rule of three casings without the dictionary of untyped phrases. Mentions
are counted, and beside them words, since others do not say which of the two they count. Human
labels are read here and nowhere else in distant supervision. Beside the scores stand what others
report for the same dictionary. Run `python -m studies.binder.distant`; it needs the folder of
corpora in `FASCICLE_DATA` and writes `studies/results/distant.json`.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from types import MappingProxyType

from fascicle.core.document import GOLD, Document, Mention
from fascicle.core.mention import overlaps
from fascicle.core.patches import apply
from fascicle.evaluation.scoring.inputs import layers
from fascicle.evaluation.scoring.scores import Scores, score
from fascicle.formats.files import read
from fascicle.terms.dictionary import DictionaryEntry
from fascicle.terms.matcher import PHRASES, SOURCE, Matcher, read_dictionary
from fascicle.text.segment import RULES_1
from studies.common import row, write_result

PARTS = MappingProxyType({"train": "Training", "dev": "Development", "test": "Test"})
# Precision and recall in percent: what a paper or a list of measurements says of a rule, a part and
# a type.
REPORTED = (
    ("BINDER paper, distant labels", "", "train", "Chemical", 97.99, 63.14),
    ("BINDER paper, distant labels", "", "train", "Disease", 98.34, 46.73),
    ("Zhou et al. 2022, dictionary only", "raw", "test", "micro", 86.4, 51.2),
    ("AutoNER README, dictionary match", "three-casings", "test", "micro", 93.93, 58.35),
    ("corpus list", "raw", "train", "Chemical", 95.6, 79.0),
    ("corpus list", "raw", "train", "Disease", 81.1, 56.9),
    ("corpus list", "raw", "test", "micro", 86.3, 52.5),
    ("corpus list", "three-casings", "train", "Chemical", 93.7, 81.0),
    ("corpus list", "three-casings", "train", "Disease", 94.9, 66.4),
    ("corpus list", "three-casings", "test", "micro", 92.7, 58.1),
)


def main() -> None:
    """Label, score, print and write."""
    data = Path(os.environ["FASCICLE_DATA"])
    folder = data / "dict-autoner-bc5cdr"
    core, full = folder / "dict_core.txt", folder / "dict_full.txt"
    documents = {
        part: list(read(data / "bc5cdr" / "pubtator" / f"CDR_{name}Set.PubTator.txt"))
        for part, name in PARTS.items()
    }
    report: dict[str, object] = {
        "dictionaries": {
            path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in (core, full)
        },
        "reported": [
            dict(zip(("source", "rule", "part", "type", "precision", "recall"), line, strict=True))
            for line in REPORTED
        ],
        "raw": measure(read_dictionary(str(core)), "raw", documents),
        "core": measure(read_dictionary(str(core)), "three-casings", documents),
        "three-casings": measure(
            chain(read_dictionary(str(core)), read_dictionary(str(full), PHRASES)),
            "three-casings",
            documents,
        ),
    }
    for source, rule, part, kind, precision, recall in REPORTED:
        print(
            f"reported  {rule or '-':14s} {part:6s} {kind:9s} {precision:6.2f} {recall:6.2f}     "
            f"    {source}"
        )
    write_result("distant", report)


def measure(
    entries: Iterable[DictionaryEntry], rule: str, documents: dict[str, list[Document]]
) -> dict[str, object]:
    """Scores of one rule on each part, and what building and matching cost."""
    before = time.process_time()
    matcher = Matcher(entries, rule=rule)
    built = time.process_time() - before
    print("\n".join(f"{rule}: {line}" for line in matcher.counts.lines()))
    parts: dict[str, object] = {}
    for part, given in documents.items():
        before = time.process_time()
        patches = matcher.predict(given)
        spent = time.process_time() - before
        weak = [apply(document, patch) for document, patch in zip(given, patches, strict=True)]
        scores = score(layers(weak), layers(weak, source=SOURCE))
        show(rule, part, scores)
        parts[part] = {
            **row(scores),
            "words": row(score(by_word(weak), by_word(weak, source=SOURCE))),
            "unknown": sum(not match.types for found in matcher.matches(given) for match in found),
            "documents_per_cpu_second": round(len(given) / spent),
        }
    return {
        "matcher": matcher.version,
        "counts": matcher.counts.lines(),
        "build_cpu_seconds": round(built, 3),
        **parts,
    }


def by_word(documents: Iterable[Document], *, source: str = GOLD) -> dict[str, tuple[Mention, ...]]:
    """The words that the mentions of one source cover, each a mention of its own."""
    return {document.id: tuple(_words(document, source)) for document in documents}


def _words(document: Document, source: str) -> Iterator[Mention]:
    cut = RULES_1.words(document.text)
    for mention in document.layer(source):
        covered = (word for word in cut if any(overlaps(span, word) for span in mention.spans))
        yield from (Mention((word,), mention.type, source=source) for word in covered)


def show(rule: str, part: str, scores: Scores) -> None:
    """One line a type: precision, recall, F1."""
    named: Sequence[tuple[str, object]] = [(name, scores.rates(name)) for name in scores.by_type]
    for name, rates in (*named, ("micro", scores.micro)):
        percents = " ".join(
            f"{100 * getattr(rates, which):6.2f}" for which in ("precision", "recall", "f1")
        )
        print(f"measured  {rule:14s} {part:6s} {name:9s} {percents}")


if __name__ == "__main__":
    main()
