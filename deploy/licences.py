"""Prints the licence of each package that Fascicle needs here.

``python3 deploy/licences.py [EXTRA ...]`` runs in the environment in which Fascicle is installed.
Each line has name, version and licence, as the package states it: its SPDX expression, else its
classifiers, else the first line of its field ``License``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib.metadata import Distribution, PackageNotFoundError, distribution

from packaging.requirements import Requirement


def needed(extras: Iterable[str], name: str = "fascicle") -> dict[str, Distribution]:
    """Returns what is installed of a package and of all that it needs, directly or not, by name."""
    found: dict[str, Distribution] = {}
    waiting = [(name, frozenset(extras))]
    seen = set[tuple[str, frozenset[str]]]()
    while waiting:
        one = waiting.pop()
        if one in seen:
            continue
        seen.add(one)
        try:
            here = distribution(one[0])
        except PackageNotFoundError:
            continue  # of an extra that is not installed
        found[here.metadata["Name"].lower().replace("_", "-")] = here
        for text in here.requires or ():
            asked = Requirement(text)
            if asked.marker is None or any(
                asked.marker.evaluate({"extra": extra}) for extra in ("", *one[1])
            ):
                waiting.append((asked.name, frozenset(asked.extras)))
    return found


def licence_of(one: Distribution) -> str:
    """Returns the licence of a package as it states it, or ``unknown``."""
    if stated := one.metadata.get("License-Expression"):
        return stated
    classifiers = [
        line for line in one.metadata.get_all("Classifier", []) if line.startswith("License ::")
    ]
    if classifiers:
        return " AND ".join(line.rpartition(" :: ")[2] for line in classifiers)
    return (one.metadata.get("License") or "unknown").strip().partition("\n")[0]


def main() -> None:
    """Prints the list."""
    for name, one in sorted(needed(sys.argv[1:]).items()):
        print(f"{name}\t{one.version}\t{licence_of(one)}")


if __name__ == "__main__":
    main()
