// Options of any JSON type and permission for an operation, in every version and through a relay.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  inEveryVersion,
  initialize,
  openSession,
  richDialect,
  withScriptedAgent,
  withScriptedClient,
} from "../../../test/support/peer-probe.ts";
import {
  type AgentSession,
  agent,
  client,
  type Editions,
  type PermissionRequest,
  type SessionConfigOption,
} from "../../index.ts";
import type { JsonValue, OperationPermissionSubject } from "../../model.ts";
import { relay } from "../../relay.ts";
import { type Dialect, memoryPair } from "../../transport.ts";

const limits = {
  type: "_json" as const,
  configId: "limits",
  name: "Limits",
  currentValue: { tokens: 5, hosts: ["a"] } as JsonValue,
};

function withLimits() {
  const set: unknown[] = [];
  return {
    set,
    definition: {
      prompt: () => undefined,
      session: {
        open: (session: AgentSession<undefined>) => session.setConfigOptions([limits]),
        setConfigOption(session: AgentSession, configId: string, value: JsonValue) {
          set.push([configId, value, session.configOption(configId)]);
        },
      },
    },
  };
}

inEveryVersion("an option of any JSON type is shown, set and kept as it is", async (pair) => {
  const { set, definition } = withLimits();
  const { session, agent } = await openSession(pair, definition);
  assert.deepEqual(session.configOptions, [limits]);
  for (const value of [{ tokens: 9 }, [1, null], "text", 7, false, null]) {
    await session.setConfigOption("limits", value);
    assert.deepEqual(session.configOptions, [{ ...limits, currentValue: value }]);
    assert.deepEqual(set.at(-1), [
      "limits",
      value,
      (set.at(-2) as unknown[] | undefined)?.[1] ?? limits.currentValue,
    ]);
  }
  await session.setConfigOption("limits", [2]);
  await session.close();
  const again = await agent.loadSession(session.sessionId, { cwd: session.cwd });
  assert.deepEqual(again.configOptions, [{ ...limits, currentValue: [2] }]);
});

test("a client of v1 sees the value as the one choice, and may set JSON text", async () => {
  const { set, definition } = withLimits();
  const { call } = withScriptedClient(definition);
  await call("initialize", initialize(1));
  const opened = (await call("session/new", { cwd: "/project", mcpServers: [] })) as {
    sessionId: string;
    configOptions: unknown[];
  };
  const text = '{"tokens":5,"hosts":["a"]}';
  assert.deepEqual(opened.configOptions, [
    {
      id: "limits",
      name: "Limits",
      type: "select",
      currentValue: text,
      options: [{ value: text, name: text }],
      _meta: { "_parley.dev/value": { tokens: 5, hosts: ["a"] } },
    },
  ]);
  const { sessionId } = opened;
  await call("session/set_config_option", { sessionId, configId: "limits", value: "[1]" });
  await call("session/set_config_option", { sessionId, configId: "limits", value: "no JSON" });
  assert.deepEqual(
    set.map((each) => (each as unknown[])[1]),
    [[1], "no JSON"],
  );
});

const write: OperationPermissionSubject = {
  type: "_operation",
  operation: "file_write",
  resource: "/project/a",
  reason: "to add a test",
};
const options = [
  { optionId: "once", name: "Once", kind: "allow_once" as const },
  { optionId: "reject_once", name: "No", kind: "reject_once" as const },
];
const ask = { title: "file_write: /project/a", subject: write, options };

inEveryVersion("permission for an operation is asked by operation and resource", async (pair) => {
  const asked: PermissionRequest[] = [];
  const { session } = await openSession(
    pair,
    {
      async prompt(turn) {
        const answer = await turn.requestPermission(ask);
        await turn.say(JSON.stringify(answer));
      },
    },
    {
      requestPermission(request) {
        asked.push(request);
        return "once";
      },
    },
  );
  await session.prompt("go");
  const { toolCallId: _, ...subject } = (asked[0]?.subject ?? {}) as OperationPermissionSubject;
  assert.deepEqual(subject, write);
  assert.deepEqual([asked[0]?.title, asked[0]?._meta], [ask.title, undefined]);
});

