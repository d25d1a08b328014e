import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { RemoteProbe } from "../../../test/support/remote-probe.ts";
import { client, httpTransport } from "../../index.ts";
import type { HttpTransportOptions } from "../../transport/http/http-options.ts";

const patience = { timeout: 30_000 };
const url = "http://localhost/acp";

/** Our client and our server without a network; `between` may fail a request before or after the server has it, or stall it. */
function joined(
  probe: RemoteProbe,
  between: (init: RequestInit) => "fail before" | "fail after" | "stall" | undefined,
  options: HttpTransportOptions = {},
) {
  const fetch = async (address: string, init: RequestInit) => {
    const fault = between(init);
    // a network takes a while too
    await setImmediate();
    init.signal?.throwIfAborted();
    if (fault === "stall")
      await new Promise((_, reject) =>
        init.signal?.addEventListener("abort", () => reject(new Error("aborted"))),
      );
    if (fault === "fail before") throw new TypeError("fetch failed", { cause: new Error("cut") });
    const response = await probe.server.fetch(new Request(address, init));
    if (fault !== "fail after") return response;
    await response.body?.cancel();
    throw new TypeError("fetch failed", { cause: new Error("cut") });
  };
  return httpTransport(url, { fetch, backoffMs: 1, silenceMs: 5_000, closeTimeoutMs: 50, ...options });
}

const numberOf = (init: RequestInit) => new Headers(init.headers).get("parley-message");

test("a message whose answer was lost is posted again, and taken once (H6)", patience, async () => {
  const probe = new RemoteProbe();
  const posted: string[] = [];
  const transport = joined(probe, (init) => {
    const number = numberOf(init);
    if (number === null) return undefined;
    posted.push(number);
    const tries = posted.filter((each) => each === number).length;
    return tries === 1 ? "fail after" : tries === 2 ? "fail before" : undefined;
  });
  const connection = await client({ name: "test", version: "1" }).connect(transport);
  const session = await connection.newSession({ cwd: "/" });
  assert.equal(await session.prompt("a b c").text(), "a b c ");
  // the second may be answered before it is posted again
  assert.deepEqual(posted.slice(0, 4), ["1", "1", "1", "2"]);
  await connection.close();
  assert.deepEqual(probe.server.connections, []);
});

test(
  "a stream whose opening was lost is opened again, and begins with its first event (H12)",
  patience,
  async () => {
    const probe = new RemoteProbe();
    const asked: string[] = [];
    const transport = joined(probe, ({ method, headers }) => {
      if (method !== "GET") return undefined;
      const names = new Headers(headers);
      asked.push(`${names.get("acp-session-id") === null ? "own" : "session"} ${names.get("last-event-id")}`);
      return asked.filter((each) => each === asked.at(-1)).length === 1 ? "fail after" : undefined;
    });
    const connection = await client({ name: "test", version: "1" }).connect(transport);
    const session = await connection.newSession({ cwd: "/" });
    assert.equal(await session.prompt("a b c").text(), "a b c ");
    assert.deepEqual(asked, ["own 0", "own 0", "session 0", "session 0"]);
    await connection.close();
  },
);

test(
  "a connection that the server has forgotten ends, so that the app can open a new one (H7, H18)",
  patience,
  async () => {
    const probe = new RemoteProbe();
    let isCut = false;
    const transport = joined(probe, () => (isCut ? "fail before" : undefined));
    const connection = await client({ name: "test", version: "1" }).connect(transport);
    const pending = connection.newSession({ cwd: "/" });
    await pending;
    isCut = true;
    const late = connection.newSession({ cwd: "/" });
    late.catch(() => undefined);
    const [{ connectionId } = { connectionId: "" }] = probe.server.connections;
    await probe.ask("DELETE", { "acp-connection-id": connectionId });
    isCut = false;
    const { kind, message } = await connection.closed;
    assert.equal(kind, "closed");
    assert.match(message, /404/);
    await assert.rejects(late, { kind: "closed" });
  },
);

test("an app is told when the server cannot be reached, and when it can again (H18)", patience, async () => {
  const probe = new RemoteProbe();
  let isAway = false;
  const cuts: unknown[] = [];
  const wasTold = Promise.withResolvers<void>();
  const onCut = (...how: unknown[]) => {
    cuts.push(how);
    wasTold.resolve();
  };
  const transport = joined(probe, () => (isAway ? "fail before" : undefined), { onCut });
  const connection = await client({ name: "test", version: "1" }).connect(transport);
  const session = await connection.newSession({ cwd: "/" });
  assert.deepEqual(cuts, []);
  isAway = true;
  const text = session.prompt("a b c").text();
  await wasTold.promise;
  assert.deepEqual(cuts, [[true, 600_000]]);
  isAway = false;
  assert.equal(await text, "a b c ");
  assert.deepEqual(cuts[1], [false, 600_000]);
  await connection.close();
  assert.equal(cuts.length, 2, "a close is no cut");
});

