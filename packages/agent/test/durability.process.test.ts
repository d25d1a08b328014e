// Tests sessions of the real command: crashes, concurrent holders, missing and damaged sessions.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import type { SessionUpdate } from "@parley/acp";
import type { ProtocolVersion } from "@parley/acp/internal";
import { withFake } from "./fake-provider/asking.ts";
import { chatEvents, chunk } from "./fake-provider/chat-wire.ts";
import { type Answer, streamed } from "./fake-provider/fake-provider.ts";
import { said, toolStories } from "./support/agent-probe.ts";
import { type Home, home, patience, start } from "./support/process-probe.ts";

const call = (name: string, input: object) =>
  streamed(chatEvents({ calls: [{ id: "call_1", name, json: [JSON.stringify(input)] }] }));
const saying = (text: string) => streamed(chatEvents({ text: [text] }));
/** The messages of the user, in order, however the version says them. */
const users = (updates: readonly SessionUpdate[]): string =>
  updates
    .filter(({ sessionUpdate }) => sessionUpdate.startsWith("user_message"))
    .map((update) => JSON.stringify(update))
    .join();

async function opened(t: Parameters<typeof start>[0], place: Home, version: ProtocolVersion) {
  const started = await start(t, place, version);
  const updates: SessionUpdate[] = [];
  const onUpdate = (update: SessionUpdate) => void updates.push(update);
  return { ...started, updates, onUpdate };
}

