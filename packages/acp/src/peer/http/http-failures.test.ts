// Tests server failures: the connection ends with a reason, or one request fails.

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { gzipSync } from "node:zlib";
import { type ConnectionError, client, httpTransport, RequestError } from "@parley/acp";
import type { FrameLimits } from "@parley/acp/transport";
import { connectionId, Loopback, type SeenRequest } from "../../../test/support/http-loopback.ts";
import { connected as openConnected } from "../../../test/support/http-probe.ts";

const patience = { timeout: 60_000 };
const secret = "s3cret-word";

/** With a header that nobody may be told of. */
const connected: typeof openConnected = (t, script, options = {}) =>
  openConnected(t, script, { headers: { authorization: `Bearer ${secret}` }, ...options });

const isOpening = ({ method, headers }: SeenRequest) =>
  method === "POST" && headers["acp-connection-id"] === undefined;

/** How a connection ends whose first message is answered so. */
async function refusedWith(
  t: TestContext,
  status: number,
  headers: Record<string, string | string[]>,
  body: string | Buffer,
): Promise<ConnectionError> {
  const { connection } = await connected(t, {
    answer(request, response) {
      if (isOpening(request)) response.writeHead(status, headers).end(body);
      return isOpening(request);
    },
  });
  connection.request("initialize", {}).catch(() => undefined);
  const reason = await connection.closed;
  assert.doesNotMatch(String(reason.message) + String(reason.cause), new RegExp(secret));
  return reason;
}

const text = { "content-type": "text/plain" };
const html = { "content-type": "text/html; charset=utf-8" };
const json = { "content-type": "application/json" };

for (const [what, status, headers, body, kind, message] of [
  [
    "a wrong key",
    401,
    text,
    `no entry for Bearer ${secret}.`,
    "refused",
    /: expected 200 with .*, got 401 Unauthorized \(the server says: no entry for …\)$/,
  ],
  [
    "a page",
    403,
    html,
    "<h1>no</h1>",
    "refused",
    /: expected 200 with content of type application\/json, got 403 Forbidden$/,
  ],
  [
    "a wrong path",
    404,
    json,
    '{"error":{"message":"no such route"}}',
    "closed",
    /got 404 Not Found.*\(the server says: no such route\)$/,
  ],
  [
    "a page about its size",
    413,
    html,
    "<h1>413 Request Entity Too Large</h1>",
    "closed",
    /got 413 Payload Too Large; a proxy in front may limit .* \(in nginx: client_max_body_size\)$/,
  ],
  [
    "a fault",
    500,
    text,
    "x\u001b[31m\n".repeat(2_000),
    "closed",
    /got 500 Internal Server Error.*says: x \[31m x .{150,}…\)$/,
  ],
  [
    "a page with status 200",
    200,
    html,
    "<title>Log in</title>",
    "protocol",
    /expected .*, got 200 with content of type text\/html; charset=utf-8/,
  ],
  ["nothing", 204, {}, "", "protocol", /expected 200 .*, got 204 with no content type/],
  [
    "no connection id",
    200,
    json,
    '{"jsonrpc":"2.0","id":1,"result":{}}',
    "protocol",
    /expected the header Acp-Connection-Id/,
  ],
  [
    "no JSON",
    200,
    { ...json, "acp-connection-id": "c" },
    "{oops",
    "protocol",
    /something that is not a message$/,
  ],
  [
    "a redirect to somebody else",
    307,
    { location: "http://elsewhere.example/acp?t=1" },
    "",
    "closed",
    /expected .*, got 307, a redirect to http:\/\/elsewhere\.example\/acp; .* not followed/,
  ],
] as const) {
  test(
    `a server that answers initialize with ${what} ends the connection, and says so (H5, H17)`,
    patience,
    async (t) => {
      const reason = await refusedWith(t, status, headers, body);
      assert.equal(reason.kind, kind);
      assert.match(reason.message, message);
      assert.match(reason.message, /http:\/\/127\.0\.0\.1:\d+\/acp/);
    },
  );
}

