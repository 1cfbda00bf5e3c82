/** What the page knows. Parts change by `update` alone, and those who asked are told once for each turn. */

export class Store {
  #told = [];
  #changed = new Set();

  /** @param {Record<string, any>} first */
  constructor(first) {
    Object.assign(this, first);
  }

  /**
   * Changes parts. Listeners run in the order in which they asked, before the next frame.
   * @param {Record<string, any>} parts
   */
  update(parts) {
    if (!this.#changed.size) queueMicrotask(() => this.#tell());
    for (const [name, value] of Object.entries(parts)) {
      this[name] = value;
      this.#changed.add(name);
    }
  }

  /** @param {string[]} names @param {() => void} listener */
  on(names, listener) {
    this.#told.push({ names, listener });
  }

  #tell() {
    const changed = this.#changed;
    this.#changed = new Set();
    for (const { names, listener } of this.#told) if (names.some((name) => changed.has(name))) listener();
  }
}
