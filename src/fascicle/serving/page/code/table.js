/** The table of mentions: only the rows on the screen exist, however many mentions there are. */

import { button, el, name, percent } from "./dom.js";

const ROW = 36; // pixels, as in the style sheet
const BEYOND = 8; // rows above and below the screen

/** @typedef {import("./reading.js").Shown} Shown */
/** @type {[string, string, (a: Shown, b: Shown) => number][]} */
const COLUMNS = [
  ["words", "Mention", (a, b) => a.words.localeCompare(b.words)],
  ["type", "Type", (a, b) => a.type.localeCompare(b.type)],
  ["score", "Score", (a, b) => (a.score ?? 2) - (b.score ?? 2)],
  ["concept", "Identifier", (a, b) => a.concept.localeCompare(b.concept)],
  ["concepts", "Name", (a, b) => a.concepts.localeCompare(b.concepts)],
  ["around", "Words around", (a, b) => a.around[1].localeCompare(b.around[1]) || a.around[0].localeCompare(b.around[0])],
];

export class Table {
  /** @param {HTMLElement} root @param {any} store */
  constructor(root, store) {
    this.store = store;
    this.rows = [];
    this.order = { column: "", down: false };
    this.heads = COLUMNS.map(([id, title]) =>
      el(
        "div",
        { role: "columnheader", "aria-sort": "none", "data-column": id },
        button(title, () => this.#sort(id), { class: null }),
      ),
    );
    this.body = el("div", { class: "grid-body", role: "rowgroup" });
    this.head = el("div", { class: "grid-top", role: "rowgroup" }, el("div", { class: "grid-head", role: "row", "aria-rowindex": "1" }, ...this.heads));
    this.grid = el(
      "div",
      {
        class: "grid",
        role: "grid",
        tabindex: "0",
        "aria-label": "Mentions",
        "aria-colcount": COLUMNS.length,
        on: { keydown: (event) => this.#key(event), scroll: () => this.#draw() },
      },
      this.head,
      this.body,
    );
    root.replaceChildren(this.grid);
    new ResizeObserver(() => this.#draw()).observe(this.grid);
    store.on(["visible"], () => this.#show());
    store.on(["chosen"], () => this.#chosen());
  }

  #show() {
    this.rows = [...(this.store.visible ?? [])];
    const compare = COLUMNS.find(([id]) => id === this.order.column)?.[2];
    if (compare) this.rows.sort((a, b) => (this.order.down ? compare(b, a) : compare(a, b)));
    this.grid.setAttribute("aria-rowcount", String(this.rows.length + 1));
    this.body.style.height = `${this.rows.length * ROW}px`;
    this.#draw();
  }

  /** A column up, then down, then the order of the text. @param {string} column */
  #sort(column) {
    const { column: before, down } = this.order;
    this.order =
      before !== column ? { column, down: false } : down ? { column: "", down: false } : { column, down: true };
    for (const head of this.heads)
      head.setAttribute(
        "aria-sort",
        head.dataset.column !== this.order.column ? "none" : this.order.down ? "descending" : "ascending",
      );
    this.#show();
  }

  #draw() {
    const first = Math.max(0, Math.floor(this.grid.scrollTop / ROW) - BEYOND);
    const last = Math.min(this.rows.length, Math.ceil((this.grid.scrollTop + this.#height) / ROW) + BEYOND);
    const rows = [];
    for (let number = first; number < last; number++) rows.push(this.#row(number));
    this.body.replaceChildren(...rows);
    this.#active();
  }

  /** Pixels for rows that are on the screen, below the head. */
  get #height() {
    return this.grid.clientHeight - this.head.offsetHeight;
  }

  /** @param {number} number */
  #row(number) {
    const shown = this.rows[number];
    const row = el(
      "div",
      {
        class: "grid-row",
        role: "row",
        id: `row-${shown.number}`,
        "aria-rowindex": number + 2,
        "aria-selected": shown === this.store.chosen,
        on: { click: () => this.store.update({ chosen: shown }) },
      },
      el("div", { role: "gridcell", class: shown.verdict }, name(shown.words)),
      el(
        "div",
        { role: "gridcell" },
        el("span", { class: `chip ${this.store.colours.of(shown.type)}` }, name(shown.type)),
      ),
      el("div", { role: "gridcell", class: "number", text: percent(shown.score) }),
      el("div", { role: "gridcell", class: "mono" }, name(shown.concept)),
      el("div", { role: "gridcell" }, name(shown.concepts)),
      el("div", { role: "gridcell", class: "soft around" }, name(shown.around[0], "before"), " ", name(`[${shown.words}] ${shown.around[1]}`.trim(), "behind")),
    );
    row.style.transform = `translateY(${number * ROW}px)`;
    return row;
  }

  #chosen() {
    const number = this.rows.indexOf(this.store.chosen);
    if (number >= 0) {
      const top = number * ROW;
      if (top < this.grid.scrollTop) this.grid.scrollTop = top;
      else if (top + ROW > this.grid.scrollTop + this.#height) this.grid.scrollTop = top + ROW - this.#height;
    }
    this.#draw();
  }

  #active() {
    const row = this.store.chosen && this.body.querySelector(`#row-${this.store.chosen.number}`);
    if (row) this.grid.setAttribute("aria-activedescendant", row.id);
    else this.grid.removeAttribute("aria-activedescendant");
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const page = Math.max(1, Math.floor(this.#height / ROW) - 1);
    const now = this.rows.indexOf(this.store.chosen);
    const next = {
      ArrowDown: now + 1,
      ArrowUp: now - 1,
      PageDown: now + page,
      PageUp: now - page,
      Home: 0,
      End: this.rows.length - 1,
    }[event.key];
    if (next === undefined || event.target.closest("button") || !this.rows.length) return;
    event.preventDefault();
    this.store.update({ chosen: this.rows[Math.max(0, Math.min(this.rows.length - 1, next))] });
  }
}
