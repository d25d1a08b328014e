// Bundles the packages for packing and for the startup benchmark: one file per entry point, shared
// code in chunks, declarations beside them. The entry points are read from each package.json.
// Nothing in development or in the tests but the packed packages depends on this.

import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Plugin } from "rolldown";
import { rolldown } from "rolldown";
import { builtinsWithoutFacade } from "./builtins-without-facade.ts";
import { requireSeparateChunks, sharedByCommands, sharedCode } from "./chunks.ts";
import { bundledDependencies, packageNames, readManifest } from "./manifests.ts";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const run = promisify(execFile);

/** One package: where it is, and the sources that become files of their own. */
interface Package {
  readonly name: string;
  readonly folder: string;
  readonly entries: Readonly<Record<string, string>>;
  /** The sources of the entry points that have declarations. */
  readonly declared: readonly string[];
  /** What is installed beside it and not bundled into it. */
  readonly dependencies: readonly string[];
}

/** One character beyond Latin-1 makes V8 keep and scan the whole file with two bytes a character. */
const asciiOnly: Plugin = {
  name: "ascii-only",
  generateBundle(_options, bundle) {
    for (const file of Object.values(bundle)) {
      if (file.type === "chunk") file.code = file.code.replaceAll(/[^\0-\x7f]/g, escapedUnit);
    }
  },
};

/** Declares Symbol.asyncDispose for projects whose own libraries do not. */
const disposable = '/// <reference lib="esnext.disposable" />\n';

/**
 * Types that browsers and Node declare globally. A project with neither compiles against the empty interfaces; elsewhere
 * they merge with the real ones.
 */
const webTypes: Readonly<Record<string, string>> = {
  AbortSignal: "",
  URL: "",
  Request: "",
  RequestInit: "",
  Response: "",
  ReadableStream: "<R = any>",
  WritableStream: "<W = any>",
};

