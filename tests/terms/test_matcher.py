"""Matches against a plain implementation, and every rule of what matches."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Sequence
from itertools import chain, product
from pathlib import Path
from unicodedata import normalize

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fascicle.core.document import Document, Mention
from fascicle.core.patches import apply
from fascicle.errors import InputError, UsageError
from fascicle.evaluation.scoring.inputs import layers
from fascicle.evaluation.scoring.scores import score
from fascicle.formats import read
from fascicle.terms.dictionary import (
    ENGLISH_STOP_WORDS,
    LONGEST,
    RULES,
    DictionaryEntry,
    MatchingRule,
)
from fascicle.terms.matcher import PHRASES, SOURCE, Matcher, WordReader, read_dictionary
from fascicle.terms.overlaps import Match
from fascicle.text.segment import sentences, words

WORDS = st.sampled_from(
    [
        "a",
        "A",
        "the",
        "MS",
        "Ms",
        "ms",
        "aspirin",
        "Aspirin",
        "ASPIRIN",
        "β",
        "ß",
        "2",
        "-",
        ".",
        "x",
    ]
)
NAMES = st.lists(WORDS, min_size=1, max_size=4).map(" ".join)
# The last one is a name for certain: a dictionary of signs alone is refused.
ENTRIES = st.lists(
    st.builds(DictionaryEntry, NAMES, st.sampled_from(["Chemical", "Disease"])), max_size=8
).map(lambda entries: [*entries, DictionaryEntry("acid", "Chemical")])
UNTYPED = st.lists(st.builds(DictionaryEntry, NAMES), max_size=4)
TEXTS = st.lists(st.one_of(WORDS, st.sampled_from([" ", ". ", "\n\n", ". The "])), max_size=16).map(
    " ".join
)


@st.composite
def documents(draw: st.DrawFn) -> Document:
    """With the segmenter's sentences, or with given ones that may leave text out and end inside
    words.
    """
    text = draw(TEXTS)
    given_ranges = None
    if draw(st.booleans()):
        cuts = sorted(draw(st.sets(st.integers(0, len(text)), max_size=6)))
        given_ranges = tuple(zip(cuts[::2], cuts[1::2], strict=False))
    return Document(id="d", text=text, sentences=given_ranges)


def spoken(text: str) -> tuple[str, ...]:
    return tuple(text[a:b] for a, b in words(text))


def plain_names(
    entries: Sequence[DictionaryEntry], rule: MatchingRule
) -> dict[tuple[str, ...], set[str]]:
    """Every sequence of words that matches, with its types."""
    known: dict[tuple[str, ...], set[str]] = {}
    for name, kind, _ in entries:
        if not any(character.isalnum() for character in name):
            continue
        for change in (str, *(getattr(str, casing) for casing in rule.casings)):
            if change is not str.lower or kind not in rule.as_written:
                known.setdefault(tuple(change(word) for word in spoken(name)), set()).update(
                    {kind} - {""}
                )
    return {
        name: kinds
        for name, kinds in known.items()
        if not (
            len(name) == 1
            and any(name[0] in (w.lower(), w.upper(), w.capitalize()) for w in rule.stop_words)
        )
    }


def plain_blocks(document: Document) -> list[tuple[int, int]]:
    """Sentences as a model reads them, in characters."""
    if document.sentences is None:
        return list(sentences(document.text))
    blocks: list[tuple[int, int]] = []
    before = 0
    for start, end in (*document.sentences, (len(document.text), len(document.text))):
        blocks += [(before + a, before + b) for a, b in sentences(document.text[before:start])]
        blocks.append((start, end))
        before = end
    return blocks


def plain_matches(
    document: Document, entries: Sequence[DictionaryEntry], rule: MatchingRule
) -> list[Match]:
    """Sentence by sentence, the whole table of the dynamic programme, phrases looked up one by
    one.
    """
    known = plain_names(entries, rule)
    found = []
    for first, last in plain_blocks(document):
        inside = [(a, b) for a, b in words(document.text) if first <= a and b <= last]
        best: list[tuple[int, list[tuple[int, int]]]] = [(0, [])]
        for end in range(1, len(inside) + 1):
            options = [best[end - 1]]
            for start in range(end - 1, -1, -1):
                if tuple(document.text[a:b] for a, b in inside[start:end]) in known:
                    total, parts = best[start]
                    options.insert(0, (total + (end - start) ** 2, [*parts, (start, end)]))
            # the first of equals: it begins earliest
            best.append(max(options, key=lambda option: option[0]))
        for start, end in best[-1][1]:
            kinds = known[tuple(document.text[a:b] for a, b in inside[start:end])]
            found.append(Match(inside[start][0], inside[end - 1][1], tuple(sorted(kinds))))
    return found


def found_in(matcher: Matcher, *texts: str | Document) -> list[tuple[Match, ...]]:
    given_documents = [
        t if isinstance(t, Document) else Document(id=str(i), text=t) for i, t in enumerate(texts)
    ]
    return list(matcher.matches(given_documents))


def strings(matcher: Matcher, text: str) -> list[str]:
    return [text[m.start : m.end] for m in found_in(matcher, text)[0]]


@settings(max_examples=40)
@given(st.lists(documents(), min_size=1, max_size=3), ENTRIES, UNTYPED)
def test_matches_are_those_of_a_plain_implementation(
    given_documents: list[Document], entries: list[DictionaryEntry], untyped: list[DictionaryEntry]
) -> None:
    for rule, names in ((RULES["raw"], entries), (RULES["three-casings"], [*entries, *untyped])):
        matcher = Matcher(names, rule=rule)
        for document, found in zip(given_documents, matcher.matches(given_documents), strict=True):
            assert list(found) == plain_matches(document, names, rule)


@settings(max_examples=40)
@given(st.lists(documents(), max_size=3), ENTRIES, UNTYPED, st.randoms(use_true_random=False))
def test_the_order_of_the_dictionary_and_of_the_documents_has_no_influence(
    given_documents: list[Document],
    entries: list[DictionaryEntry],
    untyped: list[DictionaryEntry],
    chance: random.Random,
) -> None:
    names = [*entries, *untyped]
    first, counts = (m := Matcher(names, rule="three-casings")).matches(given_documents), m.counts
    chance.shuffle(names)
    again = Matcher(names, rule="three-casings")
    assert [found_in(again, document)[0] for document in given_documents] == list(first)
    assert again.counts == counts


ANY_TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=30)


@settings(max_examples=40)
@given(ANY_TEXT, st.lists(ANY_TEXT, max_size=4), st.integers(0, 29), st.integers(1, 12))
def test_offsets_are_code_points_of_the_text(
    text: str, names: list[str], start: int, length: int
) -> None:
    given_names = [
        DictionaryEntry(name, "T") for name in (*names, text[start : start + length], "x")
    ]
    known = {
        tuple(change(w) for w in spoken(n))
        for n, _, _ in given_names
        for change in (str, str.upper, str.lower)
    }
    matcher = Matcher(given_names, rule=MatchingRule(name="all", casings=("upper", "lower")))
    starts, ends = {a for a, _ in words(text)}, {b for _, b in words(text)}
    for match in found_in(matcher, text)[0]:
        assert match.start in starts
        assert match.end in ends
        assert spoken(text[match.start : match.end]) in known


@settings(max_examples=40)
@given(st.lists(ANY_TEXT.filter(lambda text: any(map(str.isalnum, text))), min_size=1, max_size=6))
def test_a_text_that_is_a_name_is_one_match(names: list[str]) -> None:
    matcher = Matcher([DictionaryEntry(name, "T") for name in names], rule="raw")
    for name in names:
        spans = words(name)
        whole = Document(id="d", text=name, sentences=((0, len(name)),))
        assert found_in(matcher, whole) == [(Match(spans[0][0], spans[-1][1], ("T",)),)]


def test_names_of_people_places_and_organisations_have_no_lower_case() -> None:
    entries = [DictionaryEntry("Reading", "LOC"), DictionaryEntry("Pain", "Disease")]
    matcher = Matcher(entries, rule="three-casings")
    assert strings(matcher, "Reading READING reading Pain PAIN pain") == [
        "Reading",
        "READING",
        "Pain",
        "PAIN",
        "pain",
    ]


@pytest.mark.parametrize("word", ["no", "the", "i", "was"])
def test_stop_words_never_match_alone(word: str) -> None:
    assert word in ENGLISH_STOP_WORDS
    forms = [word, word.upper(), word.capitalize()]
    entries = [DictionaryEntry(form, "Chemical") for form in forms] + [
        DictionaryEntry(f"{word} donor", "Chemical"),
        DictionaryEntry("salt", "Chemical"),
    ]
    matcher = Matcher([*entries, DictionaryEntry(word)], rule="three-casings")
    text = f"salt {word} {word.upper()} {word.capitalize()} {word} donor"
    assert strings(matcher, text) == ["salt", f"{word} donor"]
    assert set(matcher.counts.stop_words) == set(forms)
    assert strings(Matcher(entries, rule="raw"), text) == ["salt", *forms, f"{word} donor"]


def test_names_and_texts_are_cut_alike() -> None:
    matcher = Matcher(
        [
            DictionaryEntry("( R)-alpha - methylhistamine", "Chemical"),
            DictionaryEntry("K", "Chemical"),
        ],
        rule="raw",
    )
    text = "With (R)-alpha-methylhistamine, K+ and K-ATP; not Kx, 2K or CaK."
    assert strings(matcher, text) == ["(R)-alpha-methylhistamine", "K", "K"]


def test_the_words_of_a_document_are_not_looked_at() -> None:
    document = Document(id="d", text="lithium-induced", words=((0, 15),))
    assert found_in(Matcher([DictionaryEntry("lithium", "Chemical")], rule="raw"), document) == [
        (Match(0, 7, ("Chemical",)),)
    ]


def test_no_match_reaches_over_the_end_of_a_sentence_or_a_document() -> None:
    matcher = Matcher(
        [
            DictionaryEntry("heart failure", "Disease"),
            DictionaryEntry("heart . Failure", "Disease"),
        ],
        rule="raw",
    )
    assert strings(matcher, "It is the heart. Failure was seen.") == []
    for cuts in (((0, 9), (10, 17)), ((0, 9),), ((0, 12), (12, 17))):
        assert found_in(matcher, Document(id="d", text="The heart failure", sentences=cuts)) == [()]
    assert found_in(matcher, "the heart", "failure", "heart failure") == [
        (),
        (),
        (Match(0, 13, ("Disease",)),),
    ]


def test_a_name_under_two_types_has_both() -> None:
    entries = [
        DictionaryEntry("MS", "Disease"),
        DictionaryEntry("Ms", "Chemical"),
        DictionaryEntry("ms"),
        DictionaryEntry("MS", "Disease"),
    ]
    matcher = Matcher(entries, rule="three-casings")
    assert found_in(matcher, "MS Ms ms") == [
        (
            Match(0, 2, ("Chemical", "Disease")),
            Match(3, 5, ("Chemical",)),
            Match(6, 8, ("Chemical", "Disease")),
        )
    ]
    assert matcher.types == ("Chemical", "Disease")
    assert matcher.counts.several_types == 2
    patch = matcher.predict([Document(id="d", text="MS")])[0]
    assert [(m.type, m.spans) for m in patch.add] == [
        ("Chemical", ((0, 2),)),
        ("Disease", ((0, 2),)),
    ]


def test_more_types_than_two_and_many_sets_of_them() -> None:
    entries = [
        DictionaryEntry(name, kind)
        for name, kinds in (("a", "XYZ"), ("b", "XY"), ("c", "XYZ"), ("d", "Z"))
        for kind in kinds
    ]
    matcher = Matcher(entries, rule="raw")
    assert [m.types for m in found_in(matcher, "a b c d")[0]] == [
        ("X", "Y", "Z"),
        ("X", "Y"),
        ("X", "Y", "Z"),
        ("Z",),
    ]


def test_what_became_of_the_entries_is_counted() -> None:
    long = DictionaryEntry(" ".join(["x"] * (LONGEST + 1)), "Chemical")
    just = DictionaryEntry(" ".join(["y"] * LONGEST), "Chemical")
    entries = [
        DictionaryEntry("H", "Chemical"),
        DictionaryEntry(" \t", "Chemical"),
        DictionaryEntry("H", "Disease"),
        long,
        just,
        DictionaryEntry("The", "Disease"),
        DictionaryEntry(". .", "Disease"),
        DictionaryEntry("+", "Disease"),
    ]
    matcher = Matcher(entries, rule="three-casings")
    counts = matcher.counts
    assert (counts.entries, counts.empty, counts.signs, counts.too_long, counts.one_letter) == (
        8,
        1,
        2,
        1,
        2,
    )
    assert (counts.phrases, counts.several_types, counts.stop_words) == (
        4,
        2,
        ("THE", "The", "the"),
    )
    assert strings(matcher, "H h " + just.name.upper()) == ["H", "h", just.name.upper()]
    assert strings(matcher, long.name) == []
    assert strings(matcher, "a + b . .") == []
    assert counts.lines() == [
        "8 names, 4 phrases in all casings",
        "1 name without a word was left out",
        "2 names without a letter or a digit were left out",
        f"1 name of more than {LONGEST} words was left out",
        "2 names have one letter only",
        "2 phrases have several types: a place where one stands is a mention of each",
        "3 stop words were removed: THE, The, the",
    ]


def test_predict_gives_mentions_of_its_own_source_and_leaves_documents_alone() -> None:
    matcher = Matcher(
        [DictionaryEntry("pain", "Disease"), DictionaryEntry("heart rate")],
        rule="three-casings",
        name="lexicon",
    )
    document = Document(id="d", text="pain, heart rate", mentions=(Mention(((6, 11),), "Disease"),))
    before = repr(document)
    patch = matcher.predict([document])[0]
    assert repr(document) == before
    assert patch.add == (Mention(((0, 4),), "Disease", source="lexicon"),)
    assert [(e.step, e.kind, e.code, e.message) for e in patch.events] == [
        (
            "lexicon",
            "note",
            "untyped-phrases",
            "1 phrases without a type were found; they are not mentions",
        )
    ]
    assert matcher.predict([]) == []
    assert matcher.version == "three-casings rules@1"


def test_many_documents_come_one_by_one() -> None:
    taken = []

    def source() -> object:
        for number in range(40):
            taken.append(number)
            yield Document(id=str(number), text="pain " * 20_000)

    found = Matcher([DictionaryEntry("pain", "Disease")], rule="raw").matches(source())  # type: ignore[arg-type]
    assert len(next(found)) == 20_000
    assert len(taken) < 20


def test_no_names_no_matcher() -> None:
    for entries in ([], [DictionaryEntry("", "Chemical"), DictionaryEntry(" ", "Disease")]):
        with pytest.raises(InputError, match="no name among them"):
            Matcher(entries, rule="raw")


def test_unknown_rules_and_phrases_without_a_type_under_raw_are_refused() -> None:
    with pytest.raises(UsageError, match="'fuzzy' is not known; choose one of raw, three-casings"):
        Matcher([DictionaryEntry("pain", "Disease")], rule="fuzzy")
    with pytest.raises(UsageError, match="'heart rate' has no type, and the rule 'raw' takes none"):
        Matcher([DictionaryEntry("pain", "Disease"), DictionaryEntry("heart rate")], rule="raw")
    with pytest.raises(InputError, match="segmenter"):
        WordReader("rules@0")


def test_a_dictionary_in_which_every_name_is_a_stop_word_matches_nothing() -> None:
    assert (
        strings(Matcher([DictionaryEntry("no", "Chemical")], rule="three-casings"), "no NO No")
        == []
    )


# A process takes over the peak of its parent when it starts, so a small one stands between.
_BETWEEN = "import subprocess, sys; sys.exit(subprocess.run(sys.argv[1:]).returncode)"
_MILLION = """
import resource, sys
from fascicle.core.document import Document
from fascicle.terms.matcher import read_dictionary
from fascicle.terms.matcher import Matcher
matcher = Matcher(read_dictionary(sys.argv[1]), rule="three-casings")
found = list(matcher.matches([Document(id="d", text="Of Name-999999 a and NAME - 000123 A, name 5 c")]))
print(matcher.counts.entries, len(found[0]), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


@pytest.mark.slow
def test_a_million_names_in_bounded_memory(tmp_path: Path) -> None:
    path = tmp_path / "million.tsv"
    with path.open("w", encoding="utf-8") as stream:
        stream.writelines(f"{'AB'[i % 2]}\tName-{i:06d} {'abc'[i % 3]}\n" for i in range(1_000_000))
    command = [sys.executable, "-c", _BETWEEN, sys.executable, "-c", _MILLION, path]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    entries, matches, megabytes = map(int, done.stdout.split())
    assert (entries, matches) == (1_000_000, 2)
    assert megabytes < 1024


@pytest.mark.parametrize(
    ("rule", "train", "test", "published"),
    [
        ("raw", {"Chemical": (95.6, 79.0), "Disease": (81.1, 56.9)}, (86.3, 52.5), (86.4, 51.2)),
        (
            "three-casings",
            {"Chemical": (93.7, 81.0), "Disease": (94.9, 66.4)},
            (92.7, 58.1),
            (92.7, 58.1),
        ),
    ],
)
def test_the_two_rules_on_bc5cdr(
    fascicle_data: Path,
    rule: str,
    train: dict[str, tuple[float, float]],
    test: tuple[float, float],
    published: tuple[float, float],
) -> None:
    """Precision and recall as measured by others with the same dictionary, and as near to the
    papers as was asked.
    """
    folder = fascicle_data / "dict-autoner-bc5cdr"
    entries = [read_dictionary(str(folder / "dict_core.txt"))]
    if RULES[rule].untyped:
        entries.append(read_dictionary(str(folder / "dict_full.txt"), PHRASES))
    matcher = Matcher(chain(*entries), rule=rule)
    for part, expected in (("Training", train), ("Test", {"micro": test})):
        given_documents = list(
            read(fascicle_data / "bc5cdr" / "pubtator" / f"CDR_{part}Set.PubTator.txt")
        )
        weak = [
            apply(d, p)
            for d, p in zip(given_documents, matcher.predict(given_documents), strict=True)
        ]
        scores = score(layers(weak), layers(weak, source=SOURCE))
        for kind, (precision, recall) in expected.items():
            rates = scores.micro if kind == "micro" else scores.rates(kind)
            # 0.06: figures of one decimal
            assert 100 * rates.precision == pytest.approx(precision, abs=0.06)
            assert 100 * rates.recall == pytest.approx(recall, abs=0.06)
    assert 100 * scores.micro.precision == pytest.approx(published[0], abs=1.5)
    assert 100 * scores.micro.recall == pytest.approx(published[1], abs=1.5)


@pytest.mark.parametrize("rule", [*RULES])
def test_accents_match_composed_or_not(rule: str) -> None:
    names, text = ("Sjögren syndrome", "ÅÖ", "ménière"), "Sjögren syndrome, ÅÖ, and ménière."
    for of_names, of_text in product(("NFC", "NFD"), repeat=2):
        given = normalize(of_text, text)
        matcher = Matcher(
            [DictionaryEntry(normalize(of_names, name), "Disease") for name in names], rule=rule
        )
        (patch,) = matcher.predict([Document(id="a", text=given)])
        found = [given[one.start : one.end] for one in patch.add]
        assert found == [normalize(of_text, name) for name in names], (of_names, of_text)
