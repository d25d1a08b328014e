// Agents that answer with nonsense, and what the user of `parley run` sees of it.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { eventsOf, interruptAt, patience, RunProbe } from "../../test/support/run-probe.ts";

const probe = new RunProbe();

for (const [what, result] of [
  ["no stop reason", {}],
  ["nothing", null],
  ["a stop reason that is no text", { stopReason: 7 }],
] as const) {
  test(
    `an agent that answers a prompt with ${what} has broken the protocol, and nobody waits for it`,
    patience,
    async () => {
      const replies = [{ method: "session/prompt", result }];
      const ran = await probe.run({ editions: ["v1"], wire: { replies } }, []);
      assert.equal(ran.status, 1, ran.stderr);
      assert.match(
        ran.stderr,
        /^parley: the agent violated the protocol: session\/prompt.*\nparley: record its messages with parley tap /,
      );
    },
  );
}

test("C53 of a diff without a patch the files are shown", patience, async () => {
  const changes = [
    { operation: "modify", path: join(probe.cwd, "a.txt") },
    { operation: "move", oldPath: join(probe.cwd, "b.txt"), path: join(probe.cwd, "c.txt") },
    { operation: "delete", path: join(probe.cwd, "d.txt") },
  ];
  const content = [{ type: "diff", changes }];
  const call = { sessionUpdate: "tool_call_update", toolCallId: "t", title: "Edit", status: "completed" };
  const ran = await probe.run({ editions: ["v2"], otherwise: [{ rawUpdate: { ...call, content } }] });
  assert.equal(ran.status, 0, ran.stderr);
  assert.equal(ran.stdout, "✓ Edit\n    a.txt\n    b.txt → c.txt\n    d.txt (deleted)\n");
});

test("an agent that gives a session no name has broken the protocol", patience, async () => {
  for (const version of [1, 2] as const) {
    const replies = [{ method: "session/new", patch: { sessionId: "" } }];
    const ran = await probe.run({ editions: [`v${version}`], wire: { replies } });
    assert.equal(ran.status, 1, ran.stderr);
    assert.match(
      ran.stderr,
      /^parley: the agent violated the protocol: session\/new: result\/sessionId must not be empty\nparley: record its messages with parley tap /,
    );
  }
});

test("a title of a million characters is cut", patience, async () => {
  const ran = await probe.run([{ tool: { title: "x".repeat(1_000_000), kind: "other" }, steps: [] }], []);
  assert.equal(ran.status, 0, ran.stderr);
  assert.match(ran.stdout, /^✓ x{1000}…\n$/);
});

test(
  "a diff is shown with every line that it changes, whatever those and its path look like",
  patience,
  async () => {
    const oldText = "keep\n-- a comment\n";
    // the sequence would take a line with it that a shell runs
    const newText = "keep\n++ i\nindex me\n: \u001b]0;\nrm -rf .\n\u0007\n";
    const path = "/nowhere/a\n@@ -1 +1 @@\n+harmless";
    const ran = await probe.run(
      [{ tool: { title: "Edit", kind: "edit" }, steps: [{ diff: { path, oldText, newText } }] }],
      [],
    );
    assert.equal(ran.status, 0, ran.stderr);
    const lines = ran.stdout
      .split("\n")
      .slice(2)
      .map((line) => line.trim());
    assert.deepEqual(lines, [
      "1   keep",
      "2 - -- a comment",
      "2 + ++ i",
      "3 + index me",
      "4 + : \\u001b]0;",
      "5 + rm -rf .",
      "6 + \\u0007",
      "",
    ]);
  },
);

test("what an agent wrote to stdout and nobody could read is told in one line", patience, async () => {
  const scenario = {
    wire: { greeting: ["Welcome to \u001b[31mmy agent\u001b[0m!"] },
    otherwise: [
      { say: "one " },
      { raw: "debug: 1" },
      { raw: "42" },
      { raw: '{"jsonrpc":"2.0",' },
      { say: "two" },
    ],
  };
  const text = await probe.run(scenario);
  assert.deepEqual([text.status, text.stdout], [0, "one two\n"]);
  assert.equal(
    text.stderr,
    "parley: the agent wrote 4 lines to stdout that are not messages, skipped; the first begins: Welcome to my agent!\n",
  );
  const notices = eventsOf(await probe.run(scenario, ["--json"])).filter(({ type }) => type === "notice");
  assert.match(String(notices[0]?.["message"]), /wrote 4 lines to stdout/);
  assert.equal(notices.length, 1);
});

