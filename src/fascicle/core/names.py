"""Comparing names that people give to the same thing."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Iterable
from typing import Final

_NEAR: Final = 0.6  # of difflib: chemicals and Chemical, GeneProduct and Gene
_ROOT: Final = 3  # letters that one name must share with another that goes on after them


def folded(name: str) -> str:
    """The letters and digits of a name, without case; of a name of other signs, the name."""
    plain = unicodedata.normalize("NFKC", name).casefold()
    return "".join(sign for sign in plain if sign.isalnum()) or plain


def likeness(name: str, other: str) -> float:
    """How much of two names is the same, from 0 to 1; case and punctuation do not count."""
    return difflib.SequenceMatcher(None, folded(name), folded(other)).ratio()


def near_names(name: str, others: Iterable[str]) -> list[str]:
    """Those of other names that may mean the same, the most similar first."""
    by_name = {other: folded(other) for other in sorted(others)}
    wanted = folded(name)
    close = set(
        difflib.get_close_matches(wanted, list(by_name.values()), n=len(by_name), cutoff=_NEAR) if by_name else ()
    )
    near = [o for o, f in by_name.items() if f in close or _goes_on(wanted, f) or _goes_on(f, wanted)]
    return sorted(near, key=lambda other: (-likeness(name, other), other))


def near_hint(name: str, known: Iterable[str]) -> str:
    """``" (did you mean ...?)"``, or nothing where no known name is near."""
    near = near_names(name, known)
    return f" (did you mean {near[0]!r}?)" if near else ""


def typo_hint(name: str, known: Iterable[str]) -> str:
    """``" (did you mean ...?)"`` with the known name that is spelt most like this one, or nothing."""
    near = difflib.get_close_matches(name, list(known), n=1)
    return f" (did you mean {near[0]!r}?)" if near else ""


def _goes_on(name: str, longer: str) -> bool:
    return len(name) >= _ROOT and longer.startswith(name)
