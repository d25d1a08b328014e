// The parts of the library that need Node: stdio, processes, files, terminals and the store.

export type { FolderEntry, RemoveOptions } from "./node/files/directory-entries.ts";
export type { FileErrorData, FileErrorReason } from "./node/files/file-error.ts";
export { type LocalFiles, type LocalFilesOptions, localFiles } from "./node/files/local-files.ts";
export type { FileFacts, TextFile } from "./node/files/read-file.ts";
export {
  type ReplaceFileOptions,
  type ReplaceFileSyncOptions,
  replaceFile,
  replaceFileSync,
} from "./node/files/replace-file.ts";
export type { LocalWriteOptions, WrittenFile } from "./node/files/write-file.ts";
export { type FindProgramOptions, findProgram } from "./node/path-search.ts";
export {
  claimFile,
  type FileClaim,
  isFileClaimed,
  isProcessRunning,
  processKey,
} from "./node/process-claim.ts";
export type { SpawnTransportOptions } from "./node/spawn.ts";
export { type Splice, type SpliceOptions, splice } from "./node/splice.ts";
export { stderrReason } from "./node/stderr-reason.ts";
export type { StdioTransportOptions } from "./node/stdio.ts";
export { sqliteStore } from "./node/store/sqlite-store.ts";
export { StoreError, type StoreErrorKind } from "./node/store/store-error.ts";
export type * from "./node/store/store-options.ts";
export { nodePlatform, type StreamTransportOptions } from "./node/stream-channel.ts";
export type { PtyControl, TerminalCommand } from "./node/terminals/command.ts";
export {
  type LocalTerminals,
  type LocalTerminalsOptions,
  localTerminals,
  type WrappedCommand,
} from "./node/terminals/local-terminals.ts";
export type { Pty, PtyOptions, PtySpawn } from "./node/terminals/pty-command.ts";
export type { LocalTerminal } from "./node/terminals/terminal.ts";
export {
  type SpawnedTransport,
  serveStdio,
  spawnTransport,
  stdioTransport,
  streamTransport,
} from "./node/transports.ts";
