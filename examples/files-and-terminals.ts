// Tools that take files and terminals as parameters: they work on the client's where it offers them (version 1),
// and on this machine where it does not (version 2 has neither). The client's files are an editor's buffers.

import { agent, client, type Files, memoryPair, type ProtocolVersion, type Terminals } from "@parley/acp";
import { localTerminals } from "@parley/acp/node";

const cwd = process.cwd();
const todo = `${cwd}/todo.txt`;

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

const own = localTerminals({ cwd });
const worker = agent({
  name: "worker",
  version: "1.0.0",
  async prompt(turn) {
    const { files, terminals = own } = turn.client;
    if (files === undefined) await turn.say("The client has no files. ");
    else await turn.say(`todo.txt has ${await countLines(files, todo)} lines. `);
    await turn.say(`A command says ${await run(terminals, "echo", ["hello"])}`);
  },
});

const buffers = new Map([[todo, "buy bread\nbuy milk"]]);
const editor: Files = {
  canRead: true,
  canWrite: true,
  readText: async (path) => buffers.get(path) ?? "",
  writeText: async (path, content) => {
    buffers.set(path, content);
  },
};

for (const version of [1, 2] satisfies ProtocolVersion[]) {
  const [near, far] = memoryPair();
  worker.connect(far);
  const terminals = localTerminals({ cwd });
  const app = client({ name: "editor", version: "1.0.0", files: editor, terminals, versions: [version] });
  const connected = await app.connect(near);
  const session = await connected.open({ cwd });
  session.onUpdate((update) => {
    if (update.sessionUpdate !== "agent_message_chunk" || update.content.type !== "text") return;
    process.stdout.write(update.content.text);
  });
  console.log(`version ${connected.version}:`);
  await session.prompt("go").outcome;
  await connected.close();
  await terminals.close();
}
await own.close();

// prints:
// version 1:
// todo.txt has 2 lines. A command says hello
// version 2:
// The client has no files. A command says hello
