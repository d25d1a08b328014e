import assert from "node:assert/strict";
import { test } from "node:test";
import { boundedBody } from "../transport.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);

async function* yielding(chunks: readonly string[], ended: () => void): AsyncGenerator<Uint8Array> {
  try {
    for (const chunk of chunks) yield bytesOf(chunk);
  } finally {
    ended();
  }
}

for (const [what, bodyOf] of [
  ["an iterable", (chunks: readonly string[], ended: () => void) => yielding(chunks, ended)],
  [
    "a stream",
    (chunks: readonly string[], ended: () => void) => {
      const iterator = chunks.values();
      return new ReadableStream<Uint8Array>({
        pull(controller) {
          const { done, value } = iterator.next();
          if (!done) return controller.enqueue(bytesOf(value));
          ended();
          return controller.close();
        },
        cancel: ended,
      });
    },
  ],
] as const)
  test(`a body is read up to its limit, and what follows is cancelled (${what})`, async () => {
    for (const [chunks, text, isCut] of [
      [[], "", false],
      [["ab", "", "cd"], "abcd", false],
      [["ab", "cde"], "abcd", true],
      [["abcdef", "gh"], "abcd", true],
      [[..."abcdefgh"], "abcd", true],
    ] as const) {
      const ended = Promise.withResolvers<void>();
      const read = await boundedBody(bodyOf(chunks, ended.resolve), 4);
      assert.deepEqual([Buffer.from(read.bytes).toString(), read.isCut], [text, isCut]);
      await ended.promise;
    }
  });

test("a missing body counts as empty, and a body that fails rejects", async () => {
  for (const body of [null, undefined])
    assert.deepEqual(await boundedBody(body, 4), { bytes: new Uint8Array(), isCut: false });
  const failing = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.error(new Error("cut off")),
  });
  await assert.rejects(boundedBody(failing, 4), /cut off/);
});
