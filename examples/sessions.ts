// Loads a stored session in a second client and continues it. Both clients keep a view, which a user interface draws.
// For a store on disk use sqliteStore of @parley/acp/node.

import { agent, type ClientSession, client } from "@parley/acp";
import { memoryStore } from "@parley/acp/store";
import { applyEntry, createView, type SessionView } from "@parley/acp/view";

const notes = agent({
  name: "notes",
  version: "1.0.0",
  session: { store: memoryStore() },
  async prompt(turn) {
    turn.session.setTitle(`About ${turn.text}`);
    await turn.tool({ title: `Remember ${turn.text}` }, () => undefined);
    await turn.say(`I will remember ${turn.text}.`);
  },
});

/** Applies every entry of the session to a view. */
function show(session: ClientSession): SessionView {
  const view = createView();
  session.onEntry((entry) => applyEntry(view, entry));
  return view;
}

function print(view: SessionView): void {
  for (const item of view.timeline) {
    if (item.kind === "tool_call") console.log(`  [${item.label}: ${item.status}]`);
    else if ("content" in item) {
      console.log(
        `  ${item.kind}:`,
        item.content.map((block) => (block.type === "text" ? block.text : "")).join(""),
      );
    }
  }
}

const cwd = process.cwd();
const first = await client({ name: "first", version: "1.0.0" }).connect(notes);
const session = await first.newSession({ cwd });
const view = show(session);
await session.prompt("apples");
console.log(`live: ${view.title}, ${view.state}`);
print(view);
await first.close();

const second = await client({ name: "second", version: "1.0.0" }).connect(notes);
const { sessions } = await second.listSessions({ cwd });
for (const { sessionId, title } of sessions) {
  const loaded = await second.loadSession(sessionId, { cwd });
  const replayed = show(loaded);
  console.log(`loaded: ${title}`);
  print(replayed);
  await loaded.prompt("pears");
  console.log(`then: ${replayed.title}, ${replayed.timeline.length} items`);
}
await second.close();

// prints:
// live: About apples, idle
//   user_message: apples
//   [Remember apples: completed]
//   agent_message: I will remember apples.
// loaded: About apples
//   user_message: apples
//   [Remember apples: completed]
//   agent_message: I will remember apples.
// then: About pears, 6 items
