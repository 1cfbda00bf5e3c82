/** Documents as files, and mentions on the clipboard. */

import { button, counted, dialog, download, el, safeCell, say } from "./dom.js";
import { readingOf, titleOf } from "./reading.js";
import { service } from "./service.js";

/** @typedef {import("./reading.js").Shown} Shown */

const MOST = 1000; // documents of which is said how far they are

/** @param {any} store @param {import("./curator.js").Curator} curator loads what is away, and saves what waits */
export async function exporting(store, curator) {
  await curator.waits;
  const formats = (await service.formats()).filter((one) => one.writes && one.suffix);
  const format = select(
    "export-format",
    formats.map(({ name, means }) => [name, `${name}: ${means}`]),
  );
  const which = select(
    "export-which",
    store.documents.length > 1
      ? [
          ["all", `All ${store.documents.length} documents`],
          ["this", "This document"],
        ]
      : [["this", "This document"]],
  );
  const shown = el("input", { type: "checkbox", id: "export-shown", checked: true });
  const said = el("div", { class: "loss", role: "status" });
  const save = button("Download", () => write(format.value), { class: "button first", id: "export-save" });
  const curated = store.curation?.on && decisions(said, await service.curation.list({ most: MOST }), store.curation.tables);
  dialog(
    "Export",
    ...(curated ? [...curated, said, el("h3", { text: "What this page shows" })] : []),
    el("label", { class: "field" }, el("span", { text: "Format" }), format),
    el("label", { class: "field" }, el("span", { text: "Documents" }), which),
    el("label", { class: "check" }, shown, "Only mentions that the filters show"),
    el(
      "div",
      { class: "row" },
      save,
      button("Mentions as a spreadsheet", () => write("xlsx"), { id: "export-mentions" }),
      button("Copy the table of mentions", () => copy(store)),
    ),
    curated ? "" : said,
  );
  (curated ? curated.at(-1).firstChild : format).focus();

  /** @param {string} kind */
  async function write(kind) {
    save.disabled = true;
    try {
      const entries = which.value === "all" ? store.documents : [store.documents[store.current]];
      for (const entry of entries) await fetched(entry, curator);
      const documents = chosen(store, entries, shown.checked);
      const { blob, lost, name } = await service.write(kind, documents);
      download(name || "documents", blob);
      tell(said, documents.length, lost);
    } catch (error) {
      said.replaceChildren(el("p", { class: "notice bad", text: error.message }));
    }
    save.disabled = false;
  }
}

/** @param {HTMLElement} said @param {{documents: any[], total: number}} listed of the file of decisions, with how far each is @param {string[]} tables formats that the service can write */
function decisions(said, { documents, total }, tables) {
  const kind = select("export-curated", [
    ["gold:jsonl", "Gold for training: Fascicle"],
    ["gold:brat", "Gold for training: brat (zip)"],
    ["gold:conll", "Gold for training: CoNLL"],
    ["decisions:csv", "Every decision: CSV"],
    ["rules:tsv", "Rules for term packs (TSV)"],
    ["tasks:label-studio", "Label Studio tasks, with what the models said"],
  ]);
  const told = el("p", { class: "small", id: "export-state", text: state(documents, total) });
  const taken = () => documents.filter((one) => one.finished || !finished.checked);
  const finished = el("input", {
    type: "checkbox",
    id: "export-finished",
    on: { change: () => (told.textContent = state(taken(), finished.checked ? taken().length : total)) },
  });
  const write = async (chosen) => {
    const [what, format] = chosen.split(":");
    try {
      const { blob, name, lost } = await service.curation.export({
        what,
        format: ["gold", "decisions"].includes(what) ? format : "",
        finished: finished.checked ? "true" : "",
      });
      download(name || "curation", blob);
      tell(said, finished.checked ? taken().length : total, lost);
    } catch (error) {
      said.replaceChildren(el("p", { class: "notice bad", text: error.message }));
    }
  };
  const save = button("Download decisions", () => write(kind.value), { id: "export-decisions", class: "button first" });
  const sheet = button("Every decision as a spreadsheet", () => write(tables.includes("xlsx") ? "decisions:xlsx" : "decisions:csv"), { id: "export-sheet" });
  return [
    el("h3", { text: "What curators decided" }),
    told,
    el("label", { class: "field" }, el("span", { text: "As" }), kind),
    el("label", { class: "check" }, finished, "Only finished documents"),
    el("div", { class: "row" }, save, sheet),
  ];
}

