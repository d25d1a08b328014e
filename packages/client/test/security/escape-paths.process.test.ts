// No path leads an agent out of the workspace, even where everything is allowed.

import assert from "node:assert/strict";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parseRule } from "@parley/client/policy";
import { type Attempt, type Ground, ground, hostile, secret, tally } from "./hostile-probe.ts";

const posix = { skip: process.platform === "win32" ? "needs POSIX links" : false, timeout: 120_000 };
const everything = [parseRule("*", { effect: "allow", origin: "launch" })];

/** Links of every kind, and the paths that try to get out by them, around them, or without them. */
function escapes({ root, outside, at, put }: Ground): string[] {
  put("in/file", "inside\n");
  put("in/deep/file", "inside\n");
  const links: Readonly<Record<string, string>> = {
    "out-file": join(outside, "secret"),
    "out-dir": outside,
    "out-relative": "../outside",
    "in/deep/out": "../../../outside",
    up: "..",
    "in/up-twice": "../..",
    top: "/",
    self: ".",
    "chain-1": "chain-2",
    "chain-2": "chain-3",
    "chain-3": "../outside/sub",
    "chain-in": "self/self/up/outside",
    dangling: join(outside, "new-file"),
    "dangling-dir": join(outside, "new-dir"),
    "proc-root": "/proc/self/root",
    "proc-cwd": "/proc/self/cwd",
    fd: "/dev/fd",
    loop: "loop",
    "evil-prefix": `${root}-evil`,
  };
  for (const [name, target] of Object.entries(links)) symlinkSync(target, at(name));
  const inside = [
    "out-file",
    "out-dir/secret",
    "out-dir/sub/secret",
    "out-dir/sub/../secret",
    "out-relative/secret",
    "in/deep/out/secret",
    "in/deep/out/sub/secret",
    "up/outside/secret",
    "up/w/out-dir/secret",
    "in/up-twice/outside/secret",
    `top${outside}/secret`,
    "top/etc/passwd",
    "self/out-dir/secret",
    "self/self/self/up/outside/secret",
    "chain-1/secret",
    "chain-in/secret",
    "dangling",
    "dangling/x",
    "dangling-dir/x",
    "dangling-dir/x/y",
    `proc-root${outside}/secret`,
    "proc-root/etc/passwd",
    "proc-cwd/../outside/secret",
    "fd/0",
    "fd/../../proc/self/environ",
    "loop/secret",
    "evil-prefix/secret",
    "../outside/secret",
    "../w-evil/secret",
    "in/../../outside/secret",
    "in/./../../outside/./secret",
    "in//..//..//outside//secret",
    "./../outside/secret",
    "in/deep/../../../outside/secret",
    "nothing/../../outside/secret",
    "in/file/../../../outside/secret",
    "..%2foutside%2fsecret",
    "%2e%2e/outside/secret",
    "..\\outside\\secret",
    "in/..;/..;/outside/secret",
    "\u2024\u2024/outside/secret",
    "\uff0e\uff0e/outside/secret",
    "in\u0000/../../outside/secret",
    "out-dir/secret/",
    "out-dir/secret/.",
    "out-dir//secret",
    "out-dir/./sub/./secret",
    "~/secret",
    "$HOME/secret",
  ].map(at);
  const absolute = [
    join(outside, "secret"),
    `${root}-evil/secret`,
    `${root}/../outside/secret`,
    `//${join(outside, "secret")}`,
    `/proc/self/root${outside}/secret`,
    `/proc/self/cwd/../outside/secret`,
    "/proc/self/environ",
    "/proc/1/environ",
    "/etc/passwd",
    "/dev/stdin",
    "/dev/fd/0",
    `file://${outside}/secret`,
    "../outside/secret",
    "outside/secret",
    "~/secret",
    "",
    `${root}/${"in/../".repeat(600)}../outside/secret`,
    `${root}/${"x".repeat(300)}/../../outside/secret`,
  ];
  return [...inside, ...absolute];
}

test("no path leads out of the workspace, to read, to write or to run in (TH1)", posix, async (t) => {
  const workspace = ground(t);
  const paths = escapes(workspace);
  assert.ok(new Set(paths).size >= 60, `only ${paths.length} paths`);
  const before = workspace.outsideNow();
  const { attempt } = await hostile(t, workspace.root, { rules: everything });
  const attempts = paths.flatMap((path): Attempt[] => [
    { act: "read", path },
    { act: "write", path, content: "written by the agent" },
    { act: "run", command: "/bin/sh", args: ["-c", "pwd -P"], cwd: path },
  ]);
  const results = await attempt(attempts);
  const violations = attempts.flatMap((tried, at) => {
    const { value = "" } = results[at] ?? {};
    const isOut =
      value.includes(secret.trim()) ||
      value.includes("root:") ||
      (tried.act === "run" && value !== "" && !`${value.trim()}/`.startsWith(`${workspace.root}/`));
    return isOut ? [`${JSON.stringify(tried)}: ${value.slice(0, 100)}`] : [];
  });
  if (workspace.outsideNow() !== before) violations.push("something outside has changed");
  const [control] = await attempt([{ act: "read", path: workspace.at("in/file") }]);
  assert.equal(control?.value, "inside\n", "the agent can do what it may");
  tally(t, "escape paths", attempts.length, violations);
});
