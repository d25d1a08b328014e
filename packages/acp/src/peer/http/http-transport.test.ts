// The client's side of Streamable HTTP against a server that does what a test tells it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { httpTransport } from "@parley/acp";
import { Connection } from "@parley/acp/jsonrpc";
import { connectionId, type Loopback, type SeenRequest } from "../../../test/support/http-loopback.ts";
import { connected } from "../../../test/support/http-probe.ts";

const patience = { timeout: 60_000 };

const shape = ({ method, headers, body }: SeenRequest) => [
  method,
  headers["acp-connection-id"] ?? "-",
  headers["acp-session-id"] ?? "-",
  body === "" ? "" : (JSON.parse(body).method ?? "answer"),
];

test(
  "a connection is opened by its first message, named in all others, and deleted (H4-H7, H9, H14)",
  patience,
  async (t) => {
    const { server, connection } = await connected(t, {
      message: (message, far) => far.reply(message, "hello"),
    });
    assert.deepEqual(await connection.request("initialize", {}), {});
    assert.equal(await connection.request("echo", {}), "hello");
    await connection.close();
    const [first, ...rest] = server.seen;
    const last = rest.pop();
    assert.deepEqual(
      // the stream and the second message go by different sockets, of which either may be faster
      [first, ...rest.sort((a, b) => a.method.localeCompare(b.method)), last].map(
        (seen) => seen && shape(seen),
      ),
      [
        ["POST", "-", "-", "initialize"],
        ["GET", connectionId, "-", ""],
        ["POST", connectionId, "-", "echo"],
        ["DELETE", connectionId, "-", ""],
      ],
    );
    assert.equal(first?.headers["content-type"], "application/json");
    assert.equal(rest[0]?.headers.accept, "text/event-stream");
  },
);

test(
  "the stream of a session is open before the first POST about it, which names it (H8, H10, H13)",
  patience,
  async (t) => {
    const { server, connection } = await connected(t, {
      message: (message, far) => far.reply(message, {}, message.params?.sessionId),
    });
    await connection.request("initialize", {});
    await connection.request("session/prompt", { sessionId: "s1" });
    await connection.notify("session/cancel", { sessionId: "s1" });
    await server.until((seen) => seen.length === 5);
    const ofSession = server.seen.map(shape).filter(([, , session]) => session === "s1");
    assert.deepEqual(ofSession, [
      ["GET", connectionId, "s1", ""],
      ["POST", connectionId, "s1", "session/prompt"],
      ["POST", connectionId, "s1", "session/cancel"],
    ]);
  },
);

test(
  "a new session's stream is opened as soon as it has an id, and closed with the session (H13)",
  patience,
  async (t) => {
    const updates: unknown[] = [];
    const seen = Promise.withResolvers<void>();
    const { server, connection } = await connected(
      t,
      {
        message(message, far) {
          if (message.method === "session/new") {
            far.reply(message, { sessionId: "s1" });
            far.event('{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1"}}', "s1");
          } else far.reply(message, {}, "s1");
        },
      },
      {
        notification(method) {
          updates.push(method);
          seen.resolve();
          return undefined;
        },
      },
    );
    await connection.request("initialize", {});
    await connection.request("session/new", {});
    await seen.promise;
    assert.deepEqual(updates, ["session/update"]);
    await connection.request("session/close", { sessionId: "s1" });
    // a stream that was given up is opened anew for what is about the session afterwards
    await connection.request("session/resume", { sessionId: "s1" });
    const streams = server.seen
      .map(shape)
      .filter(([method, , session]) => method === "GET" && session === "s1");
    assert.equal(streams.length, 2);
    // not so where more about the session is on its way
    const answers = [
      connection.request("session/close", { sessionId: "s1" }),
      connection.request("session/resume", { sessionId: "s1" }),
      connection.request("session/delete", { sessionId: "s1" }),
    ];
    assert.deepEqual(await Promise.all(answers), [{}, {}, {}]);
  },
);

