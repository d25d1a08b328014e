// Session stores: one in memory, and what a store of your own needs.

export type { Entry, EntryBody } from "./model/entry.ts";
export { entryFormat, parseEntry, serializeEntry, upgradeEntry } from "./model/entry-format.ts";
export { memoryStore } from "./model/memory-store.ts";
export type * from "./model/store.ts";
