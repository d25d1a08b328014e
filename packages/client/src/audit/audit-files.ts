// Lists the audit logs in a folder.

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** The oldest first: their names begin with their time. */
export function auditFiles(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith(".ndjson"))
    .sort()
    .map((name) => join(folder, name));
}
