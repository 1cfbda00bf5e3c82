/** A dialog to choose one of several things by number, by click, or by writing another one. */

import { button, dialog, el, name } from "./dom.js";

/** @typedef {{value: any, title: string, more?: string, hue?: string}} Choice */

/**
 * @param {string} title
 * @param {Choice[]} choices
 * @param {{free?: string, pattern?: RegExp, hint?: string}} [other] `free`: label of the field for something else
 * @returns {Promise<any>} the value, what was written, or `undefined`
 */
export function pick(title, choices, { free = "", pattern = /\S/, hint = "" } = {}) {
  return new Promise((resolve) => {
    let answer;
    const done = (value) => {
      answer = value;
      box.close();
    };
    const list = el(
      "div",
      { class: "group", role: "group", "aria-label": title },
      ...choices.map((choice, number) => row(choice, number, done)),
    );
    const field = el("input", { type: "text", "aria-label": free, id: "pick-free" });
    const wrong = el("p", { class: "small soft", role: "status" });
    const form = el(
      "form",
      {
        class: "row",
        on: {
          submit: (event) => {
            event.preventDefault();
            const written = field.value.trim();
            if (pattern.test(written)) done(written);
            else wrong.textContent = hint;
          },
        },
      },
      el("label", { class: "field" }, el("span", { text: free }), field),
      el("button", { class: "button", type: "submit", text: "Use" }),
    );
    const box = dialog(title, list, ...(free ? [form, wrong] : []));
    box.addEventListener("close", () => resolve(answer));
    box.addEventListener("keydown", (event) => {
      if (event.target === field || !/^[1-9]$/.test(event.key) || !choices[event.key - 1]) return;
      event.preventDefault();
      done(choices[event.key - 1].value);
    });
    (list.querySelector("button") ?? field).focus();
  });
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
