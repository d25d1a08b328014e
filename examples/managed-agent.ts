// A client with a permission gate and a history that restarts and resumes its agent after a crash.
// It uses our own agent, offline; any agent of readyAgents() works.

import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectAgent, promptContent } from "@parley/client";
import { openHistory } from "@parley/client/history";
import { commandEntry, managedRecorder, permissionGate } from "@parley/client/internal";

const folder = await mkdtemp(join(tmpdir(), "parley-example-"));
await writeFile(join(folder, "notes.txt"), "milk\nbread\n");
const entry = commandEntry(["packages/cli/bin/parley", "agent"]);

const history = openHistory({ path: join(folder, "history.db") });
const recorder = managedRecorder(history, { agent: { name: entry.name }, failed: console.error });
const gate = permissionGate({
  asker: {
    permission({ summary, choices }) {
      console.log(`${summary.replace(folder, "")}? yes`);
      return choices.find(({ effect }) => effect === "allow")?.id;
    },
  },
});
const live = await connectAgent(entry, {
  client: { name: "example-client", version: "1.0.0" },
  env: { PARLEY_HOME: join(folder, "home"), PARLEY_MODEL: "offline" },
  gate,
  recorder,
  onEvent: (event) => event.kind === "continued" && console.log(`(it died, and is ${event.how})`),
});
try {
  const { capabilities: accepts, closed } = live.connected;
  const session = await live.newSession({ cwd: folder });
  const ask = async (text: string) => {
    const { content } = await promptContent({ text }, { cwd: folder, accepts });
    const { stopReason } = await session.prompt(content).result;
    const notes = await readFile(join(folder, "notes.txt"), "utf8");
    console.log(`${text}: ${stopReason}, ${JSON.stringify(notes)}`);
  };
  await ask('replace "bread" with "cake" in notes.txt');
  if (live.pid !== undefined) process.kill(live.pid, "SIGKILL");
  await closed;
  await ask("explain @notes.txt");
} finally {
  await live.close();
  await recorder.close();
}
for (const { title } of await history.list()) console.log(`kept: ${title}`);
await history.close();
await rm(folder, { recursive: true });

// prints:
// write /notes.txt? yes
// replace "bread" with "cake" in notes.txt: end_turn, "milk\ncake\n"
// (it died, and is resumed)
// explain @notes.txt: end_turn, "milk\ncake\n"
// kept: replace "bread" with "cake" in notes.txt
