// The custom methods, errors and cancellations in the documents about version 1 arrive as they are written.

import assert from "node:assert/strict";
import { test } from "node:test";
import { between, introduction, type Message, welcome } from "../support/raw-peer-probe.ts";
import { documents, type Example } from "./documents.ts";

const deadline = { timeout: 30_000 };

/** The message of the example, as the other side of a relay gets it. */
async function relayed({ method, kind, from, message }: Example): Promise<Message> {
  const { sessionId = "s" } = (message.params ?? {}) as Message;
  const sides = between((request, peer) => {
    if (request.method === "initialize") peer.answer(request, welcome(1));
    if (request.method === "session/new") peer.answer(request, { sessionId });
    if (kind === "answer" && request.method === method) peer.send({ ...message, id: request.id });
  });
  await sides.client.ask(900, "initialize", introduction(1));
  await sides.client.ask(901, "session/new", { cwd: "/home/user/project", mcpServers: [] });
  const [near, far] = from === "client" ? [sides.client, sides.agent] : [sides.agent, sides.client];
  if (kind === "answer") {
    const answer = await sides.client.ask(902, method, {});
    await sides.relayed.close();
    return answer;
  }
  near.send(message);
  const arrived = await far.until((each) => each.method === method);
  await sides.relayed.close();
  return arrived;
}

for (const [name, { edition, examples }] of documents) {
  if (edition !== "v1") continue;
  for (const example of examples) {
    const { section, line, method, message } = example;
    if (!method.startsWith("_") && method !== "session/cancel") continue;
    test(`${name}, ${section} (line ${line}): ${method} arrives through a relay`, deadline, async () => {
      const { id: _, ...arrived } = await relayed(example);
      const { id: __, ...wanted } = message;
      assert.deepEqual(arrived, wanted);
    });
  }
}
