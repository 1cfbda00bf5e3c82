"""Names that have exactly one type in a pack, in any context."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Final

import numpy as np

from fascicle.settings.recognition import RecognitionSettings
from fascicle.terms.keys.characters import fits
from fascicle.terms.keys.key import key
from fascicle.terms.pack.pack import Pack

_REMEMBERED: Final = 1 << 15


class KnownNames:
    """Look-up of the type of names whose meanings in a pack all have one type.

    A meaning counts where the pack would find it in a text: the name is searched, has the case of the text, and the
    priors of its concepts of the type reach the threshold of recognition.
    """

    def __init__(self, pack: Pack) -> None:
        """Looks names up in an open pack."""
        self._pack = pack
        self._least = RecognitionSettings().threshold
        self._types: dict[str, str] = {}  # empty for a name of no type or of several

    def __call__(self, names: Collection[str]) -> dict[str, str]:
        """Returns the type of each of the given names that have exactly one type.

        Raises:
            PackError: values of the pack lead out of its files.
        """
        remembered = self._types if len(self._types) < _REMEMBERED else {}
        found = {name: kind for name in names if (kind := remembered.get(name)) is not None}
        if new := [name for name in names if name not in found]:
            found.update(zip(new, self._looked_up(new), strict=True))
            remembered.update(found)
            self._types = remembered  # never emptied in place: another thread may be reading it
        return {name: kind for name, kind in found.items() if kind}

    def _looked_up(self, names: Sequence[str]) -> list[str]:
        places, rows = self._pack.rows([key(name, 2) for name in names])
        concepts = np.asarray(self._pack.active.concept)[rows].astype(np.int64)
        kinds = np.asarray(self._pack.type_rows)[concepts].tolist()
        priors: list[dict[tuple[int, str], float]] = [{} for _ in names]
        for place, term, kind in zip(places.tolist(), self._pack.short_terms(rows), kinds, strict=True):
            if not term.off and fits(names[place], term.surface, term.case):
                known = priors[place]
                known[kind, term.concept] = max(known.get((kind, term.concept), 0.0), term.prior)
        return [self._type(one) for one in priors]

    def _type(self, priors: dict[tuple[int, str], float]) -> str:
        sums: dict[int, float] = defaultdict(float)
        for (kind, _), prior in priors.items():
            sums[kind] += prior
        kinds = [kind for kind, total in sums.items() if round(total, 6) >= self._least]
        return self._pack.types[kinds[0]] if len(kinds) == 1 else ""
