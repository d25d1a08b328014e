// Tests every field of every request with values that do not belong there, against the official schema.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { exceptions } from "../../../test/differential/exceptions.ts";
import { Oracle } from "../../../test/differential/oracle.ts";
import {
  initialize,
  place,
  text,
  withScriptedAgent,
  withScriptedClient,
} from "../../../test/support/peer-probe.ts";
import { type AgentSession, type ClientDefinition, RequestError } from "../../index.ts";
import { methods as v1 } from "../../wire/v1/methods.gen.ts";
import { methods as v2 } from "../../wire/v2/methods.gen.ts";

const sdk = join(import.meta.dirname, "../../../../../node_modules/@agentclientprotocol/sdk/schema");
const rows = { 1: v1, 2: v2 };

const missing = Symbol("missing");
const wrong: readonly unknown[] = [missing, null, true, -1, 2 ** 53, "", [], {}];

type Json = Record<string, unknown>;
type Base = (sessionId: string) => Json;

/** Params that are right, with every field that there is. */
function bases(version: 1 | 2): Record<string, Base> {
  const stdio = { ...(version === 2 ? { type: "stdio" } : {}), name: "s", command: "/bin/x" };
  const activation = {
    cwd: "/project",
    additionalDirectories: ["/lib"],
    mcpServers: [{ ...stdio, args: ["a"], env: [{ name: "A", value: "1" }] }],
    systemPrompt: { mode: "append", content: [text("be brief")] },
    _meta: { a: 1 },
  };
  const link = { type: "resource_link", name: "n", uri: "file:///a", size: 1, annotations: { priority: 1 } };
  const common: Record<string, Base> = {
    "session/new": () => activation,
    "session/resume": (sessionId) => ({ sessionId, ...activation }),
    "session/fork": (sessionId) => ({ sessionId, ...activation }),
    "session/list": () => ({ cwd: "/project", cursor: null, _meta: {} }),
    "session/close": (sessionId) => ({ sessionId, _meta: {} }),
    "session/delete": (sessionId) => ({ sessionId, _meta: {} }),
    "session/prompt": (sessionId) => ({ sessionId, prompt: [text("x"), link], _meta: {} }),
    "session/set_config_option": (sessionId) => ({ sessionId, configId: "o", type: "boolean", value: true }),
  };
  if (version === 1) {
    return {
      ...common,
      "session/load": (sessionId) => ({ sessionId, ...activation }),
      "session/set_mode": (sessionId) => ({ sessionId, modeId: "a" }),
      authenticate: () => ({ methodId: "key" }),
      logout: () => ({ _meta: {} }),
    };
  }
  return {
    ...common,
    "session/resume": (sessionId) => ({ sessionId, ...activation, replayFrom: { type: "start", _meta: {} } }),
    "auth/login": () => ({ methodId: "key" }),
    "auth/logout": () => ({ _meta: {} }),
    "tool_call/cancel": (sessionId) => ({ sessionId, toolCallId: "t" }),
    "terminal/cancel": (sessionId) => ({ sessionId, terminalId: "t" }),
  };
}

/** The same for what an agent asks of a client. */
function clientBases(version: 1 | 2): Record<string, Json> {
  const sessionId = "s1";
  const terminal = { sessionId, terminalId: "t", _meta: {} };
  const options = [{ optionId: "a", name: "A", kind: "allow_once", _meta: {} }];
  const form = {
    sessionId,
    mode: "form",
    message: "m",
    requestedSchema: { type: "object", properties: { a: { type: "string", minLength: 1 } }, required: ["a"] },
    _meta: {},
  };
  const call = {
    toolCallId: "t",
    title: "T",
    status: "pending",
    kind: "edit",
    locations: [{ path: "/a", line: 1 }],
  };
  if (version === 2) {
    const subject = { type: "tool_call", toolCall: call };
    return {
      "session/request_permission": { sessionId, title: "T", subject, options, _meta: {} },
      "elicitation/create": form,
    };
  }
  return {
    "session/request_permission": { sessionId, toolCall: call, options, _meta: {} },
    "elicitation/create": form,
    "fs/read_text_file": { sessionId, path: "/a", line: 1, limit: 1, _meta: {} },
    "fs/write_text_file": { sessionId, path: "/a", content: "x", _meta: {} },
    "terminal/create": {
      sessionId,
      command: "ls",
      args: ["a"],
      env: [{ name: "A", value: "1" }],
      cwd: "/project",
      outputByteLimit: 1,
      _meta: {},
    },
    "terminal/output": terminal,
    "terminal/wait_for_exit": terminal,
    "terminal/kill": terminal,
    "terminal/release": terminal,
  };
}

