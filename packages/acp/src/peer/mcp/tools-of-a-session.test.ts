// The tools that a client gives to a session, as an agent uses them: the same in every version.

import assert from "node:assert/strict";
import { mock } from "node:test";
import { doing, said, server, type ToolRun } from "../../../test/support/mcp-probe.ts";
import {
  conversation,
  inEveryVersion,
  type Pair,
  place,
  quiet,
  rejects,
} from "../../../test/support/peer-probe.ts";
import { type ClientDefinition, McpFailure, RequestError } from "../../index.ts";
import type { McpChannel, McpProvider } from "../../model.ts";

const unstable = ["mcp_over_acp", "fork"] as const;

async function talking(
  pair: Pair,
  work: Parameters<typeof doing>[0],
  definition: Partial<ClientDefinition> = {},
  more: Partial<Parameters<typeof conversation>[1]> = {},
) {
  return conversation(pair, { ...doing(work), ...more }, { unstable, ...definition });
}

const call = (channel: McpChannel | undefined, name: string, given: object = {}) =>
  channel?.request("tools/call", { name, arguments: given });

const adding: ToolRun = ({ a, b }) => said(String(Number(a) + Number(b)));

inEveryVersion("an agent lists and calls a tool of the client, and gets its result (M1)", async (pair) => {
  const talk = await talking(pair, async (_, [channel]) => [
    await channel?.request("tools/list"),
    await call(channel, "add", { a: 2, b: 3 }),
  ]);
  assert.equal(talk.agent.capabilities.mcpAcp, true);
  const session = await talk.agent.newSession({ ...place, tools: [server("sums", { add: adding })] });
  assert.deepEqual(JSON.parse(await session.prompt("go").text()), [{ tools: [{ name: "add" }] }, said("5")]);
  assert.deepEqual(talk.log, []);
});

inEveryVersion(
  "each session gets its own server, and a tool knows the session that calls it (M2, M5)",
  async (pair) => {
    const talk = await talking(pair, (_, [channel]) => call(channel, "who"));
    const tools = [server("one", { who: (_, { sessionId }) => said(String(sessionId)) })];
    const first = await talk.agent.newSession({ ...place, tools });
    const second = await talk.agent.newSession({ ...place, tools });
    for (const session of [first, second])
      assert.deepEqual(JSON.parse(await session.prompt("who").text()), said(session.sessionId));
    const fork = await talk.agent.forkSession(first.sessionId, { ...place, tools });
    assert.deepEqual(JSON.parse(await fork.prompt("who").text()), said(fork.sessionId));
    const ids = talk.wire.flatMap(({ from, message }) => {
      const { mcpServers = [] } = (message["params"] ?? {}) as { mcpServers?: { serverId: string }[] };
      return from === "client" ? mcpServers.map(({ serverId }) => serverId) : [];
    });
    assert.equal(new Set(ids).size, 3);
  },
);

for (const how of ["loadSession", "resumeSession"] as const)
  inEveryVersion(`${how} gives tools too, and those of before are gone (M2, M8)`, async (pair) => {
    let before: McpChannel | undefined;
    const talk = await talking(pair, (_, [channel]) => {
      before ??= channel;
      return call(channel, "who");
    });
    const tool = (name: string) => [server("one", { who: () => said(name) })];
    const { sessionId } = await talk.agent.newSession({ ...place, tools: tool("first") });
    await talk.agent.newSession(place);
    const open = await talk.agent[how](sessionId, { ...place, tools: tool("second") });
    assert.deepEqual(JSON.parse(await open.prompt("who").text()), said("second"));
    const again = await talk.agent[how](sessionId, { ...place, tools: tool("third") });
    assert.deepEqual(JSON.parse(await again.prompt("who").text()), said("third"));
    assert.ok(before !== undefined);
    await rejects(before.request("tools/list"), -33001);
  });

inEveryVersion("a server is reachable before the session is open (M3)", async (pair) => {
  const names: unknown[] = [];
  const seen: unknown[] = [];
  const talk = await talking(
    pair,
    () => undefined,
    {},
    {
      session: {
        async open({ mcpServers }) {
          const channel = await mcpServers[0]?.connect();
          names.push(await channel?.request("tools/list"));
          await call(channel, "peek");
        },
      },
    },
  );
  await talk.agent.newSession({
    ...place,
    tools: [server("early", { peek: (_, { sessionId }) => void seen.push(sessionId) })],
  });
  assert.deepEqual(names, [{ tools: [{ name: "peek" }] }]);
  // the agent has not said yet which session it is
  assert.deepEqual(seen, [undefined]);
});

