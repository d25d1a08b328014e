// Sixty secrets of which nobody can tell that they are some, each in a place where secrets stand, and then in every
// string of every method of both versions, in all the forms that programs write: none is left in what is shared.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { readTrace } from "@parley/conformance";
import { launcher, TapFolder } from "../../test/support/tap-probe.ts";

const folder = new TapFolder();
after(() => folder.remove());
const posix = { timeout: 300_000, skip: process.platform === "win32" && "the launcher is a shell script" };
const sdk = join(import.meta.dirname, "../../../../node_modules/@agentclientprotocol/sdk/schema");

/** What all others are made of; it is what must not be found. */
const core = (index: number): string => `birch-lake-${String(index).padStart(2, "0")}`;
const dresses = [
  (text: string) => text,
  (text: string) => `two words ${text}`,
  (text: string) => `"${text}"\\n`,
  (text: string) => `${text}/a+b=c&d?e%f`,
  (text: string) => `grün ${text} \u{1f511}`,
  (text: string) => `${text}\nsecond line`,
];
const canaries = Array.from({ length: 60 }, (_, index) => dresses[index % dresses.length]!(core(index)));
/** Those that can stand in an address or after an option without quotes. */
const plain = canaries.map((_, index) => `${core(index)}.x`);

type Json = Record<string, unknown>;
interface Schema {
  readonly $ref?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: boolean | Schema;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly $defs?: Readonly<Record<string, Schema & { readonly "x-method"?: string; "x-side"?: string }>>;
}

const records: object[] = [];
let nextId = 1;
const say = (from: "client" | "agent", message: object): void => {
  const text = JSON.stringify({ jsonrpc: "2.0", ...message });
  records.push({ t: records.length, from, bytes: text.length + 1, text });
};
const request = (from: "client" | "agent", method: string, params: object): number => {
  say(from, { id: nextId, method, params });
  return nextId++;
};

/** Each canary once, where it is a secret because of its place. */
function give(): void {
  const places: ((canary: string, bare: string) => void)[] = [
    (value) => request("client", "session/new", mcp({ env: [{ name: "SETTING", value }] })),
    (value) => request("client", "session/new", mcp({ headers: [{ name: "X-Tenant", value }] })),
    (value) => request("client", "session/new", { env: { SETTING: value } }),
    (value) => request("client", "_acme/x", { headers: { Authorization: value, Accept: "text/plain" } }),
    (value) => request("client", "_acme/x", { deep: [{ Cookie: value }, { "Set-Cookie": value }] }),
    (value) => request("client", "authenticate", { methodId: "key", _meta: { answer: value } }),
    (value) => request("client", "auth/login", { methodId: "key", apiKey: value }),
    (value) => {
      const id = request("agent", "elicitation/create", { message: "Which one?", requestedSchema: {} });
      say("client", { id, result: { action: "accept", content: { which: value } } });
    },
    (value) => request("client", "terminal/create", { command: "x", args: ["--token", value] }),
    (value) => request("client", "terminal/create", { command: "x", args: ["-e", `SETTING=${value}`] }),
    (value) => request("client", "terminal/create", { command: "x", args: ["--header", `X-Y: ${value}`] }),
    (_, bare) => request("client", "_acme/x", { url: `https://ann:${bare}@host/path` }),
    (_, bare) => request("client", "_acme/x", { url: `https://host/path?one=${bare}&two=2` }),
    (_, bare) => request("client", "_acme/x", { title: `run --password ${bare} --fast` }),
    (_, bare) => request("client", "_acme/x", { title: `curl -H "X-Key: ${bare}" host` }),
  ];
  for (const [index, canary] of canaries.entries()) places[index % places.length]!(canary, plain[index]!);
}

const mcp = (server: object): object => ({ cwd: "/w", mcpServers: [{ name: "m", ...server }] });

/** What was given: the secret that stands at that place. */
const given = canaries.map((canary, index) => (index % 15 > 10 ? plain[index]! : canary));

