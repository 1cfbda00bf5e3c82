/** The page of the API: every route as the service describes it, with what it takes and answers. */

import { el } from "./dom.js";

const place = document.getElementById("api");
const token = sessionStorage.getItem("fascicle-token");

/** @param {any} description */
function show(description) {
  const routes = Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, one]) => route(method.toUpperCase(), path, one)),
  );
  const { version, description: about } = description.info;
  const shapes = Object.entries(description.components.schemas).map(([name, schema]) => shape(name, schema));
  const link = el("a", { text: "openapi.json" });
  link.href = new URL("../openapi.json", location.href).href;
  place.replaceChildren(
    el("p", {}, `${about} Version ${version}; for programs: `, link),
    ...(description.security?.length
      ? [el("p", {}, "Each request has the header ", el("code", { text: "Authorization: Bearer TOKEN" }), ".")]
      : []),
    el("h2", { text: "Routes" }),
    ...routes,
    el("h2", { text: "What is sent and answered" }),
    ...shapes,
  );
}

/** @param {string} method @param {string} path @param {any} one */
const route = (method, path, one) =>
  el(
    "details",
    {},
    el("summary", {}, el("code", { text: `${method} ${path}` }), ` ${one.summary}`),
    table(
      "Parameters",
      (one.parameters ?? []).map((each) => [each.name, kind(each.schema), each.description ?? "", each.required ? "needed" : ""]),
    ),
    ...bodies("Content", one.requestBody),
    ...Object.entries(one.responses).flatMap(([status, each]) => bodies(`${status}: ${each.description}`, each)),
    ...examples(one.requestBody),
  );

/** @param {string} title @param {any} body */
function bodies(title, body) {
  if (!body) return [];
  const rows = Object.entries(body.content ?? {}).map(([type, each]) => [type, kind(each.schema)]);
  return [rows.length ? table(title, rows) : el("p", { class: "small", text: title })];
}

/** @param {any} body */
function examples(body) {
  const found = Object.values(body?.content ?? {}).find((each) => each.example);
  return found ? [el("pre", { tabindex: "0", "aria-label": "Example", text: JSON.stringify(found.example, null, 2) })] : [];
}

/** @param {string} title @param {string[][]} rows */
const table = (title, rows) =>
  rows.length > 0 &&
  el(
    "table",
    {},
    el("caption", { class: "small", text: title }),
    el("tbody", {}, ...rows.map(([name, ...rest]) => el("tr", {}, el("th", { scope: "row", text: name }), ...rest.map((text) => el("td", { text }))))),
  );

/** @param {string} name @param {any} schema */
const shape = (name, schema) =>
  el(
    "details",
    { id: `shape-${name}` },
    el("summary", {}, el("code", { text: name })),
    schema.description && el("p", { text: schema.description.split("\n")[0] }),
    table(
      "Fields",
      Object.entries(schema.properties ?? {}).map(([field, each]) => [field, kind(each), schema.required?.includes(field) ? "needed" : ""]),
    ),
  );

/** A schema in words. @param {any} schema @returns {string} */
function kind(schema = {}) {
  if (schema.$ref) return schema.$ref.split("/").at(-1);
  if (schema.anyOf) return schema.anyOf.map(kind).join(" or ");
  if (schema.enum) return schema.enum.join(", ");
  if (schema.type === "array") return `list of ${kind(schema.items)}`;
  if (schema.type === "object" && schema.additionalProperties) return `object of ${kind(schema.additionalProperties)}`;
  return schema.format ? `${schema.type} (${schema.format})` : (schema.type ?? "anything");
}

try {
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  const answer = await fetch(new URL("../openapi.json", location.href), { headers, credentials: "omit" });
  if (!answer.ok) throw new Error((await answer.json().catch(() => ({}))).detail ?? `The service answered ${answer.status}.`);
  show(await answer.json());
} catch (error) {
  place.replaceChildren(el("p", { class: "notice bad", role: "alert", text: error.message }));
}
