"""Effect of the decisions about a document; the page implements the same rules in
``code/decisions.js``.

An *item* is a mention of the document, or one that a curator added. A *step* is the effect of one
key press of a curator: edits of items, marking a document as finished or not, or undoing an earlier
step. Steps are appended and never changed, so that an undone step stays readable.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Annotated, Final, Literal, NamedTuple

import msgspec

from fascicle.core.document import GOLD, Document
from fascicle.core.mention import Fragments, Link, Mention, MentionKey
from fascicle.core.patches import follow
from fascicle.terms.curation import HEADER, CurationRule

_Verdict = Literal["", "accepted", "changed", "rejected", "added"]
ADDED: Final = "added-"  # prefix of items that are not mentions of the document
_KEY: Final[msgspec.json.Decoder[MentionKey]] = msgspec.json.Decoder(MentionKey)
_PER: Final = 1_000  # characters for which uncertainty is counted
_MOST_TYPE: Final = 200  # characters
_MOST_ID: Final = 1_000  # characters
_NOT_IN_ID: Final = re.compile("^\ufeff|[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]")
NAMES: Final = (
    ""  # id of the document without text whose steps keep rows of curation for term packs
)
_MOST_ROWS: Final = 1_000
Rows = Annotated[
    tuple[dict[str, Annotated[str, msgspec.Meta(max_length=1_000)]], ...],
    msgspec.Meta(max_length=_MOST_ROWS),
]


class After(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """What a curator says that a mention is; the fields are those of `Mention`."""

    spans: Fragments
    type: str
    links: tuple[Link, ...] = ()
    attributes: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, mention: Mention) -> After:
        """Returns what says that a mention is as it is."""
        return cls(
            spans=mention.spans,
            type=mention.type,
            links=mention.links,
            attributes=mention.attributes,
        )

    @property
    def mention(self) -> Mention:
        """Mention as gold.

        Raises:
            ValueError: it is no mention.
        """
        return Mention(self.spans, self.type, links=self.links, attributes=self.attributes)


class Edit(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What becomes of one item.

    Attributes:
        item: the key ``[source, type, spans]`` of a mention of the document, as JSON, or a name
            that begins with ``added-``.
        after: what it is; ``None`` if it is nothing.
    """

    item: str
    after: After | None

    def __post_init__(self) -> None:
        """Writes the key of a mention as the page does, which compares texts."""
        msgspec.structs.force_setattr(self, "item", _without_blanks(self.item))


