"""Plug-ins of other packages: found by name, held to their contract, and harmless where they are
broken.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import fascicle
from fascicle.cli import main
from fascicle.core.contracts import Predictor
from fascicle.core.document import Document, Mention
from fascicle.core.stream import stream
from fascicle.errors import FormatError, InputError, ModelError, PluginError, UsageError
from fascicle.formats.catalogue import READABLE
from fascicle.formats.report import FailedDocuments, ReadReport
from fascicle.plugins import GROUPS, load_plugin, load_step, plugin_names, plugins
from fascicle.runtime.places import find_model
from fascicle.settings.folders.vocabularies import find_pack

Install = Callable[..., None]

PREDICTOR = """
from fascicle.core.document import Mention, Patch

class Finder:
    name = "finder"
    types = ("X",)

    def predict(self, documents):
        return [Patch(add=(Mention(((0, 1),), "X", source=self.name),)) for _ in documents]

class Wordless(Finder):
    predict = None
    types = property(lambda self: 1 / 0)

class Forgetful(Finder):
    def predict(self, documents):
        return super().predict(documents)[1:]

class Impostor(Finder):
    def predict(self, documents):
        return [Patch(add=(Mention(((0, 1),), "X"),)) for _ in documents]

class Answering(Finder):
    def predict(self, documents):
        return eval(documents[0].text, globals() | {"documents": documents, "mention": self.mention})

    def mention(self, spans=((0, 1),)):
        return Mention(spans, "X", source=self.name)

class Half:
    name = "half"

class Cleaner:
    name = "cleaner"
    needs = gives = frozenset()
    drops = frozenset({"finder"})
    fingerprint = "1"

    def run(self, documents):
        return [Patch(drop=tuple(m.key for m in d.layer("finder"))) for d in documents]
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Installs a package of one module, by hand, where this process finds it."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def installed(package: str, source: str = PREDICTOR, **groups: dict[str, str]) -> None:
        (tmp_path / f"{package}.py").write_text(source, encoding="utf-8")
        info = tmp_path / f"{package}-1.2.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.2\n")
        sections = [
            f"[fascicle.{group}]\n"
            + "".join(f"{name} = {package}:{value}\n" for name, value in entries.items())
            for group, entries in groups.items()
        ]
        (info / "entry_points.txt").write_text("\n".join(sections))
        monkeypatch.delitem(sys.modules, package, raising=False)

    return installed


def test_a_predictor_is_loaded_by_its_name(install: Install) -> None:
    install("plug_a", predictors={"finder-x": "Finder"}, steps={"cleaner": "Cleaner"})
    assert "finder-x" in plugin_names("predictors")
    assert isinstance(load_plugin("predictors", "finder-x"), Predictor)
    model = fascicle.load("finder-x")
    assert [d.layer("finder")[0].text_in(d.text) for d in model.stream(["ab", "cd"])] == ["a", "c"]
    assert "plug_a 1.2" in repr(model)
    step = load_step("cleaner")
    assert all(
        not d.mentions
        for d in stream(step.run, model.annotate(["ab"]), step=step.name, drops=step.drops)
    )
    with pytest.raises(UsageError, match="plug-in"):
        fascicle.load("finder-x", types="types.toml")
    with pytest.raises(UsageError, match=r"plug-in.*'cuda'"):
        fascicle.load("finder-x", device="cuda")
    assert fascicle.load("finder-x", device="auto").name == "finder"


def test_a_folder_goes_before_a_plugin(
    install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install("plug_a", predictors={"finder-x": "Finder"})
    (tmp_path / "finder-x").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ModelError):
        fascicle.load("finder-x")


@pytest.mark.parametrize(
    ("source", "value", "message"),
    [
        ("import no_such_package", "Finder", "no_such_package"),
        ("raise SystemExit(3)", "Finder", "SystemExit"),
        ("def (", "Finder", "SyntaxError"),
        (PREDICTOR, "Missing", "Missing"),
        (PREDICTOR, "Half", "lacks predict, types"),
        (PREDICTOR, "Wordless", "ZeroDivisionError"),
        ("class Finder:\n    def __init__(self, size): pass", "Finder", "size"),
    ],
)
def test_a_broken_plugin_is_named_and_stops_nothing_else(
    install: Install, capsys: pytest.CaptureFixture[str], source: str, value: str, message: str
) -> None:
    install("plug_bad", source, predictors={"bad": value})
    install("plug_good", predictors={"good": "Finder"})
    with pytest.raises(PluginError, match=message) as error:
        fascicle.load("bad")
    assert "plug_bad 1.2" in str(error.value)
    assert (error.value.code, error.value.key) == ("plugin", "bad")
    assert fascicle.load("good").annotate(["ab"])
    assert main(["annotate", "--text", "asthma"]) == 0
    assert main(["annotate", "--text", "asthma", "--model", "bad"]) == 2
    assert main(["models", "--plugins"]) == 0
    captured = capsys.readouterr()
    assert "good  predictor of plug_good 1.2" in captured.out
    assert "plug_bad 1.2" in captured.err


