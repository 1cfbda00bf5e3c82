#!/bin/sh
# AB is the abstract of a RIS record with a year in PY, and a note of the same record without it.
#
# Version:  @citation-js/core 0.8.2 and @citation-js/plugin-ris 0.8.2 (npm)
# Input:    a record of RIS with title, pages and AB; the same with PY; the same with Y1, as older files have the year
# Expected: an abstract each time
# Observed: with PY alone. Fields decide whether a record is of the older specification, where AB is a note and N2 the abstract
# Source:   https://en.wikipedia.org/wiki/RIS_(file_format): AB is the abstract, N1 are notes; PY and Y1 are both years
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . @citation-js/core@0.8.2 @citation-js/plugin-ris@0.8.2 > install.log 2>&1 || { cat install.log >&2; exit 1; }
cat > run.cjs <<'END'
const assert = require("assert");
const { Cite } = require("@citation-js/core");
require("@citation-js/plugin-ris");

const told = [[], ["PY  - 2020"], ["Y1  - 2020"]].map((year) => {
  const lines = ["TY  - JOUR", "TI  - Effects", ...year, "AB  - Words.", "SP  - 1", "EP  - 9", "ER  - ", ""];
  const { abstract, note } = new Cite(lines.join("\n")).data[0];
  return [abstract, note];
});
console.log(told);
assert.deepStrictEqual(
  told,
  [[undefined, "Words."], ["Words.", undefined], [undefined, "Words."]],
  "citation-js has changed"
);
END
node run.cjs