test("a message that is too large to be read is told", patience, async () => {
  const { status, stdout, stderr } = await probe.run([
    { say: "x", size: 33 * 1024 * 1024 },
    { say: "small" },
  ]);
  assert.deepEqual([status, stdout], [0, "small\n"]);
  assert.match(
    stderr,
    /^parley: the agent sent a message that is too large, rejected; it begins \(346\d{5} bytes\): \{"jsonrpc"[^\n]{70,90}…\n$/,
  );
});

test("what a program prints that never becomes an agent is told too", patience, async () => {
  const { status, stderr } = await probe.parley(["run", "--no-history", "x", "--", "echo", "usage: echo"]);
  assert.equal(status, 5);
  assert.match(
    stderr,
    /^parley: the agent wrote a line to stdout that is not a message, skipped; it begins: usage: echo\n/,
  );
});

test("who sees no progress is told what a slow agent is waited for, and how long", patience, async () => {
  const starting = ["sh", "-c", "echo loading the model >&2; exec sleep 600"];
  const opening = probe.agent({ wire: { replies: [{ method: "session/new", answer: "never" }] } });
  const run = (command: readonly string[], ...args: string[]) =>
    probe.parley(["run", "--no-history", "--timeout", "8", ...args, "x", "--", ...command]);
  const [text, json, session] = await Promise.all([run(starting), run(starting, "--json"), run(opening)]);
  const waiting = /^parley: waiting for the agent to start, 8 s at most: loading the model\n/;
  assert.match(text.stderr, waiting);
  assert.equal(text.stderr.match(/waiting/g)?.length, 1);
  assert.deepEqual(
    eventsOf(json).map(({ type, message }) => [type, message]),
    [
      ["notice", "waiting for the agent to start, 8 s at most: loading the model"],
      ["end", undefined],
    ],
  );
  assert.match(session.stderr, /^parley: waiting for the agent to open the session, 8 s at most\n/);
});

test("an agent that says no in several lines does not speak for Parley", patience, async () => {
  const replies = [
    { method: "initialize", error: { code: -32603, message: "no\nparley: all is well\u001b[2J" } },
  ];
  const { status, stderr } = await probe.run({ wire: { replies } });
  assert.equal(status, 5);
  assert.match(stderr, /refused initialize: no\n {2}parley: all is well \(-32603\)\nparley: /);
});

/** Goes on after a cancel as if there had been none. */
const deaf = `
  const lines = require("node:readline").createInterface({ input: process.stdin });
  const send = (message) => console.log(JSON.stringify({ jsonrpc: "2.0", ...message }));
  const write = (id, name) =>
    send({ id, method: "fs/write_text_file", params: { sessionId: "s", path: process.cwd() + "/" + name, content: "x" } });
  let prompt;
  lines.on("line", (line) => {
    const { id, method } = JSON.parse(line);
    if (method === "initialize") send({ id, result: { protocolVersion: 1, agentCapabilities: {} } });
    if (method === "session/new") send({ id, result: { sessionId: "s" } });
    if (method === "session/prompt") prompt = id, write("early", "early.txt");
    const content = { type: "text", text: "working" };
    const update = { sessionUpdate: "agent_message_chunk", content };
    if (id === "early") send({ method: "session/update", params: { sessionId: "s", update } });
    if (method === "session/cancel") write("late", "late.txt");
    if (id === "late") send({ id: prompt, result: { stopReason: "cancelled" } });
  });`;

test("TH3 an agent changes nothing more once its user has cancelled", patience, async () => {
  const args = ["run", "--no-history", "go", "--allow", "write *.txt", "--", process.execPath, "-e", deaf];
  const { status, stderr } = await probe.parley(args, interruptAt("working"));
  assert.equal(status, 130, stderr);
  assert.deepEqual(
    ["early.txt", "late.txt"].map((name) => existsSync(join(probe.cwd, name))),
    [true, false],
  );
});
