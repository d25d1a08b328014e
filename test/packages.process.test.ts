// The packages as a user gets them: built, packed, installed in an empty project, started.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, before, test } from "node:test";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { testPages } from "./browser/page-tests.ts";
import { root } from "./source-files.ts";

const entries = [
  "@parley/acp",
  "@parley/acp/transport",
  "@parley/acp/jsonrpc",
  "@parley/acp/store",
  "@parley/acp/proxy",
  "@parley/acp/relay",
  "@parley/acp/server",
  "@parley/acp/v1",
  "@parley/acp/v2",
  "@parley/acp/view",
  "@parley/acp/extensions",
  "@parley/acp/redact",
  "@parley/acp/node",
  "@parley/acp/testing",
  "@parley/agent",
  "@parley/agent/config",
  "@parley/agent/mcp",
  "@parley/agent/models",
  "@parley/agent/tools",
  "@parley/client",
  "@parley/client/audit",
  "@parley/client/config",
  "@parley/client/history",
  "@parley/client/launch",
  "@parley/client/policy",
  "@parley/client/trust",
  "@parley/conformance",
  "@parley/conformance/testing",
  "@parley/dialects",
  "@parley/gateway",
  "@parley/mcp",
  "@parley/review",
  "@parley/sandbox",
  "@parley/sandbox/paths",
];
/** "@parley/acp/model" has only types. */
const onlyTypes = 'export type * as model from "@parley/acp/model";';
const temporary = mkdtempSync(join(tmpdir(), "parley packed "));
const project = join(temporary, "a project");
const unpacked = new Map<string, string>();

/** What a stranger's shell has: no variable of ours, none of npm's, and the Node that runs this test. */
const environment: NodeJS.ProcessEnv = {
  PATH: [join(process.execPath, ".."), process.env.PATH].join(":"),
  HOME: temporary,
  PARLEY_HOME: join(temporary, "home"),
};

function run(command: string, args: readonly string[], cwd = project): string {
  return execFileSync(command, args, {
    cwd,
    env: environment,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
}

before(() => {
  mkdirSync(project);
  run(process.execPath, [join(root, "scripts/build.ts")], root);
  run(process.execPath, [join(root, "scripts/pack.ts"), temporary], root);
  const tarballs = readdirSync(temporary).filter((name) => name.endsWith(".tgz"));
  for (const tarball of tarballs) {
    const folder = join(temporary, basename(tarball, ".tgz"));
    mkdirSync(folder);
    run("tar", ["xzf", join(temporary, tarball), "-C", folder]);
    unpacked.set(tarball, join(folder, "package"));
  }
  writeFileSync(join(project, "package.json"), '{ "private": true, "type": "module" }');
  run("npm", [
    "install",
    "--offline",
    // npm would run the scripts that others have for working on their packages, because it installs folders here
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    ...tarballs.map((name) => join(temporary, name)),
    ...foreignDependencies(),
  ]);
});

/** What a registry would send: here they are links to what this repository has installed, some of it for one package. */
function foreignDependencies(): string[] {
  const folders = new Map<string, string>();
  for (const folder of unpacked.values()) {
    const { name: own, dependencies = {} } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    for (const name of Object.keys(dependencies).filter((each) => !each.startsWith("@parley/"))) {
      const nested = join(root, "packages", basename(own), "node_modules", name);
      folders.set(name, existsSync(nested) ? nested : join(root, "node_modules", name));
    }
  }
  return [...folders.values()];
}

after(() => rmSync(temporary, { recursive: true, force: true }));

function packedFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
}

test("publint finds nothing to say about the packed packages", async () => {
  for (const [tarball, folder] of unpacked) {
    const { messages, pkg } = await publint({
      pkgDir: folder,
      level: "suggestion",
      strict: true,
      pack: false,
    });
    assert.deepEqual(
      messages.map((message) => formatMessage(message, pkg, { color: false })),
      [],
      tarball,
    );
  }
});

test("a package holds its bundle, declarations, licence and manifest, and no sources or tests", () => {
  for (const [tarball, folder] of unpacked) {
    const files = packedFiles(folder);
    const expected =
      /^(?:package\.json|LICENSE|README\.md|config\.schema\.json|bin\/parley|dist\/.+\.(?:js|d\.ts))$/;
    assert.deepEqual(
      files.filter((file) => !expected.test(file) || /\btest\b/.test(file)),
      [],
      tarball,
    );
    assert.ok(files.includes("LICENSE"), tarball);
  }
});

test("a package does not know the machine that it was built on", () => {
  for (const [tarball, folder] of unpacked) {
    const manifest = readFileSync(join(folder, "package.json"), "utf8");
    assert.ok(!manifest.includes("parley-source"), `${tarball} points at sources, which are not shipped`);
    for (const file of packedFiles(folder)) {
      const text = readFileSync(join(folder, file), "utf8");
      assert.ok(!text.includes(root), `${file} contains ${root}`);
    }
  }
});

test("every entry point can be imported from an installed package", () => {
  for (const entry of entries) {
    const script = `console.log(Object.keys(await import(${JSON.stringify(entry)})).length)`;
    const count = Number(run(process.execPath, ["--input-type=module", "--eval", script]));
    assert.ok(count > 0, `${entry} exports nothing`);
  }
});

/** What the compiler says about this file of a strict project; empty when it compiles. */
function compilerErrors(code: string, more: object = {}): string {
  writeFileSync(join(project, "consumer.ts"), code);
  const compilerOptions = {
    strict: true,
    skipLibCheck: false,
    noEmit: true,
    target: "es2024",
    module: "nodenext",
    types: ["node"],
    typeRoots: [join(root, "node_modules/@types")],
    ...more,
  };
  writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["consumer.ts"] }));
  try {
    return run(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", "."]);
  } catch (error) {
    return (error as { stdout: string }).stdout; // what execFileSync throws
  }
}

