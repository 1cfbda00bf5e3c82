"""What induces a disease: of ``drug-induced fever`` in a text, ``fever`` is the effect, and the
drug its cause.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from typing import Final

from fascicle.linking.parts import LONGEST
from fascicle.terms.keys.key import key

INDUCIBLE: Final = "Disease"
_CHEMICAL: Final = "Chemical"
# levodopa-induced dyskinesia
_INDUCED: Final = re.compile(r"([^\s()\[\]/,;]+)[-\u2010\u2011 ]induced\s+(?=[^\W\d])")
INDUCES: Final = "induced"
_PARTING: Final = "()[]/,;"  # what no word before it has
_CAUSES: Final = ("drug", "substance")  # in names of what any drug induces
_ANY_DRUG: Final = re.compile(r"(?ai:drugs?|medications?|substances?|chemicals?)")
_WORDS_INDUCED: Final = 3  # of the name of a disease, at most
_END_OF_NAME: Final = ".,;:)]"
Causes = Mapping[str, Collection[str]]  # key of level 2 of an effect -> causes, "" for any drug


def causes_in(text: str) -> Causes:
    """Returns the keys of names behind ``X-induced`` in a text, each with all words X, those for
    any drug as ``""``.
    """
    causes: dict[str, set[str]] = defaultdict(set)
    for match in _inducing(text):
        words = text[match.end() : match.end() + LONGEST].split()[:_WORDS_INDUCED]
        cause = "" if _ANY_DRUG.fullmatch(match[1]) else match[1]
        for count in range(1, len(words) + 1):
            causes[key(" ".join(words[:count]).rstrip(_END_OF_NAME), 2)].add(cause)
    return causes


def _inducing(text: str) -> Iterator[re.Match[str]]:
    """Yields the matches of `_INDUCED`; each is searched from the start of its own word, not
    from every place.
    """
    end = place = 0
    while (place := text.find(INDUCES, place)) >= 0:
        start = place - 1
        place += len(INDUCES)
        while start > end and not (text[start - 1].isspace() or text[start - 1] in _PARTING):
            start -= 1
        if match := _INDUCED.match(text, max(start, end)):
            yield match
            end = place = match.end()


def induced_names(name: str, causes: Causes) -> Iterator[tuple[str, tuple[tuple[str, str], ...]]]:
    """Yields what the name of a disease may mean in a text that says what induces it, the best
    first.

    Args:
        name: of the disease.
        causes: in its text.

    Yields:
        A name such as ``drug-induced fever``; and names with types, of all of which the pack must
        have a concept: itself and, unless the cause is any drug, the chemical.
    """
    match = _INDUCED.match(name)
    effect = name[match.end() :] if match else name
    for cause in sorted(causes.get(key(effect, 2), ())):
        chemical = ((cause, _CHEMICAL),) if cause else ()
        for general in _CAUSES:
            induced = f"{general}-induced {effect}"
            yield induced, ((induced, INDUCIBLE), *chemical)
