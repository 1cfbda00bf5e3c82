/** The session of a curator: who it is, which documents are listed, which one is shown, and in which version. */

import { doubt, isOpen, missing } from "./decisions.js";
import { counted, say } from "./dom.js";
import { Listing } from "./listing.js";
import { pick } from "./picking.js";
import { random } from "./queue.js";
import { Saving } from "./saving.js";
import { portions, service } from "./service.js";

const WHO = "fascicle-curator";

export class Session {
  /** @param {any} store */
  constructor(store) {
    this.store = store;
    this.saving = new Saving(store);
    this.listing = new Listing(store);
    addEventListener("online", () => this.load(store.documents[store.current]));
  }

  get on() {
    return Boolean(this.store.curation?.on);
  }

  /** Resolves when what was decided is saved, or cannot be saved now. */
  get waits() {
    return this.saving.queue.flush();
  }

  /** Starts or ends curation of the documents that are open. */
  async toggle() {
    if (this.on) return this.store.update({ curation: { ...this.store.curation, on: false } });
    if (!this.store.curation)
      return say("This service keeps no decisions. Start it as: fascicle serve --curation FILE", 12);
    const documents = this.store.documents.filter((entry) => entry.status === "done");
    if (this.store.listing) return this.#curates(this.store.curation.who);
    if (!documents.length) return say("There is no document to curate.");
    await this.#attempt(async () => {
      const who = await this.who();
      if (!who) return;
      const told = [];
      for (const portion of portions(documents.map((entry) => entry.native)))
        told.push(...(await service.curation.add(portion, who)).documents);
      this.#begin(who, told);
    });
  }

  /** Lists what the service has, the least sure first. @param {{q?: string, show?: string, order?: string}} [parts] @param {string} [id] of the document that is opened */
  async resume(parts = { order: "uncertainty" }, id = "") {
    await this.#attempt(async () => {
      const who = await this.who();
      if (!who) return;
      await this.waits;
      this.#curates(who);
      await this.listing.find({ q: "", show: "all", ...parts }, id && this.listing.entry({ id }));
      if (!this.store.documents.length) say("There is no such document.");
    });
  }

  /** Lists other documents of the service. @param {{q?: string, show?: string, order?: string}} parts @param {boolean} [stay] whether the open document stays */
  async find(parts, stay = true) {
    const { listing, documents, current } = this.store;
    await this.#attempt(() => this.listing.find(parts, listing && documents[current], stay));
  }

  /** Lists more documents. */
  async more() {
    return this.#attempt(() => this.listing.more());
  }

  /** Orders documents by how much a curator can teach in the time that reading takes. */
  async leastSure() {
    if (!this.on) return this.resume();
    await this.waits;
    const { documents, listing } = this.store;
    if (listing) await this.find({ order: "uncertainty" }, false);
    else this.store.update({ documents: [...documents].sort((a, b) => unsure(b) - unsure(a)), current: 0, chosen: null });
    say("The documents are in order: the least sure first.");
  }

  /** Fetches a document that is not here. @param {any} entry @param {string | null} [version] of it; at first the own one */
  load(entry, version = entry?.version) {
    if (!entry?.away) return undefined;
    return (entry.loading ??= this.#fetch(entry, version));
  }

  /** Lets a document that waited for curators be fetched again: they may have finished it since. @param {any} entry */
  renew(entry) {
    if (entry.review && !entry.pending.length && missing(entry.review).length) entry.away = true;
  }

  /** Fetches the next document, so that it is here when it is wanted. */
  ahead() {
    const { documents, current } = this.store;
    if (this.on && !documents[current + 1]?.failed) this.load(documents[current + 1]);
  }

  /** @param {any} entry @param {string | null | undefined} version */
  async #fetch(entry, version) {
    try {
      const told = await service.curation.document(entry.id, version);
      entry.own ??= told.version;
      entry.review = told.version === "" ? await service.curation.review(entry.id) : undefined;
      this.saving.put(entry, told);
      Object.assign(entry, { away: false, failed: "" });
      this.store.update({ documents: this.store.documents });
    } catch (error) {
      entry.failed = error.message; // it is asked for again when somebody comes back to it
      this.store.update({ failed: entry });
    } finally {
      entry.loading = undefined;
    }
  }

  /** Shows the versions of the document side by side, or one's own again. */
  async review() {
    const { documents, current, curation, view } = this.store;
    const entry = documents[current];
    if (!this.on || !entry?.base || !curation.project) return say("Versions are kept in a project: fascicle serve --project FILE", 12);
    if (view === "versions" || !entry.review) await this.#turnTo(entry, entry.review ? entry.own : "");
    this.store.update({ view: view !== "versions" && entry.review ? "versions" : "text" });
  }

  /** Shows another version of a document. @param {any} entry @param {string} version */
  async #turnTo(entry, version) {
    entry.away = true;
    const loads = this.load(entry, version);
    this.store.update({ documents: this.store.documents });
    await loads;
    if (!entry.failed) return;
    say(entry.failed, 12);
    Object.assign(entry, { away: false, failed: "" });
    this.store.update({ documents: this.store.documents });
  }

  /** Lets a curator change a version that they have finished. @param {string} who */
  async reopen(who) {
    const entry = this.store.documents[this.store.current];
    await this.#attempt(async () => {
      const { steps } = await service.curation.document(entry.id, who);
      const step = { document: entry.id, id: random(), who: this.store.curation.who, version: who, finished: false };
      await service.curation.step({ ...step, after: steps.at(-1)?.number ?? 0 });
      await this.#turnTo(entry, "");
      say(`${who} can change this version again.`);
    });
  }

  /** @param {string} who @param {any[]} told */
  #begin(who, told) {
    const byId = new Map(told.map((one) => [one.document.id, one]));
    for (const entry of this.store.documents) if (byId.has(entry.id)) this.saving.put(entry, byId.get(entry.id));
    this.store.update({ documents: this.store.documents, comparison: null });
    this.#curates(who);
    say(`You curate as ${who}. A accepts, X rejects, question mark shows all keys.`);
    this.store.settle();
    if (!this.store.chosen && this.store.visible.some(isOpen)) this.next();
  }

  /** Chooses the next mention that nobody decided about; after the last one, the first one. */
  next() {
    this.store.settle(); // all parts know of the decision before
    const { visible, chosen, documents, current } = this.store;
    if (documents[current]?.away) return say("The document is not here yet.");
    const after = visible.indexOf(chosen) + 1;
    const found = [...visible.slice(after), ...visible.slice(0, after)].find(isOpen);
    if (found) return this.store.update({ chosen: found });
    const left = documents[current]?.undecided;
    if (left) say(`Filters hide ${counted(left, "mention")} that nobody decided about.`);
    else say("All mentions are decided. G says that the document is finished.");
  }

  /** @param {string} who */
  #curates(who) {
    this.store.update({ curation: { ...this.store.curation, on: true, who } });
  }

  async who() {
    return this.store.curation?.who || localStorage.getItem(WHO) || this.#ask();
  }

  /** Lets somebody else go on in this browser: by their name or, where tokens say who it is, by their token. */
  async rename() {
    if (this.store.curation.named) return this.#takeOver();
    const who = await this.#ask();
    if (who) this.store.update({ curation: { ...this.store.curation, who } });
  }

  /** Begins anew, so that nothing stays that only the one before may see. */
  async #takeOver() {
    const token = await pick("Who curates?", [], { free: "Token of the curator", secret: true });
    if (!token) return;
    service.useToken(token);
    location.reload();
  }

  async #ask() {
    const given = await pick("Who curates?", [], {
      free: "Your name, kept with each decision",
      pattern: /^\S(.{0,98}\S)?$/,
      hint: "Give a name of at most 100 characters.",
    });
    if (given) localStorage.setItem(WHO, given);
    return given;
  }

  /** @template T @param {() => Promise<T>} does @returns {Promise<T | undefined>} */
  async #attempt(does) {
    try {
      return await does();
    } catch (error) {
      say(error.message, 12);
    }
  }

  /** Saves a step about the document that is shown, if this curator may. @param {any} step @returns {boolean} */
  save(step) {
    const entry = this.store.documents[this.store.current];
    const { who, role, project } = this.store.curation;
    const here = entry.base && !entry.away;
    const over = here && project?.private && entry.version === who && entry.finished && !step.remark;
    const may = here && !over && !(entry.review && role === "curator");
    if (may) this.saving.save(entry, step);
    else if (over) say("You have finished this document. A reviewer can open it again; then reload the page.", 12);
    else say(here ? "Reviewers decide about this version." : "The document is not here yet.");
    return may;
  }

  /** Shows the next document that is not done, if there is one. */
  async goOn() {
    const after = this.store.documents[this.store.current];
    const next = () => {
      const { documents } = this.store;
      return documents.findIndex((one, at) => at > documents.indexOf(after) && one.status === "done" && !one.finished && !one.settled && !one.skipped);
    };
    while (next() < 0 && (await this.more()));
    if (next() >= 0 && this.store.documents[this.store.current] === after) this.turn(next());
  }

  /** Shows another document, and chooses its first open mention. @param {number} current */
  async turn(current) {
    const entry = this.store.documents[current];
    this.renew(entry);
    this.store.update({ current, chosen: null });
    if (!this.on) return;
    await this.load(entry);
    this.store.settle();
    const { reading, visible } = this.store;
    if (reading && this.store.documents[this.store.current] === entry) this.store.update({ chosen: visible.find(isOpen) ?? null });
  }
}

/** How unsure a document is: bits for 1,000 characters of what nobody decided about. @param {any} entry */
const unsure = ({ native, beside = [], finished, uncertainty }) =>
  native.text && !finished
    ? (1000 / native.text.length) * native.mentions.reduce((sum, one, at) => sum + (beside[at]?.verdict ? 0 : doubt(one)), 0)
    : (uncertainty ?? 0);
