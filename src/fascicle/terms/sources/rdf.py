"""Ontologies in RDF: OWL, SKOS and SKOS-XL as Turtle, RDF/XML, N-Triples or JSON-LD.

It needs the extra ``rdf``. Triples of one concept may be anywhere in a file, so all its concepts
are in memory together.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping
from typing import Any, Final

from fascicle.core.files.source import Source
from fascicle.core.wording import unescape_html
from fascicle.errors import FormatError, MissingExtraError, Place
from fascicle.settings.packs import SourceSettings
from fascicle.terms.sources.drafts import XREF, Draft, SourceReport, former_records
from fascicle.terms.sources.predicates import (
    is_dropped,
    is_short,
    language_of_type,
    predicates_of_rdf,
)
from fascicle.terms.terms import ConceptRecord, CrossReference, NameKind, curie

_OWL: Final = "http://www.w3.org/2002/07/owl#"
_CONCEPTS: Final = (
    f"{_OWL}Class",
    "http://www.w3.org/2000/01/rdf-schema#Class",
    "http://www.w3.org/2004/02/skos/core#Concept",
)
_RDF: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_MARKED: Final = (f"{_RDF}XMLLiteral", f"{_RDF}HTML")
_ELEMENT: Final = re.compile("<[^<>]*>")
_HEAD: Final = 1 << 16
_QUADS: Final = re.compile(
    rb"^(<[^>]*>|_:\S+)\s+<[^>]*>\s.*[>\"\w]\s+(<[^>]*>|_:\S+)\s*\.\s*$", re.MULTILINE
)
_FIRST: Final = re.compile(rb"<[A-Za-z_!?]")  # behind which nothing can be declared
# Comments, instructions, and entities that stand for addresses, as Protégé writes them; entities
# within entities grow without end.
_HARMLESS: Final = re.compile(
    rb"<!--.*?(?:-->|\Z)|<\?.*?(?:\?>|\Z)|"
    rb"<!DOCTYPE\s+[\w:]+\s*(\[(\s|<!ENTITY\s+[\w-]+\s+(\"[^\"&%]{0,300}\"|'[^'&%]{0,300}')\s*>)*\]\s*)?>",
    re.DOTALL,
)
_ROBOT: Final = "convert it to Turtle with ROBOT (robot convert) or Protégé"
_OTHERS: Final = (
    (re.compile(rb"<(\w+:)?Ontology\s[^>]*www\.w3\.org/2002/07/owl#"), "OWL/XML", _ROBOT),
    (re.compile(rb"^\s*(Prefix|Ontology)\(", re.MULTILINE), "the functional syntax of OWL", _ROBOT),
    (
        re.compile(rb"^\s*(Prefix|Ontology|Class):\s", re.MULTILINE),
        "the Manchester syntax of OWL",
        _ROBOT,
    ),
    (re.compile(rb"^format-version:|^\[Term\]", re.MULTILINE), "OBO", "read it as obo"),
)


def read_rdf(settings: SourceSettings, report: SourceReport) -> Iterator[ConceptRecord]:
    """Streams the concepts of a file; those that were merged into others come at its end.

    Raises:
        MissingExtraError: pyoxigraph is not installed.
        FormatError: another syntax, or a file that breaks the rules of its own.
    """
    graph = _Graph(settings, report)
    for triple in _triples(settings.path):
        graph.take(triple.subject, triple.predicate.value, triple.object)
    yield from graph.records()


def _triples(path: str) -> Iterator[Any]:
    try:
        import pyoxigraph
    except ImportError:
        raise MissingExtraError("rdf", "pyoxigraph") from None
    with Source(path=path).open() as stream:
        head = stream.read(_HEAD)
    _check_syntax(head, path)
    syntax = _format(head, pyoxigraph.RdfFormat)
    is_xml = syntax == pyoxigraph.RdfFormat.RDF_XML
    if is_xml and not _is_harmless(head):
        raise FormatError(
            "the file declares entities other than short ones, which can grow without end", at=path
        )
    with Source(path=path).open() as stream:
        if stream.read(len(BOM_UTF8)) != BOM_UTF8:
            stream.seek(0)
        try:
            # Strictly, it refuses xml:lang="", which says that a text has no language.
            yield from pyoxigraph.parse(stream, format=syntax, base_iri="file:///", lenient=is_xml)
        except (SyntaxError, ValueError) as error:
            raise _broken(error, path) from None


def _check_syntax(head: bytes, path: str) -> None:
    for pattern, name, advice in _OTHERS:
        if pattern.search(head):
            raise FormatError(
                f"the file is in {name}, and the reader rdf reads RDF; {advice}", at=path
            )


def _is_harmless(head: bytes) -> bool:
    """True if XML declares nothing before its first element but what `_HARMLESS` has."""
    first = _FIRST.search(_HARMLESS.sub(b"", head))
    return first is not None and first[0] not in (b"<!", b"<?")


def _broken(error: Exception, path: str) -> FormatError:
    reason = " ".join(str(error).split())
    message = f"the file breaks the rules of RDF ({reason}); correct it, or convert it again"
    if "LoadDocument" in reason:
        message = (
            "the file has the address of its @context, and nothing is fetched; write the context "
            "itself into it"
        )
    return FormatError(message, at=path)


def _format(head: bytes, formats: Any) -> Any:
    """Returns the syntax of a file by what it begins with; Turtle and N-Triples are TriG too."""
    bare = head.removeprefix(BOM_UTF8).lstrip()
    if bare.startswith((b"<?xml", b"<!", b"<rdf:RDF")):
        return formats.RDF_XML
    if re.match(rb"\{\s*[\"}]|\[\s*\{", bare):
        return formats.JSON_LD
    return formats.N_QUADS if _QUADS.search(bare) else formats.TRIG


class _Graph:
    """Concepts that are built triple by triple."""

    def __init__(self, settings: SourceSettings, report: SourceReport) -> None:
        self._settings, self._report = settings, report
        self._says = {
            **predicates_of_rdf(),
            **{predicate: ("name", kind) for predicate, kind in settings.predicates.items()},
        }
        self._drafts: dict[str, Draft] = {}
        self._concepts: set[str] = set()
        self._others: set[str] = set()  # that are of a type of RDF, OWL or SKOS, and no concepts
        self._aliases: dict[str, list[str]] = {}
        # node of a label -> concepts that have it
        self._labels: dict[str, list[tuple[str, NameKind]]] = {}
        self._nameless: set[str] = set()  # nodes with a name, and without an address
        self._forms: dict[str, list[Any]] = {}  # node of a label -> its literals
        self._axioms: dict[str, dict[str, str]] = {}  # of synonyms that have a type

    def take(self, subject: Any, predicate: str, value: Any) -> None:
        """Adds a triple, if it says something that is kept."""
        part, kind = self._says.get(predicate, ("", ""))
        node, text = str(getattr(subject, "value", "")), str(getattr(value, "value", ""))
        if part == "form":
            self._forms.setdefault(node, []).append(value)
        elif part == "axiom":
            axiom = self._axioms.setdefault(node, {})
            axiom[kind] = f"{axiom[kind]} {text}" if kind == "qualifier" and kind in axiom else text
        elif part == "import":
            self._report.lose("import", self._place(text))
        elif part and not _is_blank(subject):
            self._take_statement(node, part, kind, value, text)
        elif part == "name" and node not in self._nameless:
            self._nameless.add(node)
            self._report.rows += 1
            self._report.lose("identifier", self._place(text))

    def _take_statement(self, node: str, part: str, kind: Any, value: Any, text: str) -> None:
        """Adds what a triple says of a node with an address."""
        if part == "class":
            if text in _CONCEPTS:
                self._concepts.add(node)
            elif text.startswith("http://www.w3.org/") and text != f"{_OWL}NamedIndividual":
                self._others.add(node)
        elif part == "xl":
            self._labels.setdefault(text, []).append((node, kind))
        elif part == "name":
            self._name(node, value, kind)
        # A blank node stands for an expression of OWL, such as a restriction.
        elif not _is_blank(value):
            self._describe(node, part, value, kind)

    def _place(self, text: str) -> Place:
        return Place(self._settings.path, shown=f"{self._settings.path}, {text}")

    def records(self) -> Iterator[ConceptRecord]:
        """Yields the concepts, in the order in which the file begins to tell of them."""
        for label, concepts in self._labels.items():
            for node, kind in concepts:
                for literal in self._forms.get(label, ()):
                    self._name(node, literal, kind)
        for axiom in self._axioms.values():
            self._specify(axiom)
        for node in self._concepts - self._drafts.keys():
            self._draft(node)
        live = set()
        for node, draft in self._drafts.items():
            if node not in self._concepts and (node in self._others or not draft.names):
                continue
            self._report.rows += 1
            if node not in self._concepts or not draft.curie:
                self._report.lose(
                    "identifier" if node in self._concepts else "untyped", draft.place
                )
                continue
            self._report.used += 1
            live.add(draft.curie)
            yield draft.record()
        yield from former_records(self._aliases, live)

    def _describe(self, node: str, part: str, value: Any, kind: str) -> None:
        draft, text = self._draft(node), _plain(value)
        ours = not text.startswith(("http", "file:")) or node.startswith(
            re.split("[^/#]*$", text)[0]
        )
        concept = self._curie(text) if ours else curie(text)
        if part == "child":
            self._draft(text).above(draft.curie)
        elif part == "alias":
            if concept and draft.curie not in ("", concept):
                self._aliases.setdefault(concept, []).append(draft.curie)
        elif text != f"{_OWL}Thing":
            relates = part in ("reference", "replaced", "parent")
            draft.state(part, kind, (relates and concept) or text, language=_language(value))

    def _draft(self, node: str) -> Draft:
        if node not in self._drafts:
            self._drafts[node] = Draft(
                settings=self._settings,
                report=self._report,
                place=self._place(node),
                curie=self._curie(node),
            )
        return self._drafts[node]

    def _curie(self, text: str) -> str:
        """Returns the CURIE of an address; of an unknown vocabulary its last part, with the
        prefix of the source.
        """
        if known_curie := curie(text):
            return known_curie
        local = re.split("[/#]", text)[-1] if text.startswith(("http", "file:")) else text
        return curie(local, self._settings.prefix)

    def _name(self, node: str, literal: Any, kind: NameKind) -> None:
        self._draft(node).name(_plain(literal), kind, language=_language(literal))

    def _specify(self, axiom: Mapping[str, str]) -> None:
        """Turns a synonym into an abbreviation, or into one of another language, if an axiom
        says so.
        """
        draft, surface = (
            self._drafts.get(axiom.get("source", "")),
            " ".join(axiom.get("target", "").split()),
        )
        type_ = axiom.get("type", "")
        cross = CrossReference(curie(axiom.get("target", "")), XREF)
        if draft and cross in draft.references and "qualifier" in axiom:
            del draft.references[cross]
            draft.reference(cross.curie, qualifiers=axiom["qualifier"])
        for key, kind in list(draft.names.items()) if draft else ():
            if draft is None or key[0] != surface or kind == "label":
                continue
            if is_dropped([type_], self._settings):
                del draft.names[key]
                self._report.lose("kind", draft.place)
            elif is_short(type_):
                draft.names[key] = "abbreviation"
            elif language := language_of_type(type_):
                del draft.names[key]
                draft.name(surface, kind, language=language)


def _language(value: Any) -> str:
    return (getattr(value, "language", "") or "").partition("-")[0].lower()


def _plain(value: Any) -> str:
    """Returns the text of a node; that of a literal of XML or HTML without its tags."""
    text, kind = (
        str(getattr(value, "value", "")),
        getattr(getattr(value, "datatype", None), "value", ""),
    )
    return unescape_html(_ELEMENT.sub("", text)) if kind in _MARKED else text


def _is_blank(node: Any) -> bool:
    return type(node).__name__ in ("BlankNode", "Triple")
