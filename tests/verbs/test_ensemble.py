"""``fascicle ensemble``: a folder that moves, and is used like a model."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from fascicle.cli import main
from fascicle.core.document import Document
from fascicle.errors import ModelError, UsageError
from fascicle.loading import load
from fascicle.settings.recipes.ensemble import read_ensemble

TEXTS = ["aspirin caused pain", "lung cancer and fever .", "the doctor was in the liver"]


def read_said(models: list[Any]) -> list[list[set[tuple[Any, ...]]]]:
    documents = [Document(id=str(i), text=text) for i, text in enumerate(TEXTS)]
    return [
        [{(m.type, m.spans) for m in patch.add} for patch in model.predict(documents)]
        for model in models
    ]


@pytest.fixture(scope="module")
def second(tiny_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same model made shy: one that says less."""
    folder = tmp_path_factory.mktemp("second") / "best"
    shutil.copytree(tiny_run / "best", folder)
    manifest = json.loads((folder / "model.json").read_text(encoding="utf-8"))
    manifest["decision"]["nothing"], manifest["name"] = 6.0, "shy"
    (folder / "model.json").write_text(json.dumps(manifest), encoding="utf-8")
    return folder


def test_a_folder_that_moves(tiny_run: Path, second: Path, tmp_path: Path, capsys: Any) -> None:
    made = tmp_path / "made"
    assert (
        main(["ensemble", "union", str(tiny_run), str(second), "-o", str(made), "--name", "both"])
        == 0
    )
    assert (
        "both, union of 2 models, nested output, types Chemical, Disease" in capsys.readouterr().out
    )
    assert (
        main(
            ["ensemble", "majority", str(made), str(second), "-o", str(tmp_path / "vote"), "--flat"]
        )
        == 0
    )
    moved = tmp_path / "elsewhere"
    made.rename(moved)
    first, other = (read_said([load(folder)])[0] for folder in (tiny_run / "best", second))
    assert first != other
    both, vote = load(moved), load(tmp_path / "vote")
    said = read_said([both, vote])
    assert said[0] == [a | b for a, b in zip(first, other, strict=True)]
    assert said[1] == [(a | b) & b for a, b in zip(first, other, strict=True)]
    assert both.types == ("Chemical", "Disease")
    assert read_ensemble(tmp_path / "vote").output == "flat"
    assert {m.source for d in both.annotate(TEXTS) for m in d.mentions} == {"both"}
    out = tmp_path / "out.jsonl"
    assert main(["annotate", "--model", str(moved), "--text", TEXTS[0], "-o", str(out)]) == 0
    assert '"source":"both"' in out.read_text(encoding="utf-8")
    with pytest.raises(UsageError, match="is an ensemble"):
        load(moved, types="x.toml")


def test_one_model_twice_has_no_second_vote(tiny_run: Path, second: Path, tmp_path: Path) -> None:
    given = [
        "ensemble",
        "union",
        str(tiny_run),
        str(second),
        str(tiny_run / "best"),
        "-o",
        str(tmp_path / "made"),
    ]
    assert main(given) == 2
    assert not (tmp_path / "made").exists()


def test_hashes_for_every_folder(tiny_run: Path, second: Path, tmp_path: Path) -> None:
    made = tmp_path / "made"
    assert main(["ensemble", "union", str(tiny_run), str(second), "-o", str(made)]) == 0
    told = json.loads((made / "ensemble.json").read_text(encoding="utf-8"))
    del told["described"]
    (made / "ensemble.json").write_text(json.dumps(told), encoding="utf-8")
    with pytest.raises(ModelError, match="0 hashes for 2 folders"):
        load(made)


def test_a_member_that_was_exchanged(tiny_run: Path, second: Path, tmp_path: Path) -> None:
    made = tmp_path / "made"
    assert main(["ensemble", "union", str(tiny_run), str(second), "-o", str(made)]) == 0
    shutil.copy(made / "members" / "01" / "model.json", made / "members" / "02" / "model.json")
    with pytest.raises(ModelError, match=r"is not what ensemble\.json"):
        load(made)
    shutil.rmtree(made / "members" / "02")
    with pytest.raises(ModelError, match=r"is not what ensemble\.json"):
        load(made)
    (made / "ensemble.json").write_text('{"format": 1, "name": 3}', encoding="utf-8")
    with pytest.raises(ModelError, match="describes no ensemble"):
        load(made)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["union", "MODEL", "-o", "OUT"], "1 model given; give at least 2"),
        (["kofn", "MODEL", "MODEL", "-o", "OUT"], "kofn needs --k"),
        (["kofn", "MODEL", "MODEL", "--k", "3", "-o", "OUT"], "3 of 2 systems were to agree"),
        (["union", "MODEL", "MODEL", "--k", "1", "-o", "OUT"], "--k is for the rule kofn"),
        (
            ["weighted", "MODEL", "MODEL", "--weights", "1,x", "-o", "OUT"],
            "the weight 'x' is not allowed",
        ),
        (["meta", "MODEL", "-o", "OUT"], "meta needs --filter"),
        (["meta", "MODEL", "--filter", "OUT", "-o", "OUT"], "holds no filter.json"),
        (["union", "MODEL", "MODEL"], "name a folder with -o"),
        (
            ["union", "MODEL", "MODEL", "--name", "gold", "-o", "OUT"],
            'an ensemble cannot be named "gold"',
        ),
        (
            ["union", "MODEL", "MODEL", "--name", "a\nb", "-o", "OUT"],
            "an ensemble cannot be named 'a\\nb'",
        ),
    ],
)
def test_what_is_refused(
    tiny_run: Path, tmp_path: Path, arguments: list[str], said: str, capsys: Any
) -> None:
    places = {"MODEL": str(tiny_run), "OUT": str(tmp_path / "out")}
    assert main(["ensemble", *(places.get(word, word) for word in arguments)]) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
