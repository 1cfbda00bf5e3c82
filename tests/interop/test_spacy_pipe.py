"""``nlp.add_pipe("fascicle")`` in blank pipelines of spaCy, found by the entry point of the
package.
"""

from __future__ import annotations

import inspect
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

import catalogue
import pytest
import spacy
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from tests.pages import blocks

import fascicle
from fascicle.core.document import Document
from fascicle.errors import FascicleError, ModelError
from fascicle.interop.spacy import create

ROOT = Path(__file__).parents[2]
TEXTS = [
    "Aspirin helps against headache; lithium causes tremor.",
    "BRCA1-mutated breast cancer was treated with olaparib.",
    "Nothing is said.",
    "",
    "😀 Metformin lowers glucose in type 2 diabetes.",
]
MODEL = "biomed-fast"


@pytest.fixture(autouse=True)
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The entry points of the package, as an installation has them."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    info = tmp_path / "site" / "fascicle-0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: fascicle\nVersion: 0\n", encoding="utf-8"
    )
    lines = [
        f"{name} = {value}\n" for name, value in project["entry-points"]["spacy_factories"].items()
    ]
    (info / "entry_points.txt").write_text(f"[spacy_factories]\n{''.join(lines)}", encoding="utf-8")
    monkeypatch.syspath_prepend(str(info.parent))
    # What spaCy reads once, when it is imported.
    monkeypatch.setattr(catalogue, "AVAILABLE_ENTRY_POINTS", metadata.entry_points())


def pipeline(**config: Any) -> spacy.language.Language:
    nlp = spacy.blank("en")
    nlp.add_pipe("fascicle", config={"model": MODEL, **config})
    return nlp


def expected(**options: Any) -> list[Document]:
    return fascicle.load(MODEL, link="auto", **options)(TEXTS)


def test_every_mention_is_a_span_with_score_and_concepts() -> None:
    nlp = pipeline()
    for text, document in zip(TEXTS, expected(), strict=True):
        doc = nlp(text)
        assert doc.text == text
        assert doc._.fascicle.mentions == document.mentions
        assert len(doc.spans["fascicle"]) == len(document.mentions)
        for span, mention in zip(doc.spans["fascicle"], document.mentions, strict=True):
            assert span.label_ == mention.type
            assert span.start_char <= mention.start < mention.end <= span.end_char
            assert span._.fascicle_score == mention.score
            assert span._.fascicle_curies == [link.curie for link in mention.links if not link.nil]
            linked = [("NIL" if link.nil else link.curie) for link in mention.links]
            assert span.kb_id_ == (linked[0] if linked else "")
    assert any(span.kb_id_ == "MESH:D001241" for span in nlp(TEXTS[0]).ents)


def test_mentions_within_one_token_keep_their_own_facts() -> None:
    text = "Mutations of BRCA1+BRCA2 were found."
    (document,) = fascicle.load(MODEL, link="auto")([text])
    nlp = pipeline()
    stored = DocBin(store_user_data=True, docs=[nlp(text)])
    for doc in (nlp(text), *DocBin().from_bytes(stored.to_bytes()).get_docs(nlp.vocab)):
        own = [
            (mention.score, [link.curie for link in mention.links]) for mention in document.mentions
        ]
        assert [
            (one._.fascicle_score, one._.fascicle_curies) for one in doc.spans["fascicle"]
        ] == own
        assert len({facts[0] for facts in own}) > 1
        best = max(own)
        assert [(ent._.fascicle_score, ent._.fascicle_curies) for ent in doc.ents] == [best]


def test_entities_are_the_best_mentions_without_overlaps() -> None:
    for doc in pipeline().pipe(TEXTS):
        tokens = [at for ent in doc.ents for at in range(ent.start, ent.end)]
        assert len(tokens) == len(set(tokens))
        spans = {(span.start, span.end, span.label_, span.kb_id_) for span in doc.spans["fascicle"]}
        assert {(ent.start, ent.end, ent.label_, ent.kb_id_) for ent in doc.ents} <= spans
    assert len(pipeline()(TEXTS[0]).ents) == 4


def test_batches_and_processes_give_the_same() -> None:
    nlp = pipeline(threads=1)
    alone = [nlp(text).to_json() for text in TEXTS]
    for options in ({"batch_size": 2}, {"batch_size": 100}, {"n_process": 2, "batch_size": 2}):
        found = list(pipeline(threads=1).pipe(TEXTS, **options))
        assert [doc.to_json() for doc in found] == alone
        assert [doc._.fascicle.mentions for doc in found] == [
            nlp(text)._.fascicle.mentions for text in TEXTS
        ]


def test_entities_of_others_stay_unless_they_are_to_go() -> None:
    for overwrite, label in ((False, "BRAND"), (True, "Chemical")):
        nlp = spacy.blank("en")
        nlp.add_pipe("entity_ruler").add_patterns([{"label": "BRAND", "pattern": "Aspirin"}])
        nlp.add_pipe("fascicle", config={"model": MODEL, "overwrite_ents": overwrite})
        assert nlp(TEXTS[0]).ents[0].label_ == label
    bare = pipeline(set_ents=False)(TEXTS[0])
    assert (len(bare.ents), len(bare.spans["fascicle"])) == (0, 4)


