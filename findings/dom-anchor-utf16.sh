#!/bin/sh
# Two packages for the same selector of the W3C count in different units, so that a place moves behind an emoji.
#
# Version:  dom-anchor-text-position 5.0.0, @apache-annotator/dom 0.2.0, jsdom 29.1.1 (npm)
# Input:    the word Lithium in a paragraph that begins with an emoji
# Expected: 2 to 9 by both, and each finds the word at the place that the other writes
# Observed: 3 to 10 by dom-anchor-text-position, which counts UTF-16 units; at 2 to 9 it finds " Lithiu"
# Source:   https://www.w3.org/TR/annotation-model/#text-position-selector: code points are counted, and not code units
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . dom-anchor-text-position@5.0.0 @apache-annotator/dom@0.2.0 @apache-annotator/selector@0.2.0 jsdom@29.1.1 > install.log 2>&1 || { cat install.log >&2; exit 1; }
cat > run.cjs <<'JS'
const assert = require("assert");
const { JSDOM } = require("jsdom");

const { window } = new JSDOM("<p>😀 Lithium helps.</p>");
for (const name of ["document", "Node", "NodeFilter", "Range"]) global[name] = window[name];
const anchor = require("dom-anchor-text-position");

(async () => {
  const { describeTextPosition } = await import("@apache-annotator/dom");
  const paragraph = document.querySelector("p");
  const range = document.createRange();
  range.setStart(paragraph.firstChild, 3);
  range.setEnd(paragraph.firstChild, 10);
  assert.strictEqual(String(range), "Lithium");
  const { start, end } = await describeTextPosition(range, paragraph);
  const other = anchor.fromRange(paragraph, range);
  const words = String(anchor.toRange(paragraph, { start, end }));
  console.log([start, end], [other.start, other.end], words);
  assert.deepStrictEqual([start, end], [2, 9], "@apache-annotator/dom has changed");
  assert.deepStrictEqual([other.start, other.end, words], [3, 10, " Lithiu"], "dom-anchor-text-position has changed");
})();
JS
node run.cjs
