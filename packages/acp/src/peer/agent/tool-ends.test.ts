// A tool call always ends, whatever its function said, threw or was refused.

import assert from "node:assert/strict";
import { inEveryVersion, openSession, statuses } from "../../../test/support/peer-probe.ts";
import type { AgentSession, SessionUpdate, ToolCallHandle } from "../../index.ts";

const circular: Record<string, unknown> = {};
circular["self"] = circular;

/** What a callback may try that is refused, and what the call is called. */
const refused: Readonly<Record<string, (tool: ToolCallHandle) => unknown>> = {
  "a diff of a relative path": (tool) => tool.diff({ path: "rel.txt", oldText: "b", newText: "a" }),
  "content that is none": (tool) => tool.update({ content: "text" as never }),
  "an end with locations that are none": (tool) => tool.finish("completed", { locations: "no" as never }),
  "an end that nobody awaits": (tool) => void tool.finish("completed", { title: 1 as never }).catch(() => 0),
  "a completed status beside a title that is none": (tool) =>
    tool.update({ status: "completed", title: 7 as never }),
  "a failure whose message is no text": () => {
    throw Object.assign(new Error(), { message: { odd: true } });
  },
  "a failure whose message is half a character": () => {
    throw new Error("\ud800");
  },
  "an output that no JSON can say": (tool) => tool.finish("completed", { rawOutput: circular }),
  "a relative diff that it goes on after": async (tool) => {
    assert.throws(() => tool.diff({ path: "rel.txt", newText: "a" }), TypeError);
    await tool.add("and on");
  },
};

function final(updates: readonly SessionUpdate[]): string[] {
  return statuses(updates).filter((status) => status !== "pending" && status !== "in_progress");
}

for (const [what, run] of Object.entries(refused)) {
  inEveryVersion(`a tool call ends when it is told ${what}`, async (pair) => {
    const { agent, session, updates } = await openSession(pair, {
      async prompt(turn) {
        await turn.tool({ title: "T" }, run).catch(() => undefined);
        await turn.say("the turn goes on");
      },
    });
    const { stopReason } = await session.prompt("go").result;
    assert.equal(stopReason, "end_turn");
    assert.equal(final(updates).length, 1, statuses(updates).join(" "));
    await agent.close();
  });
}

inEveryVersion(
  "what a tool call showed before a refusal is still shown, with the reason, and the caller gets the reason",
  async (pair) => {
    const reasons: unknown[] = [];
    const { agent, session, updates } = await openSession(pair, {
      async prompt(turn) {
        const running = turn.tool({ title: "T" }, async (tool) => {
          await tool.add("before");
          await tool.diff({ path: "rel.txt", oldText: "b", newText: "a" });
        });
        await running.catch((error: unknown) => reasons.push(error));
      },
    });
    await session.prompt("go").result;
    assert.match(String(reasons[0]), /^TypeError: .*must be an absolute path, got "rel\.txt"/);
    const last = updates.findLast((update) => update.sessionUpdate === "tool_call_update");
    assert.ok(last?.sessionUpdate === "tool_call_update" && last.status === "failed");
    assert.match(JSON.stringify(last.content), /before.*must be an absolute path/);
    await agent.close();
  },
);

inEveryVersion("an announced call whose start is refused ends with its turn", async (pair) => {
  const { agent, session, updates } = await openSession(pair, {
    async prompt(turn) {
      const toolCallId = turn.announce({ title: "T" });
      const start = { toolCallId, title: "T", kind: 5 as never };
      await assert.rejects(
        turn.tool(start, () => undefined),
        TypeError,
      );
      assert.throws(() => turn.announce({ title: 5 as never }), TypeError);
    },
  });
  await session.prompt("go").result;
  assert.deepEqual(final(updates), ["failed"]);
  await agent.close();
});

inEveryVersion("a terminal that a call made is shown in it, and ends with it at the latest", async (pair) => {
  const { agent, session, updates } = await openSession(pair, {
    async prompt(turn) {
      await turn.tool({ title: "T" }, async (tool) => {
        const done = tool.terminal({ command: "ls" });
        await done.write("a");
        done.exit({ exitCode: 3 });
        await tool.terminal({ command: "sleep", cwd: "/tmp" }).write("b");
      });
      await turn.say("and on");
    },
  });
  await session.prompt("go").result;
  const call = updates.filter((update) => update.sessionUpdate === "tool_call_update");
  const shown = call.flatMap(({ content }) => (content == null ? [] : [content.length])).at(-1);
  assert.deepEqual([shown, final(updates)], [2, ["completed"]]);
  const terminals = updates.filter((update) => update.sessionUpdate === "terminal_update");
  assert.deepEqual(
    terminals.map(({ command, cwd, exitStatus }) => [command, cwd, exitStatus]),
    [
      ["ls", "/project", undefined],
      [undefined, undefined, { exitCode: 3 }],
      ["sleep", "/tmp", undefined],
      [undefined, undefined, {}],
    ],
  );
  assert.ok(
    updates.findLastIndex(({ sessionUpdate }) => sessionUpdate === "terminal_update") <
      updates.indexOf(call.at(-1) as SessionUpdate),
  );
  await agent.close();
});

inEveryVersion("background calls that end at once, or begin while another ends, all end", async (pair) => {
  let opened: AgentSession | undefined;
  const gate = Promise.withResolvers<void>();
  const { agent, session, updates } = await openSession(pair, {
    session: {
      open(its) {
        opened = its;
      },
    },
    prompt: (turn) => void turn.say("hi"),
  });
  await session.prompt("go").result;
  assert.ok(opened);
  const first = ["a", "b"].map((title) => opened?.runInBackground({ title }, () => gate.promise));
  const refusing = opened.runInBackground({ title: "c" }, async (tool) => {
    await gate.promise;
    await tool.diff({ path: "rel.txt", newText: "a" });
  });
  // begins in the very moment in which the others end
  const later = gate.promise.then(() => opened?.runInBackground({ title: "d" }, () => undefined));
  gate.resolve();
  await Promise.all([...first, later]);
  await assert.rejects(refusing, TypeError);
  await session.prompt("again").result;
  assert.deepEqual(final(updates).sort(), ["completed", "completed", "completed", "failed"]);
  await agent.close();
});