@pytest.mark.parametrize(
    ("group", "base", "line", "message"),
    [
        ("predictors", "Finder", "name = None", "None as its name"),
        ("predictors", "Finder", "name = 'gold'", "'gold' as its name"),
        ("predictors", "Finder", "types = 'XY'", "'XY' as its types"),
        ("predictors", "Finder", "types = (1,)", "a tuple of texts"),
        ("predictors", "Finder", "predict = None", "a method"),
        ("steps", "Cleaner", "drops = 'finder'", "a frozenset of texts"),
        ("readers", "Lines", "suffixes = None", "None as its suffixes"),
        ("readers", "Lines", "suffixes = '.odd'", "a tuple of texts"),
        ("readers", "Lines", "suffixes = ('odd',)", "begin with a dot"),
        ("readers", "Lines", "suffixes = ('.ODD',)", "lower case"),
        ("writers", "Lines", "start = ''", "bytes"),
        ("writers", "Lines", "holds = 'ids'", "a frozenset of texts"),
    ],
)
def test_a_part_of_the_wrong_kind_is_refused(
    install: Install, tmp_path: Path, group: str, base: str, line: str, message: str
) -> None:
    install(
        "plug_bad",
        f"{PREDICTOR}{FORMAT}\nclass Wrong({base}):\n    {line}\n",
        **{group: {"wrong": "Wrong"}},
    )
    install("plug_good", FORMAT, readers={"lines": "Lines"})
    with pytest.raises(PluginError, match=message) as error:
        load_plugin(group, "wrong")
    assert "plug_bad 1.2" in str(error.value)
    path = tmp_path / "a.lines"
    path.write_text("1 fine\n", encoding="utf-8")
    assert [document.text for document in fascicle.read(path)] == ["1 fine"]


