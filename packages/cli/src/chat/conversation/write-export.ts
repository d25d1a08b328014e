// Writes the transcript of a session to a file.

import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { formatOf } from "../../sessions/export-format.ts";
import type { ExportFormat } from "./conversations.ts";

export interface Exported {
  /** The directory of the session, for a relative name. */
  readonly cwd: string;
  exported(format: ExportFormat): Promise<string>;
}

/** `name` may be empty; its ending chooses the format. Returns the path. An existing file is never overwritten. */
export async function writeExport(name: string, { cwd, exported }: Exported): Promise<string> {
  const time = new Date().toISOString().slice(0, 19).replaceAll(":", "-");
  const path = resolve(cwd, name === "" ? `session-${time}.md` : name);
  const text = await exported(formatOf(path));
  // it may hold what nobody else should read
  await writeFile(path, text, { mode: 0o600, flag: "wx" }).catch((error: NodeJS.ErrnoException) => {
    throw error.code === "EEXIST" ? new Error(`${path} exists already: name another file`) : error;
  });
  return path;
}
