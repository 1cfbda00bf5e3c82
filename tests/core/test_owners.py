"""Relations of the gold beside those of systems."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from fascicle.core.document import Document, Mention, Relation
from fascicle.core.effects import make_event
from fascicle.core.mention import RELATE
from fascicle.core.owners import gold_relations

PLAIN = Relation(type="CID", attributes=(("entity1", "D1"), ("entity2", "D2")))
SCORED = Relation(type="CID", attributes=(*PLAIN.attributes, ("score", "0.9")))
FINDER = make_event("pairs-left-out", step=RELATE, message="pairs")


@pytest.mark.parametrize(
    ("sources", "relations", "of_gold"),
    [
        (["gold"], [PLAIN], [PLAIN]),
        # a corpus may state how sure its relations are: nothing there says that a system did
        (["gold"], [SCORED], [SCORED]),
        (["gold"], [PLAIN, SCORED], [PLAIN]),
        (["gold", "biomed"], [PLAIN, SCORED], [PLAIN]),
        (["gold", "biomed"], [SCORED], []),
        (["biomed"], [PLAIN], []),
        ([], [PLAIN], [PLAIN]),
    ],
)
def test_a_relation_between_concepts_is_of_the_gold_unless_a_system_may_have_stated_it(
    sources: Sequence[str], relations: Sequence[Relation], of_gold: Sequence[Relation]
) -> None:
    mentions = tuple(Mention(((0, 1),), "X", source=source) for source in sources)
    document = Document(id="1", text="a", mentions=mentions, relations=tuple(relations))
    assert gold_relations(document) == tuple(of_gold)


def test_scores_are_of_the_finder_that_left_an_event() -> None:
    document = Document(
        id="1", text="a", mentions=(Mention(((0, 1),), "X"),), relations=(SCORED,), events=(FINDER,)
    )
    assert gold_relations(document) == ()
