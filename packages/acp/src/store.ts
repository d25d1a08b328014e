// Session stores: one in memory, and what a store of your own needs.

export { currentHead } from "./log/current-head.ts";
export { interruptedEntries } from "./log/interrupted-entries.ts";
export { LogWriter, type LogWriterOptions } from "./log/log-writer.ts";
export { memoryStore } from "./log/memory-store.ts";
export type { Author, Entry, EntryBody } from "./model/entry.ts";
export { entryFormat, parseEntry, serializeEntry, upgradeEntry } from "./model/entry-format.ts";
export {
  emptyHead,
  foldHead,
  type HeadPlan,
  type HeadState,
  type OpenPrompt,
  type OpenQuestion,
} from "./model/head.ts";
export type * from "./model/store.ts";
