/** One document as the page shows it: offsets in units of JavaScript strings, and what filters leave. */

import { Offsets } from "./offsets.js";
import { identifier, keyOf, sourceOf } from "./types.js";

/**
 * @typedef {object} Shown A mention as it is shown.
 * @property {number} number its place in the document
 * @property {string} key
 * @property {number} start first unit
 * @property {number} end one past the last unit
 * @property {[number, number][]} parts ranges of units
 * @property {string} type
 * @property {string} source
 * @property {number | null} score
 * @property {string} words
 * @property {[string, string]} around words before and behind it
 * @property {string} concept identifiers of its links
 * @property {string} concepts names of its links
 * @property {import("./types.js").Mention} mention
 * @property {string} [verdict] what a curator said
 * @property {string} [side] of a comparison: `both`, `left` or `right`
 * @property {string} [item] which item of curation it is
 * @property {boolean} [agreed] whether all versions say it, and nobody needs to decide
 * @property {{note?: string, flagged?: boolean}} [remark]
 */

const AROUND = 40; // units on each side of a mention

/** @typedef {{hiddenTypes: Set<string>, hiddenSources: Set<string>, hiddenSides: Set<string>, least: number}} Filter */

export class Reading {
  /**
   * @param {import("./types.js").Native} document
   * @param {Partial<Shown>[]} [beside] further facts about each of its mentions
   */
  constructor(document, beside = []) {
    this.document = document;
    this.text = document.text;
    this.offsets = new Offsets(document.text);
    /** @type {Shown[]} in the order of the text */
    this.mentions = (document.mentions ?? []).map((mention, number) => ({
      ...this.#shown(mention),
      ...beside[number],
    }));
    this.mentions.sort((a, b) => a.start - b.start || b.end - a.end);
    this.mentions.forEach((shown, number) => (shown.number = number));
  }

  /** @param {import("./types.js").Mention} mention @returns {Shown} */
  #shown(mention) {
    const parts = mention.spans.map(([start, end]) => [this.offsets.unit(start), this.offsets.unit(end)]);
    const links = mention.links ?? [];
    return {
      number: 0,
      key: keyOf(mention),
      start: parts[0][0],
      end: parts[parts.length - 1][1],
      parts,
      type: mention.type,
      source: sourceOf(mention),
      score: mention.score ?? null,
      words: parts.map(([start, end]) => this.text.slice(start, end)).join(" … "),
      around: [this.#words(parts[0][0] - AROUND, parts[0][0]), this.#words(parts.at(-1)[1], parts.at(-1)[1] + AROUND)],
      concept: links.map(identifier).join(", "),
      concepts: links
        .map((link) => link.name ?? "")
        .filter(Boolean)
        .join(", "),
      mention,
    };
  }

  /** The text of a range, without what is outside and without breaks. @param {number} start @param {number} end */
  #words(start, end) {
    return this.text.slice(Math.max(0, start), end).replace(/\s+/g, " ").trim();
  }

  /** How often each value of a field is there, the most frequent first. @param {"type" | "source" | "side"} field */
  counts(field) {
    const counts = new Map();
    for (const shown of this.mentions)
      if (shown[field] !== undefined) counts.set(shown[field], (counts.get(shown[field]) ?? 0) + 1);
    return new Map([...counts].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0])));
  }

  /** What filters leave; mentions without a score have none that could be too low. @param {Filter} filter */
  visible({ hiddenTypes, hiddenSources, hiddenSides, least }) {
    return this.mentions.filter(
      (shown) =>
        !hiddenTypes.has(shown.type) &&
        !hiddenSources.has(shown.source) &&
        !hiddenSides.has(shown.side) &&
        (shown.score ?? 1) >= least,
    );
  }
}

/** @param {import("./store.js").Entry} entry */
export const readingOf = (entry) => new Reading(entry.native, entry.beside);

/** What a document is called: a pasted text by its first words. @param {import("./store.js").Entry} entry */
export const titleOf = (entry) =>
  /^text(-|$)/.test(entry.id) && (entry.native.text || entry.title)
    ? (entry.native.text || entry.title)
        .trim()
        .slice(0, 200)
        .split("\n")[0]
        .replace(/^(.{60}\S*).+$/u, "$1 …")
    : entry.id;

/**
 * Those of sorted mentions that overlap a range.
 * @param {Shown[]} mentions by start
 * @param {number[]} reach of each mention, the largest end of it and those before
 * @param {number} start
 * @param {number} end
 */
export function overlapping(mentions, reach, start, end) {
  const first = lowest(reach, (value) => value > start);
  const found = [];
  for (let number = first; number < mentions.length && mentions[number].start < end; number++)
    if (mentions[number].end > start) found.push(mentions[number]);
  return found;
}

/** The running maximum of the ends. @param {Shown[]} mentions */
export function reaches(mentions) {
  let most = 0;
  return mentions.map((shown) => (most = Math.max(most, shown.end)));
}

/** The first number whose value meets a condition that all later ones meet too. @template T @param {T[]} values @param {(value: T) => boolean} meets */
export function lowest(values, meets) {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (meets(values[middle])) high = middle;
    else low = middle + 1;
  }
  return low;
}
