// The options of a session after a restart of an agent that does not repeat them.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { AgentScenario } from "@parley/conformance/testing";
import { managed, patience, say, scripted } from "../../test/support/managed-probe.ts";

const cwd = tmpdir();
const mode = {
  configId: "mode",
  name: "Mode",
  category: "mode" as const,
  type: "select" as const,
  currentValue: "ask",
  options: ["ask", "code", "plan"].map((value) => ({ value, name: value })),
};
const known: Partial<AgentScenario> = {
  sessions: [{ sessionId: "old", cwd }],
  open: {
    configOptions: [mode],
    availableCommands: [{ type: "command", name: "test", description: "Runs the tests" }],
  },
};
const dying: Partial<AgentScenario> = { ...known, otherwise: [{ crash: { signal: "SIGKILL" } }] };

/** It knows the session and its options, and answers without a word about them. */
function mute(version: 1 | 2): Partial<AgentScenario> {
  const silence = { configOptions: null, modes: null, availableCommands: null };
  const told = { sessionUpdate: "session_info_update", title: "set" };
  const update = {
    jsonrpc: "2.0",
    method: "session/update",
    params: { sessionId: "old", update: told },
  };
  return {
    ...known,
    editions: [`v${version}`],
    otherwise: say("back"),
    wire: {
      replies: [
        { method: "session/resume", patch: silence },
        { method: "session/set_config_option", before: [update] },
      ],
    },
  };
}

for (const version of [1, 2] as const) {
  test(
    `options, modes and commands outlive a process that does not name them again, version ${version}`,
    patience,
    async (t) => {
      const { entry } = scripted(
        t,
        { play: { ...dying, editions: [`v${version}`] } },
        { play: mute(version) },
      );
      const { agent } = await managed(t, entry);
      const session = await agent.loadSession("old", { cwd });
      assert.equal(session.configOptions[0]?.configId, "mode");
      await session.setMode("code");
      const titles: unknown[] = [];
      session.onUpdate((update) => {
        if (update.sessionUpdate === "session_info_update") titles.push(update.title);
      });
      assert.equal((await session.prompt("go").result).stopReason, "end_turn");
      assert.deepEqual(titles, ["set"], "what was chosen is chosen again, whatever was remembered");
      assert.deepEqual(
        [session.configOptions[0]?.configId, session.availableCommands[0]?.name],
        ["mode", "test"],
      );
      await session.setMode("plan");
      const [option] = session.configOptions;
      assert.equal(option?.type === "select" && option.currentValue, "plan");
    },
  );
}

test(
  "every agent is told that what its commands print can be shown, whatever it is called",
  patience,
  async (t) => {
    const { entry, folder } = scripted(t, {});
    const file = join(folder, "initialize");
    const program = `process.stdin.once("data", (line) => { require("fs").writeFileSync(process.argv[1], line); process.exit(3); })`;
    await assert.rejects(managed(t, { ...entry, args: ["-e", program, file] }), { kind: "exited" });
    const { params } = JSON.parse(readFileSync(file, "utf8").split("\n")[0] ?? "");
    assert.equal(params.clientCapabilities._meta.terminal_output, true);
  },
);
