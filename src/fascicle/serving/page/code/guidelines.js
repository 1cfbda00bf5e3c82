/** The guidelines of a project: what they say of a type, and of all types. */

import { el } from "./dom.js";

/** @param {any} store @param {string} type @returns {string} empty if they say nothing */
export function guideline(store, type) {
  const said = store.curation?.project?.guidelines ?? {};
  return Object.hasOwn(said, type) ? said[type] : "";
}

/** The guidelines beside a mention. @param {any} store @param {string} type */
export function guidelines(store, type) {
  const [own, all] = [guideline(store, type), guideline(store, "")];
  return [
    own && el("p", { class: "guideline", dir: "auto", text: own }),
    all && el("details", { class: "small" }, el("summary", { text: "Guidelines for all types" }), el("p", { class: "guideline", dir: "auto", text: all })),
  ];
}
