/** A folder of texts on which rows of curation are tried: the service reads its files once, as a job. */

import { button, counted, el } from "./dom.js";
import { Refused, service } from "./service.js";
import { zip } from "./zip.js";

const PAUSE = 300; // milliseconds between two questions how far a job is
const MOST = 10_000; // files

/** @typedef {{id: string, label: string, count: number, problems: string[], unread: number}} Folder */

/** Files that the user chooses, or a whole folder of them. @param {(files: File[]) => void} take */
export function chooseFiles(take) {
  const input = (more, label) => {
    const field = el("input", { type: "file", multiple: true, hidden: true, "aria-label": label, ...more, on: { change: () => field.files.length && take([...field.files]) } });
    return field;
  };
  const files = input({}, "Files to try names on");
  const folder = input({ webkitdirectory: true }, "Folder to try names on");
  const drop = el(
    "div",
    { class: "group", id: "names-drop" },
    el("p", { text: "Choose up to 10,000 texts, in any format that Fascicle reads, or a zip of them. Or drop files here." }),
    el(
      "div",
      { class: "row" },
      button("Choose a folder…", () => folder.click(), { class: "button first", id: "names-choose-folder" }),
      button("Choose files…", () => files.click(), { id: "names-choose-files" }),
      files,
      folder,
    ),
  );
  drop.addEventListener("dragover", (event) => event.preventDefault());
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    event.stopPropagation();
    if (event.dataTransfer.files.length) take([...event.dataTransfer.files]);
  });
  return drop;
}

/** Jobs that are followed until they end; `stop` cancels the present one. */
export class Trial {
  /** @param {(sentence: string) => void} watch */
  constructor(watch) {
    this.watch = watch;
    this.job = "";
    this.stopped = false;
  }

  /** Sends files, which the service reads. @param {File[]} files @param {string} pipeline @returns {Promise<Folder>} */
  async read(files, pipeline) {
    if (files.length > MOST) throw new Error(`These are ${counted(files.length, "file")}, and 10,000 are allowed; choose fewer.`);
    const [first] = files;
    const top = first.webkitRelativePath.split("/")[0];
    this.watch(`Sending ${counted(files.length, "file")} …`);
    const content = files.length === 1 ? first : await zip(files);
    const sent = await service.jobs.send(content, { name: files.length === 1 ? first.name : "files.zip", texts: true, pipeline });
    const ended = await this.follow(sent, (now) => `${counted(now.documents, "text")} read …`);
    const problems = Object.keys(ended.reasons).map((sentence) => sentence.split("; ")[0]); // the rest is for commands
    const count = ended.documents - ended.quarantined;
    return { id: sent.id, label: top || (files.length === 1 ? first.name : ""), count, problems, unread: ended.quarantined };
  }

  /** Tries rows on the texts of a folder. @param {Folder} folder @param {any} content @param {string} pipeline */
  async names({ id }, content, pipeline) {
    this.watch("Trying …");
    const job = await service.jobs.names(id, content, pipeline);
    await this.follow(job, (now) => `Tried on ${now.documents.toLocaleString("en")} of ${counted(now.of, "text")} …`);
    const answer = await service.jobs.result(job.id);
    service.jobs.remove(job.id).catch(() => {}); // so that the texts are not the oldest job
    return answer;
  }

  /** @param {any} job @param {(now: any) => string} words */
  async follow(job, words) {
    this.job = job.id;
    if (this.stopped) this.cancel();
    for (;;) {
      if (this.stopped) throw new Error("Nothing was tried.");
      const now = await service.jobs.about(job.id);
      if (["done", "failed", "cancelled"].includes(now.status)) this.job = "";
      if (now.status === "done") return now;
      if (now.status === "cancelled") throw new Error("The job was cancelled.");
      if (now.status === "failed") throw new Error(`${now.problem[0].toUpperCase()}${now.problem.slice(1)}.`);
      if (now.status === "waiting") this.watch("Waiting until the service has done other jobs …");
      if (now.status === "running") this.watch(words(now));
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
    }
  }

  stop() {
    if (this.stopped) return;
    this.stopped = true;
    this.cancel();
  }

  cancel() {
    if (this.job) service.jobs.remove(this.job).catch(() => {}); // it may have ended just now
  }
}

/** Removes the texts from the service when the page is left. @param {any} store */
export function removeWhenLeft(store) {
  addEventListener("pagehide", () => {
    for (const id of [store.folder?.id, store.trial?.job]) if (id) service.jobs.remove(id, true).catch(() => {});
  });
}

/** Whether the service has the texts no more. @param {any} error */
export const isGone = (error) => error instanceof Refused && (error.status === 404 || error.status === 409);
