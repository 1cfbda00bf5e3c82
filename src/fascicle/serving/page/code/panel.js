/** The chosen mention: what it is, what it means, and why. */

import { button, el, name, percent, webLink } from "./dom.js";
import { guidelines } from "./guidelines.js";
import { service } from "./service.js";
import { identifier } from "./types.js";

/** @typedef {import("./reading.js").Shown} Shown */

const TIERS = {
  exact: "equal to a name",
  folded: "equal but for case and signs",
  abbreviation: "through its long form",
  nil: "no concept fits",
};

export class Panel {
  /**
   * @param {HTMLElement} root
   * @param {any} store
   * @param {(shown: Shown) => (Node | null)} decide buttons of curation, or nothing
   */
  constructor(root, store, decide) {
    this.root = root;
    this.store = store;
    this.decide = decide;
    /** Concepts that were asked for. @type {Map<string, Promise<any>>} */
    this.known = new Map();
    store.on(["chosen", "reading", "panel", "curation"], () => this.#show());
  }

  #show() {
    const { chosen, panel } = this.store;
    this.root.hidden = !chosen || !panel;
    document.getElementById("reader").classList.toggle("open", !this.root.hidden);
    if (this.root.hidden) return;
    const held = this.root.contains(document.activeElement) && document.activeElement?.getAttribute("data-keep");
    this.root.replaceChildren(this.#card(chosen));
    if (held) this.root.querySelector(`[data-keep="${held}"]`)?.focus();
  }

  /** @param {Shown} shown */
  #card(shown) {
    const hue = this.store.colours.of(shown.type);
    const links = (shown.mention.links ?? []).map((link) => this.#link(link, shown.type));
    return el(
      "div",
      { class: "card" },
      el(
        "div",
        { class: "card-head" },
        el(
          "div",
          {},
          el("span", { class: `chip ${hue}` }, name(shown.type)),
          el("h2", { tabindex: "-1", id: "panel-head" }, name(shown.words)),
        ),
        button("Close", () => this.store.update({ panel: false }), {
          class: "button quiet tiny",
          "aria-label": "Close the panel",
        }),
      ),
      ...guidelines(this.store, shown.type),
      this.decide(shown),
      facts(shown),
      links.length > 0 && el("h3", { text: links.length > 1 ? "Concepts" : "Concept" }),
      links.length > 0 && el("div", { class: "links" }, ...links),
      this.#why(shown),
    );
  }

  /** @param {import("./types.js").Link} link @param {string} type */
  #link(link, type) {
    const id = identifier(link);
    const named = el("span", { class: "name" }, name(link.name || id));
    const place = el(
      "div",
      { class: "link" },
      named,
      !link.nil && el("span", {}, el("span", { class: "mono" }, name(id))),
      el(
        "span",
        { class: "small soft" },
        ...(link.score === undefined ? [] : [meter(link.score), `probability ${percent(link.score)}`]),
        link.tier ? ` · ${TIERS[link.tier] ?? link.tier}` : "",
      ),
    );
    if (!link.nil && link.curie) this.#about(link.curie, place, type);
    return place;
  }

  /** Adds what the pack says of a concept. @param {string} curie @param {HTMLElement} place @param {string} type */
  async #about(curie, place, type) {
    const asked = this.known.get(curie) ?? service.concept(curie, this.store.pipeline);
    this.known.set(curie, asked);
    let told;
    try {
      told = await asked;
    } catch (error) {
      if (error.status === 404) place.append(el("p", { class: "notice bad small", text: "No pack has this identifier." }));
      return; // the link stands as the document has it
    }
    const odd = otherType(told, type, this.store);
    if (odd) place.append(el("p", { class: "notice bad small", text: odd }));
    if (told.page) place.querySelector(".mono").replaceChildren(webLink(told.page, curie));
    const rest = told.names.filter((one) => one !== told.label);
    if (told.definition) place.append(el("p", { class: "definition" }, name(told.definition)));
    if (rest.length)
      place.append(
        el(
          "p",
          { class: "small soft" },
          "Also ",
          name(rest.slice(0, 6).join(" · ")),
          rest.length > 6 ? ` and ${rest.length - 6} more` : "",
        ),
      );
    const parents = told.parents.map((one) => one.label || one.curie);
    if (parents.length)
      place.append(el("p", { class: "small soft" }, "A kind of ", name(parents.slice(0, 4).join(" · "))));
  }

  /** @param {Shown} shown */
  #why(shown) {
    const native = this.store.documents[this.store.current]?.native;
    const pipeline = this.store.pipelines.find((one) => one.name === this.store.pipeline);
    if (!native || !pipeline?.links) return null;
    const place = el("div", {});
    const ask = button(
      "Candidates, and why",
      async () => {
        ask.disabled = true;
        try {
          place.replaceChildren(...candidates(await why(this.store.pipeline, native, shown)));
        } catch (error) {
          place.replaceChildren(el("p", { class: "notice bad", text: error.message }));
        }
        ask.disabled = false;
      },
      { "data-keep": "why", id: "why" },
    );
    return el("div", { class: "links" }, ask, place);
  }

  focus() {
    this.root.querySelector("#panel-head")?.focus();
  }
}

