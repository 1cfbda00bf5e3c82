/** One curator at work: every decision is saved by the service before the page shows it. */

import { button, counted, el, say } from "./dom.js";
import { curated, doubt, redoable, undoable } from "./decisions.js";
import { why } from "./panel.js";
import { pick } from "./picking.js";
import { titleOf } from "./reading.js";
import { portions, service } from "./service.js";

/** @typedef {import("./reading.js").Shown} Shown */

const WHO = "fascicle-curator";
const CURIE = /^[A-Za-z_][A-Za-z0-9_.-]*:[^\s:]\S*$/;

export class Curator {
  /** @param {any} store */
  constructor(store) {
    this.store = store;
    this.waits = Promise.resolve();
  }

  get on() {
    return Boolean(this.store.curation?.on);
  }

  /** Starts or ends curation of the documents that are open. */
  async toggle() {
    if (this.on) return this.store.update({ curation: { ...this.store.curation, on: false } });
    if (!this.store.curation)
      return say("This service keeps no decisions. Start it as: fascicle serve --curation FILE", 12);
    const documents = this.store.documents.filter((entry) => entry.status === "done");
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

  /** Opens what the service has, the least sure first. @param {string} [order] */
  async resume(order = "uncertainty") {
    await this.#attempt(async () => {
      const who = await this.who();
      if (!who) return;
      const { documents } = await service.curation.list(order);
      if (!documents.length) return say("No document is curated yet.");
      const entries = documents.map(({ id }) => ({
        id,
        status: "done",
        native: { id, text: "", mentions: [] },
        away: true,
      }));
      documents.forEach((told, number) =>
        Object.assign(entries[number], {
          undecided: told.undecided,
          finished: told.finished,
          uncertainty: told.uncertainty,
        }),
      );
      this.store.update({
        documents: entries,
        current: 0,
        chosen: null,
        comparison: null,
        curation: { on: true, who },
      });
    });
  }

  /** Orders the open documents by how much a curator can teach in the time that reading takes. */
  async leastSure() {
    if (!this.on) return this.resume();
    await this.#attempt(async () => {
      const { documents } = await service.curation.list("uncertainty");
      const place = new Map(documents.map(({ id }, number) => [id, number]));
      const last = documents.length;
      const sorted = [...this.store.documents].sort((a, b) => (place.get(a.id) ?? last) - (place.get(b.id) ?? last));
      this.store.update({ documents: sorted, current: 0, chosen: null });
      say("The documents are in order: the least sure first.");
    });
  }

  /** Fetches a document of which only the id is here. @param {any} entry */
  async load(entry) {
    if (!entry?.away) return;
    entry.away = false;
    await this.#attempt(async () => {
      const told = await service.curation.document(entry.id);
      this.#put(entry, told);
      this.store.update({ documents: this.store.documents });
    });
  }

  /** @param {string} who @param {any[]} told */
  #begin(who, told) {
    const byId = new Map(told.map((one) => [one.document.id, one]));
    for (const entry of this.store.documents) if (byId.has(entry.id)) this.#put(entry, byId.get(entry.id));
    this.store.update({ documents: this.store.documents, comparison: null, curation: { on: true, who } });
    say(`You curate as ${who}. A accepts, X rejects, question mark shows all keys.`);
    setTimeout(() => !this.store.chosen && this.store.visible.some(open) && this.#next());
  }

  /** Chooses the next mention that nobody decided about; after the last one, the first one. */
  next() {
    setTimeout(() => this.#next()); // when all parts know of the decision before
  }

  #next() {
    const { visible, chosen, documents, current } = this.store;
    const after = visible.indexOf(chosen) + 1;
    const found = [...visible.slice(after), ...visible.slice(0, after)].find(open);
    if (found) return this.store.update({ chosen: found });
    const left = documents[current]?.undecided;
    if (left) say(`Filters hide ${counted(left, "mention")} that nobody decided about.`);
    else say("All mentions are decided. G says that the document is finished.");
  }

  /** Whether a mention is chosen that can be decided about; otherwise chooses one, for nobody decides about what is not. @param {Shown | null} shown */
  #may(shown) {
    if (this.on && !shown) this.next();
    return this.on && shown;
  }

  /** @param {any} entry @param {{document: any, steps: any[]}} told */
  #put(entry, { document, steps }) {
    Object.assign(entry, { base: document, steps });
    this.#refresh(entry);
  }

  /** @param {any} entry */
  #refresh(entry) {
    const { native, beside, undecided, finished } = curated(entry.base, entry.steps);
    Object.assign(entry, { native, beside, undecided, finished });
  }

  async who() {
    return this.store.curation?.who || localStorage.getItem(WHO) || this.#ask();
  }

  /** Lets somebody else go on in this browser. */
  async rename() {
    const who = await this.#ask();
    if (who) this.store.update({ curation: { ...this.store.curation, who } });
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

  /** Saves a step, then shows what follows; steps are saved one after the other. @param {any} step @param {() => void} [then] if it was saved */
  save(step, then = () => {}) {
    const entry = this.store.documents[this.store.current];
    this.waits = this.waits.then(async () => {
      if (await this.#attempt(() => this.#saved(entry, step))) then();
    });
    return this.waits;
  }

  /** @param {any} entry @param {any} step @returns {Promise<boolean>} whether it counts */
  async #saved(entry, step) {
    const asked = {
      document: entry.id,
      who: this.store.curation.who,
      id: random(),
      after: entry.steps.at(-1)?.number ?? 0,
      ...step,
    };
    let saved = true;
    try {
      const { steps } = await service.curation
        .step(asked)
        .catch((error) => (error.status === 0 ? again(asked) : Promise.reject(error)));
      entry.steps.push(...steps);
    } catch (error) {
      if (error.status !== 409) throw error;
      saved = false;
      this.#put(entry, await service.curation.document(entry.id)); // someone else decided meanwhile
      say("Someone else has decided about this document; look at it again.", 12);
    }
    this.#refresh(entry);
    this.store.update({ documents: this.store.documents, revised: (this.store.revised ?? 0) + 1 });
    return saved;
  }

  /** @param {Shown | null} shown */
  accept(shown) {
    if (!this.#may(shown)) return;
    this.save({ edits: this.#edits(shown, bare(shown.mention)) }, () => this.next());
  }

  /** @param {Shown | null} shown */
  reject(shown) {
    if (!this.#may(shown)) return;
    this.save({ edits: this.#edits(shown, null) }, () => this.next());
  }

  /** Accepts what is shown and not decided yet, as one step. */
  acceptRest() {
    const rest = this.store.visible.filter((shown) => !shown.verdict);
    if (!this.on || !rest.length) return;
    this.save({ edits: rest.map((shown) => ({ item: shown.item, after: bare(shown.mention) })) }, () =>
      say(`${counted(rest.length, "mention")} accepted.`),
    );
  }

  /** Concepts go with their type. @param {Shown | null} shown @param {Partial<import("./types.js").Mention>} parts */
  change(shown, parts) {
    if (!this.on || !shown) return;
    const { links, ...rest } = bare(shown.mention);
    const kept = parts.type && parts.type !== shown.type ? {} : { links };
    return this.save({ edits: this.#edits(shown, { ...rest, ...kept, ...parts }) });
  }

  /** One decision for a mention and for all others of its type at its place that nobody decided about: other layers say the same. @param {Shown} shown @param {any} after */
  #edits(shown, after) {
    const place = JSON.stringify([shown.type, shown.mention.spans]);
    const twins = this.store.reading.mentions.filter(
      (one) => one !== shown && !one.verdict && JSON.stringify([one.type, one.mention.spans]) === place,
    );
    return [shown, ...twins].map(({ item }) => ({ item, after }));
  }

  /** @param {[number, number][]} spans code points @param {string} type */
  add(spans, type) {
    return this.save({ edits: [{ item: `added-${random()}`, after: { spans, type } }] });
  }

  /** Lets the span of a mention be changed by keys. @param {Shown | null} shown */
  respan(shown) {
    if (this.#may(shown)) this.store.update({ marking: shown });
  }

  /** @param {Shown | null} shown */
  async retype(shown) {
    if (!this.#may(shown)) return;
    const type = await this.chooseType(shown.type);
    if (type && type !== shown.type) this.change(shown, { type });
  }

  /** @param {string} [now] */
  chooseType(now = "") {
    return pick(
      "Type",
      this.types().map((type) => ({
        value: type,
        title: type,
        more: type === now ? "now" : "",
        hue: this.store.colours.of(type),
      })),
      { free: "Another type" },
    );
  }

  /** The types that a key 1 to 9 stands for. */
  types() {
    const pipeline = this.store.pipelines.find((one) => one.name === this.store.pipeline);
    return [...new Set([...(pipeline?.types ?? []), ...(this.store.reading?.counts("type").keys() ?? [])])];
  }

  /** @param {Shown | null} shown */
  async relink(shown) {
    if (!this.#may(shown)) return;
    const told = await why(this.store.pipeline, this.store.documents[this.store.current].base, shown).catch(() => []);
    const candidates = told.flatMap((one) => one.candidates).slice(0, 8);
    const chosen = await pick(
      `Concept of “${shown.words.slice(0, 60)}”`,
      [
        ...candidates.map((one) => ({
          value: { curie: one.curie, name: one.label },
          title: one.label,
          more: one.curie,
        })),
        { value: { nil: true }, title: "No concept fits" },
      ],
      {
        free: "Another identifier, such as MESH:D008094",
        pattern: CURIE,
        hint: "Write prefix:identifier without blanks, such as MESH:D008094.",
      },
    );
    if (chosen) this.change(shown, { links: [await link(chosen, this.store.pipeline)] });
  }

  /** Says that a document is done, or not. */
  finish() {
    const entry = this.store.documents[this.store.current];
    if (!this.on || !entry) return;
    this.save({ finished: !entry.finished }, () => {
      const left = entry.undecided ? ` ${counted(entry.undecided, "mention")} that nobody decided about will not be gold.` : "";
      say(entry.finished ? `“${titleOf(entry)}” is finished.${left}` : `“${titleOf(entry)}” is open again.`);
    });
  }

  /** Takes back the last step of this curator; those of others stay. */
  undo() {
    const step = this.on && undoable(this.store.documents[this.store.current].steps, this.store.curation.who);
    if (step) this.save({ undoes: step.number }, () => say("Undone."));
    else say("There is nothing of yours to undo.");
  }

  redo() {
    const step = this.on && redoable(this.store.documents[this.store.current].steps, this.store.curation.who);
    if (step) this.save({ undoes: step.number }, () => say("Done again."));
    else say("There is nothing to do again.");
  }

  /** The shown mention that is least sure and not decided. */
  doubtful() {
    let [best, most] = [null, -1];
    for (const shown of this.store.visible) {
      const value = shown.verdict ? -1 : doubt(shown.mention);
      if (value > most) [best, most] = [shown, value];
    }
    return best;
  }

  /** The part of the panel for decisions. @param {Shown} shown */
  panel(shown) {
    if (!this.on) return null;
    const key = (letter) => el("kbd", { text: letter, "aria-hidden": "true" });
    const act = (words, letter, does) => {
      const made = button(words, does, { class: "button tiny", "data-keep": words });
      made.append(key(letter));
      return made;
    };
    return el(
      "div",
      { class: "decide" },
      el("span", { class: `verdict ${shown.verdict}`, text: shown.verdict || "not decided" }),
      el(
        "div",
        { class: "row" },
        act("Accept", "A", () => this.accept(shown)),
        act("Reject", "X", () => this.reject(shown)),
        act("Type", "T", () => this.retype(shown)),
        act("Span", "S", () => this.respan(shown)),
        act("Concept", "C", () => this.relink(shown)),
      ),
    );
  }
}

/** @param {any} asked a step that may have been saved although no answer came: its id is saved only once */
async function again(asked) {
  await new Promise((resolve) => setTimeout(resolve, 700));
  return service.curation.step(asked);
}

/** @param {any} chosen @param {string} pipeline @returns {Promise<import("./types.js").Link>} */
async function link(chosen, pipeline) {
  if (chosen.nil) return { id: "", nil: true };
  const curie = typeof chosen === "string" ? chosen : chosen.curie;
  const name =
    chosen.name ??
    (await service
      .concept(curie, pipeline)
      .then((told) => told.label ?? "")
      .catch(() => ""));
  const [ontology, ...rest] = curie.split(":");
  return { id: rest.join(":"), ontology, curie, name };
}

/** What is decided about a mention: where, which type, which concept. @param {import("./types.js").Mention} mention */
function bare({ spans, type, links, attributes }) {
  return { spans, type, ...(links?.length ? { links } : {}), ...(attributes?.length ? { attributes } : {}) };
}

/** Whether nobody decided. @param {Shown} shown */
const open = (shown) => !shown.verdict;

/** 128 random bits. */
export const random = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
