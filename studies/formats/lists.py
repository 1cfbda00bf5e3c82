"""How many of 40 diseases and 20 drugs, one on each line, are mentions, in each format that can
hold a list.

usage: python -m studies.formats.lists [--model biomed-fast]

A name counts if it is a mention, of any type: insulin is a protein too. Writes ``studies/results/lists.json``.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final

import fascicle
from fascicle.text.annotator import Annotator
from studies.common import write_result

_DISEASES: Final = (
    "asthma, diabetes mellitus, hypertension, gout, epilepsy, schizophrenia, migraine, psoriasis, "
    "tuberculosis, malaria, hepatitis B, breast cancer, lung cancer, prostate cancer, melanoma, "
    "leukemia, lymphoma, multiple myeloma, osteoporosis, rheumatoid arthritis, osteoarthritis, "
    "multiple sclerosis, Parkinson's disease, Alzheimer's disease, Huntington's disease, "
    "cystic fibrosis, sickle cell anemia, hemophilia, atrial fibrillation, myocardial infarction, "
    "heart failure, stroke, pneumonia, bronchitis, emphysema, Crohn's disease, "
    "ulcerative colitis, cirrhosis, pancreatitis, glaucoma"
)
_DRUGS: Final = (
    "metformin, insulin, atorvastatin, lisinopril, warfarin, aspirin, ibuprofen, amoxicillin, "
    "lithium, clozapine, haloperidol, fluoxetine, omeprazole, prednisone, methotrexate, "
    "cisplatin, tamoxifen, digoxin, furosemide, morphine"
)
NAMES: Final = MappingProxyType({"Disease": _DISEASES.split(", "), "Chemical": _DRUGS.split(", ")})
Form = Callable[[Sequence[str]], tuple[str, str | bytes]]


def main(argv: Sequence[str] | None = None) -> None:
    """Counts and writes the result."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--model", default="biomed-fast")
    args = parser.parse_args(argv)
    model = fascicle.load(args.model, links=False)
    rows = {
        name: {kind: recognised(model, form, kind) for kind in NAMES}
        for name, form in forms().items()
    }
    write_result("lists", {"model": args.model, "mentions": rows})
    print(rows)


def recognised(model: Annotator, form: Form, kind: str) -> int:
    """Returns how many names of a type are mentions, in a file of this form."""
    file, content = form(NAMES[kind])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / file
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        documents = list(fascicle.read(path))
    texts = {
        mention.text_in(document.text).replace("’", "'")  # in the standard encoding of a PDF
        for document, patch in zip(documents, model.predict(documents), strict=True)
        for mention in patch.add
    }
    return len(texts & {*NAMES[kind]})


def forms() -> Mapping[str, Form]:
    """Returns the formats by name: a function from lines to the name and content of a file."""
    from tests.formats.oracle.office import package, workbook
    from tests.formats.oracle.papers import printed

    def rows(lines: Sequence[str]) -> str:
        table = io.StringIO()
        csv.writer(table).writerows([["id", "text"], ["1", "\n".join(lines)]])
        return table.getvalue()

    def tagged(lines: Sequence[str], *tags: str) -> str:
        start, end = "".join(f"<{tag}>" for tag in tags), "".join(f"</{tag}>" for tag in tags[::-1])
        return "".join(f"{start}{line}{end}" for line in lines)

    return {
        "plain text": lambda lines: ("a.txt", "\n".join(lines)),
        "Markdown": lambda lines: ("a.md", "".join(f"- {line}\n" for line in lines)),
        "JSON": lambda lines: ("a.jsonl", json.dumps({"id": "1", "text": "\n".join(lines)})),
        "CSV": lambda lines: ("a.csv", rows(lines)),
        "HTML": lambda lines: (
            "a.html",
            f"<!DOCTYPE html><html><body><ul>{tagged(lines, 'li')}</ul></body></html>",
        ),
        "JATS": lambda lines: (
            "a.nxml",
            f"<article><body><list>{tagged(lines, 'list-item', 'p')}</list></body></article>",
        ),
        "TEI": lambda lines: (
            "a.tei.xml",
            '<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader/><text><body>'
            f"<list>{tagged(lines, 'item')}</list></body></text></TEI>",
        ),
        "Word": lambda lines: ("a.docx", package(tagged(lines, "w:p", "w:r", "w:t"))),
        "Excel": lambda lines: ("a.xlsx", workbook([["text"], *([line] for line in lines)])),
        "PDF": lambda lines: (
            "a.pdf",
            printed([(54, 740 - 14 * at, 10, line) for at, line in enumerate(lines)]),
        ),
    }


if __name__ == "__main__":
    main()
