#!/bin/sh
# Of an abstract with headings, only the first part becomes the abstract of the reference.
#
# Version:  bibutils 7.2-2 (med2xml and xml2ris of Debian 12)
# Input:    an abstract of MEDLINE with the parts BACKGROUND, METHODS and RESULTS
# Expected: the three parts
# Observed: the first one, without its heading
# Source:   https://dtd.nlm.nih.gov/ncbi/pubmed/doc/out/250101/el-Abstract.html: an abstract has one AbstractText or more
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
<ArticleTitle>Interleukin 2 in mice</ArticleTitle>
<Abstract><AbstractText Label="BACKGROUND">Why we looked.</AbstractText>
<AbstractText Label="METHODS">How we looked.</AbstractText>
<AbstractText Label="RESULTS">Interleukin 2 rose.</AbstractText></Abstract>
</Article></MedlineCitation></PubmedArticle></PubmedArticleSet>
END
export LD_LIBRARY_PATH="$libraries"
root/usr/bin/med2xml citation.xml 2> messages | root/usr/bin/xml2ris 2>> messages > citation.ris
cat citation.ris
test "$(grep -c '^AB  - ' citation.ris)" = 1
grep -q '^AB  - Why we looked\.' citation.ris
if grep -q 'Interleukin 2 rose' citation.ris; then exit 1; fi
