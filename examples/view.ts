// Folds the updates of a session into a view, which a user interface draws.

import { agent, client } from "@parley/acp";
import { followSession } from "@parley/acp/view";

const helper = agent({
  name: "helper",
  version: "1.0.0",
  async prompt(turn) {
    await turn.think("I should look.");
    await turn.tool({ title: "List files", kind: "search" }, (tool) => tool.add("notes.txt"));
    for (const piece of ["There is ", "one file."]) await turn.say(piece);
  },
});

const connection = await client({ name: "example-client", version: "1.0.0" }).connect(helper);
const session = await connection.newSession({ cwd: "/project" });
const view = followSession(session);
await session.prompt("What is here?");
for (const item of view.timeline) {
  if (item.kind === "tool_call") console.log(`[${item.label}: ${item.status}]`);
  else if ("content" in item) {
    const texts = item.content.map((block) => (block.type === "text" ? block.text : ""));
    console.log(`${item.kind}: ${texts.join("")}`);
  }
}
await connection.close();

// prints:
// user_message: What is here?
// agent_thought: I should look.
// [List files: completed]
// agent_message: There is one file.