const serving: Partial<ClientDefinition> = {
  requestPermission: (ask) => ask.options[0]?.optionId,
  elicit: () => ({ action: "decline" }),
  files: { canRead: true, canWrite: true, readText: async () => "", writeText: async () => undefined },
  terminals: {
    create: async () => ({
      terminalId: "t",
      output: async () => ({ output: "", truncated: false }),
      waitForExit: async () => ({ exitCode: 0 }),
      kill: async () => undefined,
      release: async () => undefined,
    }),
  },
};

/** Words from a list that may grow: a client keeps those that it does not know, whatever the schema of today says. */
const growing = new Set(["session/request_permission /options/0/kind"]);

/** The pointers of all fields below a value. */
function pointers(value: unknown, at = ""): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => {
    const path = `${at}/${key}`;
    return key === "_meta" ? [path] : [path, ...pointers(item, path)];
  });
}

function replaced(base: Json, pointer: string, value: unknown): Json {
  const copy = structuredClone(base);
  const keys = pointer.slice(1).split("/");
  const last = keys.pop() ?? "";
  let parent: Json = copy;
  for (const key of keys) parent = parent[key] as Json;
  if (value !== missing) parent[last] = value;
  else if (Array.isArray(parent)) parent.splice(Number(last), 1);
  else delete parent[last];
  return copy;
}

const definition = {
  prompt: () => undefined,
  auth: {
    methods: [{ type: "agent" as const, methodId: "key", name: "Key" }],
    login: () => undefined,
    logout: () => undefined,
  },
  session: {
    open: (session: AgentSession) =>
      session.setConfigOptions([
        { configId: "o", name: "O", type: "boolean", currentValue: false },
        {
          configId: "mode",
          name: "M",
          category: "mode",
          type: "select",
          currentValue: "a",
          options: [{ value: "a", name: "A" }],
        },
      ]),
  },
};

function oracleOf(version: 1 | 2, stability: "stable" | "unstable"): Oracle {
  const file = stability === "stable" ? "schema.json" : "schema.unstable.json";
  const schema = JSON.parse(readFileSync(join(sdk, `v${version}`, file), "utf8"));
  return new Oracle(
    schema,
    exceptions.filter((each) => each.version === `v${version}`),
  );
}

function rowOf(version: 1 | 2, method: string) {
  const row = rows[version].find((each) => each.method === method);
  assert.ok(row !== undefined, `version ${version} has no ${method}`);
  return row;
}

/** Whether an error is about a field: its pointer, one inside it, one that holds it, or one that its tag speaks of. */
function isAbout(error: RequestError, field: string): boolean {
  const pointer = field.replace(/\/type$/, "");
  const { path } = (error.data ?? {}) as { path?: string };
  return path !== undefined && (`${path}/`.startsWith(`${pointer}/`) || `${pointer}/`.startsWith(`${path}/`));
}

test("N127 no request of the schema is left out", () => {
  for (const version of [1, 2] as const) {
    const taken = rows[version].filter((row) => row.kind === "request" && !row.unstable);
    const tried = new Set([
      ...Object.keys(bases(version)),
      ...Object.keys(clientBases(version)),
      "initialize",
    ]);
    assert.deepEqual(
      taken.map(({ method }) => method).filter((method) => !tried.has(method)),
      [],
    );
  }
});

