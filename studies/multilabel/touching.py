"""How often gold mentions touch, nest or have a breaker, in every corpus of ``$FASCICLE_DATA``.

usage: python -m studies.multilabel.touching

Written: ``results/touching.json``, from which ``studies.tables`` writes the table.

*tinybern2-kazu* names mentions of one type that touch as the limitation of IO. A mention touches
here if only spaces, and no line break, are between it and another of its type.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from fascicle.core.document import GOLD, Document, Mention
from fascicle.formats import ConllOptions, read
from studies.common import result, write_result

NAME = "touching"
BREAKERS = frozenset("();")
_LAYERS = ConllOptions(tag_columns=None)
_LAYERED = ("genia/layered", "germeval14-de", "chilean-waiting-list-es")
# Each line: the corpus, then its files; all parts together.
_FILES = """
anercorp anercorp/ANERCorp.gz
bc2gm bc2gm/iob/train.tsv.gz bc2gm/iob/devel.tsv bc2gm/iob/test.tsv
bc5cdr bc5cdr/iob/train.tsv bc5cdr/iob/devel.tsv bc5cdr/iob/test.tsv
bioid bioid/Train_revision.PubTator.gz bioid/Test_revision.PubTator.gz
bionlp11id bionlp11id/standoff.zip
bionlp13cg bionlp13cg/standoff.zip
bionlp13ge bionlp13ge/iob/train.tsv bionlp13ge/iob/devel.tsv bionlp13ge/iob/test.tsv
bionlp13gro bionlp13gro/standoff.zip
bionlp13pc bionlp13pc/standoff.zip
biored biored/Train.PubTator.gz biored/Dev.PubTator biored/Test.PubTator
cellfinder cellfinder/cellfinder1-brat.zip
chilean-waiting-list-es chilean-waiting-list-es/wl.train.iob2.gz \
  chilean-waiting-list-es/wl.dev.iob2 chilean-waiting-list-es/wl.test.iob2
conll04 conll04/conll04_train.json conll04/conll04_dev.json conll04/conll04_test.json
conllpp conllpp/conllpp_train.txt.gz conllpp/conllpp_dev.txt conllpp/conllpp_test.txt
craft craft/iob/train.tsv.gz craft/iob/devel.tsv craft/iob/test.tsv.gz
ct-ebm-sp-es ct-ebm-sp-es/ct-ebm-sp-brat.zip
dimb-re dimb-re/brat.zip
drugprot drugprot/DrugProt_Test.PubTator.gz
genia genia/nested.train.jsonl.gz genia/nested.dev.jsonl genia/nested.test.jsonl
germeval14-de germeval14-de/germ.train.iob2.gz germeval14-de/germ.dev.iob2 germeval14-de/germ.test.iob2
gnormplus-bc2gn gnormplus-bc2gn/Train.PubTator gnormplus-bc2gn/Test.PubTator
jnlpba jnlpba/iob2/train.iob2.gz jnlpba/iob2/devel.iob2 jnlpba/iob2/test.iob2
lener-br lener-br/train.conll.gz lener-br/dev.conll lener-br/test.conll
linnaeus linnaeus/iob/train.tsv.gz linnaeus/iob/devel.tsv linnaeus/iob/test.tsv
litbank litbank/litbank-entities.zip
livingner-es livingner-es/species_valid.iob2 livingner-es/species_test.iob2.gz
ncbi-disease ncbi-disease/iob/train.tsv ncbi-disease/iob/devel.tsv ncbi-disease/iob/test.tsv
nerel-bio nerel-bio/nerel-bio-v1.0.zip
nerel-ru nerel-ru/nerel-v1.1.zip
nlm-chem nlm-chem/Test.PubTator.gz
nlm-gene nlm-gene/Train.PubTator nlm-gene/Test.PubTator
pharmaconer-es pharmaconer-es/pharmaconer-brat.zip
scierc scierc/json/train.json scierc/json/dev.json scierc/json/test.json
msra-zh msra-zh/msra_test_bio.txt
weibo-ner-zh weibo-ner-zh/weiboNER_2nd_conll.train \
  weibo-ner-zh/weiboNER_2nd_conll.dev weibo-ner-zh/weiboNER_2nd_conll.test
