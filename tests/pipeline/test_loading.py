"""A ``pipeline.toml``: strict, shown with every default, and tried when it is loaded."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.support.linking import build_pack as build_linking_pack
from tests.support.linking import corpus

from fascicle.core.document import Document, Mention
from fascicle.errors import FascicleError, RecipeError
from fascicle.loading import load
from fascicle.pipeline.loading import OPENERS, open_pipeline
from fascicle.pipeline.pipeline import Pipeline
from fascicle.settings.folders.shipped import shipped_models
from fascicle.settings.inputs import RecognitionSettings
from fascicle.settings.pipeline import pipeline_toml, read_pipeline
from fascicle.settings.steps import STEPS, DictionaryStep
from fascicle.verbs.link import link
from fascicle.verbs.linker import fit_folder
from fascicle.verbs.tasks.index_build import build_pack

ABSTRACTS = Path(__file__).resolve().parents[2] / "examples" / "abstracts"
TEXT = "Aspirin helped; the severe headache went, the pain too."


def found(document: Document) -> set[tuple[str, str, str]]:
    return {(one.source, one.type, one.text) for one in document}


def more(folder: Path, text: str) -> Path:
    with (folder / "pipeline.toml").open("a", encoding="utf-8") as stream:
        stream.write(text)
    return folder


def test_a_folder_holds_all_of_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    (document,) = open_pipeline(folder).stream([TEXT])
    assert found(document) == {
        ("first", "Chemical", "Aspirin"),
        ("first", "Disease", "headache"),
        ("first", "Disease", "pain"),
        ("second", "Chemical", "Aspirin"),
        ("second", "Disease", "severe headache"),
    }
    assert document.words is None  # the shared cut is not kept
    assert open_pipeline(folder / "pipeline.toml").made_by() == open_pipeline(folder).made_by()


def test_three_lines_of_python(folder: Path) -> None:
    pipeline = Pipeline([load(folder / "first.tsv"), load(folder / "second.tsv")])
    assert found(next(pipeline.stream([TEXT]))) == found(next(open_pipeline(folder).stream([TEXT])))


def test_layers_are_combined_chosen_and_dropped(folder: Path) -> None:
    more(
        folder,
        """
        [[steps]]
        kind = "combine"
        name = "both"
        sources = ["first", "second"]
        rule = "kofn"
        k = 2
        [[steps]]
        kind = "choice"
        sources = ["first", "second"]
        keep = "flat"
        [[steps]]
        kind = "drop"
        sources = ["first"]
        types = ["Chemical"]
        """,
    )
    (document,) = open_pipeline(folder).stream([TEXT])
    assert found(document) == {
        ("both", "Chemical", "Aspirin"),
        ("first", "Disease", "pain"),
        ("second", "Disease", "severe headache"),
    }
    assert {one.text_in(document.text) for one in document.layer("first", original=True)} == {
        "Aspirin",
        "headache",
        "pain",
    }


def test_earlier_mentions_of_a_source_give_way(folder: Path) -> None:
    old = Document(id="a", text=TEXT, mentions=(Mention(((0, 4),), "Old", source="first"),))
    (document,) = open_pipeline(folder).stream([old])
    assert "Old" not in {one.type for one in document.mentions}


def test_every_default_is_shown_and_read_again(folder: Path) -> None:
    more(
        folder,
        r"""
        [[steps]]
        kind = "choice"
        sources = ["first"]
        types = { "Disease" = "flat" }
        [[steps]]
        kind = "rules"
        rules = [{type = "Year", words = "\\d{4}", tests = [{text = "in 1999 \"or\" so", find = ["1999"]}]}]
        """,
    )
    settings = read_pipeline(folder)
    shown = pipeline_toml(settings)
    values = tomllib.loads(shown)
    assert values["limits"]["seconds"] == settings.limits.seconds
    assert values["steps"][0]["threshold"] == 0.0
    (folder / "shown.toml").write_text(shown, encoding="utf-8")
    assert read_pipeline(folder / "shown.toml") == settings
    assert open_pipeline(folder / "shown.toml").made_by() == open_pipeline(folder).made_by()


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('[[steps]]\nkind = "nope"', "steps[3]"),
        ('[[steps]]\nkind = ["drop"]', "steps[3].kind = ['drop'] is not a kind of step"),
        ('[[steps]]\nname = "x"', "steps[3] has no kind"),
        ('[[steps]]\nkind = "drop"\nsource = ["one"]', "steps[3].source"),
        ('[[steps]]\nkind = "drop"\nsources = []', "steps[3].sources"),
        ('[[steps]]\nkind = "drop"\nsources = ["nobody"]', "nobody"),
        ('[[steps]]\nkind = "choice"\nname = "one"\nsources = ["first"]', "'one'"),
        ('[[steps]]\nkind = "choice"\nsources = ["first"]\nkeep = "some"', "keep"),
        ('[[steps]]\nkind = "combine"\nsources = ["first", "second"]\nrule = "kofn"', "k"),
        ('[[steps]]\nkind = "recogniser"\nmodel = "nowhere/at/all"', "nowhere"),
        ('[[steps]]\nkind = "plugin"\nplugin = "nope"', "nope"),
        ('[[steps]]\nkind = "process"\ncommand = ["/no/such/program"]', "/no/such/program"),
        ('[[answers]]\ntext = "aspirin"\nfind = ["aspirin/Disease"]', "aspirin/Disease"),
        ('[[answers]]\ntext = "aspirin"\nfound = ["aspirin/Disease"]', "found"),
        ("[limits]\nseconds = 0", "seconds"),
        ("[limit]\nseconds = 1", "limit"),
    ],
)
def test_what_is_wrong_is_said_before_any_text_is_read(folder: Path, text: str, named: str) -> None:
    with pytest.raises(FascicleError) as raised:
        open_pipeline(more(folder, text))
    assert named in str(raised.value)


def test_known_answers_are_tried(folder: Path) -> None:
    open_pipeline(more(folder, '[[answers]]\ntext = "no aspirin"\nfind = ["aspirin/Chemical"]'))


class Needs:
    """A step that needs something."""

    name = "asks"
    gives: frozenset[str] = frozenset()
    drops: frozenset[str] = frozenset()
    fingerprint = ""

    def __init__(self, *needs: str) -> None:
        self.needs = frozenset(needs)

    def run(self, documents: Any) -> Any:
        raise AssertionError("no text may be read")


def test_needs_and_gives_are_checked_before_any_text_is_read(folder: Path) -> None:
    dictionary = load(folder / "first.tsv")
    Pipeline([dictionary, Needs("mentions", "words")])
    Pipeline([Needs("mentions")], given=["mentions"])
    for steps, part in (
        ([Needs("mentions"), dictionary], "mentions"),
        ([Needs("abbreviations")], "abbreviations"),
    ):
        with pytest.raises(RecipeError, match=part):
            Pipeline(steps)


def test_every_kind_of_step_is_in_both_tables() -> None:
    assert list(STEPS) == list(OPENERS)


def test_a_pack_has_the_settings_of_its_recogniser() -> None:
    ours = DictionaryStep(pack="x")
    assert {name: getattr(ours, name) for name in RecognitionSettings.__struct_fields__} == {
        name: getattr(RecognitionSettings(), name) for name in RecognitionSettings.__struct_fields__
    }


def test_a_pack_is_a_step(folder: Path) -> None:
    (folder / "names.tsv").write_text(
        "id\tname\nMESH:D001241\taspirin\nMESH:D002110\tcaffeine\n", encoding="utf-8"
    )
    (folder / "sources.toml").write_text(
        'name = "toy"\n\n[sources.names]\npath = "names.tsv"\nreader = "table"\ntype = "Chemical"\n'
        'columns = { id = "id", name = "name" }\n',
        encoding="utf-8",
    )
    build_pack(folder / "sources.toml", folder / "pack")
    more(folder, '[[steps]]\nkind = "dictionary"\nname = "toy"\npack = "pack"\n')
    (document,) = open_pipeline(folder).stream(["Caffeine and aspirin."])
    (caffeine,) = [one for one in document if one.text == "Caffeine"]
    assert caffeine.source == "toy"
    assert caffeine.links[0].curie == "MESH:D002110"


@pytest.mark.skipif(not shipped_models(), reason="the model is not in this checkout")
def test_a_model_says_the_same_in_a_pipeline_as_alone(tmp_path: Path) -> None:
    (tmp_path / "pipeline.toml").write_text(
        '[[steps]]\nkind = "recogniser"\nmodel = "biomed"\n', encoding="utf-8"
    )
    texts = [path.read_text(encoding="utf-8") for path in sorted(ABSTRACTS.glob("*.txt"))[:2]]
    with open_pipeline(tmp_path) as pipeline:
        found = list(pipeline.stream(texts))
    assert found == load("biomed", threads=1, links=False).annotate(texts)
    assert all(document.mentions for document in found)


def test_a_span_typer_is_a_step(folder: Path) -> None:
    torch = pytest.importorskip("torch")
    from fascicle.loading import load_typer
    from fascicle.models.span_typer import SpanTyper, TyperModel, WordVocabulary, save_typer
    from fascicle.settings.recipes.typer import SpanTyperSettings, TyperManifest

    torch.manual_seed(3)
    words = ("Aspirin", "severe", "headache", "pain")
    network = SpanTyper(torch.randn(len(words) + 1, 6), hidden=4, classes=2)
    settings = SpanTyperSettings(hidden=4)
    manifest = TyperManifest(
        name="toy", fascicle="0", types=("Good", "Bad"), settings=settings, dimension=6
    )
    (folder / "toy").mkdir()
    save_typer(
        folder / "toy", TyperModel(network, WordVocabulary(words, lowercase=False), manifest)
    )
    more(
        folder,
        '[[steps]]\nkind = "typer"\nname = "typed"\ntyper = "./toy"\nsources = ["first", '
        '"second"]\n',
    )
    pipeline = open_pipeline(folder)
    given = [
        Document(id="a", text=TEXT),
        Document(id="b", text="pain"),
        Document(id="a", text="no mention"),
    ]
    documents = [result.document for result in pipeline.results(given)]
    for document in documents:
        assert document is not None
        proposed = [one for one in document.mentions if one.source != "typed"]
        (expected,) = load_typer(folder / "toy").retype([document], {document.id: proposed})
        said = {(one.spans, one.type): one.score for one in document.layer("typed")}
        assert said == pytest.approx({(one.spans, one.type): one.score for one in expected.add})
    assert [len(document.layer("typed")) for document in documents if document] == [4, 1, 0]
    mark = pipeline.made_by()["step 'typed'"]
    assert mark == open_pipeline(folder).made_by()["step 'typed'"]
    other = SpanTyper(torch.randn(len(words) + 1, 6), hidden=4, classes=2)
    save_typer(folder / "toy", TyperModel(other, WordVocabulary(words, lowercase=False), manifest))
    assert mark != open_pipeline(folder).made_by()["step 'typed'"]
    with pytest.raises(FascicleError, match="meta tensor"):
        next(open_pipeline(more(folder, 'device = "meta"\n')).stream([TEXT]))


def test_abbreviations_are_a_step(folder: Path) -> None:
    more(
        folder,
        '[[steps]]\nkind = "abbreviations"\nname = "short"\n[[steps]]\nkind = "drop"\nsources = '
        '["first"]\n',
    )
    text = "Tumour necrosis factor (TNF) rose."
    (document,) = open_pipeline(folder).stream([text])
    ((short, long),) = document.abbreviations or ()
    assert (text[slice(*short)], text[slice(*long)]) == ("TNF", "Tumour necrosis factor")


def test_facts_of_mentions_are_a_step(folder: Path) -> None:
    (folder / "own.toml").write_text(
        '[[cues]]\nfact = "negated"\nwords = ["kein"]\n', encoding="utf-8"
    )
    steps = (
        '[[steps]]\nkind = "assertion"\nsources = ["first"]\ntypes = { Chemical = ["uncertain"] }\n'
    )
    steps += '[[steps]]\nkind = "assertion"\nname = "own"\nsources = ["first"]\ncues = "own.toml"\n'
    more(folder, steps)
    pipeline = open_pipeline(folder)
    first, second, third = pipeline.stream(["No pain.", "Kein pain.", "Aspirin may cause pain."])
    assert [one.attributes for one in first] == [()]  # replaced by what the last step says
    assert [one.attributes for one in second] == [(("negated", "0-4"),)]
    assert {one.attributes for one in third} == {()}
    before = pipeline.made_by()
    (folder / "own.toml").write_text(
        '[[cues]]\nfact = "negated"\nwords = ["keine"]\n', encoding="utf-8"
    )
    assert open_pipeline(folder).made_by() != before


def test_variants_are_a_step(folder: Path) -> None:
    more(folder, '[[steps]]\nkind = "variants"\n[[steps]]\nkind = "variants"\nname = "again"\n')
    (document,) = open_pipeline(folder).stream(["BRAF V600E caused pain."])
    assert found(document) == {
        ("variants", "SequenceVariant", "V600E"),
        ("again", "SequenceVariant", "V600E"),
        ("first", "Disease", "pain"),
    }
    assert {link.curie for one in document.layer("again") for link in one.links} == {
        "HGVS:p.Val600Glu"
    }


def test_coordinated_names_are_a_step(folder: Path) -> None:
    build_linking_pack(folder / "pack")
    fit_folder(folder / "pack", folder / "linker")
    (folder / "first.tsv").write_text("Disease\tovarian cancer\n", encoding="utf-8")
    of_linker = 'linker = "linker"\npacks = ["pack"]\n'
    steps = (
        f'[[steps]]\nkind = "coordination"\nsources = ["first"]\n{of_linker}[[steps]]\nkind '
        f'= "link"\n{of_linker}'
    )
    more(folder, steps)
    with open_pipeline(folder) as pipeline:
        (document,) = pipeline.stream(["Breast or ovarian cancer."])
        assert {(one.spans, one.links[0].curie) for one in document.layer("first")} == {
            (((0, 6), (18, 24)), "MESH:D1"),
            (((10, 24),), "MESH:D2"),
        }
        before = pipeline.made_by()["step 'coordination'"]
    text = (folder / "pipeline.toml").read_text(encoding="utf-8")
    (folder / "pipeline.toml").write_text(
        text.replace(of_linker, f'{of_linker}known = "all"\n', 1), encoding="utf-8"
    )
    assert open_pipeline(folder).made_by()["step 'coordination'"] != before
    (folder / "pipeline.toml").write_text(text.replace('["first"]', '["frist"]'), encoding="utf-8")
    with pytest.raises(RecipeError, match="'frist'"):
        open_pipeline(folder)


def test_links_are_a_step(folder: Path) -> None:
    """The step says what the verb says, and its linker and packs may be named from the folder of
    the pipeline.
    """
    build_linking_pack(folder / "pack")
    fit_folder(folder / "pack", folder / "linker")
    text = "Breast cancer (BC) and headache. BC!"
    (folder / "first.tsv").write_text(
        "Disease\tBC\nDisease\tBreast cancer\nPlace\theadache\n", encoding="utf-8"
    )
    more(
        folder,
        '[[steps]]\nkind = "abbreviations"\n[[steps]]\nkind = "link"\nlinker = "linker"\npacks = '
        '["pack"]\n',
    )
    with open_pipeline(folder) as pipeline:
        (document,) = pipeline.stream([text])
        assert "step 'link'" in pipeline.made_by()
    bare = msgspec.structs.replace(
        document,
        mentions=tuple(msgspec.structs.replace(one, links=()) for one in document.mentions),
        events=(),
    )
    (again,) = link([bare], linker=folder / "linker")
    assert again.mentions == document.mentions
    assert {(one.text, one.links[0].curie if one.links else "") for one in document} == {
        ("Breast cancer", "MESH:D1"),
        ("BC", "MESH:D1"),
        ("headache", ""),
    }


def test_links_need_mentions_before_them(folder: Path) -> None:
    build_linking_pack(folder / "pack")
    fit_folder(folder / "pack", folder / "linker")
    (folder / "pipeline.toml").write_text(
        '[[steps]]\nkind = "link"\nlinker = "linker"\n', encoding="utf-8"
    )
    with pytest.raises(RecipeError, match="needs mentions"):
        open_pipeline(folder)


def test_another_linker_is_another_fingerprint(folder: Path) -> None:
    build_linking_pack(folder / "pack")
    fit_folder(folder / "pack", folder / "linker")
    fit_folder(folder / "pack", folder / "other", documents=corpus())
    marks = set()
    for name, ontology in (("linker", ""), ("other", ""), ("linker", "DOID")):
        step = f'[[steps]]\nkind = "link"\nlinker = "{name}"\nontology = "{ontology}"\n'
        (folder / "pipeline.toml").write_text(f'given = ["mentions"]\n{step}', encoding="utf-8")
        marks.add(open_pipeline(folder).made_by()["step 'link'"])
    assert len(marks) == 3
