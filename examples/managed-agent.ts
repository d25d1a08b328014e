// A client with permission rules and a history, whose agent is restarted after a crash.
// It starts our own agent, offline; connectAgent("claude", …) starts Claude Code.

import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectAgent, promptContent } from "@parley/client";
import { openHistory } from "@parley/client/history";
import { permissionPolicy } from "@parley/client/policy";

const folder = await mkdtemp(join(tmpdir(), "parley-example-"));
await writeFile(join(folder, "notes.txt"), "milk\nbread\n");

const history = openHistory({ path: join(folder, "history.db") });
const policy = permissionPolicy({
  rules: "allow read",
  ask({ summary, choices }) {
    console.log(`${summary.replace(folder, "")}? yes`);
    return choices.find(({ effect }) => effect === "allow")?.id;
  },
});
const agent = await connectAgent(["packages/cli/bin/parley", "agent"], {
  name: "example-client",
  version: "1.0.0",
  env: { PARLEY_HOME: join(folder, "home"), PARLEY_MODEL: "offline" },
  policy,
  history,
  onEvent: (event) =>
    event.kind === "continued" && console.log(`(it crashed, and the session is ${event.how})`),
});
const session = await agent.newSession({ cwd: folder });
const ask = async (text: string) => {
  const { content } = await promptContent({ text }, { cwd: folder, accepts: agent.capabilities });
  const { stopReason } = await session.prompt(content);
  const notes = await readFile(join(folder, "notes.txt"), "utf8");
  console.log(`${text}: ${stopReason}, ${JSON.stringify(notes)}`);
};
await ask('replace "bread" with "cake" in notes.txt');
if (agent.pid !== undefined) process.kill(agent.pid, "SIGKILL");
await ask("read @notes.txt");
await agent.close();

for (const { title } of await history.list()) console.log(`kept: ${title}`);
await history.close();
await rm(folder, { recursive: true });

// prints:
// write /notes.txt? yes
// replace "bread" with "cake" in notes.txt: end_turn, "milk\ncake\n"
// (it crashed, and the session is resumed)
// read @notes.txt: end_turn, "milk\ncake\n"
// kept: replace "bread" with "cake" in notes.txt
