"""UMLS, SNOMED CT and MedDRA in small files of our own, in the layout that their publishers
describe.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.terms.sources.conftest import Read, read_file

from fascicle.errors import FormatError, InputError

Reader = Callable[..., Read]
PAGE = Path(__file__).resolve().parents[3] / "docs" / "how-to-build-a-pack.md"


def conso(
    cui: str,
    language: str,
    source: str,
    kind: str,
    code: str,
    name: str,
    suppress: str = "N",
    *,
    atom: tuple[str, ...] = ("S", "L1", "VO", "S1", "N"),
) -> str:
    """A row of MRCONSO.RRF with its 18 columns."""
    cells = (
        cui,
        language,
        *atom,
        "A1",
        "",
        "",
        "",
        source,
        kind,
        code,
        name,
        "0",
        suppress,
        "",
    )
    return "|".join(cells) + "|\n"


CONSO = (
    conso("C0011849", "ENG", "MSH", "MH", "D003920", "Diabetes Mellitus")
    + conso("C0011849", "ENG", "SNOMEDCT_US", "PT", "73211009", 'Diabetes "mellitus" (sugar)')
    + conso("C0011849", "ENG", "MSH", "AB", "D003920", "DM")
    + conso("C0011849", "GER", "MSHGER", "MH", "D003920", "Diabetes mellitus")
    + conso("C0011849", "ENG", "MSH", "ET", "D003920", "Old name", suppress="O")
    + conso("C0004057", "ENG", "MSH", "MH", "D001241", "Aspirin")
    + conso("C9999999", "ENG", "MSH", "MH", "X1", "Untyped")
)
MRSTY = (
    "C0011849|T047|B2.2.1.2.1|Disease or "
    "Syndrome|AT1|256|\nC0004057|T121|A1.4.1.1.1|Pharmacologic Substance|AT2||\n"
)


def test_umls_has_types_languages_and_kinds(read: Reader, tmp_path: Path) -> None:
    (tmp_path / "MRSTY.RRF").write_text(MRSTY, encoding="utf-8")
    types = {"T047": "Disease", "Pharmacologic Substance": "Chemical"}
    found = read(CONSO, "umls", hierarchy=str(tmp_path / "MRSTY.RRF"), types=types)
    assert {one.curie: one.type for one in found.records} == {
        "umls:C0011849": "Disease",
        "umls:C0004057": "Chemical",
    }
    assert {(one.surface, one.kind, one.language) for one in found["umls:C0011849"].names} == {
        ("Diabetes Mellitus", "label", "en"),
        ('Diabetes "mellitus" (sugar)', "exact", "en"),
        ("DM", "abbreviation", "en"),
        ("Diabetes mellitus", "label", "de"),
    }
    assert found.losses() == {"where": 1, "type": 1}


PREFERRED = ("P", "L1", "PF", "S1", "Y")


def test_the_label_of_umls_is_the_preferred_name_of_the_concept(read: Reader) -> None:
    content = (
        conso("C0020538", "ENG", "MSH", "MH", "D006973", "Hypertension")
        + conso("C0020538", "ENG", "SNOMEDCT_US", "FN", "1", "High pressure (disorder)")
        + conso("C0020538", "ENG", "CHV", "SY", "0", "Hypertensive disease", atom=PREFERRED)
        + conso("C0020538", "ENG", "X", "PT", "2", "Blood raised (finding)")
    )
    assert read(content, "umls", type="Disease").names("umls:C0020538") == {
        "Hypertensive disease": "label",
        "Hypertension": "exact",
        "High pressure": "exact",
        "Blood raised (finding)": "exact",
    }


def test_vocabularies_and_languages_of_umls_can_be_chosen(read: Reader) -> None:
    found = read(CONSO, "umls", type="Disease", table={"where": {"11": ["SNOMEDCT_US"]}})
    assert found.names("umls:C0011849") == {'Diabetes "mellitus" (sugar)': "label"}
    assert read(CONSO, "umls", languages=["de"]).names("umls:C0011849") == {
        "Diabetes mellitus": "label"
    }


RXNCONSO = (
    ("1191", "ENG", "RXNORM", "IN", "1191", "aspirin"),
    ("1191", "ENG", "RXNORM", "SY", "1191", "acetylsalicylic acid"),
    ("1191", "ENG", "MTHSPL", "SU", "R16CO5Y76E", "ASPIRIN"),
    ("202433", "ENG", "RXNORM", "BN", "202433", "Tylenol"),
)  # https://www.nlm.nih.gov/research/umls/rxnorm/docs/techdoc.html: the columns of MRCONSO.RRF


def test_rxnorm_is_a_table_without_a_header(read: Reader) -> None:
    """As docs/how-to-build-a-pack.md has it."""
    (block,) = re.findall(
        r"^```toml\n(name = \"umls@1\".*?)^```$", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE
    )
    settings = tomllib.loads(block)["sources"]["rxnorm"]
    assert settings.pop("path") == "RXNCONSO.RRF"
    content = "".join(conso(*row) for row in RXNCONSO) + conso(
        "5", "ENG", "RXNORM", "IN", "5", "gone", suppress="O"
    )
    found = read(content, **settings)
    assert {one.curie: one.type for one in found.records} == {
        "rxnorm:1191": "Chemical",
        "rxnorm:202433": "Chemical",
    }
    assert found.names("rxnorm:1191") == {"aspirin": "label", "acetylsalicylic acid": "exact"}
    assert found.names("rxnorm:202433") == {"Tylenol": "label"}
    assert found.losses() == {"where": 2}


def test_a_broken_row_of_semantic_types_is_counted(read: Reader, tmp_path: Path) -> None:
    (tmp_path / "MRSTY.RRF").write_text(
        MRSTY + "C1|T047\nnone|T047|B|Disease or Syndrome|A||\n", encoding="utf-8"
    )
    found = read(CONSO, "umls", hierarchy=str(tmp_path / "MRSTY.RRF"), types={"T047": "Disease"})
    assert found.losses()["columns"] == found.losses()["identifier"] == 1
    with pytest.raises(InputError):
        read(CONSO, "umls", hierarchy=str(tmp_path / "none"), types={"T047": "Disease"})


FULL, SYNONYM = "900000000000003001", "900000000000013009"
HEAD = "id\teffectiveTime\tactive\tmoduleId\tconceptId\tlanguageCode\ttypeId\tterm\tcaseSignificanceId\n"


def described(concept: str, kind: str, term: str, active: str = "1") -> str:
    return f"1\t20240101\t{active}\t900000000000207008\t{concept}\ten\t{kind}\t{term}\t900000000000448009\n"


DESCRIPTIONS = (
    HEAD
    + described("22298006", FULL, "Myocardial infarction (disorder)")
    + described("22298006", SYNONYM, "Heart attack")
    + described("22298006", SYNONYM, "Cardiac infarction", active="0")
    # a definition
    + described(
        "22298006", "900000000000550004", "Death of heart muscle after its vessel is closed"
    )
    + described("64572001", FULL, "Disease (disorder)")
    + described("123037004", FULL, "Body structure (body structure)")
    + described("84698008", SYNONYM, 'Cholesterol "good" (HDL)')
)
RELATIONS = (
    "id\teffectiveTime\tactive\tmoduleId\tsourceId\tdestinationId\trelationshipGroup\ttypeId\tcharacteristicTypeId\t"
    "modifierId\n"
    "1\t20240101\t1\t9\t22298006\t64572001\t0\t116680003\t9\t9\n"
    "2\t20240101\t0\t9\t22298006\t123037004\t0\t116680003\t9\t9\n"
    "3\t20240101\t1\t9\t22298006\t123037004\t0\t363698007\t9\t9\n"
)


def test_snomed_has_names_without_tags_and_its_hierarchy(read: Reader, tmp_path: Path) -> None:
    (tmp_path / "relationships").write_text(RELATIONS, encoding="utf-8")
    found = read(
        DESCRIPTIONS,
        "snomed",
        hierarchy=str(tmp_path / "relationships"),
        below=["snomedct:64572001"],
    )
    assert found.names("snomedct:22298006") == {
        "Myocardial infarction": "label",
        "Heart attack": "exact",
    }
    assert found.names("snomedct:64572001") == {"Disease": "label"}
    assert {one.curie for one in found.records} == {"snomedct:22298006", "snomedct:64572001"}
    assert {one for record in found.records for one in record.parents} == {"snomedct:64572001"}


def test_parentheses_of_synonyms_of_snomed_stay(read: Reader) -> None:
    assert read(DESCRIPTIONS, "snomed").names("snomedct:84698008") == {
        'Cholesterol "good" (HDL)': "exact"
    }
    with pytest.raises(FormatError, match="conceptId"):
        read("id\tterm\n1\tx\n", "snomed")


HIERARCHY = (
    "10012601$10012602$10018424$10027433$Diabetes mellitus$Diabetes mellitus (incl subtypes)$"
    "Glucose metabolism disorders$Metabolism and nutrition disorders$Metab$$10027433$Y$\n"
    "10012602$10012602$10018424$10027433$Other$Diabetes mellitus (incl subtypes)$"
    "Glucose metabolism disorders$Metabolism and nutrition disorders$Metab$$10027433$Y$\n"
)
LOWEST = "10012594$Diabetes$10012601$$$$$$$Y$$\n10012601$Diabetes mellitus$10012601$$$$$$$Y$$\n"


def test_meddra_has_five_levels(read: Reader, tmp_path: Path) -> None:
    (tmp_path / "llt.asc").write_text(LOWEST, encoding="utf-8")
    found = read(HIERARCHY, "meddra", hierarchy=str(tmp_path / "llt.asc"), type="Disease")
    assert found.names("meddra:10012601") == {"Diabetes mellitus": "exact", "Diabetes": "exact"}
    parents = {record.curie: record.parents for record in found.records if record.parents}
    assert parents["meddra:10012601"] == ("meddra:10012602",)
    assert parents["meddra:10018424"] == ("meddra:10027433",)
    assert found.names("meddra:10027433") == {"Metabolism and nutrition disorders": "label"}


def test_other_encodings_and_separators_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.asc").write_bytes(HIERARCHY.replace("Other", "Ménière").encode("latin-1"))
    assert "Ménière" in read_file(tmp_path / "a.asc", "meddra", encoding="latin-1").names(
        "meddra:10012602"
    )
    (tmp_path / "b").write_text("id~~name\n7~~seven\n", encoding="utf-8")
    columns = {"id": "id", "label": ["name"]}
    found = read_file(
        tmp_path / "b", "table", prefix="acme", columns=columns, table={"separator": "~~"}
    )
    assert found.names("acme:7") == {"seven": "label"}


def test_of_the_versions_of_a_row_of_snomed_the_latest_counts(read: Reader, tmp_path: Path) -> None:
    head = "id\teffectiveTime\tactive\tmoduleId\tconceptId\tlanguageCode\ttypeId\tterm\tcaseSignificanceId\n"
    name, synonym = "900000000000003001", "900000000000013009"
    rows = [
        ("101", "20020131", "1", "Old fever (disorder)", name),
        ("102", "20200131", "1", "Fever (disorder)", name),
        ("101", "20200131", "0", "Old fever (disorder)", name),
        ("103", "20100131", "1", "Pyrexia", synonym),
        ("103", "20200131", "1", "High temperature", synonym),
    ]
    lines = [
        f"{row}\t{time}\t{active}\t9\t386661006\ten\t{kind}\t{term}\t9\n"
        for row, time, active, term, kind in rows
    ]
    above = "id\teffectiveTime\tactive\tsourceId\tdestinationId\ttypeId\n"
    above += "7\t20020131\t1\t386661006\t404684003\t116680003\n7\t20200131\t0\t386661006\t404684003\t116680003\n"
    (tmp_path / "relationships").write_text(above, encoding="utf-8")
    found = read(head + "".join(lines), "snomed", hierarchy=str(tmp_path / "relationships"))
    assert found.names("snomedct:386661006") == {"Fever": "label", "High temperature": "exact"}
    assert not any(record.parents for record in found.records)
    assert found.losses() == {"superseded": 3, "where": 2}
