"""A graph in the format of KGX, with categories and predicates of the Biolink Model.

Nodes are documents and concepts. An edge ``biolink:mentions`` leads from a document to a concept,
``biolink:occurs_together_in_literature_with`` joins two concepts of one sentence, and
``biolink:related_to`` those of a relation. KGX:
https://github.com/biolink/kgx/blob/master/specification/kgx-format.md; Biolink Model 4.4.6:
https://github.com/biolink/biolink-model
"""

from __future__ import annotations

import math
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import quote

import msgspec

from fascicle.core.arguments import AnyPath
from fascicle.core.document import Document
from fascicle.core.files.atomic import atomic_folder, check_folder, write_errors
from fascicle.core.files.temporary import part_name
from fascicle.core.mention import is_curie
from fascicle.core.type_names import read_vocabulary
from fascicle.core.wording import plural, shorten
from fascicle.errors import InputError, UsageError
from fascicle.graph.counts import ConceptBase, ConceptCounts, PairCounts
from fascicle.graph.evidence import (
    DATED,
    UNKNOWN,
    DocumentConcepts,
    Support,
    date_of,
    evidence_of,
    support_of,
)
from fascicle.graph.related import relations_of
from fascicle.graph.rows import Row, RowFile, is_continued
from fascicle.text.segment import Segmenter, segmenter
from fascicle.version import VERSION

KIND: Final = "graph"
PREFIX: Final = "document"  # of the ids of documents
_MENTIONS: Final = "mentions"
_NODES: Final = ("id", "category", "name", "xref", "year")
_EDGES: Final = ("id", "subject", "predicate", "object", "category")
_MADE: Final = MappingProxyType(
    {"agent_type": "text_mining_agent", "primary_knowledge_source": "infores:fascicle"}
)
_COUNTS: Final = ("mention_count", "sentence_count", "document_count")
_DATES: Final = ("first_date", "last_date")
_EVIDENCE: Final = ("sections", "sources", "probability", "negated_count", "uncertain_count")
NODE_COLUMNS: Final = (*_NODES, *_COUNTS)
EDGE_COLUMNS: Final = (*_EDGES, "knowledge_level", *_MADE, *_COUNTS, "pmi", *_DATES, *_EVIDENCE)
# of edges of relations; graphs without such edges have no columns for them
RELATED_COLUMNS: Final = ("original_predicate", "relation_count")
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
_EVERY: Final = 10.0  # seconds between two saved states: the most work that a kill loses


@dataclass(kw_only=True)
class GraphTotals:
    """What a graph consists of.

    Attributes:
        documents: nodes of documents.
        sentences: of all documents.
        concepts: nodes of concepts.
        mentions: of concepts.
        mentioned: edges from documents to concepts.
        pairs: edges between concepts of one sentence.
        related: edges of relations.
        crowded: sentences with too many concepts to count their pairs.
        unnamed: links without a CURIE, which are left out.
        ambiguous: mentions with ambiguous links, which are left out.
        unrelated: relations that are left out, see `fascicle.graph.related.relations_of`.
        undated: documents with a date or year in a form that is not read, see
            `fascicle.graph.evidence.date_of`.
    """

    documents: int = 0
    sentences: int = 0
    concepts: int = 0
    mentions: int = 0
    mentioned: int = 0
    pairs: int = 0
    related: int = 0
    crowded: int = 0
    unnamed: int = 0
    ambiguous: int = 0
    unrelated: int = 0
    undated: int = 0


class _State(msgspec.Struct, frozen=True, kw_only=True):
    """What was complete when it was saved.

    Attributes:
        made_by: what decides the bytes.
        sizes: of the files of nodes and edges.
        totals: so far.
    """

    made_by: dict[str, str] = {}
    sizes: tuple[int, int] = (0, 0)
    totals: GraphTotals = msgspec.field(default_factory=GraphTotals)


