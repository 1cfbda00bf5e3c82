/** The keys of the page: one table, from which the help is made too. */

import { dialog, el } from "./dom.js";

/** @typedef {{keys: string[], means: string, group: string, run: (event: KeyboardEvent) => void, when?: () => boolean, once?: boolean}} Key */

const NAMES = { ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓", Escape: "Esc", " ": "Space" };

/** What a key press is called: `Shift+Z`, `Ctrl+z`, `?`. @param {KeyboardEvent} event */
export function pressed(event) {
  const parts = [];
  if (event.ctrlKey || event.metaKey) parts.push("Ctrl");
  if (event.altKey) parts.push("Alt");
  if (event.shiftKey && (event.key.length > 1 || /[a-z]/i.test(event.key))) parts.push("Shift");
  parts.push(
    event.key.length === 1 && !event.ctrlKey ? (event.shiftKey ? event.key : event.key.toLowerCase()) : event.key,
  );
  const made = parts.join("+");
  return made.replace(/^Shift\+([A-Z])$/, (_, letter) => `Shift+${letter}`);
}

const TYPING = "input:not([type=checkbox]):not([type=range]), textarea, select, [contenteditable]";

/** @param {Key[]} table */
export function listen(table) {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || document.querySelector("dialog[open]")) return;
    const target = /** @type {Element} */ (event.target);
    if (target.closest?.(TYPING)) return;
    if (target.closest?.("button, a, summary, [type=checkbox], [type=range]") && /^(Enter| |Arrow\w+)$/.test(event.key))
      return;
    const key = pressed(event);
    const found = table.find((one) => one.keys.includes(key) && (one.when?.() ?? true));
    if (!found) return;
    event.preventDefault();
    if (event.repeat && found.once) return; // a key that is held decides once
    found.run(event);
  });
}

/** @param {Key[]} table */
export function help(table) {
  const groups = Map.groupBy ? Map.groupBy(table, (one) => one.group) : group(table);
  const shown = [...groups].map(([title, keys]) =>
    el(
      "section",
      {},
      el("h3", { text: title }),
      el(
        "dl",
        { class: "keys" },
        ...keys.flatMap((one) => [
          el("dt", {}, ...one.keys.flatMap((key, number) => [number ? " or " : "", el("kbd", { text: spelt(key) })])),
          el("dd", { text: one.means }),
        ]),
      ),
    ),
  );
  dialog("Keys", el("div", { class: "keys-groups" }, ...shown));
}

/** @param {string} key */
const spelt = (key) =>
  key
    .split(/(?<=.)\+/)
    .map((part) => NAMES[part] ?? (part.length === 1 ? part.toUpperCase() : part))
    .join(" ") || key;

/** @param {Key[]} table */
function group(table) {
  const groups = new Map();
  for (const one of table) groups.set(one.group, [...(groups.get(one.group) ?? []), one]);
  return groups;
}