/** Says that a concept is of another type than its mention, where packs have that type; otherwise nothing. @param {any} concept @param {string} type @param {any} store */
export function otherType(concept, type, store) {
  const pipeline = store.pipelines.find((one) => one.name === store.pipeline);
  const known = pipeline?.packs?.some((pack) => pack.types.includes(type));
  return known && concept.type !== type ? `This concept is of the type ${concept.type}, not ${type}.` : "";
}

/** Asks about one mention, as if it stood alone and had no links. @param {string} pipeline @param {import("./types.js").Native} native @param {Shown} shown */
export function why(pipeline, native, shown) {
  const { id, text, abbreviations } = native;
  const { spans, type } = shown.mention;
  return service.why(pipeline, { id, text, ...(abbreviations ? { abbreviations } : {}), mentions: [{ spans, type }] });
}

/** @param {any[]} decisions */
function candidates(decisions) {
  if (!decisions.length || decisions.every((one) => !one.candidates?.length))
    return [el("p", { class: "soft small", text: "No concept has a name like this." })];
  return decisions.flatMap((decision) => [
    ...decision.candidates.map((one) => candidate(one)),
    decision.nil !== null && decision.nil !== undefined
      ? el("p", { class: "small soft", text: `Probability that none fits: ${percent(decision.nil)}` })
      : "",
  ]);
}

/** @param {any} one */
function candidate(one) {
  const parts = Object.entries(one.parts ?? {}).sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
  const most = Math.max(1e-9, ...parts.map(([, value]) => Math.abs(value)));
  const rows = parts.flatMap(([feature, value]) => {
    const beam = el("i", { class: value < 0 ? "against" : null });
    const wide = (Math.abs(value) / most) * 50;
    beam.style.width = `${wide}%`;
    beam.style.left = `${value < 0 ? 50 - wide : 50}%`;
    return [
      name(feature),
      el("span", { class: "beam", "aria-hidden": "true" }, beam),
      el("span", { class: "number", text: (value > 0 ? "+" : "") + value.toFixed(2) }),
    ];
  });
  return el(
    "details",
    { class: "candidate" },
    el(
      "summary",
      {},
      el("span", {}, name(one.label), " ", el("span", { class: "mono soft" }, name(one.curie))),
      el("span", { class: "right", text: percent(one.probability) }),
    ),
    el(
      "p",
      { class: "small soft" },
      "Found as ",
      name(one.name || "an annotated text has it"),
      one.tier ? `, ${TIERS[one.tier] ?? one.tier}` : "",
    ),
    el("div", { class: "weights" }, ...rows),
  );
}

/** @param {Shown} shown */
function facts(shown) {
  const rows = [
    ["Score", shown.score === null ? "none given" : el("span", {}, meter(shown.score), percent(shown.score))],
    ["Layer", name(shown.source)],
    ["Characters", shown.mention.spans.map(([start, end]) => `${start}–${end}`).join(", ")],
    ...(shown.side ? [["Said by", { both: "A and B", left: "A alone", right: "B alone" }[shown.side]]] : []),
    ...(shown.mention.attributes ?? []).map(([key, value]) => [key, name(value)]),
  ];
  return el(
    "dl",
    { class: "facts" },
    ...rows.flatMap(([term, value]) => [el("dt", {}, name(term)), el("dd", {}, value)]),
  );
}

/** @param {number} value */
function meter(value) {
  const inner = el("i", {});
  inner.style.width = `${Math.max(0, Math.min(1, value)) * 100}%`;
  return el("span", { class: "meter", "aria-hidden": "true" }, inner);
}
