"""JSON of annotation tools and services, as their descriptions show it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from fascicle.core.document import Document, Link
from fascicle.errors import FormatError, UsageError
from fascicle.formats import JsonlOptions, read

TEXT = "Lithium caused tremor."
LITHIUM, TREMOR = (0, 7), (15, 21)


def _file(folder: Path, *records: Any) -> Path:
    path = folder / "a.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    return path


def _only(folder: Path, record: Any, **fields: str) -> Document:
    (document,) = read(
        _file(folder, record),
        options=JsonlOptions(fields=tuple(fields.items())) if fields else None,
    )
    return document


def _words(document: Document) -> list[str]:
    return [mention.text_in(document.text) for mention in document.mentions]


def _codes(document: Document) -> list[str]:
    return [event.code for event in document.events]


def _relations(document: Document) -> list[tuple[str, list[tuple[str, str]]]]:
    text = document.text
    return [
        (one.type, [(role, text[key[2][0][0] : key[2][0][1]]) for role, key in one.arguments])
        for one in document.relations
    ]


DOCCANO = [
    {"id": 1, "label": "Chemical", "start_offset": 0, "end_offset": 7},
    {"id": 2, "label": "Disease", "start_offset": 15, "end_offset": 21},
]
SPANS = [{"start": 0, "end": 7, "label": "Chemical"}, {"start": 15, "end": 21, "label": "Disease"}]
TOKENS = ["Lithium", "caused", "tremor"]
RELATED: list[tuple[dict[str, Any], tuple[str, str]]] = [
    (
        {
            "text": TEXT,
            "entities": DOCCANO,
            "relations": [{"id": 3, "from_id": 1, "to_id": 2, "type": "causes"}],
        },
        ("from", "to"),
    ),
    (
        {
            "tokens": TOKENS,
            "entities": [{"type": "C", "start": 0, "end": 1}, {"type": "D", "start": 2, "end": 3}],
            "relations": [{"type": "causes", "head": 0, "tail": 1}],
        },
        ("head", "tail"),
    ),
    (
        {
            "text": TEXT,
            "spans": SPANS,
            "relations": [
                {
                    "head": 0,
                    "child": 2,
                    "head_span": SPANS[0],
                    "child_span": SPANS[1],
                    "label": "causes",
                }
            ],
        },
        ("head", "child"),
    ),
    (
        {
            "doc_key": "k",
            "sentences": [TOKENS, ["x"]],
            "ner": [[[0, 0, "C"], [2, 2, "D"]], []],
            "relations": [[[0, 0, 2, 2, "causes"]], []],
        },
        ("head", "tail"),
    ),
    (
        {
            "tokens": TOKENS,
            "tags": ["B-C", "O", "B-D"],
            "relations": [{"type": "causes", "head": 0, "tail": 1}],
        },
        ("head", "tail"),
    ),
    (
        {
            "text": TEXT,
            "entities": [
                {"start": 15, "end": 21, "type": "D"},
                {"start": 0, "end": 7, "type": "C"},
            ],
            "relations": [{"type": "causes", "arguments": [["agent", 1], ["theme", 0]]}],
        },
        ("agent", "theme"),
    ),
]


@pytest.mark.parametrize(("record", "roles"), RELATED)
def test_relations_of_records_are_relations(
    tmp_path: Path, record: dict[str, Any], roles: tuple[str, str]
) -> None:
    document = _only(tmp_path, record)
    assert _relations(document) == [("causes", [(roles[0], "Lithium"), (roles[1], "tremor")])]
    assert document.events == ()


def test_ends_of_prodigy_name_one_of_two_mentions_at_a_place(tmp_path: Path) -> None:
    spans = [{**SPANS[0], "label": "Drug"}, *SPANS]
    ends = {"head_span": SPANS[0], "child_span": SPANS[1], "label": "causes"}
    document = _only(tmp_path, {"text": TEXT, "spans": spans, "relations": [ends]})
    (relation,) = document.relations
    assert [key[1] for _, key in relation.arguments] == [one["label"] for one in SPANS]
    unnamed = {"start": SPANS[0]["start"], "end": SPANS[0]["end"]}
    document = _only(
        tmp_path, {"text": TEXT, "spans": spans, "relations": [{**ends, "head_span": unnamed}]}
    )
    assert document.relations[0].arguments[0][1][1] == "Drug"


def test_relations_of_tags_and_sentences_name_the_mentions_of_their_record(tmp_path: Path) -> None:
    related = {"relations": [{"type": "r", "head": 1, "tail": 0}]}
    tags = {"tokens": [["a", "b"], ["c"]], "tags": ["B-X", "O", "B-Y"], **related}
    document = _only(tmp_path, tags)
    assert _relations(document) == [("r", [("head", "c"), ("tail", "a")])]
    assert document.events == ()


def test_an_end_outside_its_sentence_takes_its_relation_along(tmp_path: Path) -> None:
    record = {
        "doc_key": "k",
        "sentences": [["a", "b"], ["c"]],
        "ner": [[[0, 0, "X"], [2, 2, "Y"]], []],
    }
    document = _only(tmp_path, record | {"relations": [[[0, 0, 2, 2, "r"]], []]})
    assert document.relations == ()
    assert _codes(document) == ["offset-outside", "relations-left-out"]


def test_further_facts_of_relations_are_attributes(tmp_path: Path) -> None:
    ends = {"id": 3, "from_id": 1, "to_id": 2, "type": "x"}
    facts = {"sure": True, "score": 0.5, "note": "n", "none": None, "empty": [], "more": [1]}
    document = _only(tmp_path, {"text": TEXT, "entities": DOCCANO, "relations": [ends | facts]})
    (relation,) = document.relations
    assert relation.attributes == (
        ("sure", "true"),
        ("score", "0.5"),
        ("note", "n"),
        ("more", "[1]"),
    )
    record = {"doc_key": "k", "sentences": [["a", "b"]], "ner": [[[0, 0, "X"], [1, 1, "Y"]]]}
    predicted = _only(tmp_path, record | {"relations": [[[0, 0, 1, 1, "r", 7.5, 0.9]]]})
    assert predicted.relations[0].attributes == (("logit", "7.5"), ("score", "0.9"))


def test_relations_of_another_form_and_events_are_counted(tmp_path: Path) -> None:
    record = {
        "text": TEXT,
        "entities": DOCCANO,
        "relations": [{"from_id": 1, "to_id": 9, "type": "x"}],
        "events": [1],
    }
    assert _codes(_only(tmp_path, record)) == ["relations-left-out", "events-left-out"]


def test_facts_of_mentions_are_attributes(tmp_path: Path) -> None:
    entity = {
        "start": 3,
        "end": 9,
        "label": "Disease",
        "negated": True,
        "certainty": 0.4,
        "who": "x",
        "id": 7,
    }
    document = _only(
        tmp_path, {"text": "No tremor.", "entities": [entity | {"token_start": 1, "token_end": 1}]}
    )
    assert document.mentions[0].attributes == (
        ("negated", "true"),
        ("certainty", "0.4"),
        ("who", "x"),
    )
    assert document.events == ()


@pytest.mark.parametrize(
    ("identifier", "links"),
    [("Q408", (Link(id="Q408"),)), ("", ()), ("NIL", (Link(id="", nil=True),)), (None, ())],
)
def test_kb_id_is_a_link(tmp_path: Path, identifier: str | None, links: tuple[Link, ...]) -> None:
    for field in ("ents", "spans"):
        document = _only(tmp_path, {"text": TEXT, field: [{**SPANS[0], "kb_id": identifier}]})
        assert document.mentions[0].links == links
        assert document.events == ()


def test_span_groups_of_spacy_are_sources(tmp_path: Path) -> None:
    groups = {"sc": [{**SPANS[1], "kb_id": ""}, SPANS[0]], "model": [SPANS[0]]}
    document = _only(
        tmp_path,
        {"text": TEXT, "ents": [SPANS[0]], "spans": groups, "tokens": [{"start": 0, "end": 7}]},
    )
    assert [(one.source, one.type) for one in document.mentions] == [
        ("gold", "Chemical"),
        ("model", "Chemical"),
        ("gold", "Disease"),
    ]
    assert document.events == ()
    assert _words(_only(tmp_path, {"text": TEXT, "spans": groups})) == [
        "Lithium",
        "Lithium",
        "tremor",
    ]


BERN2 = {
    "annotations": [
        {
            "id": ["mesh:D008094"],
            "mention": "Lithium",
            "obj": "drug",
            "prob": 0.9,
            "span": {"begin": 0, "end": 7},
        },
        {
            "id": ["CUI-less"],
            "mention": "tremor",
            "obj": "disease",
            "prob": 0.8,
            "span": {"begin": 15, "end": 21},
        },
    ],
    "text": TEXT,
}


def test_names_lead_into_objects(tmp_path: Path) -> None:
    document = _only(tmp_path, BERN2)
    assert [(one.type, one.score, one.links) for one in document.mentions] == [
        ("drug", 0.9, (Link(id="D008094", ontology="mesh", curie="mesh:D008094"),)),
        ("disease", 0.8, (Link(id="", nil=True),)),
    ]
    record = {
        "body": {"plain": TEXT},
        "marks": {"all": [{"at": {"from": 0, "to": 7}, "kind": {"name": "X"}}]},
    }
    fields = {
        "text": "body.plain",
        "entities": "marks.all",
        "start": "at.from",
        "end": "at.to",
        "type": "kind.name",
    }
    assert _words(_only(tmp_path, record, **fields)) == ["Lithium"]


@pytest.mark.parametrize(
    "wrapped",
    [
        {"documents": [{"id": "1", "text": TEXT, "entities": SPANS}]},
        {"documents": [{"id": "1", "text": TEXT, "entities": SPANS}], "version": 3},
        {"projects": [{"name": "p", "documents": [{"text": TEXT, "spans": SPANS}]}]},
    ],
)
def test_records_in_a_list_called_documents_are_read(
    tmp_path: Path, wrapped: dict[str, Any]
) -> None:
    for line in (json.dumps(wrapped), json.dumps(wrapped, indent=1)):
        (tmp_path / "a.json").write_text(line)
        (document,) = read(tmp_path / "a.json")
        assert _words(document) == ["Lithium", "tremor"]


AZURE = {"id": "1", "entities": [{"text": "Lithium", "category": "Drug", "offset": 0, "length": 7}]}
BIOC = {
    "id": "1",
    "passages": [{"offset": 0, "text": TEXT, "annotations": [], "relations": [], "infons": {}}],
}


@pytest.mark.parametrize(
    "record",
    [
        {"documents": [AZURE], "errors": []},
        {
            "documents": [{"id": "1", "text": TEXT}],
            "annotations": [{"document": "1", "start": 0, "end": 7}],
        },
        {"Entities": [{"BeginOffset": 0, "EndOffset": 7, "Type": "X", "Text": "Lithium"}]},
        {"paper_id": "x", "body_text": [{"text": TEXT, "cite_spans": [{"start": 0, "end": 3}]}]},
    ],
)
def test_annotation_without_its_text_is_refused(tmp_path: Path, record: dict[str, Any]) -> None:
    with pytest.raises(FormatError, match="none of the fields has a text"):
        _only(tmp_path, record)


@pytest.mark.parametrize("text", [None, 7, ["Lithium"], {"a": "b"}])
def test_a_text_of_pubannotation_that_is_none_is_refused(tmp_path: Path, text: object) -> None:
    with pytest.raises(FormatError):
        _only(tmp_path, {"text": text, "denotations": [], "sourcedb": "a", "sourceid": "1"})


def test_a_document_of_bioc_has_passages(tmp_path: Path) -> None:
    path = _file(tmp_path, {"documents": [{"id": "1", "text": TEXT}]})
    with pytest.raises(FormatError, match="passages"):
        list(read(path, format="bioc-json"))
    (document,) = read(
        _file(tmp_path, {"documents": [BIOC | {"text": "more", "denotations": [{"x": 1}]}]})
    )
    assert [event.message for event in document.events] == [
        "these fields of a document are not read: denotations, text"
    ]
    more = {
        "pmid": 1,
        "meta": {},
        "journal": "J",
        "authors": ["A B"],
        "relations_display": [{"name": "x"}],
    }
    (document,) = read(_file(tmp_path, {"PubTator3": [BIOC | more]}))
    assert document.events == ()


HINTED: list[dict[str, Any]] = [
    {"text, raw": TEXT, "my_spans": [{"start": 0, "end": 7, "label": "X"}]},
    {"a=b": TEXT, "my=spans": [{"start": 0, "end": 7, "label": "X"}]},
    {"p.1": TEXT, "x.y": [{"start": 0, "end": 7, "label": "X"}]},
    {"text": TEXT, "a,b": [{"start": 0, "end": 7, "label": "X"}]},
    {"content": TEXT, "annotations": [{"start": 0, "end": 7, "tag": "X", "value": "Lithium"}]},
    {"document": TEXT, "annotation": [{"start": 0, "end": 7, "label": "X"}]},
    {"text": TEXT, "annotation": [["X", 0, 7]]},
    {"text": TEXT, "entities": [{"entity_group": "X", "score": 0.5, "start": 0, "end": 7}]},
    {"text": TEXT, "annotations": [{"cui": "C1", "start": 0, "end": 7, "value": "Lithium"}]},
    {"content": TEXT, "meta": {"named_entities": [{"entity": "X", "start": 0, "end": 7}]}},
    {"Text": TEXT, "Entities": [{"BeginOffset": 0, "EndOffset": 7, "Category": "X", "Score": 0.9}]},
    {"text": TEXT, "mentions": [{"where": {"begin": 0, "end": 7}, "obj": "X"}]},
    {"text": TEXT, "result": [{"offset": 0, "length": 7, "label": "X"}]},
    {
        "fields": {"text": TEXT},
        "responses": {"span": [{"value": [{"start": 0, "end": 7, "label": "X"}]}, {"value": []}]},
    },
    {"text": TEXT, "denotations": {"T1": {"span": {"begin": 0, "end": 7}, "obj": "X"}}},
    {"text": TEXT, "sentences": [{"entities": [{"start": 0, "end": 7, "label": "X"}]}]},
    {
        "text": TEXT,
        "annotation": [{"at": [0, 7]}],
        "mentions": [{"start": 0, "end": 7, "label": "X"}],
    },
]
UNREADABLE = 4  # of these records: their mentions can only be left out


def _hints(message: str) -> list[tuple[tuple[str, str], ...]]:
    arguments = re.findall(r"fields=\[(.*?)\](?!\")", message)
    return [tuple(re.findall(r'\("([\w-]+)", "([^"]*)"\)', one)) for one in arguments]


@pytest.mark.parametrize("record", HINTED)
def test_each_hint_of_a_message_works(tmp_path: Path, record: dict[str, Any]) -> None:
    path = _file(tmp_path, record)
    with pytest.raises(FormatError) as refused:
        list(read(path))
    hints = _hints(str(refused.value))
    assert hints
    read_words = [
        _words(document)
        for hint in hints
        for document in read(path, options=JsonlOptions(fields=hint))
    ]
    wanted = [] if HINTED.index(record) >= len(HINTED) - UNREADABLE else ["Lithium"]
    assert read_words[0] == wanted
    assert all(words in ([], ["Lithium"]) for words in read_words)


def test_no_hint_names_a_field_inside_one_whose_name_has_a_dot(tmp_path: Path) -> None:
    path = _file(tmp_path, {"p/1.txt": {"text": TEXT, "entities": {}}})
    with pytest.raises(FormatError, match="none of the fields has a text"):
        list(read(path))


EMOJI = "\U0001f600 "


def _utf16(place: tuple[int, int]) -> list[int]:
    return [offset + 3 for offset in place]


def test_utf16_offsets_without_texts_are_told_by_words(tmp_path: Path) -> None:
    record = {
        "text": EMOJI + TEXT,
        "label": [[*_utf16(LITHIUM), "Chemical"], [*_utf16(TREMOR), "Disease"]],
    }
    document = _only(tmp_path, record)
    assert (_words(document), _codes(document)) == (
        ["Lithium", "tremor"],
        ["offsets-moved", "offsets-by-words"],
    )
    right = {"text": EMOJI + TEXT, "label": [[2, 9, "Chemical"], [17, 23, "Disease"]]}
    document = _only(tmp_path, right)
    assert (_words(document), _codes(document)) == (["Lithium", "tremor"], [])


def test_what_words_do_not_decide_earlier_records_do_or_a_note_says_so(tmp_path: Path) -> None:
    # a letter as code points, a letter as UTF-16 units
    unclear = {"text": EMOJI + "a b c", "label": [[4, 5, "X"]]}
    unclear["text"] = EMOJI + "a  b"
    unclear["label"] = [[3, 6, "X"]]
    (first,) = read(_file(tmp_path, unclear))
    assert _codes(first) == ["offsets-unclear"]
    clear = {"text": EMOJI + TEXT, "label": [[*_utf16(LITHIUM), "Chemical"]]}
    _, second = read(_file(tmp_path, clear, unclear))
    assert _codes(second) == ["offsets-moved", "offsets-by-words"]


@pytest.mark.parametrize("unit", ["utf-16", "bytes", "code-points"])
def test_the_unit_of_offsets_can_be_named(tmp_path: Path, unit: str) -> None:
    before = {"utf-16": 3, "bytes": 5, "code-points": 2}[unit]
    record = {"text": EMOJI + TEXT, "label": [[before, before + 7, "X"]]}
    document = _only(tmp_path, record, offsets=unit)
    assert _words(document) == ["Lithium"]
    assert _codes(document) == ([] if unit == "code-points" else ["offsets-moved"])
    with pytest.raises(UsageError, match="one of code-points, bytes, utf-16"):
        _only(tmp_path, record, offsets="characters")


def test_many_words_are_needed_to_believe_in_bytes(tmp_path: Path) -> None:
    text = "βαγ lithium, caused tremor and asthma"
    words = ["lithium", "tremor", "asthma"]
    places = [(text.index(word) + 3, text.index(word) + 3 + len(word)) for word in words]
    for count, codes in ((3, ["offsets-moved", "offsets-by-words"]), (1, [])):
        document = _only(
            tmp_path, {"text": text, "label": [[*place, "X"] for place in places[:count]]}
        )
        assert _codes(document) == codes
        assert (_words(document) == words) == bool(codes)


BETA = "β-blocker 😀 for\r\ntremor"


def _stated(text: str) -> dict[str, tuple[int, int]]:
    start = BETA.index("tremor")
    before = BETA[:start]
    return {
        "utf-16": (
            len(before.encode("utf-16-le")) // 2,
            len((before + "tremor").encode("utf-16-le")) // 2,
        ),
        "bytes": (len(before.encode()), len((before + "tremor").encode())),
        "line ends": (start - 1, start + 5),
    }


@pytest.mark.parametrize("unit", ["utf-16", "bytes", "line ends"])
def test_texts_beside_offsets_tell_their_unit_in_every_format(tmp_path: Path, unit: str) -> None:
    start, end = _stated(BETA)[unit]
    entity = {"start": start, "end": end, "type": "X", "text": "tremor"}
    title = BETA.replace("\r\n", "  ")
    kazu = {
        "match": "tremor",
        "entity_class": "X",
        "spans": [{"start": start, "end": end}],
        "namespace": "n",
    }
    bigbio = {
        "document_id": "1",
        "passages": [{"type": "t", "text": [BETA], "offsets": [[0, len(BETA)]]}],
        "entities": [
            {
                "id": "1",
                "type": "X",
                "text": ["tremor"],
                "offsets": [[start, end]],
                "normalized": [],
            }
        ],
    }
    files = {
        "a.jsonl": json.dumps({"id": "1", "text": BETA, "entities": [entity]}),
        "b.jsonl": json.dumps(bigbio),
        "c.kazu.jsonl": json.dumps(
            {"idx": "1", "sections": [{"text": BETA, "name": "t", "entities": [kazu]}]}
        ),
    }
    if unit != "line ends":
        files["d.pubtator"] = f"1|t|{title}\n1\t{start}\t{end}\ttremor\tX\n"
    for name, content in files.items():
        (tmp_path / name).write_text(content, encoding="utf-8", newline="")
        (document,) = read(tmp_path / name)
        assert (name, _words(document), _codes(document)) == (name, ["tremor"], ["offsets-moved"])
    (tmp_path / "f" / "texts").mkdir(parents=True)
    (tmp_path / "f" / "texts" / "1.txt").write_bytes(BETA.encode())
    (tmp_path / "f" / "texts" / "1.ann").write_text(f"T1\tX {start} {end}\ttremor\n")
    (document,) = read(tmp_path / "f" / "texts", format="brat")
    assert (_words(document), _codes(document)) == (["tremor"], ["offsets-moved"])
    (tmp_path / "f" / "texts" / "1.ann").unlink()
    table = f"tweets_id\tbegin\tend\ttype\textraction\n1\t{start}\t{end}\tX\ttremor\n"
    (tmp_path / "f" / "a.tsv").write_text(table)
    (document,) = read(tmp_path / "f" / "texts", format="offsets")
    assert (_words(document), _codes(document)) == (["tremor"], ["offsets-moved"])


def test_pubannotation_has_parts_attributes_relations_and_tracks(tmp_path: Path) -> None:
    record = {
        "target": "http://pubannotation.org/docs/sourcedb/PubMed/sourceid/1",
        "sourcedb": "PubMed",
        "sourceid": "1",
        "divid": 2,
        "text": TEXT,
        "denotations": [
            {"id": "T1", "span": {"begin": 0, "end": 7}, "obj": "Chemical"},
            {
                "id": "T2",
                "span": [{"begin": 0, "end": 3}, {"begin": 15, "end": 21}],
                "obj": "Disease",
            },
        ],
        "attributes": [{"id": "A1", "subj": "T2", "pred": "negated", "obj": True}],
        "relations": [
            {"id": "R1", "subj": "T1", "pred": "causes", "obj": "T2"},
            {"subj": "T1", "obj": "T9"},
        ],
        "tracks": [
            {
                "project": "p",
                "denotations": [{"id": "T1", "span": {"begin": 15, "end": 21}, "obj": "Disease"}],
            }
        ],
    }
    for content in (record, [record]):
        (tmp_path / "a.json").write_text(json.dumps(content))
        (document,) = read(tmp_path / "a.json")
        assert (document.id, document.meta["sourcedb"]) == ("1-2", "PubMed")
        assert [(one.source, one.type, one.spans, one.attributes) for one in document.mentions] == [
            ("gold", "Disease", ((0, 3), (15, 21)), (("negated", "true"),)),
            ("gold", "Chemical", ((0, 7),), ()),
            ("p", "Disease", ((15, 21),), ()),
        ]
        assert [one.type for one in document.relations] == ["causes"]
        assert _codes(document) == ["relations-left-out"]


def test_modifications_of_pubannotation_are_attributes_and_others_are_counted(
    tmp_path: Path,
) -> None:
    """https://www.pubannotation.org/docs/annotation-format/: `obj` is what is modified."""
    record = {
        "text": TEXT,
        "denotations": [{"id": "T1", "span": {"begin": 15, "end": 21}, "obj": "Disease"}],
        "modifications": [
            {"id": "M1", "pred": "Negation", "obj": "T1"},
            {"id": "M2", "pred": "Speculation", "obj": "R1"},
        ],
        "attributes": [{"subj": "R1", "pred": "certain", "obj": False}],
    }
    document = _only(tmp_path, record)
    assert document.mentions[0].attributes == (("Negation", "true"),)
    assert _codes(document) == ["attributes-left-out"]
    assert "2 attributes" in document.events[0].message


