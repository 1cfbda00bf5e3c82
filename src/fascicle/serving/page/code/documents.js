/** The list of documents, with what became of each. */

import { counted, el, name } from "./dom.js";

const MOST = 2000; // rows; the keys reach the rest

/** @param {HTMLElement} root @param {any} store */
export function documentList(root, store) {
  store.on(["documents", "current", "curation"], () => {
    const { documents, current } = store;
    root.hidden = documents.length < 2;
    if (root.hidden) return;
    const rows = documents.slice(0, MOST).map((entry, number) => {
      const row = el("button", { type: "button", class: `doc ${entry.status === "done" ? "" : "failed"}`, "aria-current": number === current, on: { click: () => store.update({ current: number }) } },
        el("span", {}, name(store.titleOf(entry))), el("span", { text: told(entry) }));
      return row;
    });
    const list = el("div", { class: "doc-list", role: "group", "aria-label": "Documents" }, ...rows);
    root.replaceChildren(el("h2", { class: "minor", text: counted(documents.length, "document") }), list);
    const row = rows[current];
    if (row) list.scrollTop = row.offsetTop - list.offsetTop - list.clientHeight / 2;
  });
}

/** @param {any} entry */
function told(entry) {
  if (entry.status !== "done") return entry.status.replace("_", " ");
  if (entry.finished) return "✓ finished";
  return entry.undecided === undefined ? (entry.native.mentions ?? []).length.toLocaleString("en") : `${entry.undecided} open`;
}
