#!/bin/sh
# Ten to the power of minus eight is a subtraction if the minus is the sign that publishers write.
#
# Version:  bioconverters 4.1.1, pmcxml2txt and pmcxml2bioc
# Input:    10<sup>-8</sup> with a hyphen, and with the minus sign U+2212, in an article of PubMed Central
# Expected: 10^-8 both times, as fix_exponentials is on by default
# Observed: 10^-8, and 10−8
# Source:   https://github.com/jakelever/bioconverters: the flag fix_exponentials makes "3x10^8 m/s" of raised numbers
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install -q --disable-pip-version-check bioconverters==4.1.1
cd "$folder"
cat > article.xml <<'END'
<article><front><article-meta><title-group><article-title>T</article-title></title-group></article-meta></front>
<body><p>We gave 10<sup>-8</sup> M and 10<sup>&#x2212;8</sup> M.</p></body></article>
END
env/bin/python - <<'END'
from bioconverters import pmcxml2txt

((_, text),) = pmcxml2txt("article.xml", sections=("article",))
print(text)
assert text == "We gave 10^-8 M and 10\u22128 M.", "bioconverters has changed"
END