def test_clashes_are_reported(install: Install, capsys: pytest.CaptureFixture[str]) -> None:
    install("plug_a", predictors={"same": "Finder", "biomed": "Finder"})
    install("plug_b", predictors={"same": "Finder"})
    with pytest.raises(PluginError, match=r"plug_a 1\.2 and plug_b 1\.2"):
        fascicle.load("same")
    assert fascicle.load("biomed").name != "finder"
    assert main(["models", "--plugins", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    problems = {(one["name"], one["package"]): one["problem"] for one in found}
    assert "plug_b 1.2" in problems["same", "plug_a 1.2"]
    assert "hidden" in problems["biomed", "plug_a 1.2"]


def test_a_group_that_does_not_exist_is_reported(
    install: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    install("plug_a", predictor={"finder-x": "Finder"}, predictors={"finder-y": "Finder"})
    assert main(["models", "--plugins"]) == 0
    said = capsys.readouterr()
    assert "finder-x  predictor of plug_a 1.2 (cannot be used)\n" in said.out
    assert "finder-y  predictor of plug_a 1.2\n" in said.out
    assert (
        "group fascicle.predictor, which does not exist; choose one of fascicle.predictors, "
        in said.err
    )


def test_what_is_asked_for_and_not_there() -> None:
    for group in GROUPS:
        with pytest.raises(PluginError, match="no installed package"):
            load_plugin(group, "no-such-plugin")
    with pytest.raises(ModelError):
        fascicle.load("no-such-plugin")
    assert all(one.group in GROUPS for one in plugins({}))


@pytest.mark.parametrize(
    ("value", "message"),
    [("Forgetful", "gave 1 patch for 2 documents; return one for each"), ("Impostor", "'gold'")],
)
def test_a_predictor_is_held_to_its_contract(install: Install, value: str, message: str) -> None:
    install("plug_a", predictors={"odd": value})
    model = fascicle.load("odd")
    with pytest.raises(PluginError, match=message):
        model.predict([Document(id="1", text="ab"), Document(id="2", text="ab")])
    with pytest.raises(PluginError):
        list(model.stream(["ab"], aside=lambda error: None))


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("None", "gave an object of the type NoneType in place of a list of patches"),
        ("(Patch() for _ in documents)", "gave an object of the type generator in place of a list"),
        ("Patch()", "gave an object of the type Patch in place of a list"),
        ("[None]", "gave an object of the type NoneType in place of a patch"),
        ("list(documents)", "gave an object of the type Document in place of a patch"),
        ("[Patch(add=mention())]", "an object of the type Mention as its add"),
        (
            "[Patch(add=(mention() for _ in documents))]",
            "an object of the type generator as its add",
        ),
        ("[Patch(add=(((0, 1), 'X'),))]", "an object of the type tuple in place of a mention"),
        ("[Patch(add=(mention([[0, 1]]),))]", r"the spans \[\[0, 1\]\]; make them a tuple"),
    ],
)
def test_what_is_no_answer_is_named_as_a_fault_of_the_plugin(
    install: Install, capsys: pytest.CaptureFixture[str], answer: str, message: str
) -> None:
    install("plug_a", predictors={"odd": "Answering"})
    with pytest.raises(PluginError, match=f"plug_a 1.2, .*{message}"):
        fascicle.load("odd").predict([Document(id="1", text=answer)])
    assert main(["annotate", "--text", answer, "--model", "odd"]) == 2
    assert "plug_a 1.2" in capsys.readouterr().err


@pytest.mark.parametrize("answer", ["1 / 0", "[Patch(add=(mention(((0, 999),)),))]"])
def test_a_document_that_a_plugin_fails_at_is_named(
    install: Install, tmp_path: Path, capsys: pytest.CaptureFixture[str], answer: str
) -> None:
    install("plug_a", predictors={"odd": "Answering"})
    gold = tmp_path / "gold.jsonl"
    fascicle.write(gold, [Document(id="a", text=answer, mentions=(Mention(((0, 1),), "X"),))])
    assert main(["evaluate", str(gold), "--model", "odd", "--debug"]) == 2
    said = capsys.readouterr().err
    assert re.search(r"error: finder, a plug-in of plug_a 1\.2, .* document 'a'", said)
    assert ("plug_a.py" in said) is (answer == "1 / 0")
    with pytest.raises(InputError, match="document 'text-1'"):
        fascicle.load("odd")(answer)
    assert main(["annotate", "--text", answer, "--model", "odd"]) == 2
    assert "error: document 'text-1' could not be annotated (" in capsys.readouterr().err


def test_no_plugin_is_looked_for_without_need(install: Install, tmp_path: Path) -> None:
    install(
        "plug_bad",
        "raise SystemExit('imported')",
        predictors={"bad": "Finder"},
        readers={"bad": "Finder"},
    )
    program = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "import fascicle, fascicle.plugins\n"
        "def refuse(group): raise AssertionError(group)\n"
        "fascicle.plugins._entries = refuse\n"
        "from fascicle.cli import main\n"
        "assert main(['annotate', '--text', 'asthma', '--format', 'tsv']) == 0\n"
        "assert 'plug_bad' not in sys.modules\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


FORMAT = """
class Lines:
    suffixes = (".lines",)
    holds = frozenset({"ids", "text-between-words"})
    start, end = b"<\\n", b">\\n"

    def read(self, source):
        from fascicle.core.document import Document
        for number, line in source.lines():
            if line not in ("<", ">"):
                yield Document(id=str(1 // int(line.split()[0])), text=line)

    def encode(self, document):
        return (document.text + "\\n").encode()

class Giving(Lines):
    def read(self, source):
        from fascicle.core.document import Document, Mention
        from fascicle.errors import FormatError
        yield Document(id="first", text="fine")
        for number, line in source.lines():
            yield eval(line)

class Raising(Lines):
    def read(self, source):
        from fascicle.errors import FormatError
        raise FormatError("no sense")

class Odd(Lines):
    holds = frozenset({"no-such-field"})

    def read(self, source):
        yield "a text"

class Text(Lines):
    def encode(self, document):
        return document.text

class Failing(Lines):
    def encode(self, document):
        return document.no_such_part
"""


def test_a_format_has_a_start_and_an_end(install: Install, tmp_path: Path) -> None:
    install("plug_f", FORMAT, readers={"lines": "Lines"}, writers={"lines": "Lines"})
    path = tmp_path / "a.lines.gz"
    report = fascicle.write(path, [Document(id="1", text="1 a"), Document(id="2", text="1 b")])
    assert report.documents == 2
    assert [document.text for document in fascicle.read(path)] == ["1 a", "1 b"]
    text = tmp_path / "b.txt"
    fascicle.write(text, fascicle.read(path), format="lines")
    assert text.read_bytes() == b"<\n1 a\n1 b\n>\n"


def test_a_file_of_a_plugin_cannot_be_resumed(
    install: Install, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    install("plug_f", FORMAT, writers={"lines": "Lines"})
    asked = [
        "annotate",
        __file__,
        "--model",
        "biomed-fast",
        "--no-link",
        "-o",
        str(tmp_path / "a.lines"),
        "--resume",
    ]
    assert main(asked) == 2
    assert "cannot be gone on with" in capsys.readouterr().err


def test_the_files_of_a_plugin_without_a_suffix_end_with_its_name(
    install: Install, tmp_path: Path
) -> None:
    install("plug_f", FORMAT.replace('(".lines",)', "()"), writers={"lines": "Lines"})
    (tmp_path / "in.txt").write_text("asthma", encoding="utf-8")
    asked = [
        "annotate",
        str(tmp_path / "in.txt"),
        "--model",
        "biomed-fast",
        "--no-link",
        "--format",
        "lines",
    ]
    assert main([*asked, "-o", f"{tmp_path}/out/"]) == 0
    assert (tmp_path / "out" / "in.lines").read_bytes() == b"<\nasthma\n>\n"


def test_an_empty_file_with_the_suffix_of_a_plugin_is_no_plain_text(
    install: Install, tmp_path: Path
) -> None:
    install("plug_f", FORMAT, readers={"lines": "Lines"})
    (tmp_path / "a.lines").touch()
    (tmp_path / "a.other").touch()
    assert main(["corpus", "stats", str(tmp_path / "a.lines")]) == 2
    assert main(["corpus", "stats", str(tmp_path / "a.other")]) == 0


def test_sentences_about_formats_name_those_of_plugins(
    install: Install, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    install(
        "plug_f",
        FORMAT,
        readers={"lines": "Lines", "other-lines": "Giving"},
        writers={"lined": "Lines"},
    )
    (tmp_path / "a.lines").write_text("1 fine\n", encoding="utf-8")
    (tmp_path / "a.none").write_text("1 fine\n", encoding="utf-8")
    for command, sentence in (
        (
            ["corpus", "stats", "a.none"],
            f"name it with --input-format, one of {', '.join(READABLE)}, lines",
        ),
        (
            ["corpus", "stats", "a.none", "--input-format", "linez"],
            "did you mean lines?); choose from auto",
        ),
        (["corpus", "convert", "a.none", "--format", "linet"], "lined; see"),
        (["corpus", "stats", "a.lines"], "lines and other-lines; choose one with --input-format"),
        (["evaluate", "a.lines", "a.none"], "lines and other-lines; choose one with --gold-format"),
    ):
        given = [str(tmp_path / word) if word.startswith("a.") else word for word in command]
        assert main(given) == 2
        assert sentence in capsys.readouterr().err


def test_a_fault_of_a_reader_costs_its_file_alone(install: Install, tmp_path: Path) -> None:
    install("plug_f", FORMAT, readers={"lines": "Lines", "odd": "Odd"})
    for name, content in (("a.lines", "0 x\n"), ("b.lines", "1 fine\n")):
        (tmp_path / name).write_text(content, encoding="utf-8")
    files = [tmp_path / "a.lines", tmp_path / "b.lines"]
    with pytest.raises(UsageError, match=r"lines and odd"):
        fascicle.read(files)
    report = ReadReport(aside=FailedDocuments(keep_going=True))
    assert [d.text for d in fascicle.read(files, format="lines", report=report)] == ["1 fine"]
    (error,) = report.aside.errors
    assert (error.file, error.key) == (str(files[0]), "lines")
    assert "ZeroDivisionError" in str(error)
    with pytest.raises(PluginError, match="in place of a Document"):
        list(fascicle.read(files, format="odd"))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            "42",
            "gave an object of the type int in place of a Document; yield Documents, and an "
            "InputError",
        ),
        ("ValueError('bad')", "gave an object of the type ValueError"),
        ("Document(id=7, text='a')", "an object of the type int as its id"),
        ("Document(id='7', text=b'a')", "an object of the type bytes as its text"),
        (
            "Document(id='7', text='abc', mentions=[Mention([[0, 1]], 'X')])",
            r"the spans \[\[0, 1\]\]",
        ),
    ],
)
def test_what_is_no_document_is_named_as_a_fault_of_the_reader(
    install: Install, tmp_path: Path, given: str, message: str
) -> None:
    install("plug_f", FORMAT, readers={"giving": "Giving"})
    path = tmp_path / "a.lines"
    path.write_text(given, encoding="utf-8")
    with pytest.raises(PluginError, match=f"the reader 'giving' .*{message}") as error:
        list(fascicle.read(path))
    assert error.value.file == str(path)


