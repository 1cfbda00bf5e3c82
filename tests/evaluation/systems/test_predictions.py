"""One reader for what systems say: every kind of file gives the same mentions, and the same
source is chosen.
"""

from __future__ import annotations

import tempfile
from contextlib import nullcontext
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.document import GOLD, Document, Mention, in_order
from fascicle.errors import InputError, UsageError
from fascicle.evaluation.systems.alignment import align_to_documents
from fascicle.evaluation.systems.predictions import (
    PredictionRequest,
    Predictions,
    collect,
    read_predictions,
    read_system,
)
from fascicle.formats import write
from fascicle.formats.predictions import make_prediction
from fascicle.formats.predictions import write as write_predictions

TEXT = "fever and pain"
MENTIONS = st.sets(
    st.tuples(st.integers(0, 9), st.integers(1, 4), st.sampled_from("AB")), max_size=4
)


def mentions(keys: set[tuple[int, int, str]], source: str) -> tuple[Mention, ...]:
    return in_order(Mention(((a, a + w),), t, score=0.5, source=source) for a, w, t in keys)


def keys(found: Predictions) -> dict[str, set[object]]:
    return {name: {(m.type, m.spans) for m in of} for name, of in found.mentions.items()}


@given(st.dictionaries(st.sampled_from("xyz"), MENTIONS, min_size=1))
def test_every_kind_of_file_says_the_same(said: dict[str, set[tuple[int, int, str]]]) -> None:
    documents = [
        Document(id=name, text=TEXT, mentions=mentions(of, "s")) for name, of in said.items()
    ]
    expected = {d.id: {(m.type, m.spans) for m in d.mentions} for d in documents}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder / "native.jsonl", documents, format="native")
        for suffix in ("jsonl", "tsv", "csv"):
            write_predictions(folder / f"said.{suffix}", map(make_prediction, documents))
        for path in sorted(folder.iterdir()):
            found = read_system(PredictionRequest(path=str(path)))
            wanted = (
                expected if found.lists_all else {name: of for name, of in expected.items() if of}
            )
            assert keys(found) == wanted
            assert align_to_documents(collect(documents, path="gold"), found) is found
            found.check(documents)
            with pytest.raises(InputError, match="not among the gold") if wanted else nullcontext():
                found.check([], only="the gold")


@pytest.mark.parametrize(
    ("sources", "chosen", "expected"),
    [
        ((GOLD,), "", {GOLD}),  # formats of others do not name the finder of a mention
        ((GOLD, "a"), "", {"a"}),
        (("a",), "", {"a"}),
        (("a", "b"), "", InputError),
        (("a", "b"), "b", {"b"}),
        ((GOLD, "a"), GOLD, {GOLD}),
        (("a", "b"), "c", UsageError),
        ((), "c", set()),  # a system that found nothing
    ],
)
def test_one_source_of_documents_is_chosen(
    tmp_path: Path, sources: tuple[str, ...], chosen: str, expected: set[str] | type[Exception]
) -> None:
    path = tmp_path / "said.fascicle.jsonl"
    found = tuple(Mention(((at, at + 2),), "A", source=source) for at, source in enumerate(sources))
    write(path, [Document(id="x", text=TEXT, mentions=found)], format="native")
    request = PredictionRequest(path=str(path), source=chosen)
    assert read_predictions(request).sources == set(sources)
    if isinstance(expected, type):
        with pytest.raises(expected):
            read_system(request)
    else:
        assert read_system(request).sources == expected
        assert read_system(request).is_called_gold is (expected == {GOLD})


def test_a_prediction_file_is_one_system_unless_a_source_is_named(tmp_path: Path) -> None:
    found = tuple(Mention(((at, at + 2),), "A", source=source) for at, source in enumerate("ab"))
    path, table = tmp_path / "said.jsonl", tmp_path / "said.tsv"
    for place in (path, table):
        write_predictions(place, [make_prediction(Document(id="x", text=TEXT, mentions=found))])
    assert read_system(PredictionRequest(path=str(path))).sources == {"a", "b"}
    assert read_system(PredictionRequest(path=str(path), source="a")).sources == {"a"}
    with pytest.raises(UsageError, match="no mention of 'c'"):
        read_system(PredictionRequest(path=str(path), source="c"))
    # it names no source
    assert len(read_system(PredictionRequest(path=str(table), source="a")).mentions["x"]) == 2


def test_texts_and_offsets_are_checked(tmp_path: Path) -> None:
    document = Document(id="x", text=TEXT, mentions=(Mention(((0, 5),), "A", source="a"),))
    path = tmp_path / "said.jsonl"
    write_predictions(path, [make_prediction(document)])
    found = read_system(PredictionRequest(path=str(path)))
    found.check([document])
    with pytest.raises(InputError, match=r"said\.jsonl: .*another text"):
        found.check([msgspec.structs.replace(document, text=TEXT + "!")])
    table = tmp_path / "said.tsv"
    write_predictions(table, [make_prediction(document)])
    short = [Document(id="x", text="fev")]
    with pytest.raises(InputError, match="ends at 5"):
        read_system(PredictionRequest(path=str(table))).check(short)
