"""Weak labels: only the dictionary decides them, and nobody's annotation."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any, get_args, get_type_hints

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.codec import decode, encode
from fascicle.core.document import GOLD, Document, Event, Mention
from fascicle.errors import RecipeError
from fascicle.evaluation.scoring.inputs import layers
from fascicle.evaluation.scoring.scores import score
from fascicle.formats import read
from fascicle.models.encoder import load_pretrained
from fascicle.settings.recipes.recogniser import DistantSettings, Recipe
from fascicle.terms.dictionary import RULES, DictionaryEntry
from fascicle.terms.matcher import PHRASES, Matcher, read_dictionary
from fascicle.terms.overlaps import Match
from fascicle.training.corpus import Parts
from fascicle.training.labelling import (
    LABELS,
    UNKNOWN,
    distant_documents,
    label_notes,
    score_known,
    unknown_ranges,
    weak_labels,
)
from fascicle.training.recogniser.prepare import prepare
from fascicle.verbs.tasks.index_build import build_pack

ENTRIES = (
    DictionaryEntry("aspirin", "Chemical"),
    DictionaryEntry("MS", "Chemical"),
    DictionaryEntry("MS", "Disease"),
    DictionaryEntry("pain", "Disease"),
    DictionaryEntry("heart rate"),
    DictionaryEntry("chest pain"),
)
TEXT = "aspirin for pain, chest pain and MS; heart rate fell."


@pytest.fixture(scope="module")
def matcher() -> Matcher:
    return Matcher(ENTRIES, rule="three-casings")


def layer(document: Document, source: str) -> list[tuple[str, str]]:
    return [(m.type, m.text_in(document.text)) for m in document.layer(source)]


def test_matches_become_the_gold_and_the_rest_is_unknown(matcher: Matcher) -> None:
    document = Document(
        id="d", text=TEXT, mentions=(Mention(((0, 11),), "Disease"),), meta={"journal": "x"}
    )
    (weak,) = distant_documents([document], matcher)
    assert layer(weak, GOLD) == [
        ("Chemical", "aspirin"),
        ("Disease", "pain"),
        ("Chemical", "MS"),
        ("Disease", "MS"),
    ]
    assert layer(weak, UNKNOWN) == [(UNKNOWN, "chest pain"), (UNKNOWN, "heart rate")]
    assert unknown_ranges(weak) == ((18, 28), (37, 47))
    assert len(weak.mentions) == 6
    assert weak.meta == {"journal": "x", LABELS: "dictionary three-casings rules@1"}
    assert (weak.id, weak.text) == (document.id, document.text)
    assert unknown_ranges(document) == ()


def test_labels_are_the_matches(matcher: Matcher) -> None:
    documents = [Document(id=str(i), text=TEXT[i:]) for i in range(6)]
    for weak, found in zip(
        distant_documents(documents, matcher), matcher.matches(documents), strict=True
    ):
        again = {(m.start, m.end) for m in weak.mentions}
        assert again == {(m.start, m.end) for m in found}
        for match in found:
            kinds = tuple(
                m.type for m in weak.layer(GOLD) if (m.start, m.end) == (match.start, match.end)
            )
            assert match == Match(match.start, match.end, kinds)


def test_weak_labels_can_be_stored_and_made_again(matcher: Matcher) -> None:
    weak = distant_documents([Document(id="d", text=TEXT)], matcher)
    assert [decode(encode(d)) for d in weak] == weak
    assert distant_documents(weak, matcher) == weak


def test_notes_say_who_labelled_and_how_much(matcher: Matcher) -> None:
    documents = [Document(id="a", text=TEXT), Document(id="b", text="nothing")]
    assert label_notes(distant_documents(documents, matcher)) == [
        "labels by dictionary three-casings rules@1: 4 mentions (2 Chemical, 2 Disease), 2 unknown",
        "1 place has mentions of several types",
    ]
    assert label_notes(documents) == ["labels by people: 0 mentions (none), 0 unknown"]
    names = [f"n{number}" for number in range(2000)]
    many = Matcher([DictionaryEntry(name, f"T{name}") for name in names], rule="raw")
    assert label_notes(
        distant_documents([Document(id="a", text=" ".join([*names, "n7 n9 n9"]))], many)
    ) == [
        "labels by dictionary raw rules@1: 2,003 mentions (of 2,000 types, most of all 3 Tn9, 2 "
        "Tn7, 1 Tn0), 0 unknown"
    ]


@st.composite
def poison(draw: st.DrawFn) -> tuple[Mention, ...]:
    """Any annotation: of any source, nested, discontinuous, and just where the matches are."""
    found = {}
    for source in draw(st.lists(st.sampled_from([GOLD, UNKNOWN, "dictionary", "seq"]), max_size=6)):
        cuts = sorted(draw(st.sets(st.integers(0, len(TEXT)), min_size=2, max_size=4)))
        spans = tuple(zip(cuts[::2], cuts[1::2], strict=False))
        mention = Mention(
            spans, draw(st.sampled_from(["Chemical", "Disease", "Poison", UNKNOWN])), source=source
        )
        found[mention.key] = mention
    return tuple(found.values())


@given(poison(), st.booleans())
def test_poisoned_human_labels_change_nothing(
    matcher: Matcher, mentions: tuple[Mention, ...], words: bool
) -> None:
    """Neither do words: those of a corpus may have been cut at annotated mentions."""
    clean = Document(id="d", text=TEXT)
    cut = tuple(match.span() for match in re.finditer(r"\S+", TEXT)) if words else None
    poisoned = msgspec.structs.replace(clean, mentions=mentions, words=cut)
    (weak,) = distant_documents([poisoned], matcher)
    assert msgspec.structs.replace(weak, words=None) == distant_documents([clean], matcher)[0]


def test_poisoned_labels_of_a_corpus_change_nothing(fascicle_data: Path, tmp_path: Path) -> None:
    """The files themselves: all mentions of BC5CDR dev left out, or moved and given the other
    type.
    """
    source = fascicle_data / "bc5cdr" / "pubtator" / "CDR_DevelopmentSet.PubTator.txt"
    folder = fascicle_data / "dict-autoner-bc5cdr"
    core, full = (
        read_dictionary(str(folder / "dict_core.txt")),
        read_dictionary(str(folder / "dict_full.txt"), PHRASES),
    )
    matcher = Matcher(chain(core, full), rule="three-casings")
    human = list(read(source))
    bare = [msgspec.structs.replace(d, mentions=(), events=()) for d in human]
    other = {"Chemical": "Disease", "Disease": "Chemical"}
    moved = [
        msgspec.structs.replace(
            d,
            mentions=tuple(
                Mention(((m.start + 1, m.end + 1),), other[m.type])
                for m in d.mentions
                if m.end < len(d.text)
            ),
        )
        for d in human
    ]
    labels = [
        [d.mentions for d in distant_documents(given, matcher)] for given in (human, bare, moved)
    ]
    assert labels[0] == labels[1] == labels[2]
    assert sum(map(len, labels[0])) > 5000


def test_events_of_reading_stay(matcher: Matcher) -> None:
    event = Event(
        step="pubtator", kind="loss", code="relations-left-out", message="relations are not read"
    )
    (weak,) = distant_documents([Document(id="d", text=TEXT, events=(event,))], matcher)
    assert weak.events == (event,)


@pytest.mark.parametrize("family", ["softmax", "span"])
def test_training_learns_from_weak_labels(
    tiny_recipe: Callable[..., Any], tiny_encoder: Path, toy_corpus: Path, family: str
) -> None:
    human = list(read(toy_corpus))
    entries = [
        DictionaryEntry("aspirin", "Chemical"),
        DictionaryEntry("lung cancer", "Disease"),
        DictionaryEntry("pain", "Disease"),
        DictionaryEntry("fever"),
    ]
    weak = distant_documents(human, Matcher(entries, rule="three-casings"))
    parts = Parts(train=weak, dev=weak, test=human, types=("Chemical", "Disease"), notes=())
    data = prepare(
        tiny_recipe(model={"family": family}), parts, load_pretrained(str(tiny_encoder))
    ).data
    text = "\n".join(d.text for d in human)
    assert data.mentions == sum(text.count(name) for name in ("aspirin", "lung cancer", "pain"))
    assert sum(len(unknown_ranges(d)) for d in weak) == text.count("fever")
    assert data.lost == {family: {}}


def test_unknown_ranges_are_those_of_a_dictionary_only() -> None:
    """A layer of that name in somebody's corpus means nothing."""
    document = Document(id="d", text=TEXT, mentions=(Mention(((0, 7),), UNKNOWN, source=UNKNOWN),))
    assert unknown_ranges(document) == ()
    assert unknown_ranges(msgspec.structs.replace(document, meta={LABELS: "x"})) == ((0, 7),)


