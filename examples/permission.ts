// A tool that asks for permission: its function runs only after the user's yes, and a no ends the turn.

import { agent, client } from "@parley/acp";

const files = new Set(["old.log", "notes.txt"]);

const cleaner = agent({
  name: "cleaner",
  version: "1.0.0",
  async prompt({ text, tool, say }) {
    await tool({ title: `Delete ${text}`, kind: "delete", permission: true }, () => files.delete(text));
    await say(`${text} is gone.`);
  },
});

const connection = await client({
  name: "example-client",
  version: "1.0.0",
  requestPermission: ({ title }) => (title === "Delete old.log" ? "allow_once" : "reject_once"),
}).connect(cleaner);
const session = await connection.newSession({ cwd: "/project" });
for (const file of files) console.log([file, await session.prompt(file).text()]);
console.log(files);
await connection.close();

// prints:
// [ 'old.log', 'old.log is gone.' ]
// [ 'notes.txt', '' ]
// Set(1) { 'notes.txt' }