for (const status of [403, 404]) {
  for (const stream of ["", "s1"]) {
    const where = stream === "" ? "the connection" : "the session";
    test(
      `a server that says ${status} to a session's stream until it is loaded gets the load first, and no update is lost: answered on the stream of ${where} (H10)`,
      patience,
      async (t) => {
        const got: unknown[] = [];
        let isLoaded = false;
        const { server, connection } = await connected(
          t,
          {
            answer({ method, headers }, response) {
              const isEarly = method === "GET" && headers["acp-session-id"] === "s1" && !isLoaded;
              if (isEarly) response.writeHead(status).end();
              return isEarly;
            },
            message(message, far) {
              if (message.method === "session/load") {
                isLoaded = true;
                for (const n of [1, 2, 3])
                  far.event(
                    `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","n":${n}}}`,
                    "s1",
                  );
                far.reply(message, {}, stream);
              } else if (message.method !== undefined) far.reply(message, {}, message.params?.sessionId);
            },
          },
          {
            notification(_method, params) {
              got.push((params as { n: number }).n);
              return undefined;
            },
          },
        );
        await connection.request("initialize", {});
        await connection.request("session/load", { sessionId: "s1" });
        // this server has not announced that it tells when the history is over
        if (stream !== "") assert.deepEqual(got, [1, 2, 3]);
        await connection.request("session/prompt", { sessionId: "s1" });
        assert.deepEqual(got, [1, 2, 3]);
        const posts = server.seen.filter(({ body }) => body.includes("session/load"));
        assert.equal(posts.length, 1);
      },
    );
  }

  test(
    `a load that a server refuses with ${status}, stream and message, is refused once, and the connection goes on (H10)`,
    patience,
    async (t) => {
      const { connection } = await connected(t, {
        answer({ headers }, response) {
          const isOurs = headers["acp-session-id"] === "s1";
          if (isOurs) response.writeHead(status).end();
          return isOurs;
        },
        message: (message, far) => far.reply(message, "here"),
      });
      await connection.request("initialize", {});
      const refused = connection.request("session/load", { sessionId: "s1" });
      await assert.rejects(refused, { name: "RequestError", code: status === 404 ? -32002 : -32060 });
      assert.equal(await connection.request("other", {}), "here");
    },
  );
}

test(
  "a server that repeats ids as strings is understood, and its new sessions are read (H13, N057)",
  patience,
  async (t) => {
    const seen = Promise.withResolvers<string>();
    const { connection } = await connected(
      t,
      {
        message(message, far) {
          far.reply({ id: String(message.id) }, { sessionId: "s1" });
          far.event('{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1"}}', "s1");
        },
      },
      {
        notification(method) {
          seen.resolve(method);
          return undefined;
        },
      },
    );
    await connection.request("initialize", {});
    assert.deepEqual(await connection.request("session/new", {}), { sessionId: "s1" });
    assert.equal(await seen.promise, "session/update");
  },
);

test("the answer to an agent's question names the session of the question (H8)", patience, async (t) => {
  const { server, connection } = await connected(
    t,
    {
      message(message, far) {
        if (message.method !== "session/prompt") return;
        far.event(
          '{"jsonrpc":"2.0","id":"q","method":"session/request_permission","params":{"sessionId":"s1"}}',
          "s1",
        );
        far.event('{"jsonrpc":"2.0","id":9007199254740993,"method":"ask","params":{}}', "s1");
        far.event('{"jsonrpc":"2.0","id":1,"method":"ask","params":{}}');
      },
    },
    { request: () => "yes" },
  );
  await connection.request("initialize", {});
  connection.request("session/prompt", { sessionId: "s1" }).catch(() => undefined);
  await server.until((seen) => seen.length === 7);
  const answers = server.seen.filter(({ body }) => body.includes('"result"'));
  assert.deepEqual(
    answers.map(({ headers, body }) => [/"id":([^,}]*)/.exec(body)?.[1], headers["acp-session-id"]]).sort(),
    [
      ['"q"', "s1"],
      ["1", undefined],
      ["9007199254740993", "s1"],
    ],
  );
});

test("an answer is taken from either stream (H11)", patience, async (t) => {
  const { connection } = await connected(t, {
    message: (message, far) => far.reply(message, "on the wrong one", message.method === "list" ? "s1" : ""),
  });
  await connection.request("initialize", {});
  assert.equal(await connection.request("session/prompt", { sessionId: "s1" }), "on the wrong one");
  assert.equal(await connection.request("list", {}), "on the wrong one");
});

test(
  "a loaded session's history is there before it is said to be loaded, whichever stream is faster (H11, G1)",
  patience,
  async (t) => {
    const order: string[] = [];
    const { connection } = await connected(
      t,
      {
        headers: { "Parley-Resume": "60" },
        message(message, far) {
          // the answer goes ahead on the stream of the connection; the history comes when the other stream is read
          if (message.method === "session/load") far.reply(message, {});
          else if (message.method === "_parley.dev/settled") {
            for (const n of [1, 2, 3]) {
              far.event(
                `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","n":${n}}}`,
                "s1",
              );
            }
            const error = { code: -32601, message: "no such method" };
            far.event(JSON.stringify({ jsonrpc: "2.0", id: message.id, error }), "s1");
          }
        },
      },
      {
        notification(method) {
          order.push(method);
          return undefined;
        },
      },
    );
    await connection.request("initialize", {});
    await connection.request("session/load", { sessionId: "s1" });
    assert.deepEqual(order, ["session/update", "session/update", "session/update"]);
    assert.equal(connection.counters.strayAnswers, 0);
  },
);

