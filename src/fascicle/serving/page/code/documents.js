/** The list of documents: searched, filtered, and longer as one scrolls. */

import { missing } from "./decisions.js";
import { button, counted, el, name } from "./dom.js";
import { titleOf } from "./reading.js";

const MOST = 2000; // rows; the keys and the search reach the rest
const PAUSE = 250; // milliseconds without a key, after which the service is asked
const SHOWN = [
  ["all", "All documents"],
  ["open", "Open"],
  ["mine", "Mine"],
  ["flagged", "Flagged"],
  ["disagreement", "Disagreement"],
];
const ORDERS = [
  ["added", "As they were added"],
  ["uncertainty", "Least sure first"],
];

/** @param {HTMLElement} root @param {any} store @param {import("./curator.js").Curator} curator */
export function documentList(root, store, curator) {
  const words = el("input", { type: "search", placeholder: "Find a document", "aria-label": "Find a document", id: "find" });
  const [show, order] = [select("Which documents", "show", SHOWN), select("Order of documents", "order", ORDERS)];
  const head = el("summary", { class: "minor", "aria-live": "polite" });
  const list = el("div", { class: "doc-list", role: "group", "aria-label": "Documents" });
  const more = button("More", () => curator.more(), { class: "button tiny", id: "more" });
  const all = el(
    "details",
    { class: "documents", open: matchMedia("(min-width: 46rem)").matches },
    head,
    el("div", { class: "row" }, words, show, order),
    list,
    more,
  );
  root.replaceChildren(all);

  let waits = 0;
  words.addEventListener("input", () => {
    clearTimeout(waits);
    if (store.listing) waits = setTimeout(ask, PAUSE);
    else draw();
  });
  show.addEventListener("change", () => curator.find({ show: show.value }));
  order.addEventListener("change", () => curator.find({ order: order.value }));
  list.addEventListener("scroll", () => {
    if (list.scrollTop + list.clientHeight > list.scrollHeight - 200) curator.more();
  });
  store.on(["documents", "current", "curation", "listing"], draw);

  function ask() {
    waits = 0;
    if (store.listing) curator.find({ q: words.value.trim() });
  }

  function draw() {
    const { documents, current, listing } = store;
    root.hidden = documents.length < 2 && !listing;
    show.hidden = order.hidden = !listing;
    more.hidden = !listing?.next;
    if (root.hidden) return;
    if (listing) {
      [show.value, order.value] = [listing.show, listing.order];
      if (document.activeElement !== words && !waits) words.value = listing.q;
    }
    const wanted = listing ? "" : words.value.trim().toLowerCase();
    const found = documents.map((entry, number) => ({ entry, number })).filter(({ entry }) => titleOf(entry).toLowerCase().includes(wanted));
    head.textContent = counted(listing?.total ?? found.length, "document");
    const held = list.contains(document.activeElement);
    const rows = found.slice(0, MOST).map(({ entry, number }) => row(entry, number === current, () => (curator.renew(entry), store.update({ current: number }))));
    const top = list.scrollTop;
    list.replaceChildren(...rows);
    list.scrollTop = top;
    const now = rows.find((one) => one.getAttribute("aria-current") === "true");
    if (held) now?.focus({ preventScroll: true });
    if (now && now !== list.now) reveal(list, now);
    list.now = now;
  }
}

/** Scrolls a list to a row that is not in sight. @param {HTMLElement} list @param {HTMLElement} row */
function reveal(list, row) {
  const top = row.offsetTop - list.offsetTop;
  if (top < list.scrollTop || top + row.offsetHeight > list.scrollTop + list.clientHeight) list.scrollTop = top - list.clientHeight / 2;
}

/** @param {any} entry @param {boolean} current @param {() => void} click */
const row = (entry, current, click) =>
  el(
    "button",
    { type: "button", class: `doc ${entry.status === "done" ? "" : "failed"}`, "aria-current": current, on: { click } },
    el("span", {}, name(titleOf(entry))),
    el("span", { text: told(entry) }),
  );

/** @param {any} entry */
function told(entry) {
  if (entry.status !== "done") return entry.status.replace("_", " ");
  const marks = [entry.flagged && "⚑", entry.disputed > 0 && `${entry.disputed} ≠`, entry.pending?.length > 0 && "…"].filter(Boolean);
  const state = entry.finished || entry.settled
    ? "✓ finished"
    : entry.skipped
      ? "skipped"
      : entry.undecided === undefined
        ? entry.away
          ? ""
          : (entry.native.mentions ?? []).length.toLocaleString("en")
        : open(entry);
  return [...marks, state].join(" ");
}

/** What is to be done in a document; a reviewer has nothing to do before its curators. @param {any} entry */
function open({ review, waiting, undecided }) {
  const waits = review ? missing(review).length : waiting;
  return [(undecided || !waits) && `${undecided} open`, waits && `waits for ${counted(waits, "curator")}`].filter(Boolean).join(", ");
}

/** @param {string} label @param {string} id @param {string[][]} options */
const select = (label, id, options) =>
  el("select", { "aria-label": label, id }, ...options.map(([value, text]) => el("option", { value, text })));
