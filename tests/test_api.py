"""The public Python: a model called with a text, mentions with their words, notebooks, and the
verbs.
"""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import fascicle
from fascicle.errors import UsageError

EXAMPLES = Path(__file__).parents[1] / "examples"
TEXT = "Lithium may cause nephrogenic diabetes insipidus."


@pytest.fixture
def names(tmp_path: Path) -> Path:
    path = tmp_path / "names.tsv"
    path.write_text(
        "Chemical\tLithium\nDisease\tnephrogenic diabetes insipidus\n", encoding="utf-8"
    )
    return path


def test_a_model_is_called_with_a_text(names: Path) -> None:
    model = fascicle.load(names)
    document = model(TEXT)
    assert document.text == TEXT
    assert [(m.type, m.text, TEXT[m.start : m.end]) for m in document] == [
        ("Chemical", "Lithium", "Lithium"),
        ("Disease", "nephrogenic diabetes insipidus", "nephrogenic diabetes insipidus"),
    ]
    assert [m.mention for m in document] == list(document.mentions)
    assert "Lithium" in repr(next(iter(document)))
    assert model(("mine", TEXT)).id == "mine"
    with pytest.raises(AttributeError, match="colour"):
        next(iter(document)).colour  # noqa: B018


def test_a_mention_of_several_fragments_has_all_its_words() -> None:
    mention = fascicle.Mention(((0, 4), (12, 18)), "Disease")
    document = fascicle.Document(id="1", text="lung breast cancer", mentions=(mention,))
    assert [m.text for m in document] == ["lung cancer"] == [mention.text_in(document.text)]


def test_bound_mentions_are_copied_and_pickled() -> None:
    mention = fascicle.Mention(((0, 7),), "Chemical")
    bound = next(iter(fascicle.Document(id="1", text=TEXT, mentions=(mention,))))
    for again in (copy.copy(bound), copy.deepcopy(bound), pickle.loads(pickle.dumps(bound))):
        assert (again.text, again.type, again.mention) == ("Lithium", "Chemical", mention)


def test_a_notebook_shows_marked_text() -> None:
    mention = fascicle.Mention(((0, 3),), "Ty<pe")
    shown = fascicle.Document(id="1", text="a<b & c", mentions=(mention,))._repr_html_()
    assert "a&lt;b" in shown
    assert "Ty&lt;pe" in shown
    assert "<script" not in shown


def test_annotate_writes_what_the_command_writes(names: Path, tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text(TEXT, encoding="utf-8")
    account = fascicle.annotate(tmp_path / "in.txt", tmp_path / "out.tsv", model=names)
    assert "Lithium" in (tmp_path / "out.tsv").read_text(encoding="utf-8")
    assert account.aside == 0
    command = [
        sys.executable,
        "-m",
        "fascicle",
        "annotate",
        "in.txt",
        "--model",
        str(names),
        "-o",
        "two.tsv",
    ]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "two.tsv").read_bytes() == (tmp_path / "out.tsv").read_bytes()


def test_check_finds_what_the_parts_share() -> None:
    folder = EXAMPLES / "first-model"
    found = fascicle.check(folder / "train.tsv", test=folder / "test.tsv")
    assert found.exclusions
    assert [part.name for part in found.report.parts] == ["train", "test"]


def test_a_device_that_is_not_there_is_refused() -> None:
    assert fascicle.load("biomed", device="auto")(TEXT).mentions
    with pytest.raises(UsageError, match="cuda"):
        fascicle.load("biomed", device="cuda")


def test_verbs_come_when_they_are_used() -> None:
    code = (
        "import sys, fascicle; before = 'fascicle.verbs.tasks' in sys.modules; fascicle.evaluate;"
        "print(before, 'torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False False"