def test_settings_are_those_of_load(tmp_path: Path) -> None:
    own = tmp_path / "own.tsv"
    own.write_text("Drug\taspirin\n", encoding="utf-8")
    doc = pipeline(
        also=[str(own)], only=["Drug", "Disease"], threshold={"Disease": 1.0}, link=None
    )(TEXTS[0])
    assert [(ent.text, ent.label_, ent.kb_id_) for ent in doc.ents] == [("Aspirin", "Drug", "")]
    assert doc.ents[0]._.fascicle_score is None
    assert "Drug" in pipeline(also=[str(own)]).get_pipe("fascicle").labels
    assert "Drug" in pipeline(also=str(own)).get_pipe("fascicle").labels
    doc = pipeline(variants=True)("BRAF V600E is common.")
    assert ("V600E", "SequenceVariant", "HGVS:p.Val600Glu") in [
        (ent.text, ent.label_, ent.kb_id_) for ent in doc.ents
    ]


def test_the_device_is_that_of_load(tmp_path: Path) -> None:
    assert (
        pipeline(device="cpu").get_pipe("fascicle").labels == pipeline().get_pipe("fascicle").labels
    )
    own = tmp_path / "own.tsv"
    own.write_text("Drug\taspirin\n", encoding="utf-8")
    for model in (MODEL, str(own)):
        with pytest.raises(FascicleError, match="'tpu'"):
            pipeline(model=model, device="tpu")


def test_facts_of_mentions_are_an_extension() -> None:
    doc = pipeline(assertions=True, link=None)("No evidence of breast cancer.")
    assert [(ent.text, ent._.fascicle_facts) for ent in doc.ents] == [
        ("breast cancer", {"negated": "0-14"})
    ]
    assert [
        ent._.fascicle_facts for ent in pipeline(link=None)("No evidence of breast cancer.").ents
    ] == [{}]


def test_every_setting_of_load_that_a_configuration_can_hold_is_there() -> None:
    """The others are objects, or for models that spaCy does not open."""
    ours = set(inspect.signature(fascicle.load).parameters) - {
        "types",
        "recognition",
        "ends",
    }
    assert ours <= set(inspect.signature(create).parameters)


def test_documents_survive_a_file() -> None:
    nlp = pipeline()
    stored = DocBin(store_user_data=True, docs=[nlp(text) for text in TEXTS])
    for doc, document in zip(
        DocBin().from_bytes(stored.to_bytes()).get_docs(nlp.vocab), expected(), strict=True
    ):
        assert doc._.fascicle.mentions == document.mentions
        assert [ent._.fascicle_score is not None for ent in doc.ents] == [True] * len(doc.ents)
    copy = Doc(nlp.vocab).from_bytes(nlp(TEXTS[0]).to_bytes())
    assert copy._.fascicle.text == TEXTS[0]


