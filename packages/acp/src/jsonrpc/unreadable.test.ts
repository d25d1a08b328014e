import assert from "node:assert/strict";
import { test } from "node:test";
import { bytePipe } from "../../test/support/byte-pipe.ts";
import { connectionOver, outcomeOf, quiet, withBarePeer } from "../../test/support/connection-probe.ts";
import { byteTransport } from "../transport/byte-transport.ts";
import { ConnectionError } from "./errors.ts";

const limits = { maxMessageBytes: 200_000 };
const pieceBytes = 1_000;

function* cut(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
}

/** What becomes of a request whose answer is these bytes, in pieces or as one chunk. */
async function answeredBy(bytes: Uint8Array, framing: "ndjson" | "content-length", inPieces: boolean) {
  const [near] = bytePipe();
  const connection = connectionOver(byteTransport(near, { framing, limits }), { noise: "skip" });
  const outcome = outcomeOf(connection.request("work"));
  const header = new TextEncoder().encode(`Content-Length: ${bytes.length}\r\n\r\n`);
  const frame = framing === "ndjson" ? [...bytes, 0x0a] : [...header, ...bytes];
  for (const chunk of inPieces ? cut(Uint8Array.from(frame)) : [Uint8Array.from(frame)]) near.inject(chunk);
  await quiet();
  await connection.close();
  const settled = await outcome;
  return "error" in settled && settled.error instanceof ConnectionError ? settled.error.kind : settled;
}

const latin1 = (text: string) => Uint8Array.from(text, (char) => char.charCodeAt(0));
const answers: Record<string, [Uint8Array, string]> = {
  "a byte that is not UTF-8": [latin1('{"jsonrpc":"2.0","id":1,"result":"caf\xe9"}'), "protocol"],
  "not UTF-8, id last": [
    latin1(`{"jsonrpc":"2.0","result":"caf\xe9${"x".repeat(70_000)}","id":1}`),
    "protocol",
  ],
  "a raw tab": [latin1('{"jsonrpc":"2.0","id":1,"result":"a\tb"}'), "protocol"],
  NaN: [latin1('{"jsonrpc":"2.0","id":1,"result":NaN}'), "protocol"],
  "too large": [latin1(`{"jsonrpc":"2.0","id":1,"result":"${"x".repeat(300_000)}"}`), "too_large"],
  "too large, id last": [
    latin1(`{"jsonrpc":"2.0","result":"${"x".repeat(300_000)}", "id" : 1 }`),
    "too_large",
  ],
  "too deep, id last": [
    latin1(`{"jsonrpc":"2.0","result":${"[".repeat(60_000)}${"]".repeat(60_000)},"id":1}\r`),
    "too_large",
  ],
};

for (const framing of ["ndjson", "content-length"] as const) {
  test(`an answer that cannot be read rejects the request that it answers, over ${framing} (G4)`, async () => {
    for (const [what, [bytes, kind]] of Object.entries(answers)) {
      for (const inPieces of [false, true]) {
        assert.equal(await answeredBy(bytes, framing, inPieces), kind, `${what}, in pieces: ${inPieces}`);
      }
    }
  });
}

test("an id inside of an unreadable answer, or of no request of ours, settles nothing (G4)", async () => {
  const { connection, peer } = withBarePeer({}, { limits });
  const outcome = outcomeOf(connection.request("work"));
  await peer.until(1);
  const long = "x".repeat(300_000);
  peer.sendText('{"jsonrpc":"2.0","id":7,"result":NaN}');
  peer.sendText('{"jsonrpc":"2.0","result":{"id":1,"x":NaN}}');
  peer.sendText(`{"jsonrpc":"2.0","result":{"x":"${long}","id":1}}`);
  peer.sendText(`{"jsonrpc":"2.0","result":"${long},\\"id\\":1}"}`);
  peer.send({ jsonrpc: "2.0", id: 1, result: "the answer" });
  assert.deepEqual(await outcome, { value: "the answer" });
});

test("blank lines and lines that cannot be JSON are never parsed (N003)", async () => {
  const parse = JSON.parse;
  let parses = 0;
  JSON.parse = (...args) => {
    parses++;
    return parse(...args);
  };
  try {
    const { connection, peer } = withBarePeer({ noise: "skip" });
    peer.send({ jsonrpc: "2.0", method: "hi" });
    for (const line of ["", "\r", "  \t ", "starting", "<html>", "\u00a0"]) {
      for (let i = 0; i < 100; i++) peer.sendText(line);
    }
    await quiet();
    assert.deepEqual([parses, connection.counters.noise, connection.isOpen], [1, 200, true]);
  } finally {
    JSON.parse = parse;
  }
});

test("a peer that sends more than maxRefusedPerSecond unreadable messages is left, with a reason (G8)", async () => {
  for (const line of ["{", '{"a":1}', "x"]) {
    const { connection, peer } = withBarePeer({ limits: { maxRefusedPerSecond: 50 } });
    for (let i = 0; i < 200; i++) peer.sendText(line);
    const reason = await connection.closed;
    assert.equal(reason.kind, "protocol");
    assert.match(reason.message, /over 50 invalid messages in one second/);
    assert.ok(connection.counters.refused < 150, "what came afterwards is not looked at");
  }
});
