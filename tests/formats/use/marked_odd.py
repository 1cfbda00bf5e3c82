"""Odd but valid files with marks in text, lines and XML, written from the descriptions of their
formats alone.
"""

from __future__ import annotations

from typing import Final

from tests.formats.oracle.judging import Marked, Page, mark
from tests.formats.use.given import Given

SMILE: Final = "\U0001f600"
_BIOC: Final = "<collection><source/><date/><key/><document><id>7</id>{}</document></collection>"
_JATS: Final = (
    "<article><front><article-meta><title-group><article-title>On</article-title></title-group>{}</article"
    "-meta></front>"
    "{}</article>"
)
_TEI: Final = (
    '<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><fileDesc><titleStmt><title>On</title></titleStmt'
    "></fileDesc>"
    "</teiHeader><text><body>{}</body></text></TEI>"
)
_MEDLINE: Final = (
    "<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID "
    "Version='1'>7</PMID><Article>{}</Article>"
    "</MedlineCitation></PubmedArticle></PubmedArticleSet>"
)


def _given(
    name: str,
    reader: str,
    path: str,
    content: str | bytes,
    *wanted: Page,
    flawed: bool = False,
    **more: str,
) -> Given:
    read = "d" if path.startswith("d/") else ""
    return Given(
        name=name,
        format=reader,
        files={path: content, **more},
        wanted=wanted,
        flawed=flawed,
        read=read,
    )


def _brat(name: str, text: str, lines: str, *marks: Marked, flawed: bool = False) -> Given:
    files = {"d/PMC1.2.txt": text, "d/PMC1.2.ann": lines}
    return Given(
        name=name,
        format="brat",
        files=files,
        wanted=(Page(text, marks, "PMC1.2"),),
        read="d",
        flawed=flawed,
    )


def _bioc(name: str, passages: str, *wanted: Page, flawed: bool = False) -> Given:
    return _given(name, "bioc", "a.xml", _BIOC.format(passages), *wanted, flawed=flawed)


def _noted(offset: int, length: int, text: str, *infons: tuple[str, str]) -> str:
    facts = "".join(f'<infon key="{key}">{value}</infon>' for key, value in infons)
    return (
        f'<annotation id="1">{facts}<location offset="{offset}" '
        f'length="{length}"/><text>{text}</text></annotation>'
    )


