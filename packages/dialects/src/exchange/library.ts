// Everything that the dialects use of the inside of `@parley/acp`: the one file that imports it.

export type { RequestErrorKind } from "@parley/acp";
// biome-ignore lint/performance/noReExportAll: the dialects understand most of these keys
export * from "@parley/acp/extensions";
// biome-ignore lint/performance/noReExportAll: the entry lists what it exports, for this package alone
export * from "@parley/acp/internal/wire";
