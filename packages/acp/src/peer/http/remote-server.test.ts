import assert from "node:assert/strict";
import { test } from "node:test";
import { address, RemoteProbe } from "../../../test/support/remote-probe.ts";
import type { RemoteServerOptions } from "../../server.ts";

const json = { "content-type": "application/json" };

test("a connection is opened by initialize, which is answered in the response (H5)", async () => {
  const probe = new RemoteProbe();
  const reply = await probe.initialize();
  assert.equal(reply.status, 200);
  assert.match(reply.headers.get("content-type") ?? "", /^application\/json/);
  assert.match(probe.connectionId, /^[0-9a-f]{32}$/);
  const { id, result } = JSON.parse(reply.body);
  assert.equal(id, 1);
  assert.equal(result.protocolVersion, 1);
  assert.equal(JSON.stringify(result).includes(probe.connectionId), false);
  await probe.server.close();
});

test("a message gets 202, and its answer comes on the stream where it belongs (H6, H10, H11)", async () => {
  const probe = new RemoteProbe();
  await probe.initialize();
  const own = await probe.stream();
  assert.equal(own.status, 200);
  const opened = probe.request("session/new", { cwd: "/", mcpServers: [] });
  const accepted = await probe.post(opened, probe.names);
  assert.deepEqual([accepted.status, accepted.body], [202, ""]);
  const { data } = (await own.next()) ?? {};
  assert.equal(data?.["id"], opened.id);
  const { sessionId = "" } = (data?.["result"] ?? {}) as { sessionId?: string };
  const names = { "acp-session-id": sessionId };
  const stream = await probe.stream(names);
  const prompt = { sessionId, prompt: [{ type: "text", text: "a b" }] };
  const asked = probe.request("session/prompt", prompt);
  assert.equal((await probe.post(asked, { ...probe.names, ...names })).status, 202);
  const heard: unknown[] = [];
  for (;;) {
    const event = await stream.next();
    if (event?.data["id"] === asked.id) break;
    heard.push(event?.data["method"]);
  }
  assert.ok(heard.length > 0 && heard.every((method) => method === "session/update"));
  await probe.server.close();
});

test("the server itself says that the history of a session is over, on the session's stream (H11)", async () => {
  const probe = new RemoteProbe();
  await probe.initialize();
  const own = await probe.stream();
  await probe.post(probe.request("session/new", { cwd: "/", mcpServers: [] }), probe.names);
  const { sessionId = "" } = ((await own.next())?.data["result"] ?? {}) as { sessionId?: string };
  const names = { "acp-session-id": sessionId };
  const stream = await probe.stream(names);
  const asked = probe.request("_parley.dev/settled", { sessionId });
  assert.equal((await probe.post(asked, { ...probe.names, ...names })).status, 202);
  assert.deepEqual((await stream.next())?.data, { jsonrpc: "2.0", id: asked.id, result: {} });
  await probe.server.close();
});

test("what is no good request is refused with its status, and the connection goes on (H1, H4, H7, H9, N219-N224, N226, N227, N230, N231)", async () => {
  const probe = new RemoteProbe({ limits: { maxBodyBytes: 1_000 } });
  await probe.initialize();
  const { names } = probe;
  const ping = JSON.stringify(probe.request("_ping"));
  const cases: [number, string, Record<string, string>, string?][] = [
    [405, "PUT", names],
    [405, "OPTIONS", {}],
    [415, "POST", { ...names, "content-type": "text/plain" }, ping],
    [415, "POST", { ...names, "content-type": "application/json; charset=utf-16" }, ping],
    [415, "POST", { ...names, ...json, "content-encoding": "gzip" }, ping],
    [400, "POST", { ...names, ...json }, "{"],
    [400, "POST", { ...names, ...json }, "7"],
    [413, "POST", { ...names, ...json }, JSON.stringify({ text: "x".repeat(1_000) })],
    [400, "POST", json, ping],
    [404, "POST", { ...json, "acp-connection-id": "nobody" }, ping],
    [404, "GET", { accept: "text/event-stream", "acp-connection-id": "nobody" }],
    [406, "GET", { ...names, accept: "application/json" }],
    [400, "GET", { accept: "text/event-stream" }],
    [400, "DELETE", {}],
    [404, "DELETE", { "acp-connection-id": "nobody" }],
    [202, "POST", { ...names, "content-type": "application/json; charset=utf-8" }, ping],
  ];
  for (const [status, method, headers, body] of cases) {
    const reply = await probe.ask(method, headers, body);
    assert.equal(reply.status, status, `${method} ${JSON.stringify(headers)} ${body}: ${reply.body}`);
    if (status !== 202) assert.ok(reply.body.length > 10, "a refusal says why");
  }
  const elsewhere = await probe.server.fetch(new Request("http://localhost/other"));
  assert.equal(elsewhere.status, 404);
  const { error } = JSON.parse((await probe.post("{", names)).body);
  assert.equal(error.code, -32700);
  await probe.server.close();
});

