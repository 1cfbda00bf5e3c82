"""Inputs of formats for people: column files, PubTator, brat, tables of offsets, plain texts,
tables, pages.
"""

from __future__ import annotations

import json

from tests.formats.oracle.judging import Marked, Page, mark
from tests.formats.use.given import Given

LITHIUM = "Lithium toxicity We saw tremor."

COLUMNS = (
    Given(
        name="IOB2 with tabs",
        format="conll",
        files={"a.conll": "Lithium\tB-Chemical\ntoxicity\tO\n\nIL-2\tB-Gene\nreceptor\tI-Gene\n"},
        wanted=(
            Page("Lithium toxicity", (mark(0, 7, "Chemical"),)),
            Page("IL-2 receptor", (mark(0, 13, "Gene"),)),
        ),
    ),
    Given(
        name="CoNLL-2003: four columns, blanks, IOB1, two -DOCSTART-",
        format="conll",
        files={
            "a.conll": "-DOCSTART- -X- -X- O\n\nEU NNP I-NP I-ORG\nrejects VBZ I-VP O\nGerman JJ "
            "I-NP I-MISC\n\n"
            "Bonn NNP I-NP I-LOC\n\n-DOCSTART- -X- -X- O\n\nBlackburn NNP I-NP I-PER\nSmith NNP "
            "I-NP B-PER\n"
        },
        wanted=(
            Page(
                "EU rejects German Bonn",
                (mark(0, 2, "ORG"), mark(11, 17, "MISC"), mark(18, 22, "LOC")),
            ),
            Page("Blackburn Smith", (mark(0, 9, "PER"), mark(10, 15, "PER"))),
        ),
    ),
    Given(
        name="a row with one column more than the others",
        format="conll",
        files={
            "a.conll": "EU NNP B-NP B-ORG\nrejects VBZ B-VP O\n\nNew York NNP B-NP B-LOC\nwins "
            "VBZ B-VP O\n"
        },
        wanted=(
            Page("EU rejects", (mark(0, 2, "ORG"),)),
            Page("New York wins", (mark(0, 8, "LOC"),)),
        ),
        flawed=True,
    ),
    Given(
        name="BIOES with CRLF",
        format="conll",
        files={"a.conll": "lung\tB-Disease\r\ncancer\tE-Disease\r\nand\tO\r\nEGFR\tS-Gene\r\n"},
        wanted=(Page("lung cancer and EGFR", (mark(0, 11, "Disease"), mark(16, 20, "Gene"))),),
    ),
    Given(
        name="a row without its tag",
        format="conll",
        files={"a.conll": "Aspirin\tB-Chemical\nrelieves\npain\tB-Disease\n"},
        wanted=(Page("Aspirin relieves pain", (mark(0, 7, "Chemical"), mark(17, 21, "Disease"))),),
        flawed=True,
    ),
    Given(
        name="characters above the BMP and no last line end",
        format="conll",
        files={"a.conll": "\U0001f600\tO\nα\tB-X\n𝛽-cells\tI-X"},
        wanted=(Page("\U0001f600 α 𝛽-cells", (mark(2, 11, "X"),)),),
    ),
    Given(
        name="a blank behind a tag",
        format="conll",
        files={"a.conll": "lung\tB-Disease \ncancer\tI-Disease\nis\tO \nbad\tO\n"},
        wanted=(Page("lung cancer is bad", (mark(0, 11, "Disease"),)),),
    ),
    Given(
        name="comments between the sentences",
        format="conll",
        files={
            "a.conll": "# sent_id = 1\nAspirin\tB-Chemical\nhelps\tO\n\n# sent_id = "
            "2\nNo\tO\npain\tB-Disease\n"
        },
        wanted=(
            Page("Aspirin helps", (mark(0, 7, "Chemical"),)),
            Page("No pain", (mark(3, 7, "Disease"),)),
        ),
        flawed=True,
    ),
)

