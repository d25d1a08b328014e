// A client on client(): sessions and prompts, whatever version the agent speaks. PARLEY_BENCH_APP=iterate reads
// the prompt's async iterable instead of listening to the session.

import { client } from "@parley/acp";
import { spawnTransport } from "@parley/acp/node";
import { type BenchClient, runTask } from "../client-work.ts";
import { agentCommand } from "./agent-command.ts";

const iterates = process.env.PARLEY_BENCH_APP === "iterate";
const version = process.env.PARLEY_BENCH_VERSION === "2" ? 2 : 1;

await runTask(async (): Promise<BenchClient> => {
  const transport = spawnTransport(...agentCommand(new URL("./app-agent.ts", import.meta.url)), {
    onStderr: (text) => process.stderr.write(text),
  });
  const agent = await client({ name: "bench", version: "1.0.0", editions: [`v${version}`] }).connect(
    transport,
  );
  const session = await agent.newSession({ cwd: "/project" });
  let updates = 0;
  const count = ({ sessionUpdate }: { sessionUpdate: string }) => {
    // the model adds these on version 1; the other entrants have no such thing to count
    if (sessionUpdate !== "state_update" && sessionUpdate !== "user_message") updates += 1;
  };
  if (!iterates) session.onUpdate(count);
  return {
    async prompt(blocks) {
      const first = blocks[0];
      if (first?.type === "text" && first.text === "usage") {
        return { _meta: { usage: await agent.request("_bench/usage") } };
      }
      const prompt = session.prompt(blocks);
      if (iterates) for await (const update of prompt) count(update);
      return prompt;
    },
    setMode: (mode) => session.setMode(mode),
    updates: () => updates,
    close: () => agent.close(),
  };
});