def test_utf16_offsets_of_pubannotation_are_told_by_words(tmp_path: Path) -> None:
    denotations = [{"id": "T1", "span": {"begin": 3, "end": 10}, "obj": "X"}]
    document = _only(tmp_path, {"text": EMOJI + TEXT, "denotations": denotations})
    assert (_words(document), _codes(document)) == (
        ["Lithium"],
        ["offsets-moved", "offsets-by-words"],
    )
    document = _only(
        tmp_path, {"text": EMOJI + TEXT, "denotations": denotations}, offsets="code-points"
    )
    assert _words(document) == ["ithium "]


# As gatenlp 1.0.8 saves one document, once for each unit of offsets.
GATE = """{"annotation_sets": {"": {"name": "", "annotations": [{"type": "Drug", "start": 4, "end": 11, "id": 0,
 "features": {"inst": "x", "n": 1, "l": ["a"]}}, {"type": "Sentence", "start": 0, "end": 26, "id": 1, "features": {}}],
 "next_annid": 2}, "Key": {"name": "Key", "annotations": [{"type": "Drug", "start": 4, "end": 11, "id": 0,
 "features": {}}], "next_annid": 1}}, "text": "\\u03b2 \\ud83d\\ude00 Lithium caused tremor.", "features":
 {"lang": "en"}, "offset_type": "p", "name": ""}"""


