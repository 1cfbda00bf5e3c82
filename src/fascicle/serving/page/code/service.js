/** The service: one function a route. Addresses are relative to the page, so that it works behind a prefix. */

/** @typedef {import("./types.js").Answer} Answer */
/** @typedef {import("./types.js").Native} Native */

const TOKEN = "fascicle-token";
const BUSY = new Set([429, 503]);
const TRIES = 5;
const LONGEST = 20; // seconds that are waited for a busy service at a time
const TOGETHER = 300_000; // characters that are sent at once, unless one document is longer
const DOCUMENTS = 20;

/** What the service said no to, in one sentence. */
export class Refused extends Error {
  /** @param {number} status @param {string} sentence @param {any} [problem] */
  constructor(status, sentence, problem = {}) {
    super(sentence);
    this.status = status;
    this.problem = problem;
  }
}

/** Asks, and again for some time while the service is too busy. @param {string} path @param {RequestInit & {query?: Record<string, any>}} [request] */
async function ask(path, request = {}) {
  for (let left = TRIES; ; left--) {
    const answer = await once(path, request);
    if (answer.ok) return answer;
    const later = Number(answer.headers.get("Retry-After"));
    if (!BUSY.has(answer.status) || !later || later > LONGEST || !left) throw await refused(answer);
    await new Promise((resolve) => setTimeout(resolve, later * 1000));
  }
}

/** @param {string} path @param {RequestInit & {query?: Record<string, any>}} request */
async function once(path, { query = {}, headers = {}, ...request }) {
  const url = new URL(path, document.baseURI);
  for (const [key, value] of Object.entries(query))
    if (value !== undefined && value !== null && value !== "") url.searchParams.set(key, value);
  const token = sessionStorage.getItem(TOKEN);
  const all = { ...headers, ...(token ? { Authorization: `Bearer ${token}` } : {}) };
  try {
    return await fetch(url, { ...request, headers: all, credentials: "omit", redirect: "error" });
  } catch {
    throw new Refused(0, "The service does not answer. Is it still running?");
  }
}

/** @param {Response} answer */
async function refused(answer) {
  if (answer.status === 401) return new Refused(401, "The token is missing or not valid any more. Reload the page to give another.");
  const problem = await answer.json().catch(() => ({}));
  const sentence = problem.detail || problem.title || `The service answered ${answer.status}.`;
  const later = answer.headers.get("Retry-After");
  return new Refused(answer.status, later ? `${sentence} Try again in ${later} s.` : sentence, problem);
}

/** @param {string} path @param {unknown} body @param {Record<string, any>} [query] */
const post = (path, body, query) =>
  ask(path, { method: "POST", query, headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });

/**
 * Documents in portions that one request may have.
 * @template {{text: string}} T
 * @param {T[]} documents
 * @returns {T[][]}
 */
export function portions(documents) {
  const made = [];
  let size = Infinity;
  for (const document of documents) {
    size += document.text.length;
    if (size > TOGETHER || made.at(-1).length >= DOCUMENTS) {
      made.push([]);
      size = document.text.length;
    }
    made.at(-1).push(document);
  }
  return made;
}

