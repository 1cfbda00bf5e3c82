"""``fascicle label-studio``: what is sent, and what comes back; the real program is in
``tests/interop``.
"""

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

    made: dict[int, tuple[str, str, list[Any]]] = field(default_factory=dict)
    most: int = 10**9  # tasks that it takes
    refusal: BaseException = field(default_factory=lambda: InputError("it is full"))
    keeps: bool = False  # whether nothing can be deleted
    tells: bool = True  # whether it says the numbers of tasks
    sent: list[int] = field(default_factory=list)  # tasks in each request

    @property
    def projects(self) -> Any:
        return SimpleNamespace(
            list=lambda: [
                SimpleNamespace(id=number, title=one[0]) for number, one in self.made.items()
            ],
            create=self._create,
            delete=self.made.pop,
            import_tasks=self._import,
        )

    @property
    def tasks(self) -> Any:
        return SimpleNamespace(list=self._list, delete=self._delete)

    def _create(self, *, title: str, label_config: str) -> Any:
        number = max(self.made, default=0) + 1
        self.made[number] = (title, label_config, [])
        return SimpleNamespace(id=number)

    def _import(self, number: int, *, request: list[Any], return_task_ids: bool = False) -> Any:
        self.sent.append(len(request))
        kept = self.made[number][2]
        kept.extend(json.loads(json.dumps(request)))
        if len(kept) - kept.count(None) > self.most:
            del kept[-len(request) :]
            raise self.refusal
        numbers = range(len(kept) - len(request) + 1, len(kept) + 1)
        return SimpleNamespace(
            **({"task_ids": list(numbers)} if return_task_ids and self.tells else {})
        )

    def _delete(self, number: str) -> None:
        if self.keeps:
            raise OSError("no answer")
        (project,) = self.made.values()
        project[2][int(number) - 1] = None

    def _list(self, *, project: int) -> Iterator[Any]:
        for number, one in enumerate(self.made[project][2], start=1):
            if one is None:
                continue
            annotations = [
                {**each, "completed_by": 1, "was_cancelled": False} for each in one["annotations"]
            ]
            task = {**one, "id": number, "drafts": [], "annotations": annotations}
            yield SimpleNamespace(id=number, dict=lambda task=task: task)


def document(name: str = "a", text: str = "a\U0001f600 flu and cold") -> Document:
    gold = Mention(
        ((3, 6),),
        "Disease",
        source="gold",
        links=(Link(id="D1", curie="MESH:D1", name="Flu", score=0.5),),
    )
    found = Mention(
        ((11, 15),), "Disease", source="model", score=0.25, links=(Link(id="", nil=True),)
    )
    return Document(id=name, text=text, mentions=(gold, found), meta={"year": "2024"})


def test_what_is_pushed_comes_back() -> None:
    program, given_ = Program(), [document("a"), document("b/c")]
    assert push(given_, "mine", client=program) == 2
    assert list(pull("mine", client=program)) == given_


WORDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)


