// The code of the documentation passes the compiler as it is printed.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { read, repositoryFiles, root } from "./source-files.ts";

const run = promisify(execFile);
const pages = repositoryFiles().filter((file) =>
  /^(?:README|packages\/[^/]+\/README|docs\/(?:api\/)?[^/]+)\.md$/.test(file),
);

test("every block of TypeScript in the documentation is a whole module without errors", {
  timeout: 120_000,
}, async (t) => {
  // below the repository, where packages are found; named so that nobody commits it
  mkdirSync(join(root, "node_modules/.cache"), { recursive: true });
  const folder = mkdtempSync(join(root, "node_modules/.cache/docs-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  let count = 0;
  for (const page of pages) {
    const name = page.replace(/\.md$/, "").replaceAll("/", "-");
    for (const [at, [, code = ""]] of [...read(page).matchAll(/^```ts\n([\s\S]*?)^```$/gm)].entries()) {
      writeFileSync(join(folder, `${name}-${at + 1}.ts`), `${code}export {};\n`);
      count++;
    }
  }
  assert.ok(count > 20, `only ${count} blocks were found`);
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({ extends: join(root, "tsconfig.json"), include: ["*.ts"] }),
  );
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  const compiled = run(process.execPath, [compiler, "-p", folder, "--pretty", "false"]);
  const printed = await compiled.then(
    ({ stdout }) => stdout,
    ({ stdout, message }: { stdout?: string; message: string }) => stdout || message,
  );
  assert.equal(printed, "");
});

test("npm start prints what README.md shows of it", { timeout: 120_000 }, async (t) => {
  const home = mkdtempSync(join(tmpdir(), "parley-readme-"));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const [, sample = ""] = /^```\n(> [\s\S]*?)^```$/m.exec(read("README.md")) ?? [];
  assert.ok(sample.length > 100);
  const env = { PATH: process.env["PATH"], HOME: home, PARLEY_HOME: home };
  const { stdout } = await run(join(root, "packages/cli/bin/parley"), ["demo"], { env });
  assert.ok(stdout.includes(sample), stdout);
});

test("the commands that docs/run.md says to work without a model do", { timeout: 120_000 }, async (t) => {
  const home = mkdtempSync(join(tmpdir(), "parley-docs-"));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const project = join(home, "project");
  mkdirSync(join(project, "src"), { recursive: true });
  for (const name of ["README.md", "notes.txt", "package.json", "src/main.ts"])
    writeFileSync(join(project, name), `the text of ${name}: TODO\n`);
  const [, block = ""] = /without a model:\n\n```sh\n([\s\S]*?)^```$/m.exec(read("docs/run.md")) ?? [];
  const lines = block.split("\n").filter((line) => line !== "");
  assert.ok(lines.length > 3);
  const env = { PATH: process.env["PATH"], HOME: home, PARLEY_HOME: join(home, "parley") };
  for (const line of lines) {
    const typed = line.replace(/^parley/, '"$0"');
    const { stdout } = await run("/bin/sh", ["-c", typed, join(root, "packages/cli/bin/parley")], {
      env,
      cwd: project,
    });
    assert.doesNotMatch(stdout, /did not understand/, line);
  }
  assert.match(readFileSync(join(project, "answer.txt"), "utf8"), /the text of notes\.txt/);
});
