import assert from "node:assert/strict";
import test from "node:test";
import type { UnstableFeatures } from "../validation/unstable-features.ts";
import {
  type BoundMethod,
  bindMethod,
  decodeParams,
  decodeResult,
  describeFailure,
  encodeParams,
  encodeResult,
  Failure,
  maxArrayItems,
} from "./decode.ts";
import { stableUpdateTags, unstableUpdateTags, methods as v1 } from "./v1/methods.gen.ts";
import { methods as v2 } from "./v2/methods.gen.ts";
import type { ContentBlock } from "./v2/types.gen.ts";

const versions = { v1, v2 };

function bound(version: "v1" | "v2", method: string, unstable?: UnstableFeatures): BoundMethod {
  const row = versions[version].find((each) => each.method === method);
  assert.ok(row, `${version} has no ${method}`);
  return bindMethod(row, unstable);
}

/** The message of a refusal, or the value. */
function answer(method: BoundMethod, where: "params" | "result", value: unknown): unknown {
  return value instanceof Failure ? describeFailure(method.row.method, where, value) : value;
}

function receive(version: "v1" | "v2", method: string, value: unknown, unstable?: UnstableFeatures): unknown {
  const row = bound(version, method, unstable);
  return answer(row, "params", decodeParams(row, value));
}

function send(version: "v1" | "v2", method: string, value: unknown, unstable?: UnstableFeatures): unknown {
  const row = bound(version, method, unstable);
  return answer(row, "params", encodeParams(row, value));
}

const update = (fields: object): object => ({ sessionId: "s", update: fields });
const toolCall = (fields: object): object =>
  update({ sessionUpdate: "tool_call_update", toolCallId: "t", ...fields });

test("an error has the exact path, what was expected and what was given", () => {
  const server = { name: "a", command: "/a", args: [], env: "x" };
  assert.equal(
    receive("v1", "session/new", { cwd: "/w", mcpServers: [server] }),
    "session/new: params/mcpServers/0/env must be array, got string",
  );
  assert.equal(
    receive("v1", "session/new", { mcpServers: [] }),
    "session/new: params/cwd must be string, got nothing",
  );
  assert.equal(receive("v1", "session/new", []), "session/new: params must be object, got array");
  assert.equal(
    receive("v1", "initialize", { protocolVersion: 65_536 }),
    "initialize: params/protocolVersion must be integer from 0 to 65535, got 65536",
  );
});

test("an error inside a union is about the variant that its tag names (X10)", () => {
  const chunk = { sessionUpdate: "agent_message_chunk", content: { type: "text", text: 5 } };
  for (const version of ["v1", "v2"] as const) {
    const extra = version === "v2" ? { messageId: "m" } : {};
    assert.equal(
      receive(version, "session/update", update({ ...chunk, ...extra })),
      "session/update: params/update/content/text must be string, got number",
    );
  }
});

test("an untagged union reports the variant that was meant", () => {
  const block = (resource: object): object => ({ sessionId: "s", prompt: [{ type: "resource", resource }] });
  const at = "session/prompt: params/prompt/0/resource";
  assert.equal(
    receive("v1", "session/prompt", block({ uri: "u", blob: 5 })),
    `${at}/blob must be string, got number`,
  );
  assert.equal(
    receive("v1", "session/prompt", block({ uri: "u" })),
    `${at} must be object with text or blob, got object`,
  );
  assert.equal(
    receive("v1", "session/new", {
      cwd: "/w",
      mcpServers: [{ type: "http", name: "a", url: 5, headers: [] }],
    }),
    "session/new: params/mcpServers/0/url must be string, got number",
  );
  assert.equal(
    receive("v1", "session/new", { cwd: "/w", mcpServers: [{ type: "carrier-pigeon", name: "a" }] }),
    'session/new: params/mcpServers/0/type must be "http", "sse" or nothing, got "carrier-pigeon"',
  );
});