BIOC = (
    _bioc(
        "sentences in place of the text of a passage",
        "<passage><offset>0</offset><sentence><offset>0</offset><text>Lithium helps.</text>"
        f"{_noted(0, 7, 'Lithium', ('type', 'Chemical'))}</sentence><sentence><offset>15</offset><text>Trem"
        f"or came.</text>"
        f"{_noted(15, 6, 'Tremor', ('type', 'Disease'))}</sentence></passage>",
        Page("Lithium helps. Tremor came.", (mark(0, 7, "Chemical"), mark(15, 21, "Disease")), "7"),
    ),
    _bioc(
        "an annotation of the document, without a place",
        '<passage><offset>0</offset><text>Lithium</text><annotation id="1"><infon '
        'key="type">Chemical</infon>'
        "<text>Lithium</text></annotation></passage>",
        Page("Lithium", (), "7"),
        flawed=True,
    ),
    _bioc(
        "a fact that has the name of its vocabulary",
        "<passage><offset>0</offset><text>Lithium</text>"
        f"{_noted(0, 7, 'Lithium', ('type', 'Chemical'), ('MESH', 'D008094'))}</passage>",
        Page("Lithium", (mark(0, 7, "Chemical", "MESH:D008094"),), "7"),
    ),
    _bioc(
        "relations of the document",
        f"<passage><offset>0</offset><text>Lithium</text>{_noted(0, 7, 'Lithium', ('type', 'Chemical'))}</passage>"
        '<relation id="R1"><infon key="type">CID</infon><node refid="1" role="Chemical"/><node '
        'refid="1" r'
        'ole="Disease"/>'
        "</relation>",
        Page("Lithium", (mark(0, 7, "Chemical"),), "7"),
    ),
    _bioc(
        "a space between passages that is wider than one",
        "<passage><offset>0</offset><text>Lithium</text></passage><passage><offset>9</offset><text>Tremor</text>"
        f"{_noted(9, 6, 'Tremor', ('type', 'Disease'))}</passage>",
        Page("Lithium  Tremor", (mark(9, 15, "Disease"),), "7"),
    ),
)
PUBTATOR = (
    _given(
        "bars in the title",
        "pubtator",
        "a.txt",
        "7|t|A|t|B in mice\n7|a|Tremor|pain\n7\t14\t20\tTremor\tDisease\tMESH:D014202\n\n",
        Page("A|t|B in mice Tremor|pain", (mark(14, 20, "Disease", "MESH:D014202"),), "7"),
    ),
    _given(
        "a mention that is two, with the names of both in a seventh column",
        "pubtator",
        "a.txt",
        "7|t|Breast and lung cancer.\n7|a|None.\n"
        "7\t0\t22\tBreast and lung cancer\tDisease\tD001943|D008175\tBreast cancer|lung cancer\n",
        Page("Breast and lung cancer. None.", (mark(0, 22, "Disease", "D001943", "D008175"),), "7"),
    ),
    _given(
        "a relation between concepts, and no id",
        "pubtator",
        "a.txt",
        "7|t|Lithium and "
        "tremor\n7|a|\n7\t0\t7\tLithium\tChemical\tD008094\n7\t12\t18\ttremor\tDisease\t-1\n"
        "7\tCID\tD008094\tD014202\n",
        Page(
            "Lithium and tremor", (mark(0, 7, "Chemical", "D008094"), mark(12, 18, "Disease")), "7"
        ),
    ),
    _given(
        "a title alone, and an id with letters",
        "pubtator",
        "a.txt",
        "PMC7|t|Lithium\nPMC7\t0\t7\tLithium\tChemical\tMESH:D008094\n",
        Page("Lithium", (mark(0, 7, "Chemical", "MESH:D008094"),), "PMC7"),
    ),
)
BRAT = (
    _brat(
        "attributes, notes, events and equivalent mentions",
        "IL-2 induces CD25.",
        "T1\tProtein 0 4\tIL-2\nT2\tProtein 13 17\tCD25\nT3\tPositive_regulation 5 12\tinduces\n"
        "E1\tPositive_regulation:T3 Theme:T2 Cause:T1\nA1\tSpeculation E1\nM1\tNegation "
        "T1\n*\tEquiv T1 T2\n"
        "#1\tAnnotatorNotes T1\ta note\nR1\tPart Arg1:T1 Arg2:T2\n",
        mark(0, 4, "Protein"),
        mark(5, 12, "Positive_regulation"),
        mark(13, 17, "Protein"),
        flawed=True,
    ),
    _brat("no annotation", "Lithium.\n", ""),
    _brat(
        "a concept with the id of UMLS, and one of a type with a dash",
        f"{SMILE} Lithium\n",
        "T1\tGene-or-gene_product 2 9\tLithium\nN1\tReference T1 UMLS:C0023870\tLithium\n",
        mark(2, 9, "Gene-or-gene_product", "UMLS:C0023870"),
    ),
    _brat(
        "fragments in which words between are left out",
        "breast and ovarian cancer",
        "T1\tDisease 0 6;19 25\tbreast cancer\nT2\tDisease 11 25\tovarian cancer\n",
        Marked(((0, 6), (19, 25)), "Disease"),
        mark(11, 25, "Disease"),
    ),
)
CONLL = (
    _given(
        "abstracts of JNLPBA behind their ids",
        "conll",
        "a.iob2",
        "###MEDLINE:95369245\n\nIL-2\tB-DNA\ngene\tI-DNA\n\n###MEDLINE:95333264\n\nIt\tO\nhelps\tO\n",
        Page("IL-2 gene", (mark(0, 9, "DNA"),)),
        Page("It helps"),
    ),
    _given(
        "a blank inside a token",
        "conll",
        "a.tsv",
        "Breast cancer\tB-Disease\n\u00a0kills\tO\n",
        Page("Breast cancer \u00a0kills", (mark(0, 13, "Disease"),)),
    ),
    _given(
        "types with dashes, and a tag that continues nothing",
        "conll",
        "a.tsv",
        "HeLa\tB-Cell-line\ncells\tI-Cell-line\nand\tO\nB\tI-cell\n",
        Page("HeLa cells and B", (mark(0, 10, "Cell-line"), mark(15, 16, "cell"))),
    ),
    _given(
        "CoNLL-2003 with a mention from border to border",
        "conll",
        "a.txt",
        "-DOCSTART- -X- O O\n\nLung NN I-NP I-Disease\nCOPD NN I-NP B-Disease\n. . O O\n",
        Page("Lung COPD .", (mark(0, 4, "Disease"), mark(5, 9, "Disease"))),
    ),
    _given(
        "CoNLL-U with words that are parts of a token, and no tags",
        "conll",
        "a.conllu",
        "# newdoc id = d\n# text = Don't "
        "cry.\n1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\t_\n1\tDo\tdo\tAUX\t_\t_\t3"
        "\taux\t_\t_\n"
        "2\tn't\tnot\tPART\t_\t_\t3\tadvmod\t_\t_\n3\tcry\tcry\tVERB\t_\t_\t0\troot\t_\tSpaceAfter=No\n"
        "4\t.\t.\tPUNCT\t_\t_\t3\tpunct\t_\t_\n",
        Page("Do n't cry ."),
    ),
    _given(
        "tokens that are quotes and hashes",
        "conll",
        "a.tsv",
        '"\tO\n#1\tO\nIL-2\tB-Gene\n"\tO\n',
        Page('" #1 IL-2 "', (mark(5, 9, "Gene"),)),
    ),
)
_WEBANNO: Final = (
    "#FORMAT=WebAnno TSV "
    "3.3\n#T_SP=de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity|identifier|value\n\n\n"
)
WEBANNO = (
    _given(
        "two mentions of one token",
        "webanno",
        "a.tsv",
        f"{_WEBANNO}#Text=Lung "
        "cancer\n1-1\t0-4\tLung\t*[1]|*[2]\tOrgan[1]|Disease[2]\t\n1-2\t5-11\tcancer"
        f"\t*[2]\tDisease[2]\t\n",
        Page("Lung cancer", (mark(0, 4, "Organ"), mark(0, 11, "Disease"))),
    ),
    _given(
        "a part of a token, and an identifier that is an address",
        "webanno",
        "a.tsv",
        f"{_WEBANNO}#Text=IL-2-induced\n1-1\t0-12\tIL-2-induced\t_\t_\t\n"
        "1-1.1\t0-4\tIL-2\thttp://purl.obolibrary.org/obo/PR\\_000001379\tGene\t\n",
        Page("IL-2-induced", (mark(0, 4, "Gene", "PR:000001379"),)),
    ),
    _given(
        "offsets in UTF-16, and escapes in the value",
        "webanno",
        "a.tsv",
        f"{_WEBANNO}#Text={SMILE} "
        f"Lithium\n1-1\t0-2\t{SMILE}\t_\t_\t\n1-2\t3-10\tLithium\t*\tChemical\\|Drug\t\n",
        Page(f"{SMILE} Lithium", (mark(2, 9, "Chemical|Drug"),)),
    ),
    _given(
        "a layer without features",
        "webanno",
        "a.tsv",
        "#FORMAT=WebAnno TSV 3.3\n#T_SP=webanno.custom.Gene|\n\n\n#Text=BRCA1 "
        "helps\n1-1\t0-5\tBRCA1\t*\t"
        "\n1-2\t6-11\thelps\t_\t\n",
        Page("BRCA1 helps", (mark(0, 5, "Gene"),)),
    ),
)
KNOWTATOR = (
    _given(
        "a mention of two parts and a class with a colon",
        "knowtator",
        "d/annotations/7.txt.knowtator.xml",
        '<?xml version="1.0" encoding="UTF-8"?><annotations '
        'textSource="7.txt"><annotation><mention id="i1"/>'
        '<annotator id="a">A</annotator><span start="0" end="4"/><span start="14" '
        'end="20"/><spannedText>l'
        "ung ... cancer"
        '</spannedText></annotation><classMention id="i1"><mentionClass id="MONDO:0008903">lung '
        "cancer</mentionClass>"
        "</classMention></annotations>",
        Page(
            "lung or liver cancer", (Marked(((0, 4), (14, 20)), "MONDO", ("MONDO:0008903",)),), "7"
        ),
        **{"d/texts/7.txt": "lung or liver cancer"},
    ),
    _given(
        "a project of Knowtator 2",
        "knowtator",
        "d/Annotations/7.xml",
        '<?xml version="1.0" encoding="UTF-8"?><knowtator-project><document id="7" '
        'text-file="7.txt"><anno'
        'tation id="7-1" '
        'annotator="A" type="identity"><class id="http://purl.obolibrary.org/obo/CHEBI_6472" '
        'label="lithiu'
        'm"/><span id="s1" start="0" end'
        '="7">Lithium'
        "</span></annotation></document></knowtator-project>",
        Page("Lithium", (mark(0, 7, "CHEBI", "CHEBI:6472"),), "7"),
        **{"d/7.txt": "Lithium"},
    ),
)


