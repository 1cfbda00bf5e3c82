/** The legend: types and layers as toggles, and the slider for confidence. */

import { button, el, name } from "./dom.js";

const BARS = 20;
const SIDES = { both: "A and B", left: "A alone", right: "B alone" };

/** @param {HTMLElement} root @param {any} store */
export function filters(root, store) {
  const types = el("div", { class: "group", role: "group", "aria-label": "Types" });
  const sources = el("div", { class: "group", role: "group", "aria-label": "Layers" });
  const bars = el("div", { class: "bars", "aria-hidden": "true" });
  const said = el("output", { for: "least" });
  const slider = el("input", { type: "range", id: "least", min: "0", max: "100", value: "0", on: { input: () => store.update({ least: slider.value / 100 }) } });
  const sides = el("div", { class: "group", role: "group", "aria-label": "Comparison" });
  const score = el("div", { class: "group slider" },
    el("div", { class: "group-head" }, el("h2", { class: "minor" }, el("label", { for: "least", text: "Least confidence" })), said), bars, slider);
  const all = el("details", { class: "filters", open: matchMedia("(min-width: 46rem)").matches }, el("summary", { text: "Types, layers, confidence" }), types, sources, sides, score);
  root.replaceChildren(all);

  store.on(["reading", "hiddenTypes"], () => toggles(types, "Types", store, "type", "hiddenTypes"));
  store.on(["reading", "hiddenSources"], () => toggles(sources, "Layers", store, "source", "hiddenSources"));
  store.on(["reading", "hiddenSides"], () => toggles(sides, "Comparison", store, "side", "hiddenSides"));
  store.on(["reading", "least"], () => {
    slider.value = String(Math.round(store.least * 100));
    said.textContent = store.least.toFixed(2);
    score.hidden = !store.reading?.mentions.some((shown) => shown.score !== null);
    histogram(bars, store);
  });
}

/** @param {HTMLElement} place @param {string} title @param {any} store @param {"type" | "source" | "side"} field @param {string} hidden */
function toggles(place, title, store, field, hidden) {
  const counts = store.reading?.counts(field) ?? new Map();
  const focused = document.activeElement?.closest(".toggle")?.getAttribute("data-name");
  const change = (next) => store.update({ [hidden]: new Set(next) });
  const rows = [...counts].map(([value, count]) => {
    const shown = !store[hidden].has(value);
    const box = el("input", { type: "checkbox", checked: shown, on: { change: () => change(box.checked ? [...store[hidden]].filter((one) => one !== value) : [...store[hidden], value]) } });
    const swatch = field === "type" && el("i", { class: `swatch ${store.colours.of(value)}` });
    return el("label", { class: "toggle", "data-name": value, on: { dblclick: () => change([...counts.keys()].filter((one) => one !== value)) } },
      box, el("span", { class: "label" }, swatch, name(SIDES[value] ?? value)), el("span", { class: "count", text: count.toLocaleString("en") }));
  });
  const some = [...counts.keys()].some((value) => store[hidden].has(value));
  const head = el("div", { class: "group-head" }, el("h2", { class: "minor", text: title }),
    counts.size > 1 && button(some ? "Show all" : "Hide all", () => change(some ? [] : counts.keys()), { class: "button quiet tiny" }));
  place.hidden = !counts.size;
  place.replaceChildren(head, ...rows);
  if (focused !== undefined && focused !== null) rows.find((row) => row.dataset.name === focused)?.querySelector("input").focus();
}

/** How many mentions have which score. @param {HTMLElement} place @param {any} store */
function histogram(place, store) {
  const counts = new Array(BARS).fill(0);
  for (const { score } of store.reading?.mentions ?? []) if (score !== null) counts[Math.min(BARS - 1, Math.floor(score * BARS))]++;
  const most = Math.max(1, ...counts);
  place.replaceChildren(
    ...counts.map((count, number) => {
      const bar = el("i", { class: (number + 1) / BARS <= store.least ? "out" : null });
      bar.style.height = `${(Math.sqrt(count / most) * 100).toFixed(1)}%`; // the root, so that small counts are seen
      return bar;
    }),
  );
}
