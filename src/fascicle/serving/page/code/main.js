/** Puts the parts of the page together. */

import { showAgreement } from "./agreement.js";
import { agreement, compare } from "./comparing.js";
import { Curator } from "./curator.js";
import { documentList } from "./documents.js";
import { keepAddress } from "./address.js";
import { Arcs } from "./arcs.js";
import { button, counted, el, name, say } from "./dom.js";
import { copy, exporting } from "./exporting.js";
import { filters } from "./filters.js";
import { removeWhenLeft } from "./folder.js";
import { help, listen } from "./keys.js";
import { keyTable } from "./key-table.js";
import { Marking } from "./marking.js";
import { showNames } from "./names.js";
import { Panel } from "./panel.js";
import { pick } from "./picking.js";
import { Reading, readingOf, titleOf } from "./reading.js";
import { Search } from "./search.js";
import { progress, state } from "./progress.js";
import { portions, service } from "./service.js";
import { start } from "./start.js";
import { Store } from "./store.js";
import { Table } from "./table.js";
import { TextView } from "./text-view.js";
import { nextTheme, theme } from "./theme.js";
import { Versions } from "./versions.js";
import { waiting } from "./waiting.js";

const place = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

const store = new Store();

const hue = (type) => store.colours.of(type);
const view = new TextView(place("text"), { hue, choose: (shown) => store.update({ chosen: shown, panel: true }) });
const curator = new Curator(store);
const marking = new Marking(store, view, curator);
const search = new Search(store, view);
const panel = new Panel(place("panel"), store, (shown) => curator.panel(shown));
new Arcs(place("text"), view, store);
new Table(place("table"), store);
const versions = new Versions(place("versions"), store, curator);
documentList(place("documents"), store, curator);
filters(place("filters"), store);
start(place("start"), store, { annotate, open, failed });
removeWhenLeft(store);

/** Annotates documents, and shows them. @param {{id?: string, text: string}[]} given @param {string} [said] of their files, when they are shown */
async function annotate(given, said = "") {
  say(`Annotating ${counted(given.length, "document")} …`, 0);
  place("work").setAttribute("aria-busy", "true");
  try {
    const answers = [];
    for (const portion of portions(given)) {
      answers.push(...(await service.annotate(store.pipeline, portion)));
      say(`${answers.length} of ${counted(given.length, "document")} …`, 0);
    }
    const entries = answers.map((answer, number) => ({
      id: answer.id,
      status: answer.status,
      problem: answer.problem,
      pipeline: store.pipeline,
      native: answer.document ?? { id: answer.id, text: given[number].text, mentions: [] },
    }));
    show(entries);
    say(said, 30);
  } catch (error) {
    await failed(error);
  }
  place("work").removeAttribute("aria-busy");
}

/** Says why the service did not answer, and asks for a token if that is why. @param {any} error */
async function failed(error) {
  say(error.message, 12);
  if (error.status === 401) await askToken();
}

/** Shows documents as they are. @param {import("./types.js").Native[]} documents */
function open(documents) {
  show(documents.map((native) => ({ id: native.id, status: "done", native })));
}

/** Shows documents that are not those of the service. @param {import("./store.js").Entry[]} documents */
function show(documents) {
  const curation = store.curation && { ...store.curation, on: false };
  store.update({ documents, listing: null, current: 0, chosen: null, comparison: null, curation });
}

/** The next shown mention that meets a condition, or the one before. @param {1 | -1} step @param {(shown: any) => boolean} [meets] */
function move(step, meets = () => true) {
  const { visible, chosen } = store;
  if (!visible.length) return say("No mention is shown.");
  const from = chosen ? visible.indexOf(chosen) : step > 0 ? -1 : visible.length;
  for (let at = from + step; at >= 0 && at < visible.length; at += step)
    if (meets(visible[at])) return store.update({ chosen: visible[at] });
  say(step > 0 ? "This is the last mention." : "This is the first mention.");
}

/** @param {1 | -1} step */
function turn(step) {
  const next = store.current + step;
  if (next >= 0 && next < store.documents.length) curator.turn(next);
  else say(step > 0 ? "This is the last document." : "This is the first document.");
}

function anew() {
  store.update({ documents: [], listing: null, current: -1, reading: null, visible: [], chosen: null, comparison: null });
  queueMicrotask(() => place("given").focus());
}

async function askToken() {
  const title = service.hasToken ? "The token is not valid; give another" : "This service asks for a token";
  const token = await pick(title, [], { free: "Token", secret: true });
  if (!token) return say("Without a token, the service does not answer. Reload the page to give one.", 0);
  service.useToken(token);
  await begin();
}

