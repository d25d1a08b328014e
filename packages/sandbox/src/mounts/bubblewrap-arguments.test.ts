import assert from "node:assert/strict";
import { test } from "node:test";
import { bubblewrapArguments, type SandboxPlan } from "./bubblewrap-arguments.ts";
import type { LayoutEntry } from "./layout.ts";

const plan: SandboxPlan = {
  entries: [],
  temporaryFolder: "/tmp/own",
  hasNetwork: false,
  cwd: "/w",
  env: {},
  newSession: false,
  isRoot: false,
  nesting: "user",
  canForbidNesting: true,
  hasVarTmp: true,
  hasOwnProc: true,
};

const line = (more: Partial<SandboxPlan>) => bubblewrapArguments({ ...plan, ...more }).options.join(" ");

test("a command has its own processes, its own network and no capabilities, and ends with its owner", () => {
  const words = line({});
  for (const word of [
    "--die-with-parent",
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-net",
    "--cap-drop ALL",
  ]) {
    assert.ok(words.includes(word), word);
  }
  assert.match(
    words,
    /--ro-bind \/ \/ --dev \/dev --proc \/proc --bind \/tmp\/own \/tmp --bind \/tmp\/own \/var\/tmp/,
  );
  assert.match(words, /--chdir \/w --$/);
  assert.doesNotMatch(words, /--cap-add|--new-session|--disable-userns/);
});

test("entries become mounts in their order", () => {
  const entry = (
    how: LayoutEntry["how"],
    path: string,
    type: LayoutEntry["type"] = "folder",
  ): LayoutEntry => ({
    path,
    how,
    type,
  });
  const entries = [
    entry("empty", "/run"),
    entry("write", "/w"),
    entry("hidden", "/h/.ssh"),
    entry("hidden", "/h/.npmrc", "file"),
    entry("hidden", "/h/.claude"),
    entry("write", "/h/.claude/trees"),
    { ...entry("read", "/run/tools"), source: "/opt/tools" },
  ];
  const words = line({ entries });
  assert.ok(
    words.includes(
      "--perms 0755 --tmpfs /run --bind /w /w --perms 0000 --tmpfs /h/.ssh --ro-bind /dev/null /h/.npmrc " +
        "--perms 0111 --tmpfs /h/.claude --bind /h/.claude/trees /h/.claude/trees --ro-bind /opt/tools /run/tools",
    ),
    words,
  );
});

test("a workspace does not cover the /dev, /proc and /tmp of the sandbox, unless it is /tmp", () => {
  const write = (path: string): LayoutEntry => ({ path, how: "write", type: "folder" });
  const words = line({ entries: [write("/"), write("/tmp"), write("/var")] });
  assert.match(
    words,
    /--ro-bind \/ \/ --bind \/ \/ --bind \/var \/var --dev \/dev .*\/tmp\/own \/var\/tmp --bind \/tmp \/tmp/,
  );
});

test("the kernel does not obey root: its files in /proc are read-only", () => {
  assert.match(line({ isRoot: true }), /--ro-bind-try \/proc\/sys \/proc\/sys /);
  assert.doesNotMatch(line({}), /\/proc\/sys/);
});

test("where no /proc can be mounted, a user namespace of its own is a must, and the /proc around stays read-only", () => {
  const words = line({ hasOwnProc: false, isRoot: true });
  assert.match(words, /--unshare-user --unshare-ipc /);
  assert.doesNotMatch(words, /--proc|-bind(?:-try)? \/proc/);
});

test("programs inside create sandboxes if they may, also as root", () => {
  assert.match(line({ nesting: "never" }), /--unshare-user --disable-userns/);
  assert.doesNotMatch(line({ nesting: "never", canForbidNesting: false }), /--disable-userns/);
  assert.match(line({ nesting: "always", isRoot: true }), /--cap-drop ALL --cap-add CAP_SETFCAP/);
  assert.doesNotMatch(line({ nesting: "user", isRoot: true }), /--cap-add/);
});

test("the network of the host, and that of a forwarder", () => {
  assert.doesNotMatch(line({ hasNetwork: true }), /--unshare-net/);
  const forwarded = line({ forwarderFolder: "/tmp/hosts" });
  assert.match(forwarded, /--unshare-net/);
  assert.match(forwarded, /--ro-bind \/tmp\/hosts \/run\/parley-hosts/);
});

test("mounts that may vanish are read from a file, after the others", () => {
  const entries: LayoutEntry[] = [
    { path: "/w/s", how: "hidden", type: "file", mayVanish: true },
    { path: "/z", how: "write", type: "folder" },
  ];
  const { options, vanishing } = bubblewrapArguments({ ...plan, entries });
  assert.match(options.join(" "), /--bind \/z \/z --args 7 --chdir/);
  assert.deepEqual(vanishing, ["--ro-bind", "/dev/null", "/w/s"]);
  assert.doesNotMatch(line({}), /--args/);
});
