// Two users of one server: nothing of one exists for the other (TH21, N232, N278-N280).

import assert from "node:assert/strict";
import { test } from "node:test";
import { address, type EventReader, RemoteProbe } from "../../../test/support/remote-probe.ts";
import { agent } from "../../index.ts";
import { memoryStore } from "../../store.ts";
import type { WebSocketLike } from "../../transport.ts";

const place = { cwd: "/", mcpServers: [] };
const nobody = "0".repeat(32);

function tenants() {
  const app = agent({
    name: "shared",
    version: "1.0.0",
    session: { store: memoryStore() },
    prompt: (turn) => turn.say(turn.text),
  });
  return new RemoteProbe({
    connect: (transport, { principal }) => app.connect(transport, { principal }),
    authorize: (request) => ({ principal: request.headers.get("authorization") ?? "" }),
  });
}

interface Tenant {
  readonly names: Record<string, string>;
  readonly own: EventReader;
  readonly streams: Map<string, EventReader>;
}

async function enter(probe: RemoteProbe, authorization: string): Promise<Tenant> {
  await probe.initialize({ authorization });
  const names = { ...probe.names, authorization };
  return { names, own: await probe.stream(names), streams: new Map() };
}

/** The answer, from the stream where it belongs. */
async function ask(probe: RemoteProbe, tenant: Tenant, method: string, params: object, session?: string) {
  const { names, own, streams } = tenant;
  const named = session === undefined ? {} : { "acp-session-id": session };
  const reader =
    session === undefined || method === "session/load"
      ? own
      : (streams.get(session) ?? (await probe.stream({ ...names, ...named })));
  if (session !== undefined && reader !== own) streams.set(session, reader);
  const asked = probe.request(method, params);
  assert.equal((await probe.post(asked, { ...names, ...named })).status, 202);
  const heard: unknown[] = [];
  for (;;) {
    const { data } = (await reader.next()) ?? assert.fail(`no answer to ${method}`);
    if (data["id"] === asked.id) return { result: data["result"], error: data["error"], heard };
    heard.push(data);
  }
}

/** What differs between the answers about two things that do not exist. */
function anonymous(value: unknown, ...ids: readonly string[]): string {
  return ids
    .reduce((text, id) => text.replaceAll(id, "ID"), JSON.stringify(value))
    .replace(/"id":\d+/, '"id":N');
}

test("a session of another user is answered like one that does not exist, by every method (TH21, N278)", async () => {
  const probe = tenants();
  const [ann, bob] = [await enter(probe, "ann"), await enter(probe, "bob")];
  const { result } = await ask(probe, ann, "session/new", place);
  const { sessionId } = result as { sessionId: string };
  const methods = [
    ["session/load", place],
    ["session/load", { ...place, _meta: { "_parley.dev/takeover": true } }],
    ["session/resume", place],
    ["session/resume", { ...place, _meta: { "_parley.dev/takeover": true } }],
    ["session/prompt", { prompt: [{ type: "text", text: "hi" }] }],
    ["session/set_mode", { modeId: "code" }],
    ["session/set_config_option", { configId: "model", value: "x" }],
    ["session/close", {}],
    ["session/delete", {}],
    ["session/fork", place],
  ] as const;
  for (const [method, params] of methods) {
    const answers = [];
    for (const session of [sessionId, "sess_nobody"])
      answers.push(await ask(probe, bob, method, { sessionId: session, ...params }, session));
    const [foreign, none] = answers.map((answer) => anonymous(answer, sessionId, "sess_nobody"));
    assert.equal(foreign, none, method);
  }
  const listed = await ask(probe, bob, "session/list", {});
  assert.ok(!JSON.stringify(listed).includes(sessionId));
  const prompt = { sessionId, prompt: [{ type: "text", text: "mine" }] };
  assert.match(JSON.stringify(await ask(probe, ann, "session/prompt", prompt, sessionId)), /mine/);
  await probe.server.close();
});