def test_an_error_of_a_reader_names_the_file_though_the_reader_does_not(
    install: Install, tmp_path: Path
) -> None:
    install("plug_f", FORMAT, readers={"giving": "Giving", "raising": "Raising"})
    path = tmp_path / "a.lines"
    path.write_text("FormatError('no sense')", encoding="utf-8")
    for name in ("giving", "raising"):
        report = ReadReport(aside=FailedDocuments(keep_going=True))
        list(fascicle.read(path, format=name, report=report))
        with pytest.raises(FormatError, match="no sense") as raised:
            list(fascicle.read(path, format=name))
        for error in (*report.aside.errors, raised.value):
            assert (str(error), error.file) == (f"{path}: no sense", str(path))


def test_a_writer_is_held_to_its_contract(install: Install, tmp_path: Path) -> None:
    install(
        "plug_f",
        FORMAT,
        writers={"odd": "Odd", "text-only": "Text", "failing": "Failing", "conll": "Lines"},
    )
    document = Document(id="1", text="1 a", words=((0, 1), (2, 3)))
    for name, kind, message in (
        ("odd", PluginError, "no-such-field"),
        ("text-only", PluginError, "in place of bytes"),
        ("failing", InputError, "no_such_part"),
    ):
        with pytest.raises(kind, match=message):
            fascicle.write(tmp_path / "out", [document], format=name)
        assert not (tmp_path / "out").exists()
    fascicle.write(tmp_path / "out", [document], format="conll")  # ours goes before theirs
    assert b"<" not in (tmp_path / "out").read_bytes()
    with pytest.raises(PluginError, match="a reader called 'text-only'"):
        list(fascicle.read(tmp_path / "out", format="text-only"))


