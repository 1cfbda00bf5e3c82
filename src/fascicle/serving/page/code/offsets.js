/** Offsets of the service are Unicode code points; those of JavaScript strings are UTF-16 code units. */

const ASTRAL = /[\ud800-\udbff][\udc00-\udfff]/g;

export class Offsets {
  /**
   * Finds the characters of a text that take two units; the rest is arithmetic.
   * @param {string} text well formed
   */
  constructor(text) {
    /** @type {number[]} units at which such characters begin */
    this.pairs = [];
    for (const found of text.matchAll(ASTRAL)) this.pairs.push(found.index);
    this.units = text.length;
    this.points = text.length - this.pairs.length;
  }

  /** The unit at which a code point begins. @param {number} point */
  unit(point) {
    // The pair with the number n begins at the code point pairs[n] - n.
    return point + this.#before((number) => this.pairs[number] - number < point);
  }

  /** The code point that begins at a unit; inside of a pair, the one after it. @param {number} unit */
  point(unit) {
    return unit - this.#before((number) => this.pairs[number] < unit);
  }

  /** How many of the first pairs meet a condition that the first ones meet. @param {(number: number) => boolean} meets */
  #before(meets) {
    let [low, high] = [0, this.pairs.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (meets(middle)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** A text without halves of surrogate pairs, which no service accepts. @param {string} text */
export const wellFormed = (text) =>
  text.replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, "\ufffd");

/** A short name for a text, the same whenever it is pasted (FNV-1a, 32 bits, and its length). @param {string} text */
export function nameOf(text) {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return `text-${(hash >>> 0).toString(36)}-${text.length.toString(36)}`;
}
