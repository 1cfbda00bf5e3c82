"""Amino acids and bases: their letters, short names and names."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

_AMINO_ACIDS: Final = (
    "A Ala alanine,C Cys cysteine,D Asp aspartic acid|aspartate,E Glu glutamic acid|glutamate,F Phe phenylalanine,"
    "G Gly glycine,H His histidine,I Ile isoleucine,K Lys lysine,L Leu leucine,M Met methionine,N Asn asparagine,"
    "P Pro proline,Q Gln glutamine,R Arg arginine,S Ser serine,T Thr threonine,V Val valine,W Trp tryptophan,"
    "Y Tyr tyrosine,U Sec selenocysteine,X Ter stop codon|termination codon|stop|amber|ochre|opal|\\*"
)
_BASES: Final = "A adenine|adenosine,C cytosine|cytidine,G guanine|guanosine,T thymine|thymidine,U uracil|uridine"


def _short_names() -> dict[str, str]:
    found: dict[str, str] = {}
    for row in _AMINO_ACIDS.split(","):
        letter, short, names = row.split(" ", 2)
        for name in (letter, short, *names.replace("\\", "").split("|")):
            found[name.lower()] = short
    return found


SHORT_NAMES: Final = MappingProxyType(_short_names())  # any way to write an amino acid, in lower case -> ``Val``
BASES: Final = MappingProxyType(
    {name: row[0] for row in _BASES.split(",") for name in (row[0].lower(), *row[2:].split("|"))}
)  # any way to write a base, in lower case -> its letter
LETTER: Final = r"[ACDEFGHIKLMNPQRSTVWY]"
SHORT: Final = "|".join(row.split(" ")[1] for row in _AMINO_ACIDS.split(",")[:-1])
NAME: Final = "|".join(name for row in _AMINO_ACIDS.split(",")[:-1] for name in row.split(" ", 2)[2].split("|"))
STOP: Final = r"stop|Stop|STOP|Ter|ter|TER|X|\*"
BASE_NAME: Final = "|".join(row[2:] for row in _BASES.split(","))
LETTERS: Final = MappingProxyType({row.split(" ")[1]: row[0] for row in _AMINO_ACIDS.split(",")})  # ``Val`` -> ``V``
