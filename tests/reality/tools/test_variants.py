"""mutalyzer-hgvs-parser 0.4.0 on 1,000 descriptions, which are made from what the nomenclature of
HGVS has (https://hgvs-nomenclature.org, version 21), and what Fascicle finds of each in a sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice
from random import Random
from typing import Any

from mutalyzer_hgvs_parser import to_model
from tests.terms.test_variant_recogniser import CODES, names_of

COUNT, MISSED = 1_000, 5
ACIDS = sorted(set(CODES.values()))
SEQUENCES = {
    "c": "NM_004006.2",
    "g": "NC_000023.11",
    "m": "NC_012920.1",
    "n": "NR_002196.2",
    "o": "NC_000932.1",
    "p": "NP_003997.1",
    "r": "NM_004006.2",
}
LEVELS, SHARES = "cgmnorp", (8, 3, 2, 2, 1, 3, 9)


class Bases:
    """Changes of bases at one level."""

    def __init__(self, random: Random, level: str) -> None:
        self.random, self.level = random, level

    def number(self) -> int:
        return self.random.randint(1, 9_000) + 30_000_000 * (self.level == "g")

    def place(self) -> str:
        number, small = self.number(), self.random.randint(1, 200)
        forms = [f"{number}"] * 3
        forms += [f"{number}+{small % 40 + 1}", f"{number}-{small % 40 + 1}"] * (self.level in "cn")
        forms += [f"-{small}", f"*{small}"] * (self.level == "c")
        return self.random.choice(forms)

    def pair(self, gap: int = 0) -> str:
        first = self.number()
        return f"{first}_{first + (gap or self.random.randint(1, 60))}"

    def bases(self, size: int = 0) -> str:
        drawn = "".join(self.random.choices("ACGT", k=size or self.random.randint(1, 8)))
        return drawn.lower().replace("t", "u") if self.level == "r" else drawn

    def unsure(self, start: int, end: int) -> str:
        numbers = sorted(self.random.sample(range(start, end), 2))
        return "({}_{})".format(*numbers)

    def change(self) -> str:
        place, pair, bases, between = self.place(), self.pair(), self.bases(), self.pair(1)
        old, new = self.random.sample("acgu" if self.level == "r" else "ACGT", 2)
        many, unknown = self.random.randint(2, 60), "n" if self.level == "r" else "N"
        return self.random.choice(
            [
                *[f"{place}{old}>{new}"] * 3,
                *(f"{at}{event}" for at in (place, pair) for event in ("del", "dup", "=")),
                *(f"{at}delins{bases}" for at in (place, pair)),
                f"{pair}inv",
                f"{pair}delins{self.pair()}",
                *(f"{between}ins{added}" for added in (bases, self.pair(), f"{self.pair()}inv")),
                *(f"{between}ins{added}[{many}]" for added in (unknown, self.bases(2))),
                f"{between}ins[{bases};{self.pair()}]",
                *(f"{at}[{many}]" for at in (place, f"{place}{bases}", self.pair(2))),
                f"{place}{old}=",
                f"{self.unsure(1, 180)}_{self.unsure(181, 400)}del",
                f"(?_{many})_({many + 70}_?)dup",
            ]
        )


def of_protein(random: Random) -> str:
    """A change of a protein, foretold for a third of them."""
    first, second, third, *more = random.sample(ACIDS, 3 + random.randint(1, 4))
    start, size, added = random.randint(2, 4_000), random.randint(2, 90), "".join(more)
    place, range_, between = (
        f"{first}{start}",
        f"{first}{start}_{third}{start + size}",
        f"{first}{start}_{third}{start + 1}",
    )
    made = random.choice(
        [
            *[f"{place}{second}"] * 3,
            *(f"{place}{what}" for what in ("Ter", "*", "=", "Xaa", f"[{size}]")),
            *(f"{at}{event}" for at in (place, range_) for event in ("del", "dup")),
            *(f"{at}delins{added}" for at in (place, range_)),
            *(f"{between}ins{what}" for what in (added, f"{second}Ter", f"Xaa[{size}]")),
            f"{range_}[{size}]",
            f"{place}fs",
            *(f"{place}{second}fs{stop}" for stop in (f"Ter{size}", f"*{size}", "Ter?")),
            *(f"{stop}{start}{second}ext{stop}{size}" for stop in ("Ter", "*")),
            *(f"Ter{start}{second}extTer?", f"Met1ext-{size}", "Met1?"),
        ]
    )
    return f"({made})" if random.random() < 0.35 else made


def descriptions() -> Iterator[tuple[str, str]]:
    """Levels and descriptions, some with a sequence, some with several variants."""
    random = Random(7)
    while True:
        (level,) = random.choices(LEVELS, SHARES)
        change: Callable[[], str] = Bases(random, level).change
        if level == "p":
            change = lambda: of_protein(random)  # noqa: E731
        one, two, drawn = change(), change(), random.random()
        if drawn < 0.13:
            plain = [each.strip("()") if level == "p" else each for each in (one, two)]
            one = "[{}]".format((";" if drawn < 0.08 else "];[").join(plain))
        elif level in "cr" and drawn > 0.9:
            one = f"({one})"
        start = f"{SEQUENCES[level]}:" if level == "o" or random.random() < 0.5 else ""
        yield level, f"{start}{level}.{one}"


def model(level: str, text: str) -> list[Any]:
    """The variants that the parser reads, those of an allele too; none if it refuses the text."""
    whole = text if ":" in text else f"{SEQUENCES[level]}:{text}"
    # the parser keeps * and Ter apart, which say the same
    return _parsed(whole.replace("*", "Ter") if level == "p" else whole)


@cache
def _parsed(whole: str) -> list[Any]:
    try:
        variants = to_model(whole)["variants"]
    except Exception:  # its errors have no class in common
        return []
    return [one for part in variants for one in (part if isinstance(part, list) else [part])]


def test_what_the_nomenclature_has_is_found_and_means_the_same() -> None:
    missed = 0
    read_by_both = ((level, text, model(level, text)) for level, text in descriptions())
    for level, text, wanted in islice((one for one in read_by_both if one[2]), COUNT):
        names = [name for _, name in names_of(f"The variant {text} was found.")]
        if len(names) < len(wanted):
            missed += 1
        else:
            assert [one for name in names for one in model(level, name) or [name]] == wanted, text
            assert (":" in text) == all(":" in name for name in names), text
    assert missed <= MISSED
