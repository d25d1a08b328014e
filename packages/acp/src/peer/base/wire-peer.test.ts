// The raw peers of both versions: strict out, lenient in, and what each refusal looks like to the other side.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ConnectionError, RequestError } from "@parley/acp";
import { memoryPair } from "@parley/acp/transport";
import * as v1 from "@parley/acp/v1";
import * as v2 from "@parley/acp/v2";
import { type BarePeer, barePeer, call, outcomeOf, quiet } from "../../../test/support/connection-probe.ts";

type Wire = Pick<typeof v1, "agentPeer" | "clientPeer">;

/** What these tests send has the same shape in both versions, so one type does for the two. */
const versions: Readonly<Record<string, Wire>> = { v1, v2: v2 as unknown as Wire };

interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

function bareAgent(
  wire: Wire,
  options: v1.ClientPeerOptions = {},
): { client: v1.ClientPeer; agent: BarePeer } {
  const [near, far] = memoryPair();
  return { client: wire.clientPeer(near, options), agent: barePeer(far) };
}

function bareClient(
  wire: Wire,
  options: v1.AgentPeerOptions = {},
): { agent: v1.AgentPeer; client: BarePeer; log: LogLine[] } {
  const [near, far] = memoryPair();
  const log: LogLine[] = [];
  const agent = wire.agentPeer(near, {
    log: (level, message, fields) => log.push({ level, message, fields }),
    ...options,
  });
  return { agent, client: barePeer(far), log };
}

const newSession = { cwd: "/project", mcpServers: [] };
const fork = { sessionId: "s", cwd: "/project" };
const untilAborted = (signal: AbortSignal) =>
  new Promise<never>((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));

