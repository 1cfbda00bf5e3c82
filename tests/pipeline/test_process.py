"""A step that is another program: a bare Python without our packages, and a JVM where there is
one.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from fascicle.core.document import Document, Link, Mention, Section
from fascicle.errors import PluginError
from fascicle.pipeline.loading import open_pipeline
from fascicle.pipeline.pipeline import Pipeline
from fascicle.pipeline.process import ProcessError, ProgramStep

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "pipeline"
DOCUMENTS = [
    Document(id="a", text="DNA and é RNA"),
    Document(id="b", text="none"),
    Document(id="c", text="mRNA IL-2"),
]
HELLO = {"fascicle_step": 1, "name": "odd", "gives": ["mentions"], "fingerprint": "1"}


def program(tmp_path: Path, body: str, *, hello: object = HELLO) -> list[str]:
    """A program of a few lines; ``say`` answers, ``line`` is a request."""
    path = tmp_path / "program.py"
    start = (
        "import json, os, sys, time\ndef say(x): print(json.dumps(x), "
        f"flush=True)\nsay({hello!r})\n"
    )
    path.write_text(
        f"{start}for line in sys.stdin:\n{textwrap.indent(textwrap.dedent(body), '    ')}",
        encoding="utf-8",
    )
    return [sys.executable, "-I", "-S", str(path)]


def found(step: ProgramStep) -> list[tuple[str, str]]:
    with Pipeline([step]) as pipeline:
        return [
            (document.id, one.text) for document in pipeline.stream(DOCUMENTS) for one in document
        ]


def test_a_program_in_a_python_of_its_own() -> None:
    command = [sys.executable, "-I", "-S", str(EXAMPLES / "capitals.py")]  # no packages at all
    assert found(ProgramStep("", command, seconds=30)) == [("a", "DNA"), ("a", "RNA")]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("javac") is None, reason="there is no JVM here")
def test_a_program_on_the_jvm(tmp_path: Path) -> None:
    subprocess.run(["javac", "-d", str(tmp_path), str(EXAMPLES / "Capitals.java")], check=True)
    command = ["java", "-Xmx128m", "-cp", str(tmp_path), "Capitals"]
    assert found(ProgramStep("", command, seconds=60)) == [("a", "DNA"), ("a", "RNA")]


def test_a_program_of_a_pipeline(tmp_path: Path) -> None:
    shutil.copy(EXAMPLES / "capitals.py", tmp_path)
    command = json.dumps([sys.executable, "-I", "-S", "{folder}/capitals.py"])
    text = (
        f'[[steps]]\nkind = "process"\ncommand = {command}\n[[answers]]\ntext = "DNA"\nfind = '
        '["DNA/Acronym"]\n'
    )
    (tmp_path / "pipeline.toml").write_text(text, encoding="utf-8")
    with open_pipeline(tmp_path) as pipeline:
        assert [step.name for step in pipeline.steps] == ["cut", "capitals"]
        assert pipeline.made_by()["step 'capitals'"] == "capitals 1"


def test_a_relative_program_begins_at_the_folder_of_the_pipeline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, elsewhere = tmp_path / "pipeline", tmp_path / "elsewhere"
    for place in (folder / "bin", elsewhere / "bin"):
        place.mkdir(parents=True)
    shutil.copy(EXAMPLES / "capitals.py", folder)
    program, other = folder / "bin" / "capitals", elsewhere / "bin" / "capitals"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -S "$1"\n')
    other.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    other.chmod(0o755)
    text = '[[steps]]\nkind = "process"\ncommand = ["bin/capitals", "{folder}/capitals.py"]\n'
    (folder / "pipeline.toml").write_text(text, encoding="utf-8")
    monkeypatch.chdir(elsewhere)
    with open_pipeline(folder) as pipeline:
        assert pipeline.made_by()["step 'capitals'"] == "capitals 1"


BAD = {
    "an error": ('say({"error": "no good"})', "no good"),
    "dies": ('print("the reason", file=sys.stderr); sys.exit(4)', "the reason"),
    "hangs": ("time.sleep(60)", "no answer"),
    "no JSON": ('print("hm", flush=True)', "hm"),
    "a misspelt field": ('say({"patches": [{"adds": []}]})', "adds"),
    "without end": ('[sys.stdout.write("x" * 65536) for _ in iter(int, 1)]', "line of more"),
    "two lines": (
        'print(json.dumps({"patches": []}) + "\\n" + json.dumps({"patches": [{}]}), flush=True)',
        "one line",
    ),
    "too few": ('say({"patches": []})', "patches for"),
}


@pytest.mark.parametrize(("bad", "told"), BAD.values(), ids=BAD)
def test_a_program_that_fails_costs_one_document(tmp_path: Path, bad: str, told: str) -> None:
    good = 'say({"patches": [{} for _ in json.loads(line)["documents"]]})'
    command = program(tmp_path, f"if 'poison' in line:\n    {bad}\nelse:\n    {good}\n")
    step = ProgramStep("odd", command, seconds=1.5, longest=1 << 20)
    texts = ["a", "poison", "b"]
    with Pipeline([step]) as pipeline:
        given = [Document(id=text, text=text) for text in texts]
        results = list(pipeline.results(given))
    assert [result.document is None for result in results] == [False, True, False]
    assert told in results[1].failure.message  # type: ignore[union-attr]


def test_a_program_names_the_structure_of_what_was_found_where_a_section_says_so(
    tmp_path: Path,
) -> None:
    """As a parser of systematic names does: it adds no mention, and reads the facts of sections."""
    body = """
        patches = []
        for one in json.loads(line)["documents"]:
            asked = [s for s in one["sections"] if ["part", "claims"] in s.get("attributes", [])]
            links = [
                [["gold", m["type"], m["spans"]], [{"id": "CCO", "ontology": "SMILES", "name": m["text"]}]]
                for m in one["mentions"]
                if any(s["start"] <= m["spans"][0][0] < s["end"] for s in asked)
            ]
            patches.append({"links": links})
        say({"patches": patches})
    """
    hello = {**HELLO, "needs": ["mentions"], "gives": ["links"]}
    given = Document(
        id="a",
        text="ethanol; ethanol",
        sections=(Section(0, 7, "text"), Section(9, 16, "text", (("part", "claims"),))),
        mentions=(Mention(((0, 7),), "Chemical"), Mention(((9, 16),), "Chemical")),
    )
    with Pipeline(
        [ProgramStep("odd", program(tmp_path, body, hello=hello), seconds=20)], given=("mentions",)
    ) as pipeline:
        (answer,) = pipeline.stream([given])
    assert isinstance(answer, Document)
    assert [one.links for one in answer.mentions] == [
        (),
        (Link(id="CCO", ontology="SMILES", name="ethanol"),),
    ]


@pytest.mark.parametrize("command", [["/nowhere"], ["/"], ["a\0b"]])
def test_what_cannot_be_started_is_refused(command: list[str]) -> None:
    with pytest.raises(PluginError, match="odd"):
        ProgramStep("odd", command, seconds=20)


def test_an_answer_that_nobody_asked_for_goes_to_no_document(tmp_path: Path) -> None:
    """Each answer says which document it is about; a second one comes later, when the first was
    taken.
    """
    body = """
        add = [{"spans": [[0, 1]], "type": json.loads(line)["documents"][0]["id"], "source": "odd"}]
        say({"patches": [{"add": add}]})
        if "twice" in line:
            time.sleep(0.2)
            say({"patches": [{}]})
            open(__file__ + ".twice", "w").close()
    """
    step, second = (
        ProgramStep("odd", program(tmp_path, body), seconds=20),
        tmp_path / "program.py.twice",
    )

    def run() -> None:
        for name in ("twice", "b", "c"):
            (patch,) = step.run([Document(id=name, text="x")])
            assert [one.type for one in patch.add] == [name]
            while not second.exists():
                time.sleep(0.01)

    with pytest.raises(ProcessError, match="one line"):
        run()
    step.close()


@pytest.mark.parametrize(
    "hello",
    [{"fascicle_step": 2, "fingerprint": ""}, {"name": "x"}, {**HELLO, "gives": ["nonsense"]}, []],
)
def test_a_program_that_is_no_step_is_refused(tmp_path: Path, hello: object) -> None:
    with pytest.raises(PluginError, match="odd"):
        ProgramStep("odd", program(tmp_path, "pass", hello=hello), seconds=20)


def test_answers_and_requests_larger_than_pipes_do_not_wait_for_each_other(tmp_path: Path) -> None:
    body = (
        'say({"patches": [{"events": [{"step": "s", "kind": "note", "code": "c", "message": '
        '"m" * 300000}]}]})'
    )
    step = ProgramStep("odd", program(tmp_path, body), seconds=30)
    with Pipeline([step]) as pipeline:
        (document,) = pipeline.stream(["y" * 500_000])
    assert len(document.events[0].message) == 300_000


DIES = """import json, os, signal, sys
count = int(open({path!r}).read()) if os.path.exists({path!r}) else 0
open({path!r}, "w").write(str(count + 1))
if count in {killed!r}:
    os.kill(os.getpid(), signal.SIGKILL)
