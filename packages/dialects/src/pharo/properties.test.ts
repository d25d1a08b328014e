// What holds for every message: what is sent is valid, and what both sides can say comes back as it was.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import fc from "fast-check";
import type { Schema } from "../../../acp/test/differential/oracle.ts";
import { damaged, validSample } from "../../../acp/test/differential/samples.ts";
import { Random } from "../../../acp/test/support/random.ts";
import { DialectDriver } from "../../test/support/dialect-driver.ts";
import { isObject, type MethodRow, modes, v1Methods as v1 } from "../exchange/library.ts";
import { methods } from "../wire/pharo/methods.gen.ts";
import { errorFromPharo, errorToPharo } from "./errors.ts";
import { pharoMachines as pharo } from "./machines.ts";

const root = new URL("../../../../", import.meta.url);

function definitions(path: string): Record<string, Schema> {
  return (JSON.parse(readFileSync(new URL(path, root), "utf8")) as { $defs: Record<string, Schema> }).$defs;
}

const schemas = {
  pharo: definitions("scripts/generate/dialects/pharo.json"),
  v1: definitions("node_modules/@agentclientprotocol/sdk/schema/v1/schema.json"),
};

const strict = modes.strict | modes.checks;

/** A value of this type that one may send; undefined if none was found. */
function sample(
  version: "pharo" | "v1",
  type: string,
  check: MethodRow["params"],
  seed: number,
): object | undefined {
  const random = new Random(seed);
  for (let tries = 0; tries < 20; tries++) {
    const value = validSample(schemas[version], type, random);
    if (isObject(value) && check(structuredClone(value), strict) === undefined) return value;
  }
  return undefined;
}

const terminal = { create: true, output: true, waitForExit: true, kill: true, release: true };
const clientCapabilities = { fs: { readTextFile: true, writeTextFile: true }, terminal };

function connected(role: "agent" | "client"): DialectDriver {
  const driver = new DialectDriver(pharo, role, methods);
  const params = { protocolVersion: 1, clientCapabilities };
  if (role === "agent") driver.receive({ id: 0, method: "initialize", params });
  return driver;
}

const seeds = fc.integer({ min: 0, max: 2 ** 31 - 1 });

/** Runs the property for the methods that this side receives, and makes sure that each got messages. */
function forEachMethod(
  rows: readonly MethodRow[],
  version: "pharo" | "v1",
  property: (row: MethodRow, params: object, seed: number) => void,
): void {
  const tried = new Map(rows.map(({ method }) => [method, 0]));
  fc.assert(
    fc.property(fc.nat(rows.length - 1), seeds, (index, seed) => {
      const row = rows[index]!;
      const params = sample(version, row.paramsType, row.params, seed);
      if (params === undefined) return;
      tried.set(row.method, (tried.get(row.method) ?? 0) + 1);
      property(row, params, seed);
    }),
    { numRuns: 100 * rows.length },
  );
  for (const [method, times] of tried) assert.ok(times > 10, `${method} was tried ${times} times`);
}

const rowsFor = (rows: readonly MethodRow[], receiver: "agent" | "client"): readonly MethodRow[] =>
  rows.filter((row) => row.receiver === receiver && row.unstable === undefined);

for (const role of ["agent", "client"] as const) {
  const other = role === "agent" ? "client" : "agent";

  test(`whatever our ${role} sends in version 1 is valid in the dialect`, () => {
    forEachMethod(rowsFor(v1, other), "v1", ({ kind, method }, params) => {
      // the driver checks every message
      connected(role).send({ ...(kind === "request" ? { id: 9 } : {}), method, params });
    });
  });

  test(`whatever a peer asks our ${role}, the question and the answer are valid on both sides`, () => {
    forEachMethod(rowsFor(methods, role), "pharo", ({ kind, method }, params, seed) => {
      const driver = connected(role);
      driver.receive({ ...(kind === "request" ? { id: 9 } : {}), method, params });
      const asked = v1.find((each) => each.method === method);
      if (asked?.result === undefined || asked.resultType === undefined) return;
      const result = sample("v1", asked.resultType, asked.result, seed);
      if (result !== undefined) driver.send({ id: 9, result });
    });
  });

  test(`whatever a peer answers our ${role}, the answer is valid in version 1`, () => {
    forEachMethod(rowsFor(v1, other), "v1", ({ kind, method }, params, seed) => {
      const row = methods.find((each) => each.method === method);
      if (kind === "notification" || row?.result === undefined || row.resultType === undefined) return;
      const driver = connected(role);
      const [asked] = driver.send({ id: 9, method, params }).toPeer;
      const result = sample("pharo", row.resultType, row.result, seed) ?? null;
      if (asked !== undefined) driver.receive({ id: asked.id, result });
    });
  });
}

