// The audit logs of this user, the oldest first.

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { auditFolder } from "../data-folder.ts";

export function auditFiles(): string[] {
  const folder = auditFolder();
  if (!existsSync(folder)) return [];
  // their names begin with their time
  return readdirSync(folder)
    .filter((name) => name.endsWith(".ndjson"))
    .sort()
    .map((name) => join(folder, name));
}