async function begin() {
  try {
    const pipelines = await service.pipelines();
    for (const { types = [] } of pipelines) store.colours.learn(types);
    store.update({ pipelines, pipeline: pipelines[0]?.name ?? "" });
  } catch (error) {
    if (error.status === 401) return askToken();
    say(error.message, 0);
  }
  const about = await service.curation.about().catch(() => ({ open: false }));
  const { who, role, project, tables } = about;
  if (store.curation && (store.curation.named ?? "") !== who) return location.reload(); // nothing stays of what another one may see
  store.update({ curation: about.open ? { on: false, role, project, tables, ...(who ? { who, named: who } : {}) } : null });
  if (about.open) curator.saving.queue.flush();
  if (about.damages?.length) say(`The file of decisions is damaged, and nothing more is saved: ${about.damages[0]}`, 60);
  else if (about.uncounted?.length)
    say(`Decisions of ${about.uncounted.join(", ")} do not count: the file of the project does not name them as curators.`, 30);
}

/** Makes the document of the moment readable for all parts. */
store.on(["documents", "current", "comparison"], () => {
  const entry = store.documents[store.current];
  place("start").hidden = Boolean(entry);
  place("reader").hidden = !entry;
  if (!entry) return;
  if (entry.away) {
    if (store.reading) store.update({ reading: null, visible: [], chosen: null });
    return void curator.load(entry);
  }
  if (store.comparison && store.comparison.id !== entry.id) store.update({ comparison: null });
  const { comparison, chosen } = store;
  const compared = comparison?.id === entry.id;
  const reading = compared
    ? new Reading(
        { ...entry.native, mentions: comparison.mentions },
        comparison.sides.map((side) => ({ side })),
      )
    : readingOf(entry);
  store.colours.learn(reading.counts("type").keys());
  const same = store.reading?.text === reading.text && store.reading?.document.id === entry.id;
  const again =
    same && chosen
      ? (reading.mentions.find((one) => (one.item ?? one.key) === (chosen.item ?? chosen.key)) ?? null)
      : null;
  store.update({ reading, same, chosen: again });
  if (!same) scrollTo({ top: 0 });
  curator.ahead();
});
store.on(["reading", "hiddenTypes", "hiddenSources", "hiddenSides", "least"], () => {
  if (store.reading) store.update({ visible: store.reading.visible(store) });
});
store.on(["visible"], () => {
  if (!store.reading) return view.empty();
  if (view.reading?.text === store.reading.text && store.same) {
    view.reading = store.reading;
    view.filter(store.visible);
  } else view.show(store.reading, store.visible);
  if (store.chosen && !store.visible.includes(store.chosen)) store.update({ chosen: null });
  else view.mark(store.chosen, { scroll: false, spoken: false });
});
store.on(["chosen"], () => view.mark(store.chosen, { scroll: store.view === "text" }));
store.on(["view", "reading", "documents", "curation", "visible", "comparison", "tags", "failed"], heading);

/** The line above the text: what it is, and what can be done with it. */
function heading() {
  const { reading, visible, comparison, documents, current, curation } = store;
  const entry = documents[current];
  if (!entry) return;
  if (!reading) return place("heading").replaceChildren(...state(entry, () => curator.load(entry)));
  const both = matchMedia("(min-width: 112rem)").matches;
  const shows = store.view === "versions" && !entry.review ? "text" : store.view;
  const beside = shows === "versions" ? "versions" : "table";
  for (const each of ["text", "table", "versions"]) place(each).hidden = shows !== each && !(both && ["text", beside].includes(each));
  place("reader").classList.toggle("both", both);
  place("text").classList.toggle("no-tags", !store.tags);
  const shown =
    visible.length === reading.mentions.length
      ? counted(visible.length, "mention")
      : `${visible.length.toLocaleString("en")} of ${counted(reading.mentions.length, "mention")}`;
  const toggle = (words, on, does, more = {}) =>
    button(words, does, { class: "button tiny", "aria-pressed": String(on), "data-keep": words, ...more });
  const held = place("heading").contains(document.activeElement) && document.activeElement.getAttribute("data-keep");
  const line = [
    el("h2", {}, name(titleOf(entry)), el("span", { class: "soft small" }, ` ${shown}`)),
    el(
      "div",
      { class: "row" },
      !both && toggle("Text", shows === "text", () => store.update({ view: "text" })),
      !both && toggle("Table", shows === "table", () => store.update({ view: "table" })),
      curation?.on && curation.project && entry.base && toggle("Versions", shows === "versions", () => curator.review()),
      toggle("Labels", store.tags, () => store.update({ tags: !store.tags })),
      documents.length > 1 &&
        button("‹", () => turn(-1), { class: "button tiny", "aria-label": "Previous document", "data-keep": "‹" }),
      documents.length > 1 &&
        button("›", () => turn(1), { class: "button tiny", "aria-label": "Next document", "data-keep": "›" }),
    ),
    entry.problem && el("p", { class: "notice bad", text: entry.problem.detail ?? entry.problem.title ?? "" }),
    comparison &&
      el(
        "p",
        { class: "notice" },
        name(agreement(comparison)),
        " ",
        button("End the comparison", () => store.update({ comparison: null }), { class: "button tiny" }),
      ),
    curation?.on && entry.steps && progress(entry, store, curator),
  ];
  const searching = document.activeElement === search.input;
  place("heading").replaceChildren(...line.filter(Boolean), search.root);
  if (searching) search.input.focus();
  else if (held) place("heading").querySelector(`[data-keep="${held}"]`)?.focus();
}

