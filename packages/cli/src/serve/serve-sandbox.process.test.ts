// `parley serve --sandbox`: what remote clients ask of the agent stays in its working directory.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { inSandbox } from "../../../sandbox/test/support/required-sandbox.ts";
import { workplace } from "../../../sandbox/test/support/workplace.ts";
import { RunProbe } from "../../test/support/run-probe.ts";
import { startServe } from "../../test/support/serve-probe.ts";

const probe = new RunProbe();
const packageFolder = join(import.meta.dirname, "../..");
const agent = [process.execPath, join(import.meta.dirname, "../../../client/test/support/shell-agent.ts")];

test(
  "a served agent in a sandbox writes only to its directory, and reads neither secrets nor the token (TH20)",
  inSandbox,
  async (t) => {
    const { home, work, outside } = workplace(t);
    const file = join(work, "token");
    const token = "t".repeat(43);
    writeFileSync(file, token, { mode: 0o600 });
    const args = ["--sandbox", "--cwd", work, "--token-file", file, "--", ...agent];
    const { url } = await startServe(t, probe, args, { HOME: home, PARLEY_HOME: join(home, "parley") });
    const ask = (script: string) =>
      probe.parley(["run", "--no-history", "--url", url, script], {
        cwd: work,
        env: { PARLEY_TOKEN: token },
      });
    const wrote = await ask(`echo new >file; echo evil >${outside}/file; echo evil >~/.bashrc; echo done`);
    assert.equal(wrote.status, 0, wrote.stderr);
    assert.match(wrote.stdout, /done/);
    assert.equal(readFileSync(join(work, "file"), "utf8"), "new\n");
    assert.equal(readFileSync(join(outside, "file"), "utf8"), "kept");
    assert.equal(readFileSync(join(home, ".bashrc"), "utf8"), "kept");
    const read = await ask(`cat ~/.npmrc ~/.ssh/id_ed25519; cat ${file}; cat file; echo done`);
    assert.equal(read.status, 0, read.stderr);
    assert.match(read.stdout, /new\n/);
    assert.doesNotMatch(read.stdout, /SECRET|tttt/);
    assert.ok(existsSync(file));
  },
);

test(
  "Parley's own agent runs in a sandbox from a checkout in /tmp, which is private inside",
  inSandbox,
  (t) => {
    const { home, work } = workplace(t);
    const checkout = mkdtempSync("/tmp/parley-checkout-");
    t.after(() => rmSync(checkout, { recursive: true }));
    const copy = join(checkout, "packages/cli");
    for (const name of ["bin", "src", "package.json", "config.schema.json"])
      cpSync(join(packageFolder, name), join(copy, name), { recursive: true });
    symlinkSync(join(packageFolder, "../../node_modules"), join(checkout, "node_modules"));
    writeFileSync(join(work, "notes.txt"), "the answer is 42\n");
    const env = { ...process.env, HOME: home, PARLEY_HOME: join(home, "parley"), PARLEY_MODEL: "offline" };
    const args = ["run", "--no-history", "--sandbox", "agent", "read notes.txt"];
    const { status, stdout, stderr } = spawnSync(join(copy, "bin/parley"), args, {
      cwd: work,
      env,
      encoding: "utf8",
    });
    assert.equal(status, 0, stderr);
    assert.match(stdout, /the answer is 42/);
  },
);
