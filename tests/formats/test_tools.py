"""What other tools export: Label Studio, BigBIO, GLiNER, tags that are numbers, bare tags."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.document import Document, Link, Relation
from fascicle.core.mention import Fragments
from fascicle.errors import FormatError, InputError, UsageError
from fascicle.formats import ConllOptions, JsonlOptions, ReadReport, read


def parse(*records: Any, options: JsonlOptions | None = None) -> list[Document]:
    """The documents of a file of JSON Lines, and of the same records as one array."""
    with tempfile.TemporaryDirectory() as folder:
        lines, array = Path(folder) / "a.jsonl", Path(folder) / "a.json"
        lines.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
        array.write_text(json.dumps(list(records), indent=1), encoding="utf-8")
        found = list(read(lines, format="jsonl", options=options))
        assert list(read(array, format="jsonl", options=options)) == found
        return found


def found(document: Document) -> list[tuple[str, str, str]]:
    return [(m.source, m.type, m.text_in(document.text)) for m in document.mentions]


def codes(document: Document) -> list[str]:
    return [event.code for event in document.events]


# -- Label Studio
# ------------------------------------------------------------------------------------------------------


def region(
    start: int, end: int, *labels: str, text: str | None = None, **more: Any
) -> dict[str, Any]:
    value = {
        "start": start,
        "end": end,
        "labels": list(labels),
        **({} if text is None else {"text": text}),
    }
    return {
        "from_name": "label",
        "to_name": "text",
        "type": "labels",
        "value": value,
        "id": "x",
        **more,
    }


def said(*regions: Any, by: Any = 1, **more: Any) -> dict[str, Any]:
    return {"id": 7, "completed_by": by, "result": list(regions), "was_cancelled": False, **more}


def task(text: str, *annotations: Any, **more: Any) -> dict[str, Any]:
    return {
        "id": 5,
        "data": {"text": text},
        "annotations": list(annotations),
        "predictions": [],
        **more,
    }


def test_the_only_annotation_is_gold() -> None:
    one = region(0, 4, "LOC", "CITY", text="Bonn")
    (document,) = parse(task("Bonn.", said(one), data={"text": "Bonn.", "year": 1990}))
    assert (document.id, document.text, document.meta) == ("5", "Bonn.", {"year": "1990"})
    assert found(document) == [("gold", "CITY", "Bonn"), ("gold", "LOC", "Bonn")]
    assert document.events == ()


def test_a_text_in_another_field() -> None:
    (document,) = parse(task("", said(region(0, 4, "X")), data={"body": "Bonn."}))
    assert document.text == "Bonn."
    several = task("", said(region(0, 4, "X")), data={"body": "Bonn.", "title": "Ulm and more"})
    with pytest.raises(FormatError, match="body, title"):
        parse(several)
    (document,) = parse(several, options=JsonlOptions(fields=(("text", "title"),)))
    assert (document.text, document.meta) == ("Ulm and more", {"body": "Bonn."})


def test_cancelled_annotations_are_not_read() -> None:
    cancelled = said(region(0, 1, "X"), was_cancelled=True)
    (document,) = parse(task("Bonn", cancelled, said(region(0, 4, "LOC"))))
    assert (found(document), codes(document)) == (
        [("gold", "LOC", "Bonn")],
        ["cancelled-annotation"],
    )
    (document,) = parse(task("Bonn", cancelled))
    assert (found(document), codes(document)) == (
        [],
        ["cancelled-annotation", "unannotated-record"],
    )


TWO = task(
    "Bonn Ulm",
    said(region(0, 4, "LOC"), by=1),
    said(region(5, 8, "LOC"), by={"id": 2, "email": "b@c.d"}),
)


def test_of_several_annotators_one_is_chosen() -> None:
    with pytest.raises(FormatError, match="annotator"):
        parse(TWO)
    for who, word in (("1", "Bonn"), ("b@c.d", "Ulm")):
        (document,) = parse(TWO, options=JsonlOptions(fields=(("annotator", who),)))
        assert (found(document), codes(document)) == ([("gold", "LOC", word)], ["other-annotators"])
    (document,) = parse(TWO, options=JsonlOptions(fields=(("annotator", "all"),)))
    assert found(document) == [("annotator-1", "LOC", "Bonn"), ("annotator-b@c.d", "LOC", "Ulm")]
    truth = said(region(0, 8, "LOC"), by=3, ground_truth=True)
    (document,) = parse({**TWO, "annotations": [*TWO["annotations"], truth]})
    assert (found(document), codes(document)) == (
        [("gold", "LOC", "Bonn Ulm")],
        ["other-annotators"],
    )


def test_predictions_have_the_name_and_scores_of_their_model() -> None:
    guess = {"model_version": "v2", "score": 0.1, "result": [region(0, 4, "LOC", score=0.75)]}
    (document,) = parse(task("Bonn", said(region(0, 4, "LOC")), predictions=[guess]))
    assert [(m.source, m.score) for m in document.mentions] == [("gold", None), ("v2", 0.75)]


def test_what_is_no_mention_is_counted() -> None:
    others = [
        {"type": "choices", "value": {"choices": ["x"]}},
        {"type": "relation", "from_id": "a", "to_id": "b", "value": {}},
        region(0, 2),
    ]
    (document,) = parse(task("Bonn", said(*others, region(0, 9, "Y"))))
    assert document.mentions == ()
    assert codes(document) == ["regions-left-out", "offset-outside"]
    assert all(
        name in document.events[0].message
        for name in ("choices 1", "relation 1", "without a type 1")
    )


@pytest.mark.parametrize(
    ("stated", "kind", "roles"),
    [
        ({"direction": "right", "labels": ["in"]}, "in", ("from", "to")),
        ({"direction": "left", "labels": ["in"]}, "in", ("to", "from")),
        ({"direction": "bi", "labels": []}, "", ("", "")),
        ({}, "", ("from", "to")),
    ],
)
def test_relations_between_regions(
    stated: dict[str, Any], kind: str, roles: tuple[str, str]
) -> None:
    """As https://labelstud.io/guide/export#Relation-annotation has them."""
    regions = [region(0, 4, "LOC", id="a"), region(5, 8, "ORG", id="b")]
    relation = {"type": "relation", "from_id": "b", "to_id": "a", **stated}
    guess = {"model_version": "v2", "result": [region(0, 4, "X", id="a")]}
    (document,) = parse(task("Bonn Ulm", said(relation, *regions), predictions=[guess]))
    ends = (("gold", "ORG", ((5, 8),)), ("gold", "LOC", ((0, 4),)))
    pairs = tuple(sorted(zip(roles, ends, strict=True), key=lambda pair: pair[0]))
    assert document.relations == (Relation(type=kind, arguments=pairs),)
    assert document.events == ()