def test_gate_counts_as_it_says(tmp_path: Path) -> None:
    java = (
        GATE.replace('"p"', '"j"')
        .replace('"start": 4, "end": 11', '"start": 5, "end": 12')
        .replace("26", "27")
    )
    for content in (GATE, java):
        (tmp_path / "a.bdocjs").write_text(content.replace("\n", ""))
        (document,) = read(tmp_path / "a.bdocjs")
        assert [(one.source, one.text_in(document.text)) for one in document.mentions] == [
            ("gate", "Lithium"),
            ("gold", "Lithium"),
        ]
        assert document.mentions[0].attributes == (("inst", "x"), ("n", "1"), ("l", '["a"]'))
        assert (document.sentences, document.meta, document.events) == (
            ((0, 26),),
            {"lang": "en"},
            (),
        )
    (tmp_path / "a.bdocjs").write_text(GATE.replace('"p"', '"x"').replace("\n", ""))
    with pytest.raises(FormatError, match="offset_type is 'x'; allowed are p and j"):
        list(read(tmp_path / "a.bdocjs"))


# As spaCy 3.8.18 makes it with Doc.to_json.
SPACY = r"""{"text": "\u03b2 \ud83d\ude00 Lithium caused tremor.", "ents": [{"start": 4, "end": 11, "label": "CHEM"}],
 "tokens": [{"id": 0, "start": 0, "end": 1}, {"id": 2, "start": 4, "end": 11}], "spans": {"sc": [{"start": 19,
 "end": 25, "label": "DIS", "kb_id": ""}, {"start": 4, "end": 25, "label": "EVENT", "kb_id": ""}], "model":
 [{"start": 4, "end": 11, "label": "CHEM", "kb_id": ""}]}}"""


