"""Rules for term packs from decisions about mentions: concepts of a surface, and surfaces to exclude."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from fascicle.core.mention import Mention
from fascicle.core.wording import counted
from fascicle.serving.curation.decisions import Decided, Item
from fascicle.terms.curation import Rule, written


@dataclass(kw_only=True)
class _Evidence:
    """Decisions about the mentions with one surface.

    Attributes:
        accepted: number of accepted ones, with any concept.
        rejected: number of rejected ones.
        meant: concepts that curators added.
        left: concepts that curators removed.
        who: who decided.
    """

    accepted: int = 0
    rejected: int = 0
    meant: Counter[str] = field(default_factory=Counter)
    kept: Counter[str] = field(default_factory=Counter)
    left: Counter[str] = field(default_factory=Counter)
    who: set[str] = field(default_factory=set)


def rules_table(found: Iterable[Decided]) -> str:
    """Makes a table of rules for ``curation`` in ``sources.toml``; conflicting decisions give a comment and no rule.

    ``ner_off`` is for a surface that was rejected wherever it was decided about, and for a concept that was taken away
    from a surface wherever it had it. ``add`` and ``prefer`` are for a concept that was given to a surface, if no other
    one was kept or given.

    Args:
        found: documents with what was decided.
    """
    evidence: defaultdict[str, _Evidence] = defaultdict(_Evidence)
    for document in found:
        kept = {one.spans for one in document.gold}
        for item in document.items:
            if item.verdict != "rejected" or item.origin is None or item.origin.spans not in kept:
                _count(evidence, item, document.document.text)  # else another layer has a mention in its place
    rules: list[Rule] = []
    differing: list[str] = []
    for surface, one in sorted(evidence.items()):
        made, told = _rules(surface, one)
        rules += made
        differing += told
    return written(rules) + "".join(f"# {line}\n" for line in differing)


def _count(evidence: defaultdict[str, _Evidence], item: Item, text: str) -> None:
    if not item.verdict:
        return
    place = item.now or item.origin
    assert place is not None
    if len(place.spans) > 1:
        return  # a name of a pack is in one piece
    one = evidence[" ".join(place.text_in(text).split())]
    one.who.add(item.who)
    origin = frozenset() if item.origin is None else _concepts(item.origin)
    before = origin if item.origin is not None and item.origin.spans == place.spans else frozenset()
    if item.now is None:
        one.rejected += 1
        return
    now = _concepts(item.now)
    one.accepted += 1
    one.kept.update(before & now)
    one.left.update(before - now)
    one.meant.update(now - origin)  # what stayed with another span was not given to its words


def _concepts(mention: Mention) -> frozenset[str]:
    return frozenset(link.curie for link in mention.links if link.curie)


def _rules(surface: str, one: _Evidence) -> tuple[list[Rule], list[str]]:
    """Returns the rules for a surface, and comments that explain missing rules."""
    by = f"by {', '.join(' '.join(name.split()) for name in sorted(one.who))}"
    if one.rejected and one.accepted:
        return [], [f"{surface}: no rule, for it was rejected {one.rejected} and kept {one.accepted} times, {by}"]
    if one.rejected:
        note = f"rejected {counted(one.rejected, 'time')}, {by}"
        return [Rule(action="ner_off", surface=surface, note=note)], []
    rules = [
        Rule(action="ner_off", surface=surface, concept=concept, note=f"taken away {counted(count, 'time')}, {by}")
        for concept, count in sorted(one.left.items())
        if concept not in one.kept and concept not in one.meant
    ]
    if len(one.meant.keys() | one.kept.keys()) > 1 and one.meant:
        told = ", ".join(f"{concept} {count} times" for concept, count in sorted((one.meant + one.kept).items()))
        return rules, [f"{surface}: no concept preferred, for it means {told}, {by}"]
    for concept, count in one.meant.items():
        note = f"given {counted(count, 'time')}, {by}"
        rules += [Rule(action=action, surface=surface, concept=concept, note=note) for action in ("add", "prefer")]
    return rules, []
