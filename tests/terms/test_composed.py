"""Names composed of a quality and an entity, with a pack of a few names; the texts are the examples
of ``assets/lexicon/qualities.toml``.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from fascicle.core.document import Document
from fascicle.core.lexicon import lexicon
from fascicle.core.mention import Mention
from fascicle.settings.inputs import RecognitionSettings
from fascicle.terms.keys.key import key
from fascicle.terms.pack.layout import OF_QUALITIES, QUALITIES
from fascicle.terms.pack.pack import Pack
from fascicle.terms.pack.qualities import ROLES, split_name
from fascicle.terms.pack.verifying import verify
from fascicle.terms.recognising import PackRecogniser
from fascicle.verbs.tasks.index import why
from fascicle.verbs.tasks.index_build import build_pack, extend

TABLE = """id\tname\tkind
a:1\tIncreased blood glucose level\tlabel
a:1\tBlood glucose increased\tsynonym
a:2\tAbnormality of the liver\tlabel
a:3\tDelayed speech\tlabel
a:4\tWeight loss\tlabel
a:5\tReduced tumour volume NOS\tlabel
a:6\tblood glucose monitor\tlabel
a:7\tliver\tlabel
a:8\tIncreased blood pressure\tlabel
a:9\tElevated blood pressure\tlabel
"""
EXAMPLES = lexicon("qualities")["examples"]


def write_sources(folder: Path, *, qualities: bool) -> Path:
    (folder / "a.tsv").write_text(TABLE)
    path = folder / f"sources-{qualities}.toml"
    path.write_text(
        f"""name = "toy@1"
{"qualities = true" if qualities else ""}
[sources.a]
path = "a.tsv"
reader = "table"
type = "Phenotype"
columns = {{ id = "id", name = "name", kind = "kind" }}
"""
    )
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("packs")
    build_pack(write_sources(place, qualities=True), place / "composed")
    build_pack(write_sources(place, qualities=False), place / "plain")
    return place


def find(pack: Path, text: str, settings: RecognitionSettings | None = None) -> list[Mention]:
    recogniser = PackRecogniser({"toy": Pack.open(pack)}, settings=settings)
    before, (patch,) = (
        recogniser.predict([Document(id="0", text="Rise")]),
        recogniser.predict([Document(id="1", text=text)]),
    )
    assert before[0].add == ()
    return list(patch.add)


def answers(pack: Path, text: str) -> list[tuple[str, str]]:
    """Text and concept of each mention."""
    return [
        (mention.text_in(text), mention.links[0].curie if mention.links else "")
        for mention in find(pack, text)
    ]


@pytest.mark.parametrize(("name", "parts"), EXAMPLES["names"].items())
def test_names_are_split(name: str, parts: list[str]) -> None:
    kind, entity = parts
    assert set(split_name(key(name, 2))) == {(kind, key(entity, 2))}


@pytest.mark.parametrize(
    "name",
    [
        *(
            "Increased",
            "loss",
            "blood glucose",
            "Increased (x) of y",
            "NOS",
            "Cognitive impairment",
        ),
        *("Low back pain", "High myopia", "Foot drop", "Frequent falls", "Late-onset dystrophy"),
    ],
)
def test_names_without_a_quality_or_an_entity_are_not_split(name: str) -> None:
    assert not list(split_name(key(name, 2)))


@pytest.mark.parametrize(("marked", "name"), EXAMPLES["texts"].items())
def test_other_forms_are_found(folder: Path, marked: str, name: str) -> None:
    text = marked.replace("[[", "").replace("]]", "")
    parts = re.findall(r"\[\[(.+?)\]\]", marked)
    concept = next(row.split("\t")[0] for row in TABLE.splitlines() if row.split("\t")[1] == name)
    assert answers(folder / "composed", text) == [(" ".join(parts), concept)]


@pytest.mark.parametrize("text", EXAMPLES["others"])
def test_other_texts_mean_no_composed_name(folder: Path, text: str) -> None:
    assert not find(folder / "composed", text)


def test_every_word_for_a_quality_is_one_token() -> None:
    for lists in lexicon("qualities")["classes"].values():
        for word in [word for role in ROLES for word in lists[role]]:
            assert " " not in key(word, 2)


def test_the_parts_are_fragments_and_the_link_says_how(folder: Path) -> None:
    (mention,) = find(folder / "composed", "Blood glucose was raised.")
    assert mention.spans == ((0, 13), (18, 24))
    assert mention.links[0].tier == "composed"


def test_names_as_they_are_written_stay(folder: Path) -> None:
    for text in ("Blood glucose increased.", "An increased blood glucose level."):
        assert find(folder / "composed", text) == find(folder / "plain", text) != []


def test_a_longer_name_is_kept_and_a_shorter_is_not(folder: Path) -> None:
    pack = folder / "composed"
    assert answers(pack, "A raised blood glucose monitor.") == [("blood glucose monitor", "a:6")]
    assert answers(pack, "Abnormal liver.") == [("Abnormal liver", "a:2")]
    nested = find(pack, "Abnormal liver.", RecognitionSettings(overlaps="nested"))
    assert [mention.spans for mention in nested] == [((0, 14),), ((9, 14),)]


def test_british_spelling_plural_and_nos(folder: Path) -> None:
    assert answers(folder / "composed", "Lowered tumor volumes.") == [
        ("Lowered tumor volumes", "a:5")
    ]


def test_names_of_two_concepts_have_no_link(folder: Path) -> None:
    (mention,) = find(folder / "composed", "Raised blood pressure.")
    assert (mention.spans, mention.links) == (((0, 21),), ())


def test_documents_are_apart(folder: Path) -> None:
    recogniser = PackRecogniser({"toy": Pack.open(folder / "composed")})
    texts = ("It is high", "blood glucose", "glucose", "Then blood glucose rose")
    patches = recogniser.predict([Document(id=text, text=text) for text in texts])
    assert [[mention.spans for mention in patch.add] for patch in patches] == [
        [], [], [], [((5, 23),)],
    ]  # fmt: skip


def test_a_pack_without_the_setting_has_the_same_files(folder: Path) -> None:
    plain, composed = Pack.open(folder / "plain"), Pack.open(folder / "composed")
    more = {QUALITIES, *OF_QUALITIES}
    assert set(composed.manifest.files) - set(plain.manifest.files) == more
    files = composed.manifest.files.items()
    assert {name: facts for name, facts in files if name not in more} == plain.manifest.files
    assert composed.manifest.counts["names with a quality"] == 8
    assert "names with a quality" not in plain.manifest.counts
    assert verify(composed) > verify(plain)


def test_an_extended_pack_has_composed_names_too(folder: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.tsv"
    own.write_text("id\tname\tkind\nb:1\tElevated zinc\tlabel\n")
    extend(folder / "composed", own, tmp_path / "more", kind="Phenotype")
    assert answers(tmp_path / "more", "Zinc was high.") == [("Zinc high", "b:1")]


def test_why_explains_a_composed_name(folder: Path) -> None:
    (answer,) = why(folder / "composed", "blood glucose was raised").composed
    assert (answer.quality, answer.entity) == ("raised", "blood glucose")
    assert {term.surface for term in answer.terms} == {
        "Increased blood glucose level",
        "Blood glucose increased",
    }
    assert why(folder / "plain", "blood glucose was raised").composed == ()


def test_the_work_grows_with_the_text(folder: Path) -> None:
    def calls(times: int) -> int:
        count = 0

        def add(frame: object, event: str, argument: object) -> None:
            nonlocal count
            count += event == "call"

        before = sys.getprofile()
        sys.setprofile(add)
        try:
            mentions = find(folder / "composed", "Blood glucose was raised. " * times)
        finally:
            sys.setprofile(before)
        assert len(mentions) == times
        return count

    calls(2)  # what is read once
    assert calls(160) < 3 * calls(80)
