"""Attributes and buckets, against loops over every mention, and sums against the whole."""

from __future__ import annotations

import json
import math
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.document import Document, Mention
from fascicle.errors import UsageError
from fascicle.evaluation.breakdown.attributes import ATTRIBUTES, Ruler
from fascicle.evaluation.breakdown.buckets import (
    CUTTINGS,
    NEEDS_TRAINING,
    Bucketing,
    f1_differences,
)
from fascicle.evaluation.breakdown.layout import UNITS, TextUnit, read_lexicon
from fascicle.evaluation.scoring.scores import score

from .strategies import TEXT, Corpus, characters, corpora, documents, mentions, sides

WORDS = tuple((at, at + len(word)) for at, word in zip(
    [sum(len(w) + 1 for w in TEXT.split(" ")[:i]) for i in range(len(TEXT.split(" ")))], TEXT.split(" "), strict=True
))  # fmt: skip
SENTENCES = ((0, 21), (22, len(TEXT)))
TRAINING = Document(
    id="t",
    text="IL-2 binds the gene of T cells",
    words=((0, 4), (5, 10), (11, 14), (15, 19), (20, 22), (23, 24), (25, 30)),
    mentions=(Mention(((0, 4),), "Gene"), Mention(((23, 30),), "Cell")),
)


def gold_of(corpus: Corpus) -> list[Document]:
    return [msgspec.structs.replace(d, words=WORDS, sentences=SENTENCES) for d in documents(corpus)]


def touched(mention: Mention) -> list[int]:
    return [at for at, (a, b) in enumerate(WORDS) if characters(mention.spans) & set(range(a, b))]


def sentence(mention: Mention) -> int:
    return 0 if mention.start < SENTENCES[1][0] else 1


def expected(mention: Mention, gold: tuple[Mention, ...], unit: TextUnit) -> dict[str, float]:
    text = 0 if unit == "document" else sentence(mention)
    inside = [
        at
        for at, (a, _) in enumerate(WORDS)
        if unit == "document" or (a >= SENTENCES[1][0]) == bool(text)
    ]
    here = [m for m in gold if unit == "document" or sentence(m) == text]
    covered = {at for m in gold for at in touched(m)}
    known = {TRAINING.text[a:b] for a, b in TRAINING.words or ()}
    surface = " ".join(TEXT[a:b].lower() for a, b in (WORDS[at] for at in touched(mention)))
    return {
        "length": max(1, len(touched(mention))),
        "text_length": len(inside),
        "label_consistency": float(
            (surface, mention.type) in {("il-2", "Gene"), ("t cells", "Cell")}
        ),
        "entity_density": len(here) / len(inside),
        "token_density": sum(at in covered for at in inside) / len(inside),
        "unknown_words": sum(TEXT[slice(*WORDS[at])] not in known for at in inside) / len(inside),
        "training_frequency": float(surface in {"il-2", "t cells"}),
        "nesting_depth": len(
            {characters(m.spans) for m in gold if characters(mention.spans) < characters(m.spans)}
        ),
        "place": mention.start / len(TEXT),
    }


@pytest.mark.parametrize("unit", UNITS)
@given(mentions(), mentions(source="model"))
def test_every_attribute_against_a_loop(
    unit: TextUnit, gold: tuple[Mention, ...], said: tuple[Mention, ...]
) -> None:
    ruler = Ruler(gold_of([(gold, said)]), training=read_lexicon([TRAINING]), unit=unit)
    listed = [*gold, *said]
    found = ruler.measure([("0", m.type, m.spans) for m in listed])
    assert set(found) == set(ATTRIBUTES)
    for at, mention in enumerate(listed):
        assert {name: values[at] for name, values in found.items()} == pytest.approx(
            expected(mention, gold, unit)
        )


@pytest.mark.parametrize("cutting", CUTTINGS)
@given(corpora())
def test_the_buckets_of_an_attribute_add_up_to_the_whole(cutting: Any, corpus: Corpus) -> None:
    gold, said = sides(corpus)
    whole = score(gold, said).counts
    bucketing = Bucketing(
        gold, Ruler(gold_of(corpus), training=read_lexicon([TRAINING])), cutting=cutting
    )
    found = bucketing.count(said)
    assert set(found) | set(bucketing.undefined) == set(ATTRIBUTES)
    assert bool(bucketing.undefined) == (cutting == "quantiles" and not whole.support)
    for name, buckets in found.items():
        assert [b.range for b in buckets] == list(bucketing.ranges[name])
        for part in ("tp", "fp", "fn"):
            assert sum(getattr(b.counts, part) for b in buckets) == getattr(whole, part)


@given(corpora(at_most=5))
def test_a_bucket_holds_the_mentions_with_its_values(corpus: Corpus) -> None:
    gold, said = sides(corpus)
    bucketing = Bucketing(gold, Ruler(gold_of(corpus), training=read_lexicon([TRAINING])))
    values = [
        {
            (i, m.type, m.spans): expected(m, gold[i], "sentence")
            for i, listed in side.items()
            for m in listed
        }
        for side in (gold, said)
    ]
    for name, buckets in bucketing.count(said).items():
        for bucket in buckets:
            true, found = (
                {key for key, of in side.items() if bucket.range.holds(np.array([of[name]]))[0]}
                for side in values
            )
            counts = bucket.counts
            assert (counts.tp, counts.fp, counts.fn) == (
                len(true & found),
                len(found - true),
                len(true - found),
            )


GENE = Mention(((0, 4),), "Gene")
LONG = Mention(((0, 9),), "Gene")


def test_without_training_some_attributes_say_why() -> None:
    bucketing = Bucketing({"0": [GENE]}, Ruler(gold_of([((GENE,), ())])))
    assert bucketing.undefined == dict.fromkeys(
        ("label_consistency", "unknown_words", "training_frequency"), NEEDS_TRAINING
    )
    assert not set(bucketing.count({"0": []})) & set(bucketing.undefined)


def test_only_two_cuttings_are_known() -> None:
    with pytest.raises(UsageError, match=r"'thirds'.*fixed, quantiles"):
        Bucketing({}, Ruler(gold_of([((GENE,), ())])), cutting="thirds")  # type: ignore[arg-type]


def test_empty_buckets_and_differences() -> None:
    gold = {"0": [GENE, Mention(((5, 9),), "Gene")]}
    bucketing = Bucketing(gold, Ruler(gold_of([(tuple(gold["0"]), ())])))
    good, bad = bucketing.count(gold), bucketing.count({"0": [GENE, LONG]})
    assert [b.is_empty for b in good["length"]] == [False, True, True, True]
    row = json.loads(json.dumps(good["length"][1].as_dict()))
    assert (row["interval"], row["empty"], row["f1"]) == ("2", True, None)
    assert row["undefined"]["f1"] == "there is no gold mention and nothing was predicted"
    gaps = f1_differences(bad, good)["length"]
    assert gaps == [pytest.approx(2 / 3 - 1), None, None, None]
    assert not any(gap is not None and math.isnan(gap) for gap in gaps)


@given(st.integers(0, 3))
def test_a_document_without_words_or_text(count: int) -> None:
    empty = [Document(id=str(i), text="") for i in range(count)]
    found = Bucketing({d.id: [] for d in empty}, Ruler(empty)).count({})
    assert all(bucket.is_empty for buckets in found.values() for bucket in buckets)
