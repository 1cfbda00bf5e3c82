"""Models in other processes: what is sent is how to open them, never their weights."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import shutil
from pathlib import Path

import pytest
from joblib import Parallel, delayed

import fascicle
from fascicle.core.document import Document
from fascicle.errors import ModelError, UsageError
from fascicle.text.annotator import Annotator

TEXT = "Lithium may cause nephrogenic diabetes insipidus in 2 of 10 patients."


@pytest.fixture
def names(tmp_path: Path) -> Path:
    path = tmp_path / "names.tsv"
    path.write_text("Chemical\tLithium\nDisease\tdiabetes insipidus\n", encoding="utf-8")
    return path


def _spawned(model: Annotator, text: str) -> Document:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(model, (text,))


def test_a_pickle_says_how_to_open_a_model_and_holds_no_weights() -> None:
    model = fascicle.load("biomed", only=["Disease"], threshold={"Disease": 0.2}, variants=True)
    data = pickle.dumps(model)
    assert len(data) < 1_000
    again = pickle.loads(data)
    assert again(TEXT) == model(TEXT)
    assert again.fingerprint == model.fingerprint
    assert again.made_of == model.made_of
    assert copy.deepcopy(model)(TEXT) == model(TEXT)
    assert copy.copy(model)(TEXT) == model(TEXT)


def test_tasks_of_a_worker_share_one_model(names: Path) -> None:
    data = pickle.dumps(fascicle.load(names))
    assert pickle.loads(data) is pickle.loads(data)


def test_a_model_works_in_another_process_and_folder(
    names: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    model = fascicle.load("names.tsv", case="any")  # a relative path
    data = pickle.dumps(model)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert pickle.loads(data)(TEXT) == model(TEXT)
    assert _spawned(model, TEXT) == model(TEXT)


def test_joblib_sends_a_model_to_its_workers(names: Path) -> None:
    model = fascicle.load("biomed-fast", also=names, only=["Chemical", "Disease"])
    texts = [TEXT, "Asthma.", "Nothing."]
    results = Parallel(n_jobs=2)(delayed(model)(text) for text in texts)
    assert results == [model(text) for text in texts]


def test_other_files_in_the_same_place_are_refused(tmp_path: Path) -> None:
    from fascicle.runtime.places import find_model

    shutil.copytree(find_model("biomed-fast"), tmp_path / "own")
    data = pickle.dumps(fascicle.load(tmp_path / "own"))
    shutil.rmtree(tmp_path / "own")
    shutil.copytree(find_model("biomed"), tmp_path / "own")
    with pytest.raises(ModelError, match="is another model here than in the process that sent it"):
        pickle.loads(data)


def test_what_load_did_not_open_is_refused_in_a_sentence(names: Path) -> None:
    from fascicle.terms.finding import open_dictionary

    with pytest.raises(UsageError, match=r"names was not opened by fascicle\.load"):
        pickle.dumps(open_dictionary(names))