inEveryVersion("two servers of one name are both reachable (M4)", async (pair) => {
  const talk = await talking(pair, (_, channels) => Promise.all(channels.map((each) => call(each, "who"))));
  const tools = ["a", "b"].map((each) => server("same", { who: () => said(each) }));
  const session = await talk.agent.newSession({ ...place, tools });
  assert.deepEqual(JSON.parse(await session.prompt("who").text()), [said("a"), said("b")]);
});

inEveryVersion(
  "an error of a server stays its own, and a server that breaks is another error (M9)",
  async (pair) => {
    const body = { code: -32800, message: "mine", data: null };
    const talk = await talking(pair, async (_, [channel]) => {
      const mine = await call(channel, "mine")?.catch((error: unknown) => error);
      assert.ok(mine instanceof McpFailure, String(mine));
      const broken = await call(channel, "broken")?.catch((error: unknown) => error);
      const refused = await call(channel, "refused")?.catch((error: unknown) => error);
      assert.ok(broken instanceof RequestError && refused instanceof RequestError);
      return [mine.body, broken.code, broken.message, refused.code];
    });
    const fails = (error: Error) => () => {
      throw error;
    };
    const session = await talk.agent.newSession({
      ...place,
      tools: [
        server("bad", {
          mine: fails(new McpFailure(body)),
          broken: fails(new Error("the disk is full")),
          refused: fails(new RequestError("auth_required", "log in")),
        }),
      ],
    });
    assert.deepEqual(JSON.parse(await session.prompt("go").text()), [
      body,
      -33002,
      "the MCP server bad failed: the disk is full",
      -33002,
    ]);
    assert.deepEqual(talk.log, ["client error: an MCP server failed", "client error: an MCP server failed"]);
  },
);

inEveryVersion(
  "a result of null is a result, and no params are the same as null (M10, M11)",
  async (pair) => {
    const got: unknown[] = [];
    const provider: McpProvider = {
      name: "raw",
      request: async ({ method, params }) => {
        got.push([method, Object.keys(params ?? {})]);
        return method === "nothing" ? undefined : null;
      },
    };
    const talk = await talking(pair, async (_, [channel]) => [
      await channel?.request("null"),
      await channel?.request("nothing"),
    ]);
    const session = await talk.agent.newSession({ ...place, tools: [provider] });
    assert.equal(await session.prompt("go").text(), "[null,null]");
    assert.deepEqual(got, [
      ["null", ["_meta"]],
      ["nothing", ["_meta"]],
    ]);
  },
);

inEveryVersion(
  "each request says its revision and its caller, unless the agent has said so itself (M20)",
  async (pair) => {
    const seen: unknown[] = [];
    const talk = await talking(pair, (_, [channel]) =>
      channel?.request("tools/call", {
        name: "look",
        _meta: { traceparent: "00-1", "io.modelcontextprotocol/clientInfo": 7 },
      }),
    );
    const tools = [server("meta", { look: (_, { params }) => void seen.push(params?.["_meta"]) })];
    await (await talk.agent.newSession({ ...place, tools })).prompt("go");
    assert.deepEqual(seen, [
      {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": 7,
        traceparent: "00-1",
      },
    ]);
  },
);

inEveryVersion("a cancel reaches the tool that it is about and nothing else (M13)", async (pair) => {
  const begun = Promise.withResolvers<void>();
  const waiting = new Map<string, { signal: AbortSignal; done: (text: object) => void }>();
  const wait: ToolRun = ({ id }, { signal }) =>
    new Promise((resolve, reject) => {
      waiting.set(String(id), { signal, done: resolve });
      signal.addEventListener("abort", () => reject(signal.reason));
      if (waiting.size === 2) begun.resolve();
    });
  const stopping = new AbortController();
  const talk = await talking(pair, async (_, [channel]) => {
    const ask = (id: string, signal?: AbortSignal) =>
      channel?.request("tools/call", { name: "wait", arguments: { id } }, { signal });
    const stopped = ask("a", stopping.signal)?.catch((error: unknown) => (error as RequestError).code);
    const other = ask("b");
    return Promise.all([stopped, other]);
  });
  const session = await talk.agent.newSession({ ...place, tools: [server("slow", { wait })] });
  const answer = session.prompt("go").text();
  await begun.promise;
  stopping.abort();
  await quiet();
  assert.equal(waiting.get("a")?.signal.aborted, true);
  assert.equal(waiting.get("b")?.signal.aborted, false);
  waiting.get("b")?.done(said("b"));
  assert.deepEqual(JSON.parse(await answer), [-32800, said("b")]);
  assert.deepEqual(talk.log, []);
});