def write_graph(
    documents: Iterable[Document],
    folder: AnyPath,
    *,
    prefix: str = PREFIX,
    json_lines: bool = False,
    overwrite: bool = False,
    made_by: Mapping[str, str] = MappingProxyType({}),
    tell: Callable[[str], None] = lambda note: None,
) -> GraphTotals:
    """Writes documents and the concepts of their mentions as a graph, in constant memory.

    After a kill, a call with the same ``made_by`` and options continues from the last saved state,
    and writes the same bytes as an uninterrupted one.

    What a killed call left beside the folder may be the work of hours, so that only the next call
    for the same folder uses it or removes it, and no graph of another folder.

    Args:
        documents: with links; may be a stream. Each id occurs once.
        folder: of the two files, of nodes and of edges.
        prefix: of the ids of documents that are no CURIEs, such as ``PMID``.
        json_lines: write JSON Lines in place of TSV.
        overwrite: replace a graph.
        made_by: what decides the documents (name -> value); without it no state is saved.
        tell: called with a note about an interrupted call.

    Raises:
        UsageError: a prefix that no CURIE can have.
        InputError: no mention has a link.
        OutputError: the folder exists, the place cannot be written, or another process is writing
            the same graph.
    """
    check_prefix(prefix)
    form = "jsonl" if json_lines else "tsv"
    options = {"release": VERSION, "prefix": prefix, "form": form}
    causes = {**made_by, **options} if made_by else {}
    with _opened(folder, overwrite=overwrite) as (counts, place), ExitStack() as stack:
        paths = [place / f"nodes.{form}", place / f"edges.{form}"]
        state = _continued(counts, paths, causes, tell)
        nodes, edges = (
            stack.enter_context(RowFile(path, columns, start=size))
            for path, columns, size in zip(
                paths, (NODE_COLUMNS, EDGE_COLUMNS), state.sizes, strict=True
            )
        )
        graph = _Graph(nodes, edges, counts, state.totals, prefix)
        graph.fill(islice(documents, state.totals.documents, None), causes)
    return state.totals


@contextmanager
def _opened(folder: AnyPath, *, overwrite: bool) -> Iterator[tuple[ConceptBase, Path]]:
    """Opens the counts, and the folder for the files, both perhaps of an interrupted call."""
    check_folder(Path(folder), kind=KIND, overwrite=overwrite)
    part = part_name(Path(os.path.realpath(folder)))
    with (
        write_errors(part),
        ConceptBase(part.with_name(f"{part.name}.counts")) as counts,
        atomic_folder(
            folder, kind=KIND, overwrite=overwrite, keep=lambda: bool(counts.state)
        ) as place,
    ):
        yield counts, place


def check_prefix(prefix: str) -> None:
    """Checks the prefix of the ids of documents.

    Raises:
        UsageError: no CURIE can have it.
    """
    if ":" in prefix or not is_curie(f"{prefix}:0"):
        raise UsageError(
            f"the prefix {prefix!r} is not allowed; give letters, digits, dots, underscores and "
            "hyphens, with a letter first, such as PMID"
        )


def _continued(
    counts: ConceptBase, paths: Sequence[Path], made_by: dict[str, str], tell: Callable[[str], None]
) -> _State:
    """Returns the state from which an interrupted call can be continued, else a new one."""
    if counts.state:
        state = msgspec.json.decode(counts.state, type=_State)
        other = [name for name in state.made_by if made_by.get(name) != state.made_by[name]]
        if not other and all(
            is_continued(path, columns, size)
            for path, columns, size in zip(
                paths, (NODE_COLUMNS, EDGE_COLUMNS), state.sizes, strict=True
            )
        ):
            counts.sentences, counts.crowded = state.totals.sentences, state.totals.crowded
            tell(
                "note: an interrupted call is continued after "
                f"{plural(state.totals.documents, 'document')}"
            )
            return state
        what = " and ".join(f"another {name}" for name in other) or "damaged files"
        tell(f"note: what an interrupted call wrote has {what}, so the graph is made anew")
        counts.restart()
    for path in paths[0].parent.iterdir():
        if path.stem in {file.stem for file in paths}:
            path.unlink()
    return _State()


