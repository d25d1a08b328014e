import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { explainFailure, installCommand, isAtLeast, type Observed } from "./explain-failure.ts";
import { findTool } from "./find-tool.ts";

const observed: Observed = {
  platform: "linux",
  distribution: ["ubuntu", "debian"],
  program: "/usr/bin/bwrap",
  output: "bwrap: setting up uid map: Permission denied\n",
  apparmorRestricts: false,
  userNamespacesOff: false,
  isContainer: false,
  isInSandbox: false,
  isRoot: false,
  isSetuid: false,
};

test("each reason why no sandbox can start has its own fix", () => {
  const fix = (more: Partial<Observed>) => {
    const { problem, reason, fix } = explainFailure({ ...observed, ...more });
    return `${problem}: ${reason} => ${fix}`;
  };
  assert.equal(
    fix({ platform: "darwin" }),
    "not_linux: there is no sandbox for macOS yet => run Parley on Linux, in a virtual machine or in WSL 2",
  );
  assert.match(fix({ platform: "win32" }), /^not_linux: .*Windows/);
  assert.match(fix({ program: undefined }), /^not_installed: .* => sudo apt-get install bubblewrap socat$/);
  assert.match(
    fix({ oldVersion: "0.4.1" }),
    /^too_old: \/usr\/bin\/bwrap is version 0\.4\.1, but at least 0\.6\.0 is needed/,
  );
  assert.match(fix({ apparmorRestricts: true }), /^apparmor: .*uid map.* => .*\/etc\/apparmor\.d\/bwrap/);
  assert.match(
    fix({ userNamespacesOff: true }),
    /^no_user_namespaces: .* => sudo sysctl -w user\.max_user_namespaces/,
  );
  assert.match(fix({ isContainer: true, apparmorRestricts: true }), /^container: .*seccomp=unconfined/);
  assert.match(
    fix({ isInSandbox: true, isContainer: true }),
    /^in_sandbox: this program runs in a sandbox, .*uid map.* => run this program outside/,
  );
  assert.match(fix({}), /^other: .*Permission denied/);
  assert.match(fix({ output: "" }), /^other: .*it printed nothing/);
});

test("every distribution has its command, and versions are compared as numbers", () => {
  const commands = ["fedora", "arch", "alpine", "opensuse-leap", "nixos"].map((name) =>
    installCommand([name], true),
  );
  assert.deepEqual(
    commands.map((command) => command.split(" ")[0]),
    ["dnf", "pacman", "apk", "zypper", "nix-env"],
  );
  assert.match(installCommand(["unheard-of"], false), /package manager/);
  assert.deepEqual(
    [isAtLeast("0.10.0", "0.8.0"), isAtLeast("0.5.9", "0.6.0"), isAtLeast("0.6.0", "0.6.0")],
    [true, false, true],
  );
});

test("bubblewrap is never taken from the workspace, not even through a link", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "parley-tools-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const name of ["work/bin", "links", "tools"]) mkdirSync(join(folder, name), { recursive: true });
  for (const name of ["work/bin/parley-tool", "tools/parley-tool"]) {
    writeFileSync(join(folder, name), "#!/bin/sh\n");
    chmodSync(join(folder, name), 0o755);
  }
  symlinkSync(join(folder, "work/bin/parley-tool"), join(folder, "links/parley-tool"));
  const path = ["work/bin", "links", "tools"].map((name) => join(folder, name)).join(":");
  assert.equal(findTool("parley-tool", path, [join(folder, "work")]), join(folder, "tools/parley-tool"));
  assert.equal(findTool("parley-tool", `relative:${path}`, []), join(folder, "work/bin/parley-tool"));
  assert.equal(findTool("parley-none", path, []), undefined);
});
