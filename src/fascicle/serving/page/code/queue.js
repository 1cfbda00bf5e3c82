/**
 * Decisions on their way to the service. The browser keeps each one until the service has it, also over a reload. They are
 * sent in the order in which they were made; each has an id, by which the service saves it once.
 */

/**
 * @typedef {object} Waiting A step that the service does not have yet.
 * @property {number} number in order, larger than the number of each step of the service
 * @property {string} id
 * @property {string} document
 * @property {string | null} version of the document; `null` where there is one alone
 * @property {string} text name of the text that was decided about
 * @property {string} who
 * @property {number} seen the last step of the document that the curator had seen
 * @property {import("./decisions.js").Edit[]} [edits]
 * @property {number} [undoes] a step of the service, or one that waits
 * @property {boolean} [finished]
 * @property {any} [remark]
 * @property {string} [refused] why the service does not take it
 */

const KEPT = `fascicle-step ${new URL(".", document.baseURI).pathname} `;
const LONGEST = 15; // seconds between two attempts

/** Numbers of steps that wait are larger than this; those of the service are smaller. */
export const UNSAVED = 1e14;

export class Queue {
  /**
   * @param {(step: Waiting) => Promise<number>} send saves a step, and returns its number; throws a `Refused`
   * @param {(step: Waiting, problem: string) => void} changed is called when a step was added, saved or refused
   * @param {(step: Waiting) => boolean} [mine] whether the service takes a step from whoever is here now
   */
  constructor(send, changed, mine = () => true) {
    [this.send, this.changed, this.mine] = [send, changed, mine];
    /** @type {Waiting[]} */
    this.steps = read();
    /** Why nothing is sent now. */
    this.broken = "";
    /** Whether the browser refuses to keep them. */
    this.fleeting = false;
    this.pause = 1;
    this.timer = 0;
    addEventListener("online", () => this.flush());
    addEventListener("beforeunload", (event) => this.fleeting && this.steps.length && event.preventDefault());
  }

  /** Steps about a document that are shown already. @param {string} document @param {string | null} version */
  of(document, version) {
    return this.steps.filter((one) => one.document === document && one.version === version && !one.refused && this.mine(one));
  }

  get refused() {
    return this.steps.filter((one) => one.refused && this.mine(one));
  }

  /** Steps of others in this browser, which wait until these come back. */
  get others() {
    return this.steps.filter((one) => !this.mine(one));
  }

  /** Adds a step, and sends it after those before. @param {Omit<Waiting, "id" | "number">} step */
  push(step) {
    const made = { ...step, id: random(), number: Math.max(Date.now() * 1000, (this.steps.at(-1)?.number ?? 0) + 1) };
    for (const old of this.refused) if (same(old, made)) this.drop(old);
    this.steps.push(made);
    this.#keep(made);
    this.changed(made, "");
    this.flush();
  }

  /** Sends what waits; resolves when all is sent, or nothing more can be sent now. */
  flush() {
    clearTimeout(this.timer);
    return (this.running ??= this.#run());
  }

  async #run() {
    await null; // so that it is known to run before it ends
    for (let step; (step = this.steps.find((one) => !one.refused && this.mine(one))); ) {
      try {
        this.#saved(step, await this.send(step));
      } catch (error) {
        if (isPassing(error)) {
          this.#wait(step, error.message);
          break;
        }
        step.refused = error.message;
        this.#keep(step);
      }
      this.changed(step, step.refused ?? "");
    }
    this.running = undefined;
  }

  /** @param {Waiting} step @param {number} number */
  #saved(step, number) {
    this.drop(step);
    for (const other of this.steps.filter((one) => one.undoes === step.number)) {
      other.undoes = number;
      this.#keep(other);
    }
    [this.broken, this.pause] = ["", 1];
  }

  /** Tries again later. @param {Waiting} step @param {string} why is said once */
  #wait(step, why) {
    const known = Boolean(this.broken);
    this.broken = why;
    this.changed(step, known ? "" : why);
    this.timer = setTimeout(() => this.flush(), this.pause * 1000);
    this.pause = Math.min(LONGEST, this.pause * 2);
  }

  /** Sends steps again that were refused. */
  retry() {
    for (const step of this.refused) delete step.refused;
    return this.flush();
  }

  /** @param {Waiting} step */
  drop(step) {
    this.steps = this.steps.filter((one) => one !== step);
    localStorage.removeItem(keyOf(step));
  }

  /** @param {Waiting} step */
  #keep(step) {
    try {
      localStorage.setItem(keyOf(step), JSON.stringify(step));
    } catch {
      this.fleeting = true;
    }
  }
}

/** @param {Waiting} step */
const keyOf = ({ number, id }) => `${KEPT}${number} ${id}`;

/** @returns {Waiting[]} */
const read = () =>
  Object.keys(localStorage)
    .filter((key) => key.startsWith(KEPT))
    .map((key) => JSON.parse(localStorage.getItem(key)))
    .sort((a, b) => a.number - b.number);

/** Whether the same step may be saved later: nothing is wrong with it. @param {any} error */
const isPassing = ({ status }) => [0, 401, 408, 429].includes(status) || status >= 500;

/** Whether a step decides anew about what another one decides. @param {Waiting} old @param {Waiting} step */
function same(old, step) {
  const items = new Set((step.edits ?? []).map(({ item }) => item));
  const of = ({ document, version, who }) => JSON.stringify([document, version, who]);
  return of(old) === of(step) && (old.edits ?? []).some(({ item }) => items.has(item));
}

/** 128 random bits. */
export const random = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