test("a strict TypeScript project compiles against the installed declarations", () => {
  const imports = entries.map((entry, index) => `import * as e${index} from ${JSON.stringify(entry)};`);
  const uses = entries.map((_, index) => `e${index}`).join(", ");
  assert.equal(
    compilerErrors(`${imports.join("\n")}\n${onlyTypes}\nexport const all: object[] = [${uses}];\n`),
    "",
  );
});

test("a project for browsers compiles against everything that needs no Node", () => {
  const neutral = entries.filter((entry) => /^@parley\/acp(?!\/node)/.test(entry));
  const imports = neutral.map((entry, index) => `import * as e${index} from ${JSON.stringify(entry)};`);
  const uses = neutral.map((_, index) => `e${index}`).join(", ");
  const code = `${imports.join("\n")}\n${onlyTypes}\nexport const all: object[] = [${uses}];\n`;
  const browser = { types: [], lib: ["es2024", "dom", "dom.iterable", "dom.asynciterable"] };
  assert.equal(compilerErrors(code, browser), "");
  // and where neither the types of browsers nor those of Node are there
  assert.equal(compilerErrors(code, { types: [], target: "es2022", lib: ["es2022"] }), "");
});

test("internal entry points can be loaded, but no declaration has them and nobody can compile against them", () => {
  const internal = Array.from(unpacked.values(), (folder) => {
    const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const paths = Object.keys(manifest.exports ?? {}).filter((path) => /\/internal\b/.test(path));
    return paths.map((path) => `${manifest.name}${path.slice(1)}`);
  }).flat();
  assert.ok(internal.includes("@parley/acp/internal"), internal.join(", "));
  for (const entry of internal) {
    run(process.execPath, ["--input-type=module", "--eval", `await import(${JSON.stringify(entry)})`]);
    const errors = compilerErrors(`import * as inside from ${JSON.stringify(entry)};\nexport { inside };\n`);
    assert.match(errors, /TS7016: Could not find a declaration file/, entry);
  }
  const declarations = [...unpacked.values()].flatMap((folder) =>
    packedFiles(folder)
      .filter((file) => file.endsWith(".d.ts"))
      .map((file) => join(folder, file)),
  );
  assert.deepEqual(
    declarations.filter((file) => /["'][^"']*\/internal\b/.test(readFileSync(file, "utf8"))),
    [],
  );
});

test("the installed parley starts directly, through npx, and from another folder", () => {
  const installed = join(project, "node_modules/@parley/cli/package.json");
  const { version, dependencies } = JSON.parse(readFileSync(installed, "utf8"));
  const ours = Object.keys(dependencies).filter((name) => name.startsWith("@parley/"));
  assert.deepEqual(ours, [], "the bundle contains them");
  const bin = join(project, "node_modules/.bin/parley");
  assert.equal(run(bin, ["--version"]), `parley ${version}\n`);
  assert.equal(run(bin, ["--version"], tmpdir()), `parley ${version}\n`);
  assert.equal(run("npx", ["--offline", "parley", "--version"]), `parley ${version}\n`);
});

test("the installed agent answers initialize with a few files of its own and light parts of Node", () => {
  const seen = join(temporary, "seen.json");
  const hook = join(temporary, "hook.mjs");
  const lines = [
    'import { writeFileSync } from "node:fs";',
    'import { registerHooks } from "node:module";',
    "const files = [];",
    "registerHooks({ load: (url, context, next) => (files.push(url), next(url, context)) });",
    `process.on("exit", () => writeFileSync(${JSON.stringify(seen)}, JSON.stringify({ files, parts: process.moduleLoadList })));`,
  ];
  writeFileSync(hook, lines.join("\n"));
  const initialize = { protocolVersion: 1, clientCapabilities: {} };
  const stdout = execFileSync(join(project, "node_modules/.bin/parley"), ["agent"], {
    cwd: project,
    env: {
      ...environment,
      PARLEY_MODEL: "anthropic/claude-opus-5-5",
      ANTHROPIC_API_KEY: "k",
      NODE_OPTIONS: `--import="${hook}"`,
    },
    encoding: "utf8",
    input: `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: initialize })}\n`,
  });
  assert.equal(JSON.parse(stdout).result.protocolVersion, 1);
  const { files, parts }: { files: string[]; parts: string[] } = JSON.parse(readFileSync(seen, "utf8"));
  const foreign = files.filter((url) => !url.includes("/node_modules/@parley/cli/dist/"));
  assert.deepEqual(foreign, [], "neither a dependency nor the whole of a module of Node");
  assert.ok(files.length > 0 && files.length <= 16, files.join("\n"));
  const slow = /^NativeModule (?:crypto|fs\/promises|http|https|sqlite|tls|worker_threads|zlib)$/;
  assert.deepEqual(
    parts.filter((part) => slow.test(part)),
    [],
  );
});

testPages(() => project);
