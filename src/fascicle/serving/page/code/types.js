/** What the service says, as types for editors. Offsets are code points. */

/** @typedef {{id: string, ontology?: string, name?: string, score?: number, nil?: boolean, tier?: string, curie?: string}} Link */
/** @typedef {{spans: [number, number][], type: string, text?: string, score?: number, source?: string, links?: Link[], attributes?: [string, string][]}} Mention */
/** @typedef {{type?: string, arguments?: [string, [string, string, [number, number][]]][], attributes?: [string, string][]}} Relation */
/** @typedef {{fascicle?: number, id: string, text: string, abbreviations?: any[], mentions?: Mention[], relations?: Relation[], sections?: any[], events?: any[], meta?: Record<string, string>}} Native */
/** @typedef {{id: string, status: string, document?: Native, problem?: {title?: string, detail?: string}}} Answer */
/** @typedef {{name: string, types: string[], sources: string[], links: boolean, packs: any[], steps: any[], examples: string[]}} Pipeline */

export const GOLD = "gold";

/** How an entry is named to people. @param {Link} link */
export const identifier = (link) =>
  link.nil ? "no concept fits" : link.curie || [link.ontology, link.id].filter(Boolean).join(":");

/** Who said it. @param {Mention} mention */
export const sourceOf = (mention) => mention.source ?? GOLD;

/** The identity of a mention in its document. @param {Mention} mention */
export const keyOf = (mention) => JSON.stringify([sourceOf(mention), mention.type, mention.spans]);
