// Packs the built packages into tarballs, ready for `npm publish FILE`. What is packed is a staged
// copy: its manifest is without the `parley-source` condition (sources are not shipped), it names what the
// bundle needs, and it has the licence, which npm only takes from the package's own folder.
//
//   node scripts/pack.ts OUTPUT_FOLDER      after npm run build

import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { bundledDependencies, packageNames, readManifest } from "./manifests.ts";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const output = process.argv[2];
if (output === undefined) {
  process.stderr.write("pack: no output folder was named\npack: type: node scripts/pack.ts FOLDER\n");
  process.exit(2);
}
mkdirSync(output, { recursive: true });

const staging = mkdtempSync(join(tmpdir(), "parley-pack-"));
try {
  for (const name of packageNames) {
    process.stdout.write(`${join(output, pack(name, resolve(output)))}\n`);
  }
} finally {
  rmSync(staging, { recursive: true, force: true });
}

function pack(name: string, destination: string): string {
  const folder = join(root, "packages", name);
  const stage = join(staging, name);
  const dependencies = bundledDependencies(name);
  const manifest = { ...readManifest(name), ...(Object.keys(dependencies).length > 0 && { dependencies }) };
  const withoutSources = (key: string, value: unknown) => (key === "parley-source" ? undefined : value);
  mkdirSync(stage);
  for (const file of manifest.files) {
    if (!existsSync(join(folder, file))) {
      throw new Error(`packages/${name}/${file} is missing; run npm run build first`);
    }
    cpSync(join(folder, file), join(stage, file), { recursive: true });
  }
  if (existsSync(join(folder, "README.md"))) cpSync(join(folder, "README.md"), join(stage, "README.md"));
  cpSync(join(root, "LICENSE"), join(stage, "LICENSE"));
  writeFileSync(join(stage, "package.json"), `${JSON.stringify(manifest, withoutSources, 2)}\n`);
  const report = execFileSync(
    "npm",
    ["pack", "--json", "--ignore-scripts", "--pack-destination", destination],
    {
      cwd: stage,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  const [packed] = JSON.parse(report) as { filename: string }[]; // npm's documented output: one row per package
  if (packed === undefined) throw new Error(`npm pack of packages/${name} reported no file`);
  return packed.filename;
}
