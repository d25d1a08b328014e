// Builds and test runs in the sandbox: what they write is no hook and no setting, so nothing is moved aside.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { inSandbox } from "./support/required-sandbox.ts";
import { put, runIn, workplace } from "./support/workplace.ts";

interface Build {
  readonly files: Readonly<Record<string, string>>;
  readonly line: string;
  /** What it must have written. */
  readonly wrote: string;
  /** Ends with 0 where the tool is installed. */
  readonly probe: string;
}

const c = { "main.c": "int main(void) { return 0; }\n" };
const cmake = {
  ...c,
  "CMakeLists.txt": "cmake_minimum_required(VERSION 3.10)\nproject(p C)\nadd_executable(p main.c)\n",
};
const python = { "pyproject.toml": "[project]\nname = 'p'\n", "test_a.py": "def test_a(): pass\n" };

const builds: Readonly<Record<string, Build>> = {
  npm: {
    files: {
      "package.json": '{"name":"p","dependencies":{"dep":"file:dep"},"scripts":{"build":"node -e 0"}}',
      "dep/package.json": '{"name":"dep","version":"1.0.0"}',
    },
    line: "npm install --offline --cache .npm --no-audit --no-fund && npm run build",
    wrote: "node_modules/dep",
    probe: "npm --version",
  },
  CMake: {
    files: cmake,
    line: "cmake -B build . && cmake --build build",
    wrote: "build/p",
    probe: "cmake --version && make --version && cc --version",
  },
  "CMake with Ninja, in the source folder": {
    files: cmake,
    line: "cmake -G Ninja . && ninja",
    wrote: ".ninja_log",
    probe: "cmake --version && ninja --version && cc --version",
  },
  Cargo: {
    files: {
      "Cargo.toml": '[package]\nname = "p"\nversion = "1.0.0"\nedition = "2021"\n',
      "src/main.rs": "fn main() {}\n",
    },
    line: "CARGO_HOME=$PWD/.cargo cargo build --offline",
    wrote: "target/debug/p",
    probe: "cargo --version",
  },
  venv: {
    files: python,
    line: "python3 -m venv --without-pip .venv && .venv/bin/python -c 'import test_a'",
    wrote: ".venv/bin/python",
    probe: "python3 -c 'import venv'",
  },
  pytest: {
    files: python,
    line: "python3 -m pytest -q",
    wrote: ".pytest_cache",
    probe: "python3 -m pytest --version",
  },
  mypy: { files: python, line: "mypy test_a.py", wrote: ".mypy_cache", probe: "mypy --version" },
  ruff: { files: python, line: "ruff check", wrote: ".ruff_cache", probe: "ruff --version" },
  Gradle: {
    files: { "build.gradle": "task hello { doLast { } }\n", "settings.gradle": "" },
    line: "GRADLE_USER_HOME=/tmp/g gradle --offline --no-daemon -q hello",
    wrote: ".gradle",
    probe: "gradle --version",
  },
};

for (const [name, { files, line, wrote, probe }] of Object.entries(builds)) {
  const hasTool = spawnSync("sh", ["-c", probe], { stdio: "ignore", timeout: 20_000 }).status === 0;
  const skip = inSandbox.skip || (!hasTool && "it is not installed");
  test(`${name} builds in the sandbox, also again, and nothing is moved aside`, {
    ...inSandbox,
    skip,
  }, async (t) => {
    const { work, home, open } = workplace(t);
    put(work, files);
    const sandbox = await open();
    for (const _ of [1, 2]) {
      const { code, stdout, stderr, findings } = await runIn(sandbox, line, {
        cwd: work,
        env: { ...process.env, HOME: process.env["HOME"] ?? home, PYTHONDONTWRITEBYTECODE: undefined },
      });
      assert.equal(code, 0, stdout + stderr);
      assert.deepEqual([findings.movedAside, findings.left, findings.created], [[], [], []]);
      assert.ok(existsSync(join(work, wrote)), wrote);
    }
  });
}

/** What tools that npm has left in a project and in node_modules, when they were run: pnpm 12, yarn 1 and 4, Vite 8, Next 16, Turbo 2. */
const recorded =
  `.pnpm-store .pnp.cjs .yarn/cache .yarn/install-state.gz .next .turbo packages/a/.turbo node_modules/.bin
  node_modules/.package-lock.json node_modules/.vite node_modules/.vite-temp`.split(/\s+/);

test(
  "what pnpm, yarn, Vite, Next and Turbo write is not moved aside, and stays writable",
  inSandbox,
  async (t) => {
    const { work, open } = workplace(t);
    put(work, { "package.json": "{}", "packages/a/package.json": "{}" });
    const script = recorded.map((path) => `mkdir -p ${path} && echo new >${path}/x`).join(" && ");
    const sandbox = await open();
    for (const _ of [1, 2]) {
      const { code, findings } = await runIn(sandbox, script, { cwd: work });
      assert.equal(code, 0);
      assert.deepEqual([findings.movedAside, findings.left, findings.created], [[], [], []]);
    }
  },
);
