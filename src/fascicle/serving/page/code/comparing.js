/** Two pipelines, or two layers, side by side on one text: what both say, and what one alone says. */

import { say, counted } from "./dom.js";
import { pick } from "./picking.js";
import { service } from "./service.js";
import { sourceOf } from "./types.js";

/** @typedef {import("./types.js").Mention} Mention */

/**
 * Joins what two say: a mention is the same if type and spans are.
 * @param {Mention[]} left
 * @param {Mention[]} right
 * @returns {{mentions: Mention[], sides: ("both" | "left" | "right")[], both: number, left: number, right: number}}
 */
export function joined(left, right) {
  const key = (one) => JSON.stringify([one.type, one.spans]);
  const [before, after] = [new Map(left.map((one) => [key(one), one])), new Map(right.map((one) => [key(one), one]))];
  const mentions = [...before.values(), ...[...after].filter(([one]) => !before.has(one)).map(([, one]) => one)];
  const sides = mentions.map((one) => (!before.has(key(one)) ? "right" : after.has(key(one)) ? "both" : "left"));
  const count = (side) => sides.filter((one) => one === side).length;
  return { mentions, sides, both: count("both"), left: count("left"), right: count("right") };
}

/** Asks with what the document is compared, and shows it. @param {any} store */
export async function compare(store) {
  const entry = store.documents[store.current];
  if (!entry || entry.status !== "done") return;
  const sources = [...new Set((entry.native.mentions ?? []).map(sourceOf))];
  const pipelines = store.pipelines.filter((one) => one.name !== (entry.pipeline ?? store.pipeline));
  const choices = [
    ...pipelines.map((one) => ({ value: { pipeline: one.name }, title: one.name, more: "another pipeline on this text" })),
    ...sources.flatMap((a, at) => sources.slice(at + 1).map((b) => ({ value: { layers: [a, b] }, title: `${a} and ${b}`, more: "two layers of this document" }))),
  ];
  if (!choices.length) return say("There is nothing to compare with: serve a second pipeline, or one with two layers.");
  const chosen = await pick("Compare with", choices);
  if (!chosen) return;
  try {
    store.update({ comparison: chosen.layers ? layers(entry, chosen.layers) : await pipeline(store, entry, chosen.pipeline) });
  } catch (error) {
    say(error.message, 12);
  }
}

/** @param {any} entry @param {string[]} names */
function layers(entry, names) {
  const [left, right] = names.map((name) => entry.native.mentions.filter((one) => sourceOf(one) === name));
  return { names, id: entry.id, ...joined(left, right) };
}

/** @param {any} store @param {any} entry @param {string} name */
async function pipeline(store, entry, name) {
  const { mentions = [], ...bare } = entry.native;
  say("Comparing …", 0);
  const [answer] = await service.annotate(name, [{ id: entry.id, text: bare.text }]);
  if (answer.status !== "done") throw new Error(answer.problem?.detail ?? `The document was ${answer.status}.`);
  say("");
  return { names: [entry.pipeline ?? store.pipeline, name], id: entry.id, ...joined(mentions, answer.document.mentions ?? []) };
}

/** How two agree, in one sentence. @param {any} comparison */
export function agreement({ names, both, left, right }) {
  const all = 2 * both + left + right;
  const share = all ? ((2 * both) / all).toFixed(3) : "–";
  return `A ${names[0]}, B ${names[1]}: ${counted(both, "mention")} in both, ${left.toLocaleString("en")} in A alone, ${right.toLocaleString("en")} in B alone; agreement (F1) ${share}`;
}
