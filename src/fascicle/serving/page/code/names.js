/** Names of the term pack: why one is found or not, and what a row of curation would change in the open documents. */

import { button, counted, dialog, download, el, name, say } from "./dom.js";
import { InBrowser, OnService } from "./keeping.js";
import { pick } from "./picking.js";
import { portions, service } from "./service.js";

const COLUMNS = ["action", "surface", "source", "concept", "case", "note"];
const SHOWN = 200; // changes
const CHANGES = { added: "appears", removed: "vanishes", changed: "other link" };
/** What can be done with a name; `concept`: of which. */
const ACTIONS = {
  add: { means: "Add it to a concept", concept: true },
  ner_off: { means: "Silence it: link it, but do not find it" },
  drop: { means: "Leave it out" },
  prefer: { means: "Prefer a concept, even if it is a common word", concept: true },
  case: { means: "Find it only as it is written", case: "exact" },
  block: { means: "Leave out all names that are written like it" },
};

/** Actions that are about every name with the key. */
const EVERY = new Set(["ner_off", "drop", "case"]);

/** @typedef {import("./keeping.js").Row} Row */
/** @typedef {import("./keeping.js").Kept} Kept */

/** Opens the dialog. @param {any} store @param {any} curator @param {string} written the name to begin with */
export function showNames(store, curator, written = "") {
  /** What each place has. @type {[InBrowser | OnService, Kept[]][]} */
  let kept = [];
  let surfaces = []; // of the names with the key of what is asked for
  const field = el("input", { id: "names-name", value: written, autocomplete: "off", spellcheck: "false" });
  const action = el(
    "select",
    { id: "names-action" },
    ...Object.entries(ACTIONS).map(([value, one]) => el("option", { value, text: one.means })),
  );
  const about = el("div", { id: "names-about", class: "group", role: "status" });
  const changed = el("div", { id: "names-changes", class: "group", role: "status" });
  const rows = el("div", { id: "names-rows", class: "group" });
  const acts = el(
    "form",
    { class: "row", hidden: true, on: { submit: send(change) } },
    el("label", { class: "field" }, el("span", { text: "Change" }), action),
    el("button", { class: "button first", type: "submit", id: "names-try", text: "Show what changes" }),
  );
  const ask = el(
    "form",
    { class: "row", on: { submit: send(explain) } },
    el("label", { class: "field" }, el("span", { text: "Name" }), field),
    el("button", { class: "button", type: "submit", id: "names-why", text: "Is it found?" }),
  );
  dialog("Names", ask, about, acts, changed, rows);
  field.focus();
  attempt(written ? explain : load);

  /** @param {() => Promise<any>} does */
  function attempt(does) {
    return does().catch((error) => changed.replaceChildren(el("p", { class: "notice bad", text: error.message })));
  }

  /** @param {() => Promise<void>} does */
  function send(does) {
    return (event) => {
      event.preventDefault();
      attempt(does);
    };
  }

  /** Reads what is kept now, by others too, and returns its rows. @returns {Promise<Row[]>} */
  async function load() {
    const places = [...(store.curation ? [new OnService(store, curator)] : []), new InBrowser()];
    kept = await Promise.all(places.map(async (place) => [place, await place.read()]));
    showRows();
    return kept.flatMap(([, all]) => all.flatMap(({ rows }) => rows));
  }

  /** Keeps or takes back rows, or nothing. @param {() => Promise<void>} does */
  async function decide(does) {
    changed.replaceChildren();
    await attempt(async () => {
      await does();
      await load();
    });
    field.focus();
  }

  async function explain() {
    const surface = field.value.trim();
    if (!surface) return say("Write a name first.");
    changed.replaceChildren();
    const told = await service.names(store.pipeline, { name: surface, before: await load() });
    surfaces = [...new Set(told.why.terms.map((one) => one.term.surface))];
    const sentence = told.reason ? ` is not found in texts: ${told.reason}.` : " is found in texts.";
    about.replaceChildren(
      el("p", {}, el("strong", {}, name(surface)), sentence),
      ...[...told.why.terms, ...told.why.silent].map(meaning),
      el("p", { class: "soft small" }, "Keys: ", name(told.why.keys.map((key) => key || "–").join(" · ")), `. Pack: ${told.pack}.`),
    );
    acts.hidden = false;
    action.value = told.reason ? "add" : "ner_off";
  }

  async function change() {
    const surface = field.value.trim();
    const { concept, case: policy = "" } = ACTIONS[action.value];
    const chosen = concept ? await whichConcept(surface, store) : "";
    if (concept && !chosen) return;
    const each = EVERY.has(action.value) && surfaces.length ? surfaces : [surface];
    const rows = each.map((name) => ({ action: action.value, surface: name, case: policy, concept: chosen }));
    changed.replaceChildren(el("p", { text: "Trying …" }));
    const before = await load();
    const changes = [];
    const problems = new Set();
    for (const documents of store.documents.length ? portions(texts(store)) : [[]]) {
      const told = await service.names(store.pipeline, { name: surface, before, rows, documents });
      changes.push(...told.changes);
      for (const problem of told.problems) problems.add(problem);
    }
    showChanges(rows, changes, [...problems]);
  }

  /** @param {Row[]} tried @param {any[]} changes @param {string[]} problems */
  function showChanges(tried, changes, problems) {
    const counts = Object.entries(CHANGES).map(([kind, means]) => `${changes.filter((one) => one.change === kind).length} ${means}`);
    const documents = counted(store.documents.length, "open document");
    changed.replaceChildren(
      el("p", { id: "names-count", tabindex: "-1" }, `${documents}: ${counts.join(", ")}.`),
      ...problems.map((text) => el("p", { class: "notice", text })),
      el(
        "div",
        { class: "row" },
        button("Keep", () => decide(() => kept[0][0].keep(tried)), { class: "button first", id: "names-keep" }),
        button("Discard", () => decide(async () => {}), { id: "names-discard" }),
      ),
      el("ul", { class: "group" }, ...changes.slice(0, SHOWN).map(changeItem)),
    );
    document.getElementById("names-keep").focus();
  }

  function showRows() {
    const filled = kept.filter(([, all]) => all.length);
    rows.replaceChildren(
      ...filled.flatMap(([place, all]) => [
        el("h3", { text: `${counted(all.flatMap(({ rows }) => rows).length, "row")} kept ${place.where}` }),
        el("ul", { class: "group" }, ...all.map((one) => keptItem(one, place.mayUndo(one) && (() => decide(() => place.undo(one)))))),
      ]),
      ...(filled.length
        ? [
            el("div", { class: "row" }, button("Download the rows", () => save(filled.flatMap(([, all]) => all)), { id: "names-save" })),
            el(
              "p",
              { class: "soft small" },
              "fascicle index diff PACK rules.tsv --corpus FOLDER shows what they change in a folder of texts, and ",
              "fascicle index extend PACK rules.tsv -o NEW builds the pack with them.",
            ),
          ]
        : []),
    );
  }
}