const forms = [
  (secret: string) => secret,
  (secret: string) => `before ${secret} after`,
  (secret: string) => `a=${encodeURIComponent(secret)};`,
  (secret: string) => JSON.stringify({ x: secret }),
  (secret: string) => JSON.stringify({ x: JSON.stringify([secret]) }),
  (secret: string) => Buffer.from(secret).toString("base64"),
  (secret: string) => `Basic ${Buffer.from(`u:${secret}`).toString("base64")}`,
  (secret: string) => Buffer.from(`user:${secret}:more`).toString("base64url"),
];
let turn = 0;
const nextSecret = (): string => {
  turn += 1;
  return forms[turn % forms.length]!(given[turn % given.length]!);
};

/** A value with every field, every string a secret; `round` chooses among alternatives. */
function filled(schema: Schema, all: Schema, round: number, depth = 0): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[round % schema.enum.length];
  if (schema.$ref !== undefined) {
    const definition = all.$defs?.[schema.$ref.slice("#/$defs/".length)] ?? {};
    return depth > 12 ? {} : filled(definition, all, round, depth + 1);
  }
  const branches = schema.anyOf ?? schema.oneOf;
  const parts = [...(schema.allOf ?? []), ...(branches ? [branches[round % branches.length]!] : [])];
  const values = parts.map((part) => filled(part, all, round, depth + 1));
  if (schema.properties !== undefined || schema.type === "object" || values.length > 0) {
    const own = Object.entries(schema.properties ?? {}).map(([name, property]) => [
      name,
      filled(property, all, round, depth + 1),
    ]);
    if (own.length === 0 && values.length > 0 && !values.every(isObject)) return values.at(-1);
    const extra = schema.additionalProperties === false ? {} : { [nextSecret()]: [nextSecret()] };
    return Object.assign({}, extra, Object.fromEntries(own), ...values.filter(isObject));
  }
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (type === "array") return [filled(schema.items ?? {}, all, round, depth + 1)];
  if (type === "integer" || type === "number") return round;
  if (type === "boolean") return true;
  return type === "null" ? null : nextSecret();
}

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function sayEverything(version: "v1" | "v2"): number {
  const all: Schema = JSON.parse(readFileSync(join(sdk, version, "schema.unstable.json"), "utf8"));
  let methods = 0;
  for (const [name, definition] of Object.entries(all.$defs ?? {})) {
    const method = definition["x-method"];
    if (method === undefined) continue;
    methods += 1;
    // the side is the one that handles it
    const [asks, answers] =
      definition["x-side"] === "agent" ? (["client", "agent"] as const) : (["agent", "client"] as const);
    for (let round = 0; round < 24; round += 1) {
      const value = filled(definition, all, round);
      if (name.endsWith("Response")) say(answers, { id: request(asks, method, {}), result: value });
      else if (name.endsWith("Notification")) say(asks, { method, params: value });
      else request(asks, method, value as object);
    }
    say(answers, {
      id: request(asks, method, {}),
      error: { code: -1, message: nextSecret(), data: [nextSecret()] },
    });
  }
  return methods;
}

/** Letter by letter, and in halves, as models and terminals do. */
function sayInPieces(): void {
  for (const [index, secret] of given.entries()) {
    const text = `it is ${secret}!`;
    const size = [1, 3, 8][index % 3]!;
    for (let at = 0; at < text.length; at += size) {
      const content = { type: "text", text: text.slice(at, at + size) };
      const update = { sessionUpdate: "agent_message_chunk", messageId: `m${index}`, content };
      say("agent", { method: "session/update", params: { sessionId: "s", update } });
    }
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += size) {
      const data = bytes.subarray(at, at + size).toString("base64");
      const update = { sessionUpdate: "terminal_output_chunk", terminalId: `t${index}`, data };
      say("agent", { method: "session/update", params: { sessionId: "s", update } });
    }
  }
}

