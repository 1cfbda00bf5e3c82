"""Species whose genus is shortened are looked up by the full name that their text has."""

from __future__ import annotations

import pytest

from fascicle.core.document import Document, Mention
from fascicle.linking.asking import make_units
from fascicle.linking.binomials import Binomials


@pytest.mark.parametrize(
    ("text", "name", "full"),
    [
        ("Mycoplasma bovis is rare. @", "M. bovis", "Mycoplasma bovis"),
        ("Mycoplasma bovis is rare. @", "M.bovis", "Mycoplasma bovis"),
        ("Entamoeba coli and Escherichia coli: @", "E. coli K-12", "E. coli K-12"),
        ("Entamoeba coli: @; Escherichia coli", "E. coli", "Entamoeba coli"),
        ("@ is Entamoeba\ncoli, not Escherichia coli", "E coli", "E coli"),
        ("Borna virus and @", "B virus", "B virus"),
        ("Streptococcus pneumoniae, @", "Str. pneumoniae", "Streptococcus pneumoniae"),
        ("Streptococcus pneumoniae, @", "Staph. pneumoniae", "Staph. pneumoniae"),
        ("Candida albicans, @", "C. elegans", "C. elegans"),
        ("Mycoplasma bovis, @", "bovis", "bovis"),
        ("Salmonella enterica, @", "S. enterica ser. Typhi", "Salmonella enterica ser. Typhi"),
    ],
)
def test_the_full_names_before_a_place_decide(text: str, name: str, full: str) -> None:
    place = text.index("@")
    assert Binomials(text.replace("@", name)).full(name, place) == full


@pytest.mark.parametrize("text", ["Mycoplasma bovis (M. bovis)", "Mycoplasma bovis. M. bovis"])
def test_a_shortened_name_is_not_looked_up_where_the_text_has_the_full_one(text: str) -> None:
    start = text.index("M. bovis")
    mention = Mention(((start, start + 8),), "Species")
    (unit,) = make_units([Document(id="1", text=text)], [[mention]])
    surfaces = {string.surface for string in (*unit.query.strings, *unit.query.short)}
    assert surfaces == {"Mycoplasma bovis"}


def test_many_names_take_linear_time() -> None:
    text = "Mycoplasma bovis M. bovis " * 20_000
    binomials = Binomials(text)
    assert all(binomials.full("M. bovis", at) != "M. bovis" for at in range(0, len(text), 26))
