// Tests that updates after the answer to a prompt are not lost.

import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { patience, RunProbe } from "../../test/support/run-probe.ts";

const probe = new RunProbe();

/**
 * An agent that does this for a prompt, and then when its input ends. Its timers are what is tested: how late it speaks.
 * No test waits by them.
 */
function agent(name: string, onPrompt: string, onEnd = "process.exit(0);", version = 1): string[] {
  const file = join(probe.folder, `${name}.mjs`);
  writeFileSync(
    file,
    `import { spawn } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
const line = (message) => JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n";
const out = (...messages) => process.stdout.write(messages.map(line).join(""));
const update = (update) => ({ method: "session/update", params: { sessionId: "s", update } });
const chunk = (text) => update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
const call = (fields) => update({ toolCallId: "t", ...fields });
createInterface({ input: process.stdin })
  .on("line", (text) => {
    const { id, method } = JSON.parse(text);
    const answer = (result) => ({ id, result });
    const done = answer({ stopReason: "end_turn" });
    if (method === "initialize")
      out(answer(${version} === 1
        ? { protocolVersion: 1, agentCapabilities: {} }
        : { protocolVersion: 2, info: { name: "late", version: "1" }, capabilities: { session: {} } }));
    else if (method === "session/new") out(answer({ sessionId: "s" }));
    else if (method === "session/prompt") { ${onPrompt} }
  })
  .on("close", () => { ${onEnd} });
`,
  );
  return ["--", process.execPath, file];
}

/** The test's own time limit ends it. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await pause(20);
}

async function printed(command: readonly string[], ...args: readonly string[]): Promise<string> {
  const ran = await probe.started(["run", "--no-history", "x", ...args, ...command]);
  assert.deepEqual([ran.status, ran.stderr], [0, ""]);
  return ran.stdout;
}

/** The output of an agent that is told what to do in this run. */
async function told(command: readonly string[], does: string): Promise<string> {
  const env = { PARLEY_TEST_DOES: does };
  const { status, stdout } = await probe.started(["run", "--no-history", "x", ...command], { env });
  assert.equal(status, 0);
  return stdout;
}

