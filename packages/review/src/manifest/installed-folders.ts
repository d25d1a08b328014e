// Notices installs: the folders that package managers fill are not covered, so a change is only named.

import { stat } from "node:fs/promises";
import { join } from "node:path";

/** What changes with an install, below a root. */
const marks = [
  "node_modules",
  "node_modules/.package-lock.json",
  "node_modules/.yarn-state.yml",
  "node_modules/.modules.yaml",
  ".venv/lib",
  "venv/lib",
  "vendor/bundle",
];

/** For each installed folder its name and its state, separated by a zero byte. */
export async function installedFolders(roots: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const root of roots) {
    const stamps = new Map<string, string[]>();
    for (const mark of marks) {
      const facts = await stat(join(root, mark)).catch(() => undefined);
      const folder = join(root, mark.split("/")[0] ?? mark);
      if (facts !== undefined) stamps.set(folder, [...(stamps.get(folder) ?? []), `${facts.mtimeMs}`]);
    }
    for (const [folder, times] of stamps) found.push(`${folder}\0${times.join(" ")}`);
  }
  return found;
}