test("a batch gets 501 and none of it runs, whatever is in it (H16, N084-N091)", async () => {
  const probe = new RemoteProbe();
  await probe.initialize();
  const stream = await probe.stream();
  const request = probe.request("session/new", {});
  const note = { jsonrpc: "2.0", method: "_note" };
  const response = { jsonrpc: "2.0", id: 1, result: {} };
  for (const batch of [
    [],
    [1, 2],
    [request],
    [note],
    [request, note, {}],
    [response, response],
    [probe.request("initialize", { protocolVersion: 1 })],
    Array.from({ length: 10_001 }, () => note),
  ])
    assert.equal((await probe.post(batch, probe.names)).status, 501);
  const asked = probe.request("_after");
  await probe.post(asked, probe.names);
  assert.equal((await stream.next())?.data["id"], asked.id);
  await probe.server.close();
});

test("an agent that cannot be had is 503 with the reason, also when it ends before it answers (H5)", async () => {
  const ways: [RemoteServerOptions["connect"], RegExp][] = [
    [
      () => {
        throw new Error("already 100 agents");
      },
      /already 100 agents/,
    ],
    [
      (transport) => {
        queueMicrotask(() => void transport.close(new Error("the agent did not start")));
        return { close: () => transport.close() };
      },
      /the agent did not start/,
    ],
    [
      (transport) => {
        queueMicrotask(() => void transport.close());
        return { close: () => transport.close() };
      },
      /the agent ended before it answered/,
    ],
  ];
  for (const [connect, reason] of ways) {
    const probe = new RemoteProbe({ connect });
    const { status, headers, body } = await probe.initialize();
    assert.deepEqual([status, headers.get("retry-after")], [503, "1"]);
    assert.match(JSON.parse(body).error.message, reason);
    assert.deepEqual(probe.server.connections, []);
  }
});

test("initialize with a connection id, or without a request id, or one that no agent answers with its id, gets 400 (H5)", async () => {
  const probe = new RemoteProbe();
  await probe.initialize();
  assert.equal((await probe.post(probe.request("initialize", {}), probe.names)).status, 400);
  assert.equal((await probe.post({ jsonrpc: "2.0", method: "initialize", params: {} })).status, 400);
  // the agent answers none of these with its id
  for (const change of [
    { jsonrpc: 2 },
    { jsonrpc: "1.0" },
    { result: {} },
    { error: { code: 1, message: "x" } },
    { id: {} },
    { id: "x".repeat(2_000) },
  ]) {
    const message = { jsonrpc: "2.0", id: 1, method: "initialize", params: true, ...change };
    const { status } = await probe.post(message);
    assert.equal(status, 400, JSON.stringify(change).slice(0, 50));
  }
  await probe.server.close();
});

