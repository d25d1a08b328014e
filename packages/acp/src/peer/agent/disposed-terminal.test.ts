import assert from "node:assert/strict";
import { test } from "node:test";
import { openSession } from "../../../test/support/peer-probe.ts";
import type { Terminals } from "../../model.ts";

test("a client's terminal that is disposed of is released, once", async () => {
  const calls: string[] = [];
  const terminals: Terminals = {
    create: async () => ({
      terminalId: "t",
      output: async () => ({ output: "", truncated: false }),
      waitForExit: async () => ({ exitCode: 0 }),
      kill: async () => void calls.push("kill"),
      release: async () => void calls.push("release"),
    }),
  };
  const pair = { editions: ["v1"], version: 1 } as const;
  const { session } = await openSession(
    pair,
    {
      async prompt({ client }) {
        const terminal = await client.terminals?.create({ command: "ls" });
        await terminal?.[Symbol.asyncDispose]?.();
        await terminal?.[Symbol.asyncDispose]?.();
      },
    },
    { terminals: () => terminals },
  );
  assert.deepEqual(await session.prompt("go").result, { stopReason: "end_turn" });
  assert.deepEqual(calls, ["release"]);
});
