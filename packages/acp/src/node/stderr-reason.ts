// Picks the lines of a failed program's stderr that go into a message.

const stderrLines = 5;
const stderrChars = 500;

/**
 * Returns the last lines of a program's stderr that say why it failed, for a message. Empty lines and stack frames are
 * left out.
 *
 * @example
 * import { spawnTransport, stderrReason } from "@parley/acp/node";
 *
 * const agent = spawnTransport("my-agent", ["--acp"]);
 * const { exitCode } = await agent.exited;
 * if (exitCode !== 0) console.error(`The agent failed:\n${stderrReason(agent.stderrTail())}`);
 */
export function stderrReason(stderr: string): string {
  const lines = stderr
    .split("\n")
    .map((line) => line.trimEnd())
    .filter((line) => !/^(?:\s*|\s+at .*|Node\.js v[\d.]+)$/.test(line));
  return lines
    .slice(-stderrLines)
    .map((line) => (line.length > stderrChars ? `${line.slice(0, stderrChars)}…` : line))
    .join("\n");
}