test("an error never carries more than forty characters of what came, and no lone surrogate", () => {
  const refused = String(
    receive("v1", "session/prompt", { sessionId: "s", prompt: [{ type: `\ud800${"x".repeat(1e6)}` }] }),
  );
  assert.match(refused, /got "\ufffdx{39}…"$/);
});

test("a key with a slash or a tilde is escaped in the path", () => {
  const method = { id: "a", name: "A", type: "terminal", env: { "a/b~c": 5 } };
  const row = bound("v1", "initialize");
  const value = { protocolVersion: 1, authMethods: [method] };
  assert.equal(
    answer(row, "result", encodeResult(row, value)),
    "initialize: result/authMethods/0/env/a~1b~0c must be string, got number",
  );
});

test("a v1 agent refuses a prompt block that it does not know (N123)", () => {
  assert.equal(
    receive("v1", "session/prompt", { sessionId: "s", prompt: [{ type: "hologram" }] }),
    'session/prompt: params/prompt/0/type must be "text", "image", "audio", "resource_link" or "resource", got "hologram"',
  );
});

test("a client keeps unknown updates, content, kinds and stop reasons as they came (N122, N124, N125)", () => {
  const strange = update({ sessionUpdate: "telepathy", anything: [1, { a: null }] });
  const content = [{ type: "hologram", data: 1 }];
  for (const version of ["v1", "v2"] as const) {
    assert.deepEqual(receive(version, "session/update", structuredClone(strange)), strange);
    const inside = toolCall({ kind: "juggle", status: "asleep", content });
    assert.deepEqual(receive(version, "session/update", structuredClone(inside)), inside);
  }
  assert.deepEqual(decodeResult(bound("v1", "session/prompt"), { stopReason: "bored" }), {
    stopReason: "bored",
  });
});

test("a malformed optional field goes away, and invalid items are skipped (N127)", () => {
  const good = { type: "terminal", terminalId: "1" };
  const items = [5, good, { type: "content" }, { type: "terminal" }, good];
  assert.deepEqual(
    receive("v1", "session/update", toolCall({ title: 5, locations: "x", _meta: [], content: items })),
    toolCall({ content: [good, good] }),
  );
});

test("malformed capabilities are off (N127)", () => {
  const value = {
    protocolVersion: 1,
    clientCapabilities: { fs: 5, terminal: "yes", elicitation: { form: 1 } },
  };
  const off = { readTextFile: false, writeTextFile: false };
  assert.deepEqual(receive("v1", "initialize", value), {
    protocolVersion: 1,
    clientCapabilities: { fs: off, terminal: false, elicitation: {} },
  });
  assert.deepEqual(receive("v1", "initialize", { protocolVersion: 1, clientCapabilities: 5 }), {
    protocolVersion: 1,
    clientCapabilities: { fs: off, terminal: false, auth: { terminal: false } },
  });
});

test("null stands for an empty list where the schema says so, and a missing list is still missing", () => {
  assert.deepEqual(receive("v1", "session/new", { cwd: "/w", mcpServers: null }), {
    cwd: "/w",
    mcpServers: [],
  });
  assert.equal(
    receive("v1", "session/new", { cwd: "/w" }),
    "session/new: params/mcpServers must be array, got nothing",
  );
});

test("nothing is salvaged in what we send", () => {
  const at = "session/update: params/update";
  assert.equal(
    send("v1", "session/update", toolCall({ title: 5 })),
    `${at}/title must be string, got number`,
  );
  assert.equal(
    send("v1", "session/update", toolCall({ content: [5] })),
    `${at}/content/0 must be object, got number`,
  );
  assert.equal(
    send("v1", "session/new", { cwd: "/w", mcpServers: null }),
    "session/new: params/mcpServers must be array, got null",
  );
  assert.equal(
    send("v1", "session/update", toolCall({ kind: "juggle" })),
    `${at}/kind must be "read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode" or "other", got "juggle"`,
  );
});

