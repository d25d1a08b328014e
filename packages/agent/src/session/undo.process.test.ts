import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { calls, said, says, scriptedModel, talk, temporaryFolder } from "../../test/support/agent-probe.ts";

const patience = { timeout: 60_000 };

test(
  "/undo in a repository takes back what commands changed, and says that a commit stays",
  patience,
  async (context) => {
    const cwd = temporaryFolder(context, {
      "a.txt": "a\n",
      ".gitignore": "ignored.txt\n",
      "ignored.txt": "i\n",
    });
    const git = (...args: readonly string[]) =>
      execFileSync("git", ["-c", "user.name=n", "-c", "user.email=e@example.org", ...args], {
        cwd,
        encoding: "utf8",
      });
    git("init", "-q");
    git("add", ".");
    git("commit", "-qm", "first");
    const command = "echo b > a.txt && git -c user.name=n -c user.email=e@example.org commit -qam second";
    const model = scriptedModel([
      calls(["bash", { command }], ["read", { path: "ignored.txt" }]),
      calls(["edit", { path: "ignored.txt", edits: [{ oldText: "i", newText: "changed" }] }]),
      says("done"),
    ]);
    const answers = ["allow_once", "allow_once"];
    const { session, updates, end } = await talk({ version: 2, cwd, models: [model], answers });
    await session.prompt("change and commit").result;
    const from = updates.length;
    await session.prompt("/undo").result;
    const answer = said(updates.slice(from));
    assert.match(answer, /- undone a\.txt\n- undone ignored\.txt/);
    assert.match(answer, /commit/);
    assert.equal(readFileSync(join(cwd, "a.txt"), "utf8"), "a\n");
    assert.equal(readFileSync(join(cwd, "ignored.txt"), "utf8"), "i\n");
    assert.match(git("log", "--format=%s"), /^second\nfirst$/m);
    await end();
  },
);

test("a home folder is not covered, and /undo says so", patience, async (context) => {
  const cwd = temporaryFolder(context, {});
  const { HOME } = process.env;
  context.after(() => {
    process.env["HOME"] = HOME;
  });
  process.env["HOME"] = cwd;
  writeFileSync(join(cwd, "a.txt"), "a\n");
  const model = scriptedModel([calls(["delete", { path: "a.txt" }]), says("changed")]);
  const { session, updates } = await talk({ version: 2, cwd, models: [model], answers: ["allow_once"] });
  await session.prompt("change").result;
  await session.prompt("/undo").result;
  assert.match(
    said(updates),
    /There is nothing to undo: no turn has made changes that can be undone\.\nNot covered: .*home folder/,
  );
});