def test_a_document_of_spacy_with_groups_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(SPACY.replace("\n", ""))
    (document,) = read(tmp_path / "a.json")
    assert [(one.source, one.type, one.text_in(document.text)) for one in document.mentions] == [
        ("gold", "EVENT", "Lithium caused tremor"),
        ("model", "CHEM", "Lithium"),
        ("gold", "DIS", "tremor"),
    ]
    assert document.events == ()


def _quote(exact: str, prefix: str = "", postfix: str = "") -> dict[str, Any]:
    tags = [{"name": "tremor", "uri": "http://purl.obolibrary.org/obo/HP_0001337"}]
    facts = {
        "section": "Abstract",
        "provider": "Europe PMC",
        "id": "http://europepmc.org/x",
        "tags": tags,
    }
    return {"prefix": prefix, "exact": exact, "postfix": postfix, "type": "Diseases", **facts}


def test_quotes_of_europe_pmc_are_laid_over_the_text(tmp_path: Path) -> None:
    quotes = [
        _quote("tremor", "second ", ", then"),
        _quote("heart failure", "had ", "."),
        _quote("tremor", "First ", ", "),
        _quote("asthma"),
        _quote("tremor"),
    ]
    article = {"source": "MED", "extId": "12", "pmcid": "PMC34", "annotations": quotes}
    (tmp_path / "a.json").write_text(json.dumps([article]))
    with pytest.raises(FormatError, match=r"put it beside them as PMC34\.txt or 12\.txt"):
        list(read(tmp_path / "a.json"))
    (tmp_path / "PMC34.txt").write_text("First tremor, second\ntremor, then 😀 had heart\nfailure.")
    (document,) = read(tmp_path / "a.json")
    assert [(one.start, one.text_in(document.text)) for one in document.mentions] == [
        (6, "tremor"),
        (21, "tremor"),
        (40, "heart\nfailure"),
    ]
    assert document.mentions[0].links[0].name == "tremor"
    assert document.mentions[0].attributes == (("section", "Abstract"), ("provider", "Europe PMC"))
    assert (document.id, _codes(document)) == ("12", ["offset-outside", "offset-outside"])


