#!/bin/sh
# A stop codon that is written as a star gives no variant, while one that is written as Ter does.
#
# Version:  EDirect 19.0 (ncbi-entrez-direct 19.0.20230216+dfsg-2+b1 of Debian 12), transmute -hgvs
# Input:    NP_000537.3:p.Trp24Ter and NP_000537.3:p.Trp24*
# Expected: the same variant for both
# Observed: a termination for Ter, and no variant and no message for the star
# Source:   https://hgvs-nomenclature.org/stable/recommendations/protein/substitution/: p.Trp24Ter (p.Trp24*)
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
cd "$folder"
apt-get -q=2 download ncbi-entrez-direct=19.0.20230216+dfsg-2+b1
dpkg -x *.deb root
transmute=root/usr/lib/ncbi-entrez-direct/transmute
printf 'NP_000537.3:p.Trp24Ter' | "$transmute" -hgvs > ter.xml 2>&1
printf 'NP_000537.3:p.Trp24*' | "$transmute" -hgvs > star.xml 2>&1
cat ter.xml star.xml
grep -q '<Type>Termination</Type>' ter.xml
test "$(tr -d '[:space:]' < star.xml)" = '<HGVS></HGVS>'
