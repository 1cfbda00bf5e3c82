"""The scores of a span typer for a person."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from fascicle.core.wording import counted
from fascicle.reports.table import table

if TYPE_CHECKING:
    from fascicle.evaluation.scoring.typing import TypingScores
    from fascicle.training.typer.scores import TyperScores

_SHOWN: Final = 12  # types in a confusion matrix
WARNING: Final = (
    "Typing accuracy: the places of all mentions were given. This is not recognition, and no figure of it may stand "
    "beside an F1 of one."
)


def typing_text(scores: TyperScores) -> str:
    """Typing accuracy with its baselines, types, the confusion matrix, and what is found where the model can find."""
    typing, published = scores.typing, scores.published
    lines = [f"typing accuracy         {100 * typing.accuracy:6.2f} %  of {typing.mentions:,} given mentions"]
    lines.append(f"lookup of the string    {100 * scores.lookup.accuracy:6.2f} %  baseline without a model")
    lines.append(f"most frequent type      {100 * scores.majority.accuracy:6.2f} %  baseline without a model")
    if typing.discontinuous:
        lines.append(
            f"discontinuous           {typing.discontinuous_right:,} of {typing.discontinuous:,} right in all fragments"
        )
    if published is not None:
        sums = "2PR/(P+R), P and R of different mentions" if typing.discontinuous else "2P/(1+P) of the accuracy"
        lines.append(f"published protocol      {100 * published.f1:6.2f}    {sums}, which is no F1 of NER")
    unknown = 100 * scores.words_without_vector / max(scores.words, 1)
    lines.append(f"words without a vector  {unknown:6.2f} %  of {counted(scores.words, 'word')} in these mentions")
    lines += ["", WARNING, "", *confusion_lines(typing)]
    if scores.found is not None:
        lines += ["", "mentions found by trying all spans, strictly scored", table(scores.found).rstrip("\n")]
    return "\n".join(lines) + "\n"


def confusion_lines(typing: TypingScores) -> list[str]:
    """Gold types as lines, what was said as columns; the most frequent types, and the rest together."""
    names = list(typing.types)
    shown, rest = names[:_SHOWN], names[_SHOWN:]
    groups = [[name] for name in shown] + ([rest] if rest else [])
    titles = [*shown, *([f"{len(rest)} others"] if rest else [])]
    table_ = [["gold \\ said", *titles, "right"]]
    for title, golds in zip(titles, groups, strict=True):
        row = [sum(typing.confusion.get((g, s), 0) for g in golds for s in said) for said in groups]
        right = sum(typing.confusion.get((g, g), 0) for g in golds)
        total = sum(row)
        table_.append([title, *(f"{n:,}" for n in row), f"{100 * right / total:.1f} %" if total else "-"])
    return _aligned(table_)


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [
        "  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
