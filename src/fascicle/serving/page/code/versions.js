/** The versions of a document side by side: a row for each place, a column for each curator, and what the reviewer decides. */

import { button, el, name } from "./dom.js";
import { bare } from "./decisions.js";
import { identifier } from "./types.js";

/** @typedef {import("./reading.js").Shown} Shown */
/** @typedef {{start: number, end: number, said: Map<string, import("./types.js").Mention[]>, shown: Shown[]}} Place code points, what each curator has there, and items */

const MOST = 500; // rows
const AROUND = 30; // characters of the text on each side

/** Joins mentions of all versions that overlap. @param {any} review @param {Shown[]} shown @returns {Place[]} */
export function placesOf(review, shown) {
  const all = [
    ...shown.map((one) => ({ spans: one.mention.spans, one })),
    ...review.versions.flatMap(({ who, mentions }) => mentions.map((mention) => ({ spans: mention.spans, who, mention }))),
  ].sort((a, b) => a.spans[0][0] - b.spans[0][0]);
  /** @type {Place[]} */
  const places = [];
  for (const { spans, one, who, mention } of all) {
    const [start, end] = [spans[0][0], spans.at(-1)[1]];
    if (!places.length || start >= places.at(-1).end) places.push({ start, end, said: new Map(), shown: [] });
    const place = places.at(-1);
    place.end = Math.max(place.end, end);
    if (one) place.shown.push(one);
    else place.said.set(who, [...(place.said.get(who) ?? []), mention]);
  }
  return places.filter((place) => place.shown.length);
}

/** The decision that a place is as a curator has it. @param {Place} place @param {string} who @returns {import("./decisions.js").Edit[]} */
export function as(place, who) {
  const key = (mention) => JSON.stringify([mention.type, mention.spans]);
  const said = new Map((place.said.get(who) ?? []).map((mention) => [key(mention), mention]));
  return place.shown.map(({ item }) => {
    const [, type, spans] = item.startsWith("[") ? JSON.parse(item) : [];
    const mention = type && said.get(key({ type, spans }));
    return { item, after: mention ? bare(mention) : null };
  });
}

export class Versions {
  /** @param {HTMLElement} root @param {any} store @param {import("./curator.js").Curator} curator */
  constructor(root, store, curator) {
    Object.assign(this, { root, store, curator, every: false });
    store.on(["visible", "chosen", "view", "documents"], () => this.#draw());
  }

  get #entry() {
    return this.store.documents[this.store.current];
  }

  /** Decides about the place of the chosen mention as a curator did. @param {number} number of the version, from 0 */
  take(number) {
    const place = this.#places().find(({ shown }) => shown.includes(this.store.chosen));
    const version = this.#entry?.review?.versions[number];
    if (place && version) this.#take(place, version.who);
  }

