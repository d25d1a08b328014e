// What a turn asks of its client, when another client takes the session over.

import assert from "node:assert/strict";
import { test } from "node:test";
import { attachedClient } from "../../../test/support/attached-client.ts";
import { place, quiet, said, statuses } from "../../../test/support/peer-probe.ts";
import { storedEntries } from "../../../test/support/stored-entries.ts";
import { type AgentDefinition, agent, type TerminalHandle, type Terminals } from "../../index.ts";
import { memoryStore, parseEntry } from "../../store.ts";

function agentOf(definition: Partial<AgentDefinition> & Pick<AgentDefinition, "prompt">) {
  return agent({ name: "a", version: "1", ...definition });
}

/** Asks each question once, and answers when it is told to. */
function asker() {
  const asked: PromiseWithResolvers<string>[] = [];
  const withdrawn: number[] = [];
  return {
    asked,
    withdrawn,
    requestPermission(_: unknown, { signal }: { readonly signal: AbortSignal }) {
      const answer = Promise.withResolvers<string>();
      const index = asked.push(answer) - 1;
      signal.addEventListener("abort", () => withdrawn.push(index));
      return answer.promise;
    },
  };
}

for (const [before, after] of [
  ["v1", "v1"],
  ["v1", "v2"],
  ["v2", "v1"],
  ["v2", "v2"],
] as const)
  test(`H18 an open question is asked again after a takeover from ${before} to ${after}, and a late answer is ignored`, async () => {
    const answers: unknown[] = [];
    const store = memoryStore();
    const made = agentOf({
      session: { store },
      async prompt(turn) {
        await turn.tool({ title: "T" }, async (tool) => {
          answers.push((await tool.requestPermission())?.kind);
        });
        await turn.say("done");
      },
    });
    const [early, late] = [asker(), asker()];
    const old = await attachedClient(made, { edition: before, requestPermission: early.requestPermission });
    const session = await old.connection.newSession(place);
    session.prompt("hello").result.catch(() => undefined);
    await quiet();
    assert.equal(early.asked.length, 1);
    const next = await attachedClient(made, { edition: after, requestPermission: late.requestPermission });
    const { updates } = await next.load(session.sessionId, { takeover: true });
    assert.deepEqual([early.withdrawn, late.asked.length], [[0], 1]);
    early.asked[0]?.resolve("allow_always");
    await quiet();
    assert.deepEqual(answers, []);
    late.asked[0]?.resolve("allow_once");
    await quiet();
    assert.deepEqual(answers, ["allow_once"]);
    assert.equal(said(updates), "done");
    const kinds: string[] = [];
    for await (const entry of storedEntries(store, session.sessionId)) kinds.push(parseEntry(entry).kind);
    assert.deepEqual(
      kinds.filter((kind) => kind === "ask" || kind === "answer"),
      ["ask", "answer"],
    );
    await made.close();
  });

for (const edition of ["v1", "v2"] as const)
  test(`a question waits for a client that is away, and is cancelled, not denied, when its time is over (${edition})`, async () => {
    const store = memoryStore();
    const seen: string[] = [];
    const made = agentOf({
      session: { store },
      async prompt(turn) {
        const tool = turn.tool({ title: "T", permission: true }, () => void seen.push("ran"));
        await tool.catch((error: Error) => seen.push(error.name));
        // a no is an answer that an agent goes on with: it must not have had one
        seen.push(turn.signal.aborted ? "cancelled" : "denied");
      },
    });
    const { requestPermission, asked } = asker();
    const old = await attachedClient(made, { edition, requestPermission });
    const session = await old.connection.newSession(place);
    session.prompt("hello").result.catch(() => undefined);
    await quiet();
    old.detach();
    await quiet();
    assert.deepEqual([asked.length, seen], [1, []]);
    await old.served.close("the client did not come back");
    assert.deepEqual(seen, ["AbortError", "cancelled"]);
    const entries: unknown[] = [];
    for await (const stored of storedEntries(store, session.sessionId)) {
      const entry = parseEntry(stored);
      if (entry.kind === "answer" && "permission" in entry) entries.push(entry.permission);
      if (entry.kind === "update") entries.push(...statuses([entry.update]));
      if (entry.kind === "result") entries.push(entry.result.stopReason);
    }
    assert.deepEqual(entries, ["pending", { outcome: "cancelled" }, "cancelled", "cancelled"]);
    await made.close();
  });

