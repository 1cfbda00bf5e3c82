"""A language model as a step, against a service that is honest, lies, stalls and fails."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.pipeline.adapters.conftest import Service, completion

from fascicle.core.document import Document
from fascicle.core.patches import apply
from fascicle.errors import InputError, RecipeError
from fascicle.formats.weak_labels import read_entries
from fascicle.pipeline.adapters.llm_step import LlmSettings, LlmStep, find_name_places
from fascicle.pipeline.loading import open_pipeline
from fascicle.pipeline.process import ProgramStep
from fascicle.text.segment import segmenter
from fascicle.verbs.tasks.label import label

pytestmark = pytest.mark.loopback
TEXT = "Aspirin and Naproxen help. Aspirin is not aspirins."


def step(service: Service, folder: Path = Path(), **more: Any) -> LlmStep:
    given: dict[str, Any] = {"types": {"Chemical": "a drug"}, "retries": 1, "seconds": 2.0} | more
    return LlmStep(LlmSettings(address=service.address, model="m", **given), folder=str(folder))


def document(text: str = TEXT) -> Document:
    return Document(id="a", text=text, sentences=segmenter("rules@1").sentences(text))


def found(one: LlmStep, text: str = TEXT) -> Document:
    (patch,) = one.run([document(text)])
    return apply(document(text), patch, step=one.name, drops=one.drops)


def names(*pairs: tuple[str, str]) -> str:
    return json.dumps({"names": [{"text": text, "type": kind} for text, kind in pairs]})


def test_each_place_of_a_name_is_a_mention(service: Service) -> None:
    service.answer = lambda request, number: names(
        ("Aspirin", "Chemical"), ("Naproxen", "Chemical")
    )
    answer = found(step(service))
    assert [(one.text, one.start) for one in answer] == [
        ("Aspirin", 0),
        ("Naproxen", 12),
        ("Aspirin", 27),
    ]
    assert {one.source for one in answer.mentions} == {"llm"}


def test_lies_are_never_mentions(service: Service) -> None:
    """Names that are not there, parts of words, other types, and offsets, which nobody asked
    for.
    """
    lies = [
        {"text": "Ibuprofen", "type": "Chemical", "start": 0, "end": 7},
        {"text": "spirin", "type": "Chemical"},
        {"text": "Aspirin", "type": "Planet"},
        {"text": "", "type": "Chemical"},
        {"text": "Naproxen", "type": "Chemical", "start": 0, "end": 4},
    ]
    service.answer = lambda request, number: json.dumps({"names": lies})
    answer = found(step(service))
    assert [(one.text, one.start) for one in answer] == [("Naproxen", 12)]
    assert [one.code for one in answer.events] == [
        "invented-name",
        "invented-name",
        "unknown-type",
        "invented-name",
    ]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"not JSON",
        b"[]",
        b'{"choices": []}',
        completion("{"),
        completion("no names"),
        completion('{"names": "Aspirin"}'),
        completion('{"names": [{"text": "Aspirin"}]}'),
        completion('{"names": [{"text": 3, "type": "Chemical"}]}'),
        completion(None),
        completion("[" * 100_000),
        b"x" * (5 << 20),
    ],
)
def test_answers_of_another_form_are_asked_for_again_and_then_an_error(
    service: Service, body: bytes
) -> None:
    service.answer = lambda request, number: body
    with pytest.raises(InputError, match="not JSON"):
        found(step(service))
    assert len(service.requests) == 2
    service.answer = lambda request, number: body if number == 3 else names(("Aspirin", "Chemical"))
    assert len(found(step(service)).mentions) == 2


def test_a_fence_around_the_answer_is_taken_off(service: Service) -> None:
    service.answer = lambda request, number: f"```json\n{names(('Aspirin', 'Chemical'))}\n```"
    assert len(found(step(service)).mentions) == 2


@pytest.mark.parametrize("state", [429, 500, 503])
def test_a_service_that_is_busy_is_asked_again(service: Service, state: int) -> None:
    service.answer = lambda request, number: state if number == 1 else names()
    assert found(step(service)).mentions == ()


@pytest.mark.parametrize("state", [400, 401, 404, 302])
def test_a_service_that_refuses_is_not(service: Service, state: int) -> None:
    service.answer = lambda request, number: state
    with pytest.raises(InputError, match=str(state)):
        found(step(service))
    assert len(service.requests) == 1  # a redirect would send the key elsewhere


def test_a_service_that_stalls_is_given_up(service: Service) -> None:
    service.answer = lambda request, number: 1.0
    with pytest.raises(InputError, match=r"stalls \(TimeoutError\)"):
        found(step(service, seconds=0.2, retries=0))


def test_a_service_that_answers_byte_by_byte_is_given_up(service: Service) -> None:
    def blanks() -> Iterator[bytes]:
        for _ in range(60):
            time.sleep(0.05)
            yield b" "

    service.answer = lambda request, number: blanks()
    with pytest.raises(InputError, match=r"stalls \(TimeoutError\)"):
        found(step(service, seconds=0.4, retries=0))


def test_a_service_that_is_not_there_is_one_sentence() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    with pytest.raises(InputError, match="cannot be reached") as caught:
        found(step(Service(address), retries=0))
    assert "\n" not in str(caught.value)


def test_the_budget_of_calls_and_tokens_ends_the_asking(service: Service) -> None:
    calls = step(service, calls=2)
    found(calls)
    found(calls)
    with pytest.raises(InputError, match="budget of 2 calls"):
        found(calls)
    tokens = step(service, tokens=15)
    found(tokens, "One.")
    found(tokens, "Two.")  # 20 tokens are spent, and nobody knows that before
    with pytest.raises(InputError, match="15 tokens"):
        found(tokens, "Three.")
    assert len(service.requests) == 4


def test_a_cached_answer_costs_no_call(service: Service, tmp_path: Path) -> None:
    service.answer = lambda request, number: names(("Aspirin", "Chemical"))
    first = found(step(service, tmp_path, cache="answers"))
    again = found(step(service, tmp_path, cache="answers", calls=1))
    assert (first, len(service.requests)) == (again, 1)
    found(step(service, tmp_path, cache="answers", types={"Chemical": "another meaning"}))
    assert len(service.requests) == 2
    (kept,) = {one.read_bytes() for one in (tmp_path / "answers").iterdir()}
    other = {
        "model": "m",
        "types": {"Chemical": "a drug"},
        "retries": 0,
        "seconds": 1.0,
        "cache": "answers",
    }
    elsewhere = LlmStep(
        LlmSettings(address=f"{service.address}/elsewhere", **other), folder=str(tmp_path)
    )
    with pytest.raises(InputError):
        found(elsewhere)
    assert {one.read_bytes() for one in (tmp_path / "answers").iterdir()} == {kept}
    (tmp_path / "file").write_text("")
    with pytest.raises(RecipeError, match="folder"):
        step(service, tmp_path, cache="file")


def test_the_key_is_sent_and_in_no_cache(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_OF_TESTS", "sesame")
    one = step(service, tmp_path, cache="answers", key_variable="SECRET_OF_TESTS")
    found(one)
    assert service.requests[0][1]["Authorization"] == "Bearer sesame"
    assert all(
        b"sesame" not in place.read_bytes() for place in tmp_path.rglob("*") if place.is_file()
    )
    assert "sesame" not in one.fingerprint


def test_long_texts_are_cut_between_sentences(service: Service) -> None:
    text = " ".join(f"Sentence {number} is about Aspirin." for number in range(20))
    service.answer = lambda request, number: names(("Aspirin", "Chemical"))
    assert len(found(step(service, characters=100), text).mentions) == 20
    parts = [request["messages"][1]["content"] for request, _ in service.requests]
    assert len(parts) > 5
    assert all(
        len(part) <= 100 and part.startswith("Sentence") and part.endswith(".") for part in parts
    )


texts = st.text(st.sampled_from("ab1 -.α\n"), max_size=30)


@given(texts, st.text(st.sampled_from("ab1 -.α"), max_size=4))
def test_places_are_those_of_a_loop_over_all_characters(text: str, name: str) -> None:
    slow, at = [], 0
    while name.strip() and at + len(name) <= len(text):
        end = at + len(name)
        inside = (name[0].isalnum() and at > 0 and text[at - 1].isalnum()) or (
            name[-1].isalnum() and end < len(text) and text[end].isalnum()
        )
        if text[at:end] == name and not inside:
            slow.append((at, end))
            at = end
        else:
            at += 1
    assert find_name_places(name, text) == slow


@given(
    st.recursive(
        st.none() | st.booleans() | st.text(max_size=5), lambda inner: st.lists(inner, max_size=3)
    )
)
def test_whatever_it_says_mentions_are_in_the_text(value: Any) -> None:
    said = msgspec.json.encode({"names": value})
    one = LlmStep(LlmSettings(address="http://127.0.0.1:9", model="m", types={"A": "b"}, retries=0))
    one._sent = lambda body: completion(said.decode())  # type: ignore[method-assign]
    try:
        answer = found(one)
    except InputError:
        return
    assert all(one.text in TEXT for one in answer)


PIPELINE = """
name = "asks"
[limits]
failures = 10