test("a POST about a session names it, in its header as in its body (H8, N228, N229)", async () => {
  const probe = new RemoteProbe();
  await probe.initialize();
  const cancel = { jsonrpc: "2.0", method: "session/cancel", params: { sessionId: "s1" } };
  assert.equal((await probe.post(cancel, probe.names)).status, 400);
  assert.equal((await probe.post(cancel, { ...probe.names, "acp-session-id": "s2" })).status, 400);
  assert.equal((await probe.post(cancel, { ...probe.names, "acp-session-id": "s1" })).status, 202);
  await probe.server.close();
});

test("a second reader of a stream gets 409, and DELETE ends the connection once (H10, H14, N233, N234)", async () => {
  const probe = new RemoteProbe();
  await probe.initialize();
  const first = await probe.stream();
  assert.equal((await probe.stream()).status, 409);
  assert.equal((await probe.ask("DELETE", probe.names)).status, 202);
  assert.equal(await first.next(), undefined);
  assert.equal((await probe.ask("DELETE", probe.names)).status, 404);
  assert.deepEqual(probe.server.connections, []);
});

test("an event that was missed is sent again behind Last-Event-ID; what is forgotten or unknown is 404, never a gap (H12, N247-N250)", async () => {
  const probe = new RemoteProbe({ limits: { ringEvents: 3 } });
  await probe.initialize();
  const stream = await probe.stream();
  const ids: string[] = [];
  for (let n = 0; n < 5; n++) {
    await probe.post(probe.request("_unknown"), probe.names);
    ids.push((await stream.next())?.id ?? "");
  }
  await stream.cancel();
  const again = await probe.stream({ "last-event-id": ids[2] ?? "" });
  assert.deepEqual([(await again.next())?.id, (await again.next())?.id], [ids[3], ids[4]]);
  // the same reader, whose first stream only looks open
  const third = await probe.stream({ "last-event-id": ids[3] ?? "" });
  assert.equal((await third.next())?.id, ids[4]);
  assert.equal(await again.next(), undefined);
  await third.cancel();
  const statuses = [];
  const [tag = ""] = (ids[0] ?? "").split("-");
  for (const id of [ids[0] ?? "", "0", `${tag}-99`, "0123abcd-1"])
    statuses.push((await probe.stream({ "last-event-id": id })).status);
  assert.deepEqual(statuses, [404, 404, 404, 404]);
  for (const id of [
    "x",
    "",
    "1",
    "x-1",
    tag,
    `${tag}-`,
    `${tag}-0`,
    `${tag}-1-1`,
    "in valid",
    "9".repeat(100),
  ])
    assert.equal((await probe.stream({ "last-event-id": id })).status, 400, `garbage: ${id}`);
  const foreign = await probe.stream({ "acp-session-id": "s9", "last-event-id": ids[4] ?? "" });
  assert.equal(foreign.status, 404);
  await probe.server.close();
});

test("a message that was numbered is taken once, however often it is posted (H6)", async () => {
  const probe = new RemoteProbe();
  await probe.initialize();
  const stream = await probe.stream();
  const [one, two] = [probe.request("_one"), probe.request("_two")];
  for (const [message, number] of [
    [one, "1"],
    [one, "1"],
    [two, "2"],
    [one, "1"],
  ] as const)
    assert.equal((await probe.post(message, { ...probe.names, "parley-message": number })).status, 202);
  const last = probe.request("_last");
  await probe.post(last, { ...probe.names, "parley-message": "3" });
  const heard = [];
  for (let n = 0; n < 3; n++) heard.push((await stream.next())?.data["id"]);
  assert.deepEqual(heard, [one.id, two.id, last.id]);
  assert.equal((await probe.post(last, { ...probe.names, "parley-message": "x" })).status, 400);
  await probe.server.close();
});