test("a client that is away for longer than the server waits is told so (H18)", patience, async () => {
  const probe = new RemoteProbe({ graceMs: 1 });
  const transport = joined(probe, ({ method }) => (method === "GET" ? "fail before" : undefined));
  const connection = await client({ name: "test", version: "1" }).connect(transport);
  assert.equal((await connection.closed).kind, "closed");
});

test(
  "a session that is closed and loaded again is not told again what it heard before (H12)",
  patience,
  async () => {
    const probe = new RemoteProbe();
    const connection = await client({ name: "test", version: "1", editions: ["v1"] }).connect(
      joined(probe, () => undefined),
    );
    const session = await connection.newSession({ cwd: "/" });
    await session.prompt("a b c").text();
    await session.close();
    const heard: string[] = [];
    const loaded = await connection.loadSession(session.sessionId, {
      cwd: "/",
      onUpdate: (update) => void heard.push(update.sessionUpdate),
    });
    assert.deepEqual(
      heard.filter((kind) => /message/.test(kind)),
      ["user_message", "agent_message"],
    );
    await loaded.close();
    await connection.close();
  },
);

test(
  "a client that closes while a message is stalled tells the server that it has gone (H14)",
  patience,
  async () => {
    const probe = new RemoteProbe();
    let isStalled = false;
    const stalled = Promise.withResolvers<void>();
    const transport = joined(probe, (init) => {
      if (!isStalled || numberOf(init) === null) return undefined;
      stalled.resolve();
      return "stall";
    });
    const connection = await client({ name: "test", version: "1" }).connect(transport);
    isStalled = true;
    connection.newSession({ cwd: "/" }).catch(() => undefined);
    await stalled.promise;
    await connection.close();
    assert.deepEqual(probe.server.connections, []);
  },
);

test(
  "an idle client tells the server that it is there, and is not taken for gone (H6, F14)",
  patience,
  async () => {
    const probe = new RemoteProbe({ heartbeatMs: 20 });
    const beaten = Promise.withResolvers<void>();
    let beats = 0;
    let streams = 0;
    const transport = joined(
      probe,
      ({ method, headers }) => {
        if (method === "GET") streams++;
        if (new Headers(headers).get("parley-heartbeat") === "20") beats++;
        if (beats === 8) beaten.resolve();
        return undefined;
      },
      { heartbeatMs: 20 },
    );
    const connection = await client({ name: "test", version: "1" }).connect(transport);
    await beaten.promise;
    assert.equal(streams, 1, "its stream was not cut");
    await connection.close();
  },
);

const idOf = ({ server }: RemoteProbe) => server.connections[0]?.connectionId ?? "";

test(
  "a server that stays away longer than it keeps a connection is said to have given it up",
  patience,
  async (t) => {
    let now = performance.now();
    t.mock.method(performance, "now", () => now);
    for (const lost of ["GET", "POST"]) {
      const probe = new RemoteProbe({ graceMs: 5_000 });
      let isDown = false;
      const transport = joined(probe, ({ method }) => {
        if (!isDown) return undefined;
        now += 3_000;
        return method === lost ? "fail before" : "stall";
      });
      const connection = await client({ name: "test", version: "1" }).connect(transport);
      const session = await connection.newSession({ cwd: "/" });
      isDown = true;
      if (lost === "POST") session.prompt("a").result.catch(() => undefined);
      // another reader takes the place of the client's, as after a cut
      else await probe.stream({ "acp-connection-id": idOf(probe), "last-event-id": "0" });
      const { message } = await connection.closed;
      assert.match(message, /the server was not reached for 5 s, and keeps a connection no longer \(.*cut\)/);
    }
  },
);

test(
  "a web page whose requests get no answer is told of the usual cause, with its origin",
  patience,
  async (t) => {
    const page = globalThis as { location?: unknown }; // as in a browser
    page.location = { origin: "https://app.example.org" };
    t.after(() => delete page.location);
    const fetch = () => Promise.reject(new TypeError("Failed to fetch"));
    const connecting = client({ name: "test", version: "1" }).connect(httpTransport(url, { fetch }));
    await assert.rejects(
      connecting,
      /Failed to fetch; .* \(parley serve --allow-origin https:\/\/app\.example\.org\)/,
    );
  },
);
