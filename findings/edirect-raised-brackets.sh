#!/bin/sh
# What prepares XML of PubMed for efetch puts raised text in square brackets and joins lowered text to its word.
#
# Version:  EDirect 19.0 (ncbi-entrez-direct 19.0.20230216+dfsg-2+b1 of Debian 12); efetch calls transmute so
# Input:    a title with Na<sup>+</sup>/K<sup>+</sup>-ATPase, H<sub>2</sub>O<sub>2</sub> and 10<sup>5</sup>
# Expected: the tags of the source, or raised and lowered text by one rule
# Observed: Na[+]/K[+]-ATPase, H2O2 and 10[5], which looks like a citation
# Source:   https://dtd.nlm.nih.gov/ncbi/pubmed/doc/out/250101/el-ArticleTitle.html: titles contain sub and sup
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
cd "$folder"
apt-get -q=2 download ncbi-entrez-direct=19.0.20230216+dfsg-2+b1
dpkg -x *.deb root
transmute=root/usr/lib/ncbi-entrez-direct/transmute
grep -q 'transmute -mixed -normalize "$dbase"' root/usr/bin/efetch.ncbi
cat > citation.xml <<'END'
<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>1</PMID><Article>
<ArticleTitle>Na<sup>+</sup>/K<sup>+</sup>-ATPase and H<sub>2</sub>O<sub>2</sub> in 10<sup>5</sup> cells</ArticleTitle>
</Article></MedlineCitation></PubmedArticle></PubmedArticleSet>
END
cat citation.xml | "$transmute" -mixed -normalize pubmed > normalised.xml
grep -A 1 '<ArticleTitle>' normalised.xml
grep -qF 'Na[+]/K[+]-ATPase and H2O2 in 10[5] cells' normalised.xml
