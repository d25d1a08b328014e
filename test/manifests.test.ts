// The manifests of the packages: versions, dependencies, scripts.

import assert from "node:assert/strict";
import { test } from "node:test";
import { read, repositoryFiles } from "./source-files.ts";

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly scripts?: Readonly<Record<string, string>>;
}

const manifests = repositoryFiles()
  .filter((file) => /^(?:packages\/[^/]+\/)?package\.json$/.test(file))
  .map((file): Manifest => JSON.parse(read(file)));
const acp = manifests.find(({ name }) => name === "@parley/acp");

test("@parley/acp has no dependencies of any kind", () => {
  assert.equal(acp?.dependencies, undefined);
  assert.equal(acp?.optionalDependencies, undefined);
  assert.equal(acp?.peerDependencies, undefined);
});

test("the packages share one version number and run no install scripts", () => {
  const packages = manifests.filter(({ name }) => name.startsWith("@parley/"));
  assert.equal(new Set(packages.map(({ version }) => version)).size, 1);
  for (const { name, scripts } of packages) assert.equal(scripts, undefined, name);
  for (const { dependencies } of packages) {
    for (const [name, version] of Object.entries(dependencies ?? {})) {
      if (name.startsWith("@parley/")) assert.equal(version, acp?.version, name);
    }
  }
});

test("every dependency is pinned to one exact version", () => {
  const loose = manifests.flatMap((manifest) =>
    Object.entries({
      ...manifest.dependencies,
      ...manifest.devDependencies,
      ...manifest.optionalDependencies,
    })
      .filter(([, version]) => !/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version))
      .map(([name, version]) => `${manifest.name}: ${name}@${version}`),
  );
  assert.deepEqual(loose, []);
});