def test_offsets_of_old_versions_count_units_of_utf_16() -> None:
    text = "\U0001f4a9This is an annotation. \U0001f4a9"
    start = text.index("annotation")
    for first, moved in ((start, []), (start + 1, ["offsets-moved"])):
        (document,) = parse(task(text, said(region(first, first + 10, "X", text="annotation"))))
        assert (found(document), codes(document)) == ([("gold", "X", "annotation")], moved)
    (document,) = parse(task(text, said(region(start + 2, start + 12, "X", text="annotation"))))
    assert codes(document) == ["text-mismatch"]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_ends_of_lines_in_the_text_of_a_region_are_escaped(end: str) -> None:
    text = f"\U0001f4a9 breast{end}cancer\U0001f4a9"
    told = f"breast{end}cancer".replace("\n", "\\n").replace("\r", "\\n")
    for first, moved in ((2, []), (3, ["offsets-moved"])):
        (document,) = parse(task(text, said(region(first, first + 12 + len(end), "X", text=told))))
        assert (found(document), codes(document)) == ([("gold", "X", f"breast{end}cancer")], moved)


@pytest.mark.parametrize(
    "change",
    [
        {
            "annotations": [
                {
                    "result": [
                        region(0, 1, "X") | {"value": {"start": "0", "end": 1, "labels": ["X"]}}
                    ]
                }
            ]
        },
        {"annotations": [{"result": [region(0, 1, "")]}]},
        {"annotations": [{"result": "x"}]},
        {"annotations": [3]},
        {"data": {}},
        {"data": {"text": 3}},
        {"predictions": [{"result": [region(0, 1, "X", score=7)]}]},
        {
            "data": {"audio": "a.wav"},
            "annotations": [said(region(0, 1, "X") | {"value": {"start": 0.5, "end": 1.5}})],
        },
        {"entities": [{"start": 0, "end": 1, "label": "X"}]},
    ],
)
def test_another_form_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(FormatError, match=r"a\.jsonl:1"):
        parse({**task("Bonn", said(region(0, 1, "X"))), **change})


