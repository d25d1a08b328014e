// A permission policy: rules decide what they can, and the user is asked about the rest.

import { agent, client } from "@parley/acp";

const editor = agent({
  name: "editor",
  version: "1.0.0",
  async prompt({ text, client, tool }) {
    await tool({ title: `Write ${text}`, kind: "edit" }, () => client.files?.writeText(text, "hello\n"));
    await tool({ title: `Delete ${text}.bak`, kind: "delete", permission: true }, () => undefined);
  },
});

const connection = await client({
  name: "example-client",
  version: "1.0.0",
  editions: ["v1"],
  files: { writeText: async (path) => console.log(`written: ${path}`) },
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
}).connect(editor);
const session = await connection.newSession({ cwd: "/project" });
for (const path of ["src/a.ts", ".env", "README.md"]) await session.prompt(`/project/${path}`);
await connection.close();

// prints:
// written: /project/src/a.ts
// Delete /project/src/a.ts.bak?
// Write /project/README.md?
// written: /project/README.md
// Delete /project/README.md.bak?
