"""Weak labels: a dictionary in place of human annotation, for training and for every choice made on the way.

What a dictionary says of a text is of three kinds. A match with a type is taught as a mention. Text that no phrase
matches is taught as no mention, although the dictionary may merely lack the name. A phrase that the dictionary knows
without a type is *unknown*: neither positive nor negative. Its range is in the layer ``"unknown"`` of the document, to
be left out of the loss by each head in its own way:

* a tagger ignores the tags of the units under it, and of the one after it in the sentence, which says whether the
  phrase goes on (AutoNER leaves out the same gaps, Shang et al. 2018); a unit of a taught mention is never ignored,
* a span head or a bi-encoder takes no span that overlaps it for a negative.

Nothing here reads a mention of the documents that it is given (*binder* §3: all human labels of train and dev are
discarded), nor their words, which may have been cut at annotated mentions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from fascicle.core.document import GOLD, Document, Mention
from fascicle.core.spans import Span
from fascicle.knowledge.matcher import Match, Matcher

UNKNOWN: Final = "unknown"  # source and type of the ranges of which nothing is known
LABELS: Final = "labels"  # in the meta of a document: who made its gold, if not people


def distant_documents(documents: Iterable[Document], matcher: Matcher) -> list[Document]:
    """Replaces all mentions of documents by the matches of a dictionary.

    A phrase of several types becomes a mention of each: heads that hold one type a span teach the first by name and
    count the others (``models.targets``).

    Args:
        documents: of train or dev, read once; what mentions they have makes no difference.
        matcher: the dictionary and its rule.

    Returns:
        The same documents with the matches as gold and with unknown ranges; ``meta["labels"]`` names the dictionary's
        source, rule and segmenter.
    """
    given = list(documents)
    return [_labelled(d, found, matcher) for d, found in zip(given, matcher.matches(given), strict=True)]


def unknown_ranges(document: Document) -> tuple[Span, ...]:
    """Where nothing is known of a document, in characters, sorted and disjoint; none where people annotated it."""
    return tuple((m.start, m.end) for m in document.layer(UNKNOWN))


def label_notes(documents: Sequence[Document]) -> list[str]:
    """What weak labels there are, as sentences."""
    types = Counter(m.type for d in documents for m in d.layer(GOLD))
    places = Counter((d.id, m.spans) for d in documents for m in d.layer(GOLD))
    unknown = sum(len(d.layer(UNKNOWN)) for d in documents)
    makers = sorted({d.meta[LABELS] for d in documents if LABELS in d.meta})
    listed = ", ".join(f"{count:,} {name}" for name, count in sorted(types.items())) or "none"
    said = [f"labels by {', '.join(makers) or 'people'}: {types.total():,} mentions ({listed}), {unknown:,} unknown"]
    several = sum(count > 1 for count in places.values())
    if several:
        said.append(f"{several:,} places have mentions of several types")
    return said


def _labelled(document: Document, found: Sequence[Match], matcher: Matcher) -> Document:
    mentions = [
        Mention(((match.start, match.end),), kind, source=source)
        for match in found
        for kind, source in ([(kind, GOLD) for kind in match.types] or [(UNKNOWN, UNKNOWN)])
    ]
    meta = {**document.meta, LABELS: f"{matcher.name} {matcher.version}"}
    return msgspec.structs.replace(document, mentions=tuple(mentions), meta=meta)
