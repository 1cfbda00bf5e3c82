/**
 * One curator at work. A decision belongs to the mention that is shown when it is made, and is shown at once. The service
 * saves decisions one after the other; one that it does not save is taken back, and the page says so.
 */

import { button, counted, el, say } from "./dom.js";
import { curated, doubt, redoable, undoable } from "./decisions.js";
import { otherType, why } from "./panel.js";
import { pick } from "./picking.js";
import { titleOf } from "./reading.js";
import { portions, service } from "./service.js";

/** @typedef {import("./reading.js").Shown} Shown */

const WHO = "fascicle-curator";
const MOST_TRIES = 5;
const CURIE = /^[A-Za-z_][A-Za-z0-9_.-]*:[^\s:]\S*$/;

export class Curator {
  /** @param {any} store */
  constructor(store) {
    this.store = store;
    this.waits = Promise.resolve();
    this.unsaved = 0;
    addEventListener("beforeunload", (event) => this.#busy && event.preventDefault());
  }

  /** Whether decisions wait to be saved. */
  get #busy() {
    return this.store.documents.some((entry) => entry.pending?.length);
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
      await this.waits;
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
      await this.waits;
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
    if (!entry.base) entry.away = true; // it is asked for again when somebody comes back to it
  }

  /** @param {string} who @param {any[]} told */
  #begin(who, told) {
    const byId = new Map(told.map((one) => [one.document.id, one]));
    for (const entry of this.store.documents) if (byId.has(entry.id)) this.#put(entry, byId.get(entry.id));
    this.store.update({ documents: this.store.documents, comparison: null, curation: { on: true, who } });
    say(`You curate as ${who}. A accepts, X rejects, question mark shows all keys.`);
    this.store.settle();
    if (!this.store.chosen && this.store.visible.some(open)) this.next();
  }

  /** Chooses the next mention that nobody decided about; after the last one, the first one. */
  next() {
    this.store.settle(); // all parts know of the decision before
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
    const { native, beside, undecided, finished } = curated(entry.base, [...entry.steps, ...(entry.pending ?? [])]);
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

  /** Shows a step, and saves it after those before. @param {any} step @param {() => void} [then] if it was saved */
  save(step, then = () => {}) {
    const entry = this.store.documents[this.store.current];
    const pending = this.#pending(entry, step);
    entry.pending = [...(entry.pending ?? []), pending];
    this.#show(entry);
    return this.#queue(async () => {
      const saved = await this.#kept(entry, pending);
      entry.pending = entry.pending.filter((one) => one !== pending);
      this.#show(entry);
      if (saved) then();
    });
  }

  /** @param {() => Promise<void>} does */
  #queue(does) {
    this.waits = this.waits.then(does);
    return this.waits;
  }

  /** A step with who makes it, and the last step that this curator has seen. @param {any} entry @param {any} step */
  #pending(entry, step) {
    return { ...step, id: random(), who: this.store.curation.who, seen: last(entry) };
  }

  /** @param {any} entry */
  #show(entry) {
    this.#refresh(entry);
    this.store.update({ documents: this.store.documents, revised: (this.store.revised ?? 0) + 1 });
  }

  /** @param {any} entry @param {any} pending @returns {Promise<boolean>} whether the service has it */
  async #kept(entry, pending) {
    try {
      if (await this.#sent(entry, pending)) {
        this.unsaved = 0;
        return true;
      }
      say("Someone else has decided about this; look at it again.", 12);
    } catch (error) {
      this.unsaved += 1;
      say(`${error.message} ${counted(this.unsaved, "decision")} not saved: they are open again.`, 30);
    }
    return false;
  }

  /** Sends a step until the service takes it, unless others decided about the same since it was made. @param {any} entry @param {any} pending */
  async #sent(entry, { seen, ...step }) {
    for (let tries = 1; ; tries += 1) {
      if (entry.steps.some((one) => one.number > seen && one.who !== step.who && clash(one, step, entry.steps))) return false;
      const asked = { document: entry.id, after: last(entry), ...step };
      try {
        const { steps } = await service.curation
          .step(asked)
          .catch((error) => (error.status === 0 ? again(asked) : Promise.reject(error)));
        entry.steps.push(...steps);
        return true;
      } catch (error) {
        if (error.status !== 409 || tries === MOST_TRIES) throw error;
        const told = await service.curation.document(entry.id); // someone else decided meanwhile
        Object.assign(entry, { base: told.document, steps: told.steps });
      }
    }
  }

  /** @param {Shown | null} shown */
  accept(shown) {
    if (!this.#may(shown)) return;
    this.save({ edits: this.#edits(shown, bare(shown.mention)) });
    this.next();
  }

  /** @param {Shown | null} shown */
  reject(shown) {
    if (!this.#may(shown)) return;
    this.save({ edits: this.#edits(shown, null) });
    this.next();
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
    const now = this.store.reading.mentions.find((one) => one.item === shown.item) ?? shown; // decided about meanwhile
    const { links, ...rest } = bare(now.mention);
    const kept = parts.type && parts.type !== now.type ? {} : { links };
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
    const entry = this.store.documents[this.store.current];
    const type = await this.chooseType(shown.type);
    if (type && type !== shown.type && this.#stays(entry)) this.change(shown, { type });
  }

  /** Whether a document is still the one that is shown; nobody decides about what is not. @param {any} entry */
  #stays(entry) {
    const stays = entry === this.store.documents[this.store.current];
    if (!stays) say("Another document is shown now, so nothing was decided.", 12);
    return stays;
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
    const entry = this.store.documents[this.store.current];
    const told = await why(this.store.pipeline, entry.base, shown).catch(() => []);
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
        free: "Another concept: the beginning of a name, or an identifier such as MESH:D008094",
        pattern: CURIE,
        hint: "No concept has a name like this. Write another, or prefix:identifier without blanks, such as MESH:D008094.",
        search: (words) => concepts(words, shown.type, this.store.pipeline),
        doubt: (value) => notMeant(value, shown.type, this.store),
      },
    );
    if (!chosen) return;
    const made = await link(chosen, this.store.pipeline);
    if (this.#stays(entry)) this.change(shown, { links: [made] });
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
    return this.#takeBack(undoable, "Undone.", "There is nothing of yours to undo.");
  }

  redo() {
    return this.#takeBack(redoable, "Done again.", "There is nothing to do again.");
  }

  /** Undoes a step, which is found when those before are saved. @param {typeof undoable} which @param {string} done @param {string} nothing */
  #takeBack(which, done, nothing) {
    const entry = this.store.documents[this.store.current];
    if (!this.on || !entry) return say(nothing);
    return this.#queue(async () => {
      const step = which(entry.steps, this.store.curation.who);
      if (!step) return say(nothing);
      const saved = await this.#kept(entry, this.#pending(entry, { undoes: step.number }));
      this.#show(entry);
      if (saved) say(done);
    });
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

/** The number of the last step of a document that is here. @param {any} entry */
const last = (entry) => entry.steps.at(-1)?.number ?? 0;

/** Whether two steps decide about the same. @param {any} one @param {any} other @param {any[]} steps that either may undo */
function clash(one, other, steps) {
  const [first, second] = [one, other].map((step) => (step.undoes ? steps.find(({ number }) => number === step.undoes) : step));
  if ((first?.finished ?? null) !== null && (second?.finished ?? null) !== null) return true;
  const items = new Set((first?.edits ?? []).map(({ item }) => item));
  return (second?.edits ?? []).some(({ item }) => items.has(item));
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

/** Concepts by a part of a name: those of the type first. @param {string} words @param {string} type @param {string} pipeline */
async function concepts(words, type, pipeline) {
  const found = await Promise.all([type, ""].map((kind) => service.concepts(words, kind, pipeline)));
  const each = new Map(found.flat().map((one) => [one.curie, one]));
  return [...each.values()].slice(0, 12).map((one) => ({
    value: { curie: one.curie, name: one.label },
    title: one.label,
    more: [
      ...(one.name.toLowerCase() === one.label.toLowerCase() ? [] : [`also ${one.name}`]),
      `${one.type}, ${one.curie}`,
      one.sources.join(", "),
      ...(one.parents.length ? [`a kind of ${one.parents.map((above) => above.label).join(", ")}`] : []),
      one.definition.length > 160 ? `${one.definition.slice(0, 159)}…` : one.definition,
    ]
      .filter(Boolean)
      .join(" · "),
  }));
}

/** Why a concept may not be meant: no pack has it, or it is of another type. @param {any} chosen @param {string} type @param {any} store */
async function notMeant(chosen, type, store) {
  const curie = typeof chosen === "string" ? chosen : chosen.curie;
  if (!curie) return "";
  try {
    return otherType(await service.concept(curie, store.pipeline), type, store);
  } catch (error) {
    return error.status === 404 ? `No pack of this pipeline has ${curie}.` : "";
  }
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
