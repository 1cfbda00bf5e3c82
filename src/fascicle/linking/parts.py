"""Parts of a mention that names several things, such as ``breast and ovarian cancer`` and
``5-HT2A/2C``.
"""

from __future__ import annotations

import re
from typing import Final

MOST_PARTS: Final = 8
LONGEST: Final = 200  # characters of a mention that is read as several
_BETWEEN: Final = re.compile(
    r"\s*,\s*(?:and|or)\s+|\s+(?:and/or|and|or|as well as)\s+|\s*[,/&;]\s*"
)
OF_ENZYME: Final = r"\d{1,2}[A-Z]\d{1,2}"  # CYP2C9, UGT1A1: a family, a subfamily and a member
# How parts of one name end, each with what stands behind their stem: BRCA1/2, 5-HT2A/2C, STAT3/5a,
# IL-1α/β, HIF-1α/2α, TGF-β1/β2, CYP2C9/2C19.
_ENDINGS: Final = tuple(
    (re.compile(rf"-?{form}"), re.compile(rf"(.*[^\W_]-??){first}"))
    for form, first in (
        (OF_ENZYME, rf"(?<!\d){OF_ENZYME}"),
        (r"\d{1,2}[A-Za-z]", r"(?<!\d)\d{1,2}[A-Za-z]?"),
        (r"\d{1,2}[α-ω]", r"(?<!\d)\d{1,2}[α-ω]"),
        *((form, form) for form in (r"[α-ω]\d{1,2}", r"(?<!\d)\d{1,2}", "[α-ω]", "[A-Za-z]")),
    )
)
_NUMBER: Final = r"(?:\d{1,2}|[IVX]{1,4}|[A-Z]\d{0,2})"
_HEAD: Final = re.compile(rf"(.*\S )({_NUMBER})")
_OTHER: Final = re.compile(_NUMBER)
_TAIL: Final = re.compile(rf"({_NUMBER})((?: .*)?)")
# no plural is herpes, diabetes, rabies, caries or Saccharomyces
_PLURAL: Final = re.compile(
    r"(?<=virus)es(?= $)"
    r"|(?<=[a-z]{2}[^isu])(?<!herpe)(?<!diabete)(?<!rabie)(?<!carie)(?<!myce)s(?= $)"
)
# A letter alone, and one with a number, name other things than these with it: nutrients P and K.
_OF_LETTERS: Final = frozenset(
    ("vitamin", "cyclin", "cathepsin", "prostaglandin", "apolipoprotein", "immunoglobulin")
)
_NUMERAL: Final = re.compile(r"\d+|[IVX]{2,}")
_SERIES_BEFORE: Final = re.compile(
    rf"(?<!\S)([A-Za-z-]{{3,}})s\s{_NUMBER}(?:,\s{_NUMBER})*(?:,\s|,?\s(?:and|or)\s)\Z"
)
_STEM_BEFORE: Final = re.compile(r"([^\s()/,;]*[^\W\d_][^\s()/,;]*)/\Z")
_ENZYMES_BEFORE: Final = re.compile(
    rf"(?<![^\W_])([A-Z]{{3,}}){OF_ENZYME}(?:(?:,\s|,?\s(?:and|or)\s)(?:\1)?{OF_ENZYME})*"
    r"(?:,\s|,?\s(?:and|or)\s)\Z"
)
_REACH: Final = 30  # characters before a part, in which its stem is


def with_stem(text: str, start: int, surface: str) -> str:
    """Returns a part of a name with its stem, which stands before it: ``5-HT1D`` for ``1D`` in
    ``5-HT1B/1D``, ``vitamin C`` for ``C`` in ``vitamins E and C``, and ``CYP2C19`` for ``2C19`` in
    ``CYP2C9 and 2C19``.
    """
    if (
        _OTHER.fullmatch(surface)
        and (series := _SERIES_BEFORE.search(text[max(0, start - 2 * _REACH) : start]))
        and (series[1].lower() in _OF_LETTERS or _NUMERAL.fullmatch(surface))
    ):
        return f"{series[1]} {surface}"
    if re.fullmatch(OF_ENZYME, surface) and (
        series := _ENZYMES_BEFORE.search(text[max(0, start - 2 * _REACH) : start])
    ):
        return f"{series[1]}{surface}"
    if text[start - 1] != "/" or not any(ending.fullmatch(surface) for ending, _ in _ENDINGS):
        return surface
    before = _STEM_BEFORE.search(text[max(0, start - _REACH) : start])
    return ((before and _counted([before[1], surface])) or ("", surface))[1]


def numbered_names(surface: str) -> tuple[str, ...]:
    """Splits ``vitamins A and E`` into ``vitamin A`` and ``vitamin E``, and ``types 1 and 2
    diabetes`` into ``type 1 diabetes`` and ``type 2 diabetes``; empty for other names.
    """
    first, *others = _BETWEEN.split(surface) if len(surface) <= LONGEST else [""]
    head, tail = _HEAD.fullmatch(first), _TAIL.fullmatch(others[-1]) if others else None
    *middle, _ = others or [""]
    if head is None or tail is None or not all(map(_OTHER.fullmatch, middle)):
        return ()
    stem = _PLURAL.sub("", head[1])
    return tuple(f"{stem}{number}{tail[2]}" for number in (head[2], *middle, tail[1]))


def name_readings(surface: str, *, bare_endings: bool = True) -> tuple[tuple[str, ...], ...]:
    """Returns the ways to read a mention as several names (``breast and ovarian cancer``), the
    likeliest first.

    Args:
        surface: its words.
        bare_endings: whether a part may be the ending of a name alone, as ``1D`` of ``5-HT1B/1D``.

    Returns:
        For each reading the parts; none for a mention that names one thing.
    """
    parts = [part for part in _BETWEEN.split(surface) if part] if len(surface) <= LONGEST else []
    if not 2 <= len(parts) <= MOST_PARTS:
        return ()
    plain = bare_endings or not any(
        ending.fullmatch(part) for part in parts for ending, _ in _ENDINGS
    )
    readings = [
        numbered_names(surface),
        _counted(parts),
        _with_shared_end(parts),
        _with_shared_start(parts),
        tuple(parts) if plain else (),
    ]
    return tuple(dict.fromkeys(reading for reading in readings if reading))


def _counted(parts: list[str]) -> tuple[str, ...]:
    """Splits ``BRCA1/2`` into ``BRCA1`` and ``BRCA2``, and ``5-HT2A/2C`` into ``5-HT2A`` and
    ``5-HT2C``.
    """
    names = [parts[0]]
    for part in parts[1:]:
        stems = (stem.fullmatch(parts[0]) for ending, stem in _ENDINGS if ending.fullmatch(part))
        stem = next((match for match in stems if match), None)
        if stem is None:
            return ()
        names.append((stem[1].rstrip("-") if part.startswith("-") else stem[1]) + part)
    return tuple(names)


def _with_shared_end(parts: list[str]) -> tuple[str, ...]:
    """Splits ``breast and ovarian cancer`` into ``breast cancer`` and ``ovarian cancer``."""
    words = parts[-1].split(" ")
    if len(words) < 2:
        return ()
    return (*(f"{part} {words[-1]}" for part in parts[:-1]), parts[-1])


def _with_shared_start(parts: list[str]) -> tuple[str, ...]:
    """Splits ``vitamins A and E`` into ``vitamins A`` and ``vitamins E``."""
    words = parts[0].split(" ")
    if len(words) < 2:
        return ()
    return (parts[0], *(f"{' '.join(words[:-1])} {part}" for part in parts[1:]))
