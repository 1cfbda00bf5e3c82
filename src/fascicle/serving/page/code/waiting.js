/** What waits to be saved, and what was refused: a button in the bar, and a list with a row for each decision. */

import { button, counted, dialog, el, name } from "./dom.js";

/** @typedef {import("./queue.js").Waiting} Waiting */

/** A button that says how many decisions the service does not have; none while all goes well. @param {import("./queue.js").Queue} queue */
export function waiting(queue) {
  const { refused, others, steps, broken } = queue;
  if (!refused.length && !others.length && !broken) return null;
  const open = steps.length - refused.length - others.length;
  const counts = [[open && broken, `${open} not sent yet`], [refused.length, `${refused.length} refused`], [others.length, `${others.length} of others`]];
  const words = counts.flatMap(([some, said]) => (some ? [said] : [])).join(", ");
  return button(words, () => show(queue), { class: "button tiny waiting", id: "waiting" });
}

/** @param {import("./queue.js").Queue} queue */
function show(queue) {
  const rows = () =>
    queue.steps.filter(queue.mine).map((step) =>
      el(
        "li",
        { class: "row" },
        el("strong", {}, name(step.document)),
        el("span", {}, name(what(step))),
        el("span", { class: "soft small", text: step.refused || "waits" }),
        step.refused &&
          button("Discard", () => (queue.drop(step), queue.changed(step, ""), draw()), { class: "button tiny" }),
      ),
    );
  const list = el("ol", { class: "group waiting-list" });
  const draw = () => list.replaceChildren(...rows());
  draw();
  const send = button("Send now", () => queue.retry().then(draw), { class: "button first" });
  dialog(
    "Decisions that the service does not have",
    el("p", { text: queue.broken || `${counted(queue.refused.length, "decision")} refused.` }),
    el("p", { class: "small soft", text: "They are kept in this browser, also when the page is closed, and sent in this order." }),
    ...waitFor(queue).map((words) => el("p", { class: "small soft" }, name(words))),
    list,
    el("div", { class: "row" }, send),
  );
}

/** For whom steps of others wait; what they decided may be private. @param {import("./queue.js").Queue} queue */
function waitFor({ others }) {
  const names = [...new Set(others.map(({ who }) => who))];
  const count = (who) => others.filter((one) => one.who === who).length;
  return names.map((who) => `${counted(count(who), "decision")} of ${who}: sent when this curator gives their token in this browser.`);
}

/** A step in a few words. @param {Waiting} step */
function what({ edits = [], undoes, finished, remark }) {
  if (undoes) return "undo";
  if (remark) return remark.note === undefined ? "flag or skip" : "note";
  if (!edits.length) return finished ? "finished" : "open again";
  const [{ item, after }] = edits;
  const place = after?.spans ?? (item.startsWith("[") ? JSON.parse(item)[2] : []);
  const where = place.map(([start, end]) => `${start}–${end}`).join(", ");
  return [after ? after.type : "reject", where, edits.length > 1 && `and ${edits.length - 1} more`].filter(Boolean).join(" ");
}