test(
  "a server that has not announced it is asked nothing that the protocol does not have (H11)",
  patience,
  async (t) => {
    const asked: unknown[] = [];
    const { connection } = await connected(t, {
      message(message, far) {
        asked.push(message.method);
        if (message.method === "session/load") far.reply(message, {});
      },
    });
    await connection.request("initialize", {});
    await connection.request("session/load", { sessionId: "s1" });
    assert.deepEqual(asked, ["session/load"]);
  },
);

test(
  "messages are accepted in the order in which they were sent, one at a time (H6)",
  patience,
  async (t) => {
    let open = 0;
    let most = 0;
    const { server, connection } = await connected(t, {
      answer({ method, headers }, response) {
        if (method !== "POST" || headers["acp-connection-id"] === undefined) return false;
        open += 1;
        most = Math.max(most, open);
        setImmediate(() => {
          open -= 1;
          response.writeHead(202).end();
        });
        return true;
      },
    });
    await connection.request("initialize", {});
    for (let n = 0; n < 50; n++) void connection.notify(`n${n}`, n % 2 === 0 ? {} : { sessionId: "s1" });
    const posts = () => server.seen.map(shape).filter(([method]) => method === "POST");
    await server.until(() => posts().length === 51);
    assert.deepEqual(
      posts()
        .slice(1)
        .map((post) => post[3]),
      Array.from({ length: 50 }, (_, n) => `n${n}`),
    );
    assert.equal(most, 1);
  },
);

test(
  "cookies are kept, changed, given up and sent back, beside the user's own (H15, C71)",
  patience,
  async (t) => {
    const set = [
      ["lane=7; Path=/acp; HttpOnly", "old=1", "elsewhere=1; Path=/other", "foreign=1; Domain=example.com"],
      ["old=; Max-Age=0", "lane=8"],
    ];
    const { server, connection } = await connected(
      t,
      {
        answer({ method }, response) {
          const cookies = method === "POST" ? set.shift() : undefined;
          if (cookies !== undefined) response.setHeader("Set-Cookie", cookies);
          return false;
        },
        message: (message, far) => far.reply(message, {}),
      },
      { headers: { cookie: "mine=1" } },
    );
    await connection.request("initialize", {});
    await connection.request("one", {});
    await connection.request("two", {});
    const posts = server.seen.filter(({ method }) => method === "POST");
    assert.deepEqual(
      posts.map(({ headers }) => headers.cookie),
      ["mine=1", "mine=1; lane=7; old=1", "mine=1; lane=8"],
    );
  },
);

test(
  "a stream that the server ended in order is opened again, and nothing is lost (H12)",
  patience,
  async (t) => {
    const { server, connection } = await connected(t, {
      message(message, far) {
        if (message.method === "session/prompt") far.endStream("s1");
        far.endStream();
        far.reply(message, message.method, message.params?.sessionId);
      },
    });
    await connection.request("initialize", {});
    for (let n = 0; n < 20; n++) assert.equal(await connection.request("list", {}), "list");
    assert.equal(await connection.request("session/prompt", { sessionId: "s1" }), "session/prompt");
    assert.ok(server.seen.filter(({ method }) => method === "GET").length > 10);
  },
);

test(
  "a stream whose events have ids goes on behind the last one when it was cut (H12)",
  patience,
  async (t) => {
    const { server, connection } = await connected(t, {
      message(message, far) {
        if (message.method !== "first") return;
        far.write(`id: 41\ndata: {"jsonrpc":"2.0","id":${message.id},"result":1}\n\nid: 42\ndata: {"cut`);
      },
    });
    await connection.request("initialize", {});
    await connection.request("first", {});
    server.cutStream();
    await server.until((seen) => seen.some(({ headers }) => headers["last-event-id"] === "41"));
    assert.equal(connection.isOpen, true);
  },
);

