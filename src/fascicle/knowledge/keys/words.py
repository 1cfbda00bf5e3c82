"""Runs of letters as the tokens that count: Greek names on their own, singular, American, Roman numerals as digits."""

from __future__ import annotations

import re
from collections.abc import Iterator
from types import MappingProxyType
from typing import Final, NamedTuple

from fascicle.knowledge.keys.characters import GREEK
from fascicle.knowledge.keys.plurals import singular

_LONG: Final = "alpha|beta|gamma|delta|kappa|lambda|sigma|omega(?!l)|epsilon|upsilon"
# Short names are cut off only behind what cannot be the rest of a word: two letters or more, and no vowel.
_LAST: Final = re.compile(
    rf"(?:.*(?=(?:{_LONG})s?$)|[^aeiouy]{{2,}}(?=(?:zeta|theta|eta|iota|chi|psi|phi|rho|tau)$))", re.DOTALL
)
_FIRST: Final = re.compile(rf"(?:{_LONG})(?!s?$)")
_PREFIX: Final = re.compile(r"(?:non|anti)(?=.{5})", re.DOTALL)
_MAY_FALL_APART: Final = re.compile(rf"{_LONG}|^(?:non|anti)|(?:eta|iota|chi|psi|phi|rho|tau)$")
_INNER: Final = re.compile(rf".+?(?=(?:{_LONG}).{{1,3}}$)", re.DOTALL)  # ``nfkappab``
_WHOLE: Final = re.compile(
    "betain|betameth|betaxol|betahist|labetalol|betadin|betaser|betafer|alphabet|gammadex|deltameth"
)
_GREEK: Final = frozenset({*GREEK.values(), *(name + "s" for name in GREEK.values())})

_GREEK_PLURAL: Final = re.compile(rf"(?:{_LONG})s")
_ROMAN: Final = re.compile(r"(?=[ivx]{2})(x{0,3})(ix|iv|v?i{0,3})")
_BRITISH: Final = MappingProxyType(
    {
        "haem": "hem", "aemia": "emia", "aemic": "emic", "kaemi": "kemi", "anaem": "anem", "oedem": "edem",
        "oesoph": "esoph", "oestr": "estr", "foet": "fet", "paed": "ped", "gynaec": "gynec", "caec": "cec",
        "faec": "fec", "faecal": "fecal", "rrhoea": "rrhea", "pnoea": "pnea", "coeliac": "celiac", "homoeo": "homeo",
        "aetiolog": "etiolog", "anaesth": "anesth", "leucocyt": "leukocyt", "leucaem": "leukem", "leucop": "leukop",
        "sulph": "sulf", "aluminium": "aluminum", "caesium": "cesium", "caesarean": "cesarean", "fibre": "fiber",
        "phaeo": "pheo", "tumour": "tumor", "colour": "color", "behaviour": "behavior", "odour": "odor",
        "humour": "humor", "labour": "labor", "favour": "favor", "vapour": "vapor", "neighbour": "neighbor",
        "isation": "ization", "signalling": "signaling", "labelled": "labeled", "labelling": "labeling",
        "modelling": "modeling", "naevus": "nevus", "naevi": "nevi", "haemo": "hemo", "orthopaed": "orthoped",
        "encyclopaed": "encycloped", "amoeb": "ameb", "moebius": "mobius", "manoeuv": "maneuv", "mould": "mold",
        "defence": "defense", "catalogue": "catalog", "dialyse": "dialyze", "analyse": "analyze",
        "hydrolyse": "hydrolyze", "centre": "center", "litre": "liter", "goitre": "goiter", "titre": "titer",
        "synaesth": "synesth", "aesthes": "esthes", "ischaem": "ischem", "uraem": "urem", "haemat": "hemat",
        "palaeo": "paleo", "archaeo": "archeo", "praecox": "precox", "oesop": "esop", "grey": "gray",
    }
)  # fmt: skip
_BRITISH_STEM: Final = re.compile("|".join(sorted(_BRITISH, key=len, reverse=True)))


class Part(NamedTuple):
    """A token within a run of letters.

    Attributes:
        start: first character in the run.
        end: one past the last.
        text: in the form that counts.
    """

    start: int
    end: int
    text: str


def parts_of(run: str) -> tuple[Part, ...]:
    """The tokens of a run of folded letters.

    Names of Greek letters are tokens of their own at the ends of a run, and inside it up to three letters before its
    end: ``tnfalpha``, ``alphasyn``, ``nfkappab``. In ``betaine`` and its like there is none. ``non`` and ``anti`` are
    tokens too, for they are as often written with a hyphen as without.
    """
    if not _MAY_FALL_APART.search(run):
        return (Part(0, len(run), _settled(run)),)
    return tuple(Part(start, end, _settled(run[start:end])) for start, end in _cuts(run, 0))


def canonical(word: str) -> str:
    """A word in the singular, in American spelling, or as a number if it is a Roman numeral of two letters or more."""
    roman = _ROMAN.fullmatch(word) if word[0] in "ivx" else None
    if roman:
        tens, ones = roman.groups()
        return str(10 * len(tens) + (ones == "ix") * 9 + (ones == "iv") * 4 + _small(ones))
    return word[:-1] if _GREEK_PLURAL.fullmatch(word) else singular(american(word))


def american(word: str) -> str:
    """British stems as Americans spell them."""
    return _BRITISH_STEM.sub(lambda found: _BRITISH[found.group()], word)


def single_numeral(word: str) -> str:
    """A Roman numeral of one letter as digits, empty for any other word."""
    return str(_VALUES[word]) if word in _VALUES else ""


_VALUES: Final = MappingProxyType({"i": 1, "v": 5, "x": 10})


def _small(ones: str) -> int:
    return 0 if ones in ("ix", "iv") else ones.count("i") + 5 * ones.count("v")


def _settled(word: str) -> str:
    """The canonical form if that is its own, else the word itself; so a form never has another form."""
    now = canonical(word)
    if now == word or now.isdigit():
        return now
    again = canonical(now)
    if again != now and canonical(again) == again:
        now = again
    stable = canonical(now) == now and len(list(_cuts(now, 0))) == 1
    return now if stable else word


def _cuts(run: str, at: int) -> Iterator[tuple[int, int]]:
    """Where the tokens of a run are; the place of the run is added."""
    where = 0 if run in _GREEK or _WHOLE.search(run) else _cut(run)
    if not where:
        yield at, at + len(run)
        return
    yield from _cuts(run[:where], at)
    yield from _cuts(run[where:], at + where)


def _cut(run: str) -> int:
    """Where a run falls in two, 0 if it does not."""
    for pattern in (_LAST, _FIRST, _INNER):
        found = pattern.match(run)
        if found and 0 < found.end() < len(run):
            return found.end()
    found = _PREFIX.match(canonical(run))  # in the singular: ``antigens`` is cut no more than ``antigen``
    return found.end() if found and run.startswith(found.group()) else 0
