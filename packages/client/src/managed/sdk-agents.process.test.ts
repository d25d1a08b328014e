// Agents of the official SDK as managed agents.

import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { test } from "node:test";
import type { SessionUpdate } from "@parley/acp";
import { commandEntry } from "@parley/client/launch";
import { programCommand } from "../../../acp/test/support/programs.ts";
import { managed, patience } from "../../test/support/managed-probe.ts";

const cwd = tmpdir();

for (const version of [1, 2] as const) {
  const entry = commandEntry([...programCommand("acp/test/interop/app-sdk-agent.ts"), `v${version}`]);

  test(
    `an agent on the official SDK is logged in to, prompted, cancelled and brought back (v${version})`,
    patience,
    async (t) => {
      const logins: string[] = [];
      const asked: string[] = [];
      const { agent, kinds, crashed } = await managed(t, entry, {
        requestPermission({ title, options }) {
          asked.push(title);
          return options[0]?.optionId;
        },
        asker: {
          async chooseLogin(methods) {
            logins.push(...methods.map(({ kind }) => kind));
            return methods.find(({ kind }) => kind === "agent")?.id;
          },
          newSession: async () => true,
        },
      });
      assert.equal(agent.edition, `v${version}`);
      const updates: SessionUpdate[] = [];
      const session = await agent.newSession({ cwd, onUpdate: (update) => updates.push(update) });
      assert.ok(logins.includes("agent"));
      assert.equal((await session.prompt("every update").result).stopReason, "end_turn");
      assert.ok(new Set(updates.map(({ sessionUpdate }) => sessionUpdate)).size > 5);
      assert.equal((await session.prompt("ask twice").result).stopReason, "end_turn");
      // a question without a choice is refused unseen
      assert.ok(asked.length >= 1);
      const endless = session.prompt("until cancelled");
      // it waits, whatever the agent would do with two
      const next = session.prompt("every update");
      while (!endless.isSent) await new Promise((resolve) => setImmediate(resolve));
      endless.cancel();
      assert.equal((await endless.result).stopReason, "cancelled");
      assert.equal((await next.result).stopReason, "end_turn");
      const gone = crashed();
      process.kill(agent.pid ?? assert.fail(), "SIGKILL");
      await gone;
      assert.equal((await session.prompt("every update").result).stopReason, "end_turn");
      assert.ok(kinds().includes("continued"));
    },
  );
}
