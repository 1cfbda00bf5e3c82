/** What each key does. */

/** @param {any} parts @returns {import("./keys.js").Key[]} */
export function keyTable({ store, view, panel, search, curator, move, turn, anew, versions, tools }) {
  const open = () => Boolean(store.reading) && store.current >= 0;
  const curating = () => open() && curator.on && !store.marking; // a range that is marked has keys of its own
  const read = (keys, means, run) => ({ keys, means, run, group: "Read", when: open });
  const page = (keys, means, run, when = () => true) => ({ keys, means, run, group: "Page", when, once: true });
  const decide = (keys, means, run) => ({ keys, means, run, group: "Curate", when: curating, once: true });
  const chosen = (does) => () => does.call(curator, store.chosen);
  return [
    read(["n", "ArrowRight"], "next mention", () => move(1)),
    read(["p", "ArrowLeft"], "previous mention", () => move(-1)),
    read(["Enter"], "panel of the chosen mention", () => openPanel(store, panel, move)),
    read(["Escape"], "back to the text", () => back(store, view)),
    read(["]"], "next document", () => turn(1)),
    read(["["], "previous document", () => turn(-1)),
    read(["v"], "text or table", () => store.update({ view: store.view === "table" ? "text" : "table" })),
    read(["b"], "labels behind mentions", () => store.update({ tags: !store.tags })),
    read(["+", "="], "more confidence", () => store.update({ least: Math.min(1, store.least + 0.05) })),
    read(["-"], "less confidence", () => store.update({ least: Math.max(0, store.least - 0.05) })),
    read(["w"], "candidates, and why", () => why(store)),
    read(["d"], "next difference of a comparison", () => move(1, (shown) => shown.side && shown.side !== "both")),
    read(["Shift+D"], "previous difference", () => move(-1, (shown) => shown.side && shown.side !== "both")),
    page(["/"], "search", () => search.input.focus(), open),
    page(["m"], "compare with another pipeline or layer", tools.compare, open),
    page(["e"], "export", tools.exporting, open),
    page(["y"], "copy the table of mentions", tools.copy, open),
    page(["o"], "another text", anew, open),
    page(
      ["k"],
      "curate, or stop it",
      () => curator.toggle(),
      open,
    ),
    page(["Shift+N"], "names of the term pack: why one is found, and what a row changes", tools.names),
    page(["h"], "light, dark, or as the system", tools.theme),
    decide(["a"], "accept", chosen(curator.accept)),
    decide(["x"], "reject", chosen(curator.reject)),
    decide(["t"], "another type", chosen(curator.retype)),
    decide(["c"], "another concept", chosen(curator.relink)),
    decide(["s"], "another span", chosen(curator.respan)),
    decide(["i"], "new mention, of the selected words or the next word", () => store.update({ marking: "new" })),
    decide(["u"], "the mention that is least sure", () => store.update({ chosen: curator.doubtful(), panel: true })),
    decide(["j"], "next mention that is not decided", () => curator.next()),
    decide(["z", "Ctrl+z"], "undo", () => curator.undo()),
    decide(["Shift+Z", "Ctrl+Shift+Z", "Ctrl+y"], "do again", () => curator.redo()),
    decide(["Shift+A"], "accept all that is shown", () => curator.acceptRest()),
    decide(["g"], "document finished, and on to the next one; or open again", () => curator.finish()),
    decide(["r"], "versions of curators side by side, in a project", () => curator.review()),
    {
      ...decide(["1", "2", "3", "4", "5", "6", "7", "8", "9"], "what this curator says of the place, beside versions", (event) => versions.take(Number(event.key) - 1)),
      when: () => curating() && store.view === "versions",
    },
    decide(["f"], "flag the mention", chosen(curator.flag)),
    decide(["l"], "note on the mention", chosen(curator.note)),
    decide(["Shift+F"], "flag the document", () => curator.flag(null)),
    decide(["Shift+L"], "note on the document", () => curator.note(null)),
    decide(["Shift+G"], "skip the document, or take it again", () => curator.skip()),
    decide(["q"], "documents in order, the least sure first", () => curator.leastSure()),
  ];
}

/** @param {any} store @param {any} panel @param {(step: 1) => void} move */
function openPanel(store, panel, move) {
  if (!store.chosen) move(1);
  store.update({ panel: true });
  queueMicrotask(() => queueMicrotask(() => panel.focus()));
}

/** @param {any} store @param {any} view */
function back(store, view) {
  if (document.activeElement !== view.sheet) view.sheet.focus({ preventScroll: true });
  else if (store.panel && store.chosen) store.update({ panel: false });
  else store.update({ chosen: null });
}

/** @param {any} store */
function why(store) {
  store.update({ panel: true });
  queueMicrotask(() => queueMicrotask(() => document.getElementById("why")?.click()));
}
