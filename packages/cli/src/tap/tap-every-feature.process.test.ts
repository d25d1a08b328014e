// One session with everything, in both versions: through a tap it is what it is without one, and the recording of it,
// redacted or not, plays the agent so well that the client cannot tell.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { after, test } from "node:test";
import { spawnTransport } from "@parley/acp/node";
import { memoryPair } from "@parley/acp/transport";
import { everyFeature } from "@parley/conformance";
import { type ClientRecord, scriptedAgent, scriptedClient } from "@parley/conformance/testing";
import { programFile } from "../../../acp/test/support/programs.ts";
import { launcher, TapFolder } from "../../test/support/tap-probe.ts";

const folder = new TapFolder();
after(() => folder.remove());
const posix = { timeout: 120_000, skip: process.platform === "win32" && "the launcher is a shell script" };
const program = programFile("conformance/test/support/scripted-agent-process.ts");

async function through(command: readonly string[], version: 1 | 2): Promise<ClientRecord> {
  const [name = "", ...args] = command;
  const started = spawnTransport(name, args, { graceMs: 20_000 });
  const record = await scriptedClient({ ...everyFeature.client, editions: [`v${version}`] as const }).run(
    started,
  );
  assert.deepEqual(await started.exited, { exitCode: 0 }, started.stderrTail());
  return record;
}

for (const version of [1, 2] as const) {
  test(`every feature is recorded and replayed as it was (v${version})`, posix, async () => {
    const agent = { ...everyFeature.agent, editions: [`v${version}`] as const };
    const [near, far] = memoryPair();
    scriptedAgent(agent).connect(far);
    const direct = await scriptedClient({ ...everyFeature.client, editions: [`v${version}`] as const }).run(
      near,
    );

    const scenario = folder.file(`agent-${version}.json`);
    const trace = folder.file(`v${version}.trace`);
    writeFileSync(scenario, JSON.stringify(agent));
    const played = [process.execPath, "--conditions=parley-source", program, scenario];
    assert.deepEqual(await through([launcher, "tap", "--out", trace, "--", ...played], version), direct);
    assert.deepEqual(await through([launcher, "trace", "replay", "--as", "agent", trace], version), direct);

    const shared = folder.file(`v${version}-shared.trace`);
    assert.equal(spawnSync(launcher, ["trace", "redact", trace, "--out", shared]).status, 0);
    const replayed = await through([launcher, "trace", "replay", "--as", "agent", shared], version);
    const outcomes = ({ steps }: ClientRecord) =>
      steps.map(({ step, error }) => ({ step, error: error?.code }));
    assert.deepEqual(outcomes(replayed), outcomes(direct));
  });
}