test(
  "a stream that was cut without ids ends the connection: what was lost cannot be known (H12, H18)",
  patience,
  async (t) => {
    for (const cut of [
      (server: Loopback) => server.cutStream(),
      (server: Loopback) => server.cutStream("s1"),
      (server: Loopback) => {
        // in order, but in the middle of an event
        server.write('data: {"cut', "s1");
        server.endStream("s1");
      },
    ]) {
      const { server, connection } = await connected(t, {
        message(message, far) {
          if (message.method === "session/prompt") far.reply(message, {}, "s1");
        },
      });
      await connection.request("initialize", {});
      await connection.request("session/prompt", { sessionId: "s1" });
      const pending = connection.request("hang", { sessionId: "s1" });
      pending.catch(() => undefined);
      await server.until((seen) => seen.filter(({ method }) => method === "GET").length === 2);
      cut(server);
      const { kind, message } = await connection.closed;
      assert.equal(kind, "closed");
      assert.match(message, /the event stream of (?:the connection|a session) at http:.*\/acp was cut: /);
      await assert.rejects(pending, { kind: "closed" });
    }
  },
);

test("a server that ends streams as soon as they are open is given up", patience, async (t) => {
  const { server, connection } = await connected(
    t,
    {
      answer({ method }, response) {
        if (method === "GET")
          response.writeHead(200, { "content-type": "text/event-stream" }).end(": no\n\n");
        return method === "GET";
      },
    },
    { maxRetries: 3 },
  );
  await connection.request("initialize", {});
  assert.match((await connection.closed).message, /was cut: the server ended it/);
  assert.equal(server.seen.filter(({ method }) => method === "GET").length, 4);
});

test(
  "what is queued is sent before the connection is closed, and a server that does not answer is left",
  patience,
  async (t) => {
    const { server, connection } = await connected(t, {});
    await connection.request("initialize", {});
    for (const method of ["a", "b", "c"]) void connection.notify(method, {});
    await connection.close();
    assert.deepEqual(
      server.seen.map(shape).flatMap(([method, , , what]) => (method === "GET" ? [] : [what])),
      ["initialize", "a", "b", "c", ""],
    );
    const deaf = await connected(t, { answer: ({ method }) => method === "DELETE" }, { closeTimeoutMs: 50 });
    await deaf.connection.request("initialize", {});
    await deaf.connection.close();
  },
);

test("any fetch will do: that of a browser, which shows no cookies and no redirects", patience, async () => {
  const asked: string[] = [];
  const streams: ReadableStreamDefaultController<Uint8Array>[] = [];
  const stream = () =>
    new ReadableStream<Uint8Array>({ start: (controller) => void streams.push(controller) });
  const answers: Record<string, () => Response> = {
    POST: () =>
      Response.json({ jsonrpc: "2.0", id: 1, result: {} }, { headers: { "Acp-Connection-Id": "c" } }),
    GET: () => new Response(stream(), { headers: { "Content-Type": "text/event-stream" } }),
    DELETE: () => new Response(null, { status: 202 }),
  };
  const fetch = async (_url: string, { method = "" }: RequestInit) => {
    asked.push(method);
    return answers[method]?.() ?? Response.error();
  };
  const transport = httpTransport("https://agents.example.com/acp", { fetch, backoffMs: 1 });
  const connection = new Connection(transport, {
    handlers: { request: () => null, notification: () => undefined },
  });
  await connection.request("initialize", {});
  // Node gives up a body that has been silent for five minutes; nothing was on its way, so nothing is lost
  const silent = new TypeError("terminated", { cause: { code: "UND_ERR_BODY_TIMEOUT" } });
  const reopened = new Promise<void>((resolve) => {
    answers["GET"] = () => {
      resolve();
      return new Response(stream(), { headers: { "Content-Type": "text/event-stream" } });
    };
  });
  while (streams.length === 0) await new Promise((resolve) => setImmediate(resolve));
  streams[0]?.error(silent);
  await reopened;
  assert.equal(connection.isOpen, true);
  await connection.close();
  assert.deepEqual(asked, ["POST", "GET", "GET", "DELETE"]);
});

test("a fetch that cannot be stopped does not keep a connection from closing", patience, async () => {
  const never = new Promise<Response>(() => undefined);
  const opened = () =>
    Response.json({ jsonrpc: "2.0", id: 1, result: {} }, { headers: { "Acp-Connection-Id": "c" } });
  let calls = 0;
  const fetch = () => (calls++ === 0 ? Promise.resolve(opened()) : never);
  const transport = httpTransport("https://agents.example.com/acp", { fetch, closeTimeoutMs: 20 });
  const connection = new Connection(transport, {
    handlers: { request: () => null, notification: () => undefined },
  });
  await connection.request("initialize", {});
  void connection.notify("stuck", {});
  await connection.close();
});
