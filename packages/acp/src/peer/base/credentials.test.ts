import assert from "node:assert/strict";
import { test } from "node:test";
import {
  conversation,
  inDialect,
  inEveryVersion,
  rejects,
  richDialect,
} from "../../../test/support/peer-probe.ts";
import type { Editions, LoginRequest } from "../../index.ts";
import { agent, client } from "../../index.ts";
import { relay } from "../../relay.ts";
import { memoryPair } from "../../transport.ts";

const key = { type: "agent" as const, methodId: "api_key", name: "Key" };
const credentials = { apiKey: "birch-lake-7-very-secret" };

/** An agent that keeps what its logins were given. */
function keeper(end?: { readonly expiresAt: string }) {
  const logins: LoginRequest[] = [];
  const login = (_: string, request: LoginRequest) => {
    logins.push(request);
    return end;
  };
  return {
    logins,
    definition: { prompt: () => undefined, auth: { methods: [key], login, logout: () => undefined } },
  };
}

test("the handler of a login gets the credentials in a dialect, beside its custom data", async () => {
  const { logins, definition } = keeper({ expiresAt: "2027-01-01T00:00:00Z" });
  const { agent, log } = await conversation(inDialect, definition);
  const result = await agent.login("api_key", { credentials, _meta: { colour: "red" } });
  assert.equal(result.expiresAt, "2027-01-01T00:00:00Z");
  assert.deepEqual(logins[0]?.credentials, credentials);
  assert.deepEqual(logins[0]?._meta, { colour: "red" });
  assert.deepEqual(log, []);
});

inEveryVersion("credentials are refused before they are sent where no dialect is spoken", async (pair) => {
  const { logins, definition } = keeper();
  const { agent, wire } = await conversation(pair, definition);
  await assert.rejects(agent.login("api_key", { credentials }), {
    name: "TypeError",
    message: new RegExp(
      `login: this agent speaks v${pair.version}, which has no place for credentials, and they were not sent`,
    ),
  });
  assert.ok(!JSON.stringify(wire).includes(credentials.apiKey));
  assert.deepEqual(await agent.login("api_key"), {});
  assert.equal(logins[0]?.credentials, undefined);
});

test("an end of a login that is no time is a mistake of the agent, which the client is told", async () => {
  const { definition } = keeper({ expiresAt: "tomorrow" });
  const { agent } = await conversation(inDialect, definition);
  await rejects(agent.login("api_key"), -32603);
});

for (const editions of [["v1"], ["v2"]] satisfies Editions[])
  test(`a relay reports credentials that ${editions[0]} has no place for, and does not send them`, async () => {
    const { logins, definition } = keeper();
    const [left, clientEnd] = memoryPair();
    const [right, agentEnd] = memoryPair();
    Object.assign(left, { dialect: richDialect });
    Object.assign(clientEnd, { dialect: richDialect });
    const log: unknown[] = [];
    const wire: string[] = [];
    agent({
      name: "a",
      version: "1",
      editions,
      ...definition,
      connection: { tap: (_, text) => void wire.push(text) },
    }).connect(agentEnd);
    await using relayed = relay(left, right, {
      log: (level, message, details) => void log.push([level, message, details]),
    });
    const connection = await client({ name: "c", version: "1", editions: ["v1"] }).connect(clientEnd);
    await connection.login("api_key", { credentials });
    assert.equal(logins[0]?.credentials, undefined);
    assert.ok(!wire.join("").includes(credentials.apiKey));
    assert.match(
      JSON.stringify(log),
      /lost in translation.*the credentials of a login: the agent speaks no dialect/,
    );
    await relayed.close();
  });
