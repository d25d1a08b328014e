import assert from "node:assert/strict";
import test from "node:test";
import { errorFromPharo, errorToPharo } from "./errors.ts";

const unheard = (what: string): void => assert.fail(`lost: ${what}`);

/** Code and reason in version 1, code in the dialect, and the method where it counts. */
const pairs: readonly (readonly [number, string | undefined, number, string?])[] = [
  [-32000, undefined, -32001],
  [-32602, undefined, -32002, "authenticate"],
  [-32602, undefined, -32602, "session/new"],
  [-32002, undefined, -32003],
  [-32002, "session_not_found", -32005],
  [-32060, undefined, -32004],
  [-32061, "outside_workspace", -32004],
  [-32064, "turn_in_progress", -32006],
  [-32600, "invalid_session_state", -32006],
  [-32066, "conflict", -32006],
  [-32066, "conflict", -32066, "fs/write_text_file"],
  [-32601, undefined, -32007],
  [-32601, undefined, -32601, "_acme/own"],
  [-32800, "cancelled", -32603],
  [-32603, undefined, -32603],
  [-32700, undefined, -32700],
  [-32065, undefined, -32065],
  [-32068, undefined, -32068],
  [7, undefined, 7],
];

test("error numbers are translated by their kind, both ways, and data is kept", () => {
  for (const [code, reason, own, method = "session/prompt"] of pairs) {
    const data = reason === undefined ? { more: 1 } : { reason, more: 1 };
    const sent = errorToPharo({ code, message: "m", data }, method, unheard);
    assert.equal(sent.code, own, `${code} ${reason}`);
    assert.equal((sent.data as { more: number }).more, 1);
    assert.equal(errorFromPharo(sent, method, unheard).code, code, `${own} back to ${code}`);
  }
});

test("a login by a method that the agent does not have has the dialect's number, whoever says where it is", () => {
  const to = (path: string) =>
    errorToPharo({ code: -32602, message: "m", data: { path } }, "authenticate", unheard).code;
  assert.deepEqual([to("/methodId"), to("/credentials")], [-32002, -32602]);
});

test("a reason in words stays as it is", () => {
  const error = { code: -32001, message: "Authentication failed", data: { reason: "Invalid API key" } };
  const read = errorFromPharo(error, "authenticate", unheard);
  assert.deepEqual(read, { ...error, code: -32000 });
  assert.deepEqual(errorToPharo(read, "authenticate", unheard), error);
});

test("a session that is not found has its reason in version 1", () => {
  const read = errorFromPharo({ code: -32005, message: "no session" }, "session/load", unheard);
  assert.deepEqual(read, { code: -32002, message: "no session", data: { reason: "session_not_found" } });
});

test("a number that means something else to the other side becomes an internal error, and is told", () => {
  const lost: string[] = [];
  const tell = (what: string): void => void lost.push(what);
  // free in version 1, taken in the dialect; and the other way round
  assert.equal(errorToPharo({ code: -32003, message: "m" }, "session/new", tell).code, -32603);
  assert.equal(errorFromPharo({ code: -32000, message: "m" }, "session/new", tell).code, -32603);
  assert.equal(errorFromPharo({ code: -32022, message: "m" }, "initialize", tell).code, -32603);
  assert.equal(lost.length, 3);
});