def _xml(
    name: str, reader: str, content: str, text: str, *marks: Marked, flawed: bool = False
) -> Given:
    return _given(
        name, reader, "a.xml", f'<?xml version="1.0"?>{content}', Page(text, marks), flawed=flawed
    )


PAPERS = (
    _xml(
        "words that a line break cuts, and pages that begin inside a word",
        "tei",
        _TEI.format('<p>leu<lb break="no"/>kaemia and can<pb n="2" break="no"/>cer<lb/>came</p>'),
        "On\n\nleukaemia and cancer came",
    ),
    _xml(
        "a choice of what was written and what was meant",
        "tei",
        _TEI.format(
            "<p>The <choice><sic>tremmor</sic><corr>tremor</corr></choice> <choice><abbr>MI</abbr>"
            "<expan>myocardial infarction</expan></choice> came</p>"
        ),
        "On\n\nThe tremmor MI came",
    ),
    _xml(
        "a list, a quotation and verse",
        "tei",
        _TEI.format(
            "<div><head>Head</head><list><item>asthma</item><item>gout</item></list><lg><l>one</l><l>two</l></lg></div>"
        ),
        "On\n\nHead\n\nasthma\n\ngout\n\none\n\ntwo",
    ),
    _xml(
        "a title with a formula and a sign of its trade",
        "medline",
        _MEDLINE.format(
            "<ArticleTitle>CO<sub>2</sub> and <i>BRCA1</i>&#174; &lt;5&gt;.</ArticleTitle>"
            '<Abstract><AbstractText Label="AIM" '
            'NlmCategory="OBJECTIVE">One.</AbstractText><AbstractText>'
            "Two.</AbstractText>"
            "<CopyrightInformation>Mine.</CopyrightInformation></Abstract>"
        ),
        "CO2 and BRCA1\u00ae <5>.\nAIM: One.\nTwo.",
    ),
    _xml(
        "no abstract, and a title in two languages",
        "medline",
        _MEDLINE.format(
            "<ArticleTitle>[Lung "
            "cancer].</ArticleTitle><VernacularTitle>Lungenkrebs.</VernacularTitle>"
        ),
        "[Lung cancer].",
        flawed=True,
    ),
    _xml(
        "a chapter of a book",
        "medline",
        "<PubmedArticleSet><PubmedBookArticle><BookDocument><PMID "
        "Version='1'>7</PMID><Book><BookTitle>GeneReviews"
        "</BookTitle></Book><ArticleTitle>Lung "
        "cancer</ArticleTitle><Abstract><AbstractText>One.</Abstract"
        "Text></Abstract>"
        "</BookDocument></PubmedBookArticle></PubmedArticleSet>",
        "Lung cancer\nOne.",
    ),
    _xml(
        "a formula that is written in TeX and in MathML",
        "jats",
        _JATS.format(
            "",
            "<body><p>We saw <inline-formula><alternatives><tex-math>\\alpha</tex-math><mml:math "
            "xmlns:mml="
            '"http://www.w3.org/1998/Math/MathML"><mml:mi>α</mml:mi></mml:math></alternatives></inline-for'
            "mula> cells.</p></body>",
        ),
        "On\n\nWe saw α cells.",
    ),
    _xml(
        "an abstract in another language, and keywords",
        "jats",
        _JATS.format(
            "<abstract><p>Lung cancer.</p></abstract><trans-abstract "
            "xml:lang='de'><p>Lungenkrebs.</p>"
            "</trans-abstract><kwd-group><kwd>gout</kwd><kwd>asthma</kwd></kwd-group>",
            "",
        ),
        "On\n\nLung cancer.\n\nLungenkrebs.",
    ),
    _xml(
        "a table with cells that span, and a note of it",
        "jats",
        _JATS.format(
            "",
            "<body><sec><title>Head</title><table-wrap><label>Table "
            "1</label><caption><p>Genes.</p></caption><table>"
            "<thead><tr><th>gene</th><th>disease</th></tr></thead><tbody><tr><td>BRCA1</td><td>cancer</td>"
            "</tr></tbody></table>"
            "</table-wrap></sec></body>",
        ),
        "On\n\nHead\n\nTable 1\n\nGenes.\n\ngene\tdisease\nBRCA1\tcancer",
        flawed=True,
    ),
    _xml(
        "a citation that is not raised, and a definition list",
        "jats",
        _JATS.format(
            "",
            '<body><p>Gout [<xref ref-type="bibr" rid="b1">1</xref>] '
            "came.</p><def-list><def-item><term>MI</term>"
            "<def><p>infarction</p></def></def-item></def-list></body>",
        ),
        "On\n\nGout [1] came.\n\nMI - infarction",
    ),
)
CITATIONS = (
    _given(
        "RIS with a byte order mark, N2, lines that go on and no blank behind ER",
        "citations",
        "a.ris",
        "\ufeffTY  - JOUR\nTI  - Lung\ncancer\nN2  - One\ntwo.\nDO  - 10.1/x\nER  -\nTY  - "
        "JOUR\nT1  - Gout\nER  -\n",
        Page("Lung cancer\n\nOne two."),
        Page("Gout"),
    ),
    _given(
        "RIS with a title in its own two fields, and an author between",
        "citations",
        "a.ris",
        "TY  - CHAP\nAU  - A, B\nTI  - Gout\nT2  - A book\nKW  - pain\nKW  - asthma\nAB  - "
        "One.\nER  - \n",
        Page("Gout\n\nOne."),
    ),
    _given(
        "nbib with a title over lines and an abstract of another publisher",
        "citations",
        "a.nbib",
        "PMID- 7\nLID - 10.1/x [doi]\nTI  - Gout\n      and pain.\nOAB - Publisher: "
        "Abstract.\nAB  - One\n"
        "      two.\nFAU - A, B\n",
        Page("Gout and pain.\nOne two.", (), "7"),
    ),
    _given(
        "nbib of a book, and tags that are empty",
        "citations",
        "a.nbib",
        "PMID- 7\nBTI - GeneReviews\nTI  - Gout\nAB  - \nPMID- 8\nTI  - Pain\n",
        Page("Gout", (), "7"),
        Page("Pain", (), "8"),
    ),
    _given(
        "RIS of a database whose lines have Windows ends and no TI but BT",
        "citations",
        "a.ris",
        "TY  - BOOK\r\nBT  - A book on gout\r\nER  - \r\n",
        Page("A book on gout"),
    ),
)
ALL: Final = (*BIOC, *PUBTATOR, *BRAT, *CONLL, *WEBANNO, *KNOWTATOR, *PAPERS, *CITATIONS)
