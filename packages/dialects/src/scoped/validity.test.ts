// Whatever the two sides say, what the machines send is valid, and nothing makes them throw. The driver checks every message.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import type { DialectMessage, DialectStep } from "@parley/acp/transport";
import { damaged, validSample } from "../../../acp/test/differential/samples.ts";
import { schemaOf } from "../../../acp/test/differential/schema-contract.ts";
import { Random } from "../../../acp/test/support/random.ts";
import { DialectDriver } from "../../test/support/dialect-driver.ts";
import {
  bindMethod,
  encodeParams,
  encodeResult,
  Failure,
  isObject,
  v1Methods as v1,
} from "../exchange/library.ts";
import { methods } from "../wire/scoped/methods.gen.ts";
import { scopedMachines as scoped } from "./machines.ts";

type Definitions = Parameters<typeof validSample>[0];

const ofV1 = schemaOf("v1", "stable").$defs ?? {};
const file = join(import.meta.dirname, "../../../../scripts/generate/dialects/scoped.json");
const ofScoped = (JSON.parse(readFileSync(file, "utf8")) as { $defs: Definitions }).$defs;

const junk = [0, -1, "x", true, null, [], {}, { type: "diff", path: 5 }, { type: "text", text: "t" }];
const detailNames = [
  "timestamp index final visible status duration title kind mode previousMode reason key source planId id priority",
  "output error attachment media column endLine endColumn requiresPermission createdAt messageCount workingDirectory",
  "authMethods requiredClientCapabilities createDirectories overwrite stopReason hint exitCode",
].flatMap((line) => line.split(" "));

/** Puts details that nobody meant into every `_meta`: any peer may write there. */
function withOddDetails(value: unknown, random: Random): unknown {
  if (Array.isArray(value)) return value.map((each) => withOddDetails(each, random));
  if (!isObject(value)) return value;
  const fields = Object.entries(value).map(([key, inner]) => [key, withOddDetails(inner, random)]);
  const odd = Object.fromEntries(detailNames.map((name) => [name, random.pick(junk)]));
  const keys = {
    "_parley.dev/details": odd,
    "_parley.dev/capabilities": {
      fs: random.pick(junk),
      ui: { diffViewer: random.pick(junk) },
      terminal: odd,
    },
    "_parley.dev/operation": { operation: random.pick(junk), resource: random.pick(junk) },
    "_parley.dev/pid": random.pick(junk),
    "_parley.dev/fileFacts": { totalLines: random.pick(junk), created: random.pick(junk) },
    "_parley.dev/timeoutMs": random.pick(junk),
  };
  return { ...Object.fromEntries(fields), _meta: keys };
}

/** A value of version 1 that may be sent. */
function ours(method: string, kind: "params" | "result", random: Random): object | undefined {
  const row = v1.find((each) => each.method === method);
  const name = kind === "params" ? row?.paramsType : row?.resultType;
  assert.ok(row !== undefined && name !== undefined, method);
  const plain = validSample(ofV1, name, random);
  const check = kind === "params" ? encodeParams : encodeResult;
  if (check(bindMethod(row), structuredClone(plain)) instanceof Failure || !isObject(plain)) return undefined;
  if (!random.chance(0.5)) return plain;
  const odd = withOddDetails(plain, random);
  return check(bindMethod(row), structuredClone(odd)) instanceof Failure ? plain : (odd as object);
}

function driver(role: "agent" | "client"): DialectDriver {
  const made = new DialectDriver(scoped, role, methods, { unstable: true, lenient: true });
  const everything = {
    fs: { read: true, write: true },
    terminal: { create: true },
    ui: { permissionDialogs: true },
  };
  const clientInfo = { name: "C", version: "1" };
  const agentInfo = { name: "A", version: "1" };
  if (role === "agent") {
    const params = { protocolVersion: 1, clientInfo, capabilities: everything };
    made.receive({ id: "i", method: "initialize", params });
    made.send({ id: "i", result: { protocolVersion: 1, agentInfo } });
    return made;
  }
  const able = { fs: { readTextFile: true, writeTextFile: true }, terminal: true };
  made.send({
    id: "i",
    method: "initialize",
    params: { protocolVersion: 1, clientInfo, clientCapabilities: able },
  });
  made.receive({ id: "i", result: { protocolVersion: 1, agentInfo, capabilities: {} } });
  made.send({ id: "n", method: "session/new", params: { cwd: "/w", mcpServers: [] } });
  made.receive({ id: "n", result: { sessionId: "s", createdAt: "now" } });
  made.send({ id: "p", method: "session/prompt", params: { sessionId: "s", prompt: [] } });
  made.receive({ id: "t", method: "terminal/create", params: { command: "ls" } });
  made.send({ id: "t", result: { terminalId: "t", _meta: { "_parley.dev/pushesOutput": true } } });
  return made;
}