def _install_model(folder: Path, install: Install, value: str) -> Path:
    """A package with a copy of a shipped model inside."""
    install(
        "plug_m",
        source="raise RuntimeError('no code of a package with a model runs')",
        models={"big": value},
    )
    (folder / "plug_m.py").unlink()
    package = folder / "plug_m"
    package.mkdir()
    (package / "__init__.py").write_text(
        "raise RuntimeError('no code of a package with a model runs')\n"
    )
    shutil.copytree(find_model("biomed-fast"), package / "model")
    return package


def test_a_model_of_another_package_is_opened_as_a_shipped_one(
    install: Install, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _install_model(tmp_path, install, "model")
    text = "Aspirin reduced fever in BRCA1 carriers."
    (here,) = fascicle.load("big").annotate(text)
    (there,) = fascicle.load("biomed-fast").annotate(text)
    assert here.mentions == there.mentions
    assert here.mentions
    assert main(["models", "--plugins"]) == 0
    assert "big  model of plug_m 1.2" in capsys.readouterr().out
    with pytest.raises(ModelError, match="did you mean 'big'"):
        fascicle.load("bigg")


@pytest.mark.parametrize("value", ["elsewhere", "__init__.py"])
def test_a_model_that_is_not_in_its_package_is_told(
    install: Install, tmp_path: Path, capsys: pytest.CaptureFixture[str], value: str
) -> None:
    _install_model(tmp_path, install, value)
    with pytest.raises(PluginError, match=rf"plug_m 1\.2.*'plug_m:{re.escape(value)}'"):
        fascicle.load("big")
    assert main(["models", "--plugins"]) == 0
    assert "cannot be used" in capsys.readouterr().out


def test_a_folder_goes_before_a_model_of_another_package(
    install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _install_model(tmp_path, install, "model")
    (tmp_path / "here" / "big").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here")
    with pytest.raises(ModelError, match=r"model\.json"):
        fascicle.load("big")


VOCABULARY = """
from pathlib import Path

from fascicle.settings.packs import ColumnSettings
from fascicle.terms.sources.tables import Layout
from fascicle.terms.terms import ConceptRecord, Name

TABLE = Layout(prefix="mine", columns=ColumnSettings(id="key", label=("title",)))

class Lines:
    def read(self, settings, report):
        for line in Path(settings.path).read_text().splitlines():
            report.rows += 1
            report.used += 1
            local, name = line.strip().split("=")
            yield ConceptRecord(curie=f"mine:{local}", names=(Name(name, "label"),))

class Loose(Lines):
    def read(self, settings, report):
        yield {"curie": "mine:1"}

class Broken(Lines):
    def read(self, settings, report):
        yield from ()
        raise KeyError(settings.path)
"""


def test_a_package_brings_a_reader_of_vocabularies(
    install: Install, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = {
        "lines": "Lines",
        "table-of-mine": "TABLE",
        "loose": "Loose",
        "broken": "Broken",
        "obo": "Lines",
    }
    install("plug_names", VOCABULARY, vocabularies=names)
    (tmp_path / "a.txt").write_text("1=zeta fever\n")
    (tmp_path / "b.csv").write_text("key,title\n2,eta fever\n")
    sources = [("a", "a.txt", "lines"), ("b", "b.csv", "table-of-mine")]
    tables = [
        f'[sources.{one}]\npath = "{path}"\nreader = "{reader}"\ntype = "Disease"'
        for one, path, reader in sources
    ]
    (tmp_path / "sources.toml").write_text("\n".join(['name = "mine@1"', *tables]))
    assert (
        main(["index", "build", str(tmp_path / "sources.toml"), "-o", str(tmp_path / "mine")]) == 0
    )
    document = fascicle.load(tmp_path / "mine")("Zeta fever, then eta fever.")
    assert [mention.links[0].curie for mention in document] == ["mine:1", "mine:2"]
    capsys.readouterr()
    for reader, message in (
        ("loose", "no ConceptRecord"),
        ("broken", "KeyError"),
        ("liness", "lines"),
    ):
        (tmp_path / "bad.toml").write_text(
            (tmp_path / "sources.toml").read_text().replace('"lines"', f'"{reader}"')
        )
        assert (
            main(["index", "build", str(tmp_path / "bad.toml"), "-o", str(tmp_path / "bad")]) == 2
        )
        assert message in capsys.readouterr().err
        assert not (tmp_path / "bad").exists()
    assert main(["models", "--plugins"]) == 0
    printed = capsys.readouterr()
    assert "lines  vocabulary of plug_names 1.2\n" in printed.out
    assert "the vocabulary 'obo' of plug_names 1.2 is hidden" in printed.err


def test_a_package_brings_a_term_pack(
    install: Install,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "names.tsv").write_text("id\tname\ttype\nmine:1\tzeta fever\tDisease\n")
    for version in ("1", "10"):
        folder = tmp_path / "plug_pack" / f"v{version}"
        folder.parent.mkdir(exist_ok=True)
        assert main(["index", "build", str(tmp_path / "names.tsv"), "-o", str(folder)]) == 0
    install("plug_pack", packs={})
    (tmp_path / "plug_pack.py").unlink()
    points = (
        "[fascicle.packs]\nfevers@1 = plug_pack:v1\nfevers@10 = plug_pack:v10\ngone@1 = "
        "plug_pack:none\n"
    )
    (tmp_path / "plug_pack-1.2.dist-info" / "entry_points.txt").write_text(points)
    text = "Zeta fever was seen."
    assert [one.links[0].curie for one in fascicle.load("fevers")(text)] == ["mine:1"]
    assert main(["index", "why", "fevers@1", "zeta fever"]) == 0
    assert (
        main(["annotate", "--text", text, "--model", "fevers", "--link", "fevers", "--json"]) == 0
    )
    assert "mine:1" in capsys.readouterr().out
    assert find_pack("fevers").name == "v10"
    assert find_pack("fevers@1").name == "v1"
    assert not find_pack("gone").exists()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fevers").mkdir()
    assert find_pack("fevers") == Path("fevers")
    assert [one.problem for one in plugins({}) if one.group == "packs" and one.problem] != []
