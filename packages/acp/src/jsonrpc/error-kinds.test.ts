import assert from "node:assert/strict";
import { test } from "node:test";
import { withBarePeer } from "../../test/support/connection-probe.ts";
import { inEveryVersion, openSession } from "../../test/support/peer-probe.ts";
import { RequestError, type RequestErrorKind } from "../index.ts";

const codes: Readonly<Record<Exclude<RequestErrorKind, "other">, number>> = {
  parse_error: -32700,
  invalid_request: -32600,
  method_not_found: -32601,
  invalid_params: -32602,
  internal_error: -32603,
  cancelled: -32800,
  auth_required: -32000,
  session_not_found: -32002,
  not_found: -32002,
  unsupported_version: -32022,
  permission_denied: -32060,
  outside_workspace: -32061,
  not_text: -32062,
  limit_exceeded: -32063,
  turn_in_progress: -32064,
  rate_limited: -32065,
  conflict: -32066,
  unavailable: -32067,
  timeout: -32068,
};
const kinds = Object.keys(codes) as (keyof typeof codes)[]; // the keys of the table above

/** The error that a request gets for this answer of the peer. */
async function received(error: object): Promise<RequestError> {
  const { connection, peer } = withBarePeer({ request: () => null });
  const answer = connection.request("ask");
  await peer.until(1);
  const { id } = peer.received[0] as { id: number };
  peer.send({ jsonrpc: "2.0", id, error });
  const failure = await answer.then(
    () => assert.fail("it was answered with an error"),
    (reason: unknown) => reason,
  );
  assert.ok(failure instanceof RequestError);
  return failure;
}

test("a kind has its code, and a code from the peer has its kind", async () => {
  for (const kind of kinds) {
    assert.equal(new RequestError(kind, "no").code, codes[kind], kind);
    const { kind: found } = await received({ code: codes[kind], message: "no" });
    assert.equal(found, kind === "session_not_found" ? "not_found" : kind);
  }
});

test("the reason in the data of a received error tells its kind where it fits the code", async () => {
  const missing = await received({ code: -32002, message: "no", data: { reason: "session_not_found" } });
  assert.deepEqual([missing.kind, missing.method], ["session_not_found", "ask"]);
  const lying = await received({ code: -32602, message: "no", data: { reason: "session_not_found" } });
  assert.equal(lying.kind, "invalid_params");
  for (const reason of ["other", "constructor", 7, null]) {
    assert.equal((await received({ code: -32066, message: "no", data: { reason } })).kind, "conflict");
  }
});

test("an error with a code that has no kind is of the kind other, and keeps its code", async () => {
  const error = await received({ code: 4242, message: "no", data: { reason: "timeout" } });
  assert.deepEqual([error.kind, error.code, error.data], ["other", 4242, { reason: "timeout" }]);
});

test("a code that is given replaces the code of the kind, and the cause stays on this side", () => {
  const cause = new Error("below");
  const error = new RequestError("conflict", "no", { code: -1, data: 7, cause });
  assert.deepEqual([error.kind, error.code, error.data, error.cause], ["conflict", -1, 7, cause]);
  assert.equal("cause" in new RequestError("conflict", "no"), false);
  assert.equal("method" in error, false);
});

test("a number or an unknown word instead of a kind throws, and says which kind to use", () => {
  // @ts-expect-error -- the official SDK takes a code
  assert.throws(() => new RequestError(-32602, "no"), /got -32602: use "invalid_params"$/);
  // @ts-expect-error
  assert.throws(() => new RequestError(4242, "no"), /got 4242: use the kind "other" with \{ code: 4242 \}$/);
  // @ts-expect-error
  assert.throws(() => new RequestError("invalid_param", "no"), /did you mean "invalid_params"\?$/);
  // @ts-expect-error
  assert.throws(() => new RequestError(undefined, "no"), /got nothing$/);
});

test('the kind "other" without a code throws, and so does a code that is no integer', () => {
  assert.throws(() => new RequestError("other", "no"), /got nothing: the kind "other" needs one$/);
  assert.throws(
    () => new RequestError("conflict", "no", { code: 1.5 }),
    /expected an integer as code, got 1.5$/,
  );
});

test("the common errors have a reason for programs", () => {
  const method = { type: "agent", methodId: "key", name: "Key" } as const;
  const of = ({ kind, code, data }: RequestError) => [kind, code, data];
  assert.deepEqual(of(RequestError.authRequired()), ["auth_required", -32000, { reason: "auth_required" }]);
  assert.deepEqual(RequestError.authRequired([method]).data, {
    reason: "auth_required",
    authMethods: [method],
  });
  assert.deepEqual(of(RequestError.sessionNotFound("s1")), [
    "session_not_found",
    -32002,
    { reason: "session_not_found", sessionId: "s1" },
  ]);
  assert.deepEqual(of(RequestError.invalidParams("no", "/cwd")), [
    "invalid_params",
    -32602,
    { reason: "invalid_params", path: "/cwd" },
  ]);
  assert.deepEqual(RequestError.invalidParams("no").data, { reason: "invalid_params" });
  assert.deepEqual(of(RequestError.methodNotFound("x".repeat(300))), [
    "method_not_found",
    -32601,
    { reason: "method_not_found", method: `${"x".repeat(200)}…` },
  ]);
  assert.deepEqual(of(RequestError.permissionDenied()), [
    "permission_denied",
    -32060,
    { reason: "permission_denied" },
  ]);
  assert.equal(RequestError.permissionDenied("not today").message, "not today");
});

inEveryVersion("the error of a prompt's result has a kind, whichever way the turn failed", async (pair) => {
  const data = { reason: "session_not_found" };
  const failures: (() => never | object)[] = [
    () => {
      throw new RequestError("session_not_found", "gone", { data });
    },
    () => {
      throw new Error("a bug");
    },
    () => ({ stopReason: "error", error: { kind: "timeout", code: -32068, message: "slow" } }),
    // of a JavaScript agent
    () => ({ stopReason: "error", error: { code: -32065, message: "wait" } }),
  ];
  const { session, wire } = await openSession(pair, {
    prompt: () => failures.shift()?.() as undefined, // whatever it is
  });
  for (const kind of ["session_not_found", "internal_error", "timeout", "rate_limited"]) {
    assert.equal((await session.prompt("x").result).error?.kind, kind);
  }
  assert.doesNotMatch(JSON.stringify(wire), /"kind":"(?:timeout|rate_limited)"/, "the wire has codes only");
});
