// A small repository with ignored files, secrets, links and nested rules.

import { mkdirSync, symlinkSync } from "node:fs";
import type { TestContext } from "node:test";
import { type Probe, probe } from "./tool-probe.ts";

export async function searchProject(t: TestContext): Promise<Probe> {
  const made = await probe(t);
  const { put, at } = made;
  mkdirSync(at(".git/info"), { recursive: true });
  put(".git/info/exclude", "private.txt\n");
  put(".git/config", "needle");
  put(".gitignore", "node_modules/\n*.log\n!keep.log\n/build\n");
  put("src/a.ts", "one\nneedle here\nthree\n");
  put("src/build/b.ts", "NEEDLE\n");
  put("src/nested/.gitignore", "*.gen.ts\n!/special.log\n");
  put("src/nested/x.gen.ts", "needle");
  put("src/nested/y.ts", "needle\r\n");
  put("src/nested/special.log", "needle");
  put("build/out.ts", "needle");
  put("node_modules/dep/index.js", "needle");
  put("debug.log", "needle");
  put("keep.log", "needle");
  put("private.txt", "needle");
  put(".github/ci.yml", "needle");
  put(".env", "NEEDLE=needle");
  put("binary", Uint8Array.of(0, 1, 2));
  symlinkSync("..", at("src/loop"));
  return made;
}
