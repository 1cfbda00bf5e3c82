#!/bin/sh
# Text in tags of a MEDLINE title or abstract is left out, with the names and numbers that it contains.
#
# Version:  bibutils 7.2-2 (med2xml and xml2ris of Debian 12)
# Input:    a title with E. coli in <i>, and an abstract with 10<sup>5</sup>
# Expected: the words of the title and of the abstract, with or without marks for the raised number
# Observed: "Growth of  on glucose", and "10 cells" for a hundred thousand
# Source:   https://dtd.nlm.nih.gov/ncbi/pubmed/doc/out/250101/el-ArticleTitle.html: text with i, b, u, sub and sup
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
cd "$folder"
apt-get -q=2 download bibutils=7.2-2 libbibutils8=7.2-2
for package in *.deb; do dpkg -x "$package" root; done
libraries=$(dirname "$(find root -name 'libbibutils.so.8*' | head -n 1)")
cat > citation.xml <<'END'
<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>1</PMID><Article>
<ArticleTitle>Growth of <i>E. coli</i> on glucose</ArticleTitle>
<Abstract><AbstractText>We counted 10<sup>5</sup> cells.</AbstractText></Abstract>
</Article></MedlineCitation></PubmedArticle></PubmedArticleSet>
END
export LD_LIBRARY_PATH="$libraries"
root/usr/bin/med2xml citation.xml 2> messages | root/usr/bin/xml2ris 2>> messages > citation.ris
cat citation.ris
grep -q '^TI  - Growth of  on glucose' citation.ris
grep -q '^AB  - We counted 10 cells\.' citation.ris