test(
  "an agent's own refusal of initialize arrives as its answer, whatever the status",
  patience,
  async (t) => {
    for (const status of [200, 400, 500]) {
      const { connection } = await connected(t, {
        answer(request, response) {
          if (isOpening(request))
            response
              .writeHead(status, json)
              .end('{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"log in"}}');
          return isOpening(request);
        },
      });
      await assert.rejects(connection.request("initialize", {}), { code: -32000, message: "log in" });
    }
  },
);

test("a redirect is not followed, so that the headers go nowhere else (H17)", patience, async (t) => {
  const elsewhere = await new Loopback().listen();
  t.after(() => elsewhere.stop());
  const location = elsewhere.url.href;
  for (const [method, status] of [
    ["POST", 307],
    ["POST", 302],
    ["GET", 308],
  ] as const) {
    const { connection } = await connected(t, {
      answer(request, response) {
        if (request.method === method) response.writeHead(status, { location }).end();
        return request.method === method;
      },
    });
    connection.request("initialize", {}).catch(() => undefined);
    assert.match((await connection.closed).message, /a redirect to http:\/\/127\.0\.0\.1/);
  }
  assert.deepEqual(elsewhere.seen, []);
});

test("an address that nobody listens on, or that does not answer, is told as it is", patience, async (t) => {
  const server = await new Loopback({ answer: () => true }).listen();
  const shake = { name: "test", version: "1", connection: { handshakeTimeoutMs: 50 } };
  await assert.rejects(client(shake).connect(httpTransport(server.url)), { kind: "handshake_timeout" });
  await server.stop();
  await assert.rejects(client(shake).connect(httpTransport(server.url)), {
    kind: "closed",
    message: /POST http:\/\/127\.0\.0\.1:\d+\/acp: .*ECONNREFUSED/,
  });
  const { connection } = await connected(
    t,
    { answer: ({ body }) => body.includes('"slow"') },
    { requestTimeoutMs: 50 },
  );
  await connection.request("initialize", {});
  await assert.rejects(connection.request("slow", {}), /expected 202, got no answer within 0\.05 s/);
});

test("initialize is sent again, once, when its socket breaks before an answer (H5)", patience, async (t) => {
  for (const breaks of [1, 2]) {
    let left = breaks;
    const { connection, server } = await connected(t, {
      answer(request, response) {
        if (!isOpening(request) || left === 0) return false;
        left--;
        response.destroy();
        return true;
      },
    });
    const opening = connection.request("initialize", {});
    if (breaks === 1) await opening;
    else await assert.rejects(opening, /POST .*other side closed|ECONNRESET|socket hang up/);
    assert.equal(server.seen.filter(isOpening).length, 2);
  }
});

test(
  "a request that the server does not take fails alone, with what the server said (H6, H8)",
  patience,
  async (t) => {
    const { connection } = await connected(t, {
      answer({ body, headers, method }, response) {
        const status = Number(/"method":"get (\d+)"/.exec(body)?.[1]);
        if (status > 0) response.writeHead(status, { ...text, "retry-after": "60" }).end("not this one");
        const isSession = method === "GET" && headers["acp-session-id"] === "gone";
        if (isSession) response.writeHead(404, text).end("no such session");
        return status > 0 || isSession;
      },
      message: (message, far) => far.reply(message, "fine"),
    });
    await connection.request("initialize", {});
    for (const [status, code] of [
      [400, -32603],
      [403, -32060],
      [409, -32066],
      [413, -32063],
      [415, -32603],
      [429, -32065],
      [500, -32603],
      [501, -32603],
      [503, -32067],
    ] as const) {
      await assert.rejects(connection.request(`get ${status}`, {}), (error: unknown) => {
        assert.ok(error instanceof RequestError);
        assert.deepEqual([error.code, error.data], [code, { reason: "http_status", status, retryAfter: 60 }]);
        assert.match(
          error.message,
          new RegExp(`expected 202, got ${status} .* \\(the server says: not this one\\)$`),
        );
        return true;
      });
    }
    await assert.rejects(connection.request("session/prompt", { sessionId: "gone" }), {
      code: -32002,
      data: { reason: "session_not_found", status: 404 },
    });
    await assert.rejects(
      connection.request("session/prompt", { sessionId: "a\nb" }),
      /expected a session id of printable ASCII/,
    );
    const batch = connection.batch([
      { method: "get 501" },
      { method: "note", notification: true },
      { method: "b" },
    ]);
    const outcomes = await Promise.allSettled(batch.filter((one) => one !== undefined));
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ["rejected", "rejected"],
    );
    assert.equal(await connection.request("list", {}), "fine");
  },
);

