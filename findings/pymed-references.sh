#!/bin/sh
# An article has the identifiers of what it cites, and its title and abstract end at the first tag.
#
# Version:  pymed 0.8.9
# Input:    a PubmedArticle with italics in title and abstract, and a list of references with their ids
# Expected: its own PMID and DOI, and the whole title and abstract
# Observed: pubmed_id is '1\n77', doi is that of the reference, and the title is 'On '
# Source:   https://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_250101.dtd: ReferenceList has ArticleIdList, titles have markup
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install -q --disable-pip-version-check pymed==0.8.9
cd "$folder"
env/bin/python - <<'END'
import xml.etree.ElementTree as ET

from pymed.article import PubMedArticle

citation = """<PubmedArticle><MedlineCitation><PMID>1</PMID><Article><Journal><Title>J</Title></Journal>
<ArticleTitle>On <i>BRCA1</i> in cells</ArticleTitle>
<Abstract><AbstractText>To treat <i>E. coli</i> in gout.</AbstractText></Abstract><AuthorList/></Article></MedlineCitation>
<PubmedData><ArticleIdList><ArticleId IdType="pubmed">1</ArticleId></ArticleIdList>
<ReferenceList><Reference><ArticleIdList><ArticleId IdType="pubmed">77</ArticleId><ArticleId IdType="doi">10.1/cited</ArticleId>
</ArticleIdList></Reference></ReferenceList></PubmedData></PubmedArticle>"""
article = PubMedArticle(xml_element=ET.fromstring(citation))
print([article.pubmed_id, article.doi, article.title, article.abstract])
assert article.pubmed_id == "1\n77", "pymed has changed"
assert article.doi == "10.1/cited", "pymed has changed"
assert (article.title, article.abstract) == ("On ", "To treat "), "pymed has changed"
END
