// Things that must never be committed: traces of somebody's machine, tests that do not run.

import assert from "node:assert/strict";
import { accessSync, constants } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { isTest, read, repositoryFiles, root } from "./source-files.ts";

const files = repositoryFiles();
const binary = /\.(?:png|jpe?g|gif|ico|webp|woff2?|tgz|gz|zip|wasm|sqlite)$/;
const texts = files.filter((file) => !binary.test(file));
// Written in pieces, so that this file does not contain what it looks for. Examples may speak of the
// home of "user", "me" or "you".
const homes = new RegExp(
  ["/(?:ho", "me|Users)/(?!user\\b|me\\b|you\\b)[a-z][\\w.-]*/|/wo", "rk/(?:main|shared)\\b|/ro", "ot/"].join(
    "",
  ),
);
const registryHosts = new RegExp(["registry\\.(?:npmjs|yarnpkg)\\.", "|npm\\.pkg\\.github\\.com"].join(""));

function linesMatching(pattern: RegExp, among: readonly string[]): string[] {
  return among.flatMap((file) =>
    read(file)
      .split("\n")
      .flatMap((line, index) =>
        pattern.test(line) ? [`${file}:${index + 1}: ${line.trim().slice(0, 100)}`] : [],
      ),
  );
}

test("no file names a folder of the machine it was written on", () => {
  assert.deepEqual(linesMatching(homes, texts), []);
});

test("no file names a package registry: the lockfile works with any", () => {
  assert.deepEqual(linesMatching(registryHosts, texts), []);
  const resolved = [...read("package-lock.json").matchAll(/"resolved": "([^"]+)"/g)].map((match) => match[1]);
  assert.deepEqual(
    resolved.filter((target) => /^\w+:/.test(target ?? "")),
    [],
  );
});

test("no dependency runs a script when it is installed", () => {
  assert.doesNotMatch(read("package-lock.json"), /"hasInstallScript"/);
});

test("our extension methods and our keys in _meta have one namespace, parley.dev", () => {
  const others = /["'`]_parley\/|["'`]parley\/[A-Za-z]+["'`]/;
  const sources = texts.filter((file) => /\.(?:ts|md)$/.test(file) && !isTest(file));
  assert.deepEqual(linesMatching(others, sources), []);
});

test("every test file has a test", () => {
  // by itself, or by one of the suites that register tests for several transports, versions or stores
  const registers = /\b(?:test(?:\.\w+|Catalogue|Scenarios)?|it|\w+Contract|inEveryVersion)\s*\(/;
  assert.deepEqual(
    texts.filter(isTest).filter((file) => !registers.test(read(file))),
    [],
  );
});

test("no test is skipped for good or runs alone", () => {
  const marked = linesMatching(
    /\b(?:test|it|describe|suite)\.(?:only|skip|todo)\b|\bonly: true\b/,
    texts.filter(isTest),
  );
  assert.deepEqual(
    marked.filter((line) => !line.startsWith("test/hygiene.test.ts")),
    [],
  );
});

test("files end with a newline and have no carriage returns", () => {
  const wrong = texts.filter((file) => {
    const text = read(file);
    return text !== "" && (!text.endsWith("\n") || text.includes("\r\n"));
  });
  assert.deepEqual(wrong, []);
});

test("scripts that are started by name are executable", () => {
  for (const file of [".ci/run", "packages/cli/bin/parley"]) accessSync(join(root, file), constants.X_OK);
});

test("hover texts cite no rule ids: those are for tests and docs/rules.md", () => {
  const id = /\((?:see )?(?:TH|[ACXQJTBLHWGNFE])\d{1,3}\b/;
  const shipped = texts.filter((file) => /^packages\/[^/]+\/src\/.*\.ts$/.test(file) && !isTest(file));
  const wrong = shipped.flatMap((file) =>
    [...read(file).matchAll(/\/\*\*[\s\S]*?\*\//g)]
      .filter(([comment]) => id.test(comment))
      .map(([comment]) => `${file}: ${comment.slice(0, 80)}`),
  );
  assert.deepEqual(wrong, []);
});
