// The turns of the agent written with agent(), by the text of the prompt.

import { RequestError, type Turn } from "@parley/acp";
import { appCommands, appPlan } from "./app-samples.ts";
import { elicitationForm, trickyText } from "./v1-samples.ts";
import { outcomeOf } from "./wire-script.ts";

async function everyUpdate(turn: Turn): Promise<void> {
  await turn.think("hm");
  await turn.say(trickyText);
  await turn.say(" and more");
  await turn.plan(appPlan);
  await turn.tool(
    {
      title: "Edit a.ts",
      kind: "edit",
      name: "edit",
      toolCallId: "call-1",
      locations: [{ path: "/project/a.ts", line: 3 }],
      rawInput: { path: "a.ts" },
    },
    async (tool) => {
      await tool.add("working");
      await tool.diff({ path: "/project/a.ts", oldText: "a\n", newText: "b\n" });
      await tool.finish("completed", { rawOutput: ["ok", 1] });
    },
  );
  await turn
    .tool({ title: "Fails", toolCallId: "call-2" }, () => {
      throw new Error("no such luck");
    })
    .catch(() => undefined);
  await turn.tool({ title: "Run", kind: "execute", toolCallId: "call-3" }, async (tool) => {
    const terminal = tool.terminal({ command: "npm test" });
    await terminal.write("\u001b[1mpassed\u001b[0m\n");
    terminal.exit({ exitCode: 0 });
  });
  turn.session.setTitle("A title");
  await turn.usage({ used: 10, size: 100, cost: { amount: 0.25, currency: "USD" } });
  await turn.notice("warning", "Careful", "slow");
  turn.session.setAvailableCommands(appCommands.slice(0, 1));
  await turn.update({ sessionUpdate: "compaction_update", compactionId: "c1", status: "in_progress" });
  const summary = { type: "text", text: "sum" } as const;
  await turn.update({ sessionUpdate: "compaction_summary_chunk", compactionId: "c1", content: summary });
  await turn.update({ sessionUpdate: "compaction_update", compactionId: "c1", status: "completed" });
}

function untilCancelled(turn: Turn): Promise<void> {
  return new Promise((resolve) => turn.signal.addEventListener("abort", () => resolve(), { once: true }));
}

export const appTurns: Readonly<Record<string, (turn: Turn) => Promise<unknown>>> = {
  "every update": everyUpdate,
  ask: (turn) =>
    turn.tool({ title: "Edit b.ts", kind: "edit", toolCallId: "call-4" }, async (tool) => {
      await tool.diff({ path: "/project/b.ts", newText: "new\n" });
      return [await tool.requestPermission(), await turn.requestPermission("never mind")];
    }),
  // the client leaves this question open
  hang: async (turn) => {
    const allowed = await turn.tool({ title: "hang" }, (tool) => tool.requestPermission());
    if (allowed !== undefined) throw new Error("a cancelled question was taken for a yes");
  },
  "until cancelled": async (turn) => {
    await turn.say("waiting");
    await untilCancelled(turn);
  },
  elicit: async (turn) => {
    if (elicitationForm.mode !== "form") return undefined;
    const { mode, message, requestedSchema } = elicitationForm;
    return [
      await turn.elicit({ mode, message, requestedSchema: requestedSchema as never }), // alike in both versions
      await turn.elicit({
        mode: "url",
        message: "sign in",
        elicitationId: "e1",
        url: "https://example.com/sign-in",
      }),
    ];
  },
  files: async (turn) => {
    const { files } = turn.client;
    if (files === undefined) return "no files";
    const path = (name: string) => `${turn.session.cwd}/${name}`;
    await files.writeText(path("deep/b.txt"), "one\ntwo\nthree\n");
    return [
      await files.readText(path("deep/b.txt"), { line: 2, limit: 1 }),
      await outcomeOf(files.readText(path("missing"))),
    ];
  },
  terminals: (turn) =>
    turn.tool({ title: "Run", kind: "execute", toolCallId: "call-5" }, async (tool) => {
      const { terminals } = turn.client;
      if (terminals === undefined) return "no terminals";
      const terminal = await terminals.create({
        command: process.execPath,
        args: ["-e", "console.log(process.env.WHO, process.cwd())"],
        env: { WHO: "agent" },
        outputByteLimit: 1000,
      });
      try {
        await tool.add({ type: "terminal", terminalId: terminal.terminalId });
        const exit = await terminal.waitForExit();
        const again = await terminal.waitForExit();
        const output = await terminal.output();
        await terminal.kill();
        return { exit, again, output };
      } finally {
        await terminal.release();
      }
    }),
  extensions: async (turn) => [
    await turn.client.request("_parley.test/echo", { text: trickyText }),
    await outcomeOf(turn.client.request("_parley.test/nothing", {})),
  ],
  "who is there": async (turn) => ({
    info: turn.client.info,
    features: turn.client.capabilities,
    roots: turn.session.roots,
    mcpServers: turn.session.mcpServers,
  }),
  fail: async () => {
    throw new RequestError("other", "this always fails", {
      code: 4242,
      data: { why: ["it", { must: true }] },
    });
  },
};
