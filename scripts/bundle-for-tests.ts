// Bundles `parley` and the programs that tests start into dist/for-tests, laid out as a checkout, where they start in half the time.

import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { bundleName, testPrograms } from "../packages/acp/test/support/programs.ts";
import { builtinsWithoutFacade } from "./builtins-without-facade.ts";
import { bundleForTests, root } from "./check-steps.ts";

const packages = join(root, "packages");
const cli = join(packages, "cli");

for (const folder of ["bin", "src"]) mkdirSync(join(bundleForTests, folder), { recursive: true });
for (const file of ["package.json", "config.schema.json"])
  copyFileSync(join(cli, file), join(bundleForTests, file));
writeFileSync(join(bundleForTests, "bin/parley"), launcherOfBundle(), { mode: 0o755 });
// the launcher takes a package with src/main.ts for a checkout, and looks for its Node two folders up
writeFileSync(join(bundleForTests, "src/main.ts"), 'import "../dist/main.js";\n');
const modules = join(bundleForTests, "../../node_modules");
if (!existsSync(modules)) symlinkSync("../../node_modules", modules, "junction");

const bundle = await rolldown({
  input: {
    main: join(cli, "src/main.ts"),
    "command-line": join(cli, "src/command-line.ts"),
    ...Object.fromEntries(testPrograms.map((path) => [bundleName(path), join(packages, path)])),
  },
  platform: "node",
  // the runtime of the bundler needs it before any chunk of ours is there
  // undici and what logs in to clouds extend classes of Node, which they require: they stay what they are when packed, too
  external: [
    "node:module",
    "undici",
    /^@ai-sdk\/(?:google-vertex|amazon-bedrock)(?:\/|$)/,
    "@silvia-odwyer/photon-node",
  ],
  resolve: { conditionNames: ["parley-source", "import", "node"] },
  plugins: [builtinsWithoutFacade],
  treeshake: { propertyReadSideEffects: false },
  logLevel: "silent",
});
const { output } = await bundle.write({
  dir: join(bundleForTests, "dist"),
  format: "es",
  entryFileNames: "[name].js",
  // each file takes half a millisecond to load; the commands stay apart, since each loads few of them
  codeSplitting: {
    groups: ["acp", "client"].map((name) => ({
      name,
      test: new RegExp(`/packages/${name}/src/`),
      minShareCount: 2,
    })),
  },
});
await bundle.close();

// removed at the end: another check may run in this folder, and equal sources give equal names
const written = new Set(output.map(({ fileName }) => fileName));
const dist = join(bundleForTests, "dist");
for (const name of readdirSync(dist)) if (!written.has(name)) rmSync(join(dist, name), { recursive: true });

/** The launcher, with one cache of what Node compiles for all tests: most have a home of their own, and would each fill another. */
function launcherOfBundle(): string {
  const text = readFileSync(join(cli, "bin/parley"), "utf8");
  const place = "# Without a writable folder";
  if (!text.includes(place)) throw new Error(`bin/parley does not say ${JSON.stringify(place)} any more`);
  const cache = join(root, "node_modules/.cache/node");
  const given = `: "\${NODE_COMPILE_CACHE:=${cache}}"\nexport NODE_COMPILE_CACHE\n`;
  return text.replace(place, () => `${given}\n${place}`);
}