test("a client of v1 is asked about a call that stands for the operation, and it ends", async () => {
  const params: Record<string, unknown>[] = [];
  const { call, peer } = withScriptedClient(
    {
      async prompt(turn) {
        await turn.requestPermission(ask);
      },
    },
    {
      "session/request_permission": (given) => {
        params.push(given);
        return { outcome: { outcome: "selected", optionId: "once" } };
      },
    },
  );
  await call("initialize", initialize(1));
  const { sessionId } = (await call("session/new", { cwd: "/project", mcpServers: [] })) as {
    sessionId: string;
  };
  await call("session/prompt", { sessionId, prompt: [{ type: "text", text: "go" }] });
  const { toolCall, _meta } = params[0] as { toolCall: { toolCallId: string }; _meta: unknown };
  const { toolCallId, ...shown } = toolCall;
  assert.deepEqual(shown, {
    title: ask.title,
    kind: "edit",
    status: "pending",
    locations: [{ path: "/project/a" }],
    rawInput: { operation: "file_write", resource: "/project/a" },
  });
  const { type: __, ...said } = write;
  assert.deepEqual(_meta, { "_parley.dev/operation": said });
  const ends = peer.got.flatMap(({ params: { update } }) => {
    const { toolCallId: id, status } = (update ?? {}) as { toolCallId?: string; status?: string };
    return id === toolCallId ? [status] : [];
  });
  assert.deepEqual(ends, ["completed"]);
});

test("the call that an operation belongs to is not ended by the answer", async () => {
  const { peer, agent } = await withScriptedAgent(1, {}, { requestPermission: () => "once" });
  const session = await agent.newSession({ cwd: "/project" });
  const toolCall = { toolCallId: "c7", title: "Write" };
  const { type: _, ...operation } = write;
  const answer = await peer.connection.request("session/request_permission", {
    sessionId: session.sessionId,
    toolCall,
    options,
    _meta: { "_parley.dev/operation": operation, colour: "red" },
  });
  assert.deepEqual(answer, { outcome: { outcome: "selected", optionId: "once" } });
});

/** A client, a relay and an agent with an option of any JSON type. */
async function relayed(
  t: { after(work: () => unknown): void },
  clientDialect: Dialect | undefined,
  editions: Editions,
) {
  const [left, clientEnd] = memoryPair();
  const [right, agentEnd] = memoryPair();
  if (clientDialect !== undefined) Object.assign(left, { dialect: clientDialect });
  const lost: unknown[] = [];
  agent({ name: "a", version: "1", editions, ...withLimits().definition }).connect(agentEnd);
  const between = relay(left, right, {
    log: (_, message, details) => void (message === "lost in translation" && lost.push(details)),
  });
  t.after(() => between.close());
  const connection = await client({ name: "c", version: "1", editions: ["v1"] }).connect(clientEnd);
  const session = await connection.newSession({ cwd: "/project" });
  const seen: (readonly SessionConfigOption[])[] = [];
  session.onUpdate((update) => {
    if (update.sessionUpdate === "config_option_update") seen.push(update.configOptions);
  });
  await session.setConfigOption("limits", [3]);
  return { session, lost };
}

test("a relay from v1 to v2 loses nothing of such an option for a client that speaks a dialect", async (t) => {
  const { session, lost } = await relayed(t, richDialect, ["v2"]);
  assert.deepEqual(session.configOptions, [{ ...limits, currentValue: [3] }]);
  assert.deepEqual(lost, []);
});

test("a relay reports the values that a client of v1 cannot choose", async (t) => {
  const { lost } = await relayed(t, undefined, ["v2"]);
  assert.match(
    JSON.stringify(lost),
    /values of the option limits, which takes any JSON: only the one that it has/,
  );
});