for (const version of [1, 2] as const) {
  test(
    `a kill in the middle of a turn loses nothing that was acknowledged or done (v${version})`,
    patience,
    async (t) => {
      const streaming = Promise.withResolvers<void>();
      const endless: Answer = async (exchange) => {
        exchange.open();
        await exchange.write(chunk({ role: "assistant", content: "Half a " }));
        await exchange.write(chunk({ content: "sentence" }));
        await exchange.closed;
      };
      const edit = call("edit", { path: "a.txt", edits: [{ oldText: "one", newText: "two" }] });
      const read = call("read", { path: "a.txt" });
      const answers = [saying("First answer."), read, edit, endless, saying("Back again.")];
      await withFake(answers, async (fake) => {
        const place = home(t);
        writeFileSync(join(place.cwd, "a.txt"), "one\n");
        place.configure({
          agent: { model: "work/fake", mode: "code", providers: { work: { baseUrl: `${fake.url}/v1` } } },
        });
        const first = await opened(t, place, version);
        const session = await first.agent.newSession({
          cwd: place.cwd,
          onUpdate(update) {
            first.onUpdate(update);
            if (said(first.updates).endsWith("Half a sentence")) streaming.resolve();
          },
        });
        await session.prompt("hello").result;
        const prompt = session.prompt("change it");
        const failure = prompt.result.catch(() => undefined);
        await Promise.race([streaming.promise, failure]);
        process.kill(first.child.pid ?? assert.fail("it runs"), "SIGKILL");
        await first.child.exited;
        await failure;
        assert.equal(readFileSync(join(place.cwd, "a.txt"), "utf8"), "two\n");

        const second = await opened(t, place, version);
        const { sessions } = await second.agent.listSessions({ cwd: place.cwd });
        assert.deepEqual(
          sessions.map(({ sessionId }) => sessionId),
          [session.sessionId],
        );
        const loaded = await second.agent.loadSession(session.sessionId, {
          cwd: place.cwd,
          onUpdate: second.onUpdate,
        });
        assert.match(said(second.updates), /^First answer\./);
        assert.match(users(second.updates), /hello.*change it/s);
        const stories = (updates: readonly SessionUpdate[]) =>
          toolStories(updates).map((story) => story.replace(/:.*>/, ":"));
        assert.deepEqual(stories(second.updates), stories(first.updates));
        assert.equal(stories(second.updates).length, 2);
        second.updates.length = 0;
        assert.equal((await loaded.prompt("are you there?").result).stopReason, "end_turn");
        assert.equal(said(second.updates), "Back again.");
        await second.agent.close();
        await second.child.exited;

        // without the history
        const third = await opened(t, place, version);
        await third.agent.resumeSession(session.sessionId, { cwd: place.cwd, onUpdate: third.onUpdate });
        assert.equal(said(third.updates), "");
      });
    },
  );

  test(
    `a second process learns who holds a session, and gets it after a crash (v${version})`,
    patience,
    async (t) => {
      const place = home(t);
      const first = await start(t, place, version);
      const { sessionId } = await first.agent.newSession({ cwd: place.cwd });
      const second = await start(t, place, version);
      const refusal: unknown = await second.agent
        .loadSession(sessionId, { cwd: place.cwd })
        .catch((error: unknown) => error);
      const { code, message } = refusal as { code: number; message: string };
      assert.equal(code, -32066);
      assert.match(message, new RegExp(`\\b${first.child.pid}\\b`), "the pid of the one that holds it");
      process.kill(first.child.pid ?? assert.fail("it runs"), "SIGKILL");
      await first.child.exited;
      assert.equal((await second.agent.loadSession(sessionId, { cwd: place.cwd })).sessionId, sessionId);
    },
  );

  test(`a session that is not there is an error that says which (v${version})`, patience, async (t) => {
    const place = home(t);
    const { agent } = await start(t, place, version);
    for (const attempt of [agent.loadSession, agent.resumeSession]) {
      await assert.rejects(attempt.call(agent, "no-such-session", { cwd: place.cwd }), {
        data: { reason: "session_not_found", sessionId: "no-such-session" },
      });
    }
    await agent.newSession({ cwd: place.cwd });
  });

  test(`a file that is not a store is reported without its path (v${version})`, patience, async (t) => {
    const place = home(t);
    mkdirSync(join(place.path, "data"), { recursive: true });
    writeFileSync(join(place.path, "data/sessions.db"), "no database ".repeat(1_000));
    const { agent } = await start(t, place, version);
    await assert.rejects(agent.newSession({ cwd: place.cwd }), (error: { data: object; message: string }) => {
      assert.deepEqual(error.data, { reason: "store_unusable" });
      assert.match(error.message, /store cannot be used: the agent's log says why, and what to do$/);
      return true;
    });
  });

  test(
    `a damaged session is an error that says which, and others load (v${version})`,
    patience,
    async (t) => {
      const place = home(t);
      const more = { env: { PARLEY_MODEL: "offline" } };
      const first = await start(t, place, version, more);
      const [whole, damaged] = [
        await first.agent.newSession({ cwd: place.cwd }),
        await first.agent.newSession({ cwd: place.cwd }),
      ];
      for (const session of [whole, damaged]) await session.prompt("list").result;
      await first.agent.close();
      await first.child.exited;
      const database = new DatabaseSync(join(place.path, "data/sessions.db"));
      database
        .prepare(
          "UPDATE entry SET body = '{' WHERE seq = 2 AND session = (SELECT key FROM session WHERE id = ?)",
        )
        .run(damaged.sessionId);
      database.close();
      const second = await start(t, place, version, more);
      const refusal: unknown = await second.agent
        .loadSession(damaged.sessionId, { cwd: place.cwd })
        .catch((error: unknown) => error);
      const { code, message, data } = refusal as { code: number; message: string; data: object };
      assert.equal(code, -32067, message);
      assert.match(message, /damaged/);
      assert.match(`${message} ${JSON.stringify(data)}`, new RegExp(damaged.sessionId));
      // whoever resumes it reads it with the first prompt
      const resumed = await second.agent.resumeSession(damaged.sessionId, { cwd: place.cwd });
      const { error } = await resumed.prompt("go on").result;
      assert.match(error?.message ?? "", /is damaged and cannot be read: delete it/);
      assert.match(error?.message ?? "", new RegExp(damaged.sessionId));
      const loaded = await second.agent.loadSession(whole.sessionId, { cwd: place.cwd });
      assert.equal((await loaded.prompt("list").result).stopReason, "end_turn");
    },
  );
}
