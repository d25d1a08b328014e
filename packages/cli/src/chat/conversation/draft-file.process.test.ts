import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { chatHome } from "../../../test/support/chat-probe.ts";
import { DraftFile } from "./draft-file.ts";

const module = new URL("draft-file.ts", import.meta.url).href;

/** Another process that writes a draft, and is killed or prints what it found. */
function other(cwd: string, script: string): string {
  const text = `import { DraftFile } from ${JSON.stringify(module)}; let text = ""; const draft = new DraftFile(${JSON.stringify(cwd)}, () => text); ${script}`;
  const args = ["--conditions=parley-source", "--input-type=module", "-e", text];
  return spawnSync(process.execPath, args, { encoding: "utf8", timeout: 60_000 }).stdout;
}

test("two chats in one folder keep their drafts apart, and one that was killed leaves its own to the next", (t) => {
  const { cwd, home } = chatHome(t);
  let text = "mine";
  const draft = new DraftFile(cwd, () => text);
  t.after(() => draft.close());
  draft.flush();
  // the other one does not show what is written here, and what it sends does not delete it
  assert.equal(
    other(
      cwd,
      "console.log(JSON.stringify(draft.kept)); text = 'x'; draft.flush(); text = ''; draft.close();",
    ),
    '""\n',
  );
  assert.equal(readdirSync(join(home, "state", "drafts")).length, 1);
  other(cwd, "text = 'theirs'; draft.flush(); process.kill(process.pid, 'SIGKILL')");
  other(cwd, "text = draft.kept; process.kill(process.pid, 'SIGKILL')");
  assert.equal(
    other(cwd, "console.log(draft.kept); draft.close()"),
    "theirs\n",
    "also when the next one is killed at once",
  );
  text = "";
});

test("the draft of a process that was killed is found, although another process has its pid now", (t) => {
  const { cwd, home } = chatHome(t);
  other(cwd, "text = 'theirs'; draft.flush(); process.kill(process.pid, 'SIGKILL')");
  const folder = join(home, "state", "drafts");
  const [file = ""] = readdirSync(folder);
  // the pid of this process, which runs, with the start of the killed one
  renameSync(join(folder, file), join(folder, file.replace(/\.\d+\./, `.${process.pid}.`)));
  assert.equal(other(cwd, "console.log(draft.kept); draft.close()"), "theirs\n");
});

test("what was typed a tenth of a second ago survives a kill", (t) => {
  const { cwd } = chatHome(t);
  // nothing but the timer of the draft can write it
  other(
    cwd,
    "text = 'a thought'; draft.changed(); setTimeout(() => process.kill(process.pid, 'SIGKILL'), 100);",
  );
  assert.equal(other(cwd, "console.log(draft.kept); draft.close()"), "a thought\n");
});