/** The dialog of names, which begins with the chosen mention or the selected words. */
const names = () => showNames(store, curator, (store.chosen?.words ?? getSelection()?.toString() ?? "").trim().slice(0, 200));

/** The bar at the top. */
const pipelines = el("select", {
  "aria-label": "Pipeline",
  id: "pipelines",
  on: { change: () => store.update({ pipeline: pipelines.value }) },
});
const imports = el("input", {
  type: "file",
  hidden: true,
  "aria-label": "File with decisions",
  on: {
    change: async () => {
      try {
        const who = await curator.who();
        if (!who) return;
        const told = await service.curation.import(imports.files[0], who);
        const notes = told.notes.length ? ` ${told.notes.join("; ")}.` : "";
        say(`${counted(told.documents, "document")} and ${counted(told.decisions, "decision")} taken.${notes}`, 12);
      } catch (error) {
        say(error.message, 12);
      } finally {
        imports.value = "";
      }
    },
  },
});
function tools() {
  const { documents, curation, current } = store;
  const open = current >= 0 && documents.length > 0;
  pipelines.replaceChildren(
    ...store.pipelines.map((one) =>
      el("option", { value: one.name, text: one.name, selected: one.name === store.pipeline }),
    ),
  );
  pipelines.hidden = store.pipelines.length < 2;
  place("tools").replaceChildren(
    ...[
      pipelines,
      curation && waiting(curator.saving.queue),
      open && button("New text", anew, { class: "button tiny" }),
      open && button("Compare", () => compare(store), { class: "button tiny", id: "compare" }),
      open &&
        button("Export", () => exporting(store, curator).catch((error) => say(error.message, 12)), {
          class: "button tiny",
          id: "export",
        }),
      curation &&
        open &&
        button("Curate", () => curator.toggle(), {
          class: "button tiny",
          id: "curate",
          "aria-pressed": String(Boolean(curation.on)),
        }),
      curation?.project && curation.role !== "curator" &&
        button("Agreement", () => showAgreement().catch((error) => say(error.message, 12)), { class: "button tiny", id: "agreement" }),
      curation && !open && button("Continue curation", () => curator.resume(), { class: "button tiny", id: "resume" }),
      curation && !open && button("Import decisions", () => imports.click(), { class: "button tiny" }),
      imports,
      button("Names", names, { class: "button tiny", id: "names" }),
      button("Theme", () => say(`Theme: ${nextTheme()}.`), { class: "button quiet tiny", id: "theme" }),
      button("Keys", () => help(table), { class: "button quiet tiny", id: "help" }),
    ].filter(Boolean),
  );
}
store.on(["pipelines", "documents", "current", "curation", "queue"], tools);

const table = keyTable({
  store,
  view,
  panel,
  search,
  curator,
  move,
  turn,
  anew,
  versions,
  tools: {
    compare: () => compare(store),
    exporting: () => exporting(store, curator).catch((error) => say(error.message, 12)),
    copy: () => copy(store),
    theme: () => say(`Theme: ${nextTheme()}.`),
    names,
  },
});
table.push({ keys: ["?"], group: "Page", means: "these keys", run: () => help(table) });
const goToAddress = keepAddress(store, curator);
theme();
tools();
place("given").focus();
listen(table);
begin().then(goToAddress);
addEventListener("popstate", goToAddress); // comes with the new address, where hashchange comes later
matchMedia("(min-width: 112rem)").addEventListener("change", heading);
