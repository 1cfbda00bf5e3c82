/** A block of text as stretches, each with the mentions over it; and a lane for the line of each mention. */

import { lowest } from "./reading.js";

/** @typedef {import("./reading.js").Shown} Shown */
/** @typedef {{start: number, end: number, over: Shown[], gaps: Shown[]}} Stretch over: the innermost first */

const BLOCK = 1600; // units that a block should have
const LONGEST = 4000; // units that a block has at most

/**
 * Cuts a text into blocks of whole lines, as far as lines are short enough.
 * @param {string} text
 * @returns {[number, number][]}
 */
export function blocksOf(text) {
  const blocks = [];
  let start = 0;
  while (start < text.length) {
    const end = blockEnd(text, start);
    blocks.push([start, end]);
    start = end;
  }
  return blocks;
}

/** @param {string} text @param {number} start */
function blockEnd(text, start) {
  if (text.length - start <= BLOCK) return text.length;
  const line = text.indexOf("\n", start + BLOCK - 1);
  if (line >= 0 && line < start + LONGEST) return line + 1;
  const early = text.lastIndexOf("\n", start + BLOCK - 1);
  if (early > start) return early + 1;
  if (text.length - start <= LONGEST) return text.length;
  const blank = text.lastIndexOf(" ", start + LONGEST - 1);
  if (blank > start) return blank + 1;
  const cut = start + LONGEST;
  return (text.charCodeAt(cut) & 0xfc00) === 0xdc00 ? cut + 1 : cut;
}

/**
 * The stretches of a block between the ends of all mentions in it.
 * @param {Shown[]} mentions that overlap the block
 * @param {number} start
 * @param {number} end
 * @returns {Stretch[]}
 */
export function stretchesOf(mentions, start, end) {
  const within = (at) => Math.min(end, Math.max(start, at));
  const cuts = new Set([start, end]);
  for (const shown of mentions) for (const [from, to] of shown.parts) cuts.add(within(from)).add(within(to));
  const at = [...cuts].sort((a, b) => a - b);
  const stretches = at.slice(0, -1).map((from, number) => ({ start: from, end: at[number + 1], over: [], gaps: [] }));
  for (const shown of mentions) cover(stretches, shown);
  for (const stretch of stretches) stretch.over.sort(innermost);
  return stretches;
}

/** @param {Stretch[]} stretches @param {Shown} shown */
function cover(stretches, shown) {
  let part = 0;
  for (let number = lowest(stretches, (one) => one.end > shown.start); number < stretches.length; number++) {
    const stretch = stretches[number];
    if (stretch.start >= shown.end) return;
    while (shown.parts[part][1] <= stretch.start) part++;
    (shown.parts[part][0] <= stretch.start ? stretch.over : stretch.gaps).push(shown);
  }
}

/** @param {Shown} a @param {Shown} b */
const innermost = (a, b) => a.end - a.start - (b.end - b.start) || b.start - a.start || a.number - b.number;

/**
 * A lane for each mention, so that none shares one with a mention that it overlaps: short ones near the words.
 * @param {Shown[]} mentions by start
 * @returns {{lanes: Map<Shown, number>, depth: number}}
 */
export function lanesOf(mentions) {
  const lanes = new Map();
  /** @type {[number, number][][]} what is taken in each lane */
  const taken = [];
  for (const shown of [...mentions].sort(innermost)) {
    let lane = 0;
    while (taken[lane]?.some(([start, end]) => start < shown.end && end > shown.start)) lane++;
    (taken[lane] ??= []).push([shown.start, shown.end]);
    lanes.set(shown, lane);
  }
  return { lanes, depth: taken.length };
}
