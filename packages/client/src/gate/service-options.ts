// Options of the gated files and terminals.

import type { PermissionPolicyOptions } from "./permission-policy.ts";

/** The text of an editor that is not saved to disk yet. Paths are absolute, with all links resolved. */
export interface Overlay {
  /** Returns the unsaved text of a file, or undefined when the editor has none. */
  read(path: string): Promise<string | undefined> | string | undefined;
  /** Returns true when the editor has taken the text and will save it, false to have it written to disk. */
  write?(path: string, content: string): Promise<boolean> | boolean;
}

export type ServiceOptions = Pick<PermissionPolicyOptions, "extraRoots" | "overlay" | "env">;
