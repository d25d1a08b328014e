// A permission policy: rules decide what they can, and the user is asked about the rest.

import { agent, client } from "@parley/acp";

const editor = agent({
  name: "editor",
  version: "1.0.0",
  async prompt(turn) {
    const write = (path: string) => turn.client.files?.writeText(path, "hello\n");
    for (const path of ["/project/src/a.ts", "/project/.env", "/project/README.md"]) {
      await turn
        .tool({ title: `Write ${path}`, kind: "edit" }, () => write(path))
        .catch(() => turn.say(`I may not write ${path}.`));
    }
    const title = "Delete /project/old.log";
    await turn
      .tool({ title, kind: "delete", permission: true }, () => turn.say("It is gone."))
      .catch(() => turn.say("I may not delete it."));
  },
});

const written: string[] = [];
const connection = await client({
  name: "example-client",
  version: "1.0.0",
  editions: ["v1"],
  policy: {
    decide(request) {
      if (request.type !== "write") return "ask";
      if (request.path.endsWith(".env")) return "deny";
      return request.path.startsWith("/project/src/") ? "allow" : "ask";
    },
  },
  requestPermission({ title }) {
    console.log(`${title}?`);
    return title.startsWith("Write") ? "allow_once" : "reject_once";
  },
  files: {
    canRead: false,
    canWrite: true,
    readText: async () => "",
    writeText: async (path) => void written.push(path),
  },
}).connect(editor);
const session = await connection.newSession({
  cwd: "/project",
  onUpdate(update) {
    if (update.sessionUpdate !== "agent_message_chunk" || update.content.type !== "text") return;
    console.log(update.content.text);
  },
});
await session.prompt("go");
console.log(written);
await connection.close();

// prints:
// I may not write /project/.env.
// Write /project/README.md?
// Delete /project/old.log?
// I may not delete it.
// [ '/project/src/a.ts', '/project/README.md' ]