@st.composite
def predictions(draw: st.DrawFn) -> tuple[Mention, ...]:
    """Right ones, wrong ones, over unknown phrases and not, discontinuous too."""
    found = [
        Mention(((0, 7),), "Chemical"),
        Mention(((12, 16),), "Disease"),
        Mention(((18, 28),), "Disease"),
    ]
    chosen = {m.key: m for m in draw(st.lists(st.sampled_from(found), max_size=3))}
    for kind in draw(st.lists(st.sampled_from(["Chemical", "Disease"]), max_size=4)):
        cuts = sorted(draw(st.sets(st.integers(0, len(TEXT)), min_size=2, max_size=4)))
        mention = Mention(tuple(zip(cuts[::2], cuts[1::2], strict=False)), kind)
        chosen[mention.key] = mention
    return tuple(chosen.values())


@given(predictions())
def test_what_is_predicted_over_the_unknown_is_neither_right_nor_wrong(
    matcher: Matcher, found: tuple[Mention, ...]
) -> None:
    human = Document(id="d", text=TEXT, mentions=(Mention(((0, 7),), "Chemical"),))
    (weak,) = distant_documents([human], matcher)
    scores = score_known([weak], {"d": found})
    gold = {(m.type, m.spans) for m in weak.layer(GOLD)}
    unsure = {i for a, b in unknown_ranges(weak) for i in range(a, b)}
    right = [m for m in found if (m.type, m.spans) in gold]
    known = [m for m in found if not unsure & {i for a, b in m.spans for i in range(a, b)}]
    wrong = [m for m in known if (m.type, m.spans) not in gold]
    assert (scores.counts.tp, scores.counts.fp, scores.counts.fn) == (
        len(right),
        len(wrong),
        len(gold) - len(right),
    )
    assert score_known([human], {"d": found}) == score(layers([human]), {"d": found})


