"""Reports to write pages from: one with everything in it, one of hostile names and texts."""

from __future__ import annotations

from typing import Any

from fascicle.core.document import Document, Mention
from fascicle.evaluation.breakdown.layout import read_lexicon
from fascicle.evaluation.report import ReportSettings, build_report
from fascicle.evaluation.scoring.inputs import score_system

TEXT = (
    "left and right ventricle of the heart, acute renal failure and pain after lithium or "
    "sodium valproate given"
)
SCRIPT = "<script>window.hacked=1</script>"
EVIL = f'"><img src=x onerror="window.hacked=1">{SCRIPT}</style></title>-->&amp;'
TURNED = "a\u202eb\u2066c\x07d"
LONG = "w" * 3000


def said(*rows: tuple[Any, ...]) -> tuple[Mention, ...]:
    """Mentions from ``(start, end, type)``, ``(start, end, start, end, type)``, each with its
    score at the end.
    """
    found = []
    for *places, type_, score in rows:
        spans = tuple(zip(places[::2], places[1::2], strict=True))
        found.append(
            Mention(spans, type_, score=score, source="gold" if score is None else "model")
        )
    return tuple(found)


GOLD = said(
    (0, 4, 15, 24, "Organ", None), (9, 24, "Organ", None), (15, 37, "Organ", None), (39, 58, "Disease", None),
    (63, 67, "Disease", None), (74, 81, "Chemical", None), (85, 101, "Chemical", None),
)  # fmt: skip
FIRST = said(
    (0, 4, 15, 24, "Organ", 0.9), (15, 24, "Organ", 0.8), (45, 58, "Disease", 0.95), (63, 67, "Disease", 0.5),
    (74, 81, "Disease", 0.7), (85, 91, "Chemical", 0.6), (92, 101, "Chemical", 0.4), (102, 107, "Chemical", 0.2),
)  # fmt: skip
SECOND = said((9, 24, "Organ", 0.99), (39, 67, "Disease", 0.9), (74, 81, "Chemical", 0.8))


def sure(mentions: tuple[Mention, ...]) -> tuple[Mention, ...]:
    """The same mentions as predictions."""
    return tuple(Mention(m.spans, m.type, score=0.9, source="model") for m in mentions)


def rich_report(*, systems: int = 3, documents: int = 30, examples: int = 5) -> dict[str, Any]:
    """Systems with errors of every kind, nested and discontinuous mentions, scores and a
    training corpus.
    """
    gold = [
        Document(id=f"d{i}", text=TEXT, mentions=GOLD if i % 5 else GOLD[:3])
        for i in range(documents)
    ]
    both = (FIRST, SECOND)
    named = [
        score_system(
            ("first", "second", "third")[at],
            gold,
            predicted={
                d.id: both[at % 2] if (i + at) % 3 else sure(d.mentions[at:])
                for i, d in enumerate(gold)
            },
        )
        for at in range(systems)
    ]
    training = read_lexicon([Document(id="t", text=TEXT, mentions=GOLD[2:5])])
    return build_report(
        gold, named, training=training, settings=ReportSettings(resamples=50, examples=examples)
    )


def hostile_report() -> dict[str, Any]:
    """Names, types, ids and texts that would do harm if they were taken for more than text."""
    text = f"{EVIL} {TURNED} {LONG} end"
    far = len(text)
    types = (SCRIPT, EVIL, TURNED, LONG, "$x_{", "_y", "病気", "مرض", "b" * 40, "b" * 41)
    gold = tuple(
        Mention(((2 * i, 2 * i + 1), (far - 9, far - 4)), one) for i, one in enumerate(types)
    )
    wrong = tuple(
        Mention(((2 * i, far),), one, score=0.5, source="m")
        for i, one in enumerate(reversed(types))
    )
    documents = [
        Document(id=f"{EVIL}{TURNED}", text=text, mentions=gold),
        Document(id="other", text="nothing", mentions=()),
    ]
    predicted = {documents[0].id: wrong, "other": ()}
    names = (EVIL, TURNED, f"_{SCRIPT}$", LONG, f"{LONG}\udcff")
    systems = [score_system(name, documents, predicted=predicted) for name in names]
    return build_report(documents, systems, settings=ReportSettings(resamples=20))
