"""What the step for coordinated names does to concepts and places; the plan is in ``plan.md``.

usage: FASCICLE_DATA=... python -m studies.coordination.measure choose | test

``choose`` writes ``results/coordination.dev.json``, over train and dev. ``test`` writes
``results/coordination.json``.
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args

from fascicle.core.document import Document, Mention
from fascicle.core.mention import Fragments
from fascicle.core.patches import apply
from fascicle.formats.files import read
from fascicle.linking.coordination import Coordination
from fascicle.linking.opening import Linking, find
from fascicle.settings.folders.vocabularies import DEFAULT_LINKER
from fascicle.settings.steps import KnownNames
from studies.common import write_result
from studies.packs.gold import CORPORA, craft, renamed
from studies.variants.measure import wilson

SOURCE, ALONE = "given", "linker alone"
DEV, TEST = "coordination.dev", "coordination"
RULES: Sequence[KnownNames] = get_args(KnownNames)
FILES: Mapping[str, Mapping[str, Sequence[str]]] = {
    "ncbi-disease": {
        "dev": (
            "ncbi-disease/pubtator/train.PubTator.txt",
            "ncbi-disease/pubtator/dev.PubTator.txt",
        ),
        "test": ("ncbi-disease/pubtator/test.PubTator.txt",),
    },
    "bc5cdr": {
        "dev": (
            "bc5cdr/pubtator/CDR_TrainingSet.PubTator.txt",
            "bc5cdr/pubtator/CDR_DevelopmentSet.PubTator.txt",
        ),
        "test": ("bc5cdr/pubtator/CDR_TestSet.PubTator.txt",),
    },
}
_COORDINATION = re.compile(r"\b(?:and|or)\b|[,/]")


def gold(corpus: str, part: str) -> Iterator[Document]:
    """The documents, with gold mentions of canonical types."""
    for path in FILES[corpus][part]:
        for document in read(Path(os.environ["FASCICLE_DATA"]) / path, format="pubtator"):
            yield renamed(document, CORPORA[corpus])


def kind_of(mention: Mention, text: str) -> str:
    """What a gold mention is counted as; empty for nothing."""
    has_words = bool(_COORDINATION.search(mention.text_in(text)))
    if len({link.curie for link in mention.links}) > 1:
        return "coordinated" if has_words else "composite"
    return "single" if has_words and mention.links else ""


def alone(documents: Sequence[Document]) -> Iterator[tuple[str, set[str], Document]]:
    """For each mention that counts its kind, its concepts, and a document with it alone, without
    concepts.
    """
    for document in documents:
        for mention in document.mentions:
            if kind := kind_of(mention, document.text):
                bare = Mention(mention.spans, mention.type, source=SOURCE)
                yield (
                    kind,
                    {link.curie for link in mention.links},
                    document.having(mentions=(bare,)),
                )


def concepts(
    documents: Sequence[Document], linker: Linking, step: Coordination | None
) -> dict[str, Any]:
    """How often the concepts of a mention are those of the gold, by its kind."""
    counts: dict[str, list[int]] = {}
    cases = list(alone(documents))
    given = [document for _, _, document in cases]
    if step is not None:
        given = [
            apply(one, patch, drops=step.drops)
            for one, patch in zip(given, step.run(given), strict=True)
        ]
    for (kind, wanted, _), one, patch in zip(cases, given, linker.run(given), strict=True):
        linked = apply(one, patch)
        found = {
            name
            for mention in linked.mentions
            for link in mention.links
            for name in [_of(link, wanted)]
            if name
        }
        row = counts.setdefault(kind, [0] * 5)
        for at, number in enumerate(
            (1, found == wanted, len(found & wanted), len(found), len(wanted))
        ):
            row[at] += number
    return {
        kind: {
            "mentions": n,
            "equal": equal,
            "interval": wilson(equal, n),
            "precision": right / max(said, 1),
            "recall": right / wanted,
        }
        for kind, (n, equal, right, said, wanted) in sorted(counts.items())
    }


def _of(link: Any, wanted: set[str]) -> str:
    """A concept by the identifier that the gold has for it, if it is among its equivalents."""
    return next((one for one in (link.curie, *link.same) if one in wanted), str(link.curie))


def places(articles: Sequence[Document], step: Coordination) -> dict[str, Any]:
    """Recall of discontinuous gold, and precision of what is added to the contiguous gold."""
    right = said = wanted = coordinated = 0
    for article in articles:
        every = {(one.spans, one.type) for one in article.mentions}
        broken = {one for one in every if len(one[0]) > 1}
        bare = article.having(
            mentions=tuple(
                Mention(spans, kind, source=SOURCE) for spans, kind in sorted(every - broken)
            )
        )
        (patch,) = step.run([bare])
        added = {(one.spans, one.type) for one in patch.add}
        right, said, wanted = right + len(added & every), said + len(added), wanted + len(broken)
        coordinated += sum(_is_coordinated(article.text, spans) for spans, _ in broken)
    return {
        "discontinuous": wanted,
        "coordinated": coordinated,
        "added": said,
        "right": right,
        "precision": right / max(said, 1),
        "precision_interval": wilson(right, said),
        "recall": right / max(wanted, 1),
        "recall_interval": wilson(right, wanted),
        "recall_of_coordinated": right / max(coordinated, 1),
    }


def _is_coordinated(text: str, spans: Fragments) -> bool:
    """Whether there is a word of a coordination between two fragments."""
    return any(
        _COORDINATION.search(text[first[1] : second[0]]) for first, second in pairwise(spans)
    )


def measured(part: str, rules: Sequence[KnownNames]) -> dict[str, Any]:
    """All numbers of a part, for some rules and without the step."""
    linker = find(DEFAULT_LINKER).opened()
    steps: dict[str, Coordination] = {
        rule: Coordination("coordination", linker, sources=[SOURCE], required=rule)
        for rule in rules
    }
    arms: dict[str, Coordination | None] = {ALONE: None, **steps}
    documents = {corpus: list(gold(corpus, part)) for corpus in FILES}
    articles = [*craft("train"), *craft("dev")] if part == "dev" else craft("test")
    return {
        "concepts": {
            corpus: {name: concepts(own, linker, step) for name, step in arms.items()}
            for corpus, own in documents.items()
        },
        "places": {name: places(articles, step) for name, step in steps.items()},
    }


def main() -> None:
    """Writes a results file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("step", choices=("choose", "test"))
    if parser.parse_args().step == "choose":
        write_result(DEV, measured("dev", RULES))
    else:
        write_result(TEST, measured("test", RULES[:1]))


if __name__ == "__main__":
    main()
