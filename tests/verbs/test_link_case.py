"""``fascicle link`` with own packs whose names are all in one case, as lists are often exported."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import fascicle
from fascicle.verbs.tasks.index_build import build_pack

Cli = Callable[..., Any]

FORMS = (
    "NSAIDs",
    "PCBs",
    "IgG",
    "KCl",
    "TiO2",
    "HepG2",
    "cAMP",
    "ZnO",
    "NaHCO3",
    "FeCl3",
    "MgCl2",
    "LNCaP",
    "HaCaT",
    "PsA",
    "CaCo-2",
    "AChE",
    "CaP",
    "tPA",
    "vWD",
    "5-Fu",
    "d4T",
)


@pytest.mark.parametrize("case", [str.lower, str.upper, str.capitalize])
@pytest.mark.parametrize("kind", ["Chemical", "Disease", "CellLine"])
def test_names_in_one_case_answer_their_forms_in_mixed_case(
    tmp_path: Path, cli: Cli, case: Callable[[str], str], kind: str
) -> None:
    table = [f"OWN:{at}\t{case(form).replace('-', '')}\n" for at, form in enumerate(FORMS, 1)]
    (tmp_path / "names.tsv").write_text("".join(["id\tname\n", *table]), encoding="utf-8")
    (tmp_path / "sources.toml").write_text(
        'name = "own@1"\n[sources.own]\npath = "names.tsv"\nreader = "table"\n'
        f'type = "{kind}"\ncolumns = {{ id = "id", name = "name" }}\n',
        encoding="utf-8",
    )
    build_pack(tmp_path / "sources.toml", tmp_path / "pack")
    texts = [
        f"{at}|t|{form} rose.\n{at}|a|\n{at}\t0\t{len(form)}\t{form}\t{kind}\n\n"
        for at, form in enumerate(FORMS, 1)
    ]
    (tmp_path / "mentions.pubtator").write_text("".join(texts), encoding="utf-8")
    linked = tmp_path / "linked.jsonl"
    answer = cli(
        "link", tmp_path / "mentions.pubtator", "--linker", tmp_path / "pack", "-o", linked
    )
    assert answer.code == 0, answer.err
    curies = {
        mention.text_in(document.text): [link.curie for link in mention.links]
        for document in fascicle.read(linked)
        for mention in document.mentions
    }
    assert curies == {form: [f"OWN:{at}"] for at, form in enumerate(FORMS, 1)}