@given(st.data(), WORDS)
def test_offsets_and_identifiers_are_equal(data: st.DataObject, text: str) -> None:
    places = st.lists(st.integers(0, len(text)), min_size=2, max_size=6, unique=True).map(sorted)
    ends = places.map(lambda at: tuple(zip(at[::2], at[1::2], strict=False)))
    links = st.builds(
        lambda one: (Link(id=one, curie=f"MESH:{one}"),), st.sampled_from(["D1", "D2"])
    ) | st.just(())
    mention = st.builds(
        lambda spans, kind, source, linked: Mention(spans, kind, source=source, links=linked),
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
    shown = ElementTree.fromstring(view)
    assert [one.get("value") for one in shown.iterfind(".//Label")] == ["Gene & <co>", "Disease"]
    assert len(list(shown.iterfind(".//Relation"))) == 1


def test_large_corpora_go_in_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(label_studio, "_AT_ONCE", 2_000)
    program, many = Program(), [document(str(number)) for number in range(20)]
    push(many, "mine", client=program)
    assert sum(program.sent) == 20
    assert len(program.sent) > 4


def test_what_a_task_cannot_hold_is_counted() -> None:
    report = WriteReport()
    push([document().having(words=((3, 6),))], "mine", client=Program(), report=report)
    assert report.losses["words"] == 1


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


@pytest.fixture
def half_full(monkeypatch: pytest.MonkeyPatch) -> Program:
    """Has a task, and takes some of those that are added to it."""
    monkeypatch.setattr(label_studio, "_AT_ONCE", 1_500)
    program = Program()
    push([document("old")], "mine", client=program)
    program.most = 8
    return program


MANY = [document(str(number)) for number in range(20)]


def test_adding_that_fails_is_undone(half_full: Program) -> None:
    half_full.refusal = refusal = InputError("it is full")
    refusal.status_code = 400  # type: ignore[attr-defined]
    with pytest.raises(InputError, match="full") as told:
        push(MANY, "mine", client=half_full, add=True)
    assert len(half_full.sent) > 2
    assert [one.id for one in pull("mine", client=half_full)] == ["old"]
    assert not hasattr(told.value, "__notes__")


def test_what_may_have_been_made_by_a_request_without_an_answer_is_said(half_full: Program) -> None:
    with pytest.raises(InputError) as told:
        push(MANY, "mine", client=half_full, add=True)
    assert [one.id for one in pull("mine", client=half_full)] == ["old"]
    at = sum(half_full.sent[1:-1])
    first, last = MANY[at].id, MANY[at + half_full.sent[-1] - 1].id
    assert told.value.__notes__ == [
        f"tasks of the documents {first!r} to {last!r} may be in the project"
    ]


def test_tasks_whose_numbers_nobody_told_are_said(half_full: Program) -> None:
    half_full.tells = False
    half_full.refusal = refusal = InputError("it is full")
    refusal.status_code = 400  # type: ignore[attr-defined]
    with pytest.raises(InputError) as told:
        push(MANY, "mine", client=half_full, add=True)
    left = sum(half_full.sent[1:-1])
    assert len(list(pull("mine", client=half_full))) == left + 1
    assert told.value.__notes__ == [
        f"tasks of the documents '0' to '{left - 1}' may be in the project"
    ]


def test_what_cannot_be_undone_is_said(half_full: Program) -> None:
    half_full.keeps = True
    with pytest.raises(InputError, match="full") as told:
        push(MANY, "mine", client=half_full, add=True)
    left = len(list(pull("mine", client=half_full))) - 1
    assert left == sum(half_full.sent[1:-1]) > 0
    assert told.value.__notes__[0].startswith(f"{left} tasks")
    assert told.value.__notes__[0].endswith(f"2 to {left + 1}")


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

    monkeypatch.setattr(label_studio, "connect_label_studio", connected)
    return found


def test_the_commands_bring_a_corpus_there_and_back(
    tmp_path: Any, cli: Callable[..., Any], program: Program
) -> None:
    fascicle.write(tmp_path / "corpus.jsonl", [document("a"), document("b")])
    done = cli("label-studio", "push", "mine", tmp_path / "corpus.jsonl", "--types", "Gene,Drug")
    assert (done.code, done.out) == (0, "")
    assert "2 tasks" in done.err
    assert cli("label-studio", "pull", "mine", "-o", tmp_path / "back.jsonl").code == 0
    back = list(fascicle.read(tmp_path / "back.jsonl"))
    assert [msgspec.structs.replace(one, events=()) for one in back] == [
        document("a"),
        document("b"),
    ]
    refused = cli("label-studio", "pull", "mine", "-o", tmp_path / "back.jsonl")
    assert (refused.code, refused.err.count("\n")) == (2, 1)


def test_the_choice_of_an_annotator_is_an_option(
    tmp_path: Any, cli: Callable[..., Any], program: Program
) -> None:
    push([document()], "mine", client=program)
    program.made[1][2][0]["annotations"] *= 2
    refused = cli("label-studio", "pull", "mine", "-o", tmp_path / "back.jsonl")
    assert refused.code == 2
    assert "--field annotator=all" in refused.err
    done = cli(
        "label-studio", "pull", "mine", "-o", tmp_path / "back.jsonl", "--field", "annotator=all"
    )
    assert done.code == 0


def test_losses_are_told(tmp_path: Any, cli: Callable[..., Any], program: Program) -> None:
    fascicle.write(tmp_path / "corpus.jsonl", [document().having(words=((3, 6),))])
    done = cli("label-studio", "push", "mine", tmp_path / "corpus.jsonl", "--strict")
    assert done.code == 3
    assert "words" in done.err


def test_without_the_sdk_the_extra_is_named(refused: Callable[..., str], tmp_path: Any) -> None:
    try:
        import label_studio_sdk  # noqa: F401
    except ImportError:
        fascicle.write(tmp_path / "corpus.jsonl", [document()])
        assert "fascicle[label-studio]" in refused(
            "label-studio", "push", "mine", tmp_path / "corpus.jsonl"
        )
    else:
        pytest.skip("label-studio-sdk is installed")
