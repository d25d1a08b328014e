// Tests logins in which the client says the key, as the dialects do.

import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { agent } from "@parley/acp";
import { memoryPair } from "@parley/acp/transport";
import { editionNamed, type NamedEdition } from "@parley/dialects";
import { endpointOf } from "../providers/provider-config.ts";
import { openAccount } from "./account.ts";
import { credentialsFile } from "./credentials-file.ts";

const limit = { timeout: 30_000 };
const goodKey = "sk-ant-good-0123456789";

/** A provider that accepts one key. */
async function provider(t: TestContext): Promise<string> {
  const server = createServer((request, response) => {
    response.statusCode = request.headers["x-api-key"] === goodKey ? 200 : 401;
    response.end("{}");
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  t.after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

interface Answer {
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string };
}

/** Our agent without a key, and a client of the edition whose messages the test writes. */
async function connect(t: TestContext, edition: NamedEdition, env: Record<string, string> = {}) {
  const folder = mkdtempSync(join(tmpdir(), "parley-account-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const baseUrl = await provider(t);
  const { login, models } = openAccount({
    config: {
      model: "anthropic/claude-opus-5-5",
      providers: { anthropic: { baseUrl } },
      localServers: false,
    },
    env,
    credentials: credentialsFile(join(folder, "credentials.json")),
  });
  const [near, far] = memoryPair();
  agent({
    name: "a",
    version: "1",
    editions: [editionNamed(edition)],
    auth: login,
    prompt: () => undefined,
  }).connect(far);
  const waiting: ((answer: Answer) => void)[] = [];
  near.start({
    message: (value) => waiting.shift()?.(value as Answer),
    idle: () => undefined,
    reject: () => undefined,
    drain: () => undefined,
    end: () => undefined,
  });
  t.after(() => near.close());
  const ask = (method: string, params: object) =>
    new Promise<Answer>((answered) => {
      waiting.push(answered);
      near.send({ jsonrpc: "2.0", id: 1, method, params });
    });
  const clientInfo = { name: "c", version: "1" };
  const can = edition === "scoped" ? { capabilities: {} } : { clientCapabilities: {} };
  await ask("initialize", { protocolVersion: 1, clientInfo, ...can });
  return { ask, folder, models };
}

const place = { pharo: { cwd: "/w" }, scoped: { workingDirectory: "/w" } };

for (const edition of ["pharo", "scoped"] as const) {
  /** Why a login failed; undefined where it did not. */
  const logIn = async (ask: (method: string, params: object) => Promise<Answer>, credentials: object) => {
    const method = edition === "pharo" ? { methodId: "anthropic-key" } : { method: "api_key" };
    const { result, error } = await ask("authenticate", { ...method, credentials });
    if (error !== undefined) assert.equal(error.code, -32001);
    return error?.message ?? result?.["error"];
  };

  test(`${edition}: the key that a client says is checked, used and not stored`, limit, async (t) => {
    const { ask, folder } = await connect(t, edition);
    assert.match(String(await logIn(ask, {})), /There is no key for Anthropic yet/);
    const refused = await logIn(ask, { apiKey: "sk-ant-wrong-0123456789" });
    assert.equal(refused, "Anthropic did not accept the key (401)");
    assert.equal((await ask("session/new", place[edition])).error?.code, -32001);
    assert.equal(await logIn(ask, { apiKey: goodKey }), undefined);
    assert.equal((await ask("session/new", place[edition])).error, undefined);
    assert.deepEqual(readdirSync(folder), []);
  });
}

test("the key that the client has said counts before that of the environment and the config", () => {
  const keys = Object.assign(() => "stored", { said: () => "said" });
  const env = { ANTHROPIC_API_KEY: "variable" };
  const config = { providers: { anthropic: { apiKey: "config" } } };
  assert.equal(endpointOf("anthropic", config, env, keys).key()?.value, "said");
});

test("scoped: a login that the agent does not have is told with the document's names", limit, async (t) => {
  const { ask } = await connect(t, "scoped");
  const { result } = await ask("authenticate", { method: "oauth2", credentials: {} });
  assert.equal(result?.["error"], "there is no such method to log in with; there are: api_key");
});
