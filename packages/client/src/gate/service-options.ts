// Options of the gated files and terminals.

import type { PtySpawn } from "@parley/acp/node";

/** Text that an editor has and the disk has not. Paths are canonical. */
export interface Overlay {
  /** Nothing: there is no such buffer, or nothing in it is unsaved. */
  read(path: string): Promise<string | undefined> | string | undefined;
  /** True: the editor took it into its buffer, and will save it. False: it is to be written to the disk. */
  write?(path: string, content: string): Promise<boolean> | boolean;
}

export interface ServiceOptions {
  /** Directories beside those of the session, which the user has declared. Absolute. */
  readonly extraRoots?: readonly string[];
  readonly overlay?: Overlay;
  /** The encoding of a file that is not UTF-8, where the user says so: a label such as "windows-1252". */
  encodingOf?(path: string): string | undefined;
  /** For commands. Default: ours, without what is Parley's own. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Gives commands a pseudo-terminal. */
  readonly pty?: PtySpawn;
  readonly onOutput?: (terminalId: string, bytes: Uint8Array) => void;
}