test("a stream of a session of another user carries nothing of it (N232, N278, TH21)", async () => {
  const probe = tenants();
  const [ann, bob] = [await enter(probe, "ann"), await enter(probe, "bob")];
  const { result } = await ask(probe, ann, "session/new", place);
  const { sessionId } = result as { sessionId: string };
  const spy = await probe.stream({ ...bob.names, "acp-session-id": sessionId });
  assert.equal(spy.status, 200);
  const prompt = { sessionId, prompt: [{ type: "text", text: "secret words" }] };
  assert.match(JSON.stringify(await ask(probe, ann, "session/prompt", prompt, sessionId)), /secret/);
  await probe.ask("DELETE", bob.names);
  assert.equal(await spy.next(), undefined, "not one event");
  await probe.server.close();
});

test("connection ids and event ids of another user are as unknown as any (TH21, N249, N279, N280)", async () => {
  const probe = tenants();
  const [ann, bob] = [await enter(probe, "ann"), await enter(probe, "bob")];
  await probe.post(probe.request("session/new", place), ann.names);
  const { id: event } = (await ann.own.next()) ?? { id: "" };
  assert.match(event, /^[\w-]+$/);
  const { authorization = "" } = bob.names;
  const ping = JSON.stringify(probe.request("_ping"));
  const json = { "content-type": "application/json", authorization };
  const stream = { accept: "text/event-stream", authorization };
  const cases: [string, Record<string, string>, string?][] = [
    ["POST", json, ping],
    ["GET", stream],
    ["GET", { ...stream, "last-event-id": event }],
    ["GET", { ...stream, "acp-session-id": "s" }],
    ["DELETE", { authorization }],
  ];
  for (const [method, headers, body] of cases) {
    const replies = [];
    for (const id of [String(ann.names["acp-connection-id"]), nobody])
      replies.push(await probe.ask(method, { ...headers, "acp-connection-id": id }, body));
    assert.deepEqual([replies[0]?.status, replies[0]?.body], [404, replies[1]?.body], method);
    assert.deepEqual([...(replies[0]?.headers ?? [])], [...(replies[1]?.headers ?? [])], method);
  }
  const own = await probe.ask("GET", { ...stream, ...bob.names, "last-event-id": event });
  assert.equal(own.status, 404, "an event id of another user on a stream of one's own");
  assert.equal(probe.server.connections.length, 2, "both are still there");
  await probe.server.close();
});

test("a WebSocket cannot go on with the connection of another user (TH21, N280)", async () => {
  const probe = tenants();
  const resume = { "sec-websocket-protocol": "parley.resume" };
  const socketOf = async (headers: Record<string, string>) => {
    const upgrade = await probe.server.upgrade(new Request(address, { headers: { ...resume, ...headers } }));
    assert.ok(!(upgrade instanceof Response));
    const socket = new FakeSocket();
    upgrade.accept(socket);
    return { socket, id: upgrade.headers["Acp-Connection-Id"] ?? "" };
  };
  const ann = await socketOf({ authorization: "ann" });
  ann.socket.receive(probe.request("initialize", { protocolVersion: 1 }));
  assert.equal(probe.server.connections.length, 1);
  const closes = [];
  for (const id of [ann.id, nobody]) {
    const { socket } = await socketOf({ authorization: "bob", "acp-connection-id": id });
    closes.push([socket.sent, socket.closed]);
  }
  assert.deepEqual(closes[0], [[], [4404, "unknown connection; open a new one"]]);
  assert.deepEqual(closes[0], closes[1]);
  assert.equal(ann.socket.closed, undefined, "it has noticed nothing");
  await probe.server.close();
});

class FakeSocket implements WebSocketLike {
  readonly readyState = 1;
  readonly bufferedAmount = 0;
  binaryType = "";
  readonly sent: string[] = [];
  closed: unknown;
  readonly #listeners = new Map<string, ((event: never) => void)[]>();

  addEventListener(type: string, listener: (event: never) => void): void {
    this.#listeners.set(type, [...(this.#listeners.get(type) ?? []), listener]);
  }

  removeEventListener(): void {
    // nothing is heard twice here
  }

  send(text: string): void {
    this.sent.push(text);
  }

  close(code?: number, reason?: string): void {
    this.closed = [code, reason];
    for (const listener of this.#listeners.get("close") ?? []) listener({ code, reason } as never);
  }

  receive(message: object): void {
    for (const listener of this.#listeners.get("message") ?? [])
      listener({ data: JSON.stringify(message) } as never);
  }
}