@dataclass
class _Graph:
    """Graph that is being written."""

    nodes: RowFile
    edges: RowFile
    counts: ConceptBase
    totals: GraphTotals
    prefix: str
    rules: Segmenter = field(default_factory=lambda: segmenter("rules@1"))

    def fill(self, documents: Iterable[Document], made_by: dict[str, str]) -> None:
        """Writes documents, and then concepts and pairs; saves the state now and then, unless
        ``made_by`` is empty.
        """
        saved = time.monotonic()
        for document in documents:
            self.add(document)
            if made_by and self.totals.mentions and time.monotonic() - saved >= _EVERY:
                self.save(made_by)
                saved = time.monotonic()
        self.end()

    def add(self, document: Document) -> None:
        """Writes a document and its edges, and counts its concepts."""
        evidence, totals = evidence_of(document, self.rules, identify=node_curie), self.totals
        relations, unrelated = relations_of(document, evidence, identify=node_curie)
        self.counts.add(evidence, relations)
        totals.unrelated += unrelated
        self.nodes.add(_document_node(document, self.prefix))
        for edge in _mention_edges(document_curie(document.id, self.prefix), evidence):
            self.edges.add(edge)
            totals.mentioned += 1
        totals.documents += 1
        totals.mentions += len(evidence.occurrences)
        totals.unnamed += evidence.unnamed
        totals.ambiguous += evidence.ambiguous
        is_dated = any(name.lower() in DATED and value for name, value in document.meta.items())
        totals.undated += is_dated and not evidence.date
        totals.sentences, totals.crowded = self.counts.sentences, self.counts.crowded

    def save(self, made_by: dict[str, str]) -> None:
        """Saves the state, from which a later call can continue."""
        sizes = self.nodes.sync(), self.edges.sync()
        state = _State(made_by=made_by, sizes=sizes, totals=self.totals)
        self.counts.save(msgspec.json.encode(state))

    def end(self) -> None:
        """Writes the concepts and their pairs.

        Raises:
            InputError: no mention has a link.
        """
        if not self.totals.mentions:
            raise InputError(
                "no mention has a link to a concept, so there is no graph; give the output of "
                "fascicle run or annotate with links"
            )
        vocabulary = read_vocabulary()
        for concept in self.counts.concepts():
            self.nodes.add(_concept_node(concept, vocabulary.candidates(concept.type)))
            self.totals.concepts += 1
        for pair in self.counts.pairs():
            self.edges.add(_pair_edge(pair, self.counts.sentences))
            self.totals.pairs += 1
        for related in self.counts.related():
            if not self.totals.related:
                self.edges.widen(RELATED_COLUMNS)
            self.edges.add(_related_edge(related))
            self.totals.related += 1


def _concept_node(concept: ConceptCounts, names: Sequence[str]) -> Row:
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


def _pair_edge(pair: PairCounts, sentences: int) -> Row:
    support = pair.support
    subject, other = sorted(pair.concepts)
    return {
        **_edge(subject, other, "occurs_together_in_literature_with"),
        "sentence_count": support.count,
        "document_count": support.documents,
        "pmi": math.log2(support.count * sentences / math.prod(pair.sentences)),
        **_evidence(support),
    }


def _related_edge(pair: PairCounts) -> Row:
    support, (subject, other) = pair.support, pair.concepts
    kind = pair.type and ":" + quote(pair.type, safe="").replace("-", "%2D")
    return {
        **_edge(subject, other, "related_to"),
        "id": f"{subject}-related_to{kind}-{other}",
        "knowledge_level": "not_provided",  # as the Biolink Model says of mined texts
        "document_count": support.documents,
        **_evidence(support),
        "original_predicate": pair.type,
        "relation_count": support.count,
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


@lru_cache(maxsize=100_000)
def node_curie(curie: str) -> str:
    """Returns a CURIE with a prefix of the Biolink Model, and its local part escaped for KGX, which
    allows no slash or colon there.
    """
    prefix, _, local = curie.partition(":")
    prefix = biolink_prefixes().get(prefix, prefix)
    return f"{prefix}:{local.replace('/', '%2F').replace(':', '%3A')}"


def _document_node(document: Document, prefix: str) -> Row:
    titles = (s for s in document.sections or () if s.name == "title")
    title = next((document.text[s.start : s.end] for s in titles), "")
    title = title or document.text.strip().partition("\n")[0]
    year = document.meta.get("year") or date_of(document.meta)[:4]
    node = {"id": document_curie(document.id, prefix), "category": ["biolink:Article"]}
    return {**node, "name": shorten(title, most=_TITLE), "year": year}


def _mention_edges(document: str, evidence: DocumentConcepts) -> Iterator[Row]:
    for concept, occurrences in evidence.concepts.items():
        support = support_of(occurrences, evidence.date)
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
        **dict(zip(_DATES, support.dates, strict=True)),
        "sections": [f"{name}:{count}" for name, count in sorted(support.sections.items())],
        "sources": sorted(support.sources),
        "probability": None if support.probability == UNKNOWN else support.probability,
        "negated_count": support.negated,
        "uncertain_count": support.uncertain,
    }
