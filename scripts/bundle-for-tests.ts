// Bundles `parley` and the programs that tests start into dist/for-tests, laid out as a checkout, where they start in half the time.

import { copyFileSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { rolldown } from "rolldown";
import { testPrograms } from "../packages/acp/test/support/programs.ts";
import { builtinsWithoutFacade } from "./builtins-without-facade.ts";
import { bundleForTests, root } from "./check-steps.ts";

const packages = join(root, "packages");
const cli = join(packages, "cli");

rmSync(bundleForTests, { recursive: true, force: true });
for (const folder of ["bin", "src"]) mkdirSync(join(bundleForTests, folder), { recursive: true });
for (const file of ["bin/parley", "package.json", "config.schema.json"])
  copyFileSync(join(cli, file), join(bundleForTests, file));
// the launcher takes a package with src/main.ts for a checkout, and looks for its Node two folders up
writeFileSync(join(bundleForTests, "src/main.ts"), 'import "../dist/main.js";\n');
const modules = join(bundleForTests, "../../node_modules");
rmSync(modules, { recursive: true, force: true });
symlinkSync(join(root, "node_modules"), modules);

const bundle = await rolldown({
  input: {
    main: join(cli, "src/main.ts"),
    ...Object.fromEntries(testPrograms.map((path) => [basename(path, ".ts"), join(packages, path)])),
  },
  platform: "node",
  // the runtime of the bundler needs it before any chunk of ours is there
  external: ["node:module"],
  resolve: { conditionNames: ["parley-source", "import", "node"] },
  plugins: [builtinsWithoutFacade],
  treeshake: { propertyReadSideEffects: false },
  logLevel: "silent",
});
await bundle.write({
  dir: join(bundleForTests, "dist"),
  format: "es",
  entryFileNames: "[name].js",
  // each file takes half a millisecond to load: what is shared within a package is one file
  codeSplitting: {
    groups: ["acp", "client", "cli"].map((name) => ({
      name,
      test: new RegExp(`/packages/${name}/src/`),
      minShareCount: 2,
    })),
  },
});
await bundle.close();
