"use strict";
(() => {
  const form = document.getElementById("filters");
  const contents = document.querySelector("#contents details");
  if (contents && window.matchMedia("(max-width: 70rem)").matches) contents.open = false;
  window.addEventListener("beforeprint", () => { if (contents) contents.open = true; });
  if (!form) return;
  const folded = (words) => words.normalize("NFKC").toLowerCase().replace(/\s+/g, " ");
  const cards = Array.from(document.querySelectorAll(".example"), (card) => {
    const copy = card.cloneNode(true);
    for (const tag of copy.querySelectorAll(".tag, .side")) tag.remove();
    return { card, words: folded(copy.textContent), types: card.dataset.types.split(" ") };
  });
  const groups = Array.from(document.querySelectorAll("#examples .kind, #examples section"));
  const value = (name) => document.getElementById("filter-" + name).value;
  const number = (count) => count.toLocaleString("en");
  const filter = () => {
    const system = value("system"), kind = value("class"), type = value("type"), words = folded(value("words").trim());
    let shown = 0;
    for (const one of cards) {
      const fits = (!system || one.card.dataset.system === system) && (!kind || one.card.dataset.class === kind) &&
        (!type || one.types.includes(type)) && one.words.includes(words);
      one.card.hidden = !fits;
      shown += fits;
    }
    for (const group of groups) group.hidden = !group.querySelector(".example:not([hidden])");
    document.getElementById("shown").textContent = number(shown) + " of " + number(cards.length) + " examples" +
      (shown ? "" : ": none fits all of the filters");
  };
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => window.setTimeout(filter));
  form.hidden = false;
  window.addEventListener("hashchange", () => {
    const target = document.getElementById(decodeURIComponent(window.location.hash.slice(1)));
    if (!target || !target.closest("[hidden]")) return;
    form.reset();
    filter();
    target.scrollIntoView();
  });
})();