/** Without what a default stands for. */
function normal(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(normal);
  if (!isObject(value)) return value;
  const fields = Object.entries(value)
    .map(([key, each]) => [key, normal(each)] as const)
    .filter(([key, each]) => !(key === "annotations" && JSON.stringify(each) === "{}"));
  const copy: Record<string, unknown> = Object.fromEntries(fields);
  if (copy["type"] === "diff") copy["oldText"] ??= "";
  return copy;
}

/** The same message as our other machine says it, after it was in version 1. */
function thereAndBack(row: MethodRow, params: object): readonly unknown[] {
  const to = row.receiver === "agent" ? connected("agent") : connected("client");
  const from = row.receiver === "agent" ? connected("client") : connected("agent");
  const id = row.kind === "request" ? { id: 9 } : {};
  const { toUs } = to.receive({ ...id, method: row.method, params });
  return toUs.flatMap((message) => from.send(message).toPeer.map((each) => each.params));
}

test("what a peer asks comes back as it was, after it was in version 1", () => {
  const rows = methods.filter(({ method }) => method !== "session/update");
  forEachMethod(rows, "pharo", (row, params) => {
    const [back, ...others] = thereAndBack(row, params);
    assert.deepEqual(others, []);
    assert.deepEqual(normal(back), normal(withDefaults(row.method, params)));
  });
});

/** What our machines write where a peer may leave it out. */
function withDefaults(method: string, params: object): object {
  const given = params as { mcpServers?: object[]; credentials?: object };
  switch (method) {
    case "initialize": {
      const { terminal: flags, ...rest } =
        (params as { clientCapabilities?: { terminal?: object } }).clientCapabilities ?? {};
      const none = { create: false, output: false, waitForExit: false, kill: false, release: false };
      const all = flags === undefined ? rest : { ...rest, terminal: { ...none, ...flags } };
      return { ...params, protocolVersion: 1, clientCapabilities: all };
    }
    case "authenticate":
      return { ...params, credentials: given.credentials ?? {} };
    case "session/new":
    case "session/load": {
      const servers = given.mcpServers ?? [];
      const mcpServers = servers.map((server) =>
        "command" in server ? { args: [], env: {}, ...server } : { headers: {}, ...server },
      );
      return { ...params, mcpServers };
    }
    default:
      return params;
  }
}

test("what a peer answers comes back as it was, after it was in version 1", () => {
  const agentMethods = ["initialize", "authenticate", "session/new", "session/load", "session/set_mode"];
  const rows = v1.filter(({ method }) => [...agentMethods, "session/prompt"].includes(method));
  const clientRows = rowsFor(v1, "client").filter(({ kind, method }) => {
    return kind === "request" && methods.some((each) => each.method === method);
  });
  forEachMethod([...rows, ...clientRows], "v1", ({ method, receiver }, params, seed) => {
    const row = methods.find((each) => each.method === method);
    const result = sample("pharo", row?.resultType ?? "", row?.result ?? (() => undefined), seed) ?? null;
    if (row?.result?.(structuredClone(result), strict) !== undefined) return;
    const asks = connected(receiver === "agent" ? "client" : "agent");
    const answers = connected(receiver === "agent" ? "agent" : "client");
    const [asked] = asks.send({ id: 9, method, params }).toPeer;
    if (asked === undefined) return;
    answers.receive(asked);
    const [answer] = asks.receive({ id: 9, result }).toUs;
    // an answer that is none of the options is an error
    if (answer?.error !== undefined) return;
    const [back] = answers.send(answer!).toPeer;
    assert.deepEqual(normal(back?.result), normal(answerWithDefaults(method, result)));
  });
});

/** What our machines write where a peer may leave it out, or says what version 1 cannot. */
function answerWithDefaults(method: string, result: object | null): object | null {
  switch (method) {
    case "initialize": {
      const { agentCapabilities = {}, ...rest } = result as {
        agentCapabilities?: { mcpCapabilities?: object; sessionModes?: object[] };
      };
      const { mcpCapabilities, sessionModes = [], ...others } = agentCapabilities;
      const listed = sessionModes.length === 0 ? {} : { sessionModes };
      const mcp =
        mcpCapabilities === undefined ? {} : { mcpCapabilities: { supportedTransports: ["stdio"] } };
      return { authenticationMethods: [], ...rest, agentCapabilities: { ...others, ...listed, ...mcp } };
    }
    case "terminal/output":
    case "terminal/wait_for_exit":
      return { exitCode: null, ...result };
    default:
      // what stands for nothing
      return isObject(result) && Object.keys(result).length === 0 ? null : result;
  }
}

