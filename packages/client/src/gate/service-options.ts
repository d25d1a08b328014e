// Options of the gated files and terminals.

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
  /** The environment of commands. Default: ours, without what is Parley's own. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}
