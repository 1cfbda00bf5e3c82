/** Names of the term pack: why one is found or not, and what a row of curation would change in open documents or a folder. */

import { button, counted, dialog, download, el, name, safeCell, say } from "./dom.js";
import { Trial, chooseFiles, isGone } from "./folder.js";
import { InBrowser, OnService } from "./keeping.js";
import { pick } from "./picking.js";
import { portions, service } from "./service.js";

const COLUMNS = ["action", "surface", "source", "concept", "case", "note"];
const SHOWN = 200; // changes at a time
const MOST_ROWS = 1_000; // on the service and in the browser together
const PROBLEMS = 5; // files that could not be read
const CHANGED = ["change", "surface", "words", "document", "place", "before", "after"];
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
  let explained = ""; // the name that the field had when it was explained
  let surfaces = []; // of the names with its key
  /** What a job does now. @type {Trial | undefined} */
  let trial;
  const field = el("input", { id: "names-name", type: "text", value: written, autocomplete: "off", spellcheck: "false", on: { input: showActs } });
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
    button("Try on a folder…", () => attempt(onFolder), { id: "names-folder" }),
  );
  const ask = el(
    "form",
    { class: "row", on: { submit: send(explain) } },
    el("label", { class: "field" }, el("span", { text: "Name" }), field),
    el("button", { class: "button", type: "submit", id: "names-why", text: "Is it found?" }),
  );
  dialog("Names", ask, about, acts, changed, rows).addEventListener("close", () => trial?.stop());
  field.focus();
  attempt(written ? explain : load);

  /** @param {() => Promise<any>} does */
  function attempt(does) {
    trial?.stop();
    return does().catch((error) => changed.replaceChildren(el("p", { class: "notice bad", text: error.message })));
  }

  /** Offers actions for the explained name alone. */
  function showActs() {
    acts.hidden = !explained || field.value.trim() !== explained;
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
    const before = keptRows();
    checkCount(before.length);
    return before;
  }

  /** @returns {Row[]} */
  function keptRows() {
    return kept.flatMap(([, all]) => all.flatMap(({ rows }) => rows));
  }

  /** @param {Row[]} tried */
  async function keep(tried) {
    checkCount(keptRows().length + tried.length);
    await kept[0][0].keep(tried);
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
    if (field.value.trim() !== surface) return; // another name was written meanwhile
    explained = surface;
    surfaces = [...new Set(told.why.terms.map((one) => one.term.surface))];
    const sentence = told.reason ? ` is not found by its name: ${told.reason}. A model may find it.` : " is found by its name.";
    about.replaceChildren(
      el("p", {}, el("strong", {}, name(surface)), sentence),
      ...[...told.why.terms, ...told.why.silent].map(meaning),
      el("p", { class: "soft small" }, "Compared as ", name([...new Set(told.why.keys.filter(Boolean))].join(" · ") || "–"), ` with the names of the pack ${told.pack}.`),
    );
    showActs();
    action.value = told.reason ? "add" : "ner_off";
  }

  /** The rows that are chosen; `undefined` if no concept is. @returns {Promise<Row[] | undefined>} */
  async function chooseRows() {
    const surface = field.value.trim();
    const { concept, case: policy = "" } = ACTIONS[action.value];
    const chosen = concept ? await whichConcept(surface, store) : "";
    if (concept && !chosen) return undefined;
    const each = EVERY.has(action.value) && surfaces.length ? surfaces : [surface];
    return each.map((name) => ({ action: action.value, surface: name, case: policy, concept: chosen }));
  }

  async function change() {
    const rows = await chooseRows();
    if (!rows) return;
    changed.replaceChildren(el("p", { text: "Trying …" }));
    const before = await load();
    const all = { changes: [], counts: { added: 0, removed: 0, changed: 0 } };
    const problems = new Set();
    for (const documents of store.documents.length ? portions(texts(store)) : [[]]) {
      const told = await service.names(store.pipeline, { before, rows, documents });
      all.changes.push(...told.changes);
      for (const kind of Object.keys(all.counts)) all.counts[kind] += told.counts[kind];
      for (const problem of told.problems) problems.add(problem);
    }
    showChanges(rows, counted(store.documents.length, "open document"), { ...all, problems: [...problems] });
  }

  /** Tries the chosen rows on the folder that the service has, or asks for one. */
  async function onFolder() {
    const rows = await chooseRows();
    if (!rows) return;
    if (store.folder) await tryOnFolder(rows);
    else choose(rows);
  }

  /** @param {Row[]} rows */
  function choose(rows) {
    changed.replaceChildren(chooseFiles((files) => attempt(() => tryOnFolder(rows, files))));
    document.getElementById("names-choose-folder").focus();
  }

  /** @param {Row[]} rows @param {File[]} [files] of a folder that is sent first */
  async function tryOnFolder(rows, files) {
    const words = el("p", { id: "names-progress" });
    const cancel = button("Cancel", () => now.stop(), { id: "names-cancel" });
    changed.replaceChildren(words, el("div", { class: "row" }, cancel));
    cancel.focus();
    const now = (store.trial = trial = new Trial((sentence) => (words.textContent = sentence)));
    try {
      if (files) {
        if (store.folder) service.jobs.remove(store.folder.id).catch(() => {});
        store.folder = undefined;
        store.folder = await now.read(files, store.pipeline);
      }
      const { label, count, problems, unread } = store.folder;
      const told = await now.names(store.folder, { before: await load(), rows }, store.pipeline);
      if (!words.isConnected) return;
      const where = `${counted(count, "text")}${label ? ` of ${label}` : ""}`;
      const unreadable = unread ? [`${counted(unread, "file or text", "files or texts")} could not be read.`, ...problems.slice(0, PROBLEMS)] : [];
      showChanges(rows, where, { ...told, problems: [...unreadable, ...told.problems] }, button("Other files…", () => choose(rows), { id: "names-others" }));
    } catch (error) {
      if (!words.isConnected) return; // something else was asked for meanwhile
      if (!files && isGone(error)) store.folder = undefined;
      changed.replaceChildren(el("p", { class: "notice bad", text: store.folder || files ? error.message : "The service does not have these texts any more." }));
      if (!store.folder) changed.append(button("Choose the files again…", () => choose(rows), { id: "names-again" }));
      changed.querySelector("button")?.focus();
    }
  }

  /** @param {Row[]} tried @param {string} where @param {any} told @param {Node} [more] */
  function showChanges(tried, where, { changes, counts, problems }, more) {
    const sums = Object.entries(CHANGES).map(([kind, means]) => `${counts[kind].toLocaleString("en")} ${means}`);
    const all = Object.values(counts).reduce((sum, count) => sum + count);
    const list = el("ul", { class: "group" });
    const next = button("Show more", show, { id: "names-more" });
    show();
    changed.replaceChildren(
      el("p", { id: "names-count", tabindex: "-1" }, name(where), `: ${sums.join(", ")}.`),
      ...(all > changes.length ? [el("p", { class: "notice", text: `Only the first ${changes.length.toLocaleString("en")} are listed.` })] : []),
      ...problems.map((text) => el("p", { class: "notice", text })),
      el(
        "div",
        { class: "row" },
        button("Keep", () => decide(() => keep(tried)), { class: "button first", id: "names-keep" }),
        button("Discard", () => decide(async () => {}), { id: "names-discard" }),
        changes.length > 0 && button("Download the changes", () => saveTable("changes.tsv", CHANGED, changes.map(forPeople)), { id: "names-save-changes" }),
        more,
      ),
      list,
      next,
    );
    document.getElementById("names-keep").focus();

    function show() {
      const from = list.children.length;
      list.append(...changes.slice(from, from + SHOWN).map(changeItem));
      next.hidden = list.children.length === changes.length;
    }
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
  saveTable("rules.tsv", COLUMNS, rows);
}

/** Numbers of rows that the service tries at once. @param {number} count */
function checkCount(count) {
  if (count > MOST_ROWS) throw new Error(`These would be ${counted(count, "row")}, and 1,000 can be kept and tried; undo some, or build a pack with them (fascicle index extend).`);
}

/** @param {Record<string, string>} row */
const forPeople = (row) => Object.fromEntries(Object.entries(row).map(([column, value]) => [column, safeCell(value)]));

/** @param {string} file @param {string[]} columns @param {Record<string, string>[]} rows */
function saveTable(file, columns, rows) {
  const lines = [columns, ...rows.map((row) => columns.map((column) => (row[column] ?? "").replace(/\s/g, " ")))];
  download(file, new Blob([`${lines.map((cells) => cells.join("\t")).join("\n")}\n`], { type: "text/tab-separated-values" }));
}
