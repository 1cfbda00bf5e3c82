"""Relations of 200 made documents: every format gives them back, or says how many it does not; and
records of other tools, written here from the descriptions of their shapes, are read as they were
made.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from fascicle.core.document import Document, Mention, Relation, unique
from fascicle.formats import read, write
from fascicle.formats.catalogue import FORMATS

WORDS = ("Lithium", "causes", "tremor", "\U0001f600", "naïve", "in", "p53", "mice", "β", "and")
ROLES = (("head", "tail"), ("Arg1", "Arg2"), ("from", "to"), ("to", "from"), ("", ""))
KINDS = ("CID", "Bind", "x y", "", "Equiv")
FACTS = (("score", "0.5"), ("type", "x"), ("note", "a b"), ("sure", ""))
MADE = 200
WRITTEN = [name for name, row in FORMATS.items() if row.writes]
BY_REFERENCE = {"tsv", "csv", "xlsx", "livingner", "socialdisner", "predictions", "text"}
ALONE = {"webanno", "cas", "plain"}  # one document in a file
KEPT = (
    *("jsonl", "records", "pubtator", "bioc", "bioc-json", "pubtator3", "brat", "label-studio"),
    *("parquet", "webanno", "cas"),
)
ODD = (
    *("x", "a b", "a\tb", "a\nb", "a:b", "a|b", "[1]", "_", "*", "", "type", "id", "T1", "a;b"),
    *("\\n", "head", "Arg1", "x\x0c", " x ", "label", "novel", "layer", "null"),
)


def made(seed: int) -> Document:
    """A document with nested and discontinuous mentions, and relations of all kinds."""
    random = Random(seed)
    words = random.choices(WORDS, k=12)
    starts = [len(" ".join([*words[:at], ""])) for at in range(len(words))]
    places = [(start, start + len(word)) for start, word in zip(starts, words, strict=True)]
    mentions = []
    for _ in range(random.randrange(1, 6)):
        first, last, apart = (random.randrange(4), random.randrange(4, 8), random.randrange(9, 12))
        spans = random.choice(
            [
                (places[first],),
                ((places[first][0], places[last][1]),),
                (places[last], places[apart]),
            ]
        )
        mentions.append(Mention(spans, random.choice(["Drug", "Disease"])))
    found = unique(mentions)[0]
    keys = [mention.key for mention in found]
    relations = []
    for _ in range(random.randrange(5)):
        facts = tuple(random.sample(FACTS, k=random.choice([0, 0, 0, 1, 2])))
        roles = random.choice([*ROLES, *ROLES, ("a",), ("a", "b", "c"), ()])
        concepts = (("entity1", "D1"), ("entity2", "p|SUB|V||M"), ("novel", "No"))
        arguments = tuple((role, random.choice(keys)) for role in roles)
        attributes = facts if roles else concepts[: random.choice([2, 3, 3])]
        relations.append(
            Relation(type=random.choice(KINDS), arguments=arguments, attributes=attributes)
        )
    return Document(
        id=f"d{seed}",
        text=" ".join(words),
        words=tuple(places),
        mentions=found,
        relations=tuple(relations),
    )


def odd(seed: int) -> Document:
    """A document of several sources, whose relations have names that formats use themselves, or
    signs that separate their fields.
    """
    random, document = Random(seed), made(seed)
    sources = {one.key: random.choice(["gold", "gold", "gold", "sys"]) for one in document.mentions}
    relations = []
    for stated in document.relations:
        arguments = tuple(
            (random.choice([role, random.choice(ODD)]), (sources[key], *key[1:]))
            for role, key in stated.arguments
        )
        facts = tuple((random.choice(ODD), random.choice(ODD)) for _ in stated.attributes)
        kind = random.choice([stated.type, random.choice(ODD)])
        relations.append(Relation(type=kind, arguments=arguments, attributes=facts))
    mentions = tuple(replace(one, source=sources[one.key]) for one in document.mentions)
    return document.having(mentions=mentions, relations=tuple(relations))


def without_facts(relations: Iterable[Relation]) -> Counter[Any]:
    """The relations without their attributes and the sources of their mentions."""
    return Counter(
        (relation.type, tuple((role, key[1:]) for role, key in relation.arguments))
        for relation in relations
    )


def in_order(relations: Iterable[Relation]) -> Counter[Relation]:
    """The relations with their attributes in one order, which says nothing."""
    return Counter(replace(one, attributes=tuple(sorted(one.attributes))) for one in relations)


def facts_of(relations: Iterable[Relation]) -> Counter[Any]:
    return Counter(fact for relation in relations for fact in relation.attributes)


def written(
    folder: Path, name: str, documents: list[Document]
) -> list[tuple[list[Document], Path, Counter[str]]]:
    groups = [[document] for document in documents] if name in ALONE else [documents]
    parts = []
    for number, group in enumerate(groups):
        path = folder / f"{number}"
        parts.append((group, path, Counter(write(path, group, format=name).losses)))
    return parts


@pytest.mark.parametrize("name", WRITTEN)
def test_relations_come_back_or_are_counted(tmp_path: Path, name: str) -> None:
    documents, number = [made(seed) for seed in range(MADE)], 0
    for group, path, losses in written(tmp_path, name, documents):
        stated = sum(len(document.relations) for document in group)
        if name in BY_REFERENCE:
            assert losses["relations"] == stated
            continue
        if name == "html":
            assert path.read_text().count("</tr>") == stated + sum(
                len(document.mentions) + 1 + bool(document.relations) for document in group
            )
            assert not losses["relations"]
            continue
        back = list(read(path, format=name)) if FORMATS[name].reads else []
        kept = [relation for document in back for relation in document.relations]
        assert len(kept) == stated - losses["relations"]
        assert not any(event.kind == "loss" for document in back for event in document.events)
        assert name in KEPT or not kept
        by_id = {group[0].id: back[0]} if name in ALONE and kept else {one.id: one for one in back}
        for document in group if kept else ():
            other = by_id[document.id]
            assert without_facts(other.relations) <= without_facts(document.relations)
            if not losses["attributes"]:
                assert in_order(other.relations) <= in_order(document.relations)
            number += len(other.relations)
    assert number > MADE // 10 or name not in KEPT


@pytest.mark.parametrize("name", KEPT)
def test_odd_names_come_back_or_are_counted(tmp_path: Path, name: str) -> None:
    documents = [odd(seed) for seed in range(60)]
    for document in documents:  # one by one, for one that is counted hides no other
        path = tmp_path / document.id
        losses = Counter(write(path, [document], format=name).losses)
        (back,) = read(path, format=name)
        assert len(back.relations) == len(document.relations) - losses["relations"]
        assert without_facts(back.relations) <= without_facts(document.relations)
        assert not any(event.kind == "loss" for event in back.events)
        if not losses["relations"] + losses["attributes"]:
            assert facts_of(back.relations) == facts_of(document.relations)
    kept = [one for document in documents for one in document.relations]
    assert len({one.type for one in kept}) > len(ODD) / 2


Made = tuple[list[str], list[tuple[int, int, str]], list[tuple[int, int, str]]]


def simple(seed: int) -> Made:
    """Tokens, mentions as (first token, last token, type), and relations between their numbers."""
    random = Random(seed)
    tokens = random.choices(WORDS, k=12)
    mentions, at = [], random.randrange(3)
    while at < 10:
        last = at + random.randrange(2)
        mentions.append((at, last, random.choice(["Drug", "Disease"])))
        at = last + random.randrange(2, 4)
    numbers = range(len(mentions))
    relations = [
        (random.choice(numbers), random.choice(numbers), random.choice(["CID", "Bind"]))
        for _ in range(random.randrange(4))
    ]
    return tokens, mentions, relations


def place(tokens: list[str], first: int, last: int) -> tuple[int, int]:
    start = len(" ".join([*tokens[:first], ""]))
    return start, start + len(" ".join(tokens[first : last + 1]))


def dygie(tokens: list[str], mentions: Any, relations: Any) -> dict[str, Any]:
    stated = [[*mentions[a][:2], *mentions[b][:2], kind] for a, b, kind in relations]
    return {"doc_key": "k", "sentences": [tokens], "ner": [mentions], "relations": [stated]}


def conll04(tokens: list[str], mentions: Any, relations: Any) -> dict[str, Any]:
    tags = ["O"] * len(tokens)
    for first, last, kind in mentions:
        tags[first : last + 1] = [f"B-{kind}", *[f"I-{kind}"] * (last - first)]
    stated = [{"head": a, "tail": b, "type": kind} for a, b, kind in relations]
    return {"tokens": tokens, "tags": tags, "relations": stated}


def spert(tokens: list[str], mentions: Any, relations: Any) -> dict[str, Any]:
    entities = [{"start": a, "end": b + 1, "type": kind} for a, b, kind in mentions]
    stated = [{"head": a, "tail": b, "type": kind} for a, b, kind in relations]
    return {"tokens": tokens, "entities": entities, "relations": stated}


def prodigy(tokens: list[str], mentions: Any, relations: Any) -> dict[str, Any]:
    spans = [
        dict(zip(("start", "end"), place(tokens, a, b), strict=True), label=kind)
        for a, b, kind in mentions
    ]
    stated = [
        {
            "head": mentions[a][1],
            "child": mentions[b][1],
            "head_span": spans[a],
            "child_span": spans[b],
            "color": "#fff",
            "label": kind,
        }
        for a, b, kind in relations
    ]
    return {"text": " ".join(tokens), "spans": spans, "relations": stated, "answer": "accept"}


def doccano(tokens: list[str], mentions: Any, relations: Any) -> dict[str, Any]:
    entities = []
    for number, (first, last, kind) in enumerate(mentions):
        start, end = place(tokens, first, last)
        mention = {"id": 90 + number, "label": kind, "start_offset": start, "end_offset": end}
        entities.append(mention)
    stated = [
        {"id": at, "from_id": 90 + a, "to_id": 90 + b, "type": kind}
        for at, (a, b, kind) in enumerate(relations)
    ]
    return {"id": 1, "text": " ".join(tokens), "entities": entities, "relations": stated}


def bigbio(tokens: list[str], mentions: Any, relations: Any) -> dict[str, Any]:
    text = " ".join(tokens)
    entities = []
    for number, (first, last, kind) in enumerate(mentions):
        start, end = place(tokens, first, last)
        entity = {"id": f"e{number}", "type": kind, "text": [text[start:end]]}
        entities.append({**entity, "offsets": [[start, end]], "normalized": []})
    stated = [
        {"id": f"r{at}", "type": kind, "arg1_id": f"e{a}", "arg2_id": f"e{b}", "normalized": []}
        for at, (a, b, kind) in enumerate(relations)
    ]
    passage = {"id": "p", "type": "", "text": [text], "offsets": [[0, len(text)]]}
    record = {"id": "0", "document_id": "7", "passages": [passage], "entities": entities}
    return {**record, "relations": stated, "events": [], "coreferences": []}


def label_studio(tokens: list[str], mentions: Any, relations: Any) -> dict[str, Any]:
    text = " ".join(tokens)
    regions: list[dict[str, Any]] = []
    for number, (first, last, kind) in enumerate(mentions):
        start, end = place(tokens, first, last)
        value = {"start": start, "end": end, "text": text[start:end], "labels": [kind]}
        region = {"id": f"m{number}", "type": "labels", "from_name": "label", "to_name": "text"}
        regions.append({**region, "value": value})
    regions += [
        {"type": "relation", "from_id": f"m{a}", "to_id": f"m{b}", "labels": [kind]}
        | {"direction": "right"}
        for a, b, kind in relations
    ]
    return {"id": 1, "data": {"text": text}, "annotations": [{"result": regions}]}


@pytest.mark.parametrize(
    "make",
    [dygie, conll04, spert, prodigy, doccano, bigbio, label_studio],
    ids=lambda f: f.__name__,
)
def test_records_of_tools_lose_no_relation(
    tmp_path: Path, make: Callable[..., dict[str, Any]]
) -> None:
    samples = [simple(seed) for seed in range(MADE)]
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(make(*sample)) + "\n" for sample in samples))
    documents = list(read(path, format="records"))
    assert len(documents) == MADE
    for (tokens, mentions, relations), document in zip(samples, documents, strict=True):
        keys = [("gold", kind, (place(tokens, first, last),)) for first, last, kind in mentions]
        assert [
            (relation.type, [key for _, key in relation.arguments], relation.attributes)
            for relation in document.relations
        ] == [(kind, [keys[a], keys[b]], ()) for a, b, kind in relations]
        assert not any(event.kind == "loss" for event in document.events)
