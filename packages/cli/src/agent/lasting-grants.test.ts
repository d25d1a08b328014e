// Answers of a client of the dialect "scoped" that hold for a workspace or for every folder.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { memoryPair } from "@parley/acp/transport";
import { codingAgent } from "@parley/agent";
import { rememberedRules, ruleText } from "@parley/client/policy";
import { scoped } from "@parley/dialects";
import { lastingGrants } from "./lasting-grants.ts";

const limit = { timeout: 60_000 };

interface Message {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: { readonly resource?: string };
  readonly result?: { readonly sessionId?: string };
}

const answers: Readonly<Record<string, object>> = {
  "fs/read_text_file": { content: "old\n", encoding: "utf-8" },
  "fs/write_text_file": { bytesWritten: 2, created: true },
  "terminal/create": { terminalId: "t" },
  "terminal/wait_for_exit": { exitCode: 0 },
  "terminal/release": { released: true },
};

/** Two folders, and a file for the answers. */
function place(t: TestContext) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "parley-lasting-")));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const [a, b] = [join(root, "a"), join(root, "b")];
  mkdirSync(a);
  mkdirSync(b);
  return { a, b, file: join(root, "data", "permissions.ndjson") };
}

/** What a new session of a new agent asks about while it does this, if each question is answered so. */
async function asked(file: string, folder: string, prompts: readonly string[], permission: object) {
  const [near, far] = memoryPair();
  const agent = codingAgent({
    version: "1",
    editions: [scoped()],
    sandbox: "off",
    lastingGrants: async () => lastingGrants(file),
    offlineNotice: () => false,
  });
  agent.connect(far);
  const questions: (string | undefined)[] = [];
  const waiting = new Map<unknown, (message: Message) => void>();
  near.start({
    message(value) {
      const message = value as Message;
      const { id, method, params } = message;
      if (method === undefined) return waiting.get(id)?.(message);
      if (id === undefined) return undefined;
      if (method === "session/request_permission") questions.push(params?.resource);
      const result = method === "session/request_permission" ? permission : answers[method];
      queueMicrotask(() => near.send({ jsonrpc: "2.0", id, result }));
      return undefined;
    },
    idle: () => undefined,
    reject: () => undefined,
    drain: () => undefined,
    end: () => undefined,
  });
  let ids = 0;
  const ask = (method: string, params: object) =>
    new Promise<Message>((answered) => {
      waiting.set(++ids, answered);
      near.send({ jsonrpc: "2.0", id: ids, method, params });
    });
  const capabilities = { fs: { read: true, write: true }, terminal: { create: true } };
  await ask("initialize", { protocolVersion: 1, clientInfo: { name: "c", version: "1" }, capabilities });
  const { result } = await ask("session/new", { workingDirectory: folder });
  for (const text of prompts)
    await ask("session/prompt", { sessionId: result?.sessionId, content: [{ type: "text", text }] });
  await near.close();
  await agent.close();
  return questions;
}

const once = { granted: true, scope: "once" };
const command = ["run echo one"];
const file = ["create x.txt with y"];

test("an answer for the workspace holds in its other sessions, and nowhere else", limit, async (t) => {
  const { a, b, file: stored } = place(t);
  const always = { granted: true, remember: true, scope: "workspace" };
  assert.deepEqual(await asked(stored, a, [...command, ...command], always), ["echo one"]);
  assert.deepEqual(await asked(stored, a, command, once), []);
  // exactly what was shown
  assert.deepEqual(await asked(stored, a, ["run echo two", ...file], once), ["echo two", join(a, "x.txt")]);
  assert.deepEqual(await asked(stored, b, command, once), ["echo one"]);
  assert.equal(statSync(stored).mode & 0o777, 0o600);
});

test("an answer for always holds in every folder, until it is revoked", limit, async (t) => {
  const { a, b, file: stored } = place(t);
  const always = { granted: true, remember: true, scope: "always" };
  await asked(stored, a, [...command, ...file], always);
  assert.deepEqual(await asked(stored, b, [...command, ...file], once), [join(b, "x.txt")]);
  const remembered = rememberedRules(stored);
  const listed = remembered.list();
  assert.deepEqual(listed.map(ruleText), ["exec (anywhere) echo one", `write ${join(a, "x.txt")}`]);
  for (const { id } of listed) remembered.revoke(id);
  assert.deepEqual(await asked(stored, a, [...command, ...file], once), ["echo one", join(a, "x.txt")]);
});

test("an answer that is remembered without a scope holds for its session", limit, async (t) => {
  const { a, file: stored } = place(t);
  const remember = { granted: true, remember: true };
  assert.deepEqual(await asked(stored, a, [...command, ...command], remember), ["echo one"]);
  assert.deepEqual(await asked(stored, a, command, once), ["echo one"]);
});

test("a refusal is never kept beyond its session", limit, async (t) => {
  const { a, file: stored } = place(t);
  const never = { granted: false, remember: true, scope: "always" };
  assert.deepEqual(await asked(stored, a, [...command, ...command], never), ["echo one"]);
  assert.deepEqual(await asked(stored, a, command, once), ["echo one"]);
});
