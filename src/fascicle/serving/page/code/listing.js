/** The list of documents of the service: found by words and filters, and fetched page by page. */

import { active, missing } from "./decisions.js";
import { service } from "./service.js";

const PAGE = 100; // documents

export class Listing {
  /** @param {any} store */
  constructor(store) {
    this.store = store;
    /** @type {Map<string, any>} */
    this.entries = new Map();
    this.asked = {};
    this.seen = 0;
  }

  /** Lists the first documents that meet a filter. @param {{q?: string, show?: string, order?: string}} parts @param {any} [open] a document that is in the list anyway @param {boolean} [stay] without it, only if there is no other */
  async find(parts, open, stay = true) {
    const { listing } = this.store;
    const asked = whole({ ...(listing && this.asked), ...parts });
    this.asked = asked;
    const told = await service.curation.list({ ...asked, from: 0, most: PAGE }).catch((error) => this.#failed(asked, error));
    if (this.asked !== asked || (listing && !this.store.listing)) return; // something else was asked or opened meanwhile
    const rows = told.documents.map((summary) => this.entry(summary));
    if (open && !rows.includes(open) && (stay || !rows.length)) rows.unshift(open);
    this.seen = rows.filter(isHere).length;
    const { total, next } = told;
    const current = open && stay ? rows.indexOf(open) : rows.length ? 0 : -1;
    this.store.update({ listing: rows.length ? { ...asked, total, next } : null, documents: rows, current, comparison: null });
  }

  /** Goes back to what is listed. @param {any} asked @param {Error} error @returns {never} */
  #failed(asked, error) {
    const { listing } = this.store;
    if (this.asked === asked) this.asked = whole(listing ?? {});
    this.store.update({ listing });
    throw error;
  }

  /** Fetches the next page, if there is one. @returns {Promise<boolean>} whether there are more documents now */
  async more() {
    const { asked } = this;
    const { listing } = this.store;
    if (!listing?.next || this.fetching) return false;
    this.fetching = true;
    const seen = this.store.documents.filter(isHere).length;
    const from = Math.max(0, listing.next - (seen - this.seen)); // what was worked on meanwhile may not meet the filter any more
    try {
      const { documents, total, next } = await service.curation.list({ ...asked, from, most: PAGE });
      if (this.asked !== asked || !this.store.listing) return false;
      this.seen = seen;
      const rows = new Set([...this.store.documents, ...documents.map((summary) => this.entry(summary))]);
      this.store.update({ listing: { ...asked, total, next }, documents: [...rows] });
      return documents.length > 0;
    } finally {
      this.fetching = false;
    }
  }

  /** A document of the list, which may be here already. @param {any} summary with its id at least */
  entry(summary) {
    const { id, disputed, curators, done, waiting, ...rest } = summary;
    const entry = this.entries.get(id) ?? { id, status: "done", native: { id, text: "", mentions: [] }, away: true };
    this.entries.set(id, entry);
    if (entry.base && summary.steps !== undefined && differs(entry, summary))
      Object.assign(entry, { away: true, settled: false, review: undefined, base: undefined }); // others decided
    return Object.assign(entry, { disputed, curators, done, waiting }, entry.base ? {} : rest);
  }
}

/** What is asked for, with what it is by default. @param {{q?: string, show?: string, order?: string}} parts */
const whole = ({ q = "", show = "all", order = "added" }) => ({ q, show, order });

/** Whether the service has other steps of a document than are here, or other curators have finished it. @param {any} entry @param {any} summary */
const differs = ({ steps, base, review }, summary) =>
  summary.steps !== active(steps).length ||
  (review && (summary.waiting !== missing(review).length || summary.mentions !== base.mentions.length));

/** @param {any} entry */
const isHere = (entry) => Boolean(entry.base);