wnut16 wnut16/train.conll wnut16/dev.conll wnut16/test.conll
wnut17 wnut17/wnut17train.conll wnut17/emerging.dev.conll wnut17/emerging.test.annotated
"""
CORPORA = tuple(line.split() for line in _FILES.strip().splitlines())
Row = tuple[int, int, str]


def counts_of(documents: Iterable[Document]) -> Counter[str]:
    """How many gold mentions there are, and how many touch, overlap or have a breaker.

    Mentions that are equal count once. Discontinuous ones count among ``mentions`` only.
    """
    found: Counter[str] = Counter()
    for document in documents:
        mentions = {(m.start, m.end, m.type): m for m in document.layer(GOLD) if len(m.spans) == 1}
        found["mentions"] += len({m.key for m in document.layer(GOLD)})
        rows = sorted(mentions)
        found["same_type"] += len(_overlapping(rows, same=True))
        found["other_type"] += len(_overlapping(rows, same=False))
        found["touching"] += len(_touching(document.text, mentions.values()))
        found["breaker"] += sum(
            not BREAKERS.isdisjoint(document.text[start:end]) for start, end, _ in rows
        )
    return found


def _overlapping(rows: list[Row], *, same: bool) -> set[Row]:
    """Which of sorted spans overlap another of the same type, or one of another type."""
    found: set[Row] = set()
    for number, row in enumerate(rows):
        for other in rows[number + 1 :]:
            if other[0] >= row[1]:
                break
            if (row[2] == other[2]) == same:
                found |= {row, other}
    return found


def _touching(text: str, mentions: Iterable[Mention]) -> set[Row]:
    """The mentions with another of their type right before or behind them."""
    found: set[Row] = set()
    begins: dict[tuple[int, str], list[Row]] = {}
    rows = [(m.start, m.end, m.type) for m in mentions]
    for row in rows:
        begins.setdefault((row[0], row[2]), []).append(row)
    for row in rows:
        place = row[1]
        while place < len(text) and text[place].isspace() and text[place] not in "\r\n":
            place += 1
        if following := begins.get((place, row[2])):
            found |= {row, *following}
    return found


def measure(data: Path) -> dict[str, dict[str, int]]:
    """The counts of each corpus that is there."""
    result = {}
    for name, *paths in CORPORA:
        if not (data / name).is_dir():
            print(f"{name}: not there", file=sys.stderr)
            continue
        options = _LAYERS if paths[0].startswith(_LAYERED) else None
        counts: Counter[str] = Counter()
        for path in paths:
            counts.update(counts_of(read(data / path, options=options)))
        result[name] = dict(counts)
        print(name, result[name], file=sys.stderr)
    return result


def table() -> str:
    """The corpora, those with the largest share of touching mentions first."""
    corpora: Mapping[str, Mapping[str, int]] = result(NAME).get("corpora", {})
    lines = [
        "| corpus | mentions | touch one of their type | overlap one of their type | overlap one "
        "of another type "
        "| with `(`, `)` or `;` |",
        "|---|---|---|---|---|---|",
    ]

    def share(counts: Mapping[str, int], name: str) -> float:
        return counts[name] / max(1, counts["mentions"])

    for corpus, counts in sorted(
        corpora.items(), key=lambda item: (-share(item[1], "touching"), item[0])
    ):
        cells = [
            f"{counts[k]:,} ({share(counts, k):.1%})"
            for k in ("touching", "same_type", "other_type", "breaker")
        ]
        lines.append(f"| {corpus} | {counts['mentions']:,} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> int:
    """Measures and writes ``results/touching.json``."""
    argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0]).parse_args()
    write_result(NAME, {"corpora": measure(Path(os.environ["FASCICLE_DATA"]))})
    return 0


if __name__ == "__main__":
    sys.exit(main())
