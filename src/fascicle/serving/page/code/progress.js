/** How far the curation of a document is, and what can be done with the whole of it. */

import { missing } from "./decisions.js";
import { button, counted, el, name } from "./dom.js";
import { titleOf } from "./reading.js";
import { remarkOf } from "./remarks.js";

/** @param {any} entry @param {any} store @param {import("./curator.js").Curator} curator */
export function progress(entry, store, curator) {
  const all = entry.beside.length;
  const waits = entry.review && !entry.finished ? missing(entry.review) : [];
  const bar = el("i", {});
  bar.style.width = `${all ? ((all - entry.undecided) / all) * 100 : waits.length ? 0 : 100}%`;
  const act = (words, does, keep, more = {}) => button(words, does, { class: "button tiny", "data-keep": keep, ...more });
  const box = el(
    "div",
    { class: "decide whole" },
    el(
      "div",
      { class: "tally" },
      el("span", { text: `${all - entry.undecided} of ${counted(all, "mention")} decided` }),
      waits.length > 0 && el("span", { class: "soft small" }, "waits for ", name(waits.join(", "))),
      entry.pending.length > 0 && el("span", { class: "soft small saving", text: `${entry.pending.length} being saved` }),
      entry.finished && el("strong", { class: "verdict accepted", text: "finished" }),
    ),
    el("div", { class: "progress" }, bar),
    el(
      "div",
      { class: "row" },
      act("New mention", () => store.update({ marking: "new" }), "new"),
      act("Accept the rest", () => curator.acceptRest(), "rest"),
      act(entry.finished ? "Open again" : "Finish", () => curator.finish(), "finish"),
      act(entry.skipped ? "Take it again" : "Skip", () => curator.skip(), "skip"),
      act("Undo", () => curator.undo(), "undo"),
      act("Redo", () => curator.redo(), "redo"),
      act("Least sure first", () => curator.leastSure(), "sure"),
      button("", () => curator.rename(), { class: "button quiet tiny", "data-keep": "who", id: "who" }),
    ),
    remarkOf("this document", entry.remark, (said) => curator.remark("", said)),
  );
  box.querySelector("#who").append("Curator: ", name(store.curation.who));
  return box;
}

/** What became of a document that is not here. @param {any} entry @param {() => void} again */
export const state = (entry, again) => [
  el("h2", {}, name(titleOf(entry))),
  entry.failed
    ? el("p", { class: "notice bad", role: "alert" }, `${entry.failed} `, button("Load it again", again, { class: "button tiny", id: "again" }))
    : el("p", { class: "soft", role: "status", text: "Loading …" }),
];