class Remark(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """What a curator says about a document or a mention beside what it is; what is ``None`` stays
    as it was.

    Attributes:
        item: see `Edit`; empty for the document.
        note: a text; empty to take it away.
        flagged: whether somebody shall look at it.
        skipped: whether the curator leaves the document out.
    """

    item: str = ""
    note: Annotated[str, msgspec.Meta(max_length=2_000)] | None = None
    flagged: bool | None = None
    skipped: bool | None = None

    def __post_init__(self) -> None:
        """See `Edit`."""
        msgspec.structs.force_setattr(self, "item", _without_blanks(self.item))


class Step(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One step of a curator.

    Attributes:
        number: of the step, in the order in which steps were saved.
        who: the curator.
        at: when it was saved, in UTC.
        edits: of items.
        undoes: number of the step that it undoes.
        finished: whether the document is finished.
        remark: about the document or a mention.
        rows: of curation, by the columns of `fascicle.terms.curation`; of `NAMES` alone.
        version: in a project, the curator whose version it is about; empty for what is reviewed,
            ``None`` for `who`.
    """

    number: int
    who: str
    at: str
    edits: tuple[Edit, ...] = ()
    undoes: int | None = None
    finished: bool | None = None
    remark: Remark | None = None
    rows: Rows = ()
    version: str | None = None


class Item(NamedTuple):
    """Mention with the decisions about it.

    Attributes:
        origin: the mention of the document; ``None`` of one that a curator added.
        now: what it is now, as gold; ``None`` if it was rejected or nothing was decided.
        verdict: what was decided.
        who: who decided last.
        number: of the step that decided last.
        name: of one that a curator added, see `Edit`.
    """

    origin: Mention | None
    now: Mention | None = None
    verdict: _Verdict = ""
    who: str = ""
    number: int = 0
    name: str = ""


class Decided(NamedTuple):
    """Document with the decisions about it.

    Attributes:
        document: as it was added, with the mentions of its models.
        items: in the order of its mentions, then those that were added.
        finished: whether a curator marked it as finished.
        steps: those in force.
        version: in a project, the curator whose version it is; empty for what is reviewed.
        compared: what each curator decided, beside what is reviewed.
    """

    document: Document
    items: tuple[Item, ...]
    finished: bool
    steps: tuple[Step, ...]
    version: str | None = None
    compared: tuple[Decided, ...] = ()

    @property
    def remarks(self) -> tuple[Remark, ...]:
        """What is said now of the document and its mentions, where something is."""
        remarks: dict[str, Remark] = {}
        for remark in (step.remark for step in self.steps if step.remark is not None):
            changes = {
                name: value
                for name, value in msgspec.structs.asdict(remark).items()
                if value is not None
            }
            remarks[remark.item] = msgspec.structs.replace(
                remarks.get(remark.item, remark), **changes
            )
        return tuple(
            remark for remark in remarks.values() if remark.note or remark.flagged or remark.skipped
        )

    @property
    def skipped(self) -> bool:
        """True if the curator leaves the document out."""
        return not self.finished and any(remark.skipped for remark in self.remarks)

    @property
    def undecided(self) -> tuple[Mention, ...]:
        """Mentions without a decision."""
        return tuple(
            item.origin for item in self.items if not item.verdict and item.origin is not None
        )

    @property
    def gold(self) -> tuple[Mention, ...]:
        """Mentions that curators confirmed, each type and place once; undecided mentions are not
        included.

        Where layers agree, the last decision counts; of those that were made at once, one with a
        concept.
        """
        confirmed = [
            (item.number, bool(item.now.links), item.now)
            for item in self.items
            if item.now is not None
        ]
        last = {now.key: now for *_, now in sorted(confirmed, key=lambda entry: entry[:2])}
        return tuple(last[key] for key in dict.fromkeys(now.key for *_, now in confirmed))

    @property
    def uncertainty(self) -> float:
        """Uncertainty of the undecided mentions: their entropy in bits for 1,000 characters of
        text.
        """
        if self.finished:
            return 0.0
        return (
            sum(map(mention_uncertainty, self.undecided)) * _PER / max(len(self.document.text), 1)
        )


def active(steps: Sequence[Step]) -> tuple[Step, ...]:
    """Returns the steps that are in force: those that no later step in force undoes."""
    undone: set[int] = set()
    in_force = []
    for step in reversed(steps):
        if step.number in undone:
            continue
        if step.undoes is not None:
            undone.add(step.undoes)
        in_force.append(step)
    return tuple(reversed(in_force))


def key_of(item: str) -> MentionKey | str:
    """Returns the key of an item: the key of a mention, or the name of an added one.

    Raises:
        ValueError: neither.
    """
    if item.startswith(ADDED):
        return item
    try:
        return _KEY.decode(item)
    except msgspec.MsgspecError:
        raise ValueError(
            f"{item[:100]!r} is not valid; give the key of a mention as [source, type, spans], "
            f"or a name with {ADDED}"
        ) from None


def _without_blanks(item: str) -> str:
    """Returns the key of a mention as the shortest JSON, and any other text as it is."""
    try:
        key = key_of(item)
    except ValueError:
        return item  # `check` refuses it with a sentence
    return key if isinstance(key, str) else msgspec.json.encode(key).decode()


def apply_steps(document: Document, steps: Sequence[Step]) -> Decided:
    """Applies steps to a document.

    Args:
        document: as it was added.
        steps: about it, in order.

    Raises:
        ValueError: an item that is none.
    """
    items: dict[MentionKey | str, Item] = {
        mention.key: Item(mention) for mention in document.mentions
    }
    counted, finished = active(steps), False
    for step in counted:
        finished = finished if step.finished is None else step.finished
        for edit in step.edits:
            _apply(items, edit, step)
    return Decided(document, tuple(items.values()), finished, counted)


def _apply(items: dict[MentionKey | str, Item], edit: Edit, step: Step) -> None:
    key = key_of(edit.item)
    before = items.get(key, Item(None))
    if edit.after is None:
        if before.origin is None:
            items.pop(key, None)
        else:
            items[key] = Item(before.origin, None, "rejected", step.who, step.number)
        return
    now = edit.after.mention
    verdict, name = find_verdict(before.origin, now), key if isinstance(key, str) else ""
    items[key] = Item(before.origin, now, verdict, step.who, step.number, name)


def find_verdict(origin: Mention | None, now: Mention) -> _Verdict:
    """Returns what was decided about a mention that is ``now`` so."""
    if origin is None:
        return "added"
    is_same = (origin.spans, origin.type, decided_ids(origin)) == (
        now.spans,
        now.type,
        decided_ids(now),
    )
    return "accepted" if is_same else "changed"


def decided_ids(mention: Mention) -> list[tuple[str, str, str, bool]]:
    """Returns the concepts of a mention, as far as a decision is about them."""
    return [(link.id, link.ontology, link.curie, link.nil) for link in mention.links]


def check(document: Document, steps: Sequence[Step], step: Step) -> None:
    """Raises an error for a step that does not apply to a document, or that combines several
    actions.

    Args:
        document: as it was added.
        steps: about it so far.
        step: the next one.

    Raises:
        ValueError: with a sentence for users.
    """
    _check_parts(document, step)
    if step.undoes is not None and not any(
        step.undoes == earlier.number and (step.who == earlier.who or document.id == NAMES)
        for earlier in active(steps)
    ):
        raise ValueError(
            f"the step {step.undoes} is none of {step.who} that counts for this document; undo "
            "one that does"
        )
    if document.id == NAMES:
        _check_rows(steps, step)
    if step.remark is not None:
        _check_remark(step.remark, document, steps)
    _check_items(document, steps, step)
    for after in (edit.after for edit in step.edits if edit.after is not None):
        check_type(after.type)
        if after.mention.end > len(document.text):
            raise ValueError(
                f"a mention ends at {after.mention.end}, and the text has "
                f"{len(document.text)} characters; offsets are code points"
            )


def _check_parts(document: Document, step: Step) -> None:
    parts = (step.edits or None, step.undoes, step.finished, step.remark, step.rows or None)
    if sum(part is not None for part in parts) != 1:
        raise ValueError(
            "a step has edits, or undoes, or finished, or a remark, or rows, and only one of them"
        )
    if step.undoes is None and bool(step.rows) != (document.id == NAMES):
        raise ValueError(
            "rows are about no document, and all else is about one; give only rows "
            "with an empty document"
        )


def _check_rows(steps: Sequence[Step], step: Step) -> None:
    before, after = (
        sum(len(rule_step.rows) for rule_step in active(each)) for each in (steps, [*steps, step])
    )
    if after > max(before, _MOST_ROWS):  # more could not be tried at once
        raise ValueError(
            f"at most {_MOST_ROWS:,} rows are kept; build a pack with them (fascicle index "
            "extend), and take them back"
        )


def _check_remark(remark: Remark, document: Document, steps: Sequence[Step]) -> None:
    if remark == Remark(item=remark.item) or (remark.item and remark.skipped is not None):
        raise ValueError(
            "a remark has a note, or flagged, or, if it is about the document, skipped"
        )
    if remark.skipped and apply_steps(document, steps).finished:
        raise ValueError("the document is finished, so it cannot be skipped; open it again first")


def _check_items(document: Document, steps: Sequence[Step], step: Step) -> None:
    """Raises an error for an edit of a mention that the document does not have, or a remark on
    one.
    """
    keys: set[MentionKey | str] = {mention.key for mention in document.mentions}
    # a curator may have taken theirs back since
    keys |= {key_of(edit.item) for earlier in steps for edit in earlier.edits}
    items = [edit.item for edit in step.edits]
    if step.remark and step.remark.item:
        items.append(step.remark.item)
    for item in items:
        key = key_of(item)
        if not isinstance(key, str) and key not in keys:
            raise ValueError(
                f"the document has no mention {item[:200]}; give the key of one that it has"
            )


def check_type(name: str) -> None:
    """Raises an error for a type that gold files cannot hold: one mention with it would stop every
    export.

    Raises:
        ValueError: with a sentence for users.
    """
    if not 0 < len(name) <= _MOST_TYPE or not name.isprintable():
        raise ValueError(
            f"the type {name[:50]!r} is not allowed; give 1 to {_MOST_TYPE} characters, without "
            "line breaks and other characters that do not show"
        )


def check_id(name: str) -> None:
    """Raises an error for the id of a document that many gold files cannot hold, as `check_type`
    does.

    Raises:
        ValueError: with a sentence for users.
    """
    if not 0 < len(name) <= _MOST_ID or _NOT_IN_ID.search(name):
        raise ValueError(
            f"the document id {name[:50]!r} is not allowed; give 1 to {_MOST_ID:,} characters, "
            "without line breaks and other control characters"
        )


def rule_row(rule: CurationRule) -> dict[str, str]:
    """Returns a rule as a row of `Step`: what it says, by column."""
    return {column: value for column in HEADER if (value := getattr(rule, column))}


def gold_document(decided: Decided, *, beside: bool = False) -> Document:
    """Makes the gold of a document, with the curators in its meta.

    Args:
        decided: what was decided.
        beside: keep the mentions of models, with one source per model.
    """
    document = decided.document
    predicted = (
        tuple(mention for mention in document.mentions if mention.source != GOLD) if beside else ()
    )
    steps = [step for step in decided.steps if step.edits or step.finished]
    who = sorted({step.who for step in steps})
    meta = {
        **document.meta,
        **({"curated by": ", ".join(who), "curated at": steps[-1].at} if who else {}),
    }
    now = {
        item.origin.key: item.now.key
        for item in decided.items
        if item.origin is not None and item.now is not None
    }
    relations = follow(document.relations, lambda key: now.get(key, key))
    return document.having(
        mentions=(*decided.gold, *predicted), relations=relations, meta=meta, changes=()
    )


def mention_uncertainty(mention: Mention) -> float:
    """Returns the uncertainty of a mention in bits: that of the mention or of its concept,
    whichever is larger.
    """
    return max(map(_entropy, (mention.score, *(link.score for link in mention.links))))


def _entropy(probability: float | None) -> float:
    if probability is None or not 0 < probability < 1:
        return 0.0
    rest = 1 - probability
    return -probability * math.log2(probability) - rest * math.log2(rest)
