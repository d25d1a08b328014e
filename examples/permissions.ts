// An agent asks for permission; the client allows, rejects, and cancels while a question is open.

import { agent, client } from "@parley/acp";

const cleaner = agent({
  name: "cleaner",
  version: "1.0.0",
  async prompt(turn) {
    const start = { title: `Delete ${turn.text}`, kind: "delete", permission: true } as const;
    await turn.tool(start, (tool) => tool.add("deleted")).catch(() => turn.say("I left it alone."));
  },
});

const answers = new Map([
  ["Delete old.log", "allow_once"],
  ["Delete notes.txt", "reject_once"],
]);

const connection = await client({
  name: "example-client",
  version: "1.0.0",
  async requestPermission(ask, { session, signal }) {
    const answer = answers.get(ask.title);
    console.log(`${ask.title}? ${ask.options.map(({ name }) => name).join(", ")}: ${answer ?? "..."}`);
    if (answer !== undefined) return answer;
    // the user does not answer, but presses the stop button
    session?.cancel();
    console.log("the question is withdrawn:", signal.aborted);
    return undefined;
  },
}).connect(cleaner);

const session = await connection.newSession({ cwd: process.cwd() });
let status: unknown;
session.onUpdate((update) => {
  if (update.sessionUpdate === "tool_call_update") status = update.status ?? status;
});
for (const file of ["old.log", "notes.txt", "everything"]) {
  const { stopReason } = await session.prompt(file);
  console.log(`${file}: the tool call ${status}, the turn ended with ${stopReason}`);
}
await connection.close();

// prints:
// Delete old.log? Allow, Always allow, Reject: allow_once
// old.log: the tool call completed, the turn ended with end_turn
// Delete notes.txt? Allow, Always allow, Reject: reject_once
// notes.txt: the tool call cancelled, the turn ended with end_turn
// Delete everything? Allow, Always allow, Reject: ...
// the question is withdrawn: true
// everything: the tool call cancelled, the turn ended with cancelled
