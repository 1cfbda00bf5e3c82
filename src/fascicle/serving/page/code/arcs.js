/** Relations: arcs over the text between mentions near the screen, and below it a list of all. */

import { button, counted, el, name } from "./dom.js";

const SVG = "http://www.w3.org/2000/svg";
const MOST = 500; // arcs, and rows of the list
const NAMED = 8; // arcs that have their types all at once
const LETTER = 7; // pixels of a letter of a type, at most

/** @typedef {import("./reading.js").Shown} Shown */
/** @typedef {{type: string, ends: {role: string, shown?: Shown, words: string}[], facts: string}} Related */

export class Arcs {
  /** @param {HTMLElement} root @param {import("./text-view.js").TextView} view @param {import("./store.js").Store} store */
  constructor(root, view, store) {
    this.view = view;
    this.store = store;
    this.drawing = shape("svg", { class: "arcs", "aria-hidden": "true" });
    this.list = el("details", { class: "relations", hidden: true });
    root.append(this.drawing, this.list);
    view.sheet.addEventListener("painted", () => this.#later());
    new ResizeObserver(() => this.#later()).observe(view.sheet);
    store.on(["reading", "visible"], () => this.#read());
    store.on(["chosen"], () => this.#later());
    this.#read();
  }

  #read() {
    const { reading, visible } = this.store;
    this.relations = reading ? relationsOf(reading, visible) : [];
    const number = this.relations.length;
    this.list.hidden = !number;
    const rows = this.relations.slice(0, MOST).map((one) => this.#row(one));
    const more = number > MOST && el("p", { class: "small", text: `The first ${MOST} are listed.` });
    this.list.replaceChildren(el("summary", { text: counted(number, "relation") }), el("ul", {}, ...rows), ...(more ? [more] : []));
    this.#later();
  }

  /** @param {Related} related */
  #row({ type, ends, facts }) {
    const row = el("li", {}, name(type || "related", "strong"));
    ends.forEach(({ role, shown, words }, number) => {
      row.append(number && isDirected(ends) ? " → " : " ", role ? el("span", { class: "small" }, name(`${role}: `)) : "");
      const choose = () => this.store.update({ chosen: shown, panel: true });
      row.append(shown ? button(words, choose, { class: "button tiny" }) : name(words));
    });
    if (facts) row.append(" ", el("span", { class: "small" }, name(facts)));
    return row;
  }

  #later() {
    this.waiting ??= requestAnimationFrame(() => {
      this.waiting = undefined;
      this.#draw();
    });
  }

  #draw() {
    const box = this.drawing.getBoundingClientRect();
    const arcs = [];
    for (const { type, ends } of this.relations)
      for (let at = 1; at < ends.length && arcs.length < MOST; at++) {
        const [from, to] = [ends[at - 1], ends[at]].map(({ shown }) => shown && this.#above(shown, box));
        const isChosen = this.store.chosen && ends.some(({ shown }) => shown === this.store.chosen);
        if (from && to) arcs.push({ type, from, to, isChosen, isDirected: isDirected(ends) });
      }
    const named = arcs.filter(({ isChosen }) => isChosen || arcs.length <= NAMED);
    this.drawing.replaceChildren(
      ...(arcs.length ? [arrow()] : []),
      ...arcs.map((arc) => path(arc)),
      ...named.filter(({ type }) => type).map((arc) => label(arc, box.width)),
    );
  }

  /** The place above a mention, if it is near the screen. @param {Shown} shown @param {DOMRect} box @returns {[number, number] | null} */
  #above(shown, box) {
    const [start, end] = shown.parts[0];
    if (!this.view.close.has(this.view.blockAt(start))) return null;
    const own = this.view.range(start, end)?.getClientRects()[0];
    return own?.width ? [own.left + own.width / 2 - box.left, own.top - box.top] : null;
  }
}

/** @param {import("./reading.js").Reading} reading @param {Shown[]} visible @returns {Related[]} */
function relationsOf(reading, visible) {
  const shown = new Map(visible.map((one) => [one.key, one]));
  const words = ([, , spans]) =>
    spans.map(([start, end]) => reading.text.slice(reading.offsets.unit(start), reading.offsets.unit(end))).join(" … ");
  return (reading.document.relations ?? []).map(({ type = "", arguments: ends = [], attributes = [] }) => ({
    type,
    ends: ends.map(([role, key]) => ({ role, shown: shown.get(JSON.stringify(key)), words: short(words(key)) })),
    facts: attributes.map(([fact, value]) => `${fact} = ${value}`).join(", "),
  }));
}

/** @param {string} words */
const short = (words) => (words.length > 60 ? `${words.slice(0, 59)}…` : words);

/** Whether the ends have roles that differ. @param {Related["ends"]} ends */
const isDirected = (ends) => new Set(ends.map(({ role }) => role)).size > 1;

/** @param {string} kind @param {Record<string, string>} attributes @param {...Node} children */
function shape(kind, attributes, ...children) {
  const made = document.createElementNS(SVG, kind);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

const arrow = () =>
  shape(
    "marker",
    { id: "arrow", viewBox: "0 0 8 8", refX: "7", refY: "4", markerWidth: "6", markerHeight: "6", orient: "auto" },
    shape("path", { class: "head", d: "M0 0 8 4 0 8Z" }),
  );

/** How high an arc rises above its higher end; it stays in the drawing. */
const rise = ([x, y], [toX, toY]) => Math.min(10 + Math.abs(x - toX) / 6, 34, Math.max(2, Math.min(y, toY)));

function path({ from, to, isChosen, isDirected: directed }) {
  const top = Math.min(from[1], to[1]) - (4 / 3) * rise(from, to);
  return shape("path", {
    class: isChosen ? "arc chosen" : "arc",
    d: `M${from.join(" ")}C${from[0]} ${top} ${to[0]} ${top} ${to.join(" ")}`,
    ...(directed ? { "marker-end": "url(#arrow)" } : {}),
  });
}

function label({ type, from, to, isChosen }, width) {
  const text = type.length > 24 ? `${type.slice(0, 23)}…` : type;
  const half = (text.length * LETTER) / 2;
  const middle = Math.max(half, Math.min(width - half, (from[0] + to[0]) / 2));
  const y = Math.max(9, Math.min(from[1], to[1]) - rise(from, to) + 3);
  const made = shape("text", { class: isChosen ? "chosen" : "", x: String(middle), y: String(y) });
  made.textContent = text;
  return made;
}
