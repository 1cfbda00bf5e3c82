/** The choice of a concept for a mention: candidates of the linker, what is found as one types, or an identifier. */

import { otherType, why } from "./panel.js";
import { pick } from "./picking.js";
import { service } from "./service.js";

const CURIE = /^[A-Za-z_][A-Za-z0-9_.-]*:[^\s:]\S*$/;

/** @param {import("./reading.js").Shown} shown @param {any} entry its document @param {any} store @returns {Promise<import("./types.js").Link | undefined>} */
export async function chooseConcept(shown, entry, store) {
  const told = await why(store.pipeline, entry.base, shown).catch(() => []);
  const candidates = told.flatMap((one) => one.candidates).slice(0, 8);
  const names = new Map(); // of the concepts that the service was asked about
  const chosen = await pick(
    `Concept of “${shown.words.slice(0, 60)}”`,
    [
      ...candidates.map((one) => ({
        value: { curie: one.curie, name: one.label },
        title: one.label,
        more: one.curie,
      })),
      { value: { nil: true }, title: "No concept fits" },
    ],
    {
      free: "Another concept: the beginning of a name, or an identifier such as MESH:D008094",
      pattern: CURIE,
      hint: "No concept has a name like this. Write another, or prefix:identifier without blanks, such as MESH:D008094.",
      search: (words) => concepts(words, shown.type, store.pipeline),
      doubt: (value) => notMeant(value, shown.type, store, names),
    },
  );
  return chosen && link(chosen, names);
}

/** @param {any} chosen @param {Map<string, string>} names @returns {import("./types.js").Link} */
function link(chosen, names) {
  if (chosen.nil) return { id: "", nil: true };
  const curie = typeof chosen === "string" ? chosen : chosen.curie;
  const [ontology, ...rest] = curie.split(":");
  return { id: rest.join(":"), ontology, curie, name: chosen.name ?? names.get(curie) ?? "" };
}

/** Concepts by a part of a name: those of the type first. @param {string} words @param {string} type @param {string} pipeline */
async function concepts(words, type, pipeline) {
  const found = await Promise.all([type, ""].map((kind) => service.concepts(words, kind, pipeline)));
  const each = new Map(found.flat().map((one) => [one.curie, one]));
  return [...each.values()].slice(0, 12).map((one) => ({
    value: { curie: one.curie, name: one.label },
    title: one.label,
    more: [
      ...(one.name.toLowerCase() === one.label.toLowerCase() ? [] : [`also ${one.name}`]),
      `${one.type}, ${one.curie}`,
      one.sources.join(", "),
      ...(one.parents.length ? [`a kind of ${one.parents.map((above) => above.label).join(", ")}`] : []),
      one.definition.length > 160 ? `${one.definition.slice(0, 159)}…` : one.definition,
    ]
      .filter(Boolean)
      .join(" · "),
  }));
}

/** Why a concept may not be meant: no pack has it, or it is of another type. @param {any} chosen @param {string} type @param {any} store @param {Map<string, string>} names takes its name */
async function notMeant(chosen, type, store, names) {
  const curie = typeof chosen === "string" ? chosen : chosen.curie;
  if (!curie) return "";
  try {
    const told = await service.concept(curie, store.pipeline);
    names.set(curie, told.label ?? "");
    return otherType(told, type, store);
  } catch (error) {
    return error.status === 404 ? `No pack of this pipeline has ${curie}.` : "";
  }
}
