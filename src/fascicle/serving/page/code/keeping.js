/** Where rows of curation for names are kept: on a service that keeps decisions, and in this browser. */

import { active } from "./decisions.js";
import { random } from "./queue.js";
import { service } from "./service.js";

/** @typedef {Record<string, string>} Row */
/** @typedef {{rows: Row[], number: number, who?: string, at?: string}} Kept What was kept at once. */

const ROWS = "fascicle.names";

export class InBrowser {
  where = "in this browser";

  /** @returns {Promise<Kept[]>} */
  async read() {
    return JSON.parse(localStorage.getItem(ROWS) ?? "[]").map((rows, number) => ({ rows, number }));
  }

  /** @param {Row[]} rows */
  async keep(rows) {
    this.#save([...(await this.read()), { rows }]);
  }

  mayUndo() {
    return true;
  }

  /** Other tabs may have kept and taken back rows meanwhile, so that numbers say nothing. @param {Kept} kept */
  async undo({ rows }) {
    const [all, text] = [await this.read(), JSON.stringify(rows)];
    const at = all.findIndex((one) => JSON.stringify(one.rows) === text);
    this.#save(all.filter(({ number }) => number !== at));
  }

  /** @param {{rows: Row[]}[]} kept */
  #save(kept) {
    localStorage.setItem(ROWS, JSON.stringify(kept.map(({ rows }) => rows)));
  }
}

export class OnService {
  where = "on this service";
  #last = 0; // number of the last step that is seen here

  /** @param {any} store @param {any} curator */
  constructor(store, curator) {
    this.store = store;
    this.curator = curator;
  }

  /** @returns {Promise<Kept[]>} */
  async read() {
    const steps = await service.curation.names();
    this.#last = steps.at(-1)?.number ?? 0;
    return active(steps).filter(({ rows }) => rows);
  }

  /** @param {Row[]} rows */
  async keep(rows) {
    await this.#send({ rows });
  }

  /** Reviewers take back the rows of others, too. @param {Kept} kept */
  mayUndo({ who }) {
    const { role, named } = this.store.curation;
    return role !== "curator" || who === named;
  }

  /** @param {Kept} kept */
  async undo({ number }) {
    await this.#send({ undoes: number });
  }

  /** @param {{rows?: Row[], undoes?: number}} parts */
  async #send(parts) {
    const who = await this.curator.who();
    if (!who) throw new Error("Nothing was kept, for nobody said who curates.");
    await service.curation.step({ document: "", id: random(), who, after: this.#last, ...parts });
  }
}