/** What is in the file of decisions, and what is missing to gold. @param {any[]} documents @param {number} total of which they are the first */
function state(documents, total) {
  const sum = (field) => documents.reduce((all, one) => all + Number(one[field]), 0);
  const [open, waits] = [sum("undecided"), documents.filter((one) => one.waiting).length];
  return (
    `${counted(total, "document")} of this service, ${sum("finished").toLocaleString("en")} finished${total > documents.length ? ` of the first ${documents.length}` : ""}. ` +
    (waits ? `${counted(waits, "document")} wait${waits === 1 ? "s" : ""} for curators. ` : "") +
    (open ? `${counted(open, "mention")} that nobody decided about will not be gold.` : waits ? "" : "Every mention of them is decided.")
  );
}

/** @param {string} id @param {string[][]} options */
const select = (id, options) =>
  el("select", { id }, ...options.map(([value, title]) => el("option", { value, text: title })));

/** Fetches a document that is not here; without its text it is not saved. @param {any} entry @param {import("./curator.js").Curator} curator */
async function fetched(entry, curator) {
  await curator.load(entry);
  if (entry.away) throw new Error(`“${titleOf(entry)}” could not be fetched, so nothing was saved: ${entry.failed}`);
}

/** Documents with the mentions that are asked for. @param {any} store @param {any[]} entries @param {boolean} filtered */
function chosen(store, entries, filtered) {
  return entries
    .filter((entry) => entry.status === "done")
    .map((entry) => {
      const reading = readingOf(entry);
      const mentions = filtered ? reading.visible(store) : reading.mentions;
      return {
        ...entry.native,
        mentions: unique(mentions.filter((shown) => shown.verdict !== "rejected").map((shown) => shown.mention)),
      };
    });
}

/** Mentions of which no two are the same to the service. @param {import("./types.js").Mention[]} mentions */
const unique = (mentions) => [
  ...new Map(mentions.map((one) => [JSON.stringify([one.source, one.type, one.spans]), one])).values(),
];

/** @param {HTMLElement} said @param {number} count @param {string} lost */
function tell(said, count, lost) {
  said.replaceChildren(
    el("p", { text: `${counted(count, "document")} saved.` }),
    lost ? el("p", { class: "notice", text: `Not in this file: ${lost}` }) : "",
  );
}

/** Puts the shown mentions on the clipboard, as a table that spreadsheets take. @param {any} store */
export async function copy(store) {
  const plain = (value) => safeCell(String(value ?? "").replace(/[\t\r\n]+/g, " "));
  const rows = [["mention", "type", "score", "source", "start", "end", "identifier", "name"]];
  for (const shown of store.visible)
    rows.push(
      [
        shown.words,
        shown.type,
        shown.score,
        shown.source,
        shown.mention.spans[0][0],
        shown.mention.spans.at(-1)[1],
        shown.concept,
        shown.concepts,
      ].map(plain),
    );
  const table = rows.map((row) => row.join("\t")).join("\n");
  try {
    await navigator.clipboard.writeText(table);
    say(`${counted(rows.length - 1, "mention")} copied.`);
  } catch {
    download("mentions.tsv", new Blob([table], { type: "text/tab-separated-values" }));
    say("The browser does not let this page copy; the table was saved as a file.");
  }
}
