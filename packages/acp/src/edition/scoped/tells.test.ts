import assert from "node:assert/strict";
import test from "node:test";
import { DialectDriver, only } from "../../../test/support/dialect-driver.ts";
import { methods } from "../../wire/scoped/methods.gen.ts";
import { scoped } from "./dialect.ts";
import { errorFromScoped, errorToScoped } from "./errors.ts";
import { isScopedInitialize, isScopedIntroduction, isScopedUpdate } from "./tells.ts";

test("initialize of the dialect is recognised, and those of the others are not (8.1)", () => {
  const params = { protocolVersion: 1, clientInfo: {}, capabilities: { fs: { read: true } } };
  assert.equal(isScopedInitialize(params), true);
  assert.equal(isScopedInitialize({ ...params, capabilities: {} }), true);
  assert.equal(isScopedInitialize({ ...params, protocolVersion: 2 }), false);
  assert.equal(isScopedInitialize({ ...params, info: {} }), false);
  assert.equal(isScopedInitialize({ ...params, clientCapabilities: {} }), false, "both: version 1");
  assert.equal(isScopedInitialize({ protocolVersion: 1, clientCapabilities: {} }), false);
  assert.equal(isScopedInitialize(undefined), false);
  assert.equal(isScopedInitialize({ capabilities: [] }), false);
});

test("an introduction of the dialect is recognised, and those of the others are not (8.1)", () => {
  assert.equal(isScopedIntroduction({ protocolVersion: 1, agentInfo: {}, capabilities: {} }), true);
  assert.equal(isScopedIntroduction({ protocolVersion: 1, requiredClientCapabilities: {} }), true);
  assert.equal(isScopedIntroduction({ protocolVersion: 1, agentCapabilities: {} }), false);
  assert.equal(isScopedIntroduction({ protocolVersion: 2, info: {}, capabilities: {} }), false);
  assert.equal(isScopedIntroduction({ protocolVersion: 1 }), false);
  assert.equal(isScopedIntroduction(null), false);
});

test("an update of the dialect is recognised by type and data", () => {
  assert.equal(isScopedUpdate({ sessionId: "s", type: "plan", data: { steps: [] } }), true);
  assert.equal(isScopedUpdate({ sessionId: "s", update: { sessionUpdate: "plan", entries: [] } }), false);
  assert.equal(isScopedUpdate({ sessionId: "s", update: { type: "message" } }), false);
  assert.equal(isScopedUpdate(5), false);
});

test("the error table of section 15, both ways", () => {
  const table: [scoped: number, v1: number, reason: string][] = [
    [-32000, -32002, "session_not_found"],
    [-32001, -32000, "auth_required"],
    [-32002, -32060, "permission_denied"],
    [-32003, -32800, "cancelled"],
    [-32004, -32002, "not_found"],
    [-32005, -32061, "outside_workspace"],
    [-32006, -32066, "conflict"],
    [-32007, -32601, "method_not_found"],
    [-32008, -32065, "rate_limited"],
    [-32009, -32068, "timeout"],
  ];
  for (const [code, v1, reason] of table) {
    const error = { code, message: "m", data: { hint: 1 } };
    const decoded = errorFromScoped(error);
    assert.deepEqual(decoded, { code: v1, message: "m", data: { hint: 1, reason } });
    assert.deepEqual(errorToScoped(decoded, "session/prompt"), error);
  }
  for (const code of [-32700, -32600, -32601, -32602, -32603, 7]) {
    const error = { code, message: "m" };
    assert.deepEqual(errorFromScoped(error), error);
    assert.deepEqual(errorToScoped(error, "_custom/x"), error);
  }
});

test("an error of our agent has the dialect's number, with its data", () => {
  const driver = new DialectDriver(scoped, "agent", methods);
  driver.peer({ id: 1, method: "session/prompt", params: { sessionId: "x", content: [] } });
  const data = { reason: "session_not_found", sessionId: "x" };
  const { toPeer } = driver.us({ id: 1, error: { code: -32002, message: "there is no session", data } });
  assert.deepEqual(only(toPeer).error, {
    code: -32000,
    message: "there is no session",
    data: { sessionId: "x" },
  });
});