test("a connection of another principal is as unknown as none (H17, N280)", async () => {
  const authorize = (request: Request) => {
    const principal = request.headers.get("authorization");
    return principal === null ? new Response("who?", { status: 401 }) : { principal };
  };
  const probe = new RemoteProbe({ authorize });
  assert.equal((await probe.initialize()).status, 401);
  assert.equal((await probe.initialize({ authorization: "ann" })).status, 200);
  const ping = probe.request("_ping");
  assert.equal((await probe.post(ping, { ...probe.names, authorization: "ann" })).status, 202);
  const replies = await Promise.all(
    [probe.connectionId, "0".repeat(32)].map((id) =>
      probe.post(ping, { "acp-connection-id": id, authorization: "bob" }),
    ),
  );
  assert.deepEqual(replies[0]?.status, 404);
  assert.deepEqual(replies[0]?.body, replies[1]?.body);
  assert.equal(probe.server.connections[0]?.principal, "ann");
  await probe.server.close();
});

test("a client that is cut off is waited for, and then its connection ends", async () => {
  const ended = Promise.withResolvers<string | undefined>();
  const probe = new RemoteProbe({
    graceMs: 20,
    connect(transport) {
      transport.start({
        message: (value) => {
          const { id } = value as { id: number };
          transport.send({ jsonrpc: "2.0", id, result: {} });
        },
        idle: () => undefined,
        reject: () => undefined,
        drain: () => undefined,
        end: ({ message }) => ended.resolve(message),
      });
      changes.push(transport.attachment?.isAttached);
      transport.attachment?.onChange(() => changes.push(transport.attachment?.isAttached));
      return { close: () => transport.close() };
    },
  });
  const changes: unknown[] = [];
  await probe.initialize();
  const stream = await probe.stream();
  assert.equal(probe.server.connections[0]?.isAttached, true);
  await stream.cancel();
  assert.equal(probe.server.connections[0]?.isAttached, false);
  assert.equal(typeof probe.server.connections[0]?.detachedAt, "number");
  assert.match((await ended.promise) ?? "", /away for more than 0.02 s/);
  assert.deepEqual([changes[0], changes.at(-1)], [true, false]);
  assert.equal((await probe.post(probe.request("_late"), probe.names)).status, 404);
});

test("a client that knows only POST is answered in the response; its agent is told that it cannot be asked", async () => {
  const told: unknown[] = [];
  const probe = new RemoteProbe({
    plainPost: true,
    connect(transport) {
      let asked: unknown;
      transport.start({
        message(value) {
          const { id, method, error } = value as { id?: unknown; method?: string; error?: unknown };
          if (error !== undefined) {
            told.push(error);
            transport.send({ jsonrpc: "2.0", id: asked, result: "done" });
          } else if (method === "ask") {
            asked = id;
            transport.send({ jsonrpc: "2.0", id: "q1", method: "session/request_permission", params: {} });
          } else if (id !== undefined) transport.send({ jsonrpc: "2.0", id, result: method });
        },
        idle: () => undefined,
        reject: () => undefined,
        drain: () => undefined,
        end: () => undefined,
      });
      return { close: () => transport.close() };
    },
  });
  assert.equal((await probe.post(probe.request("early"))).status, 400);
  await probe.initialize();
  const reply = await probe.post(probe.request("session/new"));
  assert.deepEqual([reply.status, JSON.parse(reply.body).result], [200, "session/new"]);
  assert.equal((await probe.post({ jsonrpc: "2.0", method: "note" })).status, 202);
  const asked = await probe.post(probe.request("ask"));
  assert.equal(JSON.parse(asked.body).result, "done");
  assert.match(JSON.stringify(told), /reads no event stream/);
  const older = await probe.ask("GET", { accept: "text/event-stream" });
  assert.deepEqual([older.status, older.body.includes("older SSE transport is not served")], [400, true]);
  // with a stream it is asked there
  const stream = await probe.stream();
  void probe.post(probe.request("ask"), probe.names);
  assert.equal((await stream.next())?.data["id"], "q1");
  await probe.server.close();
});

test("an idle stream is kept alive with comments (H12)", async () => {
  const probe = new RemoteProbe({ heartbeatMs: 5 });
  await probe.initialize();
  const response = await probe.server.fetch(
    new Request(address, { headers: { accept: "text/event-stream", ...probe.names } }),
  );
  const reader = response.body?.getReader();
  let text = "";
  while (!text.includes("\n\n:\n\n:")) text += new TextDecoder().decode((await reader?.read())?.value);
  assert.match(text, /^: open\n\n:\n\n/);
  await probe.server.close();
});

