// Folds the updates of a session into a view, which a user interface draws.

import { agent, client } from "@parley/acp";
import { followSession } from "@parley/acp/view";

const helper = agent({
  name: "helper",
  version: "1.0.0",
  async prompt({ think, tool, say }) {
    await think("I should look.");
    await tool({ title: "List files", kind: "search" }, (tool) => tool.add("notes.txt"));
    for (const piece of ["There is ", "one file."]) await say(piece);
  },
});

const connection = await client({ name: "example-client", version: "1.0.0" }).connect(helper);
const session = await connection.newSession({ cwd: "/project" });
const view = followSession(session);
await session.prompt("What is here?");
for (const item of view.timeline) {
  if (item.kind === "tool_call") console.log(`[${item.label}: ${item.status}]`);
  else if ("text" in item) console.log(`${item.kind}: ${item.text}`);
}
await connection.close();

// prints:
// user_message: What is here?
// agent_thought: I should look.
// [List files: completed]
// agent_message: There is one file.
