"""Mentions whose name has another type in the pack than a network gave them, and mentions that are
no names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Final

from msgspec.structs import replace

from fascicle.core.document import Mention
from fascicle.core.lexicon import small_words
from fascicle.core.mention import Span
from fascicle.runtime.decoding.neutral import score_of
from fascicle.settings.decision import TypeDecision

_ANATOMY: Final = "Anatomy"
_DISEASE: Final = "Disease"
_SPECIES: Final = "Species"
_GENE: Final = "Gene"  # genes are named by words too: for, no
_WORDS: Final = re.compile(r"(?=.{4}).*[a-z]{3}.*")  # no symbol and no short form
_DISEASES: Final = re.compile(r"[A-Za-z' -]*(?:itis|[oi]asis|os[ie]s|a?emia|oma|pathy|trophy|uria)")
# stems of biotechnological drugs, which a network takes for proteins or for what they treat
_BIOTECH: Final = re.compile(
    r"[A-Za-z][a-z]*(?:teplase|grastim|gramostim|sulfase|glucerase|uricase"
    r"|loticase|aspargase|mab|cept|siran|nersen)"
    r"|\w*poetin (?:alfa|beta)|(?:[Pp]eg)?[Ii]nterferon (?:alfa|beta)-\d[ab]?"
)
_LINES: Final = re.compile(r"(?=(?:.*[A-Z]){2})[A-Z][\w-]+(?<!s)")  # no Mmm1 and no MEC 4
_LEAST: Final = 5  # letters and digits of a line that no words about cells need to follow
_OF_CELLS: Final = r"[\s-](?:\w+\s)?(?:cells?|lines?)\b"
_STEM_CELLS: Final = re.compile(r"[a-z]{0,2}[A-Z]*SCs")
_SHORT: Final = re.compile(r"[A-Z]{4,}")  # shorter ones may mean anything
# behind a disease whose gene is called like it, and behind others in its list
_OF_GENES: Final = re.compile(
    r"(?:(?:,\s(?:and\s|or\s)?|\s(?:and|or)\s|/)(?=[\w-]*[A-Z\d])[\w-]+){0,9}(?:\s\([^()]{1,20}\))?[\s-]"
    r"(?:(?:gene|protein|mRNA|cDNA|transcript|mutation|product|allele|promoter)s?|loc(?:us|i))\b"
)
_LONG: Final = re.compile(r"[\s\S]{4,}")
# behind the name of an organism that is that of its disease too
_OF_ORGANISMS: Final = re.compile(
    r"(?:[\s-]|\s(?:and|or)\s\w+\s)(?:[Vv]ir(?:us|al|ion)|[Vv]accin|infect|particle|strain|genom"
    r"|envelope|antigen|protein|RNA|NS\d|isolate|replic|neutrali|[Tt]ox(?:in|oid)|bacill|spore)"
)
_BINOMIAL: Final = re.compile(r"[A-Z](?:[a-z]+ |\. ?)[a-z]{3,}")
# Type that a network gave -> type in the pack -> names for which the pack is right. Food is a
# species and a chemical, and many chemicals of MeSH are proteins, so that these pairs are left as
# the network has them.
_RULES: Final[Mapping[str, Mapping[str, re.Pattern[str]]]] = MappingProxyType(
    {
        "Chemical": {_DISEASE: _WORDS, "CellType": _WORDS, _SPECIES: _BINOMIAL},
        "CellLine": {_DISEASE: _WORDS, _SPECIES: _BINOMIAL, "CellType": _STEM_CELLS},
        "CellType": {_ANATOMY: _WORDS, _SPECIES: _BINOMIAL},
        _DISEASE: {_ANATOMY: _WORDS, _SPECIES: _BINOMIAL, "Chemical": _BIOTECH},
        _SPECIES: {_ANATOMY: _WORDS, _DISEASE: _LONG},
        _GENE: {
            _SPECIES: _BINOMIAL,
            "Chemical": _BIOTECH,
            "CellLine": _LINES,
            _DISEASE: _SHORT,
        },
    }
)


def with_own_types(
    mentions: list[Mention],
    names: Mapping[int, str],
    types: Mapping[str, str],
    *,
    allowed: Mapping[str, TypeDecision],
    text: str,
) -> list[Mention]:
    """Returns mentions of which a name has its type in the pack where a network is known to err:
    ``strabismus`` is no chemical, and ``alteplase`` no gene. A part of the body is no mention of a
    model without that type, and a word such as ``no`` is none.

    Args:
        mentions: of a network.
        names: those of the mentions that may stay, by their indices.
        types: of the names that mean one type alone.
        allowed: the types of the model, and the scores with which their mentions stay.
        text: of the document; if it is written without capitals, ``no`` may be a symbol.
    """
    changes: dict[int, str] = {}
    has_capitals = text != text.lower()
    # once for a name, however often the text has it
    names_cells = cache(lambda name: bool(re.search(rf"\b{re.escape(name)}{_OF_CELLS}", text)))
    scores = {(mention.type, mention.spans): score_of(mention) for mention in mentions}
    for at, name in names.items():
        mention, other = mentions[at], types.get(name, "")
        is_given = other in allowed or other == _ANATOMY
        if (
            is_given
            and _has_rule(mention.type, other, name)
            and _is_meant(mention, name, other, text, names_cells=names_cells)
            and not _would_go(mention, name, other, scores, allowed)
        ):
            changes[at] = other
        elif has_capitals and mention.type != _GENE and name in small_words():
            changes[at] = ""
    return _changed(mentions, changes, allowed=allowed) if changes else mentions


def _has_rule(kind: str, other: str, name: str) -> bool:
    rule = _RULES.get(kind, {}).get(other)
    return rule is not None and rule.fullmatch(name) is not None


def _would_go(
    mention: Mention,
    name: str,
    other: str,
    scores: Mapping[tuple[str, tuple[Span, ...]], float],
    allowed: Mapping[str, TypeDecision],
) -> bool:
    """True if nothing would be left of an organism that may be its disease, as the scores are too
    low for a disease.
    """
    if (mention.type, other) != (_SPECIES, _DISEASE) or _DISEASES.fullmatch(name):
        return False
    best, rule = max(score_of(mention), scores.get((other, mention.spans), 0.0)), allowed[other]
    return best < min(rule.low, rule.alone, rule.known)


def _is_meant(
    mention: Mention, name: str, other: str, text: str, *, names_cells: Callable[[str], bool]
) -> bool:
    """True unless the text leaves open whether the name has the other type: ``Zika`` may be the
    virus or the disease, and ``TOC1`` a gene.
    """
    match mention.type, other:
        case "Species", "Disease":
            is_disease = _DISEASES.fullmatch(name) is not None
            return is_disease or not _OF_ORGANISMS.match(text, mention.end)
        case "Gene", "Disease":
            return not _OF_GENES.match(text, mention.end)
        case "Gene", "CellLine":
            if text.startswith("+", mention.end):  # of a genotype: HCT116p53+/+
                return False
            return sum(map(str.isalnum, name)) >= _LEAST or names_cells(name)
        case _:
            return True


def _changed(
    mentions: list[Mention], changes: Mapping[int, str], *, allowed: Collection[str]
) -> list[Mention]:
    """Returns the mentions with other types, each place once for a type, with its best score."""
    rest = [mention for at, mention in enumerate(mentions) if at not in changes]
    return once(
        rest,
        [replace(mentions[at], type=kind) for at, kind in changes.items() if kind in allowed],
    )


def once(mentions: Sequence[Mention], changed: Sequence[Mention]) -> list[Mention]:
    """Returns mentions, and changed ones, each place once for a type, with the best score that it
    has.

    Args:
        mentions: that stay.
        changed: others whose type or place is a new one.
    """
    best: dict[tuple[str, tuple[Span, ...]], Mention] = {}
    for mention in sorted(changed, key=score_of, reverse=True):
        best.setdefault((mention.type, mention.spans), mention)
    result = list[Mention]()
    for mention in mentions:
        other = best.pop((mention.type, mention.spans), mention)
        result.append(max(mention, other, key=score_of))
    return [*result, *best.values()]
