#!/bin/sh
# A sentence that ends with a whole number does not end.
#
# Version:  sbd 1.0.19 (npm)
# Input:    'There were 12. Patients recovered.', beside sentences that end with 0.05, CD4 and '5 mg'
# Expected: two sentences each
# Observed: one behind a whole number, which is taken for the number of an item of a list, in the middle of a text, too
# Source:   https://github.com/Tessmore/sbd: it divides a text at the ends of sentences
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . sbd@1.0.19 > install.log 2>&1 || { cat install.log >&2; exit 1; }
cat > run.cjs <<'END'
const assert = require("assert");
const { sentences } = require("sbd");

const ends = ["There were 12", "It was 2020", "The p value was 0.05", "They expressed CD4", "The dose was 5 mg"];
const counts = ends.map((end) => sentences(`${end}. Patients recovered.`).length);
console.log(counts);
assert.deepStrictEqual(counts, [1, 1, 2, 2, 2], "sbd has changed");
END
node run.cjs