/** A relative import in a declaration. */
const relativeImport = /((?:from|import)\s*\(?\s*["']\.[^"']*)\.ts(["'])/g;

const started = performance.now();
const packages = packageNames.map(readPackage);
// Declarations take longest and need nothing from the bundles.
await Promise.all(packages.map(buildPackage));
for (const built of packages) printSizes(built);
process.stdout.write(`built in ${((performance.now() - started) / 1000).toFixed(1)} s\n`);

function readPackage(name: string): Package {
  const folder = join(root, "packages", name);
  const manifest = readManifest(name);
  const dependencies = Object.keys(bundledDependencies(name));
  if (manifest.exports === undefined) {
    return {
      name: manifest.name,
      folder,
      entries: { main: join(folder, "src/main.ts") },
      declared: [],
      dependencies,
    };
  }
  const targets = Object.entries(manifest.exports);
  const entries = targets.map(([path, target]) => [
    path === "." ? "index" : path.slice(2),
    join(folder, target["parley-source"]),
  ]);
  return {
    name: manifest.name,
    folder,
    entries: Object.fromEntries(entries),
    declared: targets.flatMap(([, target]) =>
      target.types === undefined ? [] : join(folder, target["parley-source"]),
    ),
    dependencies,
  };
}

function escapedUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

async function buildPackage(built: Package): Promise<void> {
  const dist = join(built.folder, "dist");
  rmSync(dist, { recursive: true, force: true });
  mkdirSync(dist);
  await Promise.all([bundle(built, dist), built.declared.length > 0 ? declare(built, dist) : undefined]);
}

async function bundle(built: Package, dist: string): Promise<void> {
  const input = await rolldown({
    cwd: built.folder,
    input: { ...built.entries },
    platform: "neutral",
    // a command contains our packages, so that it loads only the parts that it uses
    resolve: { conditionNames: ["parley-source", "import", "node"] },
    external: built.dependencies.map((name) => new RegExp(`^${name}(?:/|$)`)),
    plugins: [builtinsWithoutFacade, asciiOnly],
    treeshake: { propertyReadSideEffects: false },
    // an import that is dynamic for one command may be static for another
    checks: { ineffectiveDynamicImport: false },
    logLevel: "warn",
  });
  const { output } = await input.write({
    dir: dist,
    format: "es",
    entryFileNames: "[name].js",
    chunkFileNames: "chunk-[name]-[hash].js",
    codeSplitting: { groups: built.declared.length > 0 ? sharedCode : sharedByCommands },
    comments: { annotation: true, legal: true, jsdoc: false },
  });
  await input.close();
  requireSeparateChunks(
    basename(built.folder),
    output.filter((file) => file.type === "chunk"),
  );
}

/** Emits the declarations that the public entry points reach, as a tree in dist. */
async function declare(built: Package, dist: string): Promise<void> {
  const cache = join(root, "node_modules", ".cache", "build");
  mkdirSync(cache, { recursive: true });
  const config = join(cache, `tsconfig.${built.name.replaceAll(/\W+/g, "-")}.json`);
  const settings = {
    extends: join(root, "tsconfig.json"),
    compilerOptions: {
      noEmit: false,
      declaration: true,
      emitDeclarationOnly: true,
      // The cache folder holds the configuration, and @types are looked up from there.
      typeRoots: [join(root, "node_modules/@types")],
      rootDir: join(built.folder, "src"),
      outDir: dist,
    },
    include: [],
    files: built.declared,
  };
  writeFileSync(config, JSON.stringify(settings, null, 2));
  try {
    await run(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", config], { cwd: root });
  } catch (error) {
    const { stdout } = error as { stdout?: string }; // what execFile rejects with
    throw new Error(`declarations of ${built.name} failed:\n${stdout ?? String(error)}`, { cause: error });
  }
  const entries = built.declared.map((source) =>
    join(dist, relative(join(built.folder, "src"), source)).replace(/\.ts$/, ".d.ts"),
  );
  const reached = reachedDeclarations(entries);
  for (const file of filesBelow(dist).filter((path) => path.endsWith(".d.ts"))) {
    if (!reached.has(file)) {
      // the compiler declares every source that it has read
      rmSync(file);
      continue;
    }
    // Declarations keep `./x.ts`, which no such file answers to once packed; `./x.js` finds x.d.ts in
    // every version of TypeScript.
    const text = readFileSync(file, "utf8").replaceAll(relativeImport, "$1.js$2");
    const head = /\[Symbol\.|\bAsyncDisposable\b/.test(text) ? disposable : "";
    writeFileSync(file, `${head}${text}${globalsOf(text)}`);
  }
  removeEmptyFolders(dist);
}

/** Declares the global types that a declaration mentions. */
function globalsOf(text: string): string {
  // a comment may mention them too, and a string with such a word does no harm
  const code = text.replaceAll(/\/\*[\s\S]*?\*\//g, "");
  const names = Object.keys(webTypes).filter((name) => new RegExp(`[^.\\w]${name}\\b`).test(code));
  if (names.length === 0) return "";
  const interfaces = names.map((name) => `    interface ${name}${webTypes[name]} {}\n`);
  return `declare global {\n${interfaces.join("")}}\n`;
}

/** The declarations that the entry points import, directly or not. */
function reachedDeclarations(entries: readonly string[]): Set<string> {
  const reached = new Set(entries);
  for (const file of reached) {
    for (const [found] of readFileSync(file, "utf8").matchAll(relativeImport)) {
      const path = found.slice(found.search(/["']/) + 1, -1);
      reached.add(join(dirname(file), path).replace(/\.ts$/, ".d.ts"));
    }
  }
  return reached;
}

function removeEmptyFolders(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) removeEmptyFolders(join(folder, entry.name));
  }
  if (readdirSync(folder).length === 0) rmdirSync(folder);
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

function printSizes(built: Package): void {
  const files = filesBelow(join(built.folder, "dist"));
  const declarations = files.filter((file) => file.endsWith(".d.ts"));
  process.stdout.write(`${built.name}\n`);
  for (const file of files.filter((path) => path.endsWith(".js")).sort()) {
    process.stdout.write(`  ${relative(built.folder, file).padEnd(40)} ${kilobytes([file])}\n`);
  }
  if (declarations.length > 0) {
    process.stdout.write(
      `  ${`${declarations.length} declarations`.padEnd(40)} ${kilobytes(declarations)}\n`,
    );
  }
}

function kilobytes(files: readonly string[]): string {
  const bytes = files.reduce((sum, file) => sum + statSync(file).size, 0);
  return `${(bytes / 1024).toFixed(1).padStart(8)} KB`;
}
