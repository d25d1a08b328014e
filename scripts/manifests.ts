// Reads the manifests of our packages, for building and packing.

import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const packages = join(dirname(dirname(fileURLToPath(import.meta.url))), "packages");

interface Target {
  readonly "parley-source": string;
  /** Absent from entry points that only our own packages may use: nobody else can compile against them. */
  readonly types?: string;
}

export interface Manifest {
  readonly name: string;
  /** Absent from a command. */
  readonly exports?: Readonly<Record<string, Target>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly files: readonly string[];
}

/** The folders below packages/. */
export const packageNames: readonly string[] = readdirSync(packages);

export function readManifest(name: string): Manifest {
  // our own file; the tests of the packed packages check its shape
  return JSON.parse(readFileSync(join(packages, name, "package.json"), "utf8")) as Manifest;
}

/**
 * What is installed beside a built package. A library has its dependencies. A command contains our packages, so it has
 * theirs instead.
 */
export function bundledDependencies(name: string): Readonly<Record<string, string>> {
  const { exports, dependencies = {} } = readManifest(name);
  return exports === undefined ? foreignDependencies(dependencies) : dependencies;
}

function foreignDependencies(dependencies: Readonly<Record<string, string>>): Record<string, string> {
  const ofOurs = Object.entries(dependencies).map(([name, version]) =>
    name.startsWith("@parley/")
      ? foreignDependencies(readManifest(name.slice("@parley/".length)).dependencies ?? {})
      : { [name]: version },
  );
  return Object.fromEntries(
    ofOurs.flatMap(Object.entries<string>).sort(([one], [other]) => (one < other ? -1 : 1)),
  );
}
