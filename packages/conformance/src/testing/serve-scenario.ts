// Serves a scripted agent on stdio.

import { byteTransport } from "@parley/acp/transport";
import { checkAgentScenario } from "./check-scenario.ts";
import { type ScriptedAgentOptions, scriptedAgent } from "./scripted-agent.ts";

/**
 * Serves a scripted agent on stdin and stdout of this process until the end of input, then exits. Unlike with `serveStdio`,
 * the steps `crash` and `hang` act on the process. For Node.
 *
 * @param scenario - The scenario: an object, or parsed JSON.
 * @throws {ScenarioError} When the scenario has a mistake (as a rejection).
 * @throws {Error} When stdio is already in use as a transport (as a rejection).
 *
 * @example
 * import { readFile } from "node:fs/promises";
 * import { serveScenario } from "@parley/conformance/testing";
 *
 * await serveScenario(JSON.parse(await readFile("scenario.json", "utf8")));
 */
export async function serveScenario(
  scenario: unknown,
  options: Omit<ScriptedAgentOptions, "process"> = {},
): Promise<void> {
  const checked = checkAgentScenario(scenario);
  // loaded on use: scripted peers run where there is no Node, too
  const [{ stdioChannel }, { nodePlatform }] = await Promise.all([
    import("@parley/acp/internal/node"),
    import("@parley/acp/node"),
  ]);
  const channel = stdioChannel();
  const agent = scriptedAgent(checked, {
    ...options,
    process: {
      exit({ exitCode, signal, half }) {
        const leave = () => {
          if (channel.queuedBytes() > 0) return void setImmediate(leave);
          if (signal === undefined) process.exit(exitCode ?? 1);
          process.kill(process.pid, signal);
        };
        // earlier messages are written at the end of this turn
        setImmediate(() => {
          if (half !== undefined) channel.write(half);
          leave();
        });
      },
      linger: () => void setInterval(() => undefined, 2 ** 30),
    },
  });
  await agent.connect(byteTransport(channel, { platform: nodePlatform })).closed;
  process.exit();
}
