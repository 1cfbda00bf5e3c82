"""``fascicle corpus fetch`` on a server of this machine; no publisher is asked."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.verbs.tasks.test_index_fetch import Publisher, publisher  # noqa: F401 - a fixture

from fascicle.errors import InputError, UsageError
from fascicle.formats import read
from fascicle.verbs.tasks.corpus_fetch import corpora, fetch

pytestmark = pytest.mark.loopback
CORPUS = b"Aspirin\tB-Chemical\nhelps\tO\n\n"


def table(folder: Path, *addresses: str, name: str = "mine") -> Path:
    parts = "".join(
        f'{part} = "{url}"\n' for part, url in zip(("train", "test"), addresses, strict=False)
    )
    facts = 'title = "Mine"\npage = "https://example.org"\nlicence = "CC0-1.0"\n'
    path = folder / "table.toml"
    path.write_text(f'["{name}"]\n{facts}["{name}".parts]\n{parts}', encoding="utf-8")
    return path


@pytest.fixture
def rows(publisher: Publisher, tmp_path: Path) -> Path:  # noqa: F811
    publisher.content = CORPUS
    host = f"http://127.0.0.1:{publisher.port}"
    return table(tmp_path, f"{host}/a/train.tsv", f"{host}/a/test.tsv")


def test_the_parts_of_a_corpus_are_fetched_once(
    publisher: Publisher,  # noqa: F811
    rows: Path,
    tmp_path: Path,
) -> None:
    sentences: list[str] = []
    files = fetch("mine", tmp_path / "corpora", table=rows, told=sentences.append)
    assert [file.path for file in files] == [
        str(tmp_path / "corpora" / "mine" / name) for name in ("train.tsv", "test.tsv")
    ]
    assert "Mine, train: 28 bytes" in sentences[0]
    assert "licence: CC0-1.0; see https://example.org" in sentences[0]
    assert [mention.type for document in read(files[0].path) for mention in document] == [
        "Chemical"
    ]
    assert len(publisher.gets) == 2
    assert fetch("mine", tmp_path / "corpora", table=rows) == files
    assert len(publisher.gets) == 2
    record = json.loads((tmp_path / "corpora" / "mine" / "fetched.json").read_bytes())
    assert [record[part]["sha256"] for part in ("train", "test")] == [f.sha256 for f in files]
    assert {(of["page"], of["licence"]) for of in record.values()} == {
        ("https://example.org", "CC0-1.0")
    }
    publisher.content, publisher.tag = CORPUS * 2, '"two"'
    with pytest.raises(InputError, match="is another file than on"):
        fetch("mine", tmp_path / "corpora", table=rows)


def test_without_a_folder_nothing_is_fetched(publisher: Publisher, rows: Path) -> None:  # noqa: F811
    assert fetch("mine", table=rows) == ()
    assert publisher.gets == []


def test_a_folder_is_made_with_those_above_it_when_the_publisher_has_answered(
    publisher: Publisher,  # noqa: F811
    rows: Path,
    tmp_path: Path,
    cli: Callable[..., Any],
) -> None:
    gone = table(tmp_path, "http://127.0.0.1:9/a.tsv")
    assert cli("corpus", "fetch", "mine", "--table", gone, "-o", tmp_path / "none").code == 2
    assert not (tmp_path / "none").exists()
    table(tmp_path, f"http://127.0.0.1:{publisher.port}/a/train.tsv")
    deep = cli("corpus", "fetch", "mine", "--table", rows, "-o", tmp_path / "a" / "b" / "c")
    assert (deep.code, (tmp_path / "a" / "b" / "c" / "mine" / "train.tsv").is_file()) == (0, True)
    (tmp_path / "file").touch()
    wrong = cli("corpus", "fetch", "mine", "--table", rows, "-o", tmp_path / "file")
    sentence = "cannot be made a folder: Not a directory; give another place"
    assert (wrong.code, sentence in wrong.err) == (2, True), wrong.err


def test_the_command_lists_and_fetches(
    rows: Path, tmp_path: Path, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    listed = cli("corpus", "fetch").out.splitlines()
    assert len(listed) == len(corpora())
    assert all(line.count("\t") == 3 for line in listed)
    fetched = cli("corpus", "fetch", "mine", "--table", rows, "-o", "new")
    assert fetched.out.split() == ["new/mine/train.tsv", "new/mine/test.tsv"]
    assert "new/mine/test.tsv has the SHA-256 " in fetched.err
    wrong = cli("corpus", "fetch", "bc5cdrr")
    assert (wrong.code, "did you mean" in wrong.err) == (2, True)


@pytest.mark.parametrize(
    ("name", "urls", "message"),
    [
        ("../mine", ["https://a.org/x"], "is not allowed; name it with letters"),
        ("mine", ["https://a.org/x", "https://b.org/x"], "files have different names"),
        ("mine", [], "give parts"),
        ("mine", ["ftp://a.org/x"], "only addresses with https"),
        ("mine", ["https://a.org/"], "ends with no name of a file"),
    ],
)
def test_tables_are_checked(tmp_path: Path, name: str, urls: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        corpora(table(tmp_path, *urls, name=name))


def test_every_public_corpus_has_what_is_needed() -> None:
    rows = corpora()
    assert len(rows) >= 10
    for name, row in rows.items():
        assert row.page.startswith("https://"), name
        assert {"train", "train-dev"} & row.parts.keys(), name
        assert "test" in row.parts, name
        assert all(url.startswith("https://") for url in row.parts.values()), name
        assert all(("TrainDev" in url) == (part == "train-dev") for part, url in row.parts.items())
        assert "; the texts keep " in row.licence, name
        # that of the software of a repository is none of its data
        assert not row.licence.startswith("MIT"), name
    # https://nactem.ac.uk/anatomytagger and https://github.com/openbiocorpora/bionlp-st-2013-cg
    assert all(rows[name].licence.startswith("CC-BY-SA") for name in ("anatem", "bionlp13cg"))
