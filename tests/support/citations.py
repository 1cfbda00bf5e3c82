"""Citations with MeSH headings, and documents with links to some of them."""

from __future__ import annotations

from fascicle.core.document import Document, Link, Mention, Section

_CITATION = """<PubmedArticle><MedlineCitation><PMID>{pmid}</PMID><Article>
<ArticleTitle>Asthma.</ArticleTitle><Abstract><AbstractText>Pain, pain and fever.</AbstractText>
</Abstract></Article><MeshHeadingList>
<MeshHeading><DescriptorName UI="D001249" MajorTopicYN="N">Asthma</DescriptorName>
<QualifierName UI="Q000188" MajorTopicYN="Y">drug therapy</QualifierName></MeshHeading>
<MeshHeading><DescriptorName UI="D010146" MajorTopicYN="N">Pain</DescriptorName></MeshHeading>
<MeshHeading><DescriptorName UI="D003920" MajorTopicYN="Y">Diabetes</DescriptorName></MeshHeading>
</MeshHeadingList></MedlineCitation></PubmedArticle>"""


def in_xml(number: int) -> str:
    """Citations with the ids 0, 1 and so on."""
    records = "".join(_CITATION.format(pmid=pmid) for pmid in range(number))
    return f"<PubmedArticleSet>{records}</PubmedArticleSet>"


def linked(pmid: str) -> Document:
    text = "Asthma.\nPain, pain and fever."
    fever = Link(id="1", ontology="HP", curie="HP:1", same=("MESH:D005334",))

    def mention(start: int, end: int, link: Link) -> Mention:
        return Mention(((start, end),), "Disease", source="m", links=(link,))

    pain = Link(id="D010146", ontology="MESH")
    mentions = (
        mention(0, 6, Link(id="D001249", ontology="MESH", curie="MESH:D001249")),
        mention(8, 12, pain),
        mention(14, 18, pain),
        mention(23, 28, fever),
        mention(8, 28, Link(id="9606", ontology="NCBITaxon")),  # no descriptor
    )
    sections = (Section(0, 7, "title"), Section(8, 29, "abstract"))
    return Document(id=pmid, text=text, sections=sections, mentions=mentions)
