// codex-acp, kept alive by our kit, against a model on the loopback interface that speaks OpenAI's Responses API.

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ProtocolVersion } from "@parley/acp/internal";
import { manageAgent } from "@parley/client/internal";
import { readyAgents } from "@parley/client/launch";
import { fakeProvider } from "../../packages/agent/test/fake-provider/fake-provider.ts";
import { responsesEvents } from "../../packages/agent/test/fake-provider/responses-wire.ts";
import type { Place } from "./claude.ts";

/** Prompts, a message while it works, and what it says of its state meanwhile. */
export async function liveCodex({ folder, bin }: Place, version: ProtocolVersion): Promise<void> {
  const work = join(folder, `work-${version}`);
  const home = join(folder, "codex");
  for (const each of [work, home]) mkdirSync(each, { recursive: true });
  const release = Promise.withResolvers<void>();
  const model = await fakeProvider(async (exchange) => {
    const { request } = exchange;
    if (request.method !== "POST" || !request.path.endsWith("/responses"))
      return exchange.json(404, { error: { message: "unknown" } });
    const said = JSON.stringify(request.body.input ?? "");
    const [first, ...rest] = responsesEvents({ text: ["heard ", "it"] });
    exchange.open();
    await exchange.write(first ?? "");
    // the first answer goes on until the test has sent a message
    if (said.includes("HOLD") && !said.includes("turn right")) await release.promise;
    for (const event of rest) await exchange.write(event);
    exchange.end();
  });
  const provider = `[model_providers.fake]\nname = "fake"\nbase_url = "${model.url}/v1"\nwire_api = "responses"\nenv_key = "OPENAI_API_KEY"\n`;
  writeFileSync(join(home, "config.toml"), `model = "fake"\nmodel_provider = "fake"\n\n${provider}`);
  const entry = readyAgents().find(({ name }) => name === "codex") ?? assert.fail("codex is no ready agent");
  const agent = await manageAgent(entry, {
    name: "parley-peers",
    version: "1.0.0",
    editions: [`v${version}`],
    inherited: {
      PATH: `${bin}:${process.env.PATH ?? ""}`,
      HOME: folder,
      CODEX_HOME: home,
      OPENAI_API_KEY: "fake",
    },
    cwd: work,
    requestPermission: () => "cancelled",
  });
  try {
    assert.equal(agent.edition, `v${version}`);
    const states: string[] = [];
    const session = await agent.newSession({
      cwd: work,
      onUpdate(update) {
        if (update.sessionUpdate === "state_update") states.push(String(update.state));
      },
    });
    assert.match(await session.prompt("good morning").text(), /heard it/);
    states.length = 0;
    const held = session.prompt("HOLD");
    await held.accepted;
    if (agent.capabilities.steer) {
      const steered = session.steer("turn right");
      release.resolve();
      assert.equal((await steered.result).stopReason, "end_turn");
    } else release.resolve();
    assert.equal((await held.result).stopReason, "end_turn");
    // on version 2 it says itself when it works and when it has ended
    assert.equal(states[0], "running");
    assert.equal(states.at(-1), "idle");
    assert.equal(session.state, "idle");
    process.stdout.write(`        codex, version ${version}: ${states.join(" ")}\n`);
  } finally {
    release.resolve();
    await agent.close();
    await model.close();
  }
}
