// The client of the benchmarks on client(): sessions and prompts. PARLEY_BENCH_APP=iterate reads the prompt's async
// iterable instead of listening to the session.

import { client, type Transport } from "@parley/acp";
import type { BenchClient } from "../client-work.ts";

const iterates = process.env.PARLEY_BENCH_APP === "iterate";

export async function appBenchClient(transport: Transport, version: "v1" | "v2"): Promise<BenchClient> {
  const agent = await client({ name: "bench", version: "1.0.0", editions: [version] }).connect(transport);
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
    forget: () => agent.deleteSession(session.sessionId),
    close: () => agent.close(),
  };
}
