// Tests prompts with fields and values that this version of the protocol does not have: of a newer client, say.

import assert from "node:assert/strict";
import { test } from "node:test";
import { introduction, RawPeer } from "../../../test/support/raw-peer-probe.ts";
import { memoryStore } from "../../log/memory-store.ts";
import { memoryPair } from "../../transport/memory.ts";
import { agent } from "./agent.ts";
import type { Turn } from "./turn/turn.ts";

const limit = { timeout: 20_000 };
const odd = { _meta: { "_parley.dev/extra": { odd: 1 } } };

/** A block as a client sends it, and as the agent takes it. */
const blocks: Readonly<Record<string, readonly [sent: object, taken: object]>> = {
  "a text": [
    { type: "text", text: "x", odd: 1 },
    { type: "text", text: "x", ...odd },
  ],
  "a text with empty fields": [
    { type: "text", text: "x", annotations: null, _meta: null, odd: 1 },
    { type: "text", text: "x", ...odd },
  ],
  "a text with one empty field": [
    { type: "text", text: "x", _meta: null, odd: 1 },
    { type: "text", text: "x", ...odd },
  ],
  "a text with a malformed field": [
    { type: "text", text: "x", annotations: "none", odd: 1 },
    { type: "text", text: "x", ...odd },
  ],
  "a text with custom data": [
    { type: "text", text: "x", _meta: { own: true }, odd: 1 },
    { type: "text", text: "x", _meta: { own: true, ...odd._meta } },
  ],
  annotations: [
    { type: "text", text: "x", annotations: { priority: 1, odd: 1 } },
    { type: "text", text: "x", annotations: { priority: 1, ...odd } },
  ],
  "an image": [
    { type: "image", data: "aGk=", mimeType: "image/png", odd: 1 },
    { type: "image", data: "aGk=", mimeType: "image/png", ...odd },
  ],
  "a link": [
    { type: "resource_link", name: "a", uri: "file:///a", odd: 1 },
    { type: "resource_link", name: "a", uri: "file:///a", ...odd },
  ],
  "a resource and its text": [
    { type: "resource", resource: { uri: "file:///a", text: "x", odd: 1 }, odd: 1 },
    { type: "resource", resource: { uri: "file:///a", text: "x", ...odd }, ...odd },
  ],
};

function served(version: 1 | 2) {
  const prompts: unknown[] = [];
  const [near, far] = memoryPair();
  agent({
    name: "scripted",
    version: "1.0.0",
    prompt: (turn: Turn) => void prompts.push(turn.prompt),
    session: { store: memoryStore() },
    promptCapabilities: { image: true, audio: true, embeddedContext: true },
    editions: [`v${version}`],
  }).connect(far);
  return { peer: new RawPeer(near), prompts };
}

for (const version of [1, 2] as const) {
  for (const [what, [sent, taken]] of Object.entries(blocks)) {
    test(
      `v${version}: an unknown field in ${what} fails no prompt, and is kept as custom data (N083)`,
      limit,
      async () => {
        const { peer, prompts } = served(version);
        await peer.ask(1, "initialize", introduction(version));
        const { result } = await peer.ask(2, "session/new", { cwd: "/w", mcpServers: [] });
        const { sessionId } = result as { sessionId: string };
        const answer = await peer.ask(3, "session/prompt", { sessionId, prompt: [sent], odd: 1 });
        assert.equal(answer.error, undefined);
        // a load shows the message again, also where a prompt is not echoed
        const [load, from] =
          version === 1 ? ["session/load", {}] : ["session/resume", { replayFrom: { type: "start" } }];
        await peer.ask(4, load, { sessionId, cwd: "/w", mcpServers: [], ...from });
        assert.deepEqual(prompts, [[taken]]);
        const shown = JSON.stringify(taken);
        assert.ok(peer.texts.some((text) => text.includes(shown)));
        await peer.close();
      },
    );
  }
}

test("v2: an audience that a newer client names fails no prompt", limit, async () => {
  const { peer, prompts } = served(2);
  await peer.ask(1, "initialize", introduction(2));
  const { result } = await peer.ask(2, "session/new", { cwd: "/w", mcpServers: [] });
  const { sessionId } = result as { sessionId: string };
  const prompt = [{ type: "text", text: "x", annotations: { audience: ["robot"] } }];
  const answer = await peer.ask(3, "session/prompt", { sessionId, prompt });
  assert.equal(answer.error, undefined);
  await peer.ask(4, "session/resume", { sessionId, cwd: "/w", mcpServers: [] });
  assert.deepEqual(prompts, [prompt]);
  await peer.close();
});
