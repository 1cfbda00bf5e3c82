"""The decision on documents: values that only the texts which chose them like are not taken."""

from __future__ import annotations

from fascicle.core.document import Document, Mention
from fascicle.evaluation.calibration.documents import FittedDocuments, PredictedTexts, fit_documents
from fascicle.settings.decision import TypeDecision
from fascicle.text.segment import sentences

TEXT = "HeLa was grown. Then MCF7 was grown in the other dish."
RIGHT, WRONG = ((0, 4),), ((21, 25),)


def predicted(*, doubtful: bool) -> tuple[Document, list[Mention]]:
    """A text with one right mention, and a wrong one; the right one has the lower score if the
    text is doubtful.
    """
    gold = Mention(RIGHT, "CellLine")
    low, high = 0.6, 0.8
    scores = (low, high) if doubtful else (high, low)
    answers = [
        Mention(spans, "CellLine", score=score)
        for spans, score in zip((RIGHT, WRONG), scores, strict=True)
    ]
    return Document(id="1", text=TEXT, mentions=(gold,)), answers


def fitted(*halves: bool) -> FittedDocuments:
    pairs = [predicted(doubtful=doubtful) for doubtful in halves for _ in range(60)]
    documents, answers = zip(*pairs, strict=True)
    texts = PredictedTexts(
        file="a", documents=documents, answers=answers, types=frozenset({"CellLine"})
    )
    return fit_documents([texts], sentences=sentences, types=["CellLine"], chosen_on={"a": "0"})


def test_a_threshold_that_both_halves_choose_is_taken() -> None:
    rule = fitted(False, False).decision.types["CellLine"]
    assert 0.6 < rule.low <= 0.8


def test_a_threshold_that_one_half_alone_chooses_is_not_taken() -> None:
    found = fitted(False, True)
    rule = found.decision.types["CellLine"]
    assert (rule.low, rule.high, rule.alone, rule.known) == (0.0, 1.0, 0.0, 1.0)
    assert rule.ends == rule.ends_alone == TypeDecision().ends
    (row,) = found.rows
    assert row.after == row.before