PUBTATOR = (
    Given(
        name="two documents, nested mentions, several ids",
        format="pubtator",
        files={
            "a.pubtator": "1|t|Lithium toxicity\n1|a|We saw "
            "tremor.\n1\t0\t7\tLithium\tChemical\tMESH:D008094\n"
            "1\t24\t30\ttremor\tDisease\tMESH:D014202\n\n2|t|Breast cancer\n2|a|None.\n"
            "2\t0\t13\tBreast "
            "cancer\tDisease\tMESH:D001943\n2\t7\t13\tcancer\tDisease\tMESH:D009369|OMIM:114480\n"
        },
        wanted=(
            Page(
                LITHIUM,
                (mark(0, 7, "Chemical", "MESH:D008094"), mark(24, 30, "Disease", "MESH:D014202")),
                "1",
            ),
            Page(
                "Breast cancer None.",
                (
                    mark(0, 13, "Disease", "MESH:D001943"),
                    mark(7, 13, "Disease", "MESH:D009369", "OMIM:114480"),
                ),
                "2",
            ),
        ),
    ),
    Given(
        name="an empty title",
        format="pubtator",
        files={"a.pubtator": "9|t|\n9|a|Aspirin.\n9\t1\t8\tAspirin\tChemical\t-\n"},
        wanted=(Page(" Aspirin.", (mark(1, 8, "Chemical"),), "9"),),
    ),
    Given(
        name="offsets that do not fit their texts",
        format="pubtator",
        files={
            "a.pubtator": "1|t|Lithium toxicity\n1|a|We saw "
            "tremor.\n1\t0\t7\tLithium\tChemical\tD1\n"
            "1\t7\t13\ttremor\tDisease\tD2\n"
        },
        wanted=(Page(LITHIUM, (mark(0, 7, "Chemical", "D1"), mark(24, 30, "Disease", "D2")), "1"),),
        flawed=True,
    ),
    Given(
        name="CRLF",
        format="pubtator",
        files={
            "a.pubtator": "1|t|Lithium toxicity\r\n1|a|We saw "
            "tremor.\r\n1\t0\t7\tLithium\tChemical\tD1\r\n\r\n"
        },
        wanted=(Page(LITHIUM, (mark(0, 7, "Chemical", "D1"),), "1"),),
    ),
    Given(
        name="offsets in bytes",
        format="pubtator",
        files={
            "a.pubtator": "1|t|Alpha α and β too\n1|a|Lung cancer.\n1\t20\t31\tLung "
            "cancer\tDisease\tD1\n"
        },
        wanted=(Page("Alpha α and β too Lung cancer.", (mark(18, 29, "Disease", "D1"),), "1"),),
        flawed=True,
    ),
    Given(
        name="no empty line between two documents",
        format="pubtator",
        files={
            "a.pubtator": "1|t|One\n1|a|Aspirin\n1\t4\t11\tAspirin\tChemical\tD1\n2|t|Two\n2|a|Three\n"
        },
        wanted=(
            Page("One Aspirin", (mark(4, 11, "Chemical", "D1"),), "1"),
            Page("Two Three", (), "2"),
        ),
    ),
    Given(
        name="a mention of another document",
        format="pubtator",
        files={"a.pubtator": "1|t|One\n1|a|Aspirin\n7\t4\t11\tAspirin\tChemical\tD1\n"},
        wanted=(Page("One Aspirin", (), "1"),),
        flawed=True,
    ),
)

