"""Training text in which mentions gave way to other names of their type: new names in known
contexts.

usage: python -m studies.conventions.replaced GRID RUN NAMES.tsv -o FOLDER [--seed N]
       [--fresh FOLDER] [--cases SHARE]

RUN is a run of GRID; its parts are read as training reads them, without what the exclusion lists
name. NAMES.tsv is what `fascicle index export` writes. FOLDER gets one file of JSON Lines for each
part, with a tenth of its documents. In these, every mention of one text and type gives way to one
name of this type, which is drawn by the seed. In a tenth of the cases the name is one of `RECENT`,
which no text at hand has. Documents with overlapping mentions stay as they are.

With --fresh, half of the names come from the vocabularies of 2026 in this folder (fresh.py). With
--cases, a share of the documents follows in lower case, capitals or Title Case (cased.py), with
the mentions that they had.
"""

from __future__ import annotations

import argparse
import csv
import random
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

import msgspec

from fascicle.core.document import GOLD, Document, Mention
from fascicle.formats import write
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.training.experiments.grid import read_grid
from fascicle.training.several import read_corpora
from studies.conventions.cased import in_case
from studies.conventions.fresh import fresh_names

SHARE: Final = 0.1
RECENT_SHARE: Final = 0.1
FRESH_SHARE: Final = 0.5
RECENT: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "Disease": (
            "COVID-19",
            "Covid-19",
            "coronavirus disease 2019",
            "long COVID",
            "SARS-CoV-2 infection",
            "mpox",
        ),
        "Species": (
            "SARS-CoV-2",
            "2019-nCoV",
            "severe acute respiratory syndrome coronavirus 2",
            "MERS-CoV",
        ),
        "Chemical": (
            "remdesivir",
            "nirmatrelvir",
            "molnupiravir",
            "semaglutide",
            "pembrolizumab",
            "osimertinib",
        ),
        "CellLine": ("Calu-3", "Vero E6", "HEK293T", "Caco-2", "Expi293F", "iPSC-1"),
        "Gene": ("ACE2", "TMPRSS2", "ORF8", "KRAS", "PD-L1", "cGAS"),
    }
)
RULES: Final = "rules@1"
_LONGEST, _MOST_WORDS = 40, 5
Names = Mapping[str, Sequence[str]]


class Pool(NamedTuple):
    """Names that are drawn.

    Attributes:
        names: type -> names of a pack.
        fresh: type -> names of newer vocabularies, which give half of the names of their types.
    """

    names: Names
    fresh: Names

    def name(self, kind: str, drawn: random.Random) -> str:
        """Returns a name of a type; empty if there is none."""
        recent = drawn.random() < RECENT_SHARE
        newer = self.fresh.get(kind) if self.fresh and drawn.random() < FRESH_SHARE else None
        known = (RECENT.get(kind) if recent else None) or newer or self.names.get(kind, ())
        return drawn.choice(known) if known else ""


def main(argv: Sequence[str] | None = None) -> None:
    """Writes the files."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("grid")
    parser.add_argument("run")
    parser.add_argument("names", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fresh", type=Path)
    parser.add_argument("--cases", type=float, default=0)
    args = parser.parse_args(argv)
    names = Pool(names_of(args.names), fresh_names(args.fresh) if args.fresh else {})
    (recipe,) = (run.resolved() for run in read_grid(args.grid).runs if run.name == args.run)
    assert isinstance(recipe, Recipe)
    args.output.mkdir(parents=True, exist_ok=True)
    for part in read_corpora(recipe):
        drawn = random.Random(f"{args.seed} {part.name}")
        changed = with_other_names(part.train, names, drawn)
        changed += in_other_cases(part.train, args.cases)
        write(str(args.output / f"{part.name}.jsonl"), changed, overwrite=True)
        sys.stdout.write(f"{part.name}: {len(changed):,} of {len(part.train):,} documents\n")


def names_of(path: Path) -> dict[str, list[str]]:
    """Type -> names of a table that `fascicle index export` wrote.

    Names that the pack does not look for are left out, and those that are too long to stand in a
    sentence.
    """
    names = defaultdict[str, list[str]](list)
    with path.open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE):
            name = row["surface"]
            fits = (
                2 < len(name) <= _LONGEST
                and len(name.split()) <= _MOST_WORDS
                and any(map(str.isalpha, name))
            )
            if fits and not row["off"]:
                names[row["type"]].append(name)
    return dict(names)


def with_other_names(
    documents: Iterable[Document], names: Pool, drawn: random.Random
) -> list[Document]:
    """A tenth of the documents that have mentions, with other names in their places.

    Args:
        documents: with gold mentions.
        names: a type ``Gene.bc2gm`` takes those of ``Gene``.
        drawn: decides which documents and which names.
    """
    fitting = [one for one in documents if one.layer(GOLD) and _is_flat(one)]
    chosen = drawn.sample(fitting, round(SHARE * len(fitting)))
    return [replaced(one, lambda kind: names.name(kind.partition(".")[0], drawn)) for one in chosen]


def in_other_cases(documents: Iterable[Document], share: float) -> list[Document]:
    """The documents that are drawn for another case, in it and with an id that says so."""
    cased = (in_case(document, share=share, rules=RULES) for document in documents)
    return [
        msgspec.structs.replace(document, id=f"{document.id} in {case}")
        for case, document in cased
        if case != "as written"
    ]


def replaced(document: Document, name_of: Callable[[str], str]) -> Document:
    """A document in which each text of a type gave way to one name.

    Args:
        document: without overlapping mentions; words, sentences and sections are left out.
        name_of: type -> a name, or an empty string to keep the text.
    """
    text, mentions, at = "", list[Mention](), 0
    given = dict[tuple[str, str], str]()
    for mention in sorted(document.layer(GOLD), key=lambda one: one.start):
        old = document.text[mention.start : mention.end]
        if (mention.type, old) not in given:
            given[mention.type, old] = name_of(mention.type) or old
        text += document.text[at : mention.start]
        start, at = len(text), mention.end
        text += given[mention.type, old]
        mentions.append(Mention(spans=((start, len(text)),), type=mention.type, source=GOLD))
    return Document(id=document.id, text=text + document.text[at:], mentions=tuple(mentions))


def _is_flat(document: Document) -> bool:
    """Whether no mention overlaps another one, and none has several fragments."""
    mentions = sorted(document.layer(GOLD), key=lambda one: one.start)
    return all(len(one.spans) == 1 for one in mentions) and all(
        a.end <= b.start for a, b in pairwise(mentions)
    )


if __name__ == "__main__":
    main()