export const service = {
  /** Keeps a token until the tab is closed. @param {string} token */
  useToken(token) {
    sessionStorage.setItem(TOKEN, token);
  },

  get hasToken() {
    return Boolean(sessionStorage.getItem(TOKEN));
  },

  /** @returns {Promise<import("./types.js").Pipeline[]>} */
  async pipelines() {
    const told = await (await ask("v1/pipelines")).json();
    return Array.isArray(told) ? told : told.pipelines;
  },

  /** @param {string} pipeline @param {{id?: string, text: string}[]} documents @returns {Promise<Answer[]>} */
  async annotate(pipeline, documents) {
    return (await (await post("v1/annotate", { documents }, { pipeline })).json()).documents;
  },

  /** The formats that are read and written. */
  async formats() {
    return (await (await ask("v1/formats")).json()).formats;
  },

  /** @param {File} file @param {{format?: string, encoding?: string, column?: string}} [how] @returns {Promise<{documents: Native[], notes: string[], problems: string[]}>} */
  async read(file, how = {}) {
    const answer = await ask("v1/read", {
      method: "POST",
      query: { name: file.name, ...how },
      headers: { "Content-Type": "application/octet-stream" },
      body: file,
    });
    return answer.json();
  },

  /** @param {string} format @param {Native[]} documents */
  async write(format, documents) {
    const answer = await post("v1/write", { documents }, { format });
    return { blob: await answer.blob(), lost: answer.headers.get("Fascicle-Losses") ?? "", name: fileName(answer) };
  },

  /** Candidates of the mentions of a document. @param {string} pipeline @param {Native} document @returns {Promise<any[]>} */
  async why(pipeline, document) {
    return (await (await post("v1/why", document, { pipeline, candidates: 8 })).json()).decisions;
  },

  /** @param {string} curie @param {string} pipeline */
  async concept(curie, pipeline) {
    return (await ask(`v1/concepts/${encodeURIComponent(curie)}`, { query: { pipeline } })).json();
  },

  /** Concepts by a part of a name. @param {string} q @param {string} type empty for any @param {string} pipeline @returns {Promise<any[]>} */
  async concepts(q, type, pipeline) {
    return (await (await ask("v1/concepts", { query: { q, type, pipeline } })).json()).concepts;
  },

  /** What a name is in the pack of a pipeline, and what rows of curation change. @param {string} pipeline @param {any} content */
  async names(pipeline, content) {
    return (await post("v1/names", content, { pipeline })).json();
  },

  /** Files that are worked on in the background. */
  jobs: {
    /** @param {Blob} file @param {Record<string, any>} query */
    async send(file, query) {
      const headers = { "Content-Type": "application/octet-stream" };
      return (await ask("v1/jobs", { method: "POST", query, headers, body: file })).json();
    },
    /** Tries rows of curation on the texts of a job. @param {string} id @param {any} content @param {string} pipeline */
    async names(id, content, pipeline) {
      return (await post(`v1/jobs/${id}/names`, content, { pipeline })).json();
    },
    /** How far a job is. @param {string} id */
    async about(id) {
      return (await ask(`v1/jobs/${id}`)).json();
    },
    /** @param {string} id */
    async result(id) {
      return (await ask(`v1/jobs/${id}/result`)).json();
    },
    /** Cancels a job, or removes one that has ended. @param {string} id @param {boolean} [keepalive] even if the page is closed */
    async remove(id, keepalive = false) {
      await ask(`v1/jobs/${id}`, { method: "DELETE", keepalive });
    },
  },

  curation: {
    /** Whether the service keeps decisions, and of how many documents. */
    async about() {
      return (await ask("v1/curation")).json();
    },
    /** @param {Native[]} documents @param {string} who */
    async add(documents, who) {
      return (await post("v1/curation/documents", { documents, who })).json();
    },
    /** One page of the list. @param {{q?: string, show?: string, order?: string, from?: number, most: number}} query */
    async list(query) {
      return (await ask("v1/curation/documents", { query })).json();
    },
    /** @param {string} id @param {string | null} [version] the own one, if none is given */
    async document(id, version) {
      const reviewed = version === "" ? "?version=" : ""; // the name of the reviewed version is empty
      return (await ask(`v1/curation/document${reviewed}`, { query: { id, version } })).json();
    },
    /** The versions of a document side by side. @param {string} id */
    async review(id) {
      return (await ask("v1/curation/review", { query: { id } })).json();
    },
    /** How curators agree. */
    async agreement() {
      return (await ask("v1/curation/agreement")).json();
    },
    /** All steps that keep rows for names of term packs, or take them back. @returns {Promise<any[]>} */
    async names() {
      return (await (await ask("v1/curation/names")).json()).steps;
    },
    /** @param {any} step */
    async step(step) {
      return (await post("v1/curation/steps", step)).json();
    },
    /** @param {Record<string, string>} query */
    async export(query) {
      const answer = await ask("v1/curation/export", { query });
      return { blob: await answer.blob(), name: fileName(answer), lost: answer.headers.get("Fascicle-Losses") ?? "" };
    },
    /** @param {File} file @param {string} who */
    async import(file, who) {
      const answer = await ask("v1/curation/import", {
        method: "POST",
        query: { name: file.name, who },
        headers: { "Content-Type": "application/octet-stream" },
        body: file,
      });
      return answer.json();
    },
  },
};

/** @param {Response} answer */
function fileName(answer) {
  const told = /filename="([\w.@-]+)"/.exec(answer.headers.get("Content-Disposition") ?? "");
  return told ? told[1] : "";
}