inEveryVersion(
  "progress reaches the request that it is of, and nothing after its answer (M14)",
  async (pair) => {
    const late = Promise.withResolvers<void>();
    const work: ToolRun = ({ id }, { notify, params }) => {
      const { progressToken } = (params?.["_meta"] ?? {}) as { progressToken?: unknown };
      assert.equal(typeof progressToken, "string");
      notify("notifications/progress", { progressToken, progress: id });
      void late.promise.then(() => notify("notifications/progress", { progressToken, progress: "late" }));
      return said("done");
    };
    const heard: unknown[] = [];
    const talk = await talking(pair, async (_, [channel]) => {
      const ask = (id: string) =>
        channel?.request(
          "tools/call",
          { name: "work", arguments: { id } },
          { onNotification: (method, params) => heard.push([id, method, params?.["progress"]]) },
        );
      await Promise.all([ask("a"), ask("b")]);
    });
    const session = await talk.agent.newSession({ ...place, tools: [server("loud", { work })] });
    await session.prompt("go");
    late.resolve();
    await quiet();
    assert.deepEqual(heard, [
      ["a", "notifications/progress", "a"],
      ["b", "notifications/progress", "b"],
    ]);
  },
);

inEveryVersion("of 1,000 calls at once 64 run, and all are answered (M15)", async (pair) => {
  let running = 0;
  let most = 0;
  const talk = await talking(pair, async (_, [channel]) => {
    const calls = Array.from({ length: 1_000 }, (_each, i) => call(channel, "echo", { i }));
    return (await Promise.all(calls)).length;
  });
  const echo: ToolRun = async ({ i }) => {
    most = Math.max(most, ++running);
    await quiet();
    running--;
    return said(String(i));
  };
  const session = await talk.agent.newSession({ ...place, tools: [server("busy", { echo })] });
  assert.equal(await session.prompt("go").text(), "1000");
  assert.equal(most, 64);
});

inEveryVersion("a session that could not be opened leaves no server behind (M17)", async (pair) => {
  let kept: McpChannel | undefined;
  const talk = await talking(
    pair,
    () => undefined,
    {},
    {
      session: {
        async open({ mcpServers }) {
          kept = await mcpServers[0]?.connect();
          throw new RequestError("unavailable", "not today");
        },
      },
    },
  );
  await rejects(talk.agent.newSession({ ...place, tools: [server("gone", { add: adding })] }), -32067);
  const { serverId } = talk.wire
    .map(
      ({ message }) =>
        (message["params"] as { mcpServers?: { serverId: string }[] } | undefined)?.mcpServers?.[0],
    )
    .find((each) => each !== undefined) as { serverId: string };
  assert.equal(typeof serverId, "string");
  assert.ok(kept !== undefined);
  await rejects(kept.request("tools/list"), -33001);
});

inEveryVersion("closing a session aborts the calls that run in it (M8)", async (pair) => {
  const begun = Promise.withResolvers<AbortSignal>();
  let channel: McpChannel | undefined;
  const talk = await talking(pair, async (_, [given]) => {
    channel = given;
    await call(given, "wait")?.catch(() => undefined);
  });
  const wait: ToolRun = (_, { signal }) =>
    new Promise((_resolve, reject) => {
      begun.resolve(signal);
      signal.addEventListener("abort", () => reject(signal.reason));
    });
  const session = await talk.agent.newSession({ ...place, tools: [server("slow", { wait })] });
  void session.prompt("go");
  const signal = await begun.promise;
  await session.close();
  assert.equal(signal.aborted, true);
  // the agent's channel has ended with the session, too
  await assert.rejects(async () => channel?.request("tools/list"), { name: "ConnectionError" });
});

inEveryVersion("the client's policy decides about a call before it happens (M22)", async (pair) => {
  const ran: unknown[] = [];
  const asked: unknown[] = [];
  const tools = [
    server("files", { wipe: ({ path }) => said(String(ran.push(path))), look: () => said("fine") }),
  ];
  const talk = await talking(
    pair,
    async (_, [channel]) => [await call(channel, "wipe", { path: "/" }), await call(channel, "look")],
    {
      policy: {
        decide(request, { session }) {
          asked.push([request, session?.sessionId]);
          return request.type === "mcp" && request.tool === "wipe"
            ? { decision: "deny", reason: "not that" }
            : "allow";
        },
      },
    },
  );
  const session = await talk.agent.newSession({ ...place, tools });
  assert.deepEqual(JSON.parse(await session.prompt("go").text()), [
    { ...said("permission denied: not that"), isError: true },
    said("fine"),
  ]);
  assert.deepEqual(ran, []);
  assert.deepEqual(asked, [
    [{ type: "mcp", server: "files", tool: "wipe", arguments: { path: "/" } }, session.sessionId],
    [{ type: "mcp", server: "files", tool: "look", arguments: {} }, session.sessionId],
  ]);
});