  #places() {
    const { reading } = this.store;
    return this.#entry?.review && reading ? placesOf(this.#entry.review, reading.mentions) : [];
  }

  /** @param {Place} place @param {string} who */
  #take(place, who) {
    this.store.update({ chosen: place.shown.at(-1) });
    if (this.curator.save({ edits: as(place, who) })) this.curator.next();
  }

  #draw() {
    const review = this.#entry?.review;
    if (this.store.view !== "versions" || !review || !this.store.reading) return this.root.replaceChildren();
    const open = ({ shown }) => this.every || shown.some((one) => !one.agreed);
    const places = this.#places().filter(open);
    const held = this.root.contains(document.activeElement) && document.activeElement.getAttribute("data-keep");
    const every = el("input", { type: "checkbox", checked: this.every, "data-keep": "every", on: { change: () => ((this.every = every.checked), this.#draw()) } });
    const heads = ["Text", ...review.versions.map((one, number) => this.#head(one, number)), "Decision"];
    this.root.replaceChildren(
      el("label", { class: "check" }, every, "Also what all agree on"),
      el(
        "div",
        { class: "wide", tabindex: "0", role: "region", "aria-label": "Versions side by side", "data-keep": "versions" },
        el(
          "table",
          { class: "plain versions" },
          el("thead", {}, el("tr", {}, ...heads.map((head) => el("th", { scope: "col" }, head)))),
          el("tbody", {}, ...places.slice(0, MOST).map((place) => this.#row(place, review))),
        ),
      ),
      places.length > MOST ? el("p", { class: "soft", text: `The first ${MOST} of ${places.length.toLocaleString("en")} places; the others follow when these are decided.` }) : "",
      ...notes(review),
    );
    if (held) this.root.querySelector(`[data-keep="${held}"]`)?.focus({ preventScroll: true });
    this.root.querySelector("tr.chosen")?.scrollIntoView({ block: "nearest" });
  }

  /** @param {any} version @param {number} number */
  #head({ who, finished, skipped }, number) {
    const again = finished && this.store.curation.role !== "curator";
    return el(
      "span",
      {},
      name(who),
      el("kbd", { text: String(number + 1), "aria-hidden": "true" }),
      !finished && el("span", { class: "soft small", text: skipped ? " skipped" : " not finished" }),
      again && button("Open again", () => this.curator.reopen(who), { class: "button quiet tiny", "aria-label": `Open again: the version of ${who}` }),
    );
  }

  /** @param {Place} place @param {any} review */
  #row(place, review) {
    const { reading, chosen } = this.store;
    const [from, to] = [reading.offsets.unit(place.start), reading.offsets.unit(place.end)];
    const words = reading.text.slice(from, to);
    return el(
      "tr",
      { class: place.shown.includes(chosen) ? "chosen" : null, on: { click: () => this.store.update({ chosen: place.shown[0] }) } },
      el(
        "th",
        { scope: "row", dir: "auto" },
        el("span", { class: "soft", text: reading.text.slice(Math.max(0, from - AROUND), from) }),
        el("mark", { text: words }),
        el("span", { class: "soft", text: reading.text.slice(to, to + AROUND) }),
      ),
      ...review.versions.map(({ who, finished }) => el("td", {}, ...this.#said(place, who), finished && this.#button(place, who, words))),
      el("td", {}, ...place.shown.map((shown) => this.#decided(shown))),
    );
  }

  /** @param {Place} place @param {string} who @param {string} words */
  #button(place, who, words) {
    const keep = `${place.start} ${who}`;
    return button("Take", () => this.#take(place, who), { class: "button tiny", "aria-label": `Take what ${who} says of ${words.slice(0, 60)}`, "data-keep": keep });
  }

  /** @param {Place} place @param {string} who */
  #said(place, who) {
    const mentions = place.said.get(who);
    return mentions ? mentions.map((mention) => this.#mention(mention)) : [el("span", { class: "soft", text: "nothing" })];
  }

  /** @param {import("./types.js").Mention} mention */
  #mention({ type, spans, links = [] }) {
    const { reading } = this.store;
    const words = spans.map(([start, end]) => reading.text.slice(reading.offsets.unit(start), reading.offsets.unit(end))).join(" … ");
    return el("p", {}, el("span", { class: `chip ${this.store.colours.of(type)}` }, name(type)), " ", name(words), " ", el("span", { class: "mono soft" }, name(links.map(identifier).join(", "))));
  }

  /** @param {Shown} shown */
  #decided(shown) {
    const said = shown.verdict || (shown.agreed ? "agreed" : "open");
    return el("p", {}, this.#mention(shown.mention), el("strong", { class: `verdict ${shown.verdict ?? ""}`, text: said }));
  }
}

/** What curators remark. @param {any} review */
function notes({ versions }) {
  const rows = versions.flatMap(({ who, notes: said = [] }) =>
    said.map(({ item = "", note = "", flagged }) => el("li", {}, el("strong", {}, name(who)), item ? ` ${place(item)}` : "", flagged ? " ⚑ " : " ", name(note))),
  );
  return rows.length ? [el("h3", { text: "Notes" }), el("ul", { class: "group" }, ...rows)] : [];
}

/** @param {string} item */
const place = (item) => (item.startsWith("[") ? JSON.parse(item)[2].map(([start, end]) => `${start}–${end}`).join(", ") : "");
