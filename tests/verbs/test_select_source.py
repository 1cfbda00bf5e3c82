"""The part of a document that ``--source`` takes."""

from __future__ import annotations

import pytest

from fascicle.core.document import Document, Mention, Relation
from fascicle.verbs.shared import select_source

ENDS = (("entity1", "D1"), ("entity2", "D2"))
OF_GOLD = Relation(type="CID", attributes=ENDS)
OF_FINDER = Relation(type="CID", attributes=(*ENDS, ("score", "0.9")))


@pytest.mark.parametrize(("source", "relation"), [("gold", OF_GOLD), ("sys", OF_FINDER)])
def test_relations_between_concepts_go_with_their_source(source: str, relation: Relation) -> None:
    mentions = tuple(Mention(((0, 1),), "X", source=name) for name in ("gold", "sys"))
    document = Document(id="1", text="a", mentions=mentions, relations=(OF_GOLD, OF_FINDER))
    (part,) = select_source([document], source)
    assert [mention.source for mention in part.mentions] == [source]
    assert part.relations == (relation,)
    assert list(select_source([document], None)) == [document]
