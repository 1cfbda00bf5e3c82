"""Strings of mentions: repeats, types, and what train has seen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fascicle.core.document import Document, Mention
from fascicle.evaluation.doctor.checks.texts import LIKELY, OFTEN, find_repeats
from fascicle.evaluation.doctor.examine import Examination, Finding

Examine = Callable[..., Examination]
# Tokens, and which of them begin a mention of how many.
_TEXT = st.lists(
    st.tuples(st.sampled_from(["alpha", "beta", "ab", "123", "Alpha"]), st.integers(-3, 2)),
    max_size=9,
)


def document(number: int, tokens: list[tuple[str, int]]) -> Document:
    starts, at = [], 0
    for token, _ in tokens:
        starts.append(at)
        at += len(token) + 1
    ends = [start + len(token) for start, (token, _) in zip(starts, tokens, strict=True)]
    mentions, taken = [], 0
    for place, (_, length) in enumerate(tokens):
        if length > 0 and place >= taken and place + length <= len(tokens):
            mentions.append(Mention(((starts[place], ends[place + length - 1]),), "X"))
            taken = place + length
    text = " ".join(token for token, _ in tokens)
    return Document(
        id=str(number),
        text=text,
        words=tuple(zip(starts, ends, strict=True)),
        mentions=tuple(mentions),
    )


def naive(documents: list[Document]) -> tuple[Counter[str], Counter[str]]:
    """Annotated and free occurrences of each string: longest first, from left to right."""
    annotated: Counter[str] = Counter()
    for d in documents:
        for m in d.mentions:
            text = m.text_in(d.text)
            if len(text) >= 3 and any(map(str.isalpha, text)):
                annotated[text] += 1
    free: Counter[str] = Counter()
    for d in documents:
        words = d.words or ()
        place = 0
        while place < len(words):
            for length in range(len(words) - place, 0, -1):
                start, end = words[place][0], words[place + length - 1][1]
                covered = any(m.start < end and start < m.end for m in d.mentions)
                if d.text[start:end] in annotated and not covered:
                    free[d.text[start:end]] += 1
                    place += length
                    break
            else:
                place += 1
    return annotated, free


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(_TEXT, min_size=1, max_size=4))
def test_repeats_against_a_search_at_every_word(
    examine_documents: Examine, texts: list[list[tuple[str, int]]]
) -> None:
    documents = [document(number, tokens) for number, tokens in enumerate(texts)]
    found = examine_documents({"train": documents})
    annotated, free = naive(documents)
    repeats = found.corpus.shared(find_repeats)
    assert {" ".join(words): n for words, n in repeats.annotated.items()} == annotated
    assert {" ".join(words): n for words, n in repeats.count.items()} == free
    counts = {f.code: f.count for f in found.report.findings}
    assert counts.get("unannotated-repeat", 0) == free.total()
    likely = [
        n
        for text, n in free.items()
        if annotated[text] >= max(OFTEN, LIKELY * (annotated[text] + n))
    ]
    assert counts.get("likely-missed-mention", 0) == sum(likely)


def finding(found: Examination, code: str) -> Finding:
    return next(f for f in found.report.findings if f.code == code)


def gold(identifier: str, text: str, *mentions: tuple[int, int, str]) -> Document:
    return Document(
        id=identifier,
        text=text,
        mentions=tuple(Mention(((a, b),), kind) for a, b, kind in mentions),
    )


def test_strings_with_several_types_show_the_rarest_one(examine_documents: Examine) -> None:
    found = examine_documents(
        {
            "train": [
                gold("a", "GATA and GATA", (0, 4, "Gene"), (9, 13, "Gene")),
                gold("b", "IL-2", (0, 4, "Gene")),
            ],
            "test": [gold("c", "on GATA", (3, 7, "Motif")), gold("d", "gata", (0, 4, "Other"))],
        }
    )
    ambiguous = finding(found, "ambiguous-string")
    assert ambiguous.count == 1
    (shown,) = ambiguous.examples
    assert (shown.document, shown.spans, shown.message) == (
        "c",
        ((3, 7),),
        '"GATA" is Gene 2, Motif 1',
    )
    assert ambiguous.details == ("3 of 5 mentions (60.0 %) have such a string.",)


def test_seen_mentions_are_those_of_train_whatever_their_case_and_type(
    examine_documents: Examine,
) -> None:
    found = examine_documents(
        {
            "train": [gold("a", "Heart failure", (0, 13, "Disease"))],
            "dev": [gold("b", "heart  FAILURE, no failure", (0, 14, "Sign"), (19, 26, "Sign"))],
            "test": [
                gold("c", "heart failure heart failure", (0, 13, "Disease"), (14, 27, "Disease"))
            ],
        }
    )
    seen = finding(found, "seen-mention")
    assert seen.by_part == {"dev": 1, "test": 2}
    assert seen.details == (
        "dev: 1 of 2 mentions (50.0 %), 1 of 2 strings (50.0 %).",
        "test: 2 of 2 mentions (100.0 %), 1 of 1 string (100.0 %).",
    )


def test_nothing_is_seen_without_train(examine_documents: Examine) -> None:
    found = examine_documents({"test": [gold("c", "heart failure", (0, 13, "Disease"))]})
    assert "seen-mention" in found.report.without