for (const [version, wire] of Object.entries(versions)) {
  test(`${version}: await using closes a peer at the end of its block`, async () => {
    const { client } = bareAgent(wire);
    {
      await using _used = client;
    }
    assert.equal((await client.closed).kind, "closed");
  });

  test(`${version}: a request with bad params throws at the call, says where, and sends nothing (G7)`, async () => {
    const { client, agent } = bareAgent(wire);
    const wrong: [unknown, RegExp][] = [
      [{ cwd: 5, mcpServers: [] }, /^session\/new: params\/cwd must be .*string.*, got number$/],
      [{ mcpServers: [] }, /^session\/new: params\/cwd must be .*, got nothing$/],
      [undefined, /^session\/new: params must be object, got /],
      [{ ...newSession, custom: 1 }, /^session\/new: params\/custom must be /],
    ];
    for (const [params, message] of wrong) {
      assert.throws(() => client.request("session/new", params as never), { name: "TypeError", message });
    }
    await quiet();
    assert.deepEqual(agent.received, []);
  });

  test(`${version}: a notification with bad params throws at the call and sends nothing (G7)`, async () => {
    const { client, agent } = bareAgent(wire);
    assert.throws(() => client.notify("session/cancel", { sessionId: 5 } as never), {
      name: "TypeError",
      message: /^session\/cancel: params\/sessionId must be .*, got number$/,
    });
    await quiet();
    assert.deepEqual(agent.received, []);
    await client.notify("session/cancel", { sessionId: "s" });
    await agent.until(1);
    assert.deepEqual(agent.received, [
      { jsonrpc: "2.0", method: "session/cancel", params: { sessionId: "s" } },
    ]);
  });

  test(`${version}: one bad call in a batch throws, and its good neighbours are not sent either (G7)`, async () => {
    const { client, agent } = bareAgent(wire);
    const good = { method: "session/list", params: {} };
    for (const bad of [
      { method: "session/close", params: { sessionId: 5 } },
      { method: "session/cancel", params: {}, notification: true },
      // requests and notifications have different handlers
      { method: "session/cancel", params: { sessionId: "s" } },
      { method: "session/close", params: { sessionId: "s" }, notification: true },
    ]) {
      assert.throws(() => client.batch([good, bad]), { name: "TypeError", message: /^session\/c/ });
    }
    await quiet();
    assert.deepEqual(agent.received, []);
  });

  test(`${version}: bad params from the peer are answered -32602 with their place, and no handler runs (G7)`, async () => {
    let ran = 0;
    const { client } = bareClient(wire, {
      requests: {
        "session/new"() {
          ran++;
          return { sessionId: "s" };
        },
      },
    });
    client.send(call(1, "session/new", { cwd: 5, mcpServers: [] }));
    await client.until(1);
    const [answer] = client.received as { id: unknown; error: { code: number; data: unknown } }[];
    assert.deepEqual([answer?.id, answer?.error.code, ran], [1, -32602, 0]);
    assert.deepEqual(answer?.error.data, { reason: "invalid_params", path: "/cwd" });
  });

  test(`${version}: a notification with bad params is logged with its place, never answered, and not handed on (X16)`, async () => {
    const seen: unknown[] = [];
    const { client, log } = bareClient(wire, {
      notifications: { "session/cancel": (params) => void seen.push(params) as undefined },
    });
    client.send({ jsonrpc: "2.0", method: "session/cancel", params: { sessionId: ["hunter2"] } });
    client.send({ jsonrpc: "2.0", method: "session/cancel", params: { sessionId: "s" } });
    await quiet();
    assert.deepEqual([client.received, seen], [[], [{ sessionId: "s" }]]);
    assert.partialDeepStrictEqual(log, [
      { level: "warn", fields: { method: "session/cancel", path: "/sessionId" } },
    ]);
    assert.doesNotMatch(JSON.stringify(log), /hunter2/);
  });

  test(`${version}: a handler's bad result is -32603 to the peer, and a log line with its place and without its value (G7)`, async () => {
    const wrong = { sessionId: { secret: "hunter2" } } as never;
    const { client, log } = bareClient(wire, {
      requests: {
        "session/new": () => wrong,
        "session/resume": async () => ({ configOptions: "hunter2" }) as never,
      },
    });
    client.send(call(1, "session/new", newSession));
    client.send(call(2, "session/resume", { sessionId: "s", ...newSession }));
    await client.until(2);
    const error = { code: -32603, message: "internal error", data: { reason: "invalid_result" } };
    assert.deepEqual(client.received, [
      { jsonrpc: "2.0", id: 1, error },
      { jsonrpc: "2.0", id: 2, error },
    ]);
    assert.partialDeepStrictEqual(log, [
      { level: "error", fields: { method: "session/new", path: "/sessionId" } },
      { level: "error", fields: { method: "session/resume", path: "/configOptions" } },
    ]);
    assert.doesNotMatch(JSON.stringify(log), /hunter2/);
  });

  test(`${version}: a handler may return nothing where the result has no required field, and nothing else (J10)`, async () => {
    const { client } = bareClient(wire, {
      requests: { "session/close": () => undefined, "session/new": () => undefined as never },
    });
    client.send(call(1, "session/close", { sessionId: "s" }));
    client.send(call(2, "session/new", newSession));
    await client.until(2);
    assert.partialDeepStrictEqual(client.received, [
      { id: 1, result: {} },
      { id: 2, error: { code: -32603 } },
    ]);
  });

  test(`${version}: a bad result from the peer rejects as a breach of protocol, alone or in a batch, and the connection goes on (G7)`, async () => {
    const { client, agent } = bareAgent(wire);
    const alone = outcomeOf(client.request("session/new", newSession));
    const [batched] = client.batch([{ method: "session/list", params: {} }]);
    assert.ok(batched);
    const isBatched = outcomeOf(batched);
    await agent.until(2);
    agent.send({ jsonrpc: "2.0", id: idOf(agent.received[0]), result: { sessionId: 5 } });
    agent.send([{ jsonrpc: "2.0", id: idOf((agent.received[1] as unknown[])[0]), result: null }]);
    for (const [outcome, message] of [
      [await alone, /^session\/new: result\/sessionId must be .*, got number$/],
      [await isBatched, /^session\/list: result must be object, got null$/],
    ] as const) {
      assert.ok("error" in outcome && outcome.error instanceof ConnectionError, String(message));
      assert.equal(outcome.error.kind, "protocol");
      assert.match(outcome.error.message, message);
    }
    const next = client.request("session/new", newSession);
    await agent.until(3);
    agent.send({ jsonrpc: "2.0", id: idOf(agent.received[2]), result: { sessionId: "s" } });
    assert.deepEqual(await next, { sessionId: "s" });
  });

  test(`${version}: an unstable method that was not listed is answered -32601 and cannot be sent`, async () => {
    let ran = 0;
    const handler = () => {
      ran++;
      return { sessionId: "t" };
    };
    for (const unstable of [undefined, [], ["archive"]] as const) {
      const listed = unstable === undefined ? {} : { unstable };
      const { client } = bareClient(wire, { ...listed, requests: { "session/fork": handler } });
      client.send(call(1, "session/fork", fork));
      await client.until(1);
      assert.partialDeepStrictEqual(client.received, [{ id: 1, error: { code: -32601 } }]);

      const near = bareAgent(wire, listed);
      assert.throws(() => near.client.request("session/fork", fork), {
        name: "TypeError",
        message: /^session\/fork: .* it needs unstable: \["fork"\]$/,
      });
      assert.throws(() => near.client.batch([{ method: "session/fork", params: fork }]), TypeError);
      await quiet();
      assert.deepEqual(near.agent.received, []);
    }
    assert.equal(ran, 0);
  });

  test(`${version}: an unstable notification that was not listed is ignored and cannot be sent`, async () => {
    const seen: unknown[] = [];
    const notifications = { "auth/status_update": () => void seen.push("told") as undefined };
    const { client, agent } = bareAgent(wire, { notifications });
    const params = { providers: [], methods: [], status: "authenticated" };
    agent.send({ jsonrpc: "2.0", method: "auth/status_update", params });
    const near = bareClient(wire);
    assert.throws(() => near.agent.notify("auth/status_update", params as never), TypeError);
    await quiet();
    assert.deepEqual([seen, agent.received, near.client.received], [[], [], []]);
    await client.close();
  });

  for (const unstable of [["fork"], "*"] as const) {
    test(`${version}: unstable ${JSON.stringify(unstable)} makes session/fork a method like any other`, async () => {
      const [a, b] = memoryPair();
      const agent = wire.agentPeer(a, {
        unstable,
        requests: { "session/fork": ({ sessionId }) => ({ sessionId: `${sessionId} forked` }) },
      });
      const client = wire.clientPeer(b, { unstable });
      assert.deepEqual(await client.request("session/fork", fork), { sessionId: "s forked" });
      assert.throws(() => client.request("session/fork", { cwd: 5 } as never), TypeError);
      await Promise.all([client.close(), agent.close()]);
    });
  }

  test(`${version}: neither role can send what only it receives, and it is answered -32601 where it does not belong`, async () => {
    const { agent, client } = bareClient(wire, {
      requests: { "session/request_permission": () => ({}) } as never,
    });
    assert.throws(() => agent.request("session/new" as never, newSession as never), TypeError);
    client.send(call(1, "session/request_permission", {}));
    await client.until(1);
    assert.partialDeepStrictEqual(client.received, [{ id: 1, error: { code: -32601 } }]);
  });

  test(`${version}: a method without a handler, or named like a member of every object, is answered -32601 (J5)`, async () => {
    const { client } = bareClient(wire);
    const names = ["session/new", "nonsense", "", "__proto__", "constructor", "toString"];
    for (const [id, name] of names.entries()) client.send(call(id, name, newSession));
    await client.until(names.length);
    assert.deepEqual(
      (client.received as { id: unknown; error: { code: number } }[]).map(({ id, error }) => [
        id,
        error.code,
      ]),
      names.map((_, id) => [id, -32601]),
    );
  });

  test(`${version}: cancelling a request reaches the handler of what its own handler asked for (G5)`, async () => {
    const heard: string[] = [];
    const [a, b] = memoryPair();
    const agent = wire.agentPeer(a, {
      requests: {
        async "session/set_config_option"(_params, request) {
          request.signal.addEventListener("abort", () => heard.push("agent"));
          await agent.requestExtension("_acme/confirm", { really: true }, { signal: request.signal });
          return { configOptions: [] };
        },
      },
    });
    const asked = Promise.withResolvers<unknown>();
    const client = wire.clientPeer(b, {
      requests: {
        "_acme/confirm"(params, request) {
          request.signal.addEventListener("abort", () => heard.push("client"));
          asked.resolve(params);
          return untilAborted(request.signal);
        },
      },
    });
    const controller = new AbortController();
    const option = { sessionId: "s", configId: "web", type: "boolean", value: true } as const;
    const outcome = outcomeOf(
      client.request("session/set_config_option", option, { signal: controller.signal }),
    );
    assert.deepEqual(await asked.promise, { really: true });
    controller.abort();
    const settled = await outcome;
    assert.ok("error" in settled && settled.error instanceof RequestError);
    assert.equal(settled.error.code, -32800);
    assert.deepEqual(heard, ["agent", "client"]);
    await Promise.all([client.close(), agent.close()]);
  });

  test(`${version}: requests of an extension cross both ways as they are, and an unknown one is -32601 under its own id (X3)`, async () => {
    const [a, b] = memoryPair();
    const agent = wire.agentPeer(a, { requests: { "_acme/echo": (params) => ({ heard: params }) } });
    const client = wire.clientPeer(b, { requests: { "_acme/twice": (params) => [params, params] } });
    assert.deepEqual(await client.requestExtension("_acme/echo", { any: ["thing", null] }), {
      heard: { any: ["thing", null] },
    });
    assert.deepEqual(await agent.requestExtension("_acme/twice", 5), [5, 5]);
    assert.throws(() => agent.requestExtension("acme/twice" as never), /got "acme\/twice".*begins with "_"/);
    assert.throws(() => agent.notifyExtension("session/update" as never), TypeError);
    await assert.rejects(client.requestExtension("_acme/other"), {
      name: "RequestError",
      code: -32601,
      data: { reason: "method_not_found", method: "_acme/other" },
    });
    const [echoed] = client.batch([{ method: "_acme/echo", params: "in a batch" }]);
    assert.deepEqual(await echoed, { heard: "in a batch" });
    await Promise.all([client.close(), agent.close()]);

    const bare = bareClient(wire);
    bare.client.send(call("mine", "_acme/other"));
    await bare.client.until(1);
    assert.partialDeepStrictEqual(bare.client.received, [{ id: "mine", error: { code: -32601 } }]);
  });

  test(`${version}: notifications of an extension arrive as they are, and unknown ones are ignored (X4)`, async () => {
    const seen: unknown[] = [];
    const { client, log } = bareClient(wire, {
      notifications: { "_acme/tick": (params) => void seen.push(params) as undefined },
    });
    client.send({ jsonrpc: "2.0", method: "_acme/unknown", params: 5 });
    client.send({ jsonrpc: "2.0", method: "session/unheard_of" });
    client.send({ jsonrpc: "2.0", method: "_acme/tick", params: { n: 1 } });
    await quiet();
    assert.deepEqual([seen, client.received, log], [[{ n: 1 }], [], []]);

    const near = bareAgent(wire);
    assert.equal(near.client.notifyExtension("_acme/tick", { n: 2 }), undefined);
    await near.agent.until(1);
    assert.deepEqual(near.agent.received, [{ jsonrpc: "2.0", method: "_acme/tick", params: { n: 2 } }]);
  });
}

function idOf(message: unknown): unknown {
  return (message as { id: unknown }).id;
}
