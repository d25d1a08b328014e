// A bridge between peers that break everything that can be broken: it never hangs, never loses a message that can be
// read, answers every request once, and leaves no process behind.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { gone } from "../../../acp/test/support/channel-probe.ts";
import { prompt, RawEditor, scriptedCommand } from "../../test/support/raw-editor-probe.ts";

const deadline = {
  timeout: 90_000,
  skip: process.platform === "linux" ? false : "finds processes in /proc",
};
/** One version passes, two are translated. */
const pairs = [
  [1, 1],
  [1, 2],
  [2, 1],
] as const;

type Pair = (typeof pairs)[number];
type Steps = NonNullable<NonNullable<Parameters<typeof scriptedCommand>[0]["turns"]>[number]["steps"]>;

function bridged([client, agent]: Pair, steps: Steps): RawEditor {
  const command = scriptedCommand({ editions: [`v${agent}`], turns: [], otherwise: steps });
  return new RawEditor(["bridge", "--as", `v${client}`, "--", ...command]);
}

/** The agent, which is the only child of the bridge that is no watchdog. */
function agentOf(editor: RawEditor): number {
  const { pid } = editor.child;
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").map(Number);
  const found = children.find((child) =>
    readFileSync(`/proc/${child}/cmdline`, "utf8").includes("agent-scenario"),
  );
  return found ?? assert.fail(`no agent among ${children}`);
}

/** Ends as it should: by itself, with nothing left. */
async function leaves(editor: RawEditor, agent: number): Promise<number | null> {
  const { code } = await editor.exit;
  await gone(agent);
  return code;
}

