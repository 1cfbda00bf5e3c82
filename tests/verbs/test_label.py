"""``fascicle label``: raw text to weak labels, without what must not be learned, and on after a
kill.
"""

from __future__ import annotations

import gzip
import inspect
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

import fascicle.verbs.tasks.label as task
from fascicle.core import codec
from fascicle.core.document import Document, Mention
from fascicle.core.files.part import part_paths
from fascicle.core.tags import SCHEMES
from fascicle.errors import OutputError
from fascicle.formats.exclusions import write_exclusions
from fascicle.formats.files import read
from fascicle.formats.weak_labels import ERROR, End, read_entries, read_header, read_labels
from fascicle.loading import load
from fascicle.text.annotator import TagSpace, map_to_words
from fascicle.verbs.corpus_check import CheckRequest, run_checks
from fascicle.verbs.label import read_label_facts
from fascicle.verbs.tasks.annotate import ProgressCallbacks
from fascicle.verbs.tasks.label import LabelRequest, label_files

WORDS = (
    "patient",
    "with",
    "lung cancer",
    "had",
    "fever",
    "and",
    "pain",
    "after",
    "aspirin",
    "for",
    "heart failure",
)
Cli = Callable[..., Any]
Refused = Callable[..., str]


def texts(count: int, *, words: int = 20) -> list[Document]:
    draw = random.Random(1)
    return [Document(id=f"d{n}", text=" ".join(draw.choices(WORDS, k=words))) for n in range(count)]


def written(path: Path, documents: list[Document]) -> Path:
    path.write_bytes(b"".join(codec.encode(one) + b"\n" for one in documents))
    return path


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return written(tmp_path / "raw.jsonl", texts(60))


def test_words_with_characters_that_print_nothing_are_whole(tmp_path: Path) -> None:
    text = "Li\u00adthium caused dia\u200bbetes."
    made = LabelRequest(
        files=(str(written(tmp_path / "raw.jsonl", [Document(id="1", text=text)])),),
        output=str(tmp_path / "x.labels"),
        model="biomed-fast",
    )
    label_files(made)
    (labels,) = read_labels(tmp_path / "x.labels", [Document(id="1", text=text)])
    assert labels.document.text == "Lithium caused diabetes."
    assert len(labels.words) == 4


def test_a_model_is_asked_and_its_words_are_kept(
    cli: Cli, model: Path, corpus: Path, tmp_path: Path
) -> None:
    out = tmp_path / "x.labels"
    result = cli("label", model, corpus, "-o", out, "--note", "texts: CC0", "--floor", "0.05")
    assert (result.code, result.out) == (0, "")
    assert "60 documents in: 60 written" in result.err
    header = read_header(out)
    predictor, documents = load(model), list(read(corpus))
    assert (header.model, header.types, header.note, header.floor) == (
        predictor.name,
        predictor.types,
        "texts: CC0",
        0.05,
    )
    assert header.options["texts"] == str(corpus)
    mentions = 0
    for one, tagged in zip(read_labels(out, documents), predictor.tag(documents), strict=True):
        own = map_to_words(tagged.patch.add, tagged.words, types=header.types)
        mentions += len(own.spans)
        shape = {"words": len(one.words), "types": len(header.types)}
        np.testing.assert_array_equal(one.tags, own.tags(SCHEMES[header.scheme], **shape))
        kept = (tagged.probabilities >= 0.05) | one.tags
        # batches differ between the two, and with them the last bits of a probability
        np.testing.assert_allclose(
            one.probabilities, np.where(kept, tagged.probabilities, 0), atol=ERROR + 1e-4
        )
    assert mentions > 100
    facts = read_label_facts(out)
    assert (facts.end.documents, sum(facts.end.mentions.values())) == (60, mentions)
    content = gzip.decompress(out.read_bytes()).decode()
    assert "cancer" not in content


def test_the_same_texts_give_the_same_bytes(
    cli: Cli, names: Path, corpus: Path, tmp_path: Path
) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    for out in (one, two):
        assert cli("label", names, corpus, "-o", out).code == 0
    assert one.read_bytes() == two.read_bytes()
    account = label_files(
        LabelRequest(model=str(names), files=(str(corpus),), output=str(two), overwrite=True)
    )
    assert (account.written, account.documents) == (60, 60)
    assert one.read_bytes() == two.read_bytes()


