"""What the toolkit writes, it can score: every format as a system of ``evaluate``, ``compare``
and ``combine``.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from fascicle.core.document import Document, Mention
from fascicle.formats import catalogue, write

Cli = Callable[..., Any]
Refused = Callable[..., str]

UNSCORED = {"text", "html", "xlsx"}  # for people; the error for a workbook names CSV
ONE = ("webanno", "cas")  # whose files are one document
FORMATS = [
    name
    for name in catalogue.ANNOTATED
    if name not in (*UNSCORED, *ONE) and (name != "parquet" or importlib.util.find_spec("pyarrow"))
]
TEXTS = {
    "first": "Lung cancer (NSCLC) was seen.\nAspirin caused pain, \U0001f600 and fever in "
    "caf\u00e9s.",
    "second": "Nothing was found here. Nothing at all.",
    "third": "Aspirin.",
}
GOLD = {
    "first": ["Lung cancer", "NSCLC", "Aspirin", "pain", "fever"],
    "second": ["Nothing"],
    "third": ["Aspirin"],
}
SAID = {
    "first": ["Lung cancer", "NSCLC", "Aspirin caused", "pain"],
    "second": ["found"],
    "third": ["Aspirin"],
}


def corpus(words: Mapping[str, list[str]], source: str) -> list[Document]:
    def mentions(identifier: str) -> tuple[Mention, ...]:
        text = TEXTS[identifier]
        return tuple(
            Mention(
                ((text.index(word), text.index(word) + len(word)),),
                "Disease",
                source=source,
                score=0.5,
            )
            for word in words[identifier]
        )

    return [
        Document(id=identifier, text=text, mentions=mentions(identifier))
        for identifier, text in TEXTS.items()
    ]


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    write(tmp_path / "gold.jsonl", corpus(GOLD, "gold"), format="jsonl")
    return tmp_path / "gold.jsonl"


@pytest.fixture
def system(cli: Cli, tmp_path: Path) -> Callable[..., Path]:
    """Writes the predictions, or one of them changed, in a format."""

    def make(format_name: str, name: str = "said", words: Mapping[str, list[str]] = SAID) -> Path:
        given = tmp_path / f"{name}.source.fascicle.jsonl"
        if not given.exists():
            write(given, corpus(words, name), format="jsonl")
        item = catalogue.FORMATS[format_name]
        path = tmp_path / f"{name}-{format_name}{'' if item.many else item.suffixes[0]}"
        result = cli("corpus", "convert", given, "-o", path, "--format", format_name)
        assert result.code == 0, result.err
        return path

    return make


def counts(result: Any) -> tuple[int, int, int]:
    assert result.code == 0, result.err
    row = json.loads(result.out)["micro"]
    return row["tp"], row["fp"], row["fn"]


@pytest.mark.parametrize("format_name", FORMATS)
def test_evaluate(cli: Cli, gold: Path, system: Callable[..., Path], format_name: str) -> None:
    assert counts(cli("evaluate", gold, system(format_name), "--json")) == (4, 2, 3)


def test_evaluate_brat_zip(
    cli: Cli, gold: Path, system: Callable[..., Path], tmp_path: Path
) -> None:
    given = system("brat").with_name("said.source.fascicle.jsonl")
    assert (
        cli("corpus", "convert", given, "-o", tmp_path / "said.zip", "--format", "brat").code == 0
    )
    assert counts(cli("evaluate", gold, tmp_path / "said.zip", "--json")) == (4, 2, 3)


@pytest.mark.parametrize("form", [name for name in FORMATS if catalogue.FORMATS[name].reads])
def test_every_corpus_format_is_gold_too(cli: Cli, system: Callable[..., Path], form: str) -> None:
    gold = system(form, "gold", GOLD)
    sources = {name: system(name) for name in FORMATS}
    # Files without texts fit to nothing but the same ids and, where they hold hashes, the very same
    # texts.
    unfit = {
        "conll": {name for name in FORMATS if not catalogue.FORMATS[name].reads},
        "pubtator": {"predictions"},
    }
    known = {name: path for name, path in sources.items() if name not in unfit.get(form, ())}
    assert {
        name: counts(cli("evaluate", gold, path, "--json")) for name, path in known.items()
    } == dict.fromkeys(known, (4, 2, 3))


@pytest.mark.parametrize(
    "format_name", [name for name in FORMATS if not catalogue.FORMATS[name].reads]
)
def test_gold_without_ids_and_predictions_without_texts(
    refused: Refused, system: Callable[..., Path], format_name: str
) -> None:
    said = refused("evaluate", system("conll", "gold", GOLD), system(format_name))
    assert "'gold-conll:1'" in said


def test_another_text_is_told_by_its_hash(refused: Refused, system: Callable[..., Path]) -> None:
    """PubTator has a blank in the place of each line break, and only the text itself could show
    it.
    """
    assert "'first'" in refused("evaluate", system("pubtator", "gold", GOLD), system("predictions"))


def test_compare_all_formats(cli: Cli, gold: Path, system: Callable[..., Path]) -> None:
    paths = [system(name) for name in FORMATS]
    result = cli("compare", gold, *paths, "--no-search", "--resamples", 10, "--json")
    assert result.code == 0, result.err
    found = [
        tuple(row["measured"]["counts"][key] for key in ("tp", "fp", "fn"))
        if "measured" in row
        else (row["tp"], row["fp"], row["fn"])
        for row in json.loads(result.out)["systems"]
    ]
    assert found == [(4, 2, 3)] * len(paths)


@pytest.mark.parametrize("format_name", FORMATS)
def test_combine_with_each_format(
    cli: Cli, gold: Path, system: Callable[..., Path], format_name: str
) -> None:
    other = system("jsonl", "other", GOLD)
    out = gold.with_name("union.predictions.jsonl")
    result = cli("combine", "union", other, system(format_name), "-o", out)
    assert result.code == 0, result.err
    assert counts(cli("evaluate", gold, out, "--json")) == (7, 2, 0)


@pytest.mark.parametrize("command", [["evaluate"], ["compare", "--no-search"]])
def test_a_text_for_reading_is_refused(
    refused: Refused, gold: Path, system: Callable[..., Path], command: list[str]
) -> None:
    path = system("text")
    assert path.name in refused(
        *command, gold, path, *([system("jsonl")] if command[0] == "compare" else [])
    )


def test_a_first_document_of_many_mentions(cli: Cli, tmp_path: Path) -> None:
    """The key that tells a prediction file stands behind the mentions."""
    text = "pain " * 200
    mentions = tuple(
        Mention(((at, at + 4),), "Disease", score=0.123456789) for at in range(0, len(text), 5)
    )
    documents = [
        Document(id="long", text=text, mentions=mentions),
        Document(id="none", text="none"),
    ]
    gold = tmp_path / "gold.jsonl"
    write(gold, documents, format="jsonl")
    paths = [tmp_path / f"{name}.jsonl" for name in ("one", "two")]
    for path in paths:
        assert cli("corpus", "convert", gold, "-o", path, "--format", "predictions").code == 0
    assert counts(cli("evaluate", gold, paths[0], "--json")) == (200, 0, 0)
    assert cli("compare", gold, *paths, "--no-search", "--resamples", 10).code == 0
    both = tmp_path / "both.predictions.jsonl"
    assert cli("combine", "majority", *paths, "-o", both).code == 0
    assert counts(cli("evaluate", gold, both, "--json")) == (200, 0, 0)


def test_column_files_alone(cli: Cli, system: Callable[..., Path], tmp_path: Path) -> None:
    paths = [system("conll"), system("conll", "other", GOLD)]
    out = tmp_path / "both.tsv"
    result = cli("combine", "union", *paths, "-o", out)
    assert (result.code, "order" in result.err) == (0, True)
    assert counts(cli("evaluate", paths[0], out, "--json")) == (6, 3, 0)