test("updates come back as they were, each block of a message on its own", () => {
  const rows = methods.filter(({ method }) => method === "session/update");
  for (let round = 0; round < 20; round++)
    forEachMethod(rows, "pharo", (row, params) => {
      const { sessionId, update } = params as { sessionId: string; update: Record<string, unknown[]> };
      const back = thereAndBack(row, params);
      const updates: object[] =
        (update["type"] as unknown) === "message"
          ? (update["content"] ?? []).map((block) => ({ ...update, content: [block] }))
          : [filled(update)];
      assert.deepEqual(
        back.map(normal),
        updates.map((each) => normal({ sessionId, update: each })),
      );
    });
});

function filled(update: Record<string, unknown[]>): object {
  const { entries, availableCommands } = update;
  if ((update["type"] as unknown) === "tool_call") return { content: [], ...update };
  if (entries !== undefined)
    return {
      ...update,
      entries: entries.map((each) => ({ priority: "medium", status: "pending", ...(each as object) })),
    };
  if (availableCommands === undefined) return update;
  return {
    ...update,
    availableCommands: availableCommands.map((each) => ({ description: "", ...(each as object) })),
  };
}

test("damaged messages never throw, and every request is passed on or answered, once", () => {
  const options = { lost: () => {}, clock: { now: () => 0, after: () => () => {} } };
  const params = fc.record({ index: fc.nat(methods.length - 1), seed: seeds });
  fc.assert(
    fc.property(params, ({ index, seed }) => {
      const { method, kind, receiver, paramsType } = methods[index]!;
      const random = new Random(seed);
      const value = validSample(schemas.pharo, paramsType, random);
      const broken: unknown = JSON.parse(
        damaged(value, validSample(schemas.pharo, "ToolCall", random), random),
      );
      const machine = receiver === "agent" ? pharo.agentSide(options) : pharo.clientSide(options);
      const id = kind === "request" ? { id: 9 } : {};
      const { toUs, toPeer } = machine.receive({ jsonrpc: "2.0", ...id, method, params: broken });
      if (kind === "request") assert.equal(toUs.length + toPeer.length, 1);
      else assert.deepEqual(toPeer, []);
    }),
    { numRuns: 3000 },
  );
});

test("damaged answers never throw, and our side gets one answer", () => {
  const options = { lost: () => {}, clock: { now: () => 0, after: () => () => {} } };
  const requests = methods.filter(({ kind }) => kind === "request");
  fc.assert(
    fc.property(fc.nat(requests.length - 1), seeds, (index, seed) => {
      const { method, receiver, resultType = "" } = requests[index]!;
      const asked = v1.find((each) => each.method === method)!;
      const params = sample("v1", asked.paramsType, asked.params, seed);
      if (params === undefined) return;
      const random = new Random(seed);
      const value = validSample(schemas.pharo, resultType, random);
      const broken: unknown = JSON.parse(damaged(value, value, random));
      const machine = receiver === "client" ? pharo.agentSide(options) : pharo.clientSide(options);
      if (receiver === "client") {
        const hello = { protocolVersion: 1, clientCapabilities };
        machine.receive({ jsonrpc: "2.0", id: 0, method: "initialize", params: hello });
      }
      machine.send({ jsonrpc: "2.0", id: 9, method, params });
      const { toUs } = machine.receive({ jsonrpc: "2.0", id: 9, result: broken });
      assert.equal(toUs.filter((message) => message.method === undefined).length, 1);
    }),
    { numRuns: 3000 },
  );
});

test("an error of either side that the other has a number for comes back as it was", () => {
  const codes = fc.constantFrom(
    -32001,
    -32002,
    -32003,
    -32004,
    -32005,
    -32006,
    -32007,
    -32603,
    -32700,
    -32601,
    -1,
  );
  const names = fc.constantFrom(...methods.map(({ method }) => method));
  fc.assert(
    fc.property(
      codes,
      names,
      fc.option(fc.dictionary(fc.string(), fc.string(), { noNullPrototype: true })),
      (code, method, data) => {
        // a bad login is an error of authenticate; a method that is not supported has one number here
        fc.pre((code !== -32002 || method === "authenticate") && code !== -32601);
        fc.pre(data?.["path"] === undefined && data?.["reason"] === undefined);
        const lost = (what: string): void => assert.fail(what);
        const error = { code, message: "m", ...(data === null ? {} : { data }) };
        const back = errorToPharo(errorFromPharo(error, method, lost), method, lost);
        assert.equal(back.code, code);
        if (data !== null) assert.deepEqual({ ...(back.data as object), ...data }, back.data);
      },
    ),
  );
});
