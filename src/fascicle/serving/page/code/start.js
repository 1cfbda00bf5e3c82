/** The first screen: a text, files, or an example. */

import { button, el, name, say, counted } from "./dom.js";
import { nameOf, wellFormed } from "./offsets.js";
import { service } from "./service.js";
import { isOfFile, readAgain } from "./unreadable.js";

const EXAMPLES = 6;
const NOTES = 6; // of files that were read with repairs and losses

/**
 * @param {HTMLElement} root
 * @param {any} store
 * @param {{annotate: (documents: {id?: string, text: string}[], said?: string) => Promise<void>, open: (documents: any[]) => void, failed: (error: any) => Promise<void>}} does
 */
export function start(root, store, does) {
  const text = el("textarea", {
    id: "given",
    placeholder: "Paste a text, or drop files here",
    "aria-label": "Text to annotate",
    spellcheck: "false",
    on: { keydown: send },
  });
  const files = el("input", {
    type: "file",
    multiple: true,
    hidden: true,
    "aria-label": "Files to annotate",
    on: { change: () => take(files.files) },
  });
  const go = button("Annotate", annotate, { class: "button first", id: "annotate" });
  const drop = el(
    "div",
    { class: "drop" },
    text,
    el(
      "div",
      { class: "drop-foot" },
      button("Open files…", () => files.click()),
      files,
      el("span", { class: "soft small" }, "Any format that Fascicle reads"),
      go,
    ),
  );
  const examples = el("div", { class: "examples" });
  root.replaceChildren(
    el("p", { class: "start-lead", text: "Find what a text names, and what it means." }),
    drop,
    el("h2", { text: "Examples" }),
    examples,
  );
  store.on(["pipelines", "pipeline"], () => showExamples(examples, store, does));
  for (const place of [root, document.getElementById("reader")]) receive(place, drop, take);

  /** @param {KeyboardEvent} event */
  function send(event) {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) annotate();
  }

  async function annotate() {
    if (!text.value.trim()) {
      say("Give a text first.");
      text.focus();
      return;
    }
    const given = wellFormed(text.value);
    await does.annotate([{ id: nameOf(given), text: given }]);
  }

  /** Reads files; those with mentions are shown as they are, the others are annotated. @param {FileList | File[]} given */
  async function take(given) {
    const found = [];
    const refused = [];
    const notes = []; // what the reader repaired and left out
    const problems = [];
    /** @param {{documents: any[], notes: string[], problems: string[]}} told */
    const add = (told) => {
      found.push(...told.documents);
      notes.push(...told.notes);
      problems.push(...told.problems);
    };
    let fault; // of the service, not of a file
    for (const file of given) {
      say(`Reading ${file.name} …`, 0);
      try {
        add(await service.read(file));
      } catch (error) {
        if (!isOfFile(error)) {
          fault = error;
          break;
        }
        refused.push({ file, sentence: error.message });
      }
    }
    files.value = "";
    try {
      if (refused.length && !fault) {
        say("");
        add(await readAgain(refused, found.length));
      }
    } catch (error) {
      fault = error;
    }
    if (fault) {
      if (found.length) does.open(found);
      return does.failed(fault);
    }
    const more = account([...problems, ...notes]);
    if (!found.length) return say(`The files have no document.${more}`, more ? 30 : 5);
    const said = `${counted(found.length, "document")} read${problems.length ? `, ${problems.length} not readable` : ""}.${more}`;
    say(said, more ? 30 : 5);
    const annotated = found.some((document) => document.mentions?.length);
    if (annotated) does.open(found);
    else await does.annotate(found, more && said);
  }
}

/** The first sentences about files, and how many more there are. @param {string[]} lines */
function account(lines) {
  const more = lines.length > NOTES ? `; and ${lines.length - NOTES} more` : "";
  return lines.length ? ` ${lines.slice(0, NOTES).join("; ")}${more}.` : "";
}

/** @param {HTMLElement} place @param {any} store @param {{annotate: (documents: any[]) => Promise<void>}} does */
function showExamples(place, store, does) {
  const pipeline = store.pipelines.find((one) => one.name === store.pipeline);
  const examples = (pipeline?.examples ?? []).slice(0, EXAMPLES);
  place.previousElementSibling.hidden = !examples.length;
  place.replaceChildren(
    ...examples.map((text) => {
      const title = text.split(/(?<=[.?!])\s/)[0];
      return el(
        "button",
        { type: "button", class: "example", on: { click: () => does.annotate([{ id: nameOf(text), text }]) } },
        el("strong", {}, name(title)),
        el("span", { text: text.slice(title.length).trim() }),
      );
    }),
  );
}

/** Takes files that are dropped. @param {HTMLElement} place @param {HTMLElement} drop @param {(files: FileList) => void} take */
function receive(place, drop, take) {
  place.addEventListener("dragover", (event) => {
    if (!event.dataTransfer.types.includes("Files")) return;
    event.preventDefault();
    drop.classList.add("over");
  });
  place.addEventListener("dragleave", () => drop.classList.remove("over"));
  place.addEventListener("drop", (event) => {
    drop.classList.remove("over");
    if (!event.dataTransfer.files.length) return;
    event.preventDefault();
    take(event.dataTransfer.files);
  });
}
