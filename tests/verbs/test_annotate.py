"""``fascicle annotate``: every kind of input and output, and every way to be wrong."""

from __future__ import annotations

import gc
import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import fascicle
from fascicle.core import codec
from fascicle.core.document import Document, Mention
from fascicle.settings.folders.shipped import shipped_models

SENTENCE = "aspirin caused pain in the patient"
FOUND = [("Chemical", "aspirin"), ("Disease", "pain")]

Cli = Callable[..., Any]
Refused = Callable[..., str]


def found(document: Document) -> list[tuple[str, str]]:
    return [(m.type, m.text_in(document.text)) for m in document.layer("tiny")]


def documents(text: str) -> list[Document]:
    return [codec.decode(line) for line in text.splitlines()]


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "one.txt").write_text(SENTENCE, encoding="utf-8")
    (folder / "two.txt").write_text("no fever, no pain.\n", encoding="utf-8")
    return folder


def visible(folder: Path) -> list[str]:
    """Names of the files of a folder, without the record of what was written there."""
    return sorted(file.name for file in folder.iterdir() if not file.name.startswith("."))


def test_a_text_gives_json_lines(cli: Cli, model: Path) -> None:
    result = cli("annotate", "--model", model, "--text", SENTENCE)
    assert (result.code, result.err) == (0, "")
    (document,) = documents(result.out)
    assert (document.id, document.text, found(document)) == ("text-1", SENTENCE, FOUND)


@pytest.mark.parametrize("options", [(), ("--threads", "2")])
def test_a_short_text_gives_what_a_long_one_gives(
    cli: Cli, model: Path, options: tuple[str, ...]
) -> None:
    (short,) = documents(cli("annotate", "--model", model, "--text", SENTENCE, *options).out)
    assert gc.isenabled()  # again
    more = " ".join(["and nothing else"] * 100)
    long, _ = documents(
        cli("annotate", "--model", model, "--text", SENTENCE, "--text", more, *options).out
    )
    assert found(short) == found(long) == FOUND


def test_an_id_that_is_changed_is_said_without_being_asked(
    cli: Cli, model: Path, tmp_path: Path
) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "one.txt").write_text(SENTENCE, encoding="utf-8")
    result = cli("annotate", "--model", model, tmp_path / "a", tmp_path / "b", "--format", "tsv")
    assert result.code == 0
    assert "duplicate-id" in result.err
    assert "'one#2'" in result.err


def test_json_is_json_lines(cli: Cli, model: Path, refused: Refused) -> None:
    arguments = ("annotate", "--model", model, "--text", SENTENCE, "--json")
    assert found(documents(cli(*arguments).out)[0]) == FOUND
    assert "--json" in refused(*arguments, "--format", "tsv")


def test_standard_input(cli: Cli, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "sys.stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(SENTENCE.encode())))
    )
    (document,) = documents(cli("annotate", "-", "--model", model).out)
    assert (document.id, found(document)) == ("stdin", FOUND)


def test_options_may_stand_between_files(cli: Cli, model: Path, texts: Path) -> None:
    result = cli("annotate", texts / "one.txt", "--model", model, texts / "two.txt")
    assert [d.id for d in documents(result.out)] == ["one", "two"]


def test_a_folder_gives_a_file_for_each_text(
    cli: Cli, model: Path, texts: Path, tmp_path: Path
) -> None:
    out = tmp_path / "new" / "out"
    assert cli("annotate", texts, "--model", model, "-o", f"{out}/").code == 0
    assert visible(out) == ["one.jsonl", "two.jsonl"]
    assert found(documents((out / "one.jsonl").read_text(encoding="utf-8"))[0]) == FOUND


def test_what_is_left_out_of_a_folder_is_said(cli: Cli, model: Path, texts: Path) -> None:
    (texts / "three.TXT").write_text(SENTENCE, encoding="utf-8")
    (texts / ".hidden").touch()
    result = cli("annotate", texts, "--model", model)
    assert [d.id for d in documents(result.out)] == ["one", "three", "two"]
    assert "left out" not in result.err
    (texts / "notes.md").write_text("not read", encoding="utf-8")
    (texts / "more").mkdir()
    result = cli("annotate", texts, "--model", model)
    assert (result.code, len(documents(result.out))) == (0, 3)
    assert f"note: 2 other entries of {texts} left out" in result.err


