// Who is let in, with a clock of the test.

import assert from "node:assert/strict";
import { test } from "node:test";
import { FailedLogins } from "./failed-logins.ts";
import { Guard } from "./guard.ts";

const token = "a-token-of-a-test-with-32-characters";
const host = "127.0.0.1:80";

function guarded() {
  let now = 0;
  const guard = new Guard({
    path: "/acp",
    token,
    isOwnHost: (given) => given === host,
    origins: new Set(),
    now: () => now,
  });
  const status = (headers: Record<string, string>, isUpgrade = true, address = "192.0.2.1") => {
    const request = new Request("http://localhost/acp", { headers });
    const admission = guard.admit({ request, host, address, isUpgrade });
    return admission instanceof Response ? admission.status : 200;
  };
  const ticket = async () => {
    const response = guard.ticket(new Request("http://localhost/acp/ticket", { method: "POST" }));
    return { status: response.status, protocol: String((await response.json()).protocol) };
  };
  const wait = (ms: number) => {
    now += ms;
  };
  return { status, ticket, wait };
}

test("a ticket is good for 30 seconds, for one WebSocket and for nothing else (N265, TH28)", async () => {
  const { status, ticket, wait } = guarded();
  const { protocol: early } = await ticket();
  wait(29_999);
  const { protocol: late } = await ticket();
  const offer = (protocol: string) => ({ "sec-websocket-protocol": `acp, ${protocol}` });
  assert.equal(status(offer(early), false), 401, "no WebSocket");
  assert.equal(status(offer(early)), 200);
  assert.equal(status(offer(early)), 401, "used");
  wait(30_000);
  assert.equal(status(offer(late)), 401, "too old");
});

test("no more than 1,000 tickets wait, and they make room with time", async () => {
  const { ticket, wait } = guarded();
  for (let n = 0; n < 1_000; n++) assert.equal((await ticket()).status, 200);
  assert.equal((await ticket()).status, 503);
  wait(30_000);
  assert.equal((await ticket()).status, 200);
});

test("failed logins of an address are forgotten after 15 minutes, and the token works meanwhile (TH28)", () => {
  const { status, wait } = guarded();
  const guess = { authorization: "Bearer a-guess" };
  const tries = (count: number) => Array.from({ length: count }, () => status(guess));
  assert.deepEqual(tries(11), [...Array.from({ length: 10 }, () => 401), 429]);
  assert.equal(status(guess, true, "192.0.2.2"), 401, "another address");
  assert.equal(status({ authorization: `Bearer ${token}` }), 200);
  assert.equal(status({ authorization: `bearer ${token}` }), 200, "the scheme in any letters");
  assert.equal(status({ authorization: `Bearer ${token.toUpperCase()}` }), 429);
  wait(15 * 60_000);
  assert.equal(status(guess), 401);
});

test("a request without any token is no failed login, however often it comes", () => {
  const { status } = guarded();
  assert.deepEqual(new Set(Array.from({ length: 30 }, () => status({}))), new Set([401]));
  assert.equal(status({ authorization: "Basic dXNlcjpwYXNz" }), 401);
  const ticket = { "sec-websocket-protocol": "parley.ticket.guessed" };
  assert.equal(Array.from({ length: 10 }, () => status(ticket)).at(-1), 429, "other guesses count");
});

test("addresses of version 6 count by network, those of version 4 in them as such, and memory is bounded (TH28)", () => {
  const logins = new FailedLogins(() => 0);
  const last = (addresses: readonly string[]) => addresses.map((address) => logins.add(address)).at(-1);
  const many = (address: (n: number) => string) => Array.from({ length: 11 }, (_, n) => address(n));
  assert.notEqual(last(many((n) => `2001:db8:1:2:${n}::1`)), undefined);
  assert.equal(last(many((n) => `2001:db8:1:${n + 3}::1`)), undefined);
  assert.notEqual(last(many(() => "::ffff:192.0.2.1")), undefined);
  assert.notEqual(logins.add("192.0.2.1"), undefined);
  for (let n = 0; n < 10_000; n++) logins.add(`10.${n >> 8}.${n & 255}.1`);
  assert.equal(logins.add("192.0.2.1"), undefined, "the oldest are forgotten");
});
