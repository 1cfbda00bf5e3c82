"""Checks for differences between the parts of a corpus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from fascicle.core.wording import counted
from fascicle.evaluation.doctor.checks.contract import Corpus, Detail, Found, Hit
from fascicle.evaluation.doctor.checks.relations import crossing, discontinuous, nested, nested_in_own_type, same_span
from fascicle.evaluation.doctor.parts import SPLITS, Item, Part

KINDS: Final[Mapping[str, Callable[[Item], Iterator[Hit]]]] = MappingProxyType(
    {
        "nested": nested,
        "nested in one of its type": nested_in_own_type,
        "crossing": crossing,
        "of one range with another": same_span,
        "discontinuous": discontinuous,
    }
)


def type_in_some_parts(corpus: Corpus) -> Found:
    """Types that some of train, dev and test have and another lacks; the hit is at their first mention."""
    parts = _splits(corpus)
    counts = {part: Counter(m.type for item in items for m in item.mentions) for part, items in parts.items()}
    for kind in sorted({kind for found in counts.values() for kind in found}):
        missing = [part.name for part, found in counts.items() if kind not in found]
        if not missing:
            continue
        listed = ", ".join(f"{found[kind]:,} in {part.name}" for part, found in counts.items() if kind in found)
        item, mention = next(
            (item, m) for items in parts.values() for item in items for m in item.mentions if m.type == kind
        )
        message = f"{kind}: {listed}, none in {' and '.join(missing)}"
        yield Hit(item=item, spans=mention.spans, message=message, where=f"not in {' or '.join(missing)}")


def kind_not_in_train(corpus: Corpus) -> Found:
    """Mentions of dev and test that lie to others as none of train does."""
    parts = _splits(corpus)
    train = [items for part, items in parts.items() if part.role == "train"]
    if not train:
        return
    for name, find in KINDS.items():
        if any(True for items in train for item in items for _ in find(item)):
            continue
        found = [hit for items in parts.values() for item in items for hit in find(item)]
        for hit in found:
            yield Hit(item=hit.item, spans=hit.spans, message=f"{name}: {hit.message}")
        if found:
            yield Detail(text=f"{counted(len(found), 'mention')} {name}, none in train.")


def _splits(corpus: Corpus) -> dict[Part, list[Item]]:
    return {part: items for part, items in corpus.by_part().items() if part.role in SPLITS and items}
