/** How the curators of a project agree: F1 of each two, and Krippendorff's alpha of all, by type, with intervals. */

import { dialog, el, name } from "./dom.js";
import { service } from "./service.js";

/** Asks the service, and shows what it says. */
export async function showAgreement() {
  const { pairs, alpha, alpha_any: any } = await service.curation.agreement();
  if (!pairs.length) return void dialog("Agreement", el("p", { text: "No two curators have finished the same document yet." }));
  const alphas = [...Object.entries(alpha), ...(any ? [["any type", any]] : [])];
  dialog(
    "Agreement",
    ...pairs.map((pair) => table(caption(pair), ["Type", "F1", "Both", ...pair.names], rows(pair))),
    table(
      "All curators: Krippendorff’s alpha of the words",
      ["Type", "Alpha"],
      alphas.map(([type, value]) => [type, interval(value)]),
    ),
    el("p", { class: "small soft", text: "In brackets: 95 % intervals. F1 compares mentions, with type and all spans." }),
  );
}

/** @param {any} pair */
const caption = ({ names, documents, words }) =>
  `${names.join(" and ")}: ${documents.toLocaleString("en")} documents, ${words.toLocaleString("en")} words`;

/** @param {any} pair */
const rows = ({ mentions, all_mentions: all }) =>
  [...Object.entries(mentions), ["all types", all]].map(([type, { first, second, both, f1 }]) => [type, interval(f1), both, first, second]);

/** @param {any} measured */
function interval({ value, low, high, undefined: why }) {
  if (value === null || value === undefined) return why ?? "–";
  const range = low === null || low === undefined ? "" : ` [${low.toFixed(3)}, ${high.toFixed(3)}]`;
  return value.toFixed(3) + range;
}

/** @param {string} title @param {string[]} heads @param {any[][]} rows the first cell is the head of its row */
const table = (title, heads, rows) =>
  el(
    "div",
    { class: "wide", tabindex: "0", role: "region", "aria-label": title },
    el(
      "table",
      { class: "plain" },
      el("caption", {}, name(title)),
      el("thead", {}, el("tr", {}, ...heads.map((head) => el("th", { scope: "col" }, name(head))))),
      el(
        "tbody",
        {},
        ...rows.map(([head, ...cells]) => el("tr", {}, el("th", { scope: "row" }, name(head)), ...cells.map((cell) => el("td", { text: String(cell) })))),
      ),
    ),
  );
