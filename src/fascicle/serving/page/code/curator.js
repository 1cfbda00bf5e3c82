/** One curator at work: a decision belongs to the mention that is shown when it is made, and is shown at once. */

import { chooseConcept } from "./concepts.js";
import { bare, doubt, isOpen, redoable, undoable } from "./decisions.js";
import { button, counted, el, say } from "./dom.js";
import { guideline } from "./guidelines.js";
import { pick } from "./picking.js";
import { random } from "./queue.js";
import { titleOf } from "./reading.js";
import { askNote, remarkOf } from "./remarks.js";
import { Session } from "./session.js";

/** @typedef {import("./reading.js").Shown} Shown */

export class Curator extends Session {
  /** Whether a mention is chosen that can be decided about; otherwise chooses one, for nobody decides about what is not. @param {Shown | null} shown */
  #may(shown) {
    if (this.on && !shown) this.next();
    return this.on && shown;
  }

  /** @param {Shown | null} shown */
  accept(shown) {
    if (!this.#may(shown)) return;
    if (this.save({ edits: this.#edits(shown, bare(shown.mention)) })) this.next();
  }

  /** @param {Shown | null} shown */
  reject(shown) {
    if (!this.#may(shown)) return;
    if (this.save({ edits: this.#edits(shown, null) })) this.next();
  }

  /** Accepts what is shown and not decided yet, as one step. */
  acceptRest() {
    const rest = this.store.visible.filter(isOpen);
    if (!this.on || !rest.length) return;
    const edits = rest.map((shown) => ({ item: shown.item, after: bare(shown.mention) }));
    if (this.save({ edits })) say(`${counted(rest.length, "mention")} accepted.`);
  }

  /** Concepts go with their type. @param {Shown | null} shown @param {Partial<import("./types.js").Mention>} parts */
  change(shown, parts) {
    if (!this.on || !shown) return;
    const now = this.store.reading.mentions.find((one) => one.item === shown.item) ?? shown; // decided about meanwhile
    const { links, ...rest } = bare(now.mention);
    const kept = parts.type && parts.type !== now.type ? {} : { links };
    return this.save({ edits: this.#edits(now, { ...rest, ...kept, ...parts }) });
  }

  /** One decision for a mention and for all others of its type at its place that nobody rejected: other layers say the same. @param {Shown} shown @param {any} after */
  #edits(shown, after) {
    const place = JSON.stringify([shown.type, shown.mention.spans]);
    const twins = this.store.reading.mentions.filter(
      (one) => one !== shown && one.verdict !== "rejected" && JSON.stringify([one.type, one.mention.spans]) === place,
    );
    return [shown, ...twins].map(({ item }) => ({ item, after }));
  }

  /** @param {[number, number][]} spans code points @param {string} type @returns {string} its item, if it may be added */
  add(spans, type) {
    const item = `added-${random()}`;
    return this.save({ edits: [{ item, after: { spans, type } }] }) ? item : "";
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
    if (type && type !== shown.type && this.stays(entry)) this.change(shown, { type });
  }

  /** Whether a document is still the one that is shown; nobody decides about what is not. @param {any} entry */
  stays(entry) {
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
        more: [type === now && "now", guideline(this.store, type).slice(0, 160)].filter(Boolean).join(" · "),
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
    const made = await chooseConcept(shown, entry, this.store);
    if (made && this.stays(entry)) this.change(shown, { links: [made] });
  }

  /** Says that a document is done, and goes on with the next one; or that it is open again. */
  async finish() {
    const entry = this.store.documents[this.store.current];
    const left = entry?.undecided ? ` ${counted(entry.undecided, "mention")} that nobody decided about will not be gold.` : "";
    if (!this.on || !this.save({ finished: !entry.finished })) return;
    say(entry.finished ? `“${titleOf(entry)}” is finished.${left}` : `“${titleOf(entry)}” is open again.`);
    if (entry.finished) await this.goOn();
  }

  /** Remarks on an item, or on the whole document. @param {string} item empty for the document @param {{note?: string, flagged?: boolean, skipped?: boolean}} said */
  remark(item, said) {
    if (this.on) this.save({ remark: { item, ...said } });
  }

  /** Flags a mention, or the whole document; or takes the flag away. @param {Shown | null} shown */
  flag(shown) {
    const { flagged } = (shown ?? this.store.documents[this.store.current])?.remark ?? {};
    this.remark(shown?.item ?? "", { flagged: !flagged });
  }

  /** Asks for a note on a mention, or on the whole document. @param {Shown | null} shown */
  async note(shown) {
    const entry = this.store.documents[this.store.current];
    const said = await askNote(shown ? `“${shown.words.slice(0, 60)}”` : "this document", (shown ?? entry).remark?.note ?? "");
    if (said !== undefined && this.stays(entry)) this.remark(shown?.item ?? "", { note: said });
  }

  /** Leaves a document for later, and goes on with the next one; or takes it again. */
  async skip() {
    const entry = this.store.documents[this.store.current];
    if (entry.finished) return say("This document is finished. Open it again to skip it.");
    this.remark("", { skipped: !entry.skipped });
    if (entry.skipped) await this.goOn();
  }

  /** Takes back the last step of this curator; those of others stay. */
  undo() {
    this.#takeBack(undoable, "Undone.", "There is nothing of yours to undo.");
  }

  redo() {
    this.#takeBack(redoable, "Done again.", "There is nothing to do again.");
  }

  /** Undoes a step. @param {typeof undoable} which @param {string} done @param {string} nothing */
  #takeBack(which, done, nothing) {
    const entry = this.store.documents[this.store.current];
    const step = this.on && entry?.base && which([...entry.steps, ...entry.pending], this.store.curation.who);
    if (!step) return say(nothing);
    if (this.save({ undoes: step.number })) say(done);
  }

  /** The shown mention that is least sure and not decided. */
  doubtful() {
    let [best, most] = [null, -1];
    for (const shown of this.store.visible) {
      const value = isOpen(shown) ? doubt(shown.mention) : -1;
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
      el("span", { class: `verdict ${shown.verdict}`, text: shown.verdict || (shown.agreed ? "all agree" : "not decided") }),
      el(
        "div",
        { class: "row" },
        act("Accept", "A", () => this.accept(shown)),
        act("Reject", "X", () => this.reject(shown)),
        act("Type", "T", () => this.retype(shown)),
        act("Span", "S", () => this.respan(shown)),
        act("Concept", "C", () => this.relink(shown)),
      ),
      remarkOf("this mention", shown.remark, (said) => this.remark(shown.item, said), ["F", "L"]),
    );
  }
}