for (const version of [1, 2] as const) {
  for (const stability of ["stable", "unstable"] as const) {
    const label = `version ${version}, ${stability}`;

    test(`N127 a wrong field of any request is -32602 with its place, or the schema's default (${label})`, async () => {
      const oracle = oracleOf(version, stability);
      const { call, log } = withScriptedClient({
        ...definition,
        ...(stability === "unstable" ? { unstable: "*" as const } : {}),
      });
      await call("initialize", initialize(version));
      let cases = 0;
      for (const [method, base] of Object.entries(bases(version))) {
        const row = rowOf(version, method);
        if (stability === "stable" && row.unstable) continue;
        for (const pointer of pointers(base("s"))) {
          for (const value of wrong) {
            const opened = await call("session/new", { cwd: "/project", mcpServers: [] });
            const params = replaced(base((opened as { sessionId: string }).sessionId), pointer, value);
            const what = `${method} ${pointer} ${String(value === missing ? "missing" : JSON.stringify(value))}`;
            const { accepted } = oracle.decode(row.paramsType, params);
            const answer = await call(method, params).catch((error: unknown) => error);
            cases++;
            if (!accepted) {
              assert.ok(answer instanceof RequestError, `${what}: was taken`);
              assert.equal(answer.code, -32602, `${what}: ${answer.message}`);
              assert.ok(isAbout(answer, pointer), `${what}: ${JSON.stringify(answer.data)}`);
            } else if (answer instanceof RequestError) {
              // what the schema takes may still name nothing that exists
              assert.ok([-32602, -32002].includes(answer.code), `${what}: ${answer.code} ${answer.message}`);
            } else assert.equal(typeof answer, "object", `${what}: ${String(answer)}`);
          }
        }
        const { sessions } = (await call("session/list", {})) as { sessions: unknown[] };
        assert.ok(sessions.length > 0, `after ${method} the connection serves on`);
      }
      assert.ok(cases > 300, `${cases} cases`);
      assert.deepEqual(
        log.filter((line) => line.startsWith("error")),
        [],
      );
    });
  }

  test(`N127 a wrong field of what a client is asked is -32602 with its place, or the schema's default (version ${version})`, async () => {
    const oracle = oracleOf(version, "stable");
    const { agent, peer, log } = await withScriptedAgent(version, {}, serving);
    await agent.newSession(place);
    const call = (method: string, params: object) => peer.connection.request(method, params);
    let cases = 0;
    for (const [method, base] of Object.entries(clientBases(version))) {
      const { paramsType } = rowOf(version, method);
      for (const pointer of pointers(base)) {
        for (const value of wrong) {
          // terminals are there to be asked about
          if (version === 1) await call("terminal/create", { sessionId: "s1", command: "ls" });
          const params = replaced(base, pointer, value);
          const what = `${method} ${pointer} ${String(value === missing ? "missing" : JSON.stringify(value))}`;
          const { accepted } = oracle.decode(paramsType, structuredClone(params));
          const answer = await call(method, params).catch((error: unknown) => error);
          cases++;
          const isKept = value === "" && growing.has(`${method} ${pointer}`);
          if (!accepted && !isKept) {
            assert.ok(answer instanceof RequestError, `${what}: was taken`);
            assert.equal(answer.code, -32602, `${what}: ${answer.message}`);
            assert.ok(isAbout(answer, pointer), `${what}: ${JSON.stringify(answer.data)}`);
          } else if (answer instanceof RequestError) {
            assert.ok([-32602, -32002].includes(answer.code), `${what}: ${answer.code} ${answer.message}`);
          } else assert.equal(typeof answer, "object", `${what}: ${String(answer)}`);
        }
      }
    }
    assert.ok(cases > 100, `${cases} cases`);
    assert.deepEqual(
      log.filter((line) => line.startsWith("error")),
      [],
    );
    await agent.close();
  });

  test(`N127 a wrong field of initialize is -32602 or off, and the handshake can be done again (version ${version})`, async () => {
    const oracle = oracleOf(version, "stable");
    const capabilities = {
      auth: { terminal: version === 1 ? true : {} },
      elicitation: { form: {}, url: {} },
      ...(version === 1 ? { fs: { readTextFile: true, writeTextFile: true }, terminal: true } : {}),
    };
    const info = { name: "n", title: "t", version: "1" };
    const base: Json = {
      protocolVersion: version,
      ...(version === 1 ? { clientInfo: info, clientCapabilities: capabilities } : { info, capabilities }),
    };
    for (const pointer of pointers(base)) {
      for (const value of wrong) {
        const params = replaced(base, pointer, value);
        const { accepted } = oracle.decode("InitializeRequest", params);
        const { call } = withScriptedClient({ ...definition, editions: [`v${version}`] });
        const what = `${pointer} ${String(value === missing ? "missing" : JSON.stringify(value))}`;
        const answer = await call("initialize", params).catch((error: unknown) => error);
        if (answer instanceof RequestError) {
          // a number that is no version of ours is another error
          assert.ok([-32602, -32022].includes(answer.code), `${what}: ${answer.code}`);
          if (answer.code === -32602)
            assert.ok(isAbout(answer, pointer), `${what}: ${JSON.stringify(answer.data)}`);
          await call("initialize", base);
        } else assert.ok(accepted, `${what}: was taken`);
        assert.ok(await call("session/new", { cwd: "/project", mcpServers: [] }));
      }
    }
  });
}