test(
  "a server that does not know us any more, or does not let us in, ends the connection (H7)",
  patience,
  async (t) => {
    for (const status of [401, 404, 410]) {
      const { server, connection } = await connected(t, {
        answer({ body }, response) {
          const isPrompt = body.includes('"prompt"');
          if (isPrompt) response.writeHead(status).end();
          return isPrompt;
        },
      });
      await connection.request("initialize", {});
      await assert.rejects(connection.request("prompt", {}), {
        kind: status === 401 ? "refused" : "closed",
        message: new RegExp(`got ${status}`),
      });
      await connection.closed;
      // what the server does not know need not be deleted
      assert.equal(
        server.seen.some(({ method }) => method === "DELETE"),
        status === 401,
      );
    }
  },
);

test(
  "a notification that the server does not take ends the connection, since nobody would know; a courtesy does not",
  patience,
  async (t) => {
    const { connection } = await connected(t, {
      answer({ body }, response) {
        const isNote = /"method":"(?:session\/cancel|\$\/hint)"/.test(body);
        if (isNote) response.writeHead(400).end();
        return isNote;
      },
      message: (message, far) => far.reply(message, "fine"),
    });
    await connection.request("initialize", {});
    void connection.notify("$/hint", {});
    assert.equal(await connection.request("list", {}), "fine");
    void connection.notify("session/cancel", {});
    assert.match((await connection.closed).message, /expected 202, got 400 Bad Request/);
  },
);

test("a server that is busy is asked again after a pause, in order (H6)", patience, async (t) => {
  const busy = new Map([
    ["first", 3],
    ["second", 1],
  ]);
  const { server, connection } = await connected(t, {
    answer({ body, method }, response) {
      const name = /"method":"(\w+)"/.exec(body)?.[1] ?? "";
      const left = busy.get(name) ?? 0;
      busy.set(name, left - 1);
      if (left <= 0 || method !== "POST") return false;
      response.writeHead(left % 2 === 0 ? 503 : 429, { "retry-after": "0" }).end();
      return true;
    },
    message: (message, far) => far.reply(message, message.method),
  });
  await connection.request("initialize", {});
  assert.deepEqual(await Promise.all([connection.request("first", {}), connection.request("second", {})]), [
    "first",
    "second",
  ]);
  const asked = server.seen.map(({ body }) => /"method":"(first|second)"/.exec(body)?.[1]).filter(Boolean);
  assert.deepEqual(asked, ["first", "first", "first", "first", "second", "second"]);
});

test(
  "an answer that is too large for the server becomes an error, so that the agent does not wait for ever",
  patience,
  async (t) => {
    const refusals: SeenRequest[] = [];
    const { server, connection } = await connected(
      t,
      {
        answer({ body }, response) {
          if (body.includes("xxx")) response.writeHead(413).end();
          return body.includes("xxx");
        },
        message(message, far) {
          if (message.method === "session/prompt")
            far.event(
              '{"jsonrpc":"2.0","id":7,"method":"fs/read_text_file","params":{"sessionId":"s1"}}',
              "s1",
            );
        },
      },
      { request: () => "xxx" },
    );
    await connection.request("initialize", {});
    connection.request("session/prompt", { sessionId: "s1" }).catch(() => undefined);
    await server.until((seen) => {
      refusals.splice(0, Infinity, ...seen.filter(({ body }) => body.includes("-32063")));
      return refusals.length > 0;
    });
    assert.equal(refusals[0]?.headers["acp-session-id"], "s1");
    assert.equal(JSON.parse(refusals[0]?.body ?? "").id, 7);
  },
);

