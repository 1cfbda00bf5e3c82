"""Option ``--at-least`` of ``fascicle evaluate``: scores that must be reached."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from fascicle.formats.requests import pairs

if TYPE_CHECKING:
    from fascicle.verbs.tasks.gates import GateResult

_FELL_SHORT: Final = 4  # exit code


def check_gates(given: Sequence[str]) -> None:
    """Refuses gates of another form, before long work.

    Raises:
        UsageError: see `fascicle.verbs.tasks.gates.Gate.of`.
    """
    if given:
        from fascicle.verbs.tasks.gates import Gate

        for text in given:
            Gate.of(text)


def gates_of(args: Any, found: Any) -> list[GateResult]:
    """Returns what the systems reached at each gate; see `fascicle.verbs.tasks.gates.results_of`.

    Raises:
        UsageError: a gate about a type or vocabulary that the gold does not have.
    """
    if not args.at_least:
        return []
    from fascicle.verbs.tasks.gates import results_of  # imported here, because scores do not need links

    return results_of(found, args.at_least, prefixes=dict(pairs(args.prefix, key="--prefix", example="Disease=MESH")))


def told(gates: Sequence[GateResult]) -> tuple[str, int]:
    """Returns the table of the gates that were not met, with an empty line before it, and the exit code: 4, or 0."""
    if not gates:
        return "", 0
    from fascicle.verbs.tasks.gates import gates_table

    return "\n" + gates_table(gates), 0 if all(one.met for one in gates) else _FELL_SHORT