BRAT = (
    Given(
        name="a discontinuous mention and a normalisation",
        format="brat",
        files={
            "c/1.txt": "lung and liver cancer",
            "c/1.ann": "T1\tDisease 0 4;15 21\tlung cancer\nT2\tDisease 9 21\tliver cancer\n"
            "N1\tReference T2 MESH:D008113\tLiver Neoplasms\n",
        },
        read="c",
        wanted=(
            Page(
                "lung and liver cancer",
                (Marked(((0, 4), (15, 21)), "Disease"), mark(9, 21, "Disease", "MESH:D008113")),
                "1",
            ),
        ),
    ),
    Given(
        name="a normalisation with an address",
        format="brat",
        files={
            "c/1.txt": "Aspirin",
            "c/1.ann": "T1\tDrug 0 7\tAspirin\nN1\tReference T1 "
            "http://purl.obolibrary.org/obo/CHEBI_15365\taspirin\n",
        },
        read="c",
        wanted=(Page("Aspirin", (mark(0, 7, "Drug", "CHEBI:15365"),), "1"),),
    ),
    Given(
        name="a mention over a line end",
        format="brat",
        files={
            "c/1.txt": "acute heart\nfailure.\n",
            "c/1.ann": "T1\tDisease 6 11;12 19\theart failure\n",
        },
        read="c",
        wanted=(Page("acute heart\nfailure.\n", (mark(6, 19, "Disease"),), "1"),),
    ),
    Given(
        name="offsets wrong by one",
        format="brat",
        files={
            "c/1.txt": "Lithium causes tremor.",
            "c/1.ann": "T1\tChemical 1 8\tLithium\nT2\tDisease 16 22\ttremor\n",
        },
        read="c",
        wanted=(
            Page("Lithium causes tremor.", (mark(0, 7, "Chemical"), mark(15, 21, "Disease")), "1"),
        ),
        flawed=True,
    ),
    Given(
        name="offsets in UTF-16",
        format="brat",
        files={
            "c/1.txt": "\U0001f600 Lithium and tremor",
            "c/1.ann": "T1\tChemical 3 10\tLithium\n",
        },
        read="c",
        wanted=(Page("\U0001f600 Lithium and tremor", (mark(2, 9, "Chemical"),), "1"),),
        flawed=True,
    ),
    Given(
        name="CRLF in the text, counted as two",
        format="brat",
        files={"c/1.txt": "Aspirin\r\nhelps pain\r\n", "c/1.ann": "T1\tDisease 15 19\tpain\n"},
        read="c",
        wanted=(Page("Aspirin\r\nhelps pain\r\n", (mark(15, 19, "Disease"),), "1"),),
    ),
    Given(
        name="a text and an annotation that lost its partner",
        format="brat",
        files={
            "c/1.txt": "Aspirin",
            "c/1.ann": "T1\tChemical 0 7\tAspirin\n",
            "c/2.ann": "T1\tChemical 0 7\tAspirin\n",
        },
        read="c",
        wanted=(Page("Aspirin", (mark(0, 7, "Chemical"),), "1"),),
        flawed=True,
    ),
)

OFFSETS = (
    Given(
        name="a table beside two texts",
        format="offsets",
        files={
            "c/1.txt": "Aspirin helps.",
            "c/2.txt": "No pain.\n",
            "m.tsv": "filename\toff0\toff1\tlabel\tspan\n1\t0\t7\tCHEM\tAspirin\n2\t3\t7\tDIS\tpain\n",
        },
        read="c",
        wanted=(
            Page("Aspirin helps.", (mark(0, 7, "CHEM"),), "1"),
            Page("No pain.\n", (mark(3, 7, "DIS"),), "2"),
        ),
    ),
    Given(
        name="offsets wrong by one",
        format="offsets",
        files={
            "c/1.txt": "Aspirin helps.",
            "c/m.tsv": "filename\tbegin\tend\ttype\textraction\n1\t1\t8\tCHEM\tAspirin\n",
        },
        read="c",
        wanted=(Page("Aspirin helps.", (mark(0, 7, "CHEM"),), "1"),),
        flawed=True,
    ),
    Given(
        name="a row that lost a cell",
        format="offsets",
        files={
            "c/1.txt": "Aspirin helps.",
            "c/m.tsv": "filename\tbegin\tend\ttype\n1\t0\t7\tCHEM\n1\t8\t13\n",
        },
        read="c",
        wanted=(Page("Aspirin helps.", (mark(0, 7, "CHEM"),), "1"),),
        flawed=True,
    ),
)

