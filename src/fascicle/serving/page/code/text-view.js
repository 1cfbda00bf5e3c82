/** The text of a document. Blocks near the screen have their mentions; all others are plain text that is not laid out. */

import { el, speak } from "./dom.js";
import { paint, stretchOf } from "./paint.js";
import { lowest, overlapping, reaches } from "./reading.js";
import { blocksOf } from "./stretches.js";

/** @typedef {import("./reading.js").Shown} Shown */

const NEAR = "600px"; // from the screen
const KEPT = 60; // blocks that keep their mentions after they left the screen

export class TextView {
  /**
   * @param {HTMLElement} root
   * @param {{hue: (type: string) => string, choose: (shown: Shown | null) => void}} tools
   */
  constructor(root, { hue, choose }) {
    this.hue = hue;
    this.choose = choose;
    this.sheet = el("div", {
      class: "sheet",
      id: "sheet",
      tabindex: "0",
      role: "group",
      "aria-label": "The text. Press N for the next mention, question mark for all keys.",
    });
    root.replaceChildren(this.sheet);
    this.sheet.addEventListener("click", (event) => this.#clicked(event));
    this.near = new IntersectionObserver((entries) => this.#moved(entries), { rootMargin: NEAR });
    /** @type {Shown | null} */
    this.chosen = null;
    this.#clear();
  }

  #clear() {
    this.near.disconnect();
    /** @type {[number, number][]} */
    this.blocks = [];
    /** @type {HTMLElement[]} */
    this.elements = [];
    this.numbers = new WeakMap();
    /** Blocks that are near the screen. @type {Set<number>} */
    this.close = new Set();
    /** Painted blocks, the oldest first. @type {Set<number>} */
    this.painted = new Set();
    /** @type {Shown[]} */
    this.visible = [];
    this.reach = [];
  }

  /** Shows no document. */
  empty() {
    this.#clear();
    this.reading = undefined;
    this.sheet.replaceChildren();
  }

  /** Shows another document. @param {import("./reading.js").Reading} reading @param {Shown[]} visible */
  show(reading, visible) {
    this.#clear();
    this.reading = reading;
    this.blocks = blocksOf(reading.text);
    const width = Math.max(30, Math.min(90, this.sheet.clientWidth / 9));
    this.elements = this.blocks.map(([start, end]) => this.#block(reading.text.slice(start, end), width));
    this.elements.forEach((block, number) => this.numbers.set(block, number));
    this.sheet.replaceChildren(...this.elements);
    this.filter(visible);
    this.elements.forEach((block) => this.near.observe(block));
  }

  /** @param {string} text @param {number} width characters of a line */
  #block(text, width) {
    const block = el("div", { class: "block", dir: "auto" }, text);
    const lines = text.split("\n").reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / width)), 0);
    block.style.setProperty("--guess", `${lines * 32}px`);
    return block;
  }

  /** Shows other mentions of the same text. @param {Shown[]} visible by start */
  filter(visible) {
    this.visible = visible;
    this.reach = reaches(visible);
    for (const number of this.painted) if (!this.close.has(number)) this.#plain(number);
    for (const number of this.close) this.#paint(number);
  }

  /** @param {IntersectionObserverEntry[]} entries */
  #moved(entries) {
    for (const entry of entries) {
      const number = this.numbers.get(entry.target);
      if (number === undefined) continue;
      if (entry.isIntersecting) {
        this.close.add(number);
        if (!this.painted.has(number)) this.#paint(number);
      } else this.close.delete(number);
    }
    for (const number of this.painted) {
      if (this.painted.size <= KEPT) break;
      if (!this.close.has(number)) this.#plain(number);
    }
  }

  /** @param {number} number */
  #paint(number) {
    const [start, end] = this.blocks[number];
    const mentions = overlapping(this.visible, this.reach, start, end);
    paint(this.elements[number], { text: this.reading.text, mentions, start, end, hue: this.hue });
    this.painted.add(number);
    if (this.chosen) this.#ring(this.elements[number]);
    this.sheet.dispatchEvent(new Event("painted"));
  }

  /** @param {number} number */
  #plain(number) {
    this.elements[number].textContent = this.reading.text.slice(...this.blocks[number]);
    this.painted.delete(number);
  }

  /** Chooses the innermost mention under a click; a click on the chosen one goes on to the one around it. @param {Event} event */
  #clicked(event) {
    const stretch = stretchOf.get(/** @type {Element} */ (event.target).closest(".mark") ?? this.sheet);
    if (!stretch || !getSelection().isCollapsed) return;
    const over = stretch.over.length ? stretch.over : stretch.gaps;
    this.choose(over[(over.indexOf(this.chosen) + 1) % over.length]);
  }

  /** Marks the chosen mention, and scrolls to it. @param {Shown | null} shown @param {{scroll?: boolean, spoken?: boolean}} [how] */
  mark(shown, { scroll = true, spoken = true } = {}) {
    this.chosen = shown;
    for (const span of this.sheet.querySelectorAll(".mark.chosen")) span.classList.remove("chosen", "from", "to");
    if (!shown) return;
    const [first, last] = [this.blockAt(shown.start), this.blockAt(shown.end - 1)];
    for (let number = first; number <= last; number++) {
      if (!this.painted.has(number)) this.#paint(number);
      this.#ring(this.elements[number]);
    }
    if (scroll) this.reveal(shown.parts[0][0], shown.parts[0][1]);
    if (spoken)
      speak(
        [
          shown.words,
          shown.type,
          shown.score === null ? "" : `score ${shown.score.toFixed(2)}`,
          shown.concepts || shown.concept,
          shown.verdict ?? "",
        ]
          .filter(Boolean)
          .join(", "),
      );
  }

  /** @param {HTMLElement} block */
  #ring(block) {
    for (const span of block.querySelectorAll(".mark")) {
      const { over, start, end } = stretchOf.get(span);
      if (!over.includes(this.chosen)) continue;
      span.classList.add("chosen");
      span.classList.toggle(
        "from",
        this.chosen.parts.some(([from]) => from === start),
      );
      span.classList.toggle(
        "to",
        this.chosen.parts.some(([, to]) => to === end),
      );
    }
  }

  /** Scrolls to units of the text, if they are not well on the screen. @param {number} start @param {number} end @param {number} [above] pixels at the top that something covers */
  reveal(start, end, above = 100) {
    const go = () => {
      const block = this.elements[this.blockAt(start)];
      const { top, bottom } = (this.range(start, end) ?? block)?.getBoundingClientRect() ?? { top: 0, bottom: 0 };
      const low = innerHeight * (matchMedia("(max-width: 63.99rem)").matches ? 0.45 : 0.85); // the panel covers more on a phone
      if (top < above || bottom > low) scrollBy({ top: top - above - (low - above) / 3 });
    };
    const block = this.elements[this.blockAt(start)];
    const { top, bottom } = block?.getBoundingClientRect() ?? { top: 0, bottom: 0 };
    if (bottom < 0 || top > innerHeight) block.scrollIntoView(); // now it is laid out
    go();
    requestAnimationFrame(go); // heights above it were guesses until now
  }

  /** The number of the block that has a unit. @param {number} unit */
  blockAt(unit) {
    return Math.min(
      this.blocks.length - 1,
      lowest(this.blocks, ([, end]) => end > unit),
    );
  }

  /** The first unit on the screen. */
  top() {
    const number = this.elements.findIndex((block) => block.getBoundingClientRect().bottom > 90);
    return number < 0 ? 0 : this.blocks[number][0];
  }

  /** A range of the page for units of the text, if its block is there. @param {number} start @param {number} end */
  range(start, end) {
    const [from, to] = [this.#place(start), this.#place(end, true)];
    if (!from || !to) return null;
    const range = new Range();
    range.setStart(...from);
    range.setEnd(...to);
    return range;
  }

  /** @param {number} unit @param {boolean} [ends] @returns {[Node, number] | null} */
  #place(unit, ends = false) {
    const number = this.blockAt(ends ? unit - 1 : unit);
    if (number < 0) return null;
    let left = unit - this.blocks[number][0];
    const walk = document.createTreeWalker(this.elements[number], NodeFilter.SHOW_TEXT);
    for (let node = walk.nextNode(); node; node = walk.nextNode()) {
      const length = node.data.length;
      if (left < length || (ends && left === length)) return [node, left];
      left -= length;
    }
    return null;
  }

  /** Units of the text that are selected in the page; a selection may begin or end beside the text. @returns {[number, number] | null} */
  selected() {
    const selection = getSelection();
    if (!selection || selection.isCollapsed || !selection.getRangeAt(0).intersectsNode(this.sheet)) return null;
    const range = selection.getRangeAt(0).cloneRange();
    if (!this.sheet.contains(range.startContainer)) range.setStart(this.sheet, 0);
    if (!this.sheet.contains(range.endContainer)) range.setEnd(this.sheet, this.elements.length);
    return [this.#unit(range.startContainer, range.startOffset), this.#unit(range.endContainer, range.endOffset)];
  }

  /** @param {Node} node @param {number} offset */
  #unit(node, offset) {
    const block = (node instanceof Element ? node : node.parentElement).closest(".block");
    if (!block) return offset >= this.elements.length ? this.reading.text.length : this.blocks[offset][0];
    const range = new Range();
    range.setStart(block, 0);
    range.setEnd(node, offset);
    return this.blocks[this.numbers.get(block)][0] + range.toString().length;
  }
}