test("background work asks again too", async () => {
  const answers: unknown[] = [];
  const made = agentOf({
    prompt(turn) {
      void turn.session.runInBackground({ title: "B" }, async (tool) => {
        answers.push((await tool.requestPermission())?.kind);
      });
    },
  });
  const [early, late] = [asker(), asker()];
  const old = await attachedClient(made, { requestPermission: early.requestPermission });
  const session = await old.connection.newSession(place);
  await session.prompt("hello").result;
  old.detach();
  const next = await attachedClient(made, { requestPermission: late.requestPermission });
  await next.load(session.sessionId);
  late.asked[0]?.resolve("allow_once");
  await quiet();
  assert.deepEqual(answers, ["allow_once"]);
  await made.close();
});

test("a form that the new client cannot show fails clearly", async () => {
  const made = agentOf({
    async prompt(turn) {
      const requestedSchema = { type: "object", properties: { a: { type: "string" } } } as const;
      const form = { mode: "form", message: "m", requestedSchema } as const;
      await turn.elicit(form).catch((error: Error) => turn.say(error.message));
    },
  });
  const old = await attachedClient(made, { elicit: () => new Promise(() => undefined) });
  const session = await old.connection.newSession(place);
  session.prompt("hello").result.catch(() => undefined);
  await quiet();
  old.detach();
  const next = await attachedClient(made);
  const { updates } = await next.load(session.sessionId);
  assert.equal(said(updates), "the client offers no form elicitation");
  await made.close();
});

test("a page that the user opened at the old client is over when the agent says so, at the new one", async () => {
  const gate = Promise.withResolvers<void>();
  const made = agentOf({
    async prompt(turn) {
      await turn.elicit({ mode: "url", message: "m", url: "https://example.com", elicitationId: "e" });
      await gate.promise;
      turn.session.completeElicitation("e");
    },
  });
  const old = await attachedClient(made, { elicit: () => ({ action: "accept" }) });
  const session = await old.connection.newSession(place);
  session.prompt("hello").result.catch(() => undefined);
  await quiet();
  old.detach();
  const next = await attachedClient(made);
  const { updates } = await next.load(session.sessionId);
  gate.resolve();
  await quiet();
  assert.deepEqual(updates.at(-1), { sessionUpdate: "state_update", state: "idle", stopReason: "end_turn" });
  await made.close();
});

/** Terminals that run for ever, and note what is asked of them. */
function terminalsNoting(notes: string[]): Terminals {
  return {
    create: async ({ command }) => {
      notes.push(`create ${command}`);
      const terminal: TerminalHandle = {
        terminalId: command,
        output: async () => ({ output: `of ${command}`, truncated: false }),
        waitForExit: () => new Promise(() => undefined),
        kill: async () => void notes.push(`kill ${command}`),
        release: async () => void notes.push(`release ${command}`),
        [Symbol.asyncDispose]: async () => undefined,
      };
      return terminal;
    },
  };
}

test("the old client's terminals are gone: their tools fail clearly, and new ones are the new client's", async () => {
  const failures: string[] = [];
  const gate = Promise.withResolvers<void>();
  const failed = (error: Error) => void failures.push(error.message);
  const made = agentOf({
    editions: ["v1"],
    async prompt(turn) {
      const { terminals } = turn.client;
      if (terminals === undefined) throw new Error("no terminals");
      const terminal = await terminals.create({ command: "one" });
      await turn.tool({ title: "T" }, () => terminal.waitForExit()).catch(failed);
      await terminal.output().catch(failed);
      await terminal.release();
      const next = await terminals.create({ command: "two" });
      await turn.say((await next.output()).output);
      await gate.promise;
    },
  });
  const [oldNotes, newNotes]: [string[], string[]] = [[], []];
  const old = await attachedClient(made, { edition: "v1", terminals: terminalsNoting(oldNotes) });
  const session = await old.connection.newSession(place);
  session.prompt("hello").result.catch(() => undefined);
  await quiet();
  const next = await attachedClient(made, { edition: "v1", terminals: terminalsNoting(newNotes) });
  const { updates } = await next.load(session.sessionId, { takeover: true });
  assert.deepEqual(failures, [
    "terminal/wait_for_exit: no answer: another client has taken the session over",
    "terminal/output: another client has taken the session over",
  ]);
  assert.deepEqual(statuses(updates).at(-1), "failed");
  assert.equal(said(updates), "of two");
  gate.resolve();
  await quiet();
  assert.deepEqual(oldNotes, ["create one", "release one"]);
  assert.deepEqual(newNotes, ["create two", "release two"]);
  await made.close();
});

