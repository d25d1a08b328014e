// The coding agent as it is started by editors, driven by the official SDK's clients of both versions, offline.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { atEnd } from "../support/at-end.ts";
import { launcher } from "../support/programs.ts";
import { connectSdk, type SdkClient } from "./app-sdk-client.ts";
import { outcomeOf } from "./wire-script.ts";

const patience = { timeout: 120_000 };

const wires = {
  v1: {
    initialize: { protocolVersion: 1, clientCapabilities: {}, clientInfo: { name: "sdk", version: "1" } },
    load: ["session/load", {}],
    setMode: ["session/set_mode", { modeId: "code" }],
  },
  v2: {
    initialize: { protocolVersion: 2, capabilities: {}, info: { name: "sdk", version: "1" } },
    load: ["session/resume", { replayFrom: { type: "start" } }],
    setMode: ["session/set_config_option", { configId: "mode", type: "id", value: "code" }],
  },
} as const;

for (const version of ["v1", "v2"] as const) {
  const wire = wires[version];

  async function connect(t: TestContext, home: string): Promise<SdkClient> {
    const env = [`PARLEY_HOME=${home}`, "PARLEY_MODEL=offline"];
    const client = await connectSdk(version, ["env", [...env, launcher, "agent", "--sandbox", "off"]]);
    atEnd(t, () => client.close());
    const answer = await client.agent.request("initialize", wire.initialize);
    assert.equal((answer as { protocolVersion: unknown }).protocolVersion, wire.initialize.protocolVersion);
    return client;
  }

  /** The first event of this kind since the mark that fits; the SDK may show it after the answer that it preceded. */
  async function seen<T>(
    { log }: SdkClient,
    method: string,
    mark: number,
    fits: (params: T) => boolean,
  ): Promise<T> {
    for (let count = 1; ; count++) {
      const events = (await log.until(method, count, mark)) as T[];
      const found = events.find(fits);
      if (found !== undefined) return found;
      count = events.length;
    }
  }

  /** Sends a prompt; `ended` is the stop reason, which version 2 says in an update. */
  function send(client: SdkClient, sessionId: string, text: string) {
    const mark = client.log.events.length;
    const answer = client.agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
    const ended = answer.then(async (result) => {
      if (version === "v1") return (result as { stopReason: unknown }).stopReason;
      // a session that was loaded is idle without having stopped
      const stopped = ({ stopReason }: { stopReason?: unknown }) => stopReason !== undefined;
      return (await seen(client, "idle", mark, stopped)).stopReason;
    });
    return {
      ended,
      asked: () => client.log.until("session/request_permission", 1, mark),
      shown: (words: RegExp) =>
        seen(client, "session/update", mark, (each) => words.test(JSON.stringify(each))),
    };
  }

  function folders(t: TestContext): { readonly home: string; readonly cwd: string } {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "parley-sdk-test-")));
    atEnd(t, () => rmSync(folder, { recursive: true, force: true }));
    const cwd = join(folder, "project");
    mkdirSync(cwd);
    writeFileSync(join(cwd, "notes.txt"), "hello world\n");
    return { home: join(folder, "home"), cwd };
  }

  const newSession = async ({ agent }: SdkClient, cwd: string): Promise<string> => {
    const answer = await agent.request("session/new", { cwd, mcpServers: [] });
    return (answer as { sessionId: string }).sessionId;
  };

  test(
    `the SDK's ${version} client has files read, edited and commands run, and loads the session in another process`,
    patience,
    async (t) => {
      const { home, cwd } = folders(t);
      const client = await connect(t, home);
      const sessionId = await newSession(client, cwd);

      const reading = send(client, sessionId, "read notes.txt");
      assert.equal(await reading.ended, "end_turn");
      await reading.shown(/hello world/);
      await reading.shown(/offline model: fixed commands/);

      const editing = send(client, sessionId, 'replace "hello" with "goodbye" in notes.txt');
      assert.match(JSON.stringify(await editing.asked()), /Edit notes\.txt/);
      assert.equal(await editing.ended, "end_turn");
      assert.equal(readFileSync(join(cwd, "notes.txt"), "utf8"), "goodbye world\n");

      const running = send(client, sessionId, "run echo ran > ran.txt");
      await running.asked();
      assert.equal(await running.ended, "end_turn");
      assert.equal(readFileSync(join(cwd, "ran.txt"), "utf8"), "ran\n");
      assert.equal((await client.close()).exitCode, 0, client.complaints());

      const later = await connect(t, home);
      const { sessions } = (await later.agent.request("session/list", { cwd })) as {
        sessions: { sessionId: string }[];
      };
      assert.deepEqual(
        sessions.map((each) => each.sessionId),
        [sessionId],
      );
      const [method, more] = wire.load;
      await later.agent.request(method, { sessionId, cwd, mcpServers: [], ...more });
      await seen(later, "session/update", 0, (each) => /goodbye/.test(JSON.stringify(each)));
      const again = send(later, sessionId, "read notes.txt");
      assert.equal(await again.ended, "end_turn");
    },
  );

  test(
    `the SDK's ${version} client chooses a mode, and sees a plan's worth of updates by its own schemas`,
    patience,
    async (t) => {
      const { home, cwd } = folders(t);
      const client = await connect(t, home);
      const sessionId = await newSession(client, cwd);
      const [method, mode] = wire.setMode;
      await client.agent.request(method, { sessionId, ...mode });
      const mark = client.log.events.length;
      const words = 'replace "hello" with "bye" in notes.txt, then run cat notes.txt, then read notes.txt';
      const { ended, shown } = send(client, sessionId, words);
      assert.equal(await ended, "end_turn");
      await shown(/bye world/);
      const since = client.log.events.slice(mark).map((event) => JSON.stringify(event));
      const asks = since.filter((event) => event.includes("session/request_permission"));
      assert.equal(asks.length, 1, "mode code asks about the command only");
      assert.match(asks[0] ?? "", /cat notes\.txt/);
      for (const kind of [
        "agent_message_chunk",
        "agent_thought_chunk",
        "tool_call_update",
        "usage_update",
        "plan",
      ])
        assert.ok(
          since.some((event) => event.includes(`"sessionUpdate":"${kind}`)),
          kind,
        );
    },
  );

  test(
    `the SDK's ${version} client cancels a command, and is told of a session that is not there`,
    patience,
    async (t) => {
      const { home, cwd } = folders(t);
      const client = await connect(t, home);
      const sessionId = await newSession(client, cwd);
      const { asked, ended } = send(client, sessionId, "run sleep 1000");
      await asked();
      await client.agent.notify("session/cancel", { sessionId });
      assert.equal(await ended, "cancelled");
      const [method, more] = wire.load;
      const missing = await outcomeOf(
        client.agent.request(method, { sessionId: "nobody", cwd, mcpServers: [], ...more }),
      );
      assert.match(JSON.stringify(missing), /"session_not_found","sessionId":"nobody"/);
    },
  );
}