def test_no_article_names_a_file_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "secret.txt").write_text("tremor")
    article = {"extId": "../secret", "annotations": [_quote("tremor")]}
    (tmp_path / "b" / "a.json").write_text(json.dumps([article]))
    with pytest.raises(FormatError, match="is not here"):
        list(read(tmp_path / "b" / "a.json"))


_PAPERS = [
    {"id": "a", "title": "Lithium", "abstract": "It caused tremor."},
    {"id": "b", "title": "Gout", "abstract": "It hurts."},
]
_ANSWERS: dict[str, Any] = {
    "semantic-scholar": {"total": 2, "offset": 0, "data": _PAPERS},
    "biorxiv": {"messages": [{"status": "ok", "count": 2}], "collection": _PAPERS},
    "crossref": {
        "status": "ok",
        "message": {
            "total-results": 2,
            "facets": {},
            "items": [{**one, "title": [one["title"]]} for one in _PAPERS],
        },
    },
    "elasticsearch": {
        "took": 3,
        "_shards": {"total": 1},
        "hits": {
            "total": {"value": 2, "relation": "eq"},
            "hits": [
                {
                    "_index": "a",
                    "_id": one["id"],
                    "_score": 1.0,
                    "_source": {name: one[name] for name in ("title", "abstract")},
                }
                for one in _PAPERS
            ],
        },
    },
    "solr": {
        "responseHeader": {"status": 0},
        "response": {"numFound": 2, "docs": [{**p, "abstract": [p["abstract"]]} for p in _PAPERS]},
    },
    "core": {"totalHits": 2, "results": _PAPERS},
    "mongodb": [{**one, "_id": {"$oid": one["id"]}, "id": None} for one in _PAPERS],
}