test("a reader that takes nothing is left after a while, and what it missed waits for it (N262)", async () => {
  const detached = Promise.withResolvers<void>();
  let send = (_message: object): boolean => true;
  const probe = new RemoteProbe({
    heartbeatMs: 5,
    stallMs: 10,
    limits: { highWaterBytes: 100_000 },
    connect(transport) {
      transport.start({
        message: (value) =>
          void transport.send({ jsonrpc: "2.0", id: (value as { id: number }).id, result: {} }),
        idle: () => undefined,
        reject: () => undefined,
        drain: () => undefined,
        end: () => undefined,
      });
      send = (message) => transport.send(message);
      transport.attachment?.onChange(() => {
        if (!transport.attachment?.isAttached && sent > 0) detached.resolve();
      });
      return { close: () => transport.close() };
    },
  });
  let sent = 0;
  await probe.initialize();
  await probe.stream();
  // a full reader is slow; its event loop turns once for each chunk
  while (send({ jsonrpc: "2.0", method: "n", params: { sent, text: "x".repeat(10_000) } })) {
    sent++;
    await new Promise((resolve) => setImmediate(resolve));
  }
  await detached.promise;
  assert.equal(
    send({ jsonrpc: "2.0", method: "n", params: { sent: sent + 1 } }),
    true,
    "nobody waits for it",
  );
  const again = await probe.stream({ "last-event-id": "0" });
  for (let n = 0; n <= sent + 1; n++) {
    const { params } = (await again.next())?.data ?? {};
    assert.equal((params as { sent: number }).sent, n);
  }
  await probe.server.close();
});

test("a session that another client takes over: its old stream ends behind the notice and is 404, until it is taken back (H10, H18)", async () => {
  const probe = new RemoteProbe();
  const clients = [];
  for (const _ of [1, 2]) {
    await probe.initialize();
    clients.push({ names: probe.names, own: await probe.stream() });
  }
  const [old, next] = clients as [(typeof clients)[0], (typeof clients)[0]];
  const ask = async ({ names, own }: typeof old, method: string, params: object, more = {}) => {
    const asked = probe.request(method, params);
    assert.equal((await probe.post(asked, { ...names, ...more })).status, 202);
    const { data } = (await own.next()) ?? {};
    assert.equal(data?.["id"], asked.id);
    return data ?? {};
  };
  const place = { cwd: "/", mcpServers: [] };
  const { result } = await ask(old, "session/new", place);
  const { sessionId } = result as { sessionId: string };
  const name = { "acp-session-id": sessionId };
  const stream = await probe.stream({ ...old.names, ...name });
  const taking = { sessionId, ...place, _meta: { "_parley.dev/takeover": true } };
  assert.ok("result" in (await ask(next, "session/load", taking, name)));
  const notice = await stream.next();
  assert.deepEqual(
    [notice?.data["method"], notice?.data["params"]],
    ["_parley.dev/session_taken", { sessionId }],
  );
  assert.equal(await stream.next(), undefined, "the server ends it");
  const again = await probe.ask("GET", { accept: "text/event-stream", ...old.names, ...name });
  assert.equal(again.status, 404);
  assert.match(again.body, /another client has this session now; load or resume it/);
  // who did not read the notice before a cut reads it now
  const late = await probe.stream({ ...old.names, ...name, "last-event-id": "0" });
  assert.equal((await late.next())?.data["method"], "_parley.dev/session_taken");
  assert.equal(await late.next(), undefined);
  const prompt = { sessionId, prompt: [{ type: "text", text: "a" }] };
  const { error } = await ask(old, "session/prompt", prompt, name);
  assert.match(JSON.stringify(error), /-32002.*another client has this session; load or resume it/);
  const { error: held } = await ask(old, "session/load", { sessionId, ...place }, name);
  assert.match(JSON.stringify(held), /session_held/);
  const still = await probe.ask("GET", { accept: "text/event-stream", ...old.names, ...name });
  assert.equal(still.status, 404);
  assert.ok("result" in (await ask(old, "session/load", taking, name)));
  assert.equal((await probe.stream({ ...old.names, ...name })).status, 200);
  await probe.server.close();
});