@st.composite
def annotated(draw: st.DrawFn) -> tuple[str, list[tuple[Fragments, str]]]:
    """A text and mentions in it, some of them discontinuous."""
    text = draw(
        st.text(
            st.characters(exclude_categories=["Cs"]) | st.sampled_from("\U0001f600\r\n"),
            min_size=1,
            max_size=30,
        )
    )
    mentions = set()
    for _ in range(draw(st.integers(0, 4))):
        several = 2 if len(text) > 3 and draw(st.booleans()) else 1
        cuts = sorted(
            draw(st.sets(st.integers(0, len(text)), min_size=2 * several, max_size=2 * several))
        )
        mentions.add(
            (
                tuple(zip(cuts[::2], cuts[1::2], strict=True)),
                draw(st.sampled_from(["A", "B c", "β"])),
            )
        )
    return text, sorted(mentions)


def as_read(spans: Fragments, text: str) -> Fragments:
    """Fragments; two with only white space between them are one name over a line end."""
    (start, _), (_, end) = spans[0], spans[-1]
    return (
        ((start, end),) if len(spans) == 2 and text[spans[0][1] : spans[1][0]].isspace() else spans
    )


def units(text: str, at: int) -> int:
    return len(text[:at].encode("utf-16-le")) // 2


@given(annotated(), st.booleans())
def test_every_region_comes_back(
    case: tuple[str, list[tuple[Fragments, str]]], as_units: bool
) -> None:
    text, mentions = case
    single = [(spans[0], kind) for spans, kind in mentions if len(spans) == 1]
    place = (lambda at: units(text, at)) if as_units else (lambda at: at)
    regions = [region(place(a), place(b), kind, text=text[a:b]) for (a, b), kind in single]
    (document,) = parse(task(text, said(*regions)))
    assert document.text == text
    agrees = [event.code for event in document.events] in ([], ["offsets-moved"])
    expected = sorted((((a, b),), kind) for (a, b), kind in set(single))
    got = sorted((m.spans, m.type) for m in document.mentions)
    # Units may happen to give the same words elsewhere; then the offsets are code points, as they
    # would be today.
    words = sorted((text[a:b], kind) for (a, b), kind in set(single))
    assert (
        not agrees
        or got == expected
        or sorted((m.text_in(text), m.type) for m in document.mentions) == words
    )


# -- BigBIO
# ------------------------------------------------------------------------------------------------------------


def passage(text: str, start: int, kind: str = "abstract") -> dict[str, Any]:
    return {"id": "p", "type": kind, "text": [text], "offsets": [[start, start + len(text)]]}


def entity(
    text: str, spans: Sequence[Sequence[int]], kind: str, *links: tuple[str, str]
) -> dict[str, Any]:
    listed = [{"db_name": name, "db_id": identifier} for name, identifier in links]
    words = [text[a:b] for a, b in spans]
    return {
        "id": "e",
        "type": kind,
        "text": words,
        "offsets": [list(span) for span in spans],
        "normalized": listed,
    }


