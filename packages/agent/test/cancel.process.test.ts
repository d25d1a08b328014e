// Tests a cancel in every state of a turn, through the real command.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { ClientSession, SessionUpdate } from "@parley/acp";
import { withFake } from "./fake-provider/asking.ts";
import { chatEvents, chunk } from "./fake-provider/chat-wire.ts";
import { type Answer, streamed } from "./fake-provider/fake-provider.ts";
import { said } from "./support/agent-probe.ts";
import { scriptServer } from "./support/mcp-probe.ts";
import { fileAppears, isGone } from "./support/polling.ts";
import { home, patience, start } from "./support/process-probe.ts";

interface State {
  readonly name: string;
  /** What the model answers first. Its `cancel` ends the turn. */
  answer(cancel: () => void, gone: (how: string) => void): Answer;
  /** Cancels when the client sees this. */
  isReached?(update: SessionUpdate): boolean;
  readonly atQuestion?: boolean;
  /** With an MCP server whose tool never answers. */
  readonly hasServer?: boolean;
}

/** Says where it is, and that it was cancelled. */
const patientServer = `const answer = (method, params) => {
  writeFileSync("pid", String(process.pid));
  if (method === "initialize") return hello({ tools: {} });
  if (method === "tools/list") return { tools: [tool("wait")] };
  if (method === "tools/call")
    notify("notifications/progress", { progressToken: params._meta.progressToken, progress: 1, message: "has begun" });
  if (method === "notifications/cancelled") writeFileSync("cancelled", "");
};`;

const bash = (command: string) =>
  streamed(chatEvents({ calls: [{ id: "call_1", name: "bash", json: [JSON.stringify({ command })] }] }));

const states: readonly State[] = [
  {
    name: "the model has not answered yet",
    answer: (cancel, gone) => async (exchange) => {
      cancel();
      gone(await exchange.closed);
    },
  },
  {
    name: "the model is streaming",
    answer: (_, gone) => async (exchange) => {
      exchange.open();
      await exchange.write(chunk({ role: "assistant", content: "Once upon" }));
      gone(await exchange.closed);
    },
    isReached: (update) => said([update]).startsWith("Once upon"),
  },
  {
    name: "the model is in the middle of a call",
    answer: (cancel, gone) => async (exchange) => {
      exchange.open();
      const call = {
        index: 0,
        id: "call_1",
        type: "function",
        function: { name: "bash", arguments: '{"comm' },
      };
      await exchange.write(chunk({ role: "assistant", tool_calls: [call] }));
      cancel();
      gone(await exchange.closed);
    },
  },
  { name: "a permission is open", answer: () => bash("echo never > never.txt"), atQuestion: true },
  {
    name: "a command is running",
    // the words in quotes are joined by the shell, so that they are not found in the call itself
    answer: () => bash('echo $$ > pid; echo has be""gun; sleep 1000; echo never > never.txt'),
    isReached: (update) =>
      update.sessionUpdate === "terminal_output_chunk"
        ? Buffer.from(update.data, "base64").includes("has begun")
        : JSON.stringify(update).includes("has begun"),
  },
  {
    name: "an MCP server is at work",
    answer: () => streamed(chatEvents({ calls: [{ id: "call_1", name: "patient/wait", json: ["{}"] }] })),
    isReached: (update) => JSON.stringify(update).includes("has begun"),
    hasServer: true,
  },
];

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

for (const version of [1, 2] as const) {
  for (const state of states) {
    test(
      `A50 F12 a cancel while ${state.name} is answered cancelled, and nothing survives (v${version})`,
      patience,
      async (t) => {
        const place = home(t);
        let session: ClientSession | undefined;
        const cancel = () => void session?.cancel();
        const gone = Promise.withResolvers<string>();
        const first = state.answer(cancel, gone.resolve);
        await withFake([first, streamed(chatEvents({ text: ["Fine."] }))], async (fake) => {
          const providers = { work: { baseUrl: `${fake.url}/v1` } };
          place.configure({ agent: { model: "work/fake", providers } });
          const { agent, child } = await start(t, place, version, {
            requestPermission: (_, { signal }) => {
              if (!state.atQuestion) return "allow_once";
              cancel();
              return new Promise((resolve) => signal.addEventListener("abort", () => resolve(undefined)));
            },
          });
          const updates: SessionUpdate[] = [];
          session = await agent.newSession({
            cwd: place.cwd,
            mcpServers: state.hasServer ? [scriptServer(place.cwd, "patient", patientServer)] : [],
            onUpdate(update) {
              updates.push(update);
              if (state.isReached?.(update)) cancel();
            },
          });
          assert.equal((await session.prompt("go").result).stopReason, "cancelled");
          const pid = () => Number(readFileSync(join(place.cwd, "pid"), "utf8"));
          if (state.hasServer) await fileAppears(join(place.cwd, "cancelled"));
          if (/model/.test(state.name))
            assert.equal(await gone.promise, "gone", "the provider need not go on");
          if (/command/.test(state.name)) {
            assert.ok(pid() > 1);
            assert.equal(isRunning(pid()), false, "the command has ended");
          }
          updates.length = 0;
          assert.equal((await session.prompt("and now?").result).stopReason, "end_turn");
          assert.equal(said(updates), "Fine.");
          assert.throws(() => readFileSync(join(place.cwd, "never.txt")), "nothing was done behind it");
          await agent.close();
          assert.equal((await child.exited).exitCode, 0);
          if (state.hasServer) assert.ok(await isGone(pid()), "the server ends with its session");
        });
      },
    );
  }
}