def test_json_lines_in_standard_input(
    cli: Cli, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = (
        json.dumps({"id": "x", "text": SENTENCE}).encode()
        + b"\n"
        + json.dumps({"text": "pain"}).encode()
    )
    for options in ((), ("--input-format", "jsonl")):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(data))))
        read = documents(cli("annotate", "-", "--model", model, *options).out)
        assert [(d.id, d.text) for d in read] == [("x", SENTENCE), ("stdin:2", "pain")]


def test_fields_of_other_names(cli: Cli, refused: Refused, model: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"key": "x", "body": SENTENCE}), encoding="utf-8")
    arguments = ("annotate", path, "--model", model)
    (document,) = documents(cli(*arguments, "--field", "text=body", "--field", "id=key").out)
    assert (document.id, found(document)) == ("x", FOUND)
    assert "give NAME=VALUE, for example text=body" in refused(*arguments, "--field", "text")
    assert "did you mean 'text'" in refused(*arguments, "--field", "txt=body")


@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.data"])
def test_nested_beyond_reason(refused: Refused, model: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("[" * 20_000, encoding="utf-8")
    assert name in refused("annotate", tmp_path / name, "--model", model)


def test_several_inputs_to_one_file(cli: Cli, model: Path, texts: Path, tmp_path: Path) -> None:
    out = tmp_path / "all.tsv"
    assert cli("annotate", texts, "--model", model, "-o", out).code == 0
    lines = out.read_text(encoding="utf-8").splitlines()
    assert lines[0].split("\t") == [
        "document",
        "type",
        "start",
        "end",
        "score",
        "text",
        "links",
        "names",
    ]
    rows = [line.split("\t") for line in lines[1:3]]
    assert [(*row[:4], row[5]) for row in rows] == [
        ("one", "Chemical", "0", "7", "aspirin"),
        ("one", "Disease", "15", "19", "pain"),
    ]


def test_inputs_of_one_name_are_kept_apart(cli: Cli, model: Path, tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.txt").write_text(SENTENCE, encoding="utf-8")
    out = tmp_path / "out"
    arguments = ("annotate", tmp_path / "a", tmp_path / "b", "--model", model)
    assert [d.id for d in documents(cli(*arguments).out)] == ["x", "x#2"]
    assert cli(*arguments, "-o", out).code == 0  # no suffix and several inputs: a folder
    assert visible(out) == ["x-2.jsonl", "x.jsonl"]


@pytest.mark.parametrize(
    "name", ["jsonl", "records", "pubtator", "conll", "tsv", "csv", "predictions", "text"]
)
def test_every_format_can_be_written(
    cli: Cli, model: Path, texts: Path, tmp_path: Path, name: str
) -> None:
    result = cli("annotate", texts, "--model", model, "--format", name)
    assert result.code == 0
    losses = [line for line in result.err.splitlines() if line.startswith("fascicle: loss ")]
    assert bool(losses) == (name in ("records", "pubtator", "conll"))
    assert "Disease" in result.out
    assert (
        cli("annotate", texts, "--model", model, "--format", name, "-o", tmp_path / "out.file").code
        == 0
    )
    assert (tmp_path / "out.file").read_bytes().decode().replace("\r", "") == result.out.replace(
        "\r", ""
    )


def test_the_text_view(cli: Cli, model: Path, texts: Path) -> None:
    result = cli("annotate", texts / "one.txt", "--model", model, "--format", "text", "--no-link")
    assert result.out == (
        "one\n[aspirin]Chemical caused [pain]Disease in the patient\n\nChemical 1  Disease 1  in "
        "1 document\n"
    )
    shown = cli(
        "annotate", texts / "one.txt", "--model", model, "--format", "text", "--color", "always"
    ).out
    assert "\x1b[4;36maspirin\x1b[0m" in shown


def test_gold_is_kept_in_json_lines_and_left_out_elsewhere(
    cli: Cli, model: Path, toy_corpus: Path
) -> None:
    result = cli("annotate", toy_corpus, "--model", model)
    read = documents(result.out)
    assert len(read) == 10
    assert {m.source for d in read for m in d.mentions} == {"gold", "tiny"}
    rows = cli("annotate", toy_corpus, "--model", model, "--format", "tsv").out.splitlines()[1:]
    assert len(rows) == sum(len(d.layer("tiny")) for d in read)


def test_earlier_mentions_of_the_model_are_replaced(cli: Cli, model: Path, tmp_path: Path) -> None:
    old = Document(id="d", text=SENTENCE, mentions=(Mention(((0, 19),), "Disease", source="tiny"),))
    path = tmp_path / "old.jsonl"
    path.write_bytes(codec.encode(old) + b"\n")
    result = cli("annotate", path, "--model", model, "--verbose")
    (document,) = documents(result.out)
    assert found(document) == FOUND
    assert "replaced: 1" in result.err


@pytest.mark.parametrize(
    "content", [b"", b" \n\n", b"\xef\xbb\xbf", "\u200b\u00ad \u2060".encode()]
)
def test_empty_files(cli: Cli, model: Path, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "empty.txt"
    path.write_bytes(content)
    result = cli("annotate", path, "--model", model)
    assert result.code == 0
    assert "the text is empty" in result.err
    assert [d.mentions for d in documents(result.out)] == [()]
    assert cli("annotate", path, "--model", model, "--strict").code == 3


def test_empty_text_and_empty_file_without_suffix(cli: Cli, model: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    assert cli("annotate", "--text", "", "--model", model).code == 0
    assert cli("annotate", tmp_path / "empty", "--model", model, "--format", "text").code == 0


def test_a_damaged_file_does_not_stop_the_others(
    cli: Cli, model: Path, texts: Path, tmp_path: Path
) -> None:
    (texts / "more.txt").write_bytes(b"caf\xe9 \xff")
    result = cli("annotate", texts, "--model", model)
    assert result.code == 3
    assert [d.id for d in documents(result.out)] == ["one", "two"]
    assert "more.txt is not utf-8 text" in result.err
    assert "1 set aside" in result.err
    assert cli("annotate", texts, "--model", model, "-o", f"{tmp_path}/out/").code == 3
    assert visible(tmp_path / "out") == ["one.jsonl", "two.jsonl"]


def test_nothing_but_damaged_files(cli: Cli, model: Path, tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.txt").write_bytes(b"\x00")
    result = cli("annotate", tmp_path, "--model", model, "-o", tmp_path / "out.jsonl")
    assert result.code == 2
    assert not (tmp_path / "out.jsonl").exists()


def test_what_exists_is_kept_unless_told_otherwise(
    cli: Cli, refused: Refused, model: Path, texts: Path
) -> None:
    out = texts.parent / "out.jsonl"
    folder = texts.parent / "out"
    arguments = ("annotate", texts, "--model", model, "-o")
    for target in (out, f"{folder}/"):
        assert cli(*arguments, target).code == 0
        assert "--overwrite" in refused(*arguments, target)
        assert cli(*arguments, target, "--overwrite").code == 0


@pytest.mark.skipif(not shipped_models(), reason="the model is not in this checkout")
def test_words_that_the_tokenizer_gives_up_on_are_a_loss(cli: Cli) -> None:
    text = f"{SENTENCE} and {'a' * 300} ."
    result = cli("annotate", "--text", text)
    (document,) = documents(result.out)
    assert (result.code, document.text) == (0, text)
    assert [event.code for event in document.events if event.kind == "loss"] == ["unknown-word"]
    assert "loss unknown-word: 1" in result.err
    assert cli("annotate", "--text", text, "--strict").code == 3


def test_many_pieces_in_one_word_are_a_loss_under_strict(cli: Cli, model: Path) -> None:
    word = "aspirin" + "s" * 60  # a piece for each s, more than a window holds
    result = cli("annotate", "--model", model, "--text", f"the {word} .", "--strict")
    assert (result.code, "loss long-word: 1" in result.err) == (3, True)


def test_a_line_of_a_megabyte(cli: Cli, model: Path, tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_text((SENTENCE + " ") * 30_000, encoding="utf-8")
    result = cli("annotate", path, "--model", model, "--format", "text")
    assert result.code == 0
    assert result.out.count("[aspirin]Chemical") > 29_000


def test_a_file_that_is_no_text(refused: Refused, model: Path, tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_bytes(b"\x00\x01\x02")
    assert "binary" in refused("annotate", path, "--model", model)


@pytest.mark.parametrize(("encoding", "told"), [("cp1252", "windows-1252"), ("utf-16", "utf-16")])
def test_an_encoding_that_was_guessed_is_told(
    cli: Cli, refused: Refused, model: Path, tmp_path: Path, encoding: str, told: str
) -> None:
    path = tmp_path / "x.txt"
    path.write_bytes("café aspirin".encode(encoding))
    result = cli("annotate", path, "--model", model)
    assert [d.text for d in documents(result.out)] == ["café aspirin"]
    assert told in result.err.lower()
    assert "x.txt" in refused("annotate", path, "--model", model, "--encoding", "utf-8")


def test_the_encoding_can_be_given(cli: Cli, refused: Refused, model: Path, tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_bytes("café aspirin".encode("latin-1"))
    assert (
        documents(cli("annotate", path, "--model", model, "--encoding", "latin-1").out)[0].text
        == "café aspirin"
    )
    for wrong in ("latin-99", "base64"):
        assert "latin-1" in refused("annotate", path, "--model", model, "--encoding", wrong)


def test_wrong_calls(refused: Refused, model: Path, tmp_path: Path) -> None:
    assert "nothing to annotate" in refused("annotate", "--model", model)
    assert "--text" in refused("annotate", "x.txt", "--text", "y")
    assert "there is no file" in refused("annotate", tmp_path / "none.txt", "--model", model)
    assert "no *.txt" in refused("annotate", tmp_path, "--model", model)
    assert "integer from 1" in refused("annotate", "--text", "x", "--threads", "0")
    assert "(did you mean --format?)" in refused("annotate", "--text", "x", "--fromat", "tsv")
    for suffix, name in (("nbib", "citations"), ("ris", "citations"), ("bib", "bibtex")):
        wanted = f"(did you mean {name}?)"
        assert wanted in refused("annotate", "--text", "x", "--input-format", suffix)
    assert "(did you mean pubtator?)" in refused("annotate", "--text", "x", "--format", "pubtater")
    (tmp_path / "x.dat").write_text("some words", encoding="utf-8")
    assert "--input-format" in refused("annotate", tmp_path / "x.dat", "--model", model)
    assert "format conll" in refused(
        "annotate",
        "--documents",
        "file",
        "--input-format",
        "plain",
        tmp_path / "x.dat",
        "--model",
        model,
    )
    assert "does not exist" in refused(
        "annotate", "--text", "x", "-o", tmp_path / "no" / "out.jsonl", "--model", model
    )


def test_text_that_is_no_unicode(refused: Refused, model: Path) -> None:
    assert "surrogate" in refused("annotate", "--text", "a \udc80", "--model", model)


def test_models_that_cannot_be_used(
    refused: Refused, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fascicle.settings.folders.shipped.shipped_models", lambda: ("biomed@3",))
    assert "did you mean 'biomed'" in refused("annotate", "--text", "x", "--model", "biomde")
    (tmp_path / "foreign").mkdir()
    assert "holds no model.json" in refused(
        "annotate", "--text", "x", "--model", tmp_path / "foreign"
    )
    (tmp_path / "foreign" / "model.json").write_text('{"model_type": "bert"}', encoding="utf-8")
    assert "model.json" in refused("annotate", "--text", "x", "--model", tmp_path / "foreign")
    damaged = tmp_path / "damaged"
    shutil.copytree(model, damaged)
    weights = damaged / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-10])
    assert "damaged" in refused("annotate", "--text", "x", "--model", damaged)


def test_the_command_and_the_library_agree(cli: Cli, model: Path, texts: Path) -> None:
    read = documents(cli("annotate", texts, "--model", model).out)
    assert read == list(fascicle.load(model, link="auto").stream(fascicle.read(texts)))


def test_records_are_valid_json(cli: Cli, model: Path) -> None:
    record = json.loads(
        cli("annotate", "--model", model, "--text", SENTENCE, "--format", "records").out
    )
    assert [e["type"] for e in record["entities"]] == ["Chemical", "Disease"]


def test_an_input_is_never_written_over(refused: Refused, model: Path, tmp_path: Path) -> None:
    text = tmp_path / "paper.txt"
    text.write_text("aspirin caused pain", encoding="utf-8")
    said = refused(
        "annotate", text, "--model", model, "-o", text, "--overwrite", "--format", "text"
    )
    assert "one of the inputs" in said
    assert text.read_text(encoding="utf-8") == "aspirin caused pain"


def test_an_empty_name_is_not_this_folder(refused: Refused, model: Path) -> None:
    assert "empty file name" in refused("annotate", "", "--model", model)


def test_sentences_and_words_on_request(cli: Cli, model: Path, texts: Path, tmp_path: Path) -> None:
    arguments = ("annotate", texts, "--model", model)
    bare = documents(cli(*arguments).out)
    cut = documents(cli(*arguments, "--segments").out)
    assert [d.mentions for d in cut] == [d.mentions for d in bare]
    assert all(d.words is None and d.sentences is None for d in bare)
    assert [cut[0].text[a:b] for a, b in cut[0].words or ()] == SENTENCE.split()
    assert all(len(d.sentences or ()) == 1 for d in cut)
    given = tmp_path / "given.jsonl"
    whole = Document(id="1", text=SENTENCE, words=((0, len(SENTENCE)),), sentences=())
    given.write_bytes(codec.encode(whole))
    (kept,) = documents(cli("annotate", given, "--model", model, "--segments").out)
    assert (kept.words, kept.sentences) == (whole.words, whole.sentences)
    result = cli(*arguments, "--segments", "--format", "pubtator")
    assert "loss words: 2" in result.err


def test_strict_writing_of_scores(cli: Cli, refused: Refused, model: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.pubtator"
    arguments = ("annotate", "--text", SENTENCE, "--model", model, "-o", out, "--strict")
    assert "scores" in refused(*arguments)
    assert not out.exists()
    result = cli(*arguments, "--allow-loss", "scores,sources")
    assert (result.code, out.exists()) == (0, True)
    assert "scores" in refused(*arguments, "--allow-loss", "scors")


def test_types_and_thresholds_hold_for_names_beside_a_pack(
    cli: Cli, refused: Refused, tmp_path: Path
) -> None:
    own = tmp_path / "own.tsv"
    own.write_text("Drug\taspirin\nGene\tREST\n", encoding="utf-8")
    asked = (
        "annotate",
        "--model",
        "basic",
        "--also",
        own,
        "--text",
        "Aspirin and REST at melanoma and lung cancer.",
    )

    def said(*options: str) -> list[tuple[str, str]]:
        (document,) = documents(cli(*asked, *options).out)
        return [(mention.type, mention.text_in(document.text)) for mention in document.mentions]

    diseases = [("Disease", "melanoma"), ("Disease", "lung cancer")]
    assert said("--only", "Disease") == diseases
    assert said("--only", "Drug") == [("Drug", "Aspirin")]
    assert said("--only", "Drug,Disease") == [("Drug", "Aspirin"), *diseases]
    assert said("--threshold", "1") == [("Drug", "Aspirin"), ("Gene", "REST")]
    assert "does not look for the type 'Nothing'" in refused(*asked, "--only", "Nothing")


def test_a_list_without_a_mention_is_named(cli: Cli, tmp_path: Path) -> None:
    lists = [tmp_path / "drugs.tsv", tmp_path / "genes.tsv"]
    for path, name in zip(lists, ("aspirin", "quux"), strict=True):
        path.write_text(f"Drug\t{name}\n", encoding="utf-8")
    options = ("--also", lists[0], "--also", lists[1])
    said = cli("annotate", *options, "--text", "Aspirin or rest.").err
    assert f"note: none of the names in {lists[1]} is in the texts" in said
    assert f"none of the names in {lists[0]}" not in said


def test_own_names_and_thresholds_of_types(cli: Cli, refused: Refused, tmp_path: Path) -> None:
    own = tmp_path / "own.tsv"
    own.write_text("Drug\taspirin\nGene\tREST\n", encoding="utf-8")
    asked = (
        "annotate",
        "--model",
        "biomed-fast",
        "--also",
        own,
        "--text",
        "Aspirin at rest; lithium causes tremor.",
    )

    def said(*options: str) -> list[tuple[str, str]]:
        (document,) = documents(cli(*asked, *options).out)
        return [(mention.type, mention.text_in(document.text)) for mention in document.mentions]

    assert said() == [("Drug", "Aspirin"), ("Chemical", "lithium"), ("Disease", "tremor")]
    assert "--case any" in cli(*asked).err
    assert ("Gene", "rest") in said("--case", "any")
    assert ("Drug", "Aspirin") not in said("--case", "exact")
    assert said("--threshold", "Disease=1,Chemical=0.1") == [
        ("Drug", "Aspirin"),
        ("Chemical", "lithium"),
    ]
    assert said("--threshold", "1") == said("--min-score", "1") == [("Drug", "Aspirin")]
    assert said("--only", "Drug,Disease") == [("Drug", "Aspirin"), ("Disease", "tremor")]
    for wrong in ("Nothing=0.5", "Disease=2", "Disease=", "high", "Disease=0.5,Disease=0.6"):
        refused(*asked, "--threshold", wrong)
    for wrong in ("Disease=0.5,0.4", "=0.5"):
        assert "names no type" in refused(*asked, "--threshold", wrong)
    for empty in ("", " , "):
        assert "no type was given" in refused(*asked, "--only", empty)
    assert "no such file" in refused("annotate", "--text", "x", "--also", tmp_path / "none.tsv")
    assert "would be lost" in refused(*asked, "-o", own, "--overwrite")


def test_variants_beside_what_the_model_finds(
    cli: Cli, model: Path, texts: Path, tmp_path: Path
) -> None:
    (texts / "two.txt").write_text("V600E caused pain", encoding="utf-8")
    result = cli("annotate", "--model", model, "--variants", texts, "-o", tmp_path / "new.jsonl")
    assert result.code == 0
    one, two = documents((tmp_path / "new.jsonl").read_text(encoding="utf-8"))
    assert (found(one), one.layer("variants")) == (FOUND, ())
    assert ("Disease", "pain") in found(two)
    assert [link.curie for mention in two.layer("variants") for link in mention.links] == [
        "HGVS:p.Val600Glu"
    ]
    # it is there
    assert (
        cli("annotate", "--model", model, "--variants", texts, "-o", tmp_path / "new.jsonl").code
        == 2
    )


def test_variants_among_the_types_that_are_asked_for(
    cli: Cli, refused: Refused, model: Path, tmp_path: Path
) -> None:
    names = tmp_path / "names.tsv"
    names.write_text("Disease\tpain\nDrug\tV600E\n")
    both = {("Disease", "pain"), ("SequenceVariant", "V600E")}
    for place in (model, names):
        asked = ("annotate", "--model", place, "--json", "--text", "V600E caused pain")
        for only, expected in (
            ("SequenceVariant", both - {("Disease", "pain")}),
            ("Disease", both),
            ("SequenceVariant,Disease", both),
        ):
            (document,) = documents(cli(*asked, "--variants", "--only", only).out)
            assert {(one.type, one.text) for one in document} == expected
        assert "'SequenceVariant'" in refused(*asked, "--only", "SequenceVariant")
        assert "'Variant'" in refused(*asked, "--variants", "--only", "Variant")
    found = fascicle.load(names, only=["SequenceVariant"], variants=True)
    assert (found.types, [one.text for one in found("V600E caused pain")]) == (
        ("SequenceVariant",),
        ["V600E"],
    )


@pytest.mark.parametrize(
    ("options", "links"), [((), True), (("--no-link",), False), (("--format", "conll"), False)]
)
def test_links_of_variants_are_those_that_were_asked_for(
    cli: Cli, model: Path, options: tuple[str, ...], links: bool
) -> None:
    result = cli("annotate", "--model", model, "--variants", *options, "--text", "V600E")
    assert result.code == 0
    assert "loss links" not in result.err
    assert ("p.Val600Glu" in result.out) == links
    assert "SequenceVariant" in result.out
