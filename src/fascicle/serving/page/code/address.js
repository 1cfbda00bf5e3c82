/** The place of a curator in the address of the page: the document, the mention and the filters come back after a reload. */

const FILTERS = ["hiddenTypes", "hiddenSources"];

/** What the address says; empty if it names no document. */
export function readAddress() {
  return new URLSearchParams(location.hash.slice(1));
}

/** Keeps the address up to date while documents of the service are curated. @param {any} store */
export function keepAddress(store) {
  let ours = false;
  store.on(["current", "documents", "chosen", "curation", "least", ...FILTERS], () => {
    const entry = store.curation?.on && store.documents[store.current];
    if (!entry && !ours) return;
    const said = new URLSearchParams();
    if (entry) {
      said.set("document", entry.id);
      if (store.chosen?.item) said.set("mention", store.chosen.item);
      if (store.least) said.set("least", String(store.least));
      for (const name of FILTERS) for (const one of store[name]) said.append(name, one);
    }
    ours = Boolean(entry);
    history.replaceState(null, "", ours ? `#${said}` : location.pathname + location.search);
  });
}

/**
 * Goes back to where the address says.
 * @param {URLSearchParams} said @param {any} store @param {import("./curator.js").Curator} curator
 */
export async function restore(said, store, curator) {
  const id = said.get("document");
  if (!id || !store.curation) return;
  await curator.resume("added");
  const at = store.documents.findIndex((entry) => entry.id === id);
  if (at < 0) return;
  await curator.load(store.documents[at]);
  const filters = Object.fromEntries(FILTERS.map((name) => [name, new Set(said.getAll(name))]));
  const least = Number(said.get("least"));
  store.update({ current: at, chosen: null, ...filters, ...(least > 0 && least <= 1 ? { least } : {}) });
  store.settle();
  const chosen = store.visible.find((shown) => shown.item === said.get("mention"));
  if (chosen) store.update({ chosen });
}
