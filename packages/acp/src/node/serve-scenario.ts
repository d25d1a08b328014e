// Serves a scripted agent on stdio.

import type { ScriptedAgentOptions } from "../testing/scripted-agent.ts";
import { byteTransport } from "../transport/byte-transport.ts";
import { stdioChannel } from "./stdio.ts";
import { nodePlatform } from "./text-platform.ts";

/**
 * Plays an agent's scenario on stdin and stdout until the end of input, then exits. Throws ScenarioError for an
 * invalid scenario.
 */
export async function serveScenario(
  scenario: unknown,
  options: Omit<ScriptedAgentOptions, "process"> = {},
): Promise<void> {
  // loaded on use, to keep other agents fast to start
  const { checkAgentScenario } = await import("../testing/check-scenario.ts");
  const { scriptedAgent } = await import("../testing/scripted-agent.ts");
  const checked = checkAgentScenario(scenario);
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