for (const [what, status, headers, body] of [
  ["of the wrong type", 200, html, "<h1>hi</h1>"],
  ["that is no stream", 204, {}, ""],
  ["for a connection that it does not know", 404, text, "unknown connection"],
] as const) {
  test(`an event stream ${what} ends the connection at once`, patience, async (t) => {
    const { connection } = await connected(t, {
      answer({ method }, response) {
        if (method === "GET") response.writeHead(status, headers).end(body);
        return method === "GET";
      },
    });
    await connection.request("initialize", {});
    assert.match(
      (await connection.closed).message,
      new RegExp(`GET http.*expected 200 with content of type text/event-stream, got ${status} `),
    );
  });
}

test(
  "a stream that somebody else reads, or that a restart interrupts, is asked for again (H10)",
  patience,
  async (t) => {
    const statuses = [409, 503, 502];
    const { connection } = await connected(t, {
      answer({ method }, response) {
        const status = method === "GET" ? statuses.pop() : undefined;
        if (status !== undefined) response.writeHead(status).end();
        return status !== undefined;
      },
      message: (message, far) => far.reply(message, "fine"),
    });
    await connection.request("initialize", {});
    assert.equal(await connection.request("list", {}), "fine");
  },
);

test(
  "an event without an end closes with too_large, and a hundred thousand small ones pass (G8)",
  patience,
  async (t) => {
    const limits: Partial<FrameLimits> = { maxMessageBytes: 64 * 1024 };
    const endless = await connected(
      t,
      {
        answer({ method, headers }, response) {
          if (method !== "GET" || headers["acp-session-id"] !== undefined) return false;
          response.writeHead(200, { "content-type": "text/event-stream" });
          response.write("data: {");
          const more = () => {
            while (response.writable && response.write("x".repeat(16 * 1024)));
            if (response.writable) response.once("drain", more);
          };
          more();
          return true;
        },
      },
      { limits },
    );
    await endless.connection.request("initialize", {});
    assert.equal((await endless.connection.closed).kind, "too_large");
    let heard = 0;
    const many = await connected(
      t,
      {
        message(message, far) {
          const chunk = 'data:{"jsonrpc":"2.0","method":"n"}\n\n'.repeat(1_000);
          for (let n = 0; n < 100; n++) far.write(chunk);
          far.reply(message, "done");
        },
      },
      {
        notification() {
          heard += 1;
          return undefined;
        },
      },
    );
    await many.connection.request("initialize", {});
    assert.equal(await many.connection.request("list", {}), "done");
    assert.equal(heard, 100_000);
  },
);

test("compressed answers are read, and are bounded by what is in them (G8)", patience, async (t) => {
  const packed = (body: string): [Record<string, string>, Buffer] => [
    { ...json, "content-encoding": "gzip", "acp-connection-id": connectionId },
    gzipSync(body),
  ];
  for (const [size, isFine] of [
    [10, true],
    [1_000_000, false],
  ] as const) {
    const { connection } = await connected(
      t,
      {
        answer(request, response) {
          if (!isOpening(request)) return false;
          const [headers, body] = packed(JSON.stringify({ jsonrpc: "2.0", id: 1, result: "x".repeat(size) }));
          response.writeHead(200, headers).end(body);
          return true;
        },
      },
      { limits: { maxMessageBytes: 10_000 } },
    );
    const answer = connection.request("initialize", {});
    if (isFine) assert.equal(await answer, "x".repeat(size));
    else await assert.rejects(answer);
  }
});