print(json.dumps({hello!r}), flush=True)
for line in sys.stdin:
    if "poison" in line and count == 0:
        sys.exit(3)
    print(json.dumps({{"patches": [{{}} for _ in json.loads(line)["documents"]]}}), flush=True)
"""


def dying(tmp_path: Path, killed: set[int]) -> list[str]:
    """A program that is killed at some of its starts."""
    path = tmp_path / "dies.py"
    path.write_text(
        DIES.format(path=str(tmp_path / "count"), killed=killed, hello=HELLO), encoding="utf-8"
    )
    return [sys.executable, "-I", "-S", str(path)]


@pytest.mark.parametrize(
    "shell", [[], ["sh", "-c", '"$@"; exit $?', "sh"]], ids=["bare", "in a shell"]
)
def test_a_program_that_is_killed_while_it_starts_is_started_again(
    tmp_path: Path, shell: list[str]
) -> None:
    step = ProgramStep("odd", [*shell, *dying(tmp_path, {0, 1, 3})], seconds=30)
    assert len(step.run(DOCUMENTS)) == 3
    step.close()
    assert len(step.run(DOCUMENTS)) == 3  # as after a failure
    step.close()
    assert (tmp_path / "count").read_text(encoding="utf-8") == "5"


def test_a_program_that_is_killed_at_every_start_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PluginError, match="exit code -9"):
        ProgramStep("odd", dying(tmp_path, set(range(100))), seconds=30)
    assert (tmp_path / "count").read_text(encoding="utf-8") == "5"
