/** The place of a curator in the address of the page: document, mention and filters come back after a reload, and by Back. */

const FILTERS = ["hiddenTypes", "hiddenSources"];
const LISTED = ["q", "show", "order"];

/** What the address says. */
const asked = () => new URLSearchParams(location.hash.slice(1));

/**
 * Keeps the address up to date while documents of the service are curated.
 * @param {any} store
 * @param {import("./curator.js").Curator} curator
 * @returns {() => Promise<void>} goes to where the address says; until it is there, the address stays as it is
 */
export function keepAddress(store, curator) {
  let ours = false;
  let going = 0;
  const keep = () => {
    const entry = store.curation?.on && store.documents[store.current];
    if (going || (!entry && !ours)) return;
    const same = asked().get("document") === entry?.id;
    if (entry?.away && same) return; // what the address says of it is not shown yet
    const hash = entry ? `#${said(entry, store)}` : "";
    if (hash !== location.hash) history[ours && entry && !same ? "pushState" : "replaceState"](null, "", hash || location.pathname + location.search);
    ours = Boolean(entry);
  };
  store.on(["current", "documents", "chosen", "curation", "least", "listing", ...FILTERS], keep);
  return async () => {
    going += 1;
    try {
      await restore(store, curator);
      store.settle();
    } finally {
      going -= 1;
      keep();
    }
  };
}

/** @param {any} entry @param {any} store */
function said(entry, store) {
  const made = new URLSearchParams({ document: entry.id });
  if (store.chosen?.item) made.set("mention", store.chosen.item);
  if (store.least) made.set("least", String(store.least));
  for (const name of FILTERS) for (const one of store[name]) made.append(name, one);
  for (const name of LISTED) if (store.listing?.[name]) made.set(name, store.listing[name]);
  return made;
}

/** Goes to where the address says, if it names a document. @param {any} store @param {import("./curator.js").Curator} curator */
async function restore(store, curator) {
  const wanted = asked();
  const id = wanted.get("document");
  if (!id || !store.curation) return;
  const listed = Object.fromEntries(LISTED.filter((name) => wanted.has(name)).map((name) => [name, wanted.get(name)]));
  const place = () => store.documents.findIndex((entry) => entry.id === id);
  if (place() < 0 || LISTED.some((name) => listed[name] && store.listing?.[name] !== listed[name])) await curator.resume(listed, id);
  const entry = store.documents[place()];
  if (!entry) return;
  const filters = Object.fromEntries(FILTERS.map((name) => [name, new Set(wanted.getAll(name))]));
  const least = Number(wanted.get("least"));
  store.update({ current: place(), chosen: null, ...filters, least: least > 0 && least <= 1 ? least : 0 });
  await curator.load(entry);
  store.settle();
  const chosen = store.visible.find((shown) => shown.item === wanted.get("mention"));
  if (chosen) store.update({ chosen });
}
