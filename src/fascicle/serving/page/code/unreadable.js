/** Files that could not be read: why, and a second try with a format, a column or an encoding. The others wait. */

import { button, counted, dialog, el, name } from "./dom.js";
import { service } from "./service.js";

const ENCODINGS = ["utf-8", "windows-1252", "iso-8859-1", "iso-8859-15", "utf-16", "windows-1251", "shift_jis", "gb18030", "big5", "euc-kr"];

/** Whether the service refused a file, and does answer otherwise. @param {any} error */
export const isOfFile = ({ status }) => status >= 400 && status < 500 && status !== 401;

/** What the service says, in words of this page. @param {string} sentence */
const inWords = (sentence) =>
  sentence
    .replace(/; a TSV of predictions begins.*/, "")
    .replace(/read it with format=table and column=(.*?);/, "choose the format table and its column, such as $1;")
    .replace(/name (it|the file) with format=NAME, one of .*/, "choose its format below")
    .replace(/name the one with column=(.*)/, "choose one of them, such as $1")
    .replace("column=NAME is for", "a column can be named in")
    .replace("give its encoding with encoding=NAME", "choose its encoding below");

/**
 * @param {{file: File, sentence: string}[]} refused
 * @param {number} others documents of other files, which are opened when the dialog is closed
 * @returns {Promise<{documents: any[], notes: string[], problems: string[]}>} of files that were read after all
 */
export async function readAgain(refused, others) {
  const formats = (await service.formats()).filter((one) => one.reads);
  const documents = [];
  const notes = [];
  const problems = [];
  return new Promise((resolve) => {
    const go = button("", () => box.close(), { class: "button first", id: "unreadable-go" });
    const label = () => {
      const count = others + documents.length;
      go.textContent = count ? `Open ${counted(count, "document")}` : "Close";
    };
    const take = (told) => {
      documents.push(...told.documents);
      notes.push(...told.notes);
      problems.push(...told.problems);
      label();
    };
    label();
    const parts = refused.map((one, number) => part(one, number, formats, take));
    const box = dialog(`${counted(refused.length, "file")} could not be read`, ...parts, el("div", { class: "row" }, go));
    box.addEventListener("close", () => resolve({ documents, notes, problems }));
    go.focus();
  });
}

/** @param {{file: File, sentence: string}} refused @param {number} number @param {any[]} formats @param {(told: {documents: any[], notes: string[], problems: string[]}) => void} take */
function part({ file, sentence }, number, formats, take) {
  const format = select("Format", [["", "as the file says"], ...formats.map((one) => [one.name, `${one.name}: ${one.means}`])]);
  const column = el("input", { type: "text", autocomplete: "off", value: /column=(.*?)(;|$)/.exec(sentence)?.[1] ?? "" });
  const encoding = select("Encoding", [["", "as the file says"], ...ENCODINGS.map((one) => [one, one])]);
  if (column.value) format.value = "table";
  const said = el("p", { class: "notice bad", role: "status" }, name(inWords(sentence)));
  const fields = [
    ["Format", format],
    ["Column with the texts", column],
    ["Encoding", encoding],
  ].map(([words, field]) => el("label", { class: "field" }, el("span", { text: words }), field));
  const form = el(
    "form",
    { class: "row", on: { submit: send } },
    ...fields,
    el("button", { class: "button", type: "submit", text: "Read again" }),
  );
  return el("section", { class: "group unreadable", "aria-label": file.name, id: `unreadable-${number}` }, el("h3", {}, name(file.name)), said, form);

  /** @param {Event} event */
  async function send(event) {
    event.preventDefault();
    try {
      const told = await service.read(file, { format: format.value, column: column.value.trim(), encoding: encoding.value });
      take(told);
      form.remove();
      said.className = "notice";
      const lost = told.problems.length ? ` ${told.problems.length} not readable: ${inWords(told.problems[0])}` : "";
      said.textContent = `${counted(told.documents.length, "document")} read.${lost}`;
    } catch (error) {
      said.replaceChildren(name(inWords(error.message)));
    }
  }
}

/** @param {string} label @param {string[][]} options */
const select = (label, options) => el("select", { "aria-label": label }, ...options.map(([value, text]) => el("option", { value, text })));
