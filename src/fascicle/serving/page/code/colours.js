/** A hue for each type, the same on the whole page; common types have those that readers of PubTator know. */

const HUES = 12;
const KNOWN = new Map([
  ["gene", 0], ["protein", 0], ["geneproduct", 0], ["geneorgeneproduct", 0],
  ["disease", 1], ["diseaseorphenotypicfeature", 1], ["disorder", 1],
  ["chemical", 2], ["chemicalentity", 2], ["drug", 2],
  ["species", 3], ["organism", 3], ["organismtaxon", 3],
  ["variant", 4], ["mutation", 4], ["sequencevariant", 4],
  ["cellline", 5], ["celltype", 6], ["cell", 6], ["anatomy", 7], ["tissue", 7],
]);

export class Colours {
  /** @type {Map<string, string>} */
  #classes = new Map();

  /** The classes of a type; beyond 12 types, hues come again. @param {string} type */
  of(type) {
    const known = this.#classes.get(type);
    if (known) return known;
    const taken = new Set(this.#classes.values());
    const wanted = KNOWN.get(type.toLowerCase().replace(/[^a-z]/g, ""));
    const order = [...(wanted === undefined ? [] : [wanted]), 8, 7, 5, 4, 6, 9, 10, 11, 3, 2, 1, 0];
    const free = order.find((hue) => !taken.has(`hue h${hue}`)) ?? this.#classes.size % HUES;
    this.#classes.set(type, `hue h${free}`);
    return `hue h${free}`;
  }

  /** Gives types their hues in this order. @param {Iterable<string>} types */
  learn(types) {
    for (const type of types) this.of(type);
  }
}