suite("after the answer", { concurrency: 2 }, () => {
  test(
    "the rest of a message that broke off is waited for, and belongs to it (bug 9)",
    patience,
    async () => {
      const command = agent(
        "broken-off",
        `out(chunk("begin "), done); setTimeout(() => out(chunk("tail")), 50);`,
      );
      assert.equal(await printed(command), "begin tail\n");
      assert.equal(await printed(command, "--format", "quiet"), "begin tail\n");
    },
  );

  test("an agent that has said nothing yet is waited for", patience, async () => {
    assert.equal(
      await printed(agent("mute", `out(done); setTimeout(() => out(chunk("Late.")), 200);`)),
      "Late.\n",
    );
  });

  test("more of what has begun to come is waited for", patience, async () => {
    const onPrompt = `out(chunk("One."), done, chunk(" Two.")); setTimeout(() => out(chunk(" Three.")), 50);`;
    assert.equal(await printed(agent("more", onPrompt)), "One. Two. Three.\n");
  });

  test("the end of a call that is open is waited for", patience, async () => {
    const onPrompt = `
      out(chunk("Fine."), call({ sessionUpdate: "tool_call", title: "Build", status: "in_progress" }), done);
      setTimeout(() => out(call({ sessionUpdate: "tool_call_update", status: "completed" })), 50);`;
    assert.equal(await printed(agent("late-call", onPrompt)), "Fine.\n\n✓ Build\n");
  });

  test("after a turn that took its time, a moment is waited", patience, async () => {
    const onPrompt = `
      out(chunk("Fine."));
      setTimeout(() => { out(done); setTimeout(() => out(chunk(" Late.")), 5); }, 4_000);`;
    assert.equal(await printed(agent("slow", onPrompt)), "Fine. Late.\n");
  });

  test("what an agent writes when its input ends is read to its end", patience, async () => {
    const onPrompt = `out(chunk("Fine."), done);`;
    const onEnd = `for (let i = 0; i < 2_000; i++) process.stdout.write(line(chunk(" " + i)))`;
    const all = `Fine.${Array.from({ length: 2_000 }, (_, at) => ` ${at}`).join("")}\n`;
    const command = agent("at-end", onPrompt, onEnd);
    assert.equal(await printed(command), all);
    assert.equal(await printed(command, "--proxy", "context --text x"), all, "through a proxy");
  });

  test("an agent that neither leaves nor stops talking does not keep the run", patience, async () => {
    const onPrompt = `out(chunk("Fine."), done, chunk("!")); setInterval(() => out(chunk("!")), 20);`;
    const command = agent("talker", onPrompt, "");
    assert.match(await printed(command), /^Fine\.!+\n$/);
  });

  test("what comes shortly after the answer of a short turn is printed", patience, async () => {
    const onPrompt = `out(chunk("Fine."), done); setTimeout(() => out(chunk(" Late.")), 300);`;
    assert.equal(await printed(agent("short", onPrompt, "")), "Fine. Late.\n");
  });

  test("so is it if the agent leaves as soon as its input ends (I3)", patience, async () => {
    const onPrompt = `out(chunk("Fine."), done); setTimeout(() => out(chunk(" Late.")), 100);`;
    assert.equal(await printed(agent("short-leaves", onPrompt)), "Fine. Late.\n");
  });

  test("on version 2 text after the end of a turn is printed, too", patience, async () => {
    const state = (fields: string) => `update({ sessionUpdate: "state_update", ${fields} })`;
    const onPrompt = `
      const text = { sessionUpdate: "agent_message_chunk", messageId: "m", content: { type: "text", text: "Late." } };
      out(answer({ messageId: "u" }), update({ sessionUpdate: "user_message", messageId: "u", content: [] }),
        ${state('state: "running"')}, ${state('state: "idle", stopReason: "end_turn"')});
      setTimeout(() => out(update(text)), 250);`;
    assert.equal(await printed(agent("late-v2", onPrompt, undefined, 2)), "Late.\n");
  });

  test("after three runs without it, late text is not waited for, until some comes", patience, async () => {
    const does = (what: string) => `process.env.PARLEY_TEST_DOES === "${what}"`;
    const command = agent(
      "learned",
      `out(done); if (${does("late")}) setTimeout(() => out(chunk("Late.")), 800);`,
      `if (${does("last")}) out(chunk("Last.")); process.stdout.write("", () => process.exit(0));`,
    );
    assert.equal(await told(command, "late"), "Late.\n");
    for (let run = 1; run <= 3; run += 1) assert.equal(await told(command, "nothing"), "");
    // it leaves as soon as its input ends
    assert.equal(await told(command, "late"), "");
    assert.equal(await told(command, "last"), "Last.\n");
    assert.equal(await told(command, "late"), "Late.\n");
  });

  for (const [how, proxies] of [
    ["alone", []],
    ["behind-a-proxy", ["--proxy", "context --text x"]],
  ] as const)
    test(
      `an agent that leaves slowly, ${how}, neither keeps the run nor is killed by it (G10)`,
      patience,
      async () => {
        const [go, tidy] = [join(probe.folder, `go-${how}`), join(probe.folder, `tidy-${how}`)];
        // it leaves when the run has ended, which the file says
        const onEnd = `
      const timer = setInterval(() => {
        if (!existsSync(${JSON.stringify(go)})) return;
        clearInterval(timer);
        writeFileSync(${JSON.stringify(tidy)}, "");
      }, 10);`;
        const command = agent(`slow-to-leave-${how}`, `out(chunk("Fine."), done);`, onEnd);
        assert.equal(await printed(command, ...proxies), "Fine.\n");
        writeFileSync(go, "");
        await until(() => existsSync(tidy));
      },
    );

  test(
    "an agent that never leaves is ended after the run, with all that it started (G10)",
    patience,
    async () => {
      const mark = `${probe.mark}-stays`;
      const onEnd = `process.on("SIGTERM", () => undefined); spawn("sleep", ["1000"]); setInterval(() => undefined, 1_000);`;
      const command = agent("stays", `out(chunk("Fine."), done);`, onEnd);
      const ran = await probe.started(["run", "--no-history", "x", ...command], {
        env: { PARLEY_TEST_MARK: mark },
      });
      assert.deepEqual([ran.status, ran.stdout], [0, "Fine.\n"]);
      await until(() => probe.leftovers(mark).length === 0);
    },
  );
});
