"""Two small documents with links, and what counts of their concepts must be."""

from __future__ import annotations

from fascicle.core.document import Document, Link, Mention, Section

LITHIUM = Link(id="D008094", ontology="MESH", name="Lithium", score=0.9, curie="MESH:D008094")
TREMOR = Link(
    id="D014202",
    ontology="MESH",
    name="Tremor",
    score=0.8,
    curie="MESH:D014202",
    same=("HP:0001337",),
)
FOXO = Link(id="2308", ontology="NCBIGene", name="FOXO1", score=0.5, curie="NCBIGene:2308")
NIL = Link(id="", nil=True)
UNSURE = Link(id="1", ontology="NCBIGene", tier="ambiguous", curie="NCBIGene:1")
BARE = Link(id="no curie")
TITLE = "Lithium and tremor."
REST = "Lithium gave no tremor in 2 patients.\nFOXO1 was measured. Lithium may act on FOXO1."


def mention(
    start: int, words: str, kind: str, *links: Link, facts: tuple[str, ...] = ()
) -> Mention:
    return Mention(
        ((start, start + len(words)),),
        kind,
        score=0.5,
        source="m",
        links=links,
        attributes=tuple((fact, "0-1") for fact in facts),
    )


def _long() -> Document:
    text = f"{TITLE}\n{REST}"
    at = text.index("FOXO1")
    last = text.rindex("Lithium")
    mentions = (
        mention(0, "Lithium", "Chemical", LITHIUM),
        mention(12, "tremor", "Disease", TREMOR),
        mention(20, "Lithium", "Chemical", LITHIUM),
        mention(text.rindex("tremor"), "tremor", "Disease", TREMOR, facts=("negated",)),
        mention(at, "FOXO1", "Gene", FOXO),
        mention(last, "Lithium", "Chemical", LITHIUM, facts=("uncertain",)),
        mention(text.rindex("FOXO1"), "FOXO1", "Gene", FOXO, UNSURE),
        mention(text.index("patients"), "patients", "Species", NIL, BARE),
    )
    sections = (Section(0, len(TITLE), "title"), Section(len(TITLE) + 1, len(text), "abstract"))
    return Document(id="1", text=text, sections=sections, mentions=mentions, meta={"year": "2020"})


SHORT = Document(
    id="PMC22",
    text="Tremor under lithium.",
    mentions=(
        mention(0, "Tremor", "Disease", TREMOR),
        mention(13, "lithium", "Chemical", LITHIUM),
    ),
)
DOCUMENTS = (_long(), SHORT)
