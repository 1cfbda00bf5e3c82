"""The rows of the study of six types: a type of a corpus on its test part, and what the paper
has there.
"""

from __future__ import annotations

from dataclasses import dataclass

from studies.labels.rows import Row

OWN_OUTPUT = ", own output"  # ends the name of a row of an output that a model keeps apart


@dataclass(frozen=True, kw_only=True)
class ScoredRow:
    """A row of Table 2 of *tinybern2-kazu*, or one beside it.

    Attributes:
        row: corpus, label of its gold, and type of the model.
        given: file of the test part with its own sentences and words; empty where there is none.
        raw: file of the same texts as they are written; empty where there is none.
        paper: F1 of the paper's student, in percent; ``None`` for rows that are not in its table.
        unseen: whether the corpora that taught BERN2 leave this one out; so is the protocol "as the
            paper".
    """

    row: Row
    given: str = ""
    raw: str = ""
    paper: float | None = None
    unseen: bool = False

    @property
    def name(self) -> str:
        """For a person, and the key in the results."""
        name = f"{self.row.corpus} {self.row.type if self.row.label == '*' else self.row.label}"
        return f"{name}{OWN_OUTPUT}" if "." in self.row.type else name


def _row(corpus: str, label: str, kind: str) -> Row:
    return Row(corpus=corpus, files={}, label=label, type=kind)


_JNLPBA = "jnlpba/iob2/test.iob2"
_JNLPBA_RAW = "jnlpba/jnlpba-standoff.zip/test"
_CELLFINDER = "cellfinder/cellfinder1-brat.zip"
_BC5CDR = {"given": "bc5cdr/iob/test.tsv", "raw": "bc5cdr/pubtator/CDR_TestSet.PubTator.txt"}
_NCBI = {"given": "ncbi-disease/iob/test.tsv", "raw": "ncbi-disease/pubtator/test.PubTator.txt"}
_BIORED = "biored/Test.PubTator"

# The raw form of LINNAEUS at hand has another test part, with papers of train of this one.
TABLE_2 = (
    ScoredRow(row=_row("bc2gm", "GENE", "Gene"), given="bc2gm/iob/test.tsv", paper=80.08),
    ScoredRow(
        row=_row("jnlpba", "protein", "Gene"),
        given=_JNLPBA,
        raw=_JNLPBA_RAW,
        paper=66.83,
        unseen=True,
    ),
    ScoredRow(
        row=_row("cellfinder", "GeneProtein", "Gene"), raw=_CELLFINDER, paper=69.17, unseen=True
    ),
    ScoredRow(row=_row("ncbi-disease", "*", "Disease"), **_NCBI, paper=83.92),
    ScoredRow(row=_row("bc5cdr", "Disease", "Disease"), **_BC5CDR, paper=71.18, unseen=True),
    ScoredRow(row=_row("bc5cdr", "Chemical", "Chemical"), **_BC5CDR, paper=90.36, unseen=True),
    ScoredRow(
        row=_row("jnlpba", "cell_line", "CellLine"), given=_JNLPBA, raw=_JNLPBA_RAW, paper=46.27
    ),
    ScoredRow(
        row=_row("cellfinder", "CellLine", "CellLine"), raw=_CELLFINDER, paper=5.59, unseen=True
    ),
    ScoredRow(
        row=_row("jnlpba", "cell_type", "CellType"), given=_JNLPBA, raw=_JNLPBA_RAW, paper=65.22
    ),
    ScoredRow(
        row=_row("cellfinder", "CellType", "CellType"), raw=_CELLFINDER, paper=33.89, unseen=True
    ),
    ScoredRow(
        row=_row("linnaeus", "Species", "Species"), given="linnaeus/iob/test.tsv", paper=55.56
    ),
    ScoredRow(
        row=_row("cellfinder", "Species", "Species"), raw=_CELLFINDER, paper=48.14, unseen=True
    ),
)
# Corpora that are not in the table: those with train parts, then those for testing alone. Families
# and domains of GNormPlus count as genes, as they are taught.
BESIDE = (
    ScoredRow(row=_row("biored", "GeneOrGeneProduct", "Gene"), raw=_BIORED),
    ScoredRow(row=_row("biored", "DiseaseOrPhenotypicFeature", "Disease"), raw=_BIORED),
    ScoredRow(row=_row("biored", "ChemicalEntity", "Chemical"), raw=_BIORED),
    ScoredRow(row=_row("biored", "OrganismTaxon", "Species"), raw=_BIORED),
    ScoredRow(row=_row("biored", "CellLine", "CellLine"), raw=_BIORED),
    ScoredRow(row=_row("gnormplus", "*", "Gene"), raw="gnormplus-bc2gn/Test.PubTator"),
    ScoredRow(row=_row("bioid", "CellLine", "CellLine"), raw="bioid/Test_revision.PubTator.gz"),
    ScoredRow(row=_row("nlm-gene", "Gene", "Gene"), raw="nlm-gene/Test.PubTator"),
    ScoredRow(
        row=_row("drugprot", "Gene", "Gene"), raw="drugprot/DrugProt_Test.PubTator.gz", unseen=True
    ),
    ScoredRow(
        row=_row("drugprot", "Chemical", "Chemical"),
        raw="drugprot/DrugProt_Test.PubTator.gz",
        unseen=True,
    ),
    ScoredRow(
        row=_row("nlm-chem", "Chemical", "Chemical"), raw="nlm-chem/Test.PubTator.gz", unseen=True
    ),
)
ROWS = (*TABLE_2, *BESIDE)
# Outputs that a model keeps apart, for the guideline of one corpus.
OWN = (
    ScoredRow(row=_row("bc2gm", "GENE", "Gene.bc2gm"), given="bc2gm/iob/test.tsv"),
    ScoredRow(row=_row("jnlpba", "cell_line", "CellLine.jnlpba"), given=_JNLPBA, raw=_JNLPBA_RAW),
)
EVERY = (*ROWS, *OWN)
