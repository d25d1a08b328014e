// Clients and agents that know only POST: one request for each message, and the answer in its body.

import assert from "node:assert/strict";
import { test } from "node:test";
import { address, RemoteProbe } from "../../../test/support/remote-probe.ts";
import { agent, client, httpTransport } from "../../index.ts";

const patience = { timeout: 30_000 };
const app = client({ name: "test", version: "1.0.0", editions: ["v1"] });

type Message = Readonly<Record<string, unknown>>;
type Answer = (message: Message) => Response | Promise<Response>;

/** A transport to an agent that is a function, which takes the messages one by one. */
function posting(answer: Answer) {
  const seen: Message[] = [];
  const fetch = async (_: string, init: RequestInit) => {
    const message = JSON.parse(String(init.body)) as Message; // what we send
    seen.push(message);
    return answer(message);
  };
  return { seen, transport: httpTransport(address, { plainPost: true, fetch }) };
}

const failure = (ended: object) => JSON.stringify(ended);
const result = (id: unknown, value: object) => ({ jsonrpc: "2.0", id, result: value });
const update = (text: string) => ({
  jsonrpc: "2.0",
  method: "session/update",
  params: {
    sessionId: "s",
    update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text } },
  },
});

/** As an agent would that was written after the document alone. */
function answerOf({ id, method }: Message): Response | undefined {
  if (id === undefined) return new Response(null, { status: 202 });
  if (method === "initialize")
    return Response.json(result(id, { protocolVersion: 1, agentCapabilities: {} }));
  if (method === "session/new") return Response.json(result(id, { sessionId: "s" }));
  return undefined;
}

test(
  "each message is a POST without names, and an answer may be alone, in a list or behind events",
  patience,
  async () => {
    const end = { stopReason: "end_turn" };
    const bodies = [
      (id: unknown) => Response.json(result(id, end)),
      (id: unknown) => Response.json([update("listed"), result(id, end)]),
      (id: unknown) =>
        new Response(
          `data: ${JSON.stringify(update("streamed"))}\n\ndata: ${JSON.stringify(result(id, end))}\n\n`,
          {
            headers: { "content-type": "text/event-stream" },
          },
        ),
    ];
    const { transport, seen } = posting(
      (message) => answerOf(message) ?? (bodies.shift() ?? (() => new Response()))(message["id"]),
    );
    await using connection = await app.connect(transport);
    const session = await connection.newSession({ cwd: "/" });
    assert.equal(await session.prompt("a").text(), "");
    assert.equal(await session.prompt("b").text(), "listed");
    assert.equal(await session.prompt("c").text(), "streamed");
    assert.equal(seen.length, 5);
  },
);

test(
  "a request that is refused fails alone; one whose server has gone ends the connection",
  patience,
  async () => {
    const { promise: cut, reject } = Promise.withResolvers<Response>();
    const answers: Answer[] = [
      () => Response.json({ error: { message: "later" } }, { status: 503 }),
      () => new Response(null, { status: 202 }),
      () => cut,
    ];
    const { transport } = posting(
      (message) => answerOf(message) ?? (answers.shift() ?? answerOf)(message) ?? cut,
    );
    const connection = await app.connect(transport);
    const session = await connection.newSession({ cwd: "/" });
    assert.match(failure(await session.prompt("a")), /expected 200 with .*, got 503.*says: later/);
    assert.match(failure(await session.prompt("b")), /got no message/);
    const last = session.prompt("c").result;
    reject(new TypeError("fetch failed", { cause: new Error("cut") }));
    await assert.rejects(last, /cut/);
    assert.match((await connection.closed).message, /POST http:\/\/localhost\/acp: cut/);
  },
);

test("a cancel is sent while its prompt waits for an answer", patience, async () => {
  const cancelled = Promise.withResolvers<void>();
  const { transport } = posting(async (message) => {
    if (message["method"] === "session/cancel") cancelled.resolve();
    const given = answerOf(message);
    if (given !== undefined) return given;
    await cancelled.promise;
    return Response.json(result(message["id"], { stopReason: "cancelled" }));
  });
  await using connection = await app.connect(transport);
  const session = await connection.newSession({ cwd: "/" });
  const prompt = session.prompt("a");
  await prompt.cancel();
  assert.equal((await prompt.result).stopReason, "cancelled");
});

test(
  "our server sends a client that takes events the updates of a prompt in its answer, and refuses to ask it",
  patience,
  async () => {
    const probe = new RemoteProbe({ plainPost: true });
    const fetch = (url: string, init: RequestInit) => probe.server.fetch(new Request(url, init));
    const connection = await app.connect(httpTransport(address, { plainPost: true, fetch }));
    const session = await connection.newSession({ cwd: "/" });
    assert.equal(await session.prompt("one two three").text(), "one two three ");
    assert.match(
      failure(await session.prompt("ask")),
      /the client cannot be asked: it reads no event stream/,
    );
    await connection.close();
    assert.deepEqual(probe.server.connections, [], "it ends with the client");
    await probe.server.close();
  },
);

test(
  "a forked session is a session of its connection: a POST about it that names none finds it",
  patience,
  async () => {
    const forking = agent({ name: "a", version: "1.0.0", unstable: ["fork"], prompt: () => undefined });
    const probe = new RemoteProbe({ plainPost: true, connect: (transport) => forking.connect(transport) });
    const ask = async (method: string, params: object) =>
      JSON.parse((await probe.post(probe.request(method, params))).body);
    const place = { cwd: "/", mcpServers: [] };
    await probe.initialize();
    const opened = await ask("session/new", place);
    const forked = await ask("session/fork", { ...place, sessionId: opened.result.sessionId });
    const { sessionId } = forked.result;
    assert.notEqual(sessionId, opened.result.sessionId);
    // the newest connection gets what belongs to no other
    await probe.initialize();
    const prompt = [{ type: "text", text: "x" }];
    const ended = await ask("session/prompt", { sessionId, prompt });
    assert.deepEqual(ended.result, { stopReason: "end_turn" });
    await probe.server.close();
  },
);
