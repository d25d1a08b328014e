// A client and an agent have proxies of their own.

import assert from "node:assert/strict";
import { test } from "node:test";
import { agent, client, textOf } from "../../src/index.ts";
import { proxy } from "../../src/proxy.ts";

const adding = (word: string) =>
  proxy({
    name: word,
    version: "1",
    prompt: ({ content }) => ({ content: [...content, { type: "text", text: ` ${word}` }] }),
  });

for (const edition of ["v1", "v2"] as const) {
  test(`the proxies of a client and of an agent see every prompt, in their order (${edition})`, async () => {
    const got: string[] = [];
    const served = agent({
      name: "a",
      version: "1",
      unstable: ["proxies"],
      proxies: [adding("three"), adding("four")],
      prompt(turn) {
        got.push(turn.prompt.map(textOf).join(""));
      },
    });
    const app = client({
      name: "c",
      version: "1",
      editions: [edition],
      unstable: ["proxies"],
      proxies: [adding("one"), adding("two")],
    });
    const connection = await app.connect(served);
    const session = await connection.newSession({ cwd: "/" });
    await session.prompt("zero");
    assert.deepEqual(got, ["zero one two three four"]);
    await connection.close();
    await served.close();
  });
}
