"""What rules of curation would change in texts, as the page shows it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import chain, islice
from typing import Any, Final

import msgspec

from fascicle.core.document import Document
from fascicle.serving.messages import TryRules
from fascicle.settings.inputs import RecognitionSettings
from fascicle.terms.keys.key import key
from fascicle.terms.pack.differences import mention_changes
from fascicle.terms.pack.pack import Pack
from fascicle.terms.pack.tried import (
    TriedPack,
    TryOn,
    rule_problems,
    rules_by_key,
    try_on_pack,
)
from fascicle.terms.pack.why import explain_name, reason_not_found

_CHANGES: Final = 10_000  # changed mentions that are sent


def try_rules(
    pack: Pack,
    order: TryRules,
    settings: RecognitionSettings,
    try_on: TryOn = try_on_pack,
    *,
    documents: Iterable[Document],
) -> dict[str, Any]:
    """Returns what a name is in a pack, and what rules would change in texts."""
    rules = (*order.before, *order.rules)
    before, after = try_on(pack, order.before), try_on(pack, rules)
    changes = iter(
        mention_changes(before, after, documents, settings=settings) if order.rules else ()
    )
    first = list(islice(changes, _CHANGES))
    counts = Counter(change.change for change in chain(first, changes))
    few = after.few if isinstance(after, TriedPack) and key(order.name, 2) in after.keys else None
    explanation = explain_name(few or pack, order.name)
    return {
        "pack": pack.full_name,
        "why": msgspec.to_builtins(explanation),
        "reason": reason_not_found(explanation, settings.threshold),
        "problems": [problem.message for problem in rule_problems(pack, rules_by_key(rules))],
        "counts": {kind: counts[kind] for kind in ("added", "removed", "changed")},
        "changes": msgspec.to_builtins(first),
    }