inEveryVersion("a policy that asks shows the user the tool and its arguments (M22)", async (pair) => {
  const answers = ["reject_once", "allow_once"];
  const titles: unknown[] = [];
  const talk = await talking(
    pair,
    async (_, [channel]) => [
      await call(channel, "add", { a: 1, b: 2 }),
      await call(channel, "add", { a: 1, b: 2 }),
    ],
    {
      policy: { decide: () => "ask" },
      requestPermission({ title, subject }) {
        assert.ok(subject?.type === "tool_call");
        titles.push([title, subject.toolCall.rawInput]);
        return answers.shift();
      },
    },
  );
  const session = await talk.agent.newSession({ ...place, tools: [server("sums", { add: adding })] });
  assert.deepEqual(JSON.parse(await session.prompt("go").text()), [
    { ...said("permission denied: the user did not allow it"), isError: true },
    said("3"),
  ]);
  assert.deepEqual(titles, [
    ["Call sums/add", { a: 1, b: 2 }],
    ["Call sums/add", { a: 1, b: 2 }],
  ]);
});

inEveryVersion(
  "a policy that denies a call says why, and one that breaks allows nothing (M22)",
  async (pair) => {
    const talk = await talking(
      pair,
      async (_, [channel]) => [
        await call(channel, "no"),
        await call(channel, "broken"),
        await call(channel, "yes"),
      ],
      {
        policy: {
          decide(request) {
            assert.ok(request.type === "mcp");
            if (request.tool === "no") return { decision: "deny", reason: "no" };
            if (request.tool === "broken") throw new Error("oops");
            return "allow";
          },
        },
      },
    );
    const never: ToolRun = () => assert.fail("it is not called");
    const tools = [server("some", { no: never, broken: never, yes: () => said("ran") })];
    const session = await talk.agent.newSession({ ...place, tools });
    assert.deepEqual(JSON.parse(await session.prompt("go").text()), [
      { ...said("permission denied: no"), isError: true },
      { ...said("permission denied: this client does not allow it"), isError: true },
      said("ran"),
    ]);
  },
);

inEveryVersion("cancelling the turn refuses a call that waits for its permission (M22)", async (pair) => {
  const deciding = Promise.withResolvers<void>();
  let ran = false;
  const talk = await talking(pair, (_, [channel]) => call(channel, "add"), {
    policy: {
      decide() {
        deciding.resolve();
        return new Promise(() => undefined);
      },
    },
  });
  const add: ToolRun = () => {
    ran = true;
  };
  const session = await talk.agent.newSession({ ...place, tools: [server("sums", { add })] });
  const prompt = session.prompt("go");
  await deciding.promise;
  await session.cancel();
  assert.equal((await prompt).stopReason, "cancelled");
  assert.equal(ran, false);
});

inEveryVersion(
  "the client learns once that the agent uses a server, and how many tools it got",
  async (pair) => {
    const receipts: unknown[] = [];
    const talk = await talking(
      pair,
      async (_, [channel]) => {
        await channel?.request("tools/list");
        await channel?.request("tools/list");
      },
      { mcpReceipt: ({ afterMs, ...rest }) => void receipts.push([typeof afterMs, rest]) },
    );
    const tools = [server("sums", { add: adding, sub: adding })];
    const { sessionId, prompt } = await talk.agent.newSession({ ...place, tools });
    assert.deepEqual(receipts, []);
    await prompt("go");
    assert.deepEqual(receipts, [["number", { state: "connected", server: "sums", sessionId, tools: 2 }]]);
  },
);

inEveryVersion("a server that the agent leaves alone is told of, by name, after a while", async (pair) => {
  mock.timers.enable({ apis: ["setTimeout"] });
  try {
    const receipts: unknown[] = [];
    const talk = await talking(pair, () => undefined, {
      connection: { mcpReceiptMs: 250 },
      mcpReceipt: (receipt) => void receipts.push(receipt),
    });
    const { sessionId } = await talk.agent.newSession({ ...place, tools: [server("sums", { add: adding })] });
    mock.timers.tick(249);
    assert.deepEqual(receipts, []);
    mock.timers.tick(1);
    assert.deepEqual(receipts, [{ state: "silent", server: "sums", sessionId, afterMs: 250 }]);
    const warning =
      "the agent has not used the MCP server sums within 250 ms: it may have dropped it without a word";
    assert.deepEqual(talk.log, [`client warn: ${warning}`]);
  } finally {
    mock.timers.reset();
  }
});
