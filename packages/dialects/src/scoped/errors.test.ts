import assert from "node:assert/strict";
import test from "node:test";
import { DialectDriver, only } from "../../test/support/dialect-driver.ts";
import { errorFromPharo, errorToPharo } from "../pharo/errors.ts";
import { methods } from "../wire/scoped/methods.gen.ts";
import { errorFromScoped, errorToScoped } from "./errors.ts";
import { scopedMachines as scoped } from "./machines.ts";

const unheard = (what: string): void => assert.fail(`lost: ${what}`);

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
    assert.deepEqual(errorToScoped(decoded, "session/prompt", unheard), error);
  }
  for (const code of [-32700, -32600, -32601, -32602, -32603, 7]) {
    const error = { code, message: "m" };
    assert.deepEqual(errorFromScoped(error), error);
    assert.deepEqual(errorToScoped(error, "_custom/x", unheard), error);
  }
});

test("a number that is free in version 1 and means something here becomes an internal error, and is told", () => {
  const lost: string[] = [];
  const error = { code: -32005, message: "m", data: { more: 1 } };
  const told = errorToScoped(error, "session/prompt", (what) => void lost.push(what));
  assert.deepEqual(told, { ...error, code: -32603 });
  assert.deepEqual(lost, ["the error number -32005, which means something else to the peer"]);
});

test("the errors of both dialects keep their meaning between them", () => {
  const pairs: readonly (readonly [pharo: number, scoped: number])[] = [
    [-32001, -32001],
    [-32003, -32004],
    [-32004, -32002],
    [-32005, -32000],
    [-32006, -32006],
    [-32007, -32007],
  ];
  for (const [theirs, ours] of pairs) {
    const read = errorFromPharo({ code: theirs, message: "m" }, "session/prompt", unheard);
    assert.equal(errorToScoped(read, "session/prompt", unheard).code, ours);
    const back = errorFromScoped({ code: ours, message: "m" });
    assert.equal(errorToPharo(back, "session/prompt", unheard).code, theirs);
  }
});

test("an error of our agent has the dialect's number, with its data", () => {
  const driver = new DialectDriver(scoped, "agent", methods, { unstable: true });
  driver.receive({ id: 1, method: "session/prompt", params: { sessionId: "x", content: [] } });
  const data = { reason: "session_not_found", sessionId: "x" };
  const { toPeer } = driver.send({ id: 1, error: { code: -32002, message: "there is no session", data } });
  assert.deepEqual(only(toPeer).error, {
    code: -32000,
    message: "there is no session",
    data: { sessionId: "x" },
  });
});

test("a file that must not be replaced is a conflict at both ends, and no session in a wrong state between them", () => {
  const ours = { code: -32066, message: "m", data: { reason: "conflict", path: "/a" } };
  const theirs = errorToScoped(ours, "fs/write_text_file", unheard);
  assert.deepEqual(theirs, { ...ours, code: -32005 });
  assert.deepEqual(errorFromScoped(theirs), ours);
});