LICENSED = (
    Given(
        name="an extent that ends with a line",
        format="ace",
        files={
            "c/1.sgm": "<DOC>\n<TEXT>\nThe mayor\nof Rome.\n</TEXT>\n</DOC>\n",
            "c/1.apf.xml": '<source_file><document><entity ID="E" TYPE="PER"><entity_mention '
            'ID="M" TYPE="NOM">'
            '<extent><charseq START="2" END="18">The mayor\nof Rome</charseq></extent>'
            '<head><charseq START="6" END="10">mayor</charseq></head></entity_mention></entity>'
            "</document></source_file>",
        },
        read="c",
        wanted=(Page("\n\nThe mayor\nof Rome.\n\n\n", (mark(2, 19, "PER"),), "1"),),
    ),
    Given(
        name="offsets that count tags",
        format="ace",
        files={
            "c/1.sgm": "<DOC>The mayor of Rome.</DOC>",
            "c/1.apf.xml": '<document><entity ID="E" TYPE="GPE"><entity_mention ID="M" '
            'TYPE="NAM"><extent>'
            '<charseq START="18" '
            'END="21">Rome</charseq></extent></entity_mention></entity></document>',
        },
        read="c",
        wanted=(Page("The mayor of Rome.", (mark(13, 17, "GPE"),), "1"),),
        flawed=True,
    ),
    Given(
        name="a name inside a token",
        format="ontonotes",
        files={
            "a.name": '<DOC DOCNO="x">\nThe <ENAMEX TYPE="GPE" E_OFF="6">Rome-based</ENAMEX> '
            "firm\nwon .\n</DOC>\n",
        },
        read="a.name",
        wanted=(Page("The Rome-based firm won .", (mark(4, 8, "GPE"),), "x"),),
    ),
    Given(
        name="a tag that is never closed",
        format="ontonotes",
        files={"a.name": '<DOC DOCNO="x">\nThe <ENAMEX TYPE="GPE">Rome firm\n</DOC>\n'},
        read="a.name",
        wanted=(Page("The Rome firm", (mark(4, 8, "GPE"),), "x"),),
        flawed=True,
    ),
)

TEXTS = (
    Given(
        name="CRLF and a byte order mark",
        format="plain",
        files={"a.txt": b"\xef\xbb\xbfLung\r\ncancer\r\n"},
        wanted=(Page("Lung\r\ncancer\r\n", (), "a"),),
    ),
    Given(
        name="Windows-1252",
        format="plain",
        files={
            "a.txt": "Die Lösung enthält “Aspirin”. Weiter geht es mit dem Text.".encode("cp1252")
        },
        wanted=(Page("Die Lösung enthält “Aspirin”. Weiter geht es mit dem Text."),),
    ),
    Given(
        name="cells with commas, quotes and a line end",
        format="table",
        files={"a.csv": 'id,text,year\r\n7,"Aspirin, ""pure""\nhelps",2020\r\n8,None,2021\r\n'},
        wanted=(Page('Aspirin, "pure"\nhelps', (), "7"), Page("None", (), "8")),
    ),
    Given(
        name="a row with a cell more than the header",
        format="table",
        files={"a.csv": "id,text\n7,Aspirin, it helps\n8,None\n"},
        wanted=(Page("Aspirin, it helps", (), "7"), Page("None", (), "8")),
        flawed=True,
    ),
    Given(
        name="a TSV as spreadsheets and data frames write it",
        format="table",
        files={"a.tsv": 'id\ttext\n7\t"He said ""hi"""\n8\tplain "words"\n'},
        wanted=(Page('He said "hi"', (), "7"), Page('plain "words"', (), "8")),
        flawed=True,
    ),
    Given(
        name="a column with annotation",
        format="table",
        files={
            "a.csv": "id,text,label\n7,Aspirin "
            'helps,"[{""start"":0,""end"":7,""text"":""Aspirin"",""labels"":'
            '[""Chemical""]}]"\n'
        },
        wanted=(Page("Aspirin helps", (mark(0, 7, "Chemical"),), "7"),),
        flawed=True,
    ),
)

PAGES = (
    Given(
        name="a page with entities and inline tags",
        format="html",
        files={
            "a.html": "<!DOCTYPE html><html><head><meta charset=utf-8><title>On "
            "&alpha;</title></head><body>"
            "<p>IL&#8209;2 <b>binds</b>\n  well&amp;fast.</p></body></html>"
        },
        wanted=(Page("On α\n\nIL‑2 binds well&fast."),),
    ),
    Given(
        name="tags that are not closed",
        format="html",
        files={"a.html": "<title>T</title><p>Lung <b>cancer<p>and\U0001f600 more"},
        wanted=(Page("T\n\nLung cancer\n\nand\U0001f600 more"),),
    ),
)

TUPLES = (
    Given(
        name="tuples of spaCy 2",
        format="records",
        files={"a.json": json.dumps([["Aspirin helps", {"entities": [[0, 7, "CHEM"]]}]])},
        wanted=(Page("Aspirin helps", (mark(0, 7, "CHEM"),)),),
        flawed=True,
    ),
)
ALL = (*COLUMNS, *PUBTATOR, *BRAT, *OFFSETS, *LICENSED, *TEXTS, *PAGES, *TUPLES)
