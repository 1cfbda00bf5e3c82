"""A graph in the format of KGX, with categories and predicates of the Biolink Model.

Nodes are documents and concepts. An edge ``biolink:mentions`` leads from a document to a concept,
and ``biolink:occurs_together_in_literature_with`` joins two concepts of one sentence. KGX:
https://github.com/biolink/kgx/blob/master/specification/kgx-format.md; Biolink Model 4.4.6:
https://github.com/biolink/biolink-model
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import quote

import msgspec

from fascicle.core.document import Document
from fascicle.core.files.atomic import atomic_folder
from fascicle.core.mention import is_curie
from fascicle.core.type_names import read_vocabulary
from fascicle.core.wording import shorten
from fascicle.errors import InputError, UsageError
from fascicle.graph.counts import ConceptBase, ConceptCounts, PairCounts
from fascicle.graph.evidence import UNKNOWN, DocumentConcepts, Support, evidence_of, support_of
from fascicle.text.segment import segmenter

KIND: Final = "graph"
_MENTIONS: Final = "mentions"
_NODES: Final = ("id", "category", "name", "xref", "year")
_EDGES: Final = ("id", "subject", "predicate", "object", "category")
_MADE: Final = MappingProxyType(
    {"agent_type": "text_mining_agent", "primary_knowledge_source": "infores:fascicle"}
)
_COUNTS: Final = ("mention_count", "sentence_count", "document_count")
_EVIDENCE: Final = ("sections", "sources", "probability", "negated_count", "uncertain_count")
NODE_COLUMNS: Final = (*_NODES, *_COUNTS)
EDGE_COLUMNS: Final = (*_EDGES, "knowledge_level", *_MADE, *_COUNTS, "pmi", *_EVIDENCE)
# Canonical type, see `fascicle.core.type_names` -> category.
CATEGORIES: Final = MappingProxyType(
    {
        "Gene": "Gene",
        "GeneFamily": "GeneFamily",
        "ProteinDomain": "ProteinDomain",
        "ProteinComplex": "MacromolecularComplex",
        "Variant": "SequenceVariant",
        "Disease": "Disease",
        "Chemical": "ChemicalEntity",
        "Species": "OrganismTaxon",
        "CellLine": "CellLine",
        "CellType": "Cell",
        "CellularComponent": "CellularComponent",
        "BiologicalProcess": "BiologicalProcess",
        "MolecularFunction": "MolecularActivity",
        "Anatomy": "AnatomicalEntity",
        "Procedure": "Procedure",
    }
)
_OTHER: Final = "NamedThing"
_TITLE: Final = 300  # characters of the name of a document
_PMC: Final = re.compile(r"PMC(\d+)")
_NOT_IN_CELLS: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_Row = Mapping[str, Any]
_Write = Callable[[_Row], None]


@dataclass(kw_only=True)
class GraphTotals:
    """What a graph consists of.

    Attributes:
        documents: nodes of documents.
        sentences: of all documents.
        concepts: nodes of concepts.
        mentions: of concepts.
        mentioned: edges from documents to concepts.
        pairs: edges between concepts.
        crowded: sentences with too many concepts to count their pairs.
        unnamed: links without a CURIE, which are left out.
    """

    documents: int = 0
    sentences: int = 0
    concepts: int = 0
    mentions: int = 0
    mentioned: int = 0
    pairs: int = 0
    crowded: int = 0
    unnamed: int = 0


def write_graph(
    documents: Iterable[Document],
    folder: str | os.PathLike[str],
    *,
    prefix: str = "document",
    json_lines: bool = False,
    overwrite: bool = False,
) -> GraphTotals:
    """Writes documents and the concepts of their mentions as a graph, in constant memory.

    Args:
        documents: with links; may be a stream. Each id occurs once.
        folder: of the two files, of nodes and of edges.
        prefix: of the ids of documents that are no CURIEs, such as ``PMID``.
        json_lines: write JSON Lines in place of TSV.
        overwrite: replace a graph.

    Raises:
        UsageError: a prefix that no CURIE can have.
        InputError: no mention has a link.
        OutputError: the folder exists, or the place cannot be written.
    """
    if ":" in prefix or not is_curie(f"{prefix}:0"):
        raise UsageError(
            f"the prefix {prefix!r} is not allowed; give letters, digits, dots, underscores and "
            "hyphens, with a letter first, such as PMID"
        )
    totals = GraphTotals()
    with (
        atomic_folder(folder, kind=KIND, overwrite=overwrite) as place,
        ExitStack() as stack,
        ConceptBase(place / "counts.sqlite") as counts,
    ):
        nodes = _open(stack, place, "nodes", NODE_COLUMNS, json_lines=json_lines)
        edges = _open(stack, place, "edges", EDGE_COLUMNS, json_lines=json_lines)
        rules = segmenter("rules@1")
        for document in documents:
            evidence = evidence_of(document, rules, identify=node_curie)
            counts.add(evidence)
            nodes(_document_node(document, prefix))
            for edge in _mention_edges(document_curie(document.id, prefix), evidence):
                edges(edge)
                totals.mentioned += 1
            totals.documents += 1
            totals.mentions += len(evidence.occurrences)
            totals.unnamed += evidence.unnamed
        if not totals.mentions:
            raise InputError(
                "no mention has a link to a concept, so there is no graph; give the output of "
                "fascicle run or annotate with links"
            )
        _write_counts(counts, nodes, edges, totals)
    return totals


def _write_counts(counts: ConceptBase, nodes: _Write, edges: _Write, totals: GraphTotals) -> None:
    totals.sentences, totals.crowded = counts.sentences, counts.crowded
    vocabulary = read_vocabulary()
    for concept in counts.concepts():
        nodes(_concept_node(concept, vocabulary.candidates(concept.type)))
        totals.concepts += 1
    for pair in counts.pairs():
        edges(_pair_edge(pair, counts.sentences))
        totals.pairs += 1


def _concept_node(concept: ConceptCounts, names: Sequence[str]) -> _Row:
    """Returns the node of a concept; ``names`` are the canonical names of its type."""
    category = CATEGORIES.get(names[0], _OTHER) if len(names) == 1 else _OTHER
    same = dict.fromkeys(map(node_curie, concept.same))
    return {
        "id": concept.concept,
        "category": [f"biolink:{category}"],
        "name": concept.name,
        "xref": [curie for curie in same if curie != concept.concept],
        "mention_count": concept.mentions,
        "sentence_count": concept.sentences,
        "document_count": concept.documents,
    }


def _pair_edge(pair: PairCounts, sentences: int) -> _Row:
    support = pair.support
    subject, other = sorted(pair.concepts)
    return {
        **_edge(subject, other, "occurs_together_in_literature_with"),
        "sentence_count": support.count,
        "document_count": support.documents,
        "pmi": math.log2(support.count * sentences / math.prod(pair.sentences)),
        **_evidence(support),
    }


def document_curie(identifier: str, prefix: str) -> str:
    """Returns the CURIE of a document: its id if it is one, else with a prefix."""
    if is_curie(identifier):
        return node_curie(identifier)
    if match := _PMC.fullmatch(identifier):
        return f"PMC:{match[1]}"
    return f"{prefix}:{quote(identifier, safe='')}"


@cache
def biolink_prefixes() -> Mapping[str, str]:
    """Returns our spellings of prefixes -> those of the Biolink Model, where they differ."""
    table = Path(__file__).with_name("biolink.tsv").read_text(encoding="utf-8")
    rows = (line.partition("\t") for line in table.splitlines() if not line.startswith("#"))
    return MappingProxyType({ours: other for ours, _, other in rows})


def node_curie(curie: str) -> str:
    """Returns a CURIE with a prefix of the Biolink Model, and its local part escaped for KGX, which
    allows no slash or colon there.
    """
    prefix, _, local = curie.partition(":")
    prefix = biolink_prefixes().get(prefix, prefix)
    return f"{prefix}:{local.replace('/', '%2F').replace(':', '%3A')}"


def _document_node(document: Document, prefix: str) -> _Row:
    titles = (s for s in document.sections or () if s.name == "title")
    title = next((document.text[s.start : s.end] for s in titles), "")
    title = title or document.text.strip().partition("\n")[0]
    node = {"id": document_curie(document.id, prefix), "category": ["biolink:Article"]}
    return {**node, "name": shorten(title, most=_TITLE), "year": document.meta.get("year")}


def _mention_edges(document: str, evidence: DocumentConcepts) -> Iterator[_Row]:
    for concept, occurrences in evidence.by_concept().items():
        support = support_of(occurrences)
        sentences = len({occurrence.sentence for occurrence in occurrences})
        counts = {"mention_count": support.count, "sentence_count": sentences}
        yield {
            **_edge(document, concept, _MENTIONS),
            **counts,
            **_evidence(support),
        }


def _edge(subject: str, other: str, predicate: str) -> dict[str, Any]:
    is_pair = predicate != _MENTIONS
    category = "Association" if is_pair else "InformationContentEntityToNamedThingAssociation"
    return {
        "id": f"{subject}-{predicate}-{other}",
        "subject": subject,
        "predicate": f"biolink:{predicate}",
        "object": other,
        "category": [f"biolink:{category}"],
        "knowledge_level": "text_co_occurrence" if is_pair else "observation",
        **_MADE,
    }


def _evidence(support: Support) -> dict[str, Any]:
    return {
        "sections": [f"{name}:{count}" for name, count in sorted(support.sections.items())],
        "sources": sorted(support.sources),
        "probability": None if support.probability == UNKNOWN else support.probability,
        "negated_count": support.negated,
        "uncertain_count": support.uncertain,
    }


def _open(
    stack: ExitStack, folder: Path, name: str, columns: Sequence[str], *, json_lines: bool
) -> _Write:
    """Opens a file in the folder, and returns the function that writes a row."""
    path = folder / f"{name}.{'jsonl' if json_lines else 'tsv'}"
    stream = stack.enter_context(path.open("w", encoding="utf-8", newline="\n"))
    if not json_lines:
        stream.write("\t".join(columns) + "\n")

    def write(row: _Row) -> None:
        cells = map(row.get, columns)
        if json_lines:
            pairs = zip(columns, map(_rounded, cells), strict=True)
            filled = {name: cell for name, cell in pairs if cell not in (None, "", [], ())}
            stream.write(msgspec.json.encode(filled).decode() + "\n")
        else:
            stream.write("\t".join(map(_cell, cells)) + "\n")

    return write


def _rounded(value: Any) -> Any:
    return round(value, 6) if isinstance(value, float) else value


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return value if value.isprintable() else _NOT_IN_CELLS.sub(" ", value)
    if isinstance(value, list | tuple):
        return "|".join(_cell(part).replace("|", " ") for part in value)
    return "" if value is None else str(_rounded(value))