[[steps]]
kind = "plugin"
plugin = "llm"
name = "gpt"
options = {{ address = "{address}", model = "m", types = {{ Chemical = "a drug" }}, retries = 0, seconds = 1.0 }}
"""


@pytest.fixture
def pipeline(service: Service, tmp_path: Path) -> Path:
    (tmp_path / "pipeline.toml").write_text(
        PIPELINE.format(address=service.address), encoding="utf-8"
    )
    return tmp_path


def test_in_a_pipeline_it_runs_in_a_process_of_its_own_and_one_bad_document_is_set_aside(
    service: Service, pipeline: Path
) -> None:
    service.answer = lambda request, number: (
        500 if "!" in request["messages"][1]["content"] else names(("Aspirin", "Chemical"))
    )
    errors: list[InputError] = []
    with open_pipeline(pipeline) as opened:
        assert isinstance(opened.steps[-1], ProgramStep)
        good = list(opened.stream(["Aspirin.", "Aspirin!", "No Aspirin."], aside=errors.append))
    assert [[(one.text, one.source) for one in document] for document in good] == [
        [("Aspirin", "gpt")]
    ] * 2
    assert len(errors) == 1
    assert "500" in str(errors[0])


Cli = Callable[..., Any]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ('{ address = "http://x/v1", model = "m" }', "types"),
        ('{ address = "ftp://x", model = "m", types = { A = "b" } }', "address"),
        ('{ address = "http://x", model = "m", types = { A = "b" }, cals = 3 }', "calls"),
    ],
)
def test_wrong_settings_are_named_before_a_process_starts(
    pipeline: Path, options: str, says: str
) -> None:
    text = f'[[steps]]\nkind = "plugin"\nplugin = "llm"\noptions = {options}\n'
    (pipeline / "pipeline.toml").write_text(text, encoding="utf-8")
    with pytest.raises(RecipeError, match=says):
        open_pipeline(pipeline)


def test_it_is_a_teacher(service: Service, pipeline: Path, tmp_path: Path) -> None:
    service.answer = lambda request, number: names(("Aspirin", "Chemical"))
    (tmp_path / "one.txt").write_text("Aspirin and pain.\n", encoding="utf-8")
    out = tmp_path / "weak.labels"
    label(tmp_path / "one.txt", out, model=pipeline)
    header, entries = read_entries(out)
    assert header.types == ("Chemical",)
    first = next(iter(entries))
    assert (first.words, len(first.at)) == (4, 1)  # type: ignore[union-attr]


def test_blanks_around_a_name_are_not_of_it(service: Service) -> None:
    service.answer = lambda request, number: names((" Naproxen\n", "Chemical"))
    assert [(one.text, one.start) for one in found(step(service))] == [("Naproxen", 12)]


def test_a_key_may_end_with_the_line_of_its_file(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    service.answer = lambda request, number: names(("Naproxen", "Chemical"))
    monkeypatch.setenv("MY_KEY", "secret\n")
    assert len(found(step(service, key_variable="MY_KEY")).mentions) == 1
    assert service.requests[0][1]["Authorization"] == "Bearer secret"


@pytest.mark.parametrize(
    "address", ["http://a:secret@host/v1", "http://host/v1?key=secret", "http://host/v1#secret"]
)
def test_an_address_holds_no_key_for_messages_show_it(address: str) -> None:
    given = {"address": address, "model": "m", "types": {"A": "b"}}
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(given, LlmSettings)
