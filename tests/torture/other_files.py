"""Small files of people who keep papers and of annotators, for `tests.torture.fuzz_readers` to
damage.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Final

from tests.formats.oracle.cas import in_json
from tests.formats.oracle.office import package, paragraph, run, table, workbook
from tests.formats.oracle.papers import pdf_of
from tests.formats.oracle.webanno import HEAD

NBIB: Final = """
PMID- 7
TI  - On IL-2 in
      mice.
AB  - AIM: \U0001f600 to see.
DP  - 2020

PMID- 8
TI  - Two
"""
RIS: Final = (
    "TY  - JOUR\nAN  - 7\nT1  - On\nIL-2\nAB  - Lung cancer\nER  - \n\nTY  - JOUR\nTI  "
    "- Two\nER  - \n"
)
ABSTRACTS: Final = """1. J X. 2020 Jan;1:1. doi: 10.1000/x.

On IL-2 in \nmice.

Doe J(1), Poe P.

Author information:
(1)Here.

AIM: To \U0001f600 see.
METHODS: So.

DOI: 10.1000/x
PMID: 7


2. J X. 2020.

Two

PMID: 8
"""
CONLL_2012: Final = (
    "#begin document (a); part 000\na 0 0 Lung NN * - - - - (ORGAN* -\na 0 1 lobe NN * - - - - "
    "*) -\n\n"
    "a 0 0 Aspirin NN * - - - - (DRUG) -\n\n#end document\n#begin document (b); part 000\nb 0 0 "
    "No DT * - - - - * -\n\n"
)
CONLLU: Final = (
    "# sent_id = 1\n1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_\n1\tLung\tlung\tN\t_\t_\t0\tr\t_\tNE=B-Organ\n"
    "2\tlobe\tlobe\tN\t_\t_\t1\tr\t_\tSpaceAfter=No|NE=I-Organ\n\n1\tNo\tno\tD\t_\t_\t0\tr\t_\t_\n"
)
WEBANNO: Final = "\n".join(
    (
        *HEAD,
        "#Text=\U0001f600 lung",
        "#Text=cancer",
        "1-1\t0-2\t\U0001f600\tSYM\t_\t_\t",
        "1-2\t3-7\tlung\tNN\t*[1]\tDisease[1]\t",
        "1-3\t8-14\tcancer\tNN\t*[1]|x\\|y\tDisease[1]|Word\t",
        "1-3.1\t8-11\tcan\t_\t_\tPart\t",
        "",
    )
)
_BINARY: Final = {
    "xlsx": (
        "openpyxl",
        "a.xlsx",
        lambda: workbook([["id", "text"], [7, "Lung \U0001f600"], [8, "two\nlines"]]),
    ),
    "docx": (
        "docx",
        "a.docx",
        lambda: package(paragraph(run("On "), run("IL-2")) + table([paragraph(run("a"))])),
    ),
    "pdf": (
        "pypdfium2",
        "a.pdf",
        lambda: pdf_of(["Lung inflam-", "mation of the man."], order=(0, 1)),
    ),
    "cas": (
        "cassis",
        "a.json",
        lambda: in_json("\U0001f600 lung", [{"begin": 3, "end": 7, "value": "Organ"}]),
    ),
}


def others() -> dict[str, tuple[str, bytes, str]]:
    """Name -> name of a file, its content, and its format; of those alone whose packages are
    installed.
    """
    texts = {
        "nbib": ("a.nbib", NBIB, "citations"),
        "ris": ("a.ris", RIS, "citations"),
        "abstracts": ("a.txt", ABSTRACTS, "citations"),
        "conll-2012": ("a.conll", CONLL_2012, "conll"),
        "conllu": ("a.conllu", CONLLU, "conll"),
        "webanno": ("a.tsv", WEBANNO, "webanno"),
    }
    found = {name: (file, text.encode(), form) for name, (file, text, form) in texts.items()}
    return found | {
        name: (file, content(), name)
        for name, (module, file, content) in _BINARY.items()
        if find_spec(module)
    }
