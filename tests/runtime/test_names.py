from __future__ import annotations

import time
from collections.abc import Sequence

import pytest

from fascicle.core.document import Document, Mention, Patch
from fascicle.errors import ModelError
from fascicle.loading import load_single
from fascicle.runtime.ruled import check_pack, known_names
from fascicle.runtime.second_reading import add_whole_text_names
from fascicle.settings.decision import DocumentDecision, NameDecision

RULES = NameDecision(words=3)


def mention(start: int, end: int, kind: str = "Gene") -> Mention:
    return Mention(((start, end),), kind, score=0.8, source="model")


class Reads:
    """Remembers what it was asked to read, and finds all letters before the stop."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def __call__(self, documents: Sequence[Document]) -> list[Patch]:
        self.texts += [one.text for one in documents]
        return [
            Patch(add=(mention(0, one.text.index(" ."), "Disease"), mention(0, len(one.text))))
            for one in documents
        ]


def named(text: str, patch: Patch, rules: NameDecision = RULES) -> tuple[Patch, list[str]]:
    reads = Reads()
    documents = [Document(id="1", text=text)]
    how = {
        "rules": rules,
        "pack": "",
        "again": reads,
        "types": ("Gene", "Disease"),
        "source": "model",
    }
    (found,) = add_whole_text_names(documents, [patch], **how)
    return found, reads.texts


def test_a_name_that_was_not_found_is_read_with_a_stop() -> None:
    found, read = named("lung cancer", Patch(add=(mention(0, 4),)))
    assert read == ["lung cancer ."]
    assert found.add == (mention(0, 11, "Disease"),)


def test_a_mention_of_a_type_kept_apart_makes_no_text_a_name() -> None:
    own = mention(0, 11, "Gene.own")
    found, read = named("lung cancer", Patch(add=(own, mention(0, 4))))
    assert read == ["lung cancer ."]
    assert found.add == (mention(0, 11, "Disease"),)
    how = {"rules": RULES, "pack": "", "types": ("Gene",), "source": "model"}
    before = Patch(add=(mention(0, 4),))
    again = lambda _: [Patch(add=(own,))]  # noqa: E731
    assert add_whole_text_names(
        [Document(id="1", text="lung cancer")], [before], again=again, **how
    ) == [before]


@pytest.mark.parametrize(
    ("text", "patch"),
    [
        ("lung cancer", Patch(add=(mention(0, 11),))),  # found as a whole
        ("lung cancer.", Patch()),  # a sentence
        ("cancer of the lung", Patch()),  # too many words
        ("SD", Patch()),  # says too little
        ("", Patch()),
    ],
)
def test_other_texts_are_read_once(text: str, patch: Patch) -> None:
    found, read = named(text, patch)
    assert read == []
    assert found is patch


def test_names_of_the_pack_are_those_of_the_model() -> None:
    text = "Alzheimer disease 1"
    reads = lambda documents: [Patch() for _ in documents]  # noqa: E731
    documents = [Document(id="1", text="aspirin"), Document(id="2", text=text)]
    how = {
        "rules": RULES,
        "pack": "basic@2",
        "again": reads,
        "types": ("Chemical",),
        "source": "model",
    }
    found = add_whole_text_names(documents, [Patch(), Patch()], **how)
    assert [[(m.type, m.spans, m.source, m.links) for m in patch.add] for patch in found] == [
        [("Chemical", ((0, 7),), "model", ())],
        [],
    ]


def test_the_shipped_model_finds_names_alone_and_few_heads_of_columns() -> None:
    model = load_single("biomed-fast@2")
    names = ["BRCA1", "aspirin", "breast cancer", "Mus musculus", "EGFR", "diabetes mellitus"]
    heads = ["p", "SD", "ID", "yes", "Mean", "Group", "Value", "Total", "P value", "Year"]
    documents = [Document(id=text, text=text) for text in (*names, *heads)]
    found = model.predict(documents)
    assert [patch.add[0].spans if patch.add else None for patch in found[: len(names)]] == [
        ((0, len(name)),) for name in names
    ]
    assert sum(bool(patch.add) for patch in found[len(names) :]) <= 1
    assert [model.predict([one])[0] for one in documents] == found
    assert [one.patch for one in model.tag(documents)] == found


def test_typographic_characters_change_no_answer_of_the_shipped_model() -> None:
    model = load_single("biomed-fast@2")
    plain = (
        "Levels of IL-2 and TNF-alpha rose with Ca(2+) in mice with Crohn's disease and "
        "COVID-19. IL-2 was high."
    )
    written = plain.replace("-", "\u2011").replace("'", "\u2019")
    first, second = (
        model.predict([Document(id="1", text=text)])[0].add for text in (plain, written)
    )
    assert first == second
    assert first


def test_a_family_of_genes_is_a_gene_for_a_model_that_knows_no_families() -> None:
    reads = lambda documents: [Patch() for _ in documents]  # noqa: E731
    document = Document(id="1", text="Protein Kinase C")
    how = {"rules": RULES, "pack": "basic@2", "again": reads, "source": "model"}
    (found,) = add_whole_text_names([document], [Patch()], types=("Gene",), **how)
    assert [(m.type, m.spans) for m in found.add] == [("Gene", ((0, 16),))]
    (found,) = add_whole_text_names([document], [Patch()], types=("Disease",), **how)
    assert found.add == ()


def test_a_pack_that_is_not_shipped_is_refused_before_anything_is_read() -> None:
    check_pack(DocumentDecision(pack="basic@2"), model="mine@1")
    check_pack(DocumentDecision(), model="mine@1")
    with pytest.raises(ModelError, match=r"mine@1 needs the term pack 'other@7'.*basic@2"):
        check_pack(DocumentDecision(pack="other@7"), model="mine@1")


def test_names_of_the_pack_are_known_for_their_type() -> None:
    assert known_names(DocumentDecision(pack="basic@2"))(["EGFR", "no such name"]) == {
        "EGFR": "Gene"
    }
    assert known_names(DocumentDecision())(["EGFR"]) == {}


def test_a_long_word_with_many_mentions_takes_linear_time() -> None:
    # A word of any length may be a name. It takes a second; to cut the text at each mention takes
    # minutes.
    count = 60_000
    said = tuple(mention(at, at + 1) for at in range(1, count))
    began = time.process_time()
    named("\u75c5" * count, Patch(add=said))
    assert time.process_time() - began < 10
