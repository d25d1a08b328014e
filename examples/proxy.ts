// A proxy in front of an agent: it counts prompts, adds a sentence to the first, refuses one, and shortens what the agent says.

import { agent, client } from "@parley/acp";
import { conductor, proxy, refuse } from "@parley/acp/proxy";
import { memoryPair } from "@parley/acp/transport";

const brief = proxy({
  name: "brief",
  version: "1.0.0",
  session: () => ({ prompts: 0 }),
  prompt(prompt, { data }) {
    data.prompts += 1;
    if (data.prompts > 2) return refuse("two prompts are enough");
    if (data.prompts > 1) return undefined;
    return { ...prompt, content: [...prompt.content, { type: "text", text: " (Be brief.)" }] };
  },
  update(update) {
    if (update.sessionUpdate !== "agent_message_chunk" || update.content.type !== "text") return undefined;
    return { ...update, content: { ...update.content, text: update.content.text.replace(/Well, /, "") } };
  },
  turnEnd: ({ stopReason }, { data }) => console.log(`turn ${data.prompts}: ${stopReason}`),
});

const talker = agent({
  name: "talker",
  version: "1.0.0",
  prompt: (turn) => turn.say(`Well, you said: ${turn.text}`),
});

const chain = conductor([brief, talker]);
const [near, far] = memoryPair();
chain.connect(far);
await using connection = await client({ name: "my-client", version: "1.0.0" }).connect(near);
const session = await connection.newSession({ cwd: "/project" });
console.log(await session.prompt("hello").text());
console.log(await session.prompt("and now?").text());
const { stopReason, error } = await session.prompt("once more");
console.log(stopReason, error?.message);

// prints:
// turn 1: end_turn
// you said: hello (Be brief.)
// turn 2: end_turn
// you said: and now?
// error two prompts are enough
