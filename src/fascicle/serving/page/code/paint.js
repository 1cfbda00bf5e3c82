/** One block of text as elements: a span for each stretch under a mention, plain text for the rest. */

import { el } from "./dom.js";
import { lanesOf, stretchesOf } from "./stretches.js";

/** @typedef {import("./reading.js").Shown} Shown */

/** The stretch that a span shows. @type {WeakMap<Element, import("./stretches.js").Stretch>} */
export const stretchOf = new WeakMap();

const LANE = 4; // pixels from line to line
const THICK = 2.5;
const FAINT = 0.35; // of the line of a mention with the score 0

/**
 * Fills a block.
 * @param {HTMLElement} block
 * @param {{text: string, mentions: Shown[], start: number, end: number, hue: (type: string) => string}} what `mentions`:
 *   those that overlap the block, by start
 */
export function paint(block, { text, mentions, start, end, hue }) {
  const { lanes, depth } = lanesOf(mentions);
  block.style.setProperty("--lanes", String(Math.max(0, depth - 1)));
  const made = document.createDocumentFragment();
  for (const stretch of stretchesOf(mentions, start, end)) {
    const words = text.slice(stretch.start, stretch.end);
    if (!stretch.over.length && !stretch.gaps.length) made.append(words);
    else made.append(...marked(stretch, words, { lanes, hue }));
  }
  block.replaceChildren(made);
}

/** @param {import("./stretches.js").Stretch} stretch @param {string} words @param {{lanes: Map<Shown, number>, hue: (type: string) => string}} how */
function marked(stretch, words, { lanes, hue }) {
  const { over, gaps, end } = stretch;
  const span = el("span", { class: classes(stretch, hue) }, words);
  underline(span, [...over.map((shown) => ({ shown, gap: false })), ...gaps.map((shown) => ({ shown, gap: true }))], {
    lanes,
    hue,
  });
  stretchOf.set(span, stretch);
  return [
    span,
    ...tags(
      over.filter((shown) => shown.end === end),
      hue,
    ),
  ];
}

/** The names behind a mention; layers that agree share one. @param {Shown[]} closing @param {(type: string) => string} hue */
function tags(closing, hue) {
  const said = new Map();
  for (const shown of closing)
    said.set(`${tagOf(shown)} ${shown.verdict}`, [...(said.get(`${tagOf(shown)} ${shown.verdict}`) ?? []), shown]);
  return [...said.values()].map(([shown, ...more]) =>
    el(
      "span",
      { class: isRight(shown.words) ? "beside right" : "beside" },
      el("span", {
        class: `tag ${hue(shown.type)} ${shown.verdict ?? ""}`,
        "data-name": more.length ? `${tagOf(shown)} ×${more.length + 1}` : tagOf(shown),
      }),
    ),
  );
}

/** @param {Shown} shown */
const tagOf = ({ type, side }) => (side === "left" ? `${type} · A` : side === "right" ? `${type} · B` : type);

/** @param {import("./stretches.js").Stretch} stretch @param {(type: string) => string} hue */
function classes({ over, gaps, start, end }, hue) {
  const inner = over[0] ?? gaps[0];
  const opens = over.length && over[0].parts.some(([from]) => from === start);
  const closes = over.length && over[0].parts.some(([, to]) => to === end);
  const bare = !over.length || inner.side === "both";
  return ["mark", hue(inner.type), isRight(inner.words) && "right", opens && "opens", closes && "closes", bare && "bare", over.length && inner.verdict]
    .filter(Boolean)
    .join(" ");
}

/** Whether words are written from the right: the first letter says so. @param {string} words */
const isRight = (words) => /^[^\p{L}]*[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]/u.test(words);

/** Draws a line for each mention, dotted in its gaps. @param {HTMLElement} span @param {{shown: Shown, gap: boolean}[]} lines @param {{lanes: Map<Shown, number>, hue: (type: string) => string}} how */
function underline(span, lines, { lanes, hue }) {
  const deepest = Math.max(...lines.map(({ shown }) => lanes.get(shown) ?? 0));
  span.style.setProperty("--depth", String(deepest + 1));
  span.style.backgroundImage = lines
    .map(({ shown, gap }) => stroke(inkOf(shown, hue), gap || shown.verdict === "rejected"))
    .join(",");
  span.style.backgroundSize = lines.map(({ shown }) => `100% ${thickness(shown)}px`).join(",");
  span.style.backgroundPosition = lines
    .map(({ shown }) => `0 calc(100% - ${(deepest - (lanes.get(shown) ?? 0)) * LANE}px)`)
    .join(",");
}

/** @param {string} ink @param {boolean} dotted */
const stroke = (ink, dotted) =>
  dotted ? `repeating-linear-gradient(90deg,${ink} 0 2px,transparent 2px 5px)` : `linear-gradient(${ink},${ink})`;

/** The colour of a line: fainter for a lower score. @param {Shown} shown @param {(type: string) => string} hue */
function inkOf({ type, score }, hue) {
  const line = `var(--line-${numberOf(hue(type))})`;
  return score === null ? line : `color-mix(in srgb,${line} ${Math.round(100 * (FAINT + (1 - FAINT) * within(score)))}%,transparent)`;
}

/** In pixels: thinner for a lower score, so that it is seen without colours too. @param {Shown} shown */
function thickness({ side, score }) {
  if (side === "both") return 1;
  return score === null ? THICK : 1 + 2 * within(score);
}

/** @param {number} score */
const within = (score) => Math.max(0, Math.min(1, score));

/** @param {string} classes as `Colours.of` gives them */
const numberOf = (classes) => classes.slice(classes.lastIndexOf("h") + 1);
