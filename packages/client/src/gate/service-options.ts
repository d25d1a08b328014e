// Options of the gated files and terminals.

/** The text of an editor that is not saved to disk yet. Paths are absolute, with all links resolved. */
export interface Overlay {
  /** Returns the unsaved text of a file, or undefined when the editor has none. */
  read(path: string): Promise<string | undefined> | string | undefined;
  /** Returns true when the editor has taken the text and will save it, false to have it written to disk. */
  readonly write?: ((path: string, content: string) => Promise<boolean> | boolean) | undefined;
}

export interface ServiceOptions {
  /** Directories beside those of the session, which the user has declared. Absolute. */
  readonly extraRoots?: readonly string[] | undefined;
  readonly overlay?: Overlay | undefined;
  /** The environment of commands. Default: ours, without what is Parley's own. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}