const rounds = 150;

/** A valid value of the dialect, by the name of its definition. */
const theirs = (name: string | undefined, random: Random): unknown =>
  validSample(ofScoped, name ?? "", random);

const updates = ["session/update"];
const services = [
  "session/request_permission",
  "fs/read_text_file",
  "fs/write_text_file",
  "terminal/create",
  "terminal/output",
  "terminal/wait_for_exit",
  "terminal/kill",
  "terminal/release",
];
const requests = [
  "initialize",
  "authenticate",
  "session/new",
  "session/load",
  "session/prompt",
  "session/set_mode",
  "session/set_config_option",
];

function resultType(method: string): string | undefined {
  return methods.find((row) => row.method === method)?.resultType;
}

for (const [role, sent] of [
  ["agent", [...updates, ...services]],
  ["client", [...requests, "session/cancel"]],
] as const) {
  for (const method of sent) {
    test(`what our ${role} says by ${method} is valid in the dialect, and so is what it is answered`, () => {
      const random = new Random(method.length * 7919);
      for (let i = 0; i < rounds; i++) {
        const machine = driver(role);
        const params = ours(method, "params", random);
        if (params === undefined) continue;
        const isNotification = v1.find((row) => row.method === method)?.kind === "notification";
        const { toPeer } = machine.send({ method, params, ...(isNotification ? {} : { id: 1 }) });
        if (toPeer.some(({ id }) => id === 1))
          machine.receive({ id: 1, result: theirs(resultType(method), random) });
      }
    });
  }
}

for (const [role, received] of [
  ["agent", [...requests, "terminal/output", "session/cancel"]],
  ["client", [...updates, ...services]],
] as const) {
  for (const method of received) {
    test(`what a peer says by ${method} is valid for our ${role}, and so is its answer`, () => {
      const random = new Random(method.length * 104_729);
      const row = methods.find((each) => each.method === method);
      for (let i = 0; i < rounds; i++) {
        const machine = driver(role);
        const params = theirs(row?.paramsType, random);
        const message = { method, params, ...(row?.kind === "notification" ? {} : { id: 1 }) };
        let step: DialectStep = machine.receive(message);
        // every request that follows is answered, up to the answer of the first
        for (let turns = 0; turns < 20 && step.toUs.some(({ id }) => id !== undefined); turns++) {
          const asked = step.toUs.find(({ id, method: name }) => id !== undefined && name !== undefined);
          if (asked?.method === undefined) break;
          const result = ours(asked.method, "result", random);
          step = machine.send(
            result === undefined ? { id: asked.id, error: wrong } : { id: asked.id, result },
          );
        }
      }
    });
  }
}

const wrong = { code: -32603, message: "internal error" };

test("a damaged message of a peer makes no machine throw, and every request is answered or asked of our side", () => {
  const random = new Random(42);
  for (const role of ["agent", "client"] as const) {
    const received = methods.filter(({ receiver }) => receiver === role || receiver === "both");
    for (const row of received) {
      for (let i = 0; i < rounds; i++) {
        const machine = driver(role);
        const text = damaged(theirs(row.paramsType, random), theirs(row.paramsType, random), random);
        const params: unknown = JSON.parse(text);
        const id = row.kind === "notification" ? {} : { id: 1 };
        const step = machine.receive({ ...id, method: row.method, params });
        if (row.kind === "notification") continue;
        const isAnswer = ({ id, method }: DialectMessage): boolean => id === 1 && method === undefined;
        const answers = step.toPeer.filter(isAnswer).length;
        const asked = step.toUs.filter(({ id }) => id !== undefined).length;
        assert.equal(answers + Math.min(asked, 1), 1, `${row.method}: ${text}`);
      }
    }
  }
});
