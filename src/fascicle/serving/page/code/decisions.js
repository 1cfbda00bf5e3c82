/** What follows from the decisions of curators: the same rules as `fascicle.serving.curation.decisions`. */

import { keyOf, sourceOf } from "./types.js";

/** @typedef {import("./types.js").Mention} Mention */
/** @typedef {{item: string, after: Mention | null}} Edit */
/** @typedef {{number: number, who: string, at: string, edits?: Edit[], undoes?: number | null, finished?: boolean | null, remark?: any}} Step */
/** @typedef {{item: string, origin: Mention | null, now: Mention | null, verdict: string}} Item */

/** The steps that count: those that no later step that counts undoes. @param {Step[]} steps */
export function active(steps) {
  const undone = new Set();
  const found = [];
  for (const step of [...steps].reverse()) {
    if (undone.has(step.number)) continue;
    if (step.undoes) undone.add(step.undoes);
    found.push(step);
  }
  return found.reverse();
}

/**
 * What is left of a document's mentions, and what was decided about each.
 * @param {import("./types.js").Native} document
 * @param {Step[]} steps
 */
export function decided(document, steps) {
  /** @type {Map<string, Item>} */
  const items = new Map(
    (document.mentions ?? []).map((origin) => [
      keyOf(origin),
      { item: keyOf(origin), origin, now: origin, verdict: "" },
    ]),
  );
  let finished = false;
  for (const step of active(steps)) {
    if (step.finished !== null && step.finished !== undefined) finished = step.finished;
    for (const { item, after } of step.edits ?? []) {
      const origin = items.get(item)?.origin ?? null;
      if (!origin && !after) items.delete(item);
      else items.set(item, { item, origin, now: after, verdict: verdictOf(origin, after) });
    }
  }
  return { items: [...items.values()], finished };
}

/** @param {Mention | null} origin @param {Mention | null} after */
function verdictOf(origin, after) {
  if (!after) return "rejected";
  if (!origin) return "added";
  return plain(origin) === plain(after) ? "accepted" : "changed";
}

/** What a decision is about. @param {Mention} mention */
const plain = ({ spans, type, links }) =>
  JSON.stringify([
    spans,
    type,
    (links ?? []).map(({ id, ontology = "", curie = "", nil = false }) => [id, ontology, curie, nil]),
  ]);

/** What curators remark on the document (the item `""`) and on its mentions. @param {Step[]} steps @returns {Map<string, {note?: string, flagged?: boolean, skipped?: boolean}>} */
export function remarks(steps) {
  const found = new Map();
  for (const { remark } of active(steps)) {
    if (!remark) continue;
    const { item = "", ...said } = remark;
    const given = Object.entries(said).filter(([, value]) => value !== null && value !== undefined);
    found.set(item, { ...found.get(item), ...Object.fromEntries(given) });
  }
  return found;
}

/**
 * The document as it is now, and what to show beside each mention.
 * @param {import("./types.js").Native} document
 * @param {Step[]} steps
 * @param {any} [review] what all versions of it say, if it is the reviewed one
 */
export function curated(document, steps, review) {
  const { items, finished } = decided(document, steps);
  const [said, agreed] = [remarks(steps), new Set(review?.items.filter((one) => one.state === "agreed").map(({ item }) => item))];
  const mentions = items.map(({ origin, now }) => ({
    ...(origin?.score === undefined ? {} : { score: origin.score }),
    ...(now ?? origin),
    source: origin ? sourceOf(origin) : "added",
  }));
  const undecided = items.filter((one) => !one.verdict && !agreed.has(one.item)).length;
  const all = review && !missing(review).length && review.versions.some((one) => one.finished);
  return {
    native: { ...document, mentions },
    beside: items.map(({ item, verdict }) => ({ item, verdict, agreed: !verdict && agreed.has(item), remark: said.get(item) })),
    undecided,
    finished,
    settled: Boolean(all && !undecided), // as a reviewed version is finished without a step that says so
    ...(all ? { disputed: undecided } : {}),
    remark: said.get("") ?? {},
    skipped: !finished && Boolean(said.get("")?.skipped),
    flagged: [...said.values()].some((one) => one.flagged),
    notes: [...said.values()].filter((one) => one.note).length,
  };
}

/** The last step of a curator that can be undone. @param {Step[]} steps @param {string} who */
export const undoable = (steps, who) =>
  active(steps)
    .filter((step) => !step.undoes && step.who === who)
    .at(-1);

/** The last undoing of a curator that can be undone itself: nobody decided since. @param {Step[]} steps @param {string} who */
export function redoable(steps, who) {
  const last = active(steps).at(-1);
  return last?.undoes && last.who === who ? last : undefined;
}

/** How unsure a probability is, in bits. @param {number | null | undefined} p */
export function entropy(p) {
  if (p === null || p === undefined || p <= 0 || p >= 1) return 0;
  return -p * Math.log2(p) - (1 - p) * Math.log2(1 - p);
}

/** How unsure a mention is: of itself, or of its concept. @param {Mention} mention */
export const doubt = (mention) =>
  Math.max(entropy(mention.score), ...(mention.links ?? []).map((link) => entropy(link.score)));

/** What is decided about a mention: where, which type, which concept. @param {import("./types.js").Mention} mention */
export function bare({ spans, type, links, attributes }) {
  return { spans, type, ...(links?.length ? { links } : {}), ...(attributes?.length ? { attributes } : {}) };
}

/** Who of the curators has not finished or skipped a document that is reviewed. @param {any} review @returns {string[]} */
export const missing = (review) => review.versions.filter((one) => !one.finished && !one.skipped).map(({ who }) => who);

/** Whether a decision about a mention is missing. @param {{verdict?: string, agreed?: boolean}} shown */
export const isOpen = (shown) => !shown.verdict && !shown.agreed;
