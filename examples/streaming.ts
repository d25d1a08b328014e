// Streams the pieces of a model's answer, until the user stops it.

import { setTimeout as wait } from "node:timers/promises";
import { agent, client, textOf } from "@parley/acp";

/** In place of your provider's client. */
async function* model(text: string, signal: AbortSignal) {
  for (const word of text.split(" ")) yield await wait(1, `${word} `, { signal });
}

const storyteller = agent({
  name: "storyteller",
  version: "1.0.0",
  async prompt({ text, signal, say }) {
    for await (const piece of model(text, signal)) await say(piece);
  },
});

const connection = await client({ name: "example-client", version: "1.0.0" }).connect(storyteller);
const session = await connection.newSession({ cwd: "/project" });
const prompt = session.prompt("Once upon a time there was an agent that never stopped.");
for await (const update of prompt) {
  if (update.sessionUpdate !== "agent_message_chunk") continue;
  process.stdout.write(textOf(update.content));
  if (textOf(update.content) === "time ") prompt.cancel();
}
console.log(`(${(await prompt).stopReason})`);
await connection.close();

// prints:
// Once upon a time (cancelled)
