/** Elements. Every string becomes a text node or a plain attribute; nothing is ever parsed as HTML. */

const REFUSED = /^(on|style$|srcdoc$|href$|src$|action$|formaction$)/i;

/**
 * Makes an element.
 * @param {string} name
 * @param {Record<string, unknown>} [properties] `on`: listeners; `text`: its text; `value`, `checked` and the like are
 *   set as properties; all else are attributes (`true`: without a value; `false`, `null`, `undefined`: none).
 * @param {...(Node | string | null | undefined | false)} children
 * @returns {any}
 */
export function el(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) set(made, key, value);
  for (const child of children) if (child !== null && child !== undefined && child !== false) made.append(child);
  return made;
}

const PROPERTIES = new Set(["value", "checked", "disabled", "hidden", "open", "tabIndex", "selected"]);

/** @param {any} made @param {string} key @param {unknown} value */
function set(made, key, value) {
  if (key === "on") for (const [event, listener] of Object.entries(value)) made.addEventListener(event, listener);
  else if (key === "text") made.textContent = value;
  else if (PROPERTIES.has(key)) made[key] = value;
  else if (key.startsWith("aria-") && typeof value === "boolean") made.setAttribute(key, String(value));
  else if (REFUSED.test(key)) throw new Error(`the attribute ${key} may not be set here`);
  else if (value !== false && value !== null && value !== undefined)
    made.setAttribute(key, value === true ? "" : String(value));
}

/** A name of others: whatever its direction, it leaves the text around it as it is. @param {string} text @param {string} [kind] */
export const name = (text, kind = "") => el("bdi", { class: kind || null, text });

/**
 * A link to the web, if the address is one; else its words.
 * @param {string} address
 * @param {string} words
 */
export function webLink(address, words) {
  let url;
  try {
    url = new URL(address);
  } catch {
    return name(words);
  }
  if (url.protocol !== "https:" && url.protocol !== "http:") return name(words);
  const made = el("a", { target: "_blank", rel: "noopener noreferrer" }, name(words));
  made.href = url.href;
  return made;
}

/** @param {string} words @param {() => void} click @param {Record<string, unknown>} [more] */
export const button = (words, click, more = {}) =>
  el("button", { type: "button", class: "button", ...more, on: { click } }, words);

/**
 * A dialog that closes by Escape and its button, and is gone afterwards.
 * @param {string} title
 * @param {...(Node | string)} children
 * @returns {HTMLDialogElement}
 */
export function dialog(title, ...children) {
  const made = el("dialog", { "aria-label": title });
  const head = el(
    "div",
    { class: "dialog-head" },
    el("h2", { text: title }),
    button("Close", () => made.close(), { class: "button quiet" }),
  );
  made.append(el("div", { class: "dialog" }, head, ...children));
  made.addEventListener("close", () => made.remove());
  document.body.append(made);
  made.showModal();
  return made;
}

let fading = 0;

/** Shows a sentence at the foot of the page, which is also read out. @param {string} sentence @param {number} [seconds] */
export function say(sentence, seconds = 5) {
  const place = document.getElementById("status");
  if (!place) return;
  place.textContent = sentence;
  clearTimeout(fading);
  if (seconds) fading = setTimeout(() => (place.textContent = ""), seconds * 1000);
}

/** Is read out and not shown. @param {string} sentence */
export function speak(sentence) {
  const place = document.getElementById("spoken");
  if (place) place.textContent = sentence;
}

/** A text for a cell of a table that is for people: no spreadsheet takes it for a formula. @param {string} text */
export const safeCell = (text) => (/^\s*'*[=+\-@]/.test(text) ? `'${text}` : text);

/** @param {string} file @param {Blob} blob */
export function download(file, blob) {
  const made = document.createElement("a");
  made.href = URL.createObjectURL(blob);
  made.download = file;
  made.click();
  setTimeout(() => URL.revokeObjectURL(made.href), 60_000);
}

/** @param {number} count @param {string} one @param {string} [many] */
export const counted = (count, one, many = `${one}s`) => `${count.toLocaleString("en")} ${count === 1 ? one : many}`;

/** @param {number | null | undefined} value */
export const percent = (value) => (value === null || value === undefined ? "–" : value.toFixed(3));