function crash(): void {
  for (const secret of given) {
    const t = records.length;
    records.push({ t, event: "stderr", bytes: 1, text: `Error: cannot use ${secret}` });
    records.push({ t, event: "spawn_failed", message: `spawn ${secret} ENOENT` });
    records.push({ t, from: "agent", bytes: 99, head: `{"jsonrpc":"2.0","id":1,"result":{"x":"${secret}` });
    records.push({ t, from: "agent", bytes: 99, text: `Traceback: ${secret}` });
    records.push({ t, from: "agent", bytes: 99, base64: Buffer.from(`\xff${secret}`).toString("base64") });
    records.push({ t, event: "something new", details: { why: [secret] } });
  }
}

/** Every string below a value, keys too. */
function* stringsIn(value: unknown): Generator<string> {
  if (typeof value === "string") yield value;
  else if (Array.isArray(value)) for (const item of value) yield* stringsIn(item);
  else if (isObject(value)) for (const [key, item] of Object.entries(value)) yield* [key, ...stringsIn(item)];
}

/** Where a secret shows: as it is, or in something that is base64. Upper case is nothing to hide behind either. */
function shows(text: string): boolean {
  if (/birch-lake|birch%2Dlake/i.test(text)) return true;
  for (const [word] of text.matchAll(/[\w+/-]{16,}/g)) {
    for (let shift = 0; shift < 4; shift += 1) {
      if (Buffer.from(word.slice(shift), "base64").includes("birch-lake")) return true;
    }
  }
  return false;
}

test(
  "of sixty secrets in every string of every method none is left in a redacted trace (TH25)",
  posix,
  () => {
    // before they are known to be secrets, and after
    sayInPieces();
    crash();
    give();
    const methods = sayEverything("v1") + sayEverything("v2");
    assert.ok(methods > 100, `only ${methods} definitions have a method`);
    sayInPieces();
    crash();
    const header = {
      parley: "trace",
      version: 1,
      command: ["agent", "--token", given[0]],
      cwd: `/w/${plain[11]}`,
    };
    const trace = folder.file("canaries.trace");
    writeFileSync(trace, [header, ...records].map((record) => `${JSON.stringify(record)}\n`).join(""));
    const shared = folder.file("shared.trace");
    const { status, stderr } = spawnSync(launcher, ["trace", "redact", trace, "--out", shared], {
      encoding: "utf8",
    });
    assert.equal(status, 0, stderr);
    const text = readFileSync(shared, "utf8");
    assert.equal(readTrace(text).records.length, readTrace(readFileSync(trace, "utf8")).records.length);

    const left: string[] = [];
    const streams = new Map<string, string>();
    for (const line of text.trimEnd().split("\n")) {
      const record: Json = JSON.parse(line);
      const strings = [...stringsIn(record)];
      let message: unknown;
      try {
        message = JSON.parse(String(record.text));
      } catch {
        // no message
      }
      strings.push(...stringsIn(message));
      left.push(...strings.filter(shows));
      const update = (message as { params?: { update?: Json } } | undefined)?.params?.update;
      if (update?.sessionUpdate === "agent_message_chunk") {
        const { messageId, content } = update as { messageId?: unknown; content?: { text?: unknown } };
        streams.set(`m ${messageId}`, `${streams.get(`m ${messageId}`) ?? ""}${content?.text}`);
      } else if (update?.sessionUpdate === "terminal_output_chunk" && typeof update.data === "string") {
        const key = `t ${update.terminalId}`;
        streams.set(key, (streams.get(key) ?? "") + Buffer.from(update.data, "base64").toString("utf8"));
      }
    }
    left.push(...[...streams.values()].filter(shows));
    assert.ok(streams.size > 100, `only ${streams.size} messages and terminals were said in pieces`);
    assert.deepEqual(left.slice(0, 5), [], `${left.length} strings show a secret`);
  },
);
