"""The packages label-studio-sdk 2.1.2 and conllu 6.0.0."""

from __future__ import annotations

import json
from pathlib import Path

import conllu
from conllu.models import Token, TokenList
from label_studio_sdk.converter import Converter
from label_studio_sdk.converter.converter import Format
from msgspec import structs
from tests.formats.oracle.drafts import Draft, Taste
from tests.reality.crossing import all_seen, document, made, marks_of, tags, text_of

from fascicle.core.document import Document
from fascicle.formats import read, write
from fascicle.formats.conll_write import ConllWriteOptions

TASTE = Taste(empty=False, flat=True)
CONFIG = (
    '<View><Labels name="label" toName="text"><Label value="Chemical"/><Label value="Disease"/>'
    '<Label value="Gene_or_gene_product"/><Label value="Cell-line"/></Labels><Text name="text" '
    'value="$text"/></View>'
)


FIRST = ("id", "form")
COLUMNS = ("lemma", "upos", "xpos", "feats", "head", "deprel", "deps")


def worded(draft: Draft) -> Document:
    """A draft as a document of ours, with its words."""
    return structs.replace(document(draft, ""), words=draft.words[0])


def task(at: int, text: str, marks: frozenset[tuple[int, int, str]]) -> dict[str, object]:
    """A task as Label Studio exports it."""
    result = [
        {
            "id": f"r{number}",
            "from_name": "label",
            "to_name": "text",
            "type": "labels",
            "value": {"start": start, "end": end, "text": text[start:end], "labels": [kind]},
        }
        for number, (start, end, kind) in enumerate(sorted(marks))
    ]
    return {
        "id": at,
        "data": {"text": text},
        "annotations": [{"id": at, "completed_by": 1, "result": result}],
    }


def test_tasks_and_the_converter_agree(tmp_path: Path) -> None:
    """The converter writes one column of words and one of tags; a full stop is a word of its own
    there.
    """
    for seed, drafts in made(TASTE, name="tasks"):
        path = tmp_path / f"{seed}.json"
        wanted = [(text_of(one, ""), marks_of(one, "")) for one in drafts]
        path.write_text(
            json.dumps([task(at, *one) for at, one in enumerate(wanted, 1)]), encoding="utf-8"
        )
        assert all_seen(read(path)) == wanted
        Converter(CONFIG, str(tmp_path), download_resources=False).convert(
            str(path), str(tmp_path / f"{seed}-out"), Format.CONLL2003, is_dir=False
        )
        (exported,) = (tmp_path / f"{seed}-out").glob("*.conll")
        assert len(list(read(exported))) >= 1


def test_it_takes_tasks_that_fascicle_writes(tmp_path: Path) -> None:
    for seed, drafts in made(TASTE, name="tasks of ours"):
        path = tmp_path / f"{seed}.label-studio.json"
        write(path, [document(one, "") for one in drafts])
        tasks = json.loads(path.read_text(encoding="utf-8"))
        assert [one["data"]["text"] for one in tasks] == [text_of(one, "") for one in drafts]
        assert [one["id"] for one in tasks] == sorted({one["id"] for one in tasks})


def test_conllu_reads_the_same_words_and_names(tmp_path: Path) -> None:
    """CoNLL-U: https://universaldependencies.org/format.html."""
    for seed, drafts in made(TASTE, name="conllu"):
        path = tmp_path / f"{seed}.conllu"
        sentences = []
        for one in drafts:
            rows = [
                [str(at), word, *"_" * 7, f"NE={tag}"]
                for at, (word, tag) in enumerate(zip(one.said(0), tags(one), strict=True), 1)
            ]
            sentences.append("\n".join("\t".join(row) for row in rows))
        path.write_text("\n\n".join(sentences) + "\n\n", encoding="utf-8")
        theirs = conllu.parse(path.read_text(encoding="utf-8"))
        words = [[token["form"] for token in sentence] for sentence in theirs]
        names = [
            [token["misc"]["NE"] for token in sentence if token["misc"]["NE"] != "O"]
            for sentence in theirs
        ]
        ours = list(read(path))
        assert [word for one in ours for word in one.text.split()] == [
            word for one in words for word in one
        ]
        assert sum(len(one.mentions) for one in ours) == sum(
            tag.startswith("B-") for one in names for tag in one
        )


def test_conllu_reads_what_fascicle_writes(tmp_path: Path) -> None:
    """Two columns, words and tags in IOB2; the package takes the names of columns."""
    for seed, drafts in made(TASTE, name="conll ours"):
        path = tmp_path / f"{seed}.conll"
        write(path, [worded(one) for one in drafts], options=ConllWriteOptions(docstart=False))
        theirs = conllu.parse(path.read_text(encoding="utf-8"), fields=["form", "tag"])
        rows = [(token["form"], token["tag"]) for sentence in theirs for token in sentence]
        ours = [row for one in drafts for row in zip(one.said(0), tags(one), strict=True)]
        assert rows == [row for row in ours if not row[0].startswith("#")], seed


def test_conllu_takes_a_word_that_begins_with_a_hash_for_a_comment(tmp_path: Path) -> None:
    """Columns of words and tags, as in CoNLL-2003, know no comments."""
    path = tmp_path / "a.conll"
    path.write_text("Patient\tO\n#1\tO\n\n", encoding="utf-8")
    (theirs,) = conllu.parse(path.read_text(encoding="utf-8"), fields=["form", "tag"])
    assert [token["form"] for token in theirs] == ["Patient"]
    (ours,) = read(path)
    assert ours.text == "Patient #1"


def test_fascicle_reads_what_conllu_writes(tmp_path: Path) -> None:
    """`serialize` of the package, with comments and the facts of MISC in an order of its own."""
    for seed, drafts in made(TASTE, name="conllu theirs"):
        path = tmp_path / f"{seed}.conllu"
        sentences = []
        for one in drafts:
            rows = [
                Token(id=at, form=word, misc={"NE": tag, "Gloss": "x"})
                for at, (word, tag) in enumerate(zip(one.said(0), tags(one), strict=True), 1)
            ]
            for row in rows:
                row.update(dict.fromkeys(COLUMNS, None))
            facts = {"sent_id": one.id, "text": one.parts[0]}
            columns = [*FIRST, *COLUMNS, "misc"]
            sentences.append(
                TokenList([{name: row[name] for name in columns} for row in rows], facts)
            )
        path.write_text("".join(one.serialize() for one in sentences), encoding="utf-8")
        ours = list(read(path))
        assert [word for one in ours for word in one.text.split()] == [
            word for one in drafts for word in one.said(0)
        ], seed
        assert sum(len(one.mentions) for one in ours) == sum(len(one.marks) for one in drafts)


def test_conllu_cuts_a_value_at_its_second_equals_sign() -> None:
    """MISC is a list of Key=Value; the page forbids blanks and | there, and not =."""
    (sentence,) = conllu.parse("1\tx\t_\t_\t_\t_\t_\t_\t_\tRef=a=b\n\n")
    assert sentence[0]["misc"] == {"Ref": "a"}