test("custom root fields cannot be sent, custom data in _meta can (X2)", () => {
  assert.equal(
    send("v1", "session/update", toolCall({ mood: "good" })),
    "session/update: params/update/mood must be absent: custom data goes into _meta, got string",
  );
  const decorated = toolCall({ _meta: { mood: "good" } });
  assert.equal(send("v1", "session/update", decorated), decorated);
  const received = toolCall({ mood: "good" });
  assert.equal(receive("v1", "session/update", received), received);
});

test("a field that holds undefined does not count as sent", () => {
  const value = toolCall({ title: undefined, mood: undefined });
  assert.equal(send("v1", "session/update", value), value);
});

test("paths to act upon are absolute, whoever sent them (X11, N137-N140)", () => {
  const refused = ["a/b", "", "~/x", "file:///w/x", "\\w", "C:w", "1:\\w"];
  for (const cwd of refused) {
    const expected = `session/new: params/cwd must be an absolute path, got ${JSON.stringify(cwd)}`;
    assert.equal(receive("v1", "session/new", { cwd, mcpServers: [] }), expected);
    assert.equal(receive("v2", "session/new", { cwd }), expected);
    assert.equal(send("v2", "session/new", { cwd }), expected);
  }
  for (const cwd of ["/", "/w/x", "C:\\w", "c:/w", "\\\\host\\share"]) {
    assert.deepEqual(receive("v2", "session/new", { cwd }), { cwd });
  }
  assert.equal(
    receive("v1", "session/list", { cwd: "w" }),
    'session/list: params/cwd must be an absolute path, got "w"',
  );
  assert.equal(
    receive("v1", "fs/read_text_file", { sessionId: "s", path: "x.ts" }),
    'fs/read_text_file: params/path must be an absolute path, got "x.ts"',
  );
  assert.equal(
    receive("v1", "session/new", { cwd: "/w", mcpServers: [], additionalDirectories: ["/a", "b"] }),
    'session/new: params/additionalDirectories/1 must be an absolute path, got "b"',
  );
});

test("a relative path in what an agent shows does not lose the update, but we never send one (X11)", () => {
  const located = toolCall({ locations: [{ path: "src/x.ts", line: 0 }] });
  assert.deepEqual(receive("v1", "session/update", structuredClone(located)), located);
  assert.equal(
    send("v1", "session/update", located),
    'session/update: params/update/locations/0/path must be an absolute path, got "src/x.ts"',
  );
  const diff = toolCall({ content: [{ type: "diff", path: "x.ts", newText: "" }] });
  assert.equal(
    send("v1", "session/update", diff),
    'session/update: params/update/content/0/path must be an absolute path, got "x.ts"',
  );
});

test("addresses and times that other implementations would refuse cannot be sent, but are taken from others", () => {
  const link = (uri: string): object => ({
    sessionId: "s",
    prompt: [{ type: "resource_link", name: "a", uri }],
  });
  assert.equal(
    send("v2", "session/prompt", link("src/a.ts")),
    'session/prompt: params/prompt/0/uri must be a URI with a scheme, got "src/a.ts"',
  );
  assert.deepEqual(send("v2", "session/prompt", link("file:///src/a.ts")), link("file:///src/a.ts"));
  assert.deepEqual(receive("v2", "session/prompt", link("src/a.ts")), link("src/a.ts"));

  const info = (updatedAt: string): object => update({ sessionUpdate: "session_info_update", updatedAt });
  assert.equal(
    send("v2", "session/update", info("2026-01-01")),
    'session/update: params/update/updatedAt must be an RFC 3339 date and time, got "2026-01-01"',
  );
  assert.deepEqual(send("v2", "session/update", info("2026-01-01T10:00:00Z")), info("2026-01-01T10:00:00Z"));
  assert.deepEqual(receive("v2", "session/update", info("2026-01-01")), info("2026-01-01"));
});

test("an MCP server may be named by a command that the agent finds on its own PATH", () => {
  const params = { cwd: "/w", mcpServers: [{ name: "a", command: "npx", args: ["a"], env: [] }] };
  assert.deepEqual(send("v1", "session/new", params), params);
});

