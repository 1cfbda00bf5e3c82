"""Out-of-vocabulary density, against loops over the words."""

from __future__ import annotations

from pathlib import Path

import pytest

from fascicle.core.document import Document
from fascicle.errors import InputError
from fascicle.formats.sources import source_sha256
from fascicle.settings.recipes.corpora import CorpusSettings
from fascicle.training.experiments.grid import read_grid
from studies import common
from studies.bundling import oov as script
from studies.common import GRIDS

TRAIN = [["Aspirin", "helps", "."], ["pain", "helps", "nobody", "."]]
TEST = [["aspirin", "helps", "PAIN", "."], ["New", "New", "words", "."], ["pain"]]


def write(path: Path, sentences: list[list[str]]) -> str:
    lines = ("".join(f"{word}\tO\n" for word in sentence) for sentence in sentences)
    path.write_text("\n".join(lines), encoding="utf-8")
    return str(path)


def test_density_is_that_of_loops(tmp_path: Path) -> None:
    paths = [
        write(tmp_path / f"{name}.tsv", text)
        for name, text in (("train", TRAIN), ("dev", TRAIN), ("test", TEST))
    ]
    train, dev, test = paths
    found = script.of_corpus(
        CorpusSettings(train=train, dev=dev, test=test, format="conll", documents="sentence")
    )

    known = [word for sentence in TRAIN for word in sentence]
    words = oov = folded = 0
    seen: list[str] = []
    for sentence in TEST:
        for word in sentence:
            words += 1
            oov += word not in known
            folded += not any(word.lower() == other.lower() for other in known)
            seen.append(word)
    assert found["test"] == {
        "words": words,
        "oov": oov,
        "density": oov / words,
        "density_folded": folded / words,
        "distinct": len(set(seen)),
        "distinct_oov": len([word for word in set(seen) if word not in known]),
    }
    assert (words, oov, folded) == (9, 5, 3)  # by hand: aspirin, PAIN, New, New, words
    assert (found["dev"]["density"], found["train_words"]) == (0.0, 7)
    assert found["sha256"] == {
        "train": source_sha256(train),
        "dev": source_sha256(dev),
        "test": source_sha256(test),
    }


def test_no_word_and_no_words() -> None:
    assert script.density(script.words_of([]), script.words_of([]))["density"] == 0.0
    with pytest.raises(InputError, match="the document 'x' comes without words"):
        script.words_of([Document(id="x", text="some text")])


def test_the_densities_kept_are_of_the_corpora_of_the_grid(fascicle_data: Path) -> None:
    results = common.result("bundling-oov")["corpora"]
    corpora = script.corpora_of_grid(read_grid(GRIDS / "bundling.toml"))
    assert list(results) == list(corpora)
    for name, corpus in corpora.items():
        assert results[name]["sha256"] == {
            p: source_sha256(getattr(corpus, p)) for p in ("train", "dev", "test")
        }
    assert script.of_corpus(corpora["conll04"]) == results["conll04"]
