#!/bin/sh
# A file that is read and written again has other numbers: the leading zeros of codes are gone.
#
# Version:  rdflib 7.6.0
# Input:    the code "007", typed as an integer, and the name "heat  shock" as a token
# Expected: the same texts in the file that is written; pyoxigraph 0.5.13 writes them so
# Observed: "7" and "heat shock": texts of known types are normalised when they are read. A decimal 1.10 stays
# Source:   https://www.w3.org/TR/rdf11-concepts/#section-Graph-Literal: literals with other texts are other terms
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install -q --disable-pip-version-check rdflib==7.6.0 pyoxigraph==0.5.13
cd "$folder"
env/bin/python - <<'PY'
import re

import pyoxigraph
import rdflib

TURTLE = """@prefix x: <http://example.org/> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
x:a x:p "007"^^xsd:integer, "heat  shock"^^xsd:token, "1.10"^^xsd:decimal .
"""
rows = rdflib.Graph().parse(data=TURTLE, format="turtle").serialize(format="nt")
other = pyoxigraph.serialize(
    pyoxigraph.parse(TURTLE, pyoxigraph.RdfFormat.TURTLE), format=pyoxigraph.RdfFormat.N_TRIPLES
).decode()
texts = [sorted(re.findall('"(.*?)"', each)) for each in (rows, other)]
print(texts)
assert texts[0] == ["1.10", "7", "heat shock"], "rdflib has changed"
assert texts[1] == ["007", "1.10", "heat  shock"], "pyoxigraph has changed"
PY
