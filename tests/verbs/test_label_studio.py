"""``fascicle label-studio``: what is sent, and what comes back; the real program is in ``tests/interop``."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fascicle
from fascicle.core.document import Document, Mention
from fascicle.core.mention import Link
from fascicle.errors import FormatError, InputError, UsageError
from fascicle.formats.report import WriteReport
from fascicle.verbs import label_studio
from fascicle.verbs.label_studio import pull, push


@dataclass
class Program:
    """Keeps tasks as Label Studio does: what comes in as JSON goes out with numbers of its own."""

    made: dict[int, tuple[str, str, list[dict[str, Any]]]] = field(default_factory=dict)
    most: int = 10**9  # tasks that it takes

    @property
    def projects(self) -> Any:
        return SimpleNamespace(
            list=lambda: [SimpleNamespace(id=number, title=one[0]) for number, one in self.made.items()],
            create=self._create,
            delete=self.made.pop,
            import_tasks=self._import,
        )

    @property
    def tasks(self) -> Any:
        return SimpleNamespace(list=self._list)

    def _create(self, *, title: str, label_config: str) -> Any:
        number = max(self.made, default=0) + 1
        self.made[number] = (title, label_config, [])
        return SimpleNamespace(id=number)

    def _import(self, number: int, *, request: list[Any]) -> None:
        self.made[number][2].extend(json.loads(json.dumps(request)))
        if len(self.made[number][2]) > self.most:
            raise InputError("it is full")

    def _list(self, *, project: int) -> Iterator[Any]:
        for number, one in enumerate(self.made[project][2], start=1):
            annotations = [{**each, "completed_by": 1, "was_cancelled": False} for each in one["annotations"]]
            task = {**one, "id": number, "drafts": [], "annotations": annotations}
            yield SimpleNamespace(id=number, dict=lambda task=task: task)


def document(name: str = "a", text: str = "a\U0001f600 flu and cold") -> Document:
    gold = Mention(((3, 6),), "Disease", source="gold", links=(Link(id="D1", curie="MESH:D1", name="Flu", score=0.5),))
    found = Mention(((11, 15),), "Disease", source="model", score=0.25, links=(Link(id="", nil=True),))
    return Document(id=name, text=text, mentions=(gold, found), meta={"year": "2024"})


def test_what_is_pushed_comes_back() -> None:
    program, given_ = Program(), [document("a"), document("b/c")]
    assert push(given_, "mine", client=program) == 2
    assert list(pull("mine", client=program)) == given_


WORDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)


@given(st.data(), WORDS)
def test_offsets_and_identifiers_are_equal(data: st.DataObject, text: str) -> None:
    ends = st.tuples(st.integers(0, len(text) - 1), st.integers(1, len(text))).filter(lambda one: one[0] < one[1])
    links = st.builds(lambda one: (Link(id=one, curie=f"MESH:{one}"),), st.sampled_from(["D1", "D2"])) | st.just(())
    mention = st.builds(
        lambda span, kind, source, linked: Mention((span,), kind, source=source, links=linked),
        ends, st.sampled_from(["A", "B"]), st.sampled_from(["gold", "m"]), links,
    )  # fmt: skip
    mentions = data.draw(st.lists(mention, max_size=4, unique_by=lambda one: one.key))
    one, program = Document(id="a", text=text, mentions=tuple(mentions)), Program()
    push([one], "mine", client=program)
    (back,) = pull("mine", client=program)
    assert (back.text, back.mentions) == (one.text, one.mentions)


def test_the_project_has_the_labels_of_the_mentions_and_further_ones() -> None:
    program = Program()
    push([document()], "mine", client=program, types=["Gene & <co>"])
    ((_, view, _),) = program.made.values()
    labels = [one.get("value") for one in ElementTree.fromstring(view).iterfind(".//Label")]
    assert labels == ["Gene & <co>", "Disease"]


def test_large_corpora_go_in_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(label_studio, "_AT_ONCE", 2_000)
    program, many = Program(), [document(str(number)) for number in range(20)]
    sizes: list[int] = []
    monkeypatch.setattr(Program, "_import", lambda self, number, *, request: sizes.append(len(request)))
    push(many, "mine", client=program)
    assert sum(sizes) == 20
    assert len(sizes) > 4


def test_what_a_task_cannot_hold_is_counted() -> None:
    report = WriteReport()
    two = Mention(((0, 1), (3, 6)), "Disease", source="gold")
    push([document().having(mentions=(two,))], "mine", client=Program(), report=report)
    assert report.losses["discontinuous"] == 1


def test_a_project_is_not_filled_twice_unless_asked() -> None:
    program = Program()
    push([document()], "mine", client=program)
    with pytest.raises(UsageError, match="add=True"):
        push([document()], "mine", client=program)
    assert push([document("b")], "mine", client=program, add=True) == 1
    assert [one.id for one in pull("mine", client=program)] == ["a", "b"]
    with pytest.raises(UsageError, match="no project"):
        push([document()], "other", client=program, add=True)
    with pytest.raises(UsageError, match="no project"):
        list(pull("other", client=program))


def test_a_project_that_cannot_be_filled_is_removed() -> None:
    program = Program(most=1)
    with pytest.raises(InputError, match="full"):
        push([document(), document("b")], "mine", client=program)
    assert program.made == {}


def test_nothing_is_made_of_nothing() -> None:
    program = Program()
    with pytest.raises(InputError, match="no document"):
        push([], "mine", client=program)
    assert program.made == {}


def test_several_annotations_need_a_choice() -> None:
    program = Program()
    push([document()], "mine", client=program)
    task = program.made[1][2][0]
    task["annotations"] *= 2
    with pytest.raises(FormatError, match=r"task 1.*annotator"):
        list(pull("mine", client=program))
    (found,) = pull("mine", client=program, fields=[("annotator", "all")])
    with pytest.raises(UsageError, match="labels"):
        list(pull("mine", client=program, fields=[("labels", "x")]))
    assert {one.source for one in found.mentions} == {"annotator-1", "model"}


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch) -> Program:
    """In place of one that is reached over HTTP."""
    found = Program()

    @contextmanager
    def connected(url: str) -> Iterator[Program]:
        yield found

    monkeypatch.setattr(label_studio, "connected", connected)
    return found


def test_the_commands_bring_a_corpus_there_and_back(tmp_path: Any, cli: Callable[..., Any], program: Program) -> None:
    fascicle.write(tmp_path / "corpus.jsonl", [document("a"), document("b")])
    done = cli("label-studio", "push", "mine", tmp_path / "corpus.jsonl", "--types", "Gene,Drug")
    assert (done.code, done.out) == (0, "")
    assert "2 tasks" in done.err
    assert cli("label-studio", "pull", "mine", "-o", tmp_path / "back.jsonl").code == 0
    back = list(fascicle.read(tmp_path / "back.jsonl"))
    assert [msgspec.structs.replace(one, events=()) for one in back] == [document("a"), document("b")]
    refused = cli("label-studio", "pull", "mine", "-o", tmp_path / "back.jsonl")
    assert (refused.code, refused.err.count("\n")) == (2, 1)


def test_the_choice_of_an_annotator_is_an_option(tmp_path: Any, cli: Callable[..., Any], program: Program) -> None:
    push([document()], "mine", client=program)
    program.made[1][2][0]["annotations"] *= 2
    refused = cli("label-studio", "pull", "mine", "-o", tmp_path / "back.jsonl")
    assert refused.code == 2
    assert "--field annotator=all" in refused.err
    done = cli("label-studio", "pull", "mine", "-o", tmp_path / "back.jsonl", "--field", "annotator=all")
    assert done.code == 0


def test_losses_are_told(tmp_path: Any, cli: Callable[..., Any], program: Program) -> None:
    two = Mention(((0, 1), (3, 6)), "Disease", source="gold")
    fascicle.write(tmp_path / "corpus.jsonl", [document().having(mentions=(two,))])
    done = cli("label-studio", "push", "mine", tmp_path / "corpus.jsonl", "--strict")
    assert done.code == 3
    assert "discontinuous" in done.err


def test_without_the_sdk_the_extra_is_named(refused: Callable[..., str], tmp_path: Any) -> None:
    try:
        import label_studio_sdk  # noqa: F401
    except ImportError:
        fascicle.write(tmp_path / "corpus.jsonl", [document()])
        assert "fascicle[label-studio]" in refused("label-studio", "push", "mine", tmp_path / "corpus.jsonl")
    else:
        pytest.skip("label-studio-sdk is installed")