def test_gold_counts_even_where_something_unknown_overlaps_it() -> None:
    """A dictionary makes no such labels; a file with labels of its own may have them."""
    gold, unknown = Mention(((12, 16),), "Disease"), Mention(((12, 28),), UNKNOWN, source=UNKNOWN)
    document = Document(id="d", text=TEXT, mentions=(gold, unknown), meta={LABELS: "mine"})
    wrong = Mention(((12, 16),), "Chemical")
    counts = score_known([document], {"d": (gold, wrong)}).counts
    assert (counts.tp, counts.fp, counts.fn) == (1, 0, 0)


def test_the_rules_of_recipes_are_those_of_the_matcher() -> None:
    assert set(get_args(get_type_hints(DistantSettings)["rule"])) == RULES.keys()


Maker = Callable[..., Recipe]


def test_a_recipe_names_its_dictionary(tiny_recipe: Maker, toy_dictionary: dict[str, str]) -> None:
    assert weak_labels(tiny_recipe()) is None
    labels = weak_labels(tiny_recipe(distant=toy_dictionary))
    assert labels is not None
    assert labels.matcher.version == "three-casings rules@1"
    assert labels.matcher.types == ("Chemical", "Disease")
    core, full = toy_dictionary["core"], toy_dictionary["full"]
    assert labels.notes[:3] == (
        f"{core}: 5 names",
        f"{full}: 3 names",
        "dictionary: 8 names, 14 phrases in all casings",  # 7 in 2
    )
    (weak,) = labels.of([Document(id="d", text="ASPIRIN for Lung Cancer, pain and heart failure")])
    assert layer(weak, GOLD) == [("Chemical", "ASPIRIN"), ("Disease", "pain")]
    assert layer(weak, UNKNOWN) == [(UNKNOWN, "heart failure")]
    raw = weak_labels(tiny_recipe(distant={"core": core, "rule": "raw"}))
    assert raw is not None
    assert layer(raw.of([Document(id="d", text="ASPIRIN for pain")])[0], GOLD) == [
        ("Disease", "pain")
    ]


