"""What the marked form of a pair of concepts is."""

from __future__ import annotations

from fascicle.core.document import Document, Link, Mention
from fascicle.settings.recipes.relations import PairSettings
from fascicle.text.relations import list_pairs
from studies.relations.marked import marked

TEXT = "Lithium and tremor. Fits came from lithium, tremors did not."


def mention(words: str, kind: str, concept: str) -> Mention:
    start = TEXT.index(words)
    return Mention(((start, start + len(words)),), kind, links=(Link(id=concept),))


def test_all_mentions_of_both_concepts_are_marked() -> None:
    mentions = (
        mention("Lithium", "Chemical", "L"),
        mention("tremor", "Disease", "T"),
        mention("Fits", "Disease", "F"),
        mention("lithium", "Chemical", "L"),
        mention("tremors", "Disease", "T"),
    )
    settings = PairSettings(between="concepts", types=(("Chemical", "Disease"),))
    pairs = list_pairs(mentions, sentences=((0, 19), (20, len(TEXT))), settings=settings)
    document = Document(id="a", text=TEXT, mentions=mentions)
    read = {
        statement.type: [TEXT[start:end] for start, end in statement.spans]
        for statement in (marked(document, pairs, at) for at in range(len(pairs.ends)))
    }
    assert read == {
        "Lithium and tremor": ["Lithium", "tremor", "lithium", "tremors"],
        "Lithium and Fits": ["Lithium", "Fits", "lithium"],
    }


def test_mentions_within_others_are_marked_once() -> None:
    mentions = (mention("Lithium and tremor", "Chemical", "L"), mention("tremor", "Disease", "T"))
    settings = PairSettings(between="concepts", types=(("Chemical", "Disease"),))
    pairs = list_pairs(mentions, sentences=((0, len(TEXT)),), settings=settings)
    (span,) = marked(Document(id="a", text=TEXT, mentions=mentions), pairs, 0).spans
    assert TEXT[slice(*span)] == "Lithium and tremor"
