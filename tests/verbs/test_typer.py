"""``fascicle vectors`` and ``fascicle typer`` from end to end on the toy corpus."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from fascicle.cli import main
from fascicle.core.document import Document, Mention
from fascicle.core.files.source import Source
from fascicle.formats import write
from fascicle.formats.distributions import read as read_distributions
from fascicle.formats.predictions import read as read_predictions
from fascicle.text.vectors import read_vectors

pytest.importorskip("torch")


@pytest.fixture(scope="module")
def typer_run(toy_corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("typer")
    vectors = folder / "toy.vec"
    options = ["--dimension", "8", "--passes", "5", "--window", "3"]
    assert main(["vectors", str(toy_corpus), "-o", str(vectors), *options]) == 0
    (folder / "recipe.toml").write_text(
        f'name = "toy"\n[corpus]\ntrain = "{toy_corpus}"\ntest = "{toy_corpus}"\n[vectors]\npath '
        '= "toy.vec"\n'
        "[typer]\nupdates = 40\nhidden = 8\nlearning_rate = 0.02\n",
        encoding="utf-8",
    )
    assert (
        main(["train", str(folder / "recipe.toml"), "-o", str(folder / "run"), "--threads", "1"])
        == 0
    )
    return folder


def test_vectors_of_a_corpus_hold_its_words(typer_run: Path) -> None:
    found = read_vectors(typer_run / "toy.vec")
    assert found.dimension == 8
    assert {"aspirin", "lung", "<unk>"} <= set(found.words)


def test_vectors_see_no_test_part_unless_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for part, word in (("train", "fever"), ("test", "gout")):
        folder = tmp_path / "corpus" / part
        folder.mkdir(parents=True)
        (folder / "a.txt").write_text(f"{word} of {word}", encoding="utf-8")
        (folder / "a.ann").write_text("", encoding="utf-8")
    with zipfile.ZipFile(tmp_path / "corpus.zip", "w") as archive:
        for path in sorted((tmp_path / "corpus").rglob("*.*")):
            archive.write(path, path.relative_to(tmp_path).as_posix())
    out, options = tmp_path / "out.vec", ("--dimension", "2", "--passes", "1")
    for given in ("corpus", "corpus.zip", "corpus.zip/corpus"):
        assert main(["vectors", str(tmp_path / given), "-o", str(out), *options]) == 2
        assert "holds the part 'test' beside the training part" in capsys.readouterr().err
        assert not out.exists()
    for given, words in (
        (("corpus/train",), {"fever", "of"}),
        (("corpus", "--all-parts"), {"fever", "of", "gout"}),
    ):
        assert (
            main(
                [
                    "vectors",
                    str(tmp_path / given[0]),
                    *given[1:],
                    "-o",
                    str(out),
                    "--overwrite",
                    *options,
                ]
            )
            == 0
        )
        assert set(read_vectors(out).words) - {"<unk>"} == words


def test_vectors_are_not_overwritten(
    typer_run: Path, toy_corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["vectors", str(toy_corpus), "-o", str(typer_run / "toy.vec")]) == 2
    assert "exists already" in capsys.readouterr().err


def test_training_says_what_its_figures_are(
    typer_run: Path, capsys: pytest.CaptureFixture[str], toy_corpus: Path
) -> None:
    score = [
        "typer",
        "score",
        str(typer_run / "run" / "model"),
        str(toy_corpus),
        "--train",
        str(toy_corpus),
    ]
    assert main(score) == 0
    shown = capsys.readouterr().out
    assert "typing accuracy" in shown
    assert "This is not recognition" in shown
    assert "gold \\ said" in shown
    assert main([*score, "--json"]) == 0
    value = json.loads(capsys.readouterr().out)
    kept = json.loads((typer_run / "run" / "scores.json").read_text())["test"]
    assert value == kept
    assert value["lookup_accuracy"] == 1.0


def test_distributions_are_written_and_drawn(
    typer_run: Path, toy_corpus: Path, tmp_path: Path
) -> None:
    target = tmp_path / "said.jsonl"
    score = [
        "typer",
        "score",
        str(typer_run / "run" / "model"),
        str(toy_corpus),
        "--train",
        str(toy_corpus),
    ]
    assert main([*score, "--distributions", str(target), "--threads", "1"]) == 0
    header, stream = read_distributions(target)
    entries = list(stream)
    accuracy = json.loads((typer_run / "run" / "scores.json").read_text())["test"]["typing"][
        "accuracy"
    ]
    assert sum(entry.found for entry in entries) / len(entries) == pytest.approx(accuracy)
    for entry in entries:
        best = max(
            range(len(header.types)), key=lambda at, entry=entry: entry.probabilities[1 + at]
        )
        assert entry.found is (header.types[best] == entry.type)
        assert entry.probabilities[0] == 0.0
        assert sum(entry.probabilities) == pytest.approx(1.0, abs=1e-5)
    assert main([*score, "--distributions", str(target)]) == 2  # it exists
    assert main([*score, "--distributions", str(tmp_path / "said.txt")]) == 2
    pytest.importorskip("matplotlib")
    run = str(typer_run / "run")
    assert main(["plot", "learning", run, "-o", str(tmp_path / "learning.svg")]) == 0


def test_the_spans_of_another_system_are_typed(
    typer_run: Path, toy_corpus: Path, tmp_path: Path
) -> None:
    proposals = tmp_path / "spans.tsv"
    proposals.write_text(
        "document\ttype\tstart\tend\tscore\ntoy/1\tX\t4\t8\t0.5\n", encoding="utf-8"
    )
    from fascicle.formats.files import read

    document = next(iter(read(toy_corpus)))
    proposals.write_text(proposals.read_text().replace("toy/1", document.id), encoding="utf-8")
    out = tmp_path / "typed.tsv"
    command = [
        "typer",
        "predict",
        str(typer_run / "run" / "model"),
        str(toy_corpus),
        "-o",
        str(out),
    ]
    assert main([*command, "--spans", str(proposals)]) == 0
    (prediction,) = [p for p in read_predictions(Source(path=str(out))) if p.mentions]
    assert prediction.id == document.id
    assert [m.spans for m in prediction.mentions] == [((4, 8),)]
    assert prediction.mentions[0].type in ("Chemical", "Disease")


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("ID\tX\t4\t9999\t", "9,999"),
        ("other\tX\t4\t8\t", "not among the texts"),
        ("ID\tX\t3\t4\t", "no word"),
    ],
)
def test_spans_that_are_none_are_refused_in_one_sentence(
    typer_run: Path,
    toy_corpus: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    row: str,
    said: str,
) -> None:
    from fascicle.formats.files import read

    document = next(iter(read(toy_corpus)))
    assert document.text[3] == " "
    proposals = tmp_path / "spans.tsv"
    content = "document\ttype\tstart\tend\tscore\n" + row.replace("ID", document.id) + "\n"
    proposals.write_text(content, encoding="utf-8")
    command = [
        "typer",
        "predict",
        str(typer_run / "run" / "model"),
        str(toy_corpus),
        "-o",
        str(tmp_path / "o.tsv"),
    ]
    assert main([*command, "--spans", str(proposals)]) == 2
    shown = capsys.readouterr().err
    assert said in shown
    assert "Traceback" not in shown


def test_a_document_that_a_table_cannot_hold_is_set_aside(
    typer_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts, spans = tmp_path / "texts.jsonl", tmp_path / "spans.jsonl"
    mention = Mention(((0, 7),), "X", source="seen")
    documents = [
        Document(id=name, text="aspirin helps", mentions=(mention,)) for name in ("a", "b\tc", "d")
    ]
    write(texts, documents, format="native")
    write(spans, documents, format="native")
    out = tmp_path / "typed.tsv"
    command = [
        "typer",
        "predict",
        str(typer_run / "run"),
        str(texts),
        "--spans",
        str(spans),
        "--threads",
        "1",
    ]
    assert main([*command, "-o", str(out)]) == 3
    said = capsys.readouterr().err
    assert "set aside: " in said
    assert "3 documents in: 2 written" in said
    assert [p.id for p in read_predictions(Source(path=str(out)))] == ["a", "d"]
    assert main([*command, "-o", str(tmp_path / "typed.jsonl")]) == 0  # JSON Lines hold every id
    write(texts, documents[1:2], format="native", overwrite=True)
    write(spans, documents[1:2], format="native", overwrite=True)
    assert main([*command, "-o", str(tmp_path / "none.tsv")]) == 2
    assert not (tmp_path / "none.tsv").exists()


def test_finding_needs_a_model_that_can(
    typer_run: Path, toy_corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = [
        "typer",
        "predict",
        str(typer_run / "run" / "model"),
        str(toy_corpus),
        "-o",
        str(tmp_path / "o.tsv"),
    ]
    assert main(command) == 2
    assert "cannot find any" in capsys.readouterr().err


def test_predictions_have_the_name_of_a_prediction_file(
    typer_run: Path, toy_corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("o.html", "o.txt", "o.conll"):
        command = [
            "typer",
            "predict",
            str(typer_run / "run" / "model"),
            str(toy_corpus),
            "-o",
            str(tmp_path / name),
        ]
        assert main(command) == 2
        assert name in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_typer_alone_names_its_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["typer"]) == 2
    assert "train, predict or score" in capsys.readouterr().err


def test_typer_train_is_another_name(typer_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    again = typer_run / "again"
    assert (
        main(["typer", "train", str(typer_run / "recipe.toml"), "-o", str(again), "--threads", "1"])
        == 0
    )
    assert "fascicle train" in capsys.readouterr().err
    one, other = (folder / "model" / "model.safetensors" for folder in (typer_run / "run", again))
    assert one.read_bytes() == other.read_bytes()