test("lines are 1-based in what we send, and line 0 is taken from others (X11)", () => {
  const read = { sessionId: "s", path: "/x", line: 0 };
  assert.equal(receive("v1", "fs/read_text_file", read), read);
  assert.equal(
    send("v1", "fs/read_text_file", read),
    "fs/read_text_file: params/line must be 1-based line, got 0",
  );
});

test("NUL and lone surrogates do not reach the operating system (N015, N017)", () => {
  const expected = "must be string without NUL and lone surrogates, got string";
  const run = { sessionId: "s", command: "ls" };
  for (const bad of ["a\0b", "\ud800"]) {
    assert.equal(
      receive("v1", "session/new", { cwd: `/${bad}`, mcpServers: [] }),
      `session/new: params/cwd ${expected}`,
    );
    assert.equal(
      receive("v1", "terminal/create", { ...run, command: bad }),
      `terminal/create: params/command ${expected}`,
    );
    assert.equal(
      receive("v1", "terminal/create", { ...run, args: [bad] }),
      `terminal/create: params/args/0 ${expected}`,
    );
    const env = [{ name: "A", value: bad }];
    assert.equal(
      receive("v1", "terminal/create", { ...run, env }),
      `terminal/create: params/env/0/value ${expected}`,
    );
    const text = { sessionId: "s", prompt: [{ type: "text", text: bad }] };
    assert.equal(receive("v1", "session/prompt", text), text);
  }
});

test("a list of more than 100,000 items is refused as a limit, also where invalid items are skipped", () => {
  const entries = Array.from({ length: maxArrayItems + 1 }, () => ({}));
  const method = bound("v1", "session/update");
  const failure = decodeParams(method, update({ sessionUpdate: "plan", entries }));
  assert.ok(failure instanceof Failure);
  assert.equal(failure.limit, true);
  assert.equal(
    describeFailure("session/update", "params", failure),
    "session/update: params/update/entries must be at most 100000 items, got 100001 items",
  );
  const full = decodeParams(method, update({ sessionUpdate: "plan", entries: entries.slice(1) }));
  assert.deepEqual(full, update({ sessionUpdate: "plan", entries: [] }));
});

test("__proto__ and constructor are keys like any other (N075, N076)", () => {
  const text =
    '{"sessionId":"s","__proto__":{"polluted":1},"_meta":{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}}';
  const decoded = decodeParams(bound("v1", "session/cancel"), JSON.parse(text));
  assert.equal(JSON.stringify(decoded), text);
  assert.equal(({} as { polluted?: number }).polluted, undefined);
  assert.equal(
    send("v1", "session/cancel", JSON.parse(text)),
    "session/cancel: params/__proto__ must be absent: custom data goes into _meta, got object",
  );
});

test("params may be absent or null where every field is optional, and nowhere else (J9, N074)", () => {
  for (const nothing of [undefined, null]) {
    assert.deepEqual(receive("v1", "session/list", nothing), {});
    assert.deepEqual(receive("v1", "logout", nothing), {});
    assert.match(
      String(receive("v1", "session/prompt", nothing)),
      /^session\/prompt: params must be object, got/,
    );
  }
  assert.deepEqual(send("v1", "session/list", undefined), {});
});

test("a null result is an empty one where every field is optional, and we send {} (J10)", () => {
  const write = bound("v1", "fs/write_text_file");
  assert.deepEqual(decodeResult(write, null), {});
  assert.deepEqual(encodeResult(write, undefined), {});
  assert.deepEqual(encodeResult(write, null), {});
  const permission = bound("v1", "session/request_permission");
  assert.equal(
    answer(permission, "result", decodeResult(permission, null)),
    "session/request_permission: result must be object, got null",
  );
});

test("an unstable method exists only for an app that enables its feature", () => {
  assert.equal(bound("v1", "session/fork").enabled, false);
  assert.equal(bound("v1", "session/fork", ["system_prompt"]).enabled, false);
  assert.equal(bound("v1", "session/fork", ["fork"]).enabled, true);
  assert.equal(bound("v1", "session/fork", "*").enabled, true);
});

