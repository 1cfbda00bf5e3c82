/** A range of the text that is moved and resized by keys: a new mention, or another span for one. */

import { button, el, speak } from "./dom.js";
import { pressed } from "./keys.js";

const WORD = /[\p{L}\p{N}\p{M}]+(?:['’][\p{L}\p{M}]+)*|[^\s\p{L}\p{N}\p{M}]/gu;

/**
 * @typedef {object} Marked
 * @property {number} start unit
 * @property {number} end unit
 */

export class Marking {
  /**
   * @param {any} store `marking`: the mention that gets another span, `"new"`, or `null`
   * @param {import("./text-view.js").TextView} view
   * @param {import("./curator.js").Curator} curator
   */
  constructor(store, view, curator) {
    this.store = store;
    this.view = view;
    this.curator = curator;
    /** The units that are marked. */
    this.start = 0;
    this.end = 0;
    this.bar = el("div", { class: "mode", hidden: true });
    view.sheet.before(this.bar);
    this.fine = false;
    view.sheet.addEventListener("painted", () => this.#light());
    document.addEventListener("pointerup", () => setTimeout(() => this.#drawn()));
    store.on(["marking"], () => (store.marking ? this.#begin() : this.#end()));
    store.on(["current", "curation"], () => this.store.marking && this.cancel());
    document.addEventListener("keydown", (event) => this.store.marking && this.#key(event), { capture: true });
  }

  #begin() {
    const { marking, chosen, reading } = this.store;
    this.fine = false;
    const selected = this.#selected();
    const meant = selected && (marking === "new" || (selected[0] < marking.end && selected[1] > marking.start));
    if (meant) [this.start, this.end] = selected;
    else if (marking !== "new") [this.start, this.end] = [marking.start, marking.end];
    else [this.start, this.end] = wordAfter(reading.text, chosen ? chosen.end : this.view.top());
    getSelection().removeAllRanges();
    this.bar.hidden = false;
    this.view.sheet.focus({ preventScroll: true });
    this.#show();
  }

  /** What is selected in the page, without blanks around it. @returns {[number, number] | null} */
  #selected() {
    const [from, to] = this.view.selected() ?? [0, 0];
    const words = this.store.reading.text.slice(from, to);
    const start = from + words.length - words.trimStart().length;
    return words.trim() ? [start, start + words.trim().length] : null;
  }

  /** Takes what was selected with the mouse meanwhile. */
  #drawn() {
    const selected = this.store.marking && this.#selected();
    if (!selected) return;
    [this.start, this.end] = selected;
    getSelection().removeAllRanges();
    this.#show();
  }

  #end() {
    if (this.bar.contains(document.activeElement)) this.view.sheet.focus({ preventScroll: true });
    this.bar.hidden = true;
    window.CSS?.highlights?.delete("marking");
  }

  cancel() {
    this.store.update({ marking: null });
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (document.querySelector("dialog[open]") || event.target.closest?.("input, textarea, select")) return;
    const key = pressed(event);
    const does = {
      ArrowRight: () => this.#resize("end", 1),
      ArrowLeft: () => this.#resize("end", -1),
      "Shift+ArrowRight": () => this.#resize("start", 1),
      "Shift+ArrowLeft": () => this.#resize("start", -1),
      n: () => this.#move(1),
      p: () => this.#move(-1),
      ArrowDown: () => this.#move(8),
      ArrowUp: () => this.#move(-8),
      f: () => (this.fine = !this.fine),
      Escape: () => this.cancel(),
      Enter: () => this.#save(),
      t: () => this.#retype(),
    }[key];
    const type = /^[1-9]$/.test(key) && this.curator.types()[Number(key) - 1];
    if (!does && !type) return;
    if (event.target.closest?.("button") && key === "Enter") return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (event.repeat && (type || key === "Enter" || key === "t")) return; // a key that is held decides once
    if (type) this.#save(type);
    else does();
    if (this.store.marking) this.#show();
  }

  /** Moves an end by a word, or by a character. @param {"start" | "end"} which @param {1 | -1} step */
  #resize(which, step) {
    const { text } = this.store.reading;
    const next = this.fine ? character(text, this[which], step) : edge(text, this[which], step, which);
    if (which === "start" ? next < this.end : next > this.start) this[which] = next;
  }

  /** The same by a button, which keeps the focus. @param {"start" | "end"} which @param {1 | -1} step */
  #moved(which, step) {
    const held = document.activeElement?.getAttribute("aria-label");
    this.#resize(which, step);
    this.#show();
    if (held) this.bar.querySelector(`[aria-label="${held}"]`)?.focus();
  }

  /** Moves the range to another word. @param {number} steps */
  #move(steps) {
    const { text } = this.store.reading;
    for (let left = Math.abs(steps); left; left--)
      [this.start, this.end] = steps > 0 ? wordAfter(text, this.end) : wordBefore(text, this.start);
  }

  /** Asks for a type: a new mention is saved with it, and one whose span is changed gets it at once. */
  #retype() {
    const { marking, reading } = this.store;
    if (marking === "new") return this.#save();
    return this.curator.retype(reading.mentions.find((one) => one.item === marking.item) ?? marking);
  }

  /** @param {string} [type] */
  async #save(type = "") {
    const { marking, reading, documents, current } = this.store;
    const same = this.start === marking.start && this.end === marking.end; // then gaps stay
    const spans = same ? marking.mention.spans : [[reading.offsets.point(this.start), reading.offsets.point(this.end)]];
    if (marking !== "new") {
      this.cancel();
      this.curator.change(marking, { spans, ...(type ? { type } : {}) });
      return;
    }
    const chosen = type || (await this.curator.chooseType());
    if (!chosen || !this.curator.stays(documents[current])) return;
    this.cancel();
    const item = this.curator.add(spans, chosen);
    this.store.settle();
    const added = this.store.visible.find((shown) => shown.item === item);
    if (added) this.store.update({ chosen: added });
  }

  #show() {
    const words = this.store.reading.text.slice(this.start, this.end);
    const how = this.fine ? "characters" : "words";
    this.bar.replaceChildren(
      el("strong", {}, el("bdi", { text: words.length > 80 ? `${words.slice(0, 79)}…` : words })),
      ends("Start", (step) => this.#moved("start", step)),
      ends("End", (step) => this.#moved("end", step)),
      el(
        "span",
        { class: "small" },
        el("kbd", { text: "←" }),
        " ",
        el("kbd", { text: "→" }),
        " end · ",
        el("kbd", { text: "Shift" }),
        " with them: start · ",
        el("kbd", { text: "N" }),
        " ",
        el("kbd", { text: "P" }),
        " move · ",
        el("kbd", { text: "F" }),
        ` ${how} · `,
        el("kbd", { text: "T" }),
        " type",
      ),
      ...this.curator
        .types()
        .slice(0, 9)
        .map((type, number) => button(`${number + 1} ${type}`, () => this.#save(type), { class: "button tiny" })),
      button("Save", () => this.#save(), { class: "button tiny first" }),
      button("Cancel", () => this.cancel(), { class: "button tiny" }),
    );
    speak(words);
    this.#light();
    this.view.reveal(this.start, this.end, 100 + this.bar.offsetHeight);
  }

  #light() {
    if (!this.store.marking || !window.CSS?.highlights) return;
    const range = this.view.range(this.start, this.end);
    CSS.highlights.set("marking", new Highlight(...(range ? [range] : [])));
  }
}

/** Buttons that move an end. @param {string} which @param {(step: 1 | -1) => void} does */
const ends = (which, does) =>
  el(
    "span",
    { class: "small" },
    `${which} `,
    button("‹", () => does(-1), { class: "button tiny", "aria-label": `${which} back` }),
    button("›", () => does(1), { class: "button tiny", "aria-label": `${which} on` }),
  );

/** Words of a text near a place: enough to find the next one on each side. @param {string} text @param {number} from @param {number} to */
function words(text, from, to) {
  const start = Math.max(0, from);
  return [...text.slice(start, to).matchAll(WORD)].map((found) => [
    start + found.index,
    start + found.index + found[0].length,
  ]);
}

/** @param {string} text @param {number} unit */
export function wordAfter(text, unit) {
  for (let far = 200; ; far *= 8) {
    const found = words(text, unit, unit + far).find(([start]) => start >= unit);
    if (found && (found[1] < unit + far || unit + far >= text.length)) return found;
    if (unit + far >= text.length)
      return found ?? words(text, Math.max(0, text.length - 400), text.length).at(-1) ?? [0, Math.min(1, text.length)];
  }
}

/** @param {string} text @param {number} unit */
export function wordBefore(text, unit) {
  for (let far = 200; ; far *= 8) {
    const found = words(text, unit - far, unit).at(-1);
    if (found && (found[0] > unit - far || far >= unit)) return found;
    if (far >= unit) return wordAfter(text, 0);
  }
}

/** The next start or end of a word. @param {string} text @param {number} unit @param {1 | -1} step @param {"start" | "end"} which */
export function edge(text, unit, step, which) {
  const side = which === "start" ? 0 : 1;
  for (let far = 300; ; far *= 8) {
    const places = words(text, unit - far, unit + far).map((word) => word[side]);
    const place = step > 0 ? places.find((at) => at > unit) : places.filter((at) => at < unit).at(-1);
    const whole = step > 0 ? unit + far >= text.length : unit <= far;
    if (whole || (place !== undefined && Math.abs(place - unit) < far - 1)) return place ?? unit; // else the window may cut a word there
  }
}

/** The next place that does not cut a character, with the marks that combine with it. @param {string} text @param {number} unit @param {1 | -1} step */
export function character(text, unit, step) {
  const inside = (at) => /^[\p{M}\u200d]/u.test(text.slice(at, at + 2)) || (text.charCodeAt(at) & 0xfc00) === 0xdc00;
  let at = unit + step;
  while (at > 0 && at < text.length && inside(at)) at += step;
  return Math.max(0, Math.min(text.length, at));
}