def bigbio(passages: list[Any], entities: list[Any], **more: Any) -> dict[str, Any]:
    whole = {"id": "0", "document_id": "77", "passages": passages, "entities": entities}
    return {**whole, "events": [], "coreferences": [], "relations": [], **more}


def test_passages_are_put_together_and_entities_keep_fragments_and_links() -> None:
    text = "Left and right ventricle  It beats."
    entities = [
        entity(text, [(0, 4), (15, 24)], "Anatomy", ("UBERON", "0002084")),
        entity(text, [(9, 24)], "Anatomy", ("UBERON", "1"), ("MESH", "D2")),
    ]
    (document,) = parse(
        bigbio([passage("It beats.", 26), passage(text[:24], 0, "title")], entities)
    )
    assert (document.id, document.text) == ("77", text)
    assert [(m.spans, m.links) for m in document.mentions] == [
        (((0, 4), (15, 24)), (Link(id="0002084", ontology="UBERON"),)),
        (((9, 24),), (Link(id="1", ontology="UBERON"), Link(id="D2", ontology="MESH"))),
    ]
    assert [(s.start, s.end, s.name) for s in document.sections or ()] == [
        (26, 35, "abstract"),
        (0, 24, "title"),
    ]
    assert document.meta == {"id": "0"}


def test_relations_and_events_are_counted() -> None:
    (document,) = parse(
        bigbio([passage("a", 0)], [], relations=[{"id": "r"}], events=[{"id": "e"}] * 2)
    )
    assert codes(document) == ["relations-left-out", "events-left-out"]


def test_relations_of_bigbio_are_between_its_entities() -> None:
    entities = [entity("a b c", [(2 * at, 2 * at + 1)], "X") | {"id": f"e{at}"} for at in range(3)]
    ends = [("e2", "e0"), ("e1", "e9")]
    relations = [
        {"id": f"r{at}", "type": "CID", "arg1_id": first, "arg2_id": second, "normalized": []}
        for at, (first, second) in enumerate(ends)
    ]
    (document,) = parse(bigbio([passage("a b c", 0)], entities, relations=relations))
    first, _, third = (mention.key for mention in document.mentions)
    assert document.relations == (
        Relation(type="CID", arguments=(("arg1", third), ("arg2", first))),
    )
    assert codes(document) == ["relations-left-out"]


@pytest.mark.parametrize(
    "record",
    [
        bigbio([passage("abc", 0), passage("x", 2)], []),
        bigbio([passage("abc", 0), passage("x", 10**12)], []),
        bigbio([passage("abc", -3)], []),
        bigbio([{"type": "t", "text": ["abc"], "offsets": [[0, 2]]}], []),
        bigbio([{"type": "t", "text": ["abc"], "offsets": []}], []),
        bigbio([passage("abc", 0)], [{"type": "X", "offsets": [[0]]}]),
        bigbio([passage("abc", 0)], [{"type": "", "offsets": [[0, 1]]}]),
        bigbio([passage("abc", 0)], [], annotations=[{"start": 0, "end": 1}]),
    ],
)
def test_what_does_not_fit_together_is_refused(record: dict[str, Any]) -> None:
    with pytest.raises(FormatError, match=r"a\.jsonl:1"):
        parse(record)


@given(annotated(), st.data())
def test_every_entity_comes_back(
    case: tuple[str, list[tuple[Fragments, str]]], data: st.DataObject
) -> None:
    text, mentions = case
    cuts = sorted(data.draw(st.sets(st.integers(1, len(text)), max_size=3)) | {0, len(text)})
    passages = [passage(text[a:b], a) for a, b in pairwise(cuts)]
    (document,) = parse(bigbio(passages, [entity(text, spans, kind) for spans, kind in mentions]))
    assert document.text == text
    assert {(m.spans, m.type) for m in document.mentions} == {
        (as_read(spans, text), kind) for spans, kind in mentions
    }


