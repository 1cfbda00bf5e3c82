"""Input of scoring: one layer of mentions per document, over texts that are known to be the same."""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from fascicle.core.arguments import check_argument, checked_documents
from fascicle.core.document import GOLD, Document, Mention
from fascicle.errors import InputError
from fascicle.evaluation.scoring.rules import RuleName
from fascicle.evaluation.scoring.scores import Scores, score, score_rules


def layers(documents: Iterable[Document], *, source: str = GOLD) -> dict[str, tuple[Mention, ...]]:
    """Returns the mentions of one source, document by document.

    Args:
        documents: read once; ids must be unique.
        source: who said it, e.g. ``"gold"``.

    Raises:
        InputError: two documents with one id.
    """
    found: dict[str, tuple[Mention, ...]] = {}
    check_argument(source, str, name="source", means="a str")
    for document in checked_documents(documents):
        if document.id in found:
            raise InputError(f"the document id {document.id!r} is there twice; give each document an id of its own")
        found[document.id] = document.layer(source)
    return found


def only_source(sources: Iterable[str]) -> str:
    """Returns the one source besides the gold.

    Args:
        sources: of all mentions of some documents.

    Raises:
        InputError: there is none, or there are several and the caller must choose.
    """
    found = sorted({*sources} - {GOLD})
    if len(found) == 1:
        return found[0]
    if not found:
        raise InputError("the documents hold no mention besides the gold; give documents that a system has annotated")
    raise InputError(f"the documents hold mentions of {', '.join(found)}; choose one of these with source")


def check_texts(
    documents: Iterable[Document],
    hashes: Mapping[str, str | None],
    *,
    texts: Callable[[], Mapping[str, str]] | None = None,
) -> None:
    """Refuses predictions that were made on other texts than the gold: their offsets would mean nothing.

    Args:
        documents: the gold.
        hashes: document id -> sha256 of the UTF-8 text that was predicted on, in hexadecimal; ``None`` if unknown.
        texts: gives document id -> text, where texts are known, to say where the first one differs.

    Raises:
        InputError: at least one hash belongs to another text.
    """
    different = []
    for document in documents:
        expected = hashes.get(document.id)
        if expected is not None and expected.lower() != hashlib.sha256(document.text.encode("utf-8")).hexdigest():
            different.append(document)
    if different:
        shown = ", ".join(repr(document.id) for document in different[:5])
        other = texts().get(different[0].id) if texts is not None else None
        where = "" if other is None else f", the first from character {_first_difference(different[0].text, other)}"
        raise InputError(
            f"the predictions were made on another text than the gold in {len(different):,} "
            f"{'document' if len(different) == 1 else 'documents'} ({shown}{', ...' if len(different) > 5 else ''})"
            f"{where}, so their offsets cannot be compared; predict on the texts of this gold file"
        )


def check_offsets(documents: Iterable[Document], predicted: Mapping[str, Sequence[Mention]]) -> None:
    """Raises if predictions reach beyond the end of a text: they were made on another text.

    Args:
        documents: the gold.
        predicted: document id -> mentions.

    Raises:
        InputError: at least one mention ends behind the text of its document.
    """
    beyond = [
        (document, mention)
        for document in documents
        for mention in predicted.get(document.id, ())
        if mention.end > len(document.text)
    ]
    if beyond:
        document, mention = beyond[0]
        raise InputError(
            f"{len(beyond):,} of the predicted mentions end behind the text of their document, the first is the "
            f"{mention.type} that ends at {mention.end:,} in {document.id!r}, which has {len(document.text):,} "
            "characters; give predictions on the texts of this gold file, with offsets in characters"
        )


def _first_difference(gold: str, other: str) -> str:
    """Returns the first character at which two texts differ, and how both go on."""
    at = next((at for at, (a, b) in enumerate(zip(gold, other, strict=False)) if a != b), min(len(gold), len(other)))
    return f"{at:,} on ({other[at : at + 20]!r} where the gold has {gold[at : at + 20]!r})"


def unit_of(documents: Iterable[Document]) -> str:
    """Returns ``"sentence"`` if the source marks every document as one sentence, else ``"document"``."""
    known = [document.sentences for document in documents]
    return "sentence" if known and all(ranges is not None and len(ranges) <= 1 for ranges in known) else "document"


def drawn_unit(documents: Sequence[Document]) -> str:
    """Returns the unit to draw: ``"sentence"`` if documents are sentences, or for one document with sentences."""
    single = len(documents) == 1 and documents[0].sentences
    return "sentence" if single else unit_of(documents)


def by_sentence(
    documents: Iterable[Document], *, source: str = GOLD, predicted: Mapping[str, Sequence[Mention]] | None = None
) -> dict[str, tuple[Mention, ...]]:
    """Returns the mentions of one source, sentence by sentence: the unit to resample where documents are unknown.

    A mention belongs to the sentence in which it starts. Documents without sentences stay whole.

    Args:
        documents: with distinct ids.
        source: whose mentions.
        predicted: document id -> mentions, in place of those that the documents hold.

    Returns:
        ``id/1``, ``id/2`` ... -> the mentions of that sentence.
    """
    found: dict[str, tuple[Mention, ...]] = {}
    for document in documents:
        starts = [start for start, _ in document.sentences or ((0, 0),)]
        parts: list[list[Mention]] = [[] for _ in starts]
        for mention in document.layer(source) if predicted is None else predicted.get(document.id, ()):
            parts[max(0, bisect_right(starts, mention.start) - 1)].append(mention)
        found.update((f"{document.id}/{number}", tuple(part)) for number, part in enumerate(parts, start=1))
    return found


@dataclass(frozen=True, kw_only=True)
class Scored:
    """Predictions of one system, and their scores.

    Attributes:
        name: for tables.
        predicted: document id -> its mentions, with an entry for every gold document.
        scores: rule -> scores.
        drawn: strict scores by what a bootstrap draws, see ``by_unit``.
    """

    name: str
    predicted: Mapping[str, Sequence[Mention]] = field(repr=False)
    scores: Mapping[RuleName, Scores] = field(repr=False)
    drawn: Scores = field(repr=False)

    @property
    def strict(self) -> Scores:
        """Scores under the strict rule."""
        return self.scores["strict"]

    @property
    def others(self) -> tuple[Scores, ...]:
        """Scores under the other rules."""
        return tuple(scores for rule, scores in self.scores.items() if rule != "strict")


def score_system(
    name: str,
    documents: Sequence[Document],
    *,
    predicted: Mapping[str, Sequence[Mention]],
    allow_missing: bool = False,
) -> Scored:
    """Scores one system under every rule.

    Args:
        name: for tables.
        documents: with gold mentions.
        predicted: document id -> its mentions.
        allow_missing: see ``scores.score``.

    Raises:
        InputError: see ``scores.score``.
    """
    gold = layers(documents)
    scores = score_rules(gold, predicted, allow_missing=allow_missing)
    said = {key: predicted.get(key, ()) for key in gold}
    return Scored(name=name, predicted=said, scores=scores, drawn=by_unit(documents, said, scores["strict"]))


def by_unit(documents: Sequence[Document], predicted: Mapping[str, Sequence[Mention]], whole: Scores) -> Scores:
    """Strict scores by document, or by sentence if a single document has them marked: what intervals come from.

    Args:
        documents: with gold mentions.
        predicted: document id -> mentions.
        whole: the scores by document.

    Returns:
        Scores with the same sums.
    """
    if len(documents) != 1 or not documents[0].sentences:
        return whole
    return score(by_sentence(documents), by_sentence(documents, predicted=predicted), zero_rule=whole.zero_rule)