/** @param {Row} row */
const rowText = (row) => COLUMNS.map((column) => row[column]).filter(Boolean).join(" · ");

/** Who kept rows, and when. @param {Kept} kept */
const byWhom = ({ who, at = "" }) => (who ? `kept by ${who}, ${at.slice(0, 10)}` : "");

/** @param {Kept} kept @param {false | (() => void)} undo */
const keptItem = (kept, undo) =>
  el(
    "li",
    {},
    ...kept.rows.map((row) => el("div", {}, name(rowText(row)))),
    el("span", { class: "small soft" }, name(byWhom(kept))),
    undo && button("Undo", undo, { class: "button tiny", "aria-label": `Undo: ${kept.rows.map(rowText).join("; ")}` }),
  );

/** @param {any} store */
const texts = (store) => store.documents.filter((one) => one.native?.text).map((one) => ({ id: one.id, text: one.native.text }));

/** @param {any} explained */
const meaning = ({ term, concept, tier, silent }) =>
  el(
    "div",
    { class: "link" },
    el("span", { class: "name" }, name(term.surface), " → ", name(concept.label)),
    el("span", { class: "mono small" }, name(concept.curie)),
    el("span", {
      class: "small soft",
      text: [
        concept.type,
        `probability ${term.prior.toFixed(3)}`,
        `${tier} match`,
        term.sources.join(", "),
        ...(term.off ? ["not looked for in texts"] : []),
        ...(silent ? [silent] : []),
        ...(term.rule ? [`rule: ${term.rule}`] : []),
      ].join(" · "),
    }),
  );

/** @param {any} change */
const changeItem = ({ change, words, document, before, after }) =>
  el(
    "li",
    {},
    el("strong", { text: `${CHANGES[change]} ` }),
    name(words),
    el("span", { class: "small soft" }, " · ", name([before, after].filter(Boolean).join(" → ")), " · ", name(document)),
  );

/** @param {string} surface @param {any} store */
async function whichConcept(surface, store) {
  const search = async (words) =>
    (await service.concepts(words, "", store.pipeline)).map((one) => ({
      value: one.curie,
      title: one.label,
      more: `${one.type}, ${one.curie}`,
    }));
  const title = `Concept of “${surface.slice(0, 60)}”`;
  return pick(title, await search(surface).catch(() => []), {
    free: "Another concept: the beginning of a name, or an identifier",
    pattern: /^[A-Za-z_][A-Za-z0-9_.-]*:[^\s:]\S*$/,
    hint: "No concept has a name like this.",
    search,
  });
}

/** @param {Kept[]} kept */
function save(kept) {
  const rows = kept.flatMap((one) => one.rows.map((row) => ({ ...row, note: row.note || byWhom(one) })));
  const lines = [COLUMNS, ...rows.map((row) => COLUMNS.map((column) => row[column] ?? ""))];
  download("rules.tsv", new Blob([`${lines.map((cells) => cells.join("\t")).join("\n")}\n`], { type: "text/tab-separated-values" }));
}