def test_what_is_in_a_file_is_shown(cli: Cli, names: Path, corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "x.labels"
    cli("label", names, corpus, "-o", out)
    shown = cli("label", "--show", out)
    assert (shown.code, shown.err) == (0, "")
    told = msgspec.json.decode(cli("label", "--show", out, "--json").out)
    text = " ".join(document.text for document in read(corpus))
    assert told["documents"] == 60
    assert told["types"]["Chemical"]["mentions"] == text.split().count("aspirin")
    assert told["types"]["Disease"]["tagged"] == text.split().count("fever") + 2 * text.count(
        "lung cancer"
    )
    assert told["types"]["Disease"]["expected"] == told["types"]["Disease"]["tagged"]
    for word in ("Chemical", "Disease", "names", "none", "rules@1", "60"):
        assert word in shown.out


def tens(documents: Iterable[Document]) -> Iterator[list[Document]]:
    documents = iter(documents)
    while chunk := list(islice(documents, 10)):
        yield chunk


# A run whose predictor takes its time, in blocks of ten documents, with an entry of the journal for
# each.
SLOW = f"""
from __future__ import annotations
import sys, time
import fascicle.verbs.tasks.label as task
from functools import partial
from itertools import islice
from fascicle.cli import main
from fascicle.core.files.part import PartFile
from fascicle.loading import load

def slow(*given, **options):
    predictor = load(*given, **options)
    tag = predictor.tag
    predictor.tag = lambda documents: (time.sleep(0.004 * len(documents)), tag(documents))[1]
    return predictor

task.load = slow
task.PartFile = partial(PartFile, every=0.0)
{inspect.getsource(tens)}
task.chunks = tens
sys.exit(main(sys.argv[1:]))
"""


def slow(*argv: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", SLOW, *map(str, argv)], stderr=subprocess.PIPE, text=True
    )


@pytest.mark.parametrize("teacher", ["names", pytest.param("model", marks=pytest.mark.slow)])
def test_a_run_that_is_killed_goes_on_to_the_same_bytes(
    teacher: str,
    cli: Cli,
    request: pytest.FixtureRequest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(task, "chunks", tens)
    of = request.getfixturevalue(teacher)
    whole, out = tmp_path / "whole", tmp_path / "out"
    raw = written(tmp_path / "many.jsonl", texts(400))
    protected = written(tmp_path / "test.jsonl", [Document(id="d7", text="x"), texts(3)[2]])
    arguments = ("label", of, raw, "--against", protected, "-o")
    result = cli(*arguments, whole)
    assert result.code == 0, result.err
    part, journal = part_paths(out)
    for entries in (2, 5):
        process, until = slow(*arguments, out, "--resume"), time.monotonic() + 60
        while not (journal.exists() and journal.read_bytes().count(b"\n") > entries):
            assert process.poll() is None, process.communicate()[1]
            assert time.monotonic() < until
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert part.exists()
        assert not out.exists()
    result = cli(*arguments, out, "--resume")
    assert result.code == 0, result.err
    assert "going on after" in result.err
    assert "2 left out" in result.err
    assert out.read_bytes() == whole.read_bytes()
    assert not part.exists()
    assert not journal.exists()


def test_other_options_do_not_go_on(
    cli: Cli, refused: Refused, names: Path, tmp_path: Path
) -> None:
    raw = written(tmp_path / "many.jsonl", texts(400))
    out = tmp_path / "out"
    process = slow("label", names, raw, "-o", out)
    while not part_paths(out)[1].exists() or part_paths(out)[1].read_bytes().count(b"\n") < 3:
        assert process.poll() is None
        time.sleep(0.002)
    process.kill()
    process.communicate()
    assert "another set of options" in refused(
        "label", names, raw, "-o", out, "--resume", "--floor", "0.2"
    )
    test = written(tmp_path / "test.jsonl", texts(1))
    assert "texts to leave out" in refused(
        "label", names, raw, "-o", out, "--resume", "--against", test
    )
    raw.write_bytes(raw.read_bytes().replace(b"fever", b"rashy"))
    assert "not those" in cli("label", names, raw, "-o", out, "--resume").err
    result = cli("label", names, raw, "-o", out)
    assert result.code == 0
    assert "made anew" in result.err


OTHER = (
    "Quite different words stand in this text about the weather of the northern hemisphere "
    "in a long winter."
)


def test_copies_of_a_test_part_are_left_out_and_counted(
    cli: Cli, names: Path, tmp_path: Path
) -> None:
    sentence = "A quite long title of a paper about lung cancer and fever in patients."
    test = written(
        tmp_path / "test.jsonl",
        [Document(id="t1", text=f"{sentence} It goes on."), *texts(5, words=9)[4:]],
    )
    raw = [
        Document(id="clean", text="the patient had fever"),
        Document(id="t1", text="something else of the same id"),
        Document(id="other", text=f"{OTHER} {sentence} {OTHER}"),
        Document(id="twin", text=texts(5, words=9)[4].text),
    ]
    out = tmp_path / "x.labels"
    result = cli("label", names, written(tmp_path / "raw.jsonl", raw), "--against", test, "-o", out)
    assert result.code == 0
    assert [one.document.id for one in read_labels(out, raw)] == ["clean"]
    (*_, end) = read_entries(out)[1]
    assert isinstance(end, End)
    assert end.left_out == {"same-id": 1, "shared-sentence": 1, "duplicate": 1}
    assert "3 left out" in result.err


def test_an_exclusion_list_is_honoured(cli: Cli, names: Path, tmp_path: Path) -> None:
    raw = texts(5)
    corpus = written(tmp_path / "raw.jsonl", raw)
    test = written(tmp_path / "test.jsonl", [Document(id="t", text=raw[3].text)])
    request = CheckRequest(parts=(("test", str(test)),), against=(str(corpus),))
    rows = run_checks(request)[0].exclusions
    assert [row.document for row in rows] == ["d3"]
    write_exclusions(tmp_path / "list.tsv", rows)
    out = tmp_path / "x.labels"
    result = cli("label", names, corpus, "--exclude", tmp_path / "list.tsv", "-o", out)
    assert result.code == 0
    assert [one.document.id for one in read_labels(out, raw)] == ["d0", "d1", "d2", "d4"]
    assert read_label_facts(out).end.left_out == {"excluded": 1}
    other = written(tmp_path / "other.jsonl", texts(9)[5:])
    assert (
        "names none"
        in cli("label", names, other, "--exclude", tmp_path / "list.tsv", "-o", tmp_path / "y").err
    )


def test_one_bad_document_does_not_cost_the_others(names: Path, tmp_path: Path) -> None:
    raw = texts(9)
    corpus = written(tmp_path / "raw.jsonl", raw)
    predictor, out = load(names), tmp_path / "x.labels"
    tag = predictor.tag

    def fragile(documents: Any) -> Any:
        if any(one.id == "d5" for one in documents):
            raise RuntimeError("a network of its own mind")
        return tag(documents)

    predictor.tag = fragile  # type: ignore[method-assign]
    request = LabelRequest(model="", files=(str(corpus),), output=str(out))
    account = label_files(request, open_predictor=lambda: predictor)
    assert (account.written, account.aside) == (8, 1)
    assert [one.document.id for one in read_labels(out, raw)] == [
        one.id for one in raw if one.id != "d5"
    ]


@pytest.mark.parametrize(("meaning", "is_told"), [("mention-score", True), ("marginal", False)])
def test_scores_of_mentions_alone_are_told(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, meaning: Any, is_told: bool
) -> None:
    """A span head says nothing of what is below its threshold, and soft labels read that as 0."""
    corpus, predictor, said = written(tmp_path / "raw.jsonl", texts(2)), load(model), list[str]()
    monkeypatch.setattr(type(predictor), "tag_space", TagSpace(scheme="BIO", meaning=meaning))
    request = LabelRequest(model="", files=(str(corpus),), output=str(tmp_path / "x.labels"))
    label_files(
        request, open_predictor=lambda: predictor, listener=ProgressCallbacks(tell=said.append)
    )
    assert any("below its threshold" in one for one in said) == is_told


def test_mentions_of_another_tool_are_labels_with_their_probabilities(
    cli: Cli, tmp_path: Path
) -> None:
    text = "Aspirin against lung cancer and fever"
    said = [
        ("Aspirin", "Drug", 0.75, ()),
        ("lung cancer", "Disease", None, (("confidence", "0.5"),)),
        ("fever", "Disease", None, (("score", "high"),)),
    ]
    mentions = [
        Mention(
            ((text.index(name), text.index(name) + len(name)),),
            kind,
            score=score,
            source="gold",
            attributes=more,
        )
        for name, kind, score, more in said
    ]
    corpus = written(tmp_path / "a.jsonl", [Document(id="a", text=text, mentions=tuple(mentions))])
    out, same = tmp_path / "x.labels", tmp_path / "y.labels"
    assert cli("label", "--from", corpus, "-o", out).code == 0
    task.label(corpus, same, model=None)
    assert read_header(out).types == ("Disease", "Drug")
    (found,) = read_labels(out, read(corpus))
    (again,) = read_labels(same, read(corpus))
    tags = list(read_header(out).tags)
    by_word = {
        text[slice(*map(int, word))]: {
            tag: round(float(share), 2) for tag, share in zip(tags, row, strict=True) if share
        }
        for word, row in zip(found.words, found.probabilities, strict=True)
    }
    assert by_word["Aspirin"] == {"B-Drug": 0.75}
    assert by_word["lung"] == {"B-Disease": 0.5}
    assert by_word["cancer"] == {"I-Disease": 0.5}
    assert by_word["fever"] == {"B-Disease": 1.0}
    assert by_word["against"] == {}
    assert np.array_equal(found.probabilities, again.probabilities)


def test_a_number_that_is_no_probability_is_refused(refused: Refused, tmp_path: Path) -> None:
    text, out = "Aspirin against fever", tmp_path / "x.labels"
    for name, value in (
        ("confidence", "98"),
        ("Probability", "-0.1"),
        ("score", "1.01"),
        ("score", "nan"),
    ):
        wrong = Mention(((0, 7),), "Drug", attributes=((name, value),))
        right = Mention(((16, 21),), "Disease", attributes=((name, "0.5"),))
        corpus = written(
            tmp_path / "a.jsonl",
            [
                Document(id=str(n), text=text, mentions=(right,) if n < 600 else (wrong,))
                for n in range(601)
            ],
        )
        before = sorted(tmp_path.iterdir())
        said = refused("label", "--from", corpus, "-o", out)
        assert "'600'" in said
        assert repr(value) in said
        assert sorted(tmp_path.iterdir()) == before


def test_a_score_of_another_tool_that_is_no_probability_is_kept_and_refused(
    refused: Refused, tmp_path: Path
) -> None:
    corpus = tmp_path / "other.jsonl"
    corpus.write_text(
        '{"id": "a", "text": "Aspirin helps", "entities": [{"start": 0, "end": 7, "label": '
        '"Drug", "score": 98}]}\n',
        encoding="utf-8",
    )
    ((mention,),) = (document.mentions for document in read(corpus))
    assert mention.score is None
    assert mention.attributes == (("score", "98"),)
    said = refused("label", "--from", corpus, "-o", tmp_path / "x.labels")
    assert "'a'" in said
    assert "'98'" in said


def test_what_cannot_be_labelled_is_refused_and_leaves_nothing(
    refused: Refused, names: Path, tmp_path: Path
) -> None:
    corpus = written(tmp_path / "raw.jsonl", texts(3))
    empty, out = tmp_path / "empty.txt", tmp_path / "x.labels"
    empty.write_bytes(b"")
    nothing = tmp_path / "nothing.jsonl"
    nothing.write_bytes(b"")
    (tmp_path / "bad.tsv").write_text("no list\n", encoding="utf-8")
    before = sorted(tmp_path.iterdir())
    for arguments in (
        ("label",),
        ("label", names),
        ("label", names, corpus),
        ("label", names, corpus, "-o", "-"),
        ("label", names, corpus, "-o", corpus, "--overwrite"),
        ("label", names, corpus, "-o", out, "--floor", "1"),
        ("label", names, corpus, "-o", out, "--floor", "0"),
        ("label", names, corpus, "-o", out, "--json"),
        ("label", "--from", corpus, "-o", out),  # has no mentions
        ("label", names, "--from", corpus, "-o", out),
        ("label", "--from", "-", "-o", out),
        ("label", names, nothing, "-o", out),
        ("label", names, empty, "-o", out),
        ("label", names, tmp_path / "missing.txt", "-o", out),
        ("label", tmp_path / "missing", corpus, "-o", out),
        ("label", names, corpus, "-o", out, "--exclude", tmp_path / "bad.tsv"),
        ("label", names, corpus, "-o", out, "--against", nothing),
        ("label", names, corpus, "-o", out, "--against", corpus),
        ("label", "--show", corpus),
        ("label", "--show", tmp_path / "missing"),
        ("label", names, "--show", corpus),
    ):
        refused(*arguments)
        assert sorted(tmp_path.iterdir()) == before, arguments


def test_an_existing_file_is_kept(names: Path, corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "x.labels"
    out.write_text("mine", encoding="utf-8")
    request = LabelRequest(model=str(names), files=(str(corpus),), output=str(out))
    with pytest.raises(OutputError):
        label_files(request)
    assert out.read_text(encoding="utf-8") == "mine"
