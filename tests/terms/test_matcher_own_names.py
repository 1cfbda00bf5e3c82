"""The capitals in which the names of a user's own list are found, against a plain look at each
word.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.document import Document
from fascicle.errors import FormatError, InputError
from fascicle.loading import load
from fascicle.terms.dictionary import ENGLISH_STOP_WORDS, OWN, DictionaryEntry
from fascicle.terms.finding import open_dictionary
from fascicle.terms.headings import split_identifiers
from fascicle.terms.matcher import DictionaryReport, Matcher, read_typed_names

WORDS = [
    "aspirin",
    "Aspirin",
    "ASPIRIN",
    "REST",
    "Rest",
    "rest",
    "Ca",
    "CA",
    "ca",
    "was",
    "Was",
    "WAS",
    "BRCA1",
    "brca1",
]


def is_found(word: str, name: str, case: str) -> bool:
    """What the setting says in words, for one word and one name."""
    symbol = len(name) <= 2 or (name.isalpha() and name == name.upper() and len(name) <= 6)
    if case == "any":
        return word.lower() == name.lower()
    stop = name.lower() in ENGLISH_STOP_WORDS
    if stop and name != name.upper():
        return False
    if case == "exact" or symbol:
        return word == name
    return word.lower() == name.lower()


@pytest.mark.parametrize("case", ["auto", "exact", "any"])
@given(
    names=st.lists(st.sampled_from(WORDS), min_size=1, max_size=5),
    text=st.lists(st.sampled_from(WORDS), max_size=8),
)
def test_words_are_found_as_the_setting_says(case: str, names: list[str], text: list[str]) -> None:
    entries = [DictionaryEntry(name, f"Type{at}") for at, name in enumerate([*names, "certain"])]
    (patch,) = Matcher(entries, rule=OWN[case]).predict([Document(id="1", text=" ".join(text))])  # type: ignore[index]
    starts = [len(" ".join(text[:at])) + bool(at) for at in range(len(text))]
    wanted = {
        (start, start + len(word), one.type)
        for start, word in zip(starts, text, strict=True)
        for one in entries
        if is_found(word, one.name, case)
    }
    assert {(mention.start, mention.end, mention.type) for mention in patch.add} == wanted


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "own.tsv"
    path.write_text(
        "Chemical\taspirin\nDisease\tHeart Failure\nGene\tREST\nGene\tBRCA1\n", encoding="utf-8"
    )
    return path


def said(path: Path, text: str, case: str = "auto") -> list[str]:
    return [mention.text for mention in load(path, case=case)(text)]  # type: ignore[arg-type]


def test_capitals_are_as_users_expect(own: Path) -> None:
    text = (
        "Aspirin, ASPIRIN and aspirin; heart failure, Heart failure and HEART FAILURE at "
        "rest; REST and Brca1"
    )
    everything = text.replace(";", ",").replace(" and ", ", ").split(", ")
    expected = [one.removesuffix(" at rest") for one in everything]
    assert said(own, text) == expected
    assert said(own, text, "any") == [*expected[:-2], "rest", *expected[-2:]]
    assert said(own, text, "exact") == ["aspirin", "REST"]


def test_a_function_word_in_capitals_is_found_as_the_guide_says(tmp_path: Path) -> None:
    path = tmp_path / "list.tsv"
    path.write_text("Gene\tWAS\n", encoding="utf-8")
    text = "It was WAS."
    assert [said(path, text, case) for case in ("auto", "exact")] == [["WAS"], ["WAS"]]
    assert said(path, text, "any") == ["was", "WAS"]


@pytest.mark.parametrize("case", ["auto", "exact", "any"])
def test_raised_numbers_of_citations_are_no_part_of_a_name(tmp_path: Path, case: str) -> None:
    path = tmp_path / "list.tsv"
    path.write_text("Disease\tgout\nGene\tREST\nChemical\tCa\u00b2\u207a\n", encoding="utf-8")
    text = "He had gout\u00b9,\u00b2 and REST\u00b3, Ca\u00b2\u207a\u2074."
    found = load(path, case=case, link=())(text)  # type: ignore[arg-type]
    assert [(text[one.start : one.end], one.start) for one in found] == [
        ("gout", 7),
        ("REST", 19),
        ("Ca\u00b2\u207a", 26),
    ]


RAISED = [
    "FEV\u00b9",
    "5-HT\u00b3",
    "PGE\u00b2",
    "IgG\u00b9",
    "TXA\u00b2",
    "PGI\u00b2",
    "FT\u2074",
    "T\u2074",
    "Th\u00b9\u2077",
    "Kv\u2077",
    "vitamin B\u00b9\u00b2",
    "1,25(OH)\u00b2D",
    "LDL\u00b2",
    "IL\u00b2",
    "\u03b1\u00b9",
    "CYP2D\u2076",
    "TGF-\u03b2\u00b9",
]


@pytest.mark.parametrize("case", ["auto", "exact", "any"])
@pytest.mark.parametrize("name", RAISED)
def test_raised_numbers_of_names_of_the_list_are_no_citations(
    tmp_path: Path, name: str, case: str
) -> None:
    path = tmp_path / "list.tsv"
    path.write_text(f"type\tname\tid\nX\t{name}\tOWN:1\nY\tgout\tOWN:2\n", encoding="utf-8")
    text = f"{name}, gout\u00b9 and {name}.\n\nIts {name}\u207b and {name},\u2079 rose; {name}"
    wanted = [(name, ["OWN:1"]), ("gout", ["OWN:2"]), *[(name, ["OWN:1"])] * 4]
    assert linked(path, text, case) == wanted


@pytest.mark.parametrize("case", ["auto", "exact", "any"])
def test_a_raised_number_is_of_the_name_that_has_it_and_else_a_citation(
    tmp_path: Path, case: str
) -> None:
    path = tmp_path / "list.tsv"
    rows = [
        "X\tPGE\tOWN:1",
        "X\tPGE\u00b2\tOWN:2",
        "X\tTh\u00b9\u2077\tOWN:3",
        "X\tTh1\tOWN:4",
        "X\tgout7\tOWN:5",
        "X\tgout\tOWN:6",
    ]
    path.write_text("\n".join(["type\tname\tid", *rows]), encoding="utf-8")
    far = "of all " * 40
    text = f"PGE\u00b2, PGE, PGE\u00b3 {far}Th1\u2077 gout\u2077 {far}PGE\u00b2,\u00b3 gout7 Th1"
    assert linked(path, text, case) == [
        ("PGE\u00b2", ["OWN:2"]),
        ("PGE", ["OWN:1"]),
        ("PGE", ["OWN:1"]),
        ("Th1", ["OWN:4"]),
        ("gout", ["OWN:6"]),
        ("PGE\u00b2", ["OWN:2"]),
        ("gout7", ["OWN:5"]),
        ("Th1", ["OWN:4"]),
    ]


def test_a_raised_number_behind_a_symbol_in_other_capitals_is_a_citation(tmp_path: Path) -> None:
    path = tmp_path / "list.tsv"
    path.write_text("X\t\u0393\u2074\nX\t\u03b3\n", encoding="utf-8")
    assert said(path, "\u0393\u2074, \u03b3\u2074") == ["\u0393\u2074", "\u03b3"]


@pytest.mark.parametrize("case", ["auto", "exact", "any"])
@pytest.mark.parametrize(
    ("plain", "typographic"),
    [
        ("Sj\u00f6gren's syndrome", "Sj\u00f6gren\u2019s syndrome"),
        ("Sj\u00f6gren's syndrome", "Sjo\u0308gren\u02bcs syndrome"),
        ("5'-nucleotidase", "5\u2032\u2011nucleotidase"),
        ("IL-6", "IL\u20106"),
        ("IL-6", "IL\u20116"),
        ("IL-6", "IL\u22126"),
        ("IL-6", "\uff29\uff2c\uff0d\uff16"),
        ("fibromyalgia", "\ufb01bromyalgia"),
        ("fibromyalgia", "fibro\u00admyalgia"),
        ("IgG/IgM", "IgG\u2215IgM"),
        ("Ca2+", "Ca\u00b2\u207a"),
        ("CO2", "CO\u2082"),
        ("\u03bc-opioid", "\u00b5\u2010opioid"),
    ],
)
def test_typographic_signs_in_lists_and_texts_are_plain_ones(
    tmp_path: Path, plain: str, typographic: str, case: str
) -> None:
    for number, (name, text) in enumerate([(plain, typographic), (typographic, plain)]):
        path = tmp_path / f"{number}.tsv"
        path.write_text(f"type\tname\tid\nX\t{name}\tOWN:1\n", encoding="utf-8")
        assert linked(path, f"The {text}, too", case) == [(text, ["OWN:1"])]


def test_typographic_signs_leave_the_case_of_a_symbol_and_its_identifier(tmp_path: Path) -> None:
    path = tmp_path / "list.tsv"
    path.write_text(
        "type\tname\tid\nGene\tFI\tOWN:1\nGene\tfi\tOWN:2\nX\tna\u00efve\tOWN:3\n", encoding="utf-8"
    )
    text = "FI \ufb01 Fi \uff26\uff29 naive"
    assert linked(path, text, "auto") == [
        ("FI", ["OWN:1"]),
        ("\ufb01", ["OWN:2"]),
        ("\uff26\uff29", ["OWN:1"]),
    ]


def test_a_longer_name_in_capitals_is_no_symbol(tmp_path: Path) -> None:
    path = tmp_path / "list.tsv"
    path.write_text("Disease\tHYPERTENSION\nDisease\tCHRONIC PAIN\n", encoding="utf-8")
    assert said(path, "hypertension and Chronic pain") == ["hypertension", "Chronic pain"]


def test_a_place_in_other_capitals_is_counted_once_for_each_word(own: Path) -> None:
    found = load(own)("At rest, at Rest, at rest.")
    events = [event for event in found.events if event.code == "other-capitals"]
    assert [event.message.partition(" ")[0] for event in events] == ["'rest'", "'Rest'"]
    assert not [event for event in load(own)("REST").events if event.code == "other-capitals"]


def test_types_of_a_symbol_and_of_a_name_in_any_capitals_join(tmp_path: Path) -> None:
    path = tmp_path / "list.tsv"
    path.write_text("Gene\tMICE\nSpecies\tmice\n", encoding="utf-8")
    types = [[mention.type for mention in load(path)(text)] for text in ("mice", "MICE")]
    assert types == [["Species"], ["Gene", "Species"]]


def test_the_setting_decides_the_fingerprint(own: Path) -> None:
    assert len({load(own, case=case).fingerprint for case in ("auto", "exact", "any")}) == 3  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "content",
    [
        "type\tname\nDrug\tfascicline\n",
        "name\ttype\nfascicline\tDrug\n",
        "\ufeffName\tType\r\nfascicline\tDrug\r\n",
        "id\tname\ttype\nX:1\tfascicline\tDrug\n",
    ],
)
def test_a_header_tells_the_columns_in_any_order(tmp_path: Path, content: str) -> None:
    path = tmp_path / "own.tsv"
    path.write_text(content, encoding="utf-8")
    found = load(path)("Fascicline is a drug with a name, of a type.")
    assert [(mention.type, mention.text) for mention in found] == [("Drug", "Fascicline")]


def test_a_list_of_names_without_types_is_refused_with_what_a_row_needs(tmp_path: Path) -> None:
    path = tmp_path / "own.txt"
    path.write_text("fascicline\n", encoding="utf-8")
    with pytest.raises(FormatError, match="a type, a TAB and a name"):
        load(path)


def test_usual_headings_name_the_columns_and_identifiers_are_links(tmp_path: Path) -> None:
    for number, (text, curies) in enumerate(
        [
            ("type\tterm\nDisease\tour syndrome\n", []),
            ("Term\tCategory\nour syndrome\tDisease\n", []),
            ("concept\tsurface\ttype\tkind\nOWN:1\tour syndrome\tDisease\texact\n", ["OWN:1"]),
            ("id\tname\tclass\nmesh:D001249\tour syndrome\tDisease\n", ["MESH:D001249"]),
        ]
    ):
        path = tmp_path / f"{number}.tsv"
        path.write_text(text, encoding="utf-8")
        (patch,) = load(path, link=()).predict([Document(id="1", text="The term our syndrome.")])
        (mention,) = patch.add
        assert (mention.start, mention.end, mention.type) == (9, 21, "Disease")
        assert [link.curie for link in mention.links] == curies


@pytest.mark.parametrize(
    "text",
    [
        "OWN:1\tour syndrome\n",
        "our syndrome\tOWN:1\n",
        "id\tname\nOWN:1\tour syndrome\n",
        "name\tsynonyms\nour syndrome\ttheirosis\n",
        "our syndrome\tInstrument\nother syndrome\tInstrument\n",
        "a\tb\nc\td\ne\tf\ng\th\ni\tj\n",
    ],
)
def test_types_that_cannot_be_types_are_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "own.tsv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="headings"):
        load(path)


def test_rows_whose_cells_are_all_quoted_are_read_without_the_quotes(tmp_path: Path) -> None:
    (tmp_path / "r.tsv").write_text(
        '"type"\t"name"\n"Disease"\t"our ""old"" syndrome"\nChemical\t"zm"\n', encoding="utf-8"
    )
    entries = [(one.type, one.name) for one in read_typed_names(str(tmp_path / "r.tsv"))]
    assert entries == [("Disease", 'our "old" syndrome'), ("Chemical", '"zm"')]


SYNONYMS = [
    ("s.tsv", "name\ttype\tsynonyms\nour syndrome\tDisease\tourosis | theirosis\n"),
    (
        "s.tsv",
        "Preferred Label\tSemantic type\tSynonym(s)\nour syndrome\tDisease\tourosis;theirosis\n",
    ),
    ("s.tsv", "term\tcategory\tsynonym\tsynonym\nour syndrome\tDisease\tourosis\ttheirosis\n"),
    ("s.tsv", "type\talternative_names\tname\nDisease\tourosis;theirosis\tour syndrome\n"),
    ("s.csv", 'name,type,aliases\n"our syndrome",Disease,"ourosis;theirosis"\n'),
    ("s.csv", "name;type;also known as\nour syndrome;Disease;ourosis|theirosis\n"),
]


@pytest.mark.parametrize(("name", "content"), SYNONYMS)
def test_names_in_a_column_of_synonyms_are_names(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    text = "Our syndrome, ourosis, theirosis."
    assert said(tmp_path / name, text) == ["Our syndrome", "ourosis", "theirosis"]


@pytest.mark.parametrize(
    ("content", "curies"),
    [
        ("our syndrome\tDisease\nours\tDisease\n", []),
        ("\n\ntype\tname\nDisease\tour syndrome\n", []),
        ("Disease\tour syndrome\tOWN:1\nDisease\tourosis\t\n", ["OWN:1"]),
        ("OWN:1\tDisease\tour syndrome\nOWN:2\tDisease\tourosis\n", ["OWN:1"]),
    ],
)
def test_the_content_of_columns_without_headings_tells_them(
    tmp_path: Path, content: str, curies: list[str]
) -> None:
    (tmp_path / "l.tsv").write_text(content, encoding="utf-8")
    mention, *more = load(tmp_path / "l.tsv", link=())(
        "It is our syndrome, ourosis; no type or name."
    )
    assert all(one.type == "Disease" for one in more)
    assert (mention.type, mention.text) == ("Disease", "our syndrome")
    assert [link.curie for link in mention.links] == curies


@pytest.mark.parametrize(
    ("content", "loss"),
    [
        (
            "type\tname\tcomment\nDisease\tourosis\tnice\nDisease\t\tx\n",
            "not read: the column comment",
        ),
        ("Disease\tourosis\tsome comment\nDisease\ttheirosis\t\n", "not read: the column 3"),
        ("Disease\tourosis\nDisease\t\n", "1 row without a name was left out"),
    ],
)
def test_what_is_not_read_is_said(tmp_path: Path, content: str, loss: str) -> None:
    (tmp_path / "l.tsv").write_text(content, encoding="utf-8")
    assert loss in open_dictionary(tmp_path / "l.tsv").summary


def test_a_quote_over_two_lines_of_a_csv_is_refused(tmp_path: Path) -> None:
    (tmp_path / "l.csv").write_text('type,name\nDisease,"our\nsyndrome"\n', encoding="utf-8")
    with pytest.raises(FormatError, match=r"l\.csv:2"):
        load(tmp_path / "l.csv")


@pytest.mark.parametrize("first", ["sep=;", "SEP=;"])
def test_a_line_that_states_the_separator_for_excel_is_no_name(tmp_path: Path, first: str) -> None:
    path = tmp_path / "own.csv"
    path.write_text(f"{first}\r\nname;type\r\nour syndrome;Disease\r\n", encoding="utf-8")
    assert list(read_typed_names(str(path))) == [DictionaryEntry("our syndrome", "Disease")]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "Bezeichnung;Kategorie;Kennung\n{x};Disease;OWN:1\n{y};Chemical;OWN:2\n"),
        ("a.csv", "cui,str,tty,sty\nC9999991,{x},PT,Disease\nC9999992,{y},PT,Chemical\n"),
        ("a.tsv", "# of my own, 2026\n#name\ttype\n{x}\tDisease\n{y}\tChemical\n"),
        ("a.csv", "#name,type\n{x},Disease\n{y},Chemical\n"),
        ("a.csv", "# of my own\nname;type\n{x};Disease\n{y};Chemical\n"),
        ("a.tsv", "# of my own, 2026\nDisease\t{x}\n# second part\nChemical\t{y}\n"),
    ],
)
def test_lists_as_people_keep_them(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text.format(x="quizzle syndrome", y="blarmycin"), encoding="utf-8")
    assert [(entry.type, entry.name) for entry in read_typed_names(str(path))] == [
        ("Disease", "quizzle syndrome"),
        ("Chemical", "blarmycin"),
    ]


def test_a_first_row_that_is_taken_as_headings_is_said(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("Wort;Art\nfoo;Disease\nbar;Gene\n", encoding="utf-8")
    report = DictionaryReport()
    list(read_typed_names(str(path), report=report))
    assert [*report.losses()] == ["not read: the first row, as headings (Wort, Art)"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("type\tname\nfoo\tDisease\nbar\tChemical\n", "the column type has names"),
        ("C9999991\tfoo\nC9999992\tbar\n", "'C9999991' as a type, which is an identifier"),
        ("foo\nbar\n", "write the type of each name and a TAB before it"),
    ],
)
def test_lists_that_cannot_be_read_are_refused(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "a.tsv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=re.escape(reason)):
        list(read_typed_names(str(path)))


def linked(path: Path, text: str, case: str = "auto") -> list[tuple[str, list[str]]]:
    (patch,) = load(path, case=case, link=()).predict([Document(id="1", text=text)])  # type: ignore[arg-type]
    return [(text[one.start : one.end], [link.curie for link in one.links]) for one in patch.add]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("beta - carotene", "beta-carotene"),
        ("IL-2 receptor", "IL - 2 receptor"),
        ("2,4-D", "2, 4-D"),
        ("HLA-B27", "HLA - B27"),
        ("Heart  failure", "heart\nfailure"),
    ],
)
@pytest.mark.parametrize("case", ["auto", "any"])
def test_blanks_within_a_name_do_not_hide_its_identifier(
    tmp_path: Path, name: str, text: str, case: str
) -> None:
    (tmp_path / "l.tsv").write_text(f"type\tname\tid\nGene\t{name}\tOWN:1\n", encoding="utf-8")
    assert linked(tmp_path / "l.tsv", text, case) == [(text, ["OWN:1"])]


@pytest.mark.parametrize(
    ("case", "text", "expected"),
    [
        ("exact", "MET met Met", [("MET", ["HGNC:7029"]), ("met", ["OWN:9"])]),
        ("auto", "MET met Met", [("MET", ["HGNC:7029"]), ("met", ["OWN:9"]), ("Met", ["OWN:9"])]),
        ("auto", "CA Ca ca", [("CA", ["OWN:1"]), ("Ca", ["OWN:2"])]),
        ("any", "met", [("met", ["HGNC:7029", "OWN:9"])]),
    ],
)
def test_names_that_differ_in_capitals_have_identifiers_of_their_own(
    tmp_path: Path, case: str, text: str, expected: list[tuple[str, list[str]]]
) -> None:
    (tmp_path / "l.tsv").write_text(
        "type\tname\tid\nGene\tMET\tHGNC:7029\nGene\tmet\tOWN:9\nGene\tCA\tOWN:1\n"
        "Gene\tCa\tOWN:2\n",
        encoding="utf-8",
    )
    assert linked(tmp_path / "l.tsv", text, case) == expected


def test_several_identifiers_in_a_cell_are_links_of_their_own(tmp_path: Path) -> None:
    for number, heading in enumerate(["type\tname\tid\n", ""]):
        path = tmp_path / f"{number}.tsv"
        path.write_text(f"{heading}Gene\tFOO1\tMESH:D001241 | OWN:2\n", encoding="utf-8")
        (patch,) = load(path, link=()).predict([Document(id="1", text="FOO1")])
        assert [(link.curie, link.tier) for link in patch.add[0].links] == [
            ("MESH:D001241", "ambiguous"),
            ("OWN:2", "ambiguous"),
        ]


@pytest.mark.parametrize(
    ("file", "text", "place"),
    [
        ("a.tsv", "type\tname\tid\nGene\tFOO1\n", "2"),
        ("a.tsv", "type\tname\tsynonyms\nGene\tFOO1\n", "2"),
        ("a.csv", "type,name,id\nGene,FOO1\n", "2"),
        ("a.tsv", "type\tname\tid\nGene\tFOO1\tX:1\nGene\tFOO2\n", "3"),
        ("a.tsv", "Gene\tFOO1\tX:1\nGene\tFOO2\n", "2"),
    ],
)
def test_rows_without_a_cell_of_the_headings_are_refused(
    tmp_path: Path, file: str, text: str, place: str
) -> None:
    (tmp_path / file).write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match=rf":{place}: 2 \S+ column(s|\(s\)), but (.* )?3"):
        load(tmp_path / file)


@pytest.mark.parametrize("heading", ["", "note"])
def test_rows_may_lack_columns_that_are_not_read(tmp_path: Path, heading: str) -> None:
    text = f"name\ttype\tid\t{heading}\nasthma\tDisease\tMONDO:0004979\n"
    (tmp_path / "a.tsv").write_text(text, encoding="utf-8")
    (mention,) = load(tmp_path / "a.tsv")("Asthma.").mentions
    assert [link.curie for link in mention.links] == ["MONDO:0004979"]


@pytest.mark.parametrize(
    ("cell", "ids"),
    [
        ("X:1 | X:2", ["X:1", "X:2"]),
        ("X:1;X:2", ["X:1", "X:2"]),
        ("InChI=1S/C2H6O/c1-2-3;h3", ["InChI=1S/C2H6O/c1-2-3;h3"]),
    ],
)
def test_identifiers_of_a_cell(cell: str, ids: list[str]) -> None:
    assert split_identifiers(cell) == ids


@pytest.mark.parametrize(
    "text",
    [
        "Gene\tFOO1\tX:1\n#Gene\tFOO2\tX:2\nGene\tFOO3\tX:3\n",
        "#Gene\tFOO2\tX:2\nGene\tFOO1\tX:1\nGene\tFOO3\tX:3\n",
        "type\tname\tid\nGene\tFOO1\tX:1\n# Gene\tFOO2\nGene\tFOO3\tX:3\n",
        "name\ttype\tid\nFOO1\tGene\tX:1\nFOO2\t#Gene\tX:2\nFOO3\tGene\tX:3\n",
    ],
)
def test_rows_that_are_commented_out_are_counted(tmp_path: Path, text: str) -> None:
    (tmp_path / "l.tsv").write_text(text, encoding="utf-8")
    assert linked(tmp_path / "l.tsv", "FOO1 FOO2 FOO3") == [("FOO1", ["X:1"]), ("FOO3", ["X:3"])]
    assert "1 row whose type begins with # left out" in open_dictionary(tmp_path / "l.tsv").summary


def test_names_that_cannot_match_and_identifiers_without_prefix_are_counted(
    tmp_path: Path,
) -> None:
    path = tmp_path / "l.tsv"
    path.write_text(
        "type\tname\tid\nGene\t++\tX:1\nGene\tthe\tX:2\nGene\tFOO1\tD001241\nGene\tFOO2\t673\n",
        encoding="utf-8",
    )
    assert open_dictionary(path).summary == (
        "4 names of 1 type (Gene), 2 with identifiers; 1 name without a letter or a digit was left "
        "out; 1 stop word was removed: the; 2 identifiers have no prefix of a vocabulary; write "
        "one, such as PREFIX:D001241"
    )
