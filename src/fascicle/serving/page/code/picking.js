/** A dialog to choose one of several things by number, by click, or by writing another one. */

import { dialog, el, name } from "./dom.js";

/** @typedef {{value: any, title: string, more?: string, hue?: string}} Choice */

const PAUSE = 120; // milliseconds without a key, after which is searched

/**
 * @param {string} title
 * @param {Choice[]} choices
 * @param {{free?: string, secret?: boolean, pattern?: RegExp, hint?: string, filled?: string, search?: (words: string) => Promise<Choice[]>, doubt?: (value: any) => Promise<string>}} [other]
 *   `free`: label of the field for something else; `secret`: it does not show what is written; `filled`: what is in it; `search`: finds further choices for what is written there; `doubt`:
 *   a sentence that is shown once before a value is taken, or an empty one
 * @returns {Promise<any>} the value, what was written, or `undefined`
 */
export function pick(title, choices, { free = "", secret = false, filled = "", pattern = /\S/, hint = "", search, doubt } = {}) {
  return new Promise((resolve) => {
    let doubted = "";
    const done = async (value) => {
      const sentence = doubt && doubted !== JSON.stringify(value) ? await doubt(value) : "";
      doubted = JSON.stringify(value);
      if (sentence) return void (wrong.textContent = `${sentence} Choose it again to take it.`);
      resolve(value); // at once: the browser says that it is closed after keys that come meanwhile
      box.close();
    };
    const list = el(
      "div",
      { class: "group", role: "group", "aria-label": title },
      ...choices.map((choice, number) => row(choice, number, done)),
    );
    const field = el("input", { type: secret ? "password" : "text", "aria-label": free, id: "pick-free", autocomplete: "off", value: filled });
    const wrong = el("p", { class: "small soft", role: "status" });
    const found = new Searching(field, search, done);
    const form = el(
      "form",
      {
        class: "row",
        on: {
          submit: async (event) => {
            event.preventDefault();
            const written = field.value.trim();
            if (pattern.test(written)) return void done(written);
            wrong.textContent = "Searching …";
            await found.asked; // Enter may come before the answer
            if (found.first) done(found.first.value);
            else wrong.textContent = hint;
          },
        },
      },
      el("label", { class: "field" }, el("span", { text: free }), field),
      el("button", { class: "button", type: "submit", text: "Use" }),
    );
    const box = dialog(title, list, ...(free ? [form, wrong, found.list] : []));
    box.addEventListener("close", () => resolve(undefined));
    box.addEventListener("keydown", (event) => {
      if (event.target === field || !/^[1-9]$/.test(event.key) || !choices[event.key - 1]) return;
      event.preventDefault();
      done(choices[event.key - 1].value);
    });
    (filled ? field : (list.querySelector("button") ?? field)).focus();
  });
}

/** Choices that are found for what is written in a field; the last question alone is answered. */
class Searching {
  /** @param {HTMLInputElement} field @param {((words: string) => Promise<Choice[]>) | undefined} search @param {(value: any) => void} done */
  constructor(field, search, done) {
    this.list = el("div", { class: "group", role: "group", "aria-label": "Found", hidden: true });
    /** @type {Choice | undefined} */
    this.first = undefined;
    /** Ends with the answer to what is written. @type {Promise<void> | undefined} */
    this.asked = undefined;
    let waits = 0;
    const ask = async () => {
      const written = field.value.trim();
      const found = written ? await search(written).catch(() => []) : [];
      if (written !== field.value.trim()) return;
      this.first = found[0];
      this.list.replaceChildren(...found.map((choice) => row(choice, 9, done)));
      this.list.hidden = !found.length;
    };
    if (!search) return;
    field.addEventListener("input", () => {
      clearTimeout(waits);
      this.first = undefined;
      this.asked = new Promise((resolve) => (waits = setTimeout(() => ask().then(resolve), PAUSE)));
    });
    const walk = (event) => {
      const rows = [field, ...this.list.querySelectorAll("button")];
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      const next = step && rows[rows.indexOf(document.activeElement) + step];
      if (!next) return;
      event.preventDefault();
      next.focus();
    };
    for (const one of [field, this.list]) one.addEventListener("keydown", walk);
  }
}

/** @param {Choice} choice @param {number} number @param {(value: any) => void} done */
const row = ({ value, title, more, hue }, number, done) =>
  el(
    "button",
    { type: "button", class: "choice", on: { click: () => done(value) } },
    number < 9 ? el("kbd", { text: String(number + 1) }) : el("span", {}),
    el("strong", {}, hue ? el("span", { class: `chip ${hue}` }, name(title)) : name(title)),
    more ? el("span", {}, name(more)) : "",
  );
