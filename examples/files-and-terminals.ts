// Tools that take files and terminals as parameters: the client's in version 1 (here an editor with an unsaved buffer),
// this machine's in version 2, which has no client files or terminals.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { agent, client, type Files, type Terminals } from "@parley/acp";
import { localFiles, localTerminals } from "@parley/acp/node";

const cwd = mkdtempSync(join(tmpdir(), "parley-example-"));
const todo = join(cwd, "todo.txt");
const disk = localFiles({ roots: [cwd] });
const processes = localTerminals({ cwd });
await disk.writeText(todo, "buy bread");

async function countLines(files: Files, path: string): Promise<number> {
  return (await files.readText(path)).split("\n").length;
}

async function run(terminals: Terminals, command: string, args: string[]): Promise<string> {
  const terminal = await terminals.create({ command, args });
  try {
    await terminal.waitForExit();
    return (await terminal.output()).output;
  } finally {
    await terminal.release();
  }
}

const worker = agent({
  name: "worker",
  version: "1.0.0",
  async prompt(turn) {
    const { files = disk, terminals = processes } = turn.client;
    await turn.say(
      `${files === disk ? "on disk" : "at the client"}: ${await countLines(files, todo)} lines, `,
    );
    await turn.say(`and a command says ${await run(terminals, "echo", ["hello"])}`);
  },
});

for (const edition of ["v1", "v2"] as const) {
  const app = client({
    name: "editor",
    version: "1.0.0",
    files: { readText: async () => "buy bread\nbuy milk" },
    terminals: processes,
    editions: [edition],
  });
  const connected = await app.connect(worker);
  const session = await connected.newSession({ cwd });
  console.log(`edition ${connected.edition}:`);
  process.stdout.write(await session.prompt("go").text());
  await connected.close();
}
await processes.close();
await disk.close();
rmSync(cwd, { recursive: true });

// prints:
// edition v1:
// at the client: 2 lines, and a command says hello
// edition v2:
// on disk: 1 lines, and a command says hello