test("files are those of the client that has the session, and a client without them says so", async () => {
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const made = agentOf({
    async prompt(turn) {
      const { files } = turn.client;
      if (files === undefined) throw new Error("no files");
      const read = () => files.readText("/project/a").catch((error: Error) => error.message);
      await turn.say(`${await read()}, `);
      for (const gate of gates) {
        await gate.promise;
        await turn.say(`${files.canRead} ${await read()}, `);
      }
    },
  });
  const first = await attachedClient(made, {
    edition: "v1",
    files: { readText: async () => "of the first" },
  });
  const session = await first.connection.newSession(place);
  session.prompt("hello").result.catch(() => undefined);
  await quiet();
  const second = await attachedClient(made, {
    edition: "v1",
    files: { readText: async () => "of the second" },
  });
  await second.load(session.sessionId, { takeover: true });
  gates[0]?.resolve();
  await quiet();
  const third = await attachedClient(made);
  const { updates } = await third.load(session.sessionId, { takeover: true });
  gates[1]?.resolve();
  await quiet();
  assert.equal(
    said(updates),
    "of the first, true of the second, false the client that has the session now offers no files, ",
  );
  await made.close();
});

test("a request outside the protocol that the old client was asked fails clearly", async () => {
  const made = agentOf({
    async prompt(turn) {
      await turn.client.request("_acme/never").catch((error: Error) => turn.say(error.message));
    },
  });
  const never = { requests: { "_acme/never": () => new Promise(() => undefined) } };
  const old = await attachedClient(made, { extensions: never });
  const session = await old.connection.newSession(place);
  session.prompt("hello").result.catch(() => undefined);
  await quiet();
  old.detach();
  const next = await attachedClient(made);
  const { updates } = await next.load(session.sessionId);
  assert.equal(said(updates), "_acme/never: no answer: another client has taken the session over");
  await made.close();
});

test("a turn that waits for room at a client that is away goes on when another one has the session", async () => {
  const made = agentOf({
    async prompt(turn) {
      for (let n = 0; n < 5; n++) await turn.say(`${n}`);
    },
  });
  const old = await attachedClient(made);
  const session = await old.connection.newSession(place);
  old.detach({ isFull: true });
  session.prompt("hello").result.catch(() => undefined);
  await quiet();
  const next = await attachedClient(made);
  const { updates } = await next.load(session.sessionId);
  assert.equal(said(updates), "01234");
  await made.close();
});

test("a tool that releases its terminal while its client is replaced need not wait for that client", async () => {
  const notes: string[] = [];
  const made = agentOf({
    editions: ["v1"],
    async prompt(turn) {
      const terminal = await turn.client.terminals?.create({ command: "one" });
      await terminal?.release();
      await turn.say("released");
    },
  });
  const { create } = terminalsNoting(notes);
  const old = await attachedClient(made, {
    edition: "v1",
    terminals: {
      create: async (options) => ({
        ...(await create(options)),
        release: () => new Promise(() => undefined),
      }),
    },
  });
  const session = await old.connection.newSession(place);
  session.prompt("hello").result.catch(() => undefined);
  await quiet();
  old.detach();
  const next = await attachedClient(made, { edition: "v1" });
  assert.equal(said((await next.load(session.sessionId)).updates), "released");
  await made.close();
});
