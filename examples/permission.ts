// A tool that asks for permission: its function runs only after the user's yes.

import { agent, client } from "@parley/acp";
import { collect } from "@parley/acp/testing";

const files = new Set(["old.log", "notes.txt"]);

const cleaner = agent({
  name: "cleaner",
  version: "1.0.0",
  async prompt(turn) {
    await turn
      .tool({ title: `Delete ${turn.text}`, kind: "delete", permission: true }, () => files.delete(turn.text))
      .catch(() => turn.say(`I left ${turn.text} alone.`));
  },
});

const connection = await client({
  name: "example-client",
  version: "1.0.0",
  requestPermission: ({ title }) => (title === "Delete old.log" ? "allow_once" : "reject_once"),
}).connect(cleaner);
const session = await connection.newSession({ cwd: "/project" });
for (const file of files) {
  const { text } = await collect(session.prompt(file));
  if (text !== "") console.log(text);
}
console.log(files);
await connection.close();

// prints:
// I left notes.txt alone.
// Set(1) { 'notes.txt' }