# -- tokens
# ------------------------------------------------------------------------------------------------------------


def test_gliner_counts_the_last_token_too() -> None:
    (document,) = parse(
        {"tokenized_text": ["the", "c-fos", "gene"], "ner": [[1, 2, "DNA"], [1, 1, "Protein"]]}
    )
    assert sorted(found(document)) == [("gold", "DNA", "c-fos gene"), ("gold", "Protein", "c-fos")]
    (outside,) = parse({"tokenized_text": ["a"], "ner": [[0, 1, "X"]]})
    assert codes(outside) == ["offset-outside"]


NUMBERED = {
    "id": "0",
    "tokens": ["Jo", "in", "New", "York"],
    "ner_tags": [1, 0, 3, 4],
    "pos_tags": [5, 6, 7, 8],
}
NAMES = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]
PLACES = [("gold", "PER", "Jo"), ("gold", "LOC", "New York")]


def test_numbers_have_the_names_that_are_given(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match='labels="O,B-PER,I-PER"'):
        parse(NUMBERED)
    (document,) = parse(NUMBERED, options=JsonlOptions(labels=", ".join(NAMES)))
    assert found(document) == PLACES
    path = tmp_path / "names.json"
    path.write_text(json.dumps(NAMES))
    (document,) = parse(NUMBERED, options=JsonlOptions(labels=str(path)))
    assert found(document) == PLACES
    with pytest.raises(FormatError, match="number"):
        parse(NUMBERED, options=JsonlOptions(labels="O,B-PER"))
    with pytest.raises(FormatError, match="number"):
        parse(
            {**NUMBERED, "ner_tags": [-100, 0, 0, 0]}, options=JsonlOptions(labels=",".join(NAMES))
        )
    with pytest.raises(UsageError, match="labels"):
        JsonlOptions(labels="O")
    with pytest.raises(InputError, match="cannot be read"):
        parse(NUMBERED, options=JsonlOptions(labels=str(tmp_path / "none.json")))


LABEL = {"names": NAMES, "_type": "ClassLabel"}


@pytest.mark.parametrize(
    "feature",
    [
        {"feature": LABEL, "_type": "Sequence"},
        {"feature": LABEL, "_type": "List"},
        [LABEL],
        {"feature": LABEL, "length": -1},
    ],
)
@pytest.mark.parametrize("wrapped", [False, True])
def test_numbers_have_the_names_of_the_data_set(
    tmp_path: Path, feature: Any, wrapped: bool
) -> None:
    info = {"features": {"tokens": {"feature": {"dtype": "string"}}, "ner_tags": feature}}
    (tmp_path / "dataset_info.json").write_text(json.dumps({"default": info} if wrapped else info))
    path = tmp_path / "train.jsonl"
    path.write_text(json.dumps(NUMBERED) + "\n")
    report = ReadReport()
    (document,) = read(path, report=report)
    assert found(document) == PLACES
    assert report.tags[str(path)].scheme == "IOB2"


@pytest.mark.parametrize(
    "content", ["[]", "{}", "{", '{"features": {"ner_tags": 3}}', '{"features": []}', "[1]"]
)
def test_a_file_without_names_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "dataset_info.json").write_text(content)
    (tmp_path / "train.jsonl").write_text(json.dumps(NUMBERED) + "\n")
    with pytest.raises(FormatError, match=r"dataset_info\.json"):
        list(read(tmp_path / "train.jsonl"))


def test_names_without_prefixes_are_types() -> None:
    (document,) = parse(NUMBERED, options=JsonlOptions(labels="O,person,x,place,location"))
    assert found(document) == [
        ("gold", "person", "Jo"),
        ("gold", "place", "New"),
        ("gold", "location", "York"),
    ]


TYPES = st.sampled_from(["O", "person", "b", "a-b", "组织"])


