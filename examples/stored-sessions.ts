// Keeps sessions in a file: a second start of the agent continues a session of the first.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { agent, client, textOf } from "@parley/acp";
import { sqliteStore } from "@parley/acp/node";

const folder = await mkdtemp(join(tmpdir(), "parley-example-"));
const app = client({ name: "example-client", version: "1.0.0" });

const start = () =>
  agent({
    name: "notes",
    version: "1.0.0",
    session: {
      store: sqliteStore(join(folder, "sessions.db")),
      async open(session) {
        let count = 0;
        for await (const { kind } of session.history()) if (kind === "prompt") count++;
        return { count };
      },
    },
    async prompt(turn) {
      turn.session.setTitle(turn.text);
      await turn.say(`Note ${++turn.session.data.count}: ${turn.text}`);
    },
  });

const first = start();
const session = await (await app.connect(first)).newSession({ cwd: folder });
await session.prompt("buy milk");
await first.close();

const second = start();
const connection = await app.connect(second);
for (const { sessionId, title } of (await connection.listSessions()).sessions) {
  console.log(`loading: ${title}`);
  const loaded = await connection.loadSession(sessionId, {
    cwd: folder,
    onUpdate(update) {
      // the history has whole messages, a running turn sends pieces
      if (update.sessionUpdate === "agent_message") console.log(textOf(update.content ?? []));
      if (update.sessionUpdate === "agent_message_chunk") console.log(textOf(update.content));
    },
  });
  await loaded.prompt("buy bread");
}
await second.close();
await rm(folder, { recursive: true });

// prints:
// loading: buy milk
// Note 1: buy milk
// Note 2: buy bread