test("an unstable field is kept unread and cannot be sent, unless its feature is enabled", () => {
  const value = { cwd: "/w", mcpServers: [], systemPrompt: 5 };
  assert.equal(receive("v1", "session/new", value), value);
  assert.equal(
    send("v1", "session/new", value),
    'session/new: params/systemPrompt must be absent: it is unstable and not enabled; enable it with unstable: ["system_prompt"], got number',
  );
  assert.equal(receive("v1", "session/new", value, ["fork", "usage"]), value);
  assert.equal(
    receive("v1", "session/new", value, ["system_prompt"]),
    "session/new: params/systemPrompt must be object, got number",
  );
});

test("an unstable update is unknown, and kept, unless its feature is enabled", () => {
  const removed = update({ sessionUpdate: "plan_removed", planId: 5 });
  assert.equal(receive("v1", "session/update", removed), removed);
  assert.equal(
    receive("v1", "session/update", removed, ["plans"]),
    "session/update: params/update/planId must be string, got number",
  );
  for (const other of [["usage"], ["subagents", "fork"]] as const) {
    assert.equal(receive("v1", "session/update", removed, other), removed);
    assert.match(
      String(send("v1", "session/update", removed, other)),
      /update\/sessionUpdate must be a stable kind, or enabled by unstable: \["plans"\], got "plan_removed"$/,
    );
  }
  assert.ok(unstableUpdateTags.has("plan_removed") && !stableUpdateTags.has("plan_removed"));
  assert.ok(stableUpdateTags.has("agent_message_chunk"));
});

test("initialize carries the capabilities of the features that are enabled, and no others", () => {
  const result = { protocolVersion: 1, agentCapabilities: { sessionCapabilities: { fork: {} } } };
  const off = bound("v1", "initialize");
  assert.equal(
    answer(off, "result", encodeResult(off, result)),
    'initialize: result/agentCapabilities/sessionCapabilities/fork must be absent: it is unstable and not enabled; enable it with unstable: ["fork"], got object',
  );
  assert.equal(encodeResult(bound("v1", "initialize", ["fork"]), result), result);
  const other = bound("v1", "initialize", ["usage"]);
  assert.match(String(answer(other, "result", encodeResult(other, result))), /unstable: \["fork"\]/);
});

test("a null that means nothing is removed for the model, and kept where it clears a value or for a raw peer", () => {
  const tool = (more: object = {}): object =>
    toolCall({
      title: null,
      content: [{ type: "content", content: { type: "text", text: "x", annotations: null, _meta: null } }],
      locations: [{ path: "/a", line: null }],
      ...more,
    });
  const decoded = (version: "v1" | "v2", nulls?: "removed") => {
    const row = versions[version].find(({ method }) => method === "session/update");
    assert.ok(row);
    return decodeParams(bindMethod(row, [], nulls === undefined ? {} : { nulls }), tool({ status: null }));
  };
  assert.deepEqual(decoded("v2"), tool({ status: null }));
  const content = [{ type: "content", content: { type: "text", text: "x" } }];
  const locations = [{ path: "/a" }];
  assert.deepEqual(decoded("v2", "removed"), toolCall({ title: null, status: null, content, locations }));
  // in version 1 null means: no change
  assert.deepEqual(decoded("v1", "removed"), toolCall({ content, locations }));
});

test("known tags of an open union narrow to their variant, and what is left is the unknown one", () => {
  const textOf = (block: ContentBlock): string => {
    switch (block.type) {
      case "text":
        return block.text;
      case "resource_link":
        return block.uri;
      case "image":
      case "audio":
        return block.mimeType;
      case "resource":
        return block.resource.uri;
      default:
        return `${block.type}: ${Object.keys(block).join(", ")}`;
    }
  };
  assert.equal(textOf({ type: "text", text: "hello" }), "hello");
});