@pytest.mark.parametrize(
    ("rows", "settings"),
    [
        ("pain\n\nlung cancer\n", {"name_column": 0, "type": "Disease"}),
        ("pain\tChemical\nlung cancer\tGene\n", {"name_column": 0, "type": "Disease"}),
        ("D1\tpain\nD2\tlung cancer\n", {"type": "Disease"}),
        ("Disease\tpain\ndisease\tlung cancer\n", {"name_column": 1, "type": "Disease"}),
        ("illness\tpain\n\tlung cancer\n", {"type": "Disease"}),
        ("D1\tpain\tDisease\nD2\tlung cancer\tDisease\n", {"name_column": 1, "type_column": 2}),
        ("type\tname\nDisease\tpain\nDisease\tlung cancer\n", {"header": True}),
    ],
)
def test_columns_of_a_dictionary(
    tiny_recipe: Maker, tmp_path: Path, rows: str, settings: dict[str, Any]
) -> None:
    core = tmp_path / "core.tsv"
    core.write_text(rows, encoding="utf-16")
    labels = weak_labels(tiny_recipe(distant={"core": str(core), "encoding": "utf-16", **settings}))
    assert labels is not None
    assert layer(labels.of([Document(id="d", text="name: lung cancer, pain")])[0], GOLD) == [
        ("Disease", "lung cancer"),
        ("Disease", "pain"),
    ]
    assert any("1 row without a name" in note for note in labels.notes) == ("\n\n" in rows)


def test_a_term_pack_labels(tiny_recipe: Maker, tmp_path: Path) -> None:
    (tmp_path / "names.tsv").write_text(
        "id\ttype\tname\nDOID:1\tDisease\tlarynx "
        "cancer\nUBERON:0001737\tAnatomy\tlarynx\nCHEBI:3\tChemical\tAspirin\n",
        encoding="utf-8",
    )
    (tmp_path / "sources.toml").write_text(
        'name = "toy@1"\n[sources.own]\npath = "names.tsv"\nreader = "table"\n'
        'columns = { id = "id", name = "name", type = "type" }\n'
        'types = { Disease = "Disease", Anatomy = "Anatomy", Chemical = "Chemical" }\n',
        encoding="utf-8",
    )
    pack = str(tmp_path / "pack")
    full_name = build_pack(tmp_path / "sources.toml", pack).full_name
    labels = weak_labels(tiny_recipe(distant={"core": pack}))
    assert labels is not None
    assert labels.matcher.types == ("Anatomy", "Chemical", "Disease")
    gold = Mention(((0, 3),), "Gene")
    (weak,) = labels.of(
        [Document(id="d", text="ASPIRIN for larynx cancers of the larynx", mentions=(gold,))]
    )
    assert layer(weak, GOLD) == [
        ("Chemical", "ASPIRIN"),
        ("Disease", "larynx cancers"),
        ("Anatomy", "larynx"),
    ]
    assert weak.meta["labels"].startswith(full_name)
    for key, value in (("rule", "raw"), ("type", "Gene"), ("full", str(tmp_path / "names.tsv"))):
        with pytest.raises(RecipeError, match=f"distant.{key}"):
            weak_labels(tiny_recipe(distant={"core": pack, key: value}))
