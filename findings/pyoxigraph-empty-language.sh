#!/bin/sh
# A label whose language is taken back by xml:lang="" stops a whole file of RDF/XML.
#
# Version:  pyoxigraph 0.5.13
# Input:    rdf:RDF with xml:lang="en", and in it one rdfs:label with xml:lang=""
# Expected: one literal without a language
# Observed: a syntax error about the language tag; with lenient=True the literal is read
# Source:   https://www.w3.org/TR/rdf-syntax-grammar/#section-Syntax-languages: xml:lang="" indicates the absence of a
#           language
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install -q --disable-pip-version-check pyoxigraph==0.5.13
cd "$folder"
env/bin/python - <<'END'
import pyoxigraph

names = 'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#"'
label = '<rdf:Description rdf:about="http://example.org/1"><rdfs:label xml:lang="">TP53</rdfs:label></rdf:Description>'
text = f'<rdf:RDF {names} xml:lang="en">{label}</rdf:RDF>'


def objects(**options):
    return [quad.object for quad in pyoxigraph.parse(text, format=pyoxigraph.RdfFormat.RDF_XML, **options)]


try:
    objects()
except SyntaxError as error:
    print(error)
else:
    raise AssertionError("pyoxigraph has changed")
assert objects(lenient=True)[0].value == "TP53", "pyoxigraph has changed"
END