for (const pair of pairs) {
  const name = `v${pair[0]} editor, v${pair[1]} agent`;

  test(
    `${name}: noise between messages costs no message, and half a line at the end nothing`,
    deadline,
    async () => {
      const editor = bridged(pair, [{ say: "hello" }]);
      editor.write(
        Buffer.concat([
          Buffer.from("\n\r\n"),
          Buffer.from("not JSON at all\n"),
          Buffer.from([0xff, 0xfe, 0x0a]),
        ]),
      );
      const sessionId = await editor.open(pair[0]);
      const agent = agentOf(editor);
      const noise = [
        "{",
        "}",
        "[]",
        "[1,2]",
        "null",
        "42",
        '"text"',
        '{"jsonrpc":"2.0"}',
        '{"id":7}',
        '{"jsonrpc":"1.0","method":7}',
        '{"jsonrpc":"2.0","id":{},"method":"session/list"}',
        "[".repeat(5_000),
        "\u0000\u0001",
        '{"jsonrpc":"2.0","id":99999,"result":{}}',
      ];
      for (let n = 0; n < 40; n += 1) {
        editor.write(`${noise[n % noise.length]}\n`);
        if (n % 7 === 0)
          editor.write(
            Buffer.concat([randomBytes(300).map((byte) => (byte === 0x0a ? 0 : byte)), Buffer.from("\n")]),
          );
        editor.send({ id: n, method: "session/list", params: {} });
      }
      for (let n = 0; n < 40; n += 1)
        await editor.until(({ id, method }) => id === n && method === undefined);
      const { result } = await editor.ask("prompt", "session/prompt", prompt(sessionId, "go"));
      assert.ok(result);
      for (let n = 0; n < 40; n += 1) assert.equal(editor.answers(n).length, 1);
      editor.child.stdin.end('{"jsonrpc":"2.0","id":41,"method":"session/li');
      assert.equal(await leaves(editor, agent), 0);
    },
  );

  test(`${name}: a message of 40 MB, either way, does not take the others along`, deadline, async () => {
    const editor = bridged(pair, [{ say: "x", size: 40_000_000 }, { say: "after" }]);
    const sessionId = await editor.open(pair[0]);
    const agent = agentOf(editor);
    editor.send({ id: "large", method: "session/prompt", params: prompt(sessionId, "y".repeat(40_000_000)) });
    editor.send({ id: "small", method: "session/list", params: {} });
    await editor.until(({ id, method }) => id === "small" && method === undefined);
    await editor.ask("prompt", "session/prompt", prompt(sessionId, "go"));
    await editor.until((line) => JSON.stringify(line).slice(0, 1_000).includes('"after"'));
    editor.child.stdin.end();
    assert.equal(await leaves(editor, agent), 0);
  });

  test(
    `${name}: an agent that dies while the user is asked ends everything, with its code`,
    deadline,
    async () => {
      const editor = bridged(pair, [{ tool: { title: "Edit" }, steps: [{ ask: true }] }]);
      const sessionId = await editor.open(pair[0]);
      const agent = agentOf(editor);
      editor.send({ id: "prompt", method: "session/prompt", params: prompt(sessionId, "go") });
      await editor.until(({ method }) => method === "session/request_permission");
      process.kill(agent, "SIGKILL");
      assert.equal(await leaves(editor, agent), 128 + 9);
      if (pair[0] !== pair[1]) assert.equal(editor.answers("prompt").length, 1);
    },
  );

  test(`${name}: an editor that dies while the user is asked takes everything along`, deadline, async () => {
    const editor = bridged(pair, [{ tool: { title: "Edit" }, steps: [{ ask: true }] }]);
    const sessionId = await editor.open(pair[0]);
    const agent = agentOf(editor);
    editor.send({ id: "prompt", method: "session/prompt", params: prompt(sessionId, "go") });
    await editor.until(({ method }) => method === "session/request_permission");
    editor.die();
    assert.equal(await leaves(editor, agent), 0);
  });

  test(`${name}: an editor that dies in a flood takes everything along`, deadline, async () => {
    const editor = bridged(pair, [{ say: "x", size: 1_000, times: 200_000 }]);
    const sessionId = await editor.open(pair[0]);
    const agent = agentOf(editor);
    editor.send({ id: "prompt", method: "session/prompt", params: prompt(sessionId, "go") });
    editor.send({ id: "other", method: "session/list", params: {} });
    await editor.until(({ method }) => method === "session/update");
    // it reads no more, and then it is no more
    editor.child.stdout.pause();
    editor.die();
    assert.equal(await leaves(editor, agent), 0);
  });

  test(`${name}: both leave at once`, deadline, async () => {
    const editor = bridged(pair, [{ crash: { exitCode: 3 } }]);
    const sessionId = await editor.open(pair[0]);
    const agent = agentOf(editor);
    editor.send({ id: "prompt", method: "session/prompt", params: prompt(sessionId, "go") });
    editor.child.stdin.end();
    await leaves(editor, agent);
  });

  test(`${name}: in a storm of cancels every prompt has one answer`, deadline, async () => {
    const editor = bridged(pair, [{ say: "a" }, { wait: "cancelled" }]);
    const sessionId = await editor.open(pair[0]);
    const agent = agentOf(editor);
    const count = 60;
    for (let n = 0; n < count; n += 1) {
      editor.send({ id: n, method: "session/prompt", params: prompt(sessionId, `go ${n}`) });
      for (let m = 0; m < 20; m += 1) {
        editor.send({ method: "$/cancel_request", params: { requestId: (n * m) % count } });
        editor.send({ method: "session/cancel", params: { sessionId } });
        editor.send({ method: "session/cancel", params: { sessionId: "nobody" } });
      }
    }
    editor.send({ method: "session/cancel", params: { sessionId } });
    for (let n = 0; n < count; n += 1)
      await editor.until(({ id, method }) => id === n && method === undefined);
    await editor.ask("last", "session/list", {});
    for (let n = 0; n < count; n += 1) assert.equal(editor.answers(n).length, 1);
    editor.child.stdin.end();
    assert.equal(await leaves(editor, agent), 0);
  });

  test(`${name}: what an agent prints among its messages does no harm`, deadline, async () => {
    const garbage = [
      "plain words\n",
      "\u0000\u0007\u001b[31m\n",
      "{\n",
      "[[[[\n",
      '{"jsonrpc":"2.0","method":7}\n',
      "\n\n",
    ];
    const editor = bridged(
      pair,
      garbage.flatMap((text, n) => [{ raw: text }, { say: `part ${n} ` }]),
    );
    const sessionId = await editor.open(pair[0]);
    const agent = agentOf(editor);
    await editor.ask("prompt", "session/prompt", prompt(sessionId, "go"));
    await editor.until((line) => JSON.stringify(line).includes("part 5 "));
    editor.child.stdin.end();
    assert.equal(await leaves(editor, agent), 0);
  });
}

test("an agent that hears nothing, not even a signal, goes when the editor does", deadline, async () => {
  const script = "trap '' TERM; echo $$ >&2; while :; do sleep 1; done";
  const editor = new RawEditor(["bridge", "--as", "v1", "--", "/bin/sh", "-c", script]);
  const [pid] = await once(editor.child.stderr, "data");
  editor.child.stdin.end();
  assert.equal(await leaves(editor, Number(pid)), 0);
});
