"""Binary inputs: spaCy's DocBin, and the two tables of Parquet."""

from __future__ import annotations

from random import Random

from tests.formats.oracle.binary import ORACLES
from tests.formats.oracle.drafts import Draft, DraftMark, page
from tests.formats.oracle.format import Oracle
from tests.formats.oracle.hand import BY_ONE, NESTED, Hand
from tests.formats.oracle.judging import Page
from tests.formats.use.given import Given

_LUNG = Draft(
    id="1",
    parts=("non-small lung cancer \U0001f600",),
    words=(((0, 9), (10, 14), (15, 21), (22, 23)),),
    marks=(DraftMark(0, 1, 2, "Disease", "MESH", "D008175"), DraftMark(0, 0, 0, "Size")),
)
_SPACY, _PARQUET = ORACLES


def _given(oracle: Oracle, name: str, fault: str, *, keep: float = 1.0) -> Given:
    """The document in a format, with a fault, or cut off after a part of its bytes."""
    hand = Hand(fault, Random(3))
    made = hand.prepared([_LUNG])
    files = {
        path: content[: int(len(content) * keep)]
        for path, content in oracle.write(made, hand).items()
    }
    wanted = page(made[0], "")
    return Given(
        name=name,
        format=oracle.reads,
        files=dict(files),
        read=oracle.path,
        wanted=(wanted if oracle.named else Page(wanted.text, wanted.marks),),
        flawed=(bool(fault) and fault != NESTED) or keep < 1,
    )


ALL = (
    _given(_SPACY, "entities with ids", ""),
    _given(_SPACY, "a group of nested spans", NESTED),
    _given(_SPACY, "spans that end a word further than their characters", BY_ONE),
    _given(_SPACY, "a file that was cut off", "", keep=0.6),
    _given(_PARQUET, "two tables", ""),
    _given(_PARQUET, "offsets wrong by one", BY_ONE),
    _given(_PARQUET, "tables that were cut off", "", keep=0.6),
)
