"""Relations between concepts, counted as BC5CDR and BioRED count them.

BC5CDR (Li et al. 2016, 10.1093/database/baw068): distinct (document, chemical, disease) by MeSH id;
the test set has 1,066. BioRED (Luo et al. 2022, 10.1093/bib/bbac282): pairs of concepts without an
order; then with their type; then with novelty, too. Its test set has 1,163.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from random import Random
from typing import Any

import pytest

DATA = os.environ.get("FASCICLE_DATA")
Cli = Callable[..., Any]
Row = tuple[str, ...]  # document, type, two concepts and, in BioRED, novelty
Key = Callable[[Row], Any]
CID = "bc5cdr/pubtator/CDR_TestSet.PubTator.txt", 1066
BIORED = "biored/Test.PubTator", 1163
TITLE = "|t|Lithium and tremor in mice\n"
MADE = (
    f"1{TITLE}1|a|\n1\t0\t7\tLithium\tChemical\tD1\n"
    "1\tCID\tD1\tD2\n1\tCID\tD1\tD2\n1\tCID\tD1\tD3\n\n"
    f"2{TITLE}2|a|\n2\tCID\tD4\tD3\n\n3{TITLE}3|a|\n\n",
    f"1{TITLE}1|a|\n1\tAssociation\tD1\tD2\tNovel\n1\tBind\tD1\tp|SUB|V||M\tNo\n"
    f"1\tBind\tD2\tD1\tNo\n\n2{TITLE}2|a|\n2\tBind\tD1\tD2\tNo\n\n",
)


def cells_of(line: str) -> Row | None:
    cells = tuple(line.split("\t"))
    return cells if len(cells) in (4, 5) and not cells[1].isdecimal() else None


def changed(text: str, seed: int, *, turned: bool) -> str:
    """A prediction: relations of the gold, some left out, twice, or with another type, concept,
    novelty or order.
    """
    random, lines = Random(seed), []
    for line in text.splitlines():
        cells = cells_of(line)
        if cells is None:
            lines.append(line)
            continue
        document, kind, first, second, *novelty = cells
        others = {
            0: [],
            1: [cells, cells],
            2: [(document, "Cotreatment", first, second, *novelty)],
            3: [(document, kind, first, "D99", *novelty)],
            4: [(document, kind, first, second, *(["No"] if novelty else []))],
            5: [(document, kind, second, first, *novelty) if turned else cells],
        }
        lines += map("\t".join, others.get(random.randrange(9), [cells]))
    return "\n".join(lines) + "\n"


def counts(gold: Iterable[Row], predicted: Iterable[Row], key: Key) -> tuple[int, int, int]:
    wanted, found = set(map(key, gold)), set(map(key, predicted))
    return len(wanted & found), len(found - wanted), len(wanted - found)


def pair(row: Row) -> Row:
    return row[0], *sorted(row[2:4])


COUNTED: dict[str, Key] = {
    "ends": pair,
    "micro": lambda row: (row[1], *pair(row)),
    "novelty": lambda row: (row[1], row[4], *pair(row)),
}


def check(cli: Cli, folder: Path, text: str, names: Iterable[str], *, turned: bool) -> int:
    """Compares the counts with those of the rows; returns the number of gold relations."""
    predicted = changed(text, 1, turned=turned)
    for name, content in (("gold", text), ("predicted", predicted)):
        (folder / f"{name}.pubtator").write_text(content)
    places = (folder / f"{name}.pubtator" for name in ("gold", "predicted"))
    (system,) = json.loads(cli("evaluate", *places, "--relations", "--json").out)["systems"]
    assert ("novelty" in system) == ("novelty" in names)
    sides = [list(filter(None, map(cells_of, each.splitlines()))) for each in (text, predicted)]
    for name in names:
        row = system[name]
        assert (row["tp"], row["fp"], row["fn"]) == counts(*sides, COUNTED[name])
    return int(system["micro"]["tp"] + system["micro"]["fn"])


def test_repeated_turned_and_composite_rows(cli: Cli, tmp_path: Path) -> None:
    assert check(cli, tmp_path, MADE[0], ("micro", "ends"), turned=False) == 3
    assert check(cli, tmp_path, MADE[1], COUNTED, turned=True) == 4


@pytest.mark.slow
@pytest.mark.skipif(DATA is None, reason="FASCICLE_DATA is not set")
@pytest.mark.parametrize("corpus", [CID, BIORED])
def test_test_sets(cli: Cli, tmp_path: Path, corpus: tuple[str, int]) -> None:
    name, published = corpus
    text = (Path(DATA or "") / name).read_text().replace("\r\n", "\n")
    names = ("micro", "ends") if corpus is CID else tuple(COUNTED)
    assert check(cli, tmp_path, text, names, turned=corpus is BIORED) == published