test("a client that has promised to be heard and is silent counts as cut off, and may come back (F14)", async () => {
  const probe = new RemoteProbe({ heartbeatMs: 5 });
  await probe.initialize();
  const other = await probe.stream({ "acp-session-id": "s1" });
  const stream = await probe.stream();
  assert.equal((await probe.post({}, { ...probe.names, "parley-heartbeat": "often" })).status, 400);
  assert.equal((await probe.post({}, { ...probe.names, "parley-heartbeat": "10" })).status, 202);
  await assert.rejects(stream.next(), /the client is silent/);
  await assert.rejects(other.next(), /the client is silent/);
  assert.equal(probe.server.connections[0]?.isAttached, false);
  assert.equal((await probe.stream({ "last-event-id": "0" })).status, 200);
  await probe.server.close();
});

test("a client that vanishes before its first heartbeat is noticed after three of them; one that knows no heartbeats is not expected to send any", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const probe = new RemoteProbe();
  const beats = async (count: number) => {
    for (let n = 0; n < count; n++) t.mock.timers.tick(15_000);
    await new Promise(setImmediate);
    return probe.server.connections.map(({ isAttached }) => isAttached);
  };
  await probe.initialize();
  await probe.stream({ "last-event-id": "0" });
  await probe.initialize();
  await probe.stream();
  assert.deepEqual(await beats(2), [true, true]);
  assert.deepEqual(await beats(1), [false, true]);
  const { status } = await probe.post(
    { jsonrpc: "2.0", method: "$/x" },
    { ...probe.names, "parley-message": "1" },
  );
  assert.equal(status, 202);
  assert.deepEqual(await beats(2), [false, true]);
  assert.deepEqual(await beats(1), [false, false]);
  await probe.server.close();
});

test("a reader goes on behind any event, also of those that were sent in one piece, and any text survives", async () => {
  let send = (_message: object, _text?: string): boolean => true;
  const probe = new RemoteProbe({
    connect(transport) {
      send = (message, text) => transport.send(message, text);
      const nothing = () => undefined;
      transport.start({
        message: (value) => {
          const { id } = value as { id?: number }; // what the test posts
          if (id !== undefined) transport.send({ jsonrpc: "2.0", id, result: {} });
        },
        idle: nothing,
        reject: nothing,
        drain: nothing,
        end: nothing,
      });
      return { close: () => transport.close() };
    },
  });
  await probe.initialize();
  const texts = ["a", "ü\u2028🙂", "x".repeat(40_000), "\n\nid: 1\ndata: 2\n\n", "y".repeat(40_000), "z"];
  const message = (params: string) => ({ jsonrpc: "2.0", method: "note", params });
  for (const text of texts) send(message(text), JSON.stringify(message(text), undefined, 1));
  const first = await probe.stream();
  const read: { id: string; data: Record<string, unknown> }[] = [];
  for (const _ of texts) read.push((await first.next()) ?? { id: "", data: {} });
  assert.deepEqual(
    read.map(({ data }) => data["params"]),
    texts,
  );
  for (let from = 0; from < texts.length; from++) {
    const id = from === 0 ? "0" : (read[from - 1]?.id ?? "");
    const again = await probe.stream({ "last-event-id": id });
    for (const wanted of read.slice(from)) assert.deepEqual(await again.next(), wanted);
  }
  send(message("later"));
  const last = await probe.stream({ "last-event-id": read.at(-1)?.id ?? "" });
  assert.equal((await last.next())?.data["params"], "later");
  await probe.server.close();
});