def test_one_name_of_two_components_has_the_links_of_both(tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    for name, ids in (("x", "X:1"), ("z", "Z:3")):
        (tmp_path / name).mkdir()
        table = tmp_path / name / "same.tsv"
        table.write_text(f"name\ttype\tid\nlithium\tDrug\t{ids}\n", encoding="utf-8")
        nlp.add_pipe("fascicle", name=name, config={"model": str(table), "spans_key": name})
    (mention,) = nlp("Lithium helps.")._.fascicle
    assert [link.curie for link in mention.links] == ["X:1", "Z:3"]


@pytest.mark.parametrize("keys", [("a", "b"), ("fascicle", "fascicle")])
def test_two_components_keep_their_own_facts(tmp_path: Path, keys: tuple[str, str]) -> None:
    nlp = spacy.blank("en")
    for name, key, rows in (
        ("a", keys[0], "name\ttype\tid\nlithium\tDrug\tX:1\ntremor\tSign\tX:2\n"),
        (
            "b:1",
            keys[1],
            "name\ttype\tid\ntremor\tSymptom\tHP:1\nrenal failure\tDisease\tX:9\n",
        ),
    ):
        (tmp_path / f"{name[0]}.tsv").write_text(rows, encoding="utf-8")
        config = {"model": str(tmp_path / f"{name[0]}.tsv"), "spans_key": key}
        nlp.add_pipe("fascicle", name=name, config=config)
    text = "Lithium can cause tremor and renal failure."
    nlp.to_disk(tmp_path / "saved")
    stored = DocBin(store_user_data=True, docs=[nlp(text)])
    for doc in (
        nlp(text),
        nlp(nlp(text)),
        *DocBin().from_bytes(stored.to_bytes()).get_docs(nlp.vocab),
        *nlp.pipe([text], n_process=2),
        spacy.load(tmp_path / "saved")(text),
    ):
        assert [
            (span.text, span.label_, span._.fascicle_curies)
            for key in dict.fromkeys(keys)
            for span in doc.spans[key]
        ] == [
            ("Lithium", "Drug", ["X:1"]),
            ("tremor", "Sign", ["X:2"]),
            ("tremor", "Symptom", ["HP:1"]),
            ("renal failure", "Disease", ["X:9"]),
        ]
        assert [(ent.label_, ent._.fascicle_curies) for ent in doc.ents] == [
            ("Drug", ["X:1"]),
            ("Sign", ["X:2"]),
            ("Disease", ["X:9"]),
        ]
        assert [(mention.text, mention.type) for mention in doc._.fascicle] == [
            ("Lithium", "Drug"),
            ("tremor", "Sign"),
            ("tremor", "Symptom"),
            ("renal failure", "Disease"),
        ]


def test_a_saved_pipeline_is_loaded_and_answers_alike(tmp_path: Path) -> None:
    nlp = pipeline(only="Chemical")
    nlp.to_disk(tmp_path / "saved")
    again = spacy.load(tmp_path / "saved")
    assert [again(text).to_json() for text in TEXTS] == [nlp(text).to_json() for text in TEXTS]
    from_bytes = spacy.blank("en")
    from_bytes.add_pipe("fascicle", config={"model": MODEL, "only": ["Chemical"]})
    from_bytes.from_bytes(nlp.to_bytes())
    assert from_bytes(TEXTS[0]).to_json() == nlp(TEXTS[0]).to_json()


def test_a_pipeline_with_another_model_than_that_it_was_saved_with_is_refused(
    tmp_path: Path,
) -> None:
    own = tmp_path / "own.tsv"
    own.write_text("Drug\taspirin\n", encoding="utf-8")
    pipeline(also=[str(own)]).to_disk(tmp_path / "saved")
    own.write_text("Drug\tlithium\n", encoding="utf-8")
    with pytest.raises(ModelError, match="saved with another"):
        spacy.load(tmp_path / "saved")(TEXTS[0])


def test_a_batch_that_fails_goes_to_the_handler(monkeypatch: pytest.MonkeyPatch) -> None:
    nlp, failed = pipeline(), list[str]()
    component = nlp.get_pipe("fascicle")
    whole = component._mark

    def fail(doc: Doc, document: Document) -> Doc:
        if "Nothing" in doc.text:
            raise ValueError("a bad text")
        return whole(doc, document)

    monkeypatch.setattr(component, "_mark", fail)
    with pytest.raises(ValueError, match="a bad text"):
        list(nlp.pipe(TEXTS))
    nlp.set_error_handler(lambda name, proc, docs, error: failed.extend(doc.text for doc in docs))
    assert [doc.text for doc in nlp.pipe(TEXTS, batch_size=1)] == [
        text for text in TEXTS if "Nothing" not in text
    ]
    assert failed == ["Nothing is said."]


def test_a_doc_is_annotated_by_the_model_itself() -> None:
    doc = spacy.blank("en")(TEXTS[0])
    assert fascicle.load(MODEL)(doc).mentions == fascicle.load(MODEL)(TEXTS[0]).mentions


def test_the_page_for_users_of_spacy(capsys: pytest.CaptureFixture[str]) -> None:
    page = (ROOT / "docs" / "python" / "coming-from.md").read_text(encoding="utf-8")
    (code,) = (block for block in blocks(page, "python") if "spacy" in block)
    exec(compile(code, "coming-from.md", "exec"), {})
    assert "('Aspirin', 'Chemical', 'MESH:D001241'" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"model": "biomedd"}, "there is no model 'biomedd'; did you mean 'biomed'"),
        ({"threshold": 2}, "threshold must be a number from 0.0 to 1.0"),
        ({"also": ["gone.tsv"]}, r"gone\.tsv \(there is no such file\)"),
        ({"only": "Nothing"}, "does not look for the type 'Nothing'"),
        ({"link": "nope"}, "there is no linker at nope"),
        ({"links": False, "link": "basic"}, "leave out link and ontology"),
        ({"ontology": "NOPE"}, "NOPE"),
        ({"assertions": "none.toml"}, "none.toml"),
        ({"relations": "none"}, "none"),
        ({"types": "none.toml"}, "types"),
        ({"nested": True}, "nested is for term packs"),
    ],
)
def test_settings_are_checked_when_the_component_is_added(
    settings: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(FascicleError, match=sentence):
        spacy.blank("en").add_pipe("fascicle", config=settings)


def test_entities_are_scored() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("fascicle", config={"model": MODEL, "only": ["Chemical"], "link": None})
    gold = {TEXTS[0]: (0, 7, "Chemical"), "Water is wet.": (0, 5, "Chemical")}
    examples = [
        Example.from_dict(nlp.make_doc(text), {"entities": [entity]})
        for text, entity in gold.items()
    ]
    found = [(ent.start_char, ent.end_char) for ent in nlp(TEXTS[0]).ents]
    assert found == [(0, 7), (32, 39)]  # one right, one beside gold; one gold is missed
    assert nlp.evaluate(examples)["ents_f"] == pytest.approx(2 / (2 + 2))
