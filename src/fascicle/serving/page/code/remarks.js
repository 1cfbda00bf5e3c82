/** Remarks of curators: a note and a flag, on a mention or on the whole document. */

import { button, el, name } from "./dom.js";
import { pick } from "./picking.js";

const LONGEST = 2000; // characters of a note, as the service has it

/**
 * What is remarked, and buttons to change it.
 * @param {string} what it is about, in words
 * @param {{note?: string, flagged?: boolean} | undefined} remark
 * @param {(said: {note?: string, flagged?: boolean}) => void} change
 * @param {string[]} [keys] of the two buttons
 */
export function remarkOf(what, remark = {}, change, keys = ["Shift F", "Shift L"]) {
  const { note = "", flagged = false } = remark;
  const act = (words, does, more) =>
    button(words, does, { class: "button tiny", "data-keep": `${words} ${what}`, ...more });
  const rest = (letter) => [el("span", { class: "unseen", text: ` ${what}` }), el("kbd", { text: letter, "aria-hidden": "true" })];
  const flag = act("Flag", () => change({ flagged: !flagged }), { "aria-pressed": String(flagged) });
  const write = act("Note", async () => {
    const said = await askNote(what, note);
    if (said !== undefined) change({ note: said });
  });
  flag.append(...rest(keys[0]));
  write.append(...rest(keys[1]));
  return el(
    "div",
    { class: "row remark" },
    flag,
    write,
    flagged && el("strong", { class: "flagged", text: "⚑ flagged" }),
    note && el("span", { class: "note" }, name(note)),
  );
}

/** Asks for a note. @param {string} what @param {string} note that is there @returns {Promise<string | undefined>} empty to take it away */
export const askNote = (what, note) =>
  pick(`Note on ${what}`, note ? [{ value: "", title: "Take the note away" }] : [], {
    free: "Note",
    filled: note,
    pattern: new RegExp(`^[^]{1,${LONGEST}}$`),
    hint: `Give a note of at most ${LONGEST.toLocaleString("en")} characters.`,
  });
