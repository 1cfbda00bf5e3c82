"""What of an answer is given out: types that a model keeps apart, chosen types, and least
scores.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

from fascicle.core.document import Document
from fascicle.errors import ModelError, UsageError
from fascicle.loading import load, load_all_types, load_single

TEXT = "the patient has lung cancer. aspirin caused pain ."


def found(model: object) -> set[str]:
    (patch,) = model.predict([Document(id="1", text=TEXT)])  # type: ignore[attr-defined]
    return {mention.type for mention in patch.add}


@pytest.fixture
def folder(tiny_run: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny_run / "best", tmp_path / "model"))


def keep_apart(folder: Path, *types: str) -> None:
    described = json.loads((folder / "model.json").read_text(encoding="utf-8"))
    described["decision"]["apart"] = types
    (folder / "model.json").write_text(json.dumps(described), encoding="utf-8")


def test_a_type_apart_is_given_out_when_it_is_asked_for(folder: Path) -> None:
    every = load(folder)
    apart, *others = sorted(found(every))
    assert others
    keep_apart(folder, apart)
    plain = load(folder)
    assert found(plain) == set(others)
    assert apart not in plain.types
    (patch,) = plain.predict([Document(id="1", text=TEXT)])
    assert [event.code for event in patch.events] == ["linked"]  # nobody misses it
    assert found(load(folder, only=[apart])) == {apart}
    assert found(load_all_types(folder)) == found(load_single(folder)) == {apart, *others}
    assert plain.fingerprint != every.fingerprint


def test_other_mentions_of_a_model_with_a_type_apart_are_the_same(folder: Path) -> None:
    document = Document(id="1", text=TEXT)
    (before,) = load(folder).predict([document])
    apart = before.add[0].type
    keep_apart(folder, apart)
    (after,) = load(folder).predict([document])
    assert after.add == tuple(mention for mention in before.add if mention.type != apart)
    (tagged,) = load(folder).tag([document])
    assert tagged.patch.add == after.add
    (whole,) = load_all_types(folder).tag([document])
    first = load_all_types(folder).types.index(apart) * 2  # columns of B and I
    assert (
        tagged.probabilities.tolist()
        == np.delete(whole.probabilities, [first, first + 1], axis=1).tolist()
    )


@pytest.mark.parametrize("name", ["calibration", "document"])
def test_no_event_tells_of_a_type_apart_that_nobody_asked_for(folder: Path, name: str) -> None:
    kind = load(folder)(TEXT).mentions[0].type
    curve = {"method": "temperature", "temperature": 1.0}
    rules = {
        "calibration": {
            "curve": curve,
            "threshold": 0.0,
            "thresholds": {kind: 1.0},
            "wanted": "",
            "chosen_on": "",
        },
        "document": {"types": {kind: {"low": 1.0, "alone": 1.0}}},
    }
    described = json.loads((folder / "model.json").read_text(encoding="utf-8"))
    described["decision"][name] = rules[name]
    (folder / "model.json").write_text(json.dumps(described), encoding="utf-8")
    assert load(folder, links=False)(TEXT).events  # a mention of the type went
    keep_apart(folder, kind)
    assert load(folder, links=False)(TEXT).events == ()
    (tagged,) = load(folder, links=False).tag([Document(id="1", text=TEXT)])
    assert tagged.patch.events == ()
    alone = [load(folder, links=False, **chosen) for chosen in ({"only": [kind]}, {"also": []})]
    for asked in (*alone, load_all_types(folder)):
        assert bool(asked(TEXT).events) is (kind in asked.types)


def test_types_apart_must_be_types_of_the_model_and_not_all(folder: Path) -> None:
    types = load(folder).types
    for wrong, told in (("Gene.other", "Gene.other"), (types, "every type")):
        keep_apart(folder, *([wrong] if isinstance(wrong, str) else wrong))
        with pytest.raises(ModelError, match=told):
            load(folder)


def test_an_unknown_type_is_refused(folder: Path) -> None:
    with pytest.raises(UsageError, match="does not look for"):
        load(folder, only=["Nothing"])
    with pytest.raises(UsageError, match="threshold"):
        load(folder, threshold=2.0)
    for wrong in ({"Nothing": 0.5}, {"Disease": 1.5}, {"Disease": "high"}, "high"):
        with pytest.raises(UsageError):
            load(folder, threshold=wrong)  # type: ignore[arg-type]


def test_a_threshold_for_a_type_apart_that_nobody_asked_for_is_refused(
    folder: Path, tmp_path: Path
) -> None:
    """It would do nothing; a list of names that gives the type out makes it mean something."""
    apart, *others = load(folder).types
    keep_apart(folder, apart)
    for only in ([], others[:1]):
        with pytest.raises(UsageError, match=f"{apart}.*only"):
            load(folder, only=only, threshold={others[0]: 0.5, apart: 0.5})
    assert load(folder, only=[apart], threshold={apart: 0.5}).types == (apart,)
    assert apart in load_all_types(folder).types
    names = tmp_path / "names.tsv"
    names.write_text(f"{apart}\tnobody\n", encoding="utf-8")
    assert apart in load(folder, also=names, threshold={apart: 0.5}).types


def test_a_model_with_a_type_apart_shows_what_it_is(folder: Path) -> None:
    keep_apart(folder, load(folder).types[0])
    whole = load_all_types(folder)
    for opened in (load(folder), load(folder, only=whole.types[:1]), load(folder, variants=True)):
        assert opened.manifest == whole.manifest  # type: ignore[attr-defined]
    names = folder.parent / "names.tsv"
    names.write_text("Disease\tpain\n", encoding="utf-8")
    assert not hasattr(load(names, only=["Disease"]), "manifest")


def test_thresholds_of_types_count_each_for_its_own(folder: Path) -> None:
    every = load(folder)(TEXT).mentions
    scores = {
        kind: [one.score for one in every if one.type == kind] for kind in found(load(folder))
    }
    for kind in scores:
        left = load(folder, threshold={kind: 1.0})(TEXT).mentions
        assert left == tuple(one for one in every if one.type != kind or one.score == 1.0)
    assert load(folder, threshold={}).fingerprint == load(folder).fingerprint
    assert (
        load(folder, threshold={"Disease": 0.5}).fingerprint
        != load(folder, threshold=0.5).fingerprint
    )
