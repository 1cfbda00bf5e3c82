/** What the page knows. Parts change by `update` alone, and those who asked are told once for each turn. */

import { Colours } from "./colours.js";

/**
 * @typedef {object} Entry A document that is open.
 * @property {string} id
 * @property {string} status as the service answers it
 * @property {any} [problem]
 * @property {string} [pipeline] that annotated it
 * @property {import("./types.js").Native} native as it is shown
 * @property {Partial<import("./reading.js").Shown>[]} [beside] facts about its mentions
 * @property {boolean} [away] only the id is here
 * @property {import("./types.js").Native} [base] as it was before curation
 * @property {any[]} [steps] of curation
 * @property {number} [undecided]
 * @property {boolean} [finished]
 * @property {boolean} [settled] whether all agree, or a reviewer decided, so that nothing is open
 * @property {any[]} [pending] steps that are shown and not yet saved
 * @property {string} [failed] why it could not be loaded
 * @property {string} [title] its first words
 * @property {string | null} [version] whose decisions are shown; `""` for the reviewed one, `null` where all are one
 * @property {any} [review] the versions of all, side by side
 */

export class Store {
  #told = [];
  #changed = new Set();
  /** @type {import("./types.js").Pipeline[]} */
  pipelines = [];
  /** The name of the one that is asked. */
  pipeline = "";
  /** @type {Entry[]} */
  documents = [];
  current = -1;
  /** What is listed of the service; `null` if these documents were opened here. @type {{q: string, show: string, order: string, total: number, next: number | null} | null} */
  listing = null;
  /** The document that is shown. @type {import("./reading.js").Reading | null} */
  reading = null;
  /** Whether it has the text of the one before. */
  same = false;
  /** The mentions that filters leave. @type {import("./reading.js").Shown[]} */
  visible = [];
  /** @type {import("./reading.js").Shown | null} */
  chosen = null;
  /** What `comparing.js` found. @type {any} */
  comparison = null;
  hiddenTypes = new Set();
  hiddenSources = new Set();
  hiddenSides = new Set();
  /** The least score of a mention that is shown. */
  least = 0;
  /** @type {"text" | "table" | "versions"} */
  view = "text";
  /** Whether the panel is open. */
  panel = true;
  /** Whether types stand behind mentions. */
  tags = true;
  /** Whether a curator is at work, and who, `named` by the token; `null` where no decisions are kept. @type {{on: boolean, who?: string, named?: string, role?: string, project?: any, tables?: string[]} | null} */
  curation = null;
  /** The mention that gets another span, `"new"`, or nothing. @type {import("./reading.js").Shown | "new" | null} */
  marking = null;
  colours = new Colours();

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

  /** Tells of all changes now, for whoever needs to know what follows from them. */
  settle() {
    while (this.#changed.size) this.#tell();
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