test("a server that answers in the POST itself is understood", patience, async (t) => {
  const { connection } = await connected(t, {
    answer({ body }, response) {
      const id = /"id":(\d+),"method":"now"/.exec(body)?.[1];
      if (id !== undefined)
        response.writeHead(200, json).end(`{"jsonrpc":"2.0","id":${id},"result":"at once"}`);
      return id !== undefined;
    },
  });
  await connection.request("initialize", {});
  assert.equal(await connection.request("now", {}), "at once");
});

test("an answer in the POST itself that is cut off is missed by whoever asked", patience, async (t) => {
  const { connection } = await connected(t, {
    answer({ body }, response) {
      const isAsked = body.includes('"method":"now"');
      if (isAsked) {
        response.writeHead(200, { ...json, "content-length": "1000" });
        response.write('{"jsonrpc":"2.0",', () => response.destroy());
      }
      return isAsked;
    },
  });
  await connection.request("initialize", {});
  await assert.rejects(connection.request("now", {}), /the answer was cut off/);
});

test(
  "a server that sends the head of a stream with its first event is not waited for (H13)",
  patience,
  async (t) => {
    const { connection } = await connected(
      t,
      {
        answer(request, response, far) {
          const isStream = request.method === "GET";
          if (isStream) far.stream(request, response, { flush: false });
          return isStream;
        },
        message: (message, far) => far.reply(message, "fine", message.params?.sessionId),
      },
      { openTimeoutMs: 20 },
    );
    await connection.request("initialize", {});
    assert.equal(await connection.request("session/prompt", { sessionId: "s1" }), "fine");
  },
);

test("the stream of a closed session is given up, even one whose head has not come", patience, async (t) => {
  const gone = Promise.withResolvers<void>();
  const { connection } = await connected(
    t,
    {
      answer({ method, headers }, response) {
        const isMute = method === "GET" && headers["acp-session-id"] === "s1";
        if (isMute) response.once("close", gone.resolve);
        return isMute;
      },
      message: (message, far) => far.reply(message, {}),
    },
    { openTimeoutMs: 20 },
  );
  await connection.request("initialize", {});
  await connection.request("session/close", { sessionId: "s1" });
  await gone.promise;
  assert.deepEqual(await connection.request("other", {}), {});
});

test("a server that accepts a message and never ends its answer delays nobody (H6)", patience, async (t) => {
  const { connection } = await connected(t, {
    answer({ body }, response) {
      const isFirst = body.includes('"first"');
      if (isFirst) response.writeHead(202).flushHeaders();
      return isFirst;
    },
    message: (message, far) => far.reply(message, "fine"),
  });
  await connection.request("initialize", {});
  void connection.notify("first", {});
  assert.equal(await connection.request("second", {}), "fine");
});

test("plain text to another machine, passwords in addresses and headers that cannot be sent are refused at once (H17)", () => {
  for (const address of ["http://example.com/acp", "http://10.0.0.1/acp", "http://localhost.example.com/"]) {
    assert.throws(
      () => httpTransport(address),
      /can be read and changed by anybody on the way; use https:\/\//,
    );
    assert.ok(httpTransport(address, { allowPlainText: true }));
  }
  for (const address of [
    "http://localhost:1",
    "http://127.1:1/",
    "http://[::1]/",
    "http://a.localhost/",
    "https://example.com/",
  ]) {
    assert.ok(httpTransport(address), address);
  }
  for (const address of ["ws://localhost", "not a url", "https://ann:pass@example.com/"]) {
    assert.throws(
      () => httpTransport(address),
      (error: unknown) => error instanceof TypeError && !error.message.includes("pass@"),
    );
  }
  for (const headers of [{ authorization: `${secret}\n` + "x" }, { "bad name": secret }]) {
    assert.throws(
      () => httpTransport("https://example.com/", { headers }),
      (error: unknown) => error instanceof TypeError && !error.message.includes(secret),
    );
  }
});
