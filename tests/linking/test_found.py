"""Links of found mentions: their probabilities are corrected by what was found in texts that
have gold.
"""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
from tests.support.linking import build_pack, corpus, document

from fascicle.core.document import Document
from fascicle.core.mention import Mention
from fascicle.linking import fitting
from fascicle.linking.features import FEATURES
from fascicle.linking.fitting import FitSettings, fit_linker
from fascicle.linking.folder import Correction, Ranker
from fascicle.linking.linker import Linker
from fascicle.terms.pack.pack import Pack

SETTINGS = FitSettings(remember=False, indexed=False)


@pytest.fixture(scope="module")
def pack(tmp_path_factory: pytest.TempPathFactory) -> Pack:
    return build_pack(tmp_path_factory.mktemp("pack") / "pack")


def as_found(one: Document, score: float) -> Document:
    """A document with what a recogniser found too: its diseases with a score, and a word that
    gold does not have.
    """
    found = [
        Mention(each.spans, each.type, score=score, source="model")
        for each in one.mentions
        if each.type == "Disease"
    ]
    return msgspec.structs.replace(one, mentions=(*one.mentions, *found))


def spurious(number: int) -> Document:
    """A text in which a model finds a disease, with a low score, and gold has none."""
    text = f"Series {number} of ovarian cancer."
    start = text.index("ovarian")
    mention = Mention(
        ((start, start + len("ovarian cancer")),), "Disease", score=0.55, source="model"
    )
    return Document(id=f"s{number}", text=text, mentions=(mention,))


def test_found_mentions_have_a_correction_of_their_own(
    pack: Pack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fitting, "_FEWEST_FOUND", 20)
    judged = [*(as_found(one, 0.95) for one in corpus(60)), *map(spurious, range(60))]
    plain = fit_linker(pack, None, corpus(), settings=SETTINGS).rankers["Disease"]
    ranker = fit_linker(pack, None, corpus(), settings=SETTINGS, judged=judged).rankers["Disease"]
    assert msgspec.structs.replace(ranker, found=msgspec.UNSET) == plain
    assert isinstance(ranker.found, Correction)
    # glioblastomma is no name without an index
    assert (ranker.found.mentions, ranker.found.right) == (240, 120)
    assert ranker.found.mention > 0
    linker = Linker(pack, rankers={"Disease": ranker})

    def said(score: float | None) -> float:
        one = document("With ovarian cancer here.", ("ovarian cancer", "Disease", ""))
        mentions = tuple(msgspec.structs.replace(each, score=score) for each in one.mentions)
        ((decision,),) = linker.decisions([one], [mentions])
        return decision.candidates[0].probability or 0.0

    assert said(0.95) > said(0.55)
    assert said(None) == pytest.approx(
        Linker(pack, rankers={"Disease": plain})
        .decisions(*_asked("ovarian cancer"))[0][0]
        .candidates[0]
        .probability
    )


def _asked(surface: str) -> tuple[list[Document], list[tuple[Mention, ...]]]:
    one = document(f"With {surface} here.", (surface, "Disease", ""))
    return [one], [one.mentions]


def test_a_name_has_one_answer_in_a_document(pack: Pack) -> None:
    found = Correction(scale=1.0, shift=0.0, mention=1.0, threshold=0.5)
    weights = dict.fromkeys(FEATURES, 0.0)
    linker = Linker(
        pack,
        rankers={"Disease": Ranker(vocabularies=(), weights=weights, threshold=0.5, found=found)},
    )
    one = document(
        "Ovarian cancer, ovarian cancer and OVARIAN cancer.",
        *((f"{word} cancer", "Disease", "") for word in ("Ovarian", "ovarian", "OVARIAN")),
    )

    def said(*scores: float | None) -> list[float | None]:
        mentions = [
            msgspec.structs.replace(m, score=score)
            for m, score in zip(one.mentions, scores, strict=True)
        ]
        return [each.candidates[0].probability for each in linker.decisions([one], [mentions])[0]]

    first, second, third = said(0.2, 0.9, 0.6)
    assert first == second == third == said(0.9, 0.9, 0.9)[0]
    assert said(0.2, None, 0.2)[1] == said(None, None, None)[1] != said(0.2, None, 0.2)[0]


def test_few_found_mentions_correct_nothing(pack: Pack) -> None:
    judged = [as_found(one, 0.9) for one in corpus()]
    rankers = fit_linker(pack, None, corpus(), settings=SETTINGS, judged=judged).rankers
    assert rankers == fit_linker(pack, None, corpus(), settings=SETTINGS).rankers


def test_thresholds_and_corrections_are_those_of_the_mention() -> None:
    found = Correction(scale=0.5, shift=-1.0, mention=2.0, threshold=0.7)
    weights = dict.fromkeys(FEATURES, 0.0)
    ranker = Ranker(
        vocabularies=(), weights=weights, threshold=0.4, scale=2.0, shift=1.0, found=found
    )
    given, scores = np.array([np.nan, 0.9]), np.array([0.6, 0.6])
    odds = np.log(0.6 / 0.4)
    wanted = [2 * odds + 1, 0.5 * odds - 1 + 2 * np.log(0.9 / 0.1)]
    assert ranker.correction(given)(scores) == pytest.approx(
        [1 / (1 + np.exp(-one)) for one in wanted]
    )
    assert ranker.thresholds(given).tolist() == [0.4, 0.7]
    plain = msgspec.structs.replace(ranker, found=msgspec.UNSET)
    assert plain.thresholds(given).tolist() == [0.4, 0.4]
    assert plain.correction(given)(scores) == pytest.approx([1 / (1 + np.exp(-wanted[0]))] * 2)


def test_a_given_threshold_is_that_of_all(pack: Pack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fitting, "_FEWEST_FOUND", 20)
    settings = msgspec.structs.replace(SETTINGS, threshold=0.9)
    judged = [as_found(one, 0.9) for one in corpus()]
    rankers = fit_linker(pack, None, corpus(), settings=settings, judged=judged).rankers
    assert {one.threshold for one in rankers.values()} == {0.9}
    assert {one.found.threshold for one in rankers.values() if one.found} == {0.9}


def test_no_threshold_is_below_the_lowest_of_its_type(pack: Pack) -> None:
    plain = fit_linker(pack, None, corpus(), settings=SETTINGS).rankers
    settings = msgspec.structs.replace(SETTINGS, lowest=dict.fromkeys(plain, 0.9))
    assert all(
        one.threshold >= 0.9
        for one in fit_linker(pack, None, corpus(), settings=settings).rankers.values()
    )
