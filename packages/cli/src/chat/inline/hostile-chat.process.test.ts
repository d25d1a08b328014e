// Tests the conversation on a screen against agents, folders and keys that mean harm.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { SessionView } from "@parley/acp/view";
import { chatHome, patience } from "../../../test/support/chat-probe.ts";
import { faceWith, keys } from "../../../test/support/face-probe.ts";
import { SessionReview } from "../review/session-review.ts";

const answers = { otherwise: [{ say: "Done." }] } as const;

test("Esc stops a command of the user, also one whose output another process holds", patience, async (t) => {
  const { send, shows, terminal, session } = await faceWith(t, answers);
  await shows(/^far(?! · starting)/);
  send("!echo begun; exec sleep 1000");
  await shows(/begun/);
  terminal.press(keys.escape);
  await shows(/✗/);
  // the shell has ended, and what it left behind is in no group of it
  const away = `["-c", "printf aw%s ay; exec sleep 9"], { detached: true, stdio: "inherit" }`;
  send(`!${process.execPath} -e 'require("child_process").spawn("sh", ${away}).unref()'`);
  await shows(/^ +away/m);
  const started = performance.now();
  terminal.press(keys.escape);
  await shows(() => !session.runsCommand);
  assert.ok(performance.now() - started < 8_000, "it waited for the other process");
});

test("TH5 an agent cannot change the output of a command of the user", patience, async (t) => {
  const { send, shows, session } = await faceWith(t, answers);
  await shows(/^far(?! · starting)/);
  send("!echo mine");
  await shows(/mine/);
  const before = session.view.seq;
  const known = [...session.view.toolCalls.keys()];
  assert.ok(
    known.every((id) => !Array.from({ length: before + 1 }, (_, at) => `parley-shell-${at}`).includes(id)),
  );
});

test(
  "a snapshot that hangs on a pipe of the agent holds neither the next prompt nor the end",
  patience,
  async (t) => {
    const { send, far, shows, terminal, cwd, conversation, reviews } = await faceWith(t, {
      otherwise: [{ wait: { gate: "go" } }, { say: "Done." }],
    });
    execFileSync("git", ["init", "-q"], { cwd });
    writeFileSync(join(cwd, "a.txt"), "a\n");
    send("work");
    await far.agent.reached("go");
    // git waits for ever for somebody who writes into it
    execFileSync("mkfifo", [join(cwd, ".gitignore")]);
    far.agent.open("go");
    await shows(/Done\.[\s\S]*working/);
    terminal.press(keys.escape);
    await shows(/^far(?! · (?:working|stopping))/m);
    const started = performance.now();
    await conversation.close();
    await Promise.all([...reviews.values()].map((review) => review.close()));
    assert.ok(performance.now() - started < 20_000, "git was waited for");
  },
);

test("TH4 an agent that names very many files does not hold the end of its turn", patience, async (t) => {
  const { cwd } = chatHome(t);
  const notices: string[] = [];
  const review = new SessionReview({
    roots: [cwd],
    notice: (text) => notices.push(text),
  });
  t.after(() => review.close());
  await review.begin();
  const files = new Map<string, object>();
  const view = { files } as unknown as SessionView; // what is read
  for (let at = 0; at < 100_000; at++) {
    files.set(join(cwd, `f${at}`), {});
    review.observe(view);
  }
  assert.equal(notices.length, 1);
  assert.match(notices[0] ?? "", /more than 1,000 files/);
  assert.equal(await review.end(), undefined);
});

test(
  "TH5 a session that the agent says is elsewhere is opened there only if the user agrees",
  patience,
  async (t) => {
    const sessions = [{ sessionId: "far-1", cwd: "/", title: "Harmless" }];
    const { send, shows, terminal, conversation } = await faceWith(t, { ...answers, sessions });
    await shows(/^far(?! · starting)/);
    const choose = async () => {
      send("/resume Harmless ");
      await shows(/│ > Harmless/);
      terminal.press(keys.enter);
      await shows(/says that this session works in \/\n[\s\S]*y yes/);
    };
    await choose();
    terminal.press(keys.enter);
    await shows((text) => !text.includes("works in"));
    assert.equal(conversation.sessions.length, 1);
    await choose();
    terminal.press("y");
    await shows(() => conversation.current.cwd === "/");
  },
);