@pytest.mark.parametrize("name", _ANSWERS)
def test_answers_of_searches_hold_titles_and_abstracts(name: str, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(_ANSWERS[name]), encoding="utf-8")
    assert [(one.id, one.text) for one in read(path)] == [
        ("a", "Lithium\n\nIt caused tremor."),
        ("b", "Gout\n\nIt hurts."),
    ]


@pytest.mark.parametrize(
    "record",
    [
        {"name": "A", "references": _PAPERS},  # of other papers
        {"data": _PAPERS, "results": _PAPERS},
        {"body": "A text of its own. " * 20, "data": _PAPERS},
        {"data": [*_PAPERS, {"title": "C", "entities": SPANS}], "entities": SPANS},
    ],
)
def test_lists_that_are_perhaps_no_documents_are_refused(
    record: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(record), encoding="utf-8")
    with pytest.raises(FormatError):
        list(read(path))


def test_no_entry_of_bigbio_is_no_link(tmp_path: Path) -> None:
    """The loaders of BigBIO copy the -1 of PubTator, and NIL of other corpora, as ids."""
    entity = {"id": "e", "type": "X", "text": ["a"], "offsets": [[0, 1]]}
    names = [{"db_name": "-1", "db_id": "-1"}, {"db_name": "M", "db_id": "NIL"}]
    record = {
        "document_id": "1",
        "passages": [{"type": "t", "text": ["a"], "offsets": [[0, 1]]}],
        "entities": [{**entity, "normalized": names}],
    }
    path = tmp_path / "b.jsonl"
    path.write_text(json.dumps(record))
    (document,) = read(path)
    assert [(link.id, link.nil) for link in document.mentions[0].links] == [("", True)]