@given(st.lists(TYPES, min_size=1, max_size=12))
def test_bare_tags_are_runs_of_one_type(tags: list[str]) -> None:
    expected, start = [], 0
    for at in range(1, len(tags) + 1):
        if at == len(tags) or tags[at] != tags[start]:
            if tags[start] != "O":
                expected.append((tags[start], start, at))
            start = at
    words = [f"w{at}" for at in range(len(tags))]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.conll"
        path.write_text(
            "".join(f"{word}\t{tag}\n" for word, tag in zip(words, tags, strict=True)),
            encoding="utf-8",
        )
        (document,) = read(path, format="conll", options=ConllOptions(bare=True))
    assert [(m.type, m.text_in(document.text)) for m in document.mentions] == [
        (kind, " ".join(words[a:b])) for kind, a, b in expected
    ]
    (same,) = parse(
        {"tokens": words, "tags": tags}, options=JsonlOptions(fields=(("bare", "true"),))
    )
    assert same.mentions == document.mentions


def test_bare_tags_are_asked_for_and_have_no_prefix(tmp_path: Path) -> None:
    path = tmp_path / "a.conll"
    path.write_text("man\tperson\n")
    with pytest.raises(FormatError, match="bare=True"):
        list(read(path))
    path.write_text("man\tperson\n\nx\tB-person\n")
    with pytest.raises(FormatError, match="prefix"):
        list(read(path, options=ConllOptions(bare=True)))


# -- Articles
# ----------------------------------------------------------------------------------------------------------


def test_an_article_is_its_parts() -> None:
    (document,) = parse(
        {"id": 5, "title": "T β", "abstract": "A.", "paragraphs": ["One.", "", "Two."], "pmid": "7"}
    )
    assert (document.id, document.meta, document.mentions) == ("5", {"pmid": "7"}, ())
    assert document.sections is not None
    parts = [(part.name, document.text[part.start : part.end]) for part in document.sections]
    assert parts == [
        ("title", "T β"),
        ("abstract", "A."),
        ("paragraph", "One."),
        ("paragraph", "Two."),
    ]
    assert document.text == "T β\n\nA.\n\nOne.\n\nTwo."


def test_a_record_with_a_text_is_no_article() -> None:
    (document,) = parse({"id": "1", "title": "T", "paragraphs": [], "text": "The text."})
    assert document.text == "The text."


@pytest.mark.parametrize("name", ["article", "bigbio"])
def test_fields_that_a_reader_has_fixed_names_for_cannot_be_named(name: str) -> None:
    record = {"id": "1", "title": "T", "body": "The text."}
    with pytest.raises(UsageError, match="text = 'body'"):
        parse(record, options=JsonlOptions(shape=name, fields=(("text", "body"),)))


def test_an_article_without_paragraphs_is_told_what_it_lacks() -> None:
    with pytest.raises(FormatError, match=r"a\.jsonl:1.*paragraphs \(a list of texts\)"):
        parse({"id": "1", "title": "T", "body": "The text."}, options=JsonlOptions(shape="article"))


def test_articles_among_annotated_records_are_noted() -> None:
    annotated = {"id": "1", "text": "Bonn.", "entities": [{"start": 0, "end": 4, "type": "LOC"}]}
    _, article = parse(annotated, {"id": "2", "title": "T", "paragraphs": ["One."]})
    assert codes(article) == ["unannotated-record"]


@pytest.mark.parametrize(
    "record",
    [
        {"id": "1", "title": "T", "paragraphs": ["One.", 2]},
        {"id": "1", "title": "T", "paragraphs": ["One."], "abstract": ["A.", 2]},
        {
            "id": "1",
            "title": "T",
            "paragraphs": ["One."],
            "entities": [{"start": 0, "end": 1, "type": "X"}],
        },
    ],
)
def test_what_is_no_article_is_refused(record: dict[str, Any]) -> None:
    with pytest.raises(FormatError, match=r"a\.jsonl:1"):
        parse(record)
