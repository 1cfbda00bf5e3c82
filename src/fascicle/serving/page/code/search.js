/** Search in the text, its mentions and their concepts. */

import { el } from "./dom.js";
import { lowest } from "./reading.js";

const MOST = 20_000; // places that are counted

export class Search {
  /** @param {any} store @param {import("./text-view.js").TextView} view */
  constructor(store, view) {
    this.store = store;
    this.view = view;
    this.found = [];
    this.now = -1;
    this.said = el("output", {});
    this.input = el("input", { type: "search", placeholder: "Search", "aria-label": "Search in text and concepts", id: "search", on: { input: () => this.#look(), keydown: (event) => this.#key(event) } });
    this.root = el("div", { class: "search" }, this.input, this.said);
    view.sheet.addEventListener("painted", () => this.#soon());
    store.on(["reading", "visible"], () => this.#look({ move: false }));
  }

  /** Finds words of the text in any case, and mentions by identifier or name of their concepts. */
  #look({ move = true } = {}) {
    const wanted = this.input.value.trim();
    this.found = wanted ? this.#places(wanted) : [];
    this.now = -1;
    if (this.found.length && move) this.go(1);
    this.#tell();
    this.#light();
  }

  /** @param {string} wanted @returns {[number, number][]} */
  #places(wanted) {
    const { reading, visible } = this.store;
    if (!reading) return [];
    const places = new Map();
    const pattern = new RegExp(wanted.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&").replace(/\s+/g, "\\s+"), "giu");
    for (const found of reading.text.matchAll(pattern)) {
      places.set(`${found.index} ${found.index + found[0].length}`, [found.index, found.index + found[0].length]);
      if (places.size >= MOST) break;
    }
    const low = wanted.toLowerCase();
    for (const shown of visible)
      if (shown.concept.toLowerCase().includes(low) || shown.concepts.toLowerCase().includes(low)) places.set(`${shown.start} ${shown.end}`, [shown.start, shown.end]);
    return [...places.values()].sort((a, b) => a[0] - b[0]);
  }

  /** Goes to the next place, or back. @param {1 | -1} step */
  go(step) {
    if (!this.found.length) return;
    this.now = (this.now + step + this.found.length) % this.found.length;
    const [start, end] = this.found[this.now];
    this.view.reveal(start, end);
    const shown = this.store.visible.find((one) => one.start === start && one.end === end);
    if (shown) this.store.update({ chosen: shown });
    this.#tell();
    this.#light();
  }

  #tell() {
    this.said.textContent = !this.input.value.trim() ? "" : this.found.length ? `${this.now + 1}/${this.found.length.toLocaleString("en")}` : "none";
  }

  /** Lights once for all blocks that are painted before the next frame. */
  #soon() {
    if (!this.found.length || this.waits) return;
    this.waits = true;
    requestAnimationFrame(() => {
      this.waits = false;
      this.#light();
    });
  }

  /** Lights the places that are painted. */
  #light() {
    if (!window.CSS?.highlights) return;
    const ranges = [];
    for (const number of this.found.length ? this.view.close : []) {
      const [start, end] = this.view.blocks[number];
      const first = lowest(this.found, ([, to]) => to > start); // longer places before it are rare, and found from their own block
      for (let at = first; at < this.found.length && this.found[at][0] < end; at++) ranges.push(this.view.range(...this.found[at]));
    }
    CSS.highlights.set("found", new Highlight(...ranges.filter(Boolean)));
    const now = this.found[this.now] && this.view.range(...this.found[this.now]);
    CSS.highlights.set("found-now", new Highlight(...(now ? [now] : [])));
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.key === "Enter") this.go(event.shiftKey ? -1 : 1);
    else if (event.key === "Escape") {
      this.input.value = "";
      this.#look();
      this.view.sheet.focus();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
