/** Decisions about open documents: shown at once, and saved by the queue, unless others decided about the same meanwhile. */

import { counted, say } from "./dom.js";
import { curated } from "./decisions.js";
import { nameOf } from "./offsets.js";
import { Queue, UNSAVED } from "./queue.js";
import { Refused, service } from "./service.js";

/** @typedef {import("./queue.js").Waiting} Waiting */

const MOST_TRIES = 5;
const FINAL = new Set(["finished", "damaged"]); // conflicts that stay

export class Saving {
  /** @param {any} store */
  constructor(store) {
    this.store = store;
    /** Numbers of steps that were sent from here: whoever goes on here has seen them. */
    this.sent = new Set();
    this.queue = new Queue(
      (step) => this.#send(step),
      (step, problem) => this.#changed(step, problem),
      ({ who }) => Boolean(store.curation) && [undefined, who].includes(store.curation.named),
    );
  }

  /** Shows what the service has of a document, and what waits. @param {any} entry @param {any} told */
  put(entry, { document, steps, version = null }) {
    Object.assign(entry, { base: document, steps, version, text: nameOf(document.text) });
    this.#refresh(entry);
  }

  /** Shows a step, and saves it after those before. @param {any} entry @param {any} step */
  save(entry, step) {
    const { id, version, text } = entry;
    this.queue.push({ document: id, version, text, who: this.store.curation.who, seen: last(entry), ...step });
  }

  /** @param {any} entry */
  #refresh(entry) {
    entry.pending = this.queue.of(entry.id, entry.version);
    Object.assign(entry, curated(entry.base, [...entry.steps, ...entry.pending], entry.review));
  }

  /** @param {Waiting} step @param {string} problem */
  #changed(step, problem) {
    for (const entry of this.store.documents) if (entry.base && entry.id === step.document) this.#refresh(entry);
    this.store.update({ documents: this.store.documents, queue: this.queue });
    if (problem && step.refused) say(`Not saved: ${problem}`, 12);
    else if (problem)
      say(`${problem} ${counted(this.queue.steps.length, "decision")} will be sent later; this browser keeps them.`, 12);
  }

  /** The open document that a step is about. @param {Waiting} step */
  #open(step) {
    return this.store.documents.find((entry) => entry.base && entry.id === step.document && entry.version === step.version);
  }

  /** Saves a step; the service keeps one that it had before. @param {Waiting} step @returns {Promise<number>} */
  async #send(step) {
    let entry = this.#open(step) ?? { ...(await this.#asked(step)) };
    if (entry.text !== step.text) throw new Refused(409, "The document has another text now.");
    if (step.undoes > UNSAVED) throw new Refused(409, "What it takes back was not saved.");
    for (let tries = 1; ; tries += 1) {
      const taken = entry.steps.some((one) => one.number > step.seen && !this.sent.has(one.number) && one.who !== step.who && clash(one, step, entry.steps));
      try {
        const [saved] = (await service.curation.step(sent(step, taken ? step.seen : last(entry)))).steps;
        this.sent.add(saved.number);
        if (entry.steps.every(({ number }) => number !== saved.number)) entry.steps.push(saved);
        const shown = this.#open(step);
        if (shown && shown !== entry) this.put(shown, { ...entry, document: entry.base });
        return saved.number;
      } catch (error) {
        if (error.status !== 409 || FINAL.has(error.problem.code) || tries === MOST_TRIES) throw error;
        if (taken) throw new Refused(409, "Someone else has decided about this; look at it again.");
        const told = await this.#asked(step);
        entry = Object.assign(this.#open(step) ?? entry, told);
      }
    }
  }

  /** What the service has of the document of a step. @param {Waiting} step */
  async #asked(step) {
    const { document, steps, version = null } = await service.curation.document(step.document, step.version);
    return { base: document, steps, version, text: nameOf(document.text) };
  }
}

/** A step as the service takes it. @param {Waiting} step @param {number} after */
function sent(step, after) {
  const { document, id, who, version, edits, undoes, finished, remark } = step;
  return { document, id, who, after, edits, undoes, finished, remark, ...(version === null ? {} : { version }) };
}

/** The number of the last step of a document that the service has. @param {any} entry */
const last = (entry) => entry.steps.at(-1)?.number ?? 0;

/** Whether two steps decide about the same. @param {any} one @param {any} other @param {any[]} steps that either may undo */
function clash(one, other, steps) {
  const [first, second] = [one, other].map((step) => (step.undoes ? steps.find(({ number }) => number === step.undoes) : step));
  if ((first?.finished ?? null) !== null && (second?.finished ?? null) !== null) return true;
  const items = new Set((first?.edits ?? []).map(({ item }) => item));
  return (second?.edits ?? []).some(({ item }) => items.has(item));
}
