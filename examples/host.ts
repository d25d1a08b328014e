// A whole client: an agent with recovery, rules, history and review, and a conversation with it.

import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openConversation } from "@parley/client/conversation";
import { openHistory } from "@parley/client/history";
import { openHost } from "@parley/client/host";
import { openReview } from "@parley/review";

const home = await mkdtemp(join(tmpdir(), "my-app-"));
await using history = openHistory({ path: join(home, "history.db") });
await using host = openHost([process.execPath, "--conditions=parley-source", "examples/agent.ts"], {
  ...{ name: "my-app", version: "1.0.0", history },
  permissions: { rules: ["allow read **"], stateFolder: home },
  review: (roots) => openReview({ roots, stateFolder: join(home, "review") }),
});
const talk = openConversation(host.open({ cwd: process.cwd() }));
const { promise: ended, resolve: end } = Promise.withResolvers<string>();
talk.onEvent((event) => {
  for (const question of talk.questions) if (question.kind === "permission") question.answer(undefined);
  if (event.kind === "turn") end(event.summary.result.stopReason);
});
talk.send({ text: "LICENSE" });
console.log(
  await ended,
  talk.view.timeline.map((item) => (item.kind === "agent_message" ? item.text : item.kind)),
);

// prints:
// end_turn [ 'user_message', 'tool_call', 'LICENSE has 202 lines.' ]
