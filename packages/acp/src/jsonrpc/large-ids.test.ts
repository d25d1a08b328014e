import assert from "node:assert/strict";
import { test } from "node:test";
import { quiet, withBarePeer } from "../../test/support/connection-probe.ts";
import { memberText } from "./json-text.ts";

const large = "9007199254740993";
const other = "9007199254740995";

/** Sends one request as text and gives the id of its answer, digit for digit. */
async function echoedId(text: string): Promise<string | undefined> {
  const { peer } = withBarePeer();
  peer.sendText(text);
  await peer.until(1);
  return memberText(peer.texts[0] ?? "", "id");
}

test("the last id at the root is the one that is echoed, whatever else is called id (N045)", async () => {
  const start = '{"jsonrpc":"2.0","method":"work",';
  for (const rest of [
    `"id" : ${large} }`,
    `"id":${other},"id":\t${large}}`,
    `"params":{"id":${other},"list":[{"id":1}]},"id":${large},"_meta":{"id":${other}}}`,
    `"params":["id",${other}],"id":${large},"x":"\\"id\\":${other}"}`,
    `"\\u0069d":${large},"x\\\\":"\\\\","y":"id"}`,
    `"id":${large},"params":{"a:b,c":"}","id":${other}}}`,
    `"params":{"text":"id"},"id":${large}}`,
  ]) {
    assert.equal(await echoedId(start + rest), large, rest);
  }
});

test("a request with a large id is cancelled by exactly that id, in params that hold others (N045, X13)", async () => {
  const aborted: unknown[] = [];
  const { peer } = withBarePeer({
    request: (_method, _params, request) =>
      new Promise((_resolve, reject) => {
        request.signal.addEventListener("abort", () => {
          aborted.push(request.id);
          reject(request.signal.reason);
        });
      }),
  });
  for (const id of [large, other]) peer.sendText(`{"jsonrpc":"2.0","id":${id},"method":"work"}`);
  const nested = `"_meta":{"requestId":${other}}`;
  peer.sendText(
    `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1},"params":{${nested},"requestId":${large},"x":{"requestId":${other}}}}`,
  );
  await peer.until(1);
  await quiet();
  assert.deepEqual(aborted, [BigInt(large)]);
});

test("a large id in a message of a mebibyte is read without building the message again (G8)", async () => {
  const parse = JSON.parse;
  let parsed = 0;
  JSON.parse = (...args) => {
    parsed += args[0].length;
    return parse(...args);
  };
  try {
    const text = `{"jsonrpc":"2.0","id":${large},"method":"work","params":[${"{},".repeat(350_000)}0]}`;
    assert.equal(await echoedId(text), large);
    assert.ok(parsed < text.length + 10_000, `${parsed} characters were parsed`);
  } finally {
    JSON.parse = parse;
  }
});
