#!/bin/sh
# Of two edges with the same nodes and predicate, the last one stays, though each has an id and a type of its own.
#
# Version:  kgx 2.6.0, with bmt 1.5.0 and the Biolink model 4.4.6 from the registry in place of a download
# Input:    KGX tables with the edges e1 (original_predicate causes) and e2 (prevents) between one gene and one disease
# Expected: two edges, since a KGX edge is identified by its id
# Observed: e2 alone is written, without a message
# Source:   https://github.com/biolink/kgx/blob/master/specification/kgx-format.md: id is a unique identifier of an edge
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install -q --disable-pip-version-check kgx==2.6.0 bmt==1.5.0 biolink-model==4.4.6 \
    prefixcommons==0.1.12 numpy==1.26.4
cd "$folder"
printf 'id\tcategory\nA:1\tbiolink:Gene\nA:2\tbiolink:Disease\n' > in_nodes.tsv
{
    printf 'id\tsubject\tpredicate\tobject\toriginal_predicate\n'
    printf 'e1\tA:1\tbiolink:related_to\tA:2\tcauses\n'
    printf 'e2\tA:1\tbiolink:related_to\tA:2\tprevents\n'
} > in_edges.tsv
env/bin/python - <<'END' 2> messages || { cat messages; exit 1; }
from importlib.resources import files

from bmt import toolkit

model = files("biolink_model") / "schema" / "biolink_model.yaml"
toolkit.Toolkit.__init__.__defaults__ = (str(model), {"predicate mappings": []})
import kgx.config

kgx.config.jsonld_context_map["biolink"] = {"A": "https://example.org/A_"}
from kgx.transformer import Transformer

transformer = Transformer(stream=False)
source = {"filename": ["in_nodes.tsv", "in_edges.tsv"], "format": "tsv"}
transformer.transform(source, {"filename": "out", "format": "tsv"})
lines = open("out_edges.tsv", encoding="utf-8").read().splitlines()
print("\n".join(lines))
assert len(lines) == 2 and "prevents" in lines[1] and "causes" not in lines[1], "kgx has changed"
END
