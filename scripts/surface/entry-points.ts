// Lists the public entry points of the packages, as their package.json files declare them.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** One address that users import from. */
export interface EntryPoint {
  /** What users write: `@parley/acp/node`. */
  readonly name: string;
  /** The source, from the root of the repository. */
  readonly source: string;
}

interface Manifest {
  readonly name: string;
  readonly exports?: Readonly<Record<string, { readonly "parley-source"?: string }>>;
}

/** Every entry point but `./internal` and those below it, which only our own packages may import; in the order of the manifests. */
export function entryPoints(root: string): EntryPoint[] {
  return readdirSync(join(root, "packages")).flatMap((folder) => {
    const file = join(root, "packages", folder, "package.json");
    if (!existsSync(file)) return [];
    const { name, exports = {} }: Manifest = JSON.parse(readFileSync(file, "utf8"));
    return Object.entries(exports).flatMap(([path, { "parley-source": source }]) =>
      /^\.\/internal\b/.test(path) || source === undefined
        ? []
        : [{ name: `${name}${path.slice(1)}`, source: join("packages", folder, source) }],
    );
  });
}

/** The name of an entry point as part of a file name: `acp-node`. */
export function fileNameOf(entry: string): string {
  return entry.replace("@parley/", "").replaceAll("/", "-");
}
