// A program: a client that logs in to an agent in its own terminal, opens a session and prints one line of JSON.
// Its arguments are the agent's command.

import { spawn } from "node:child_process";
import { connectAgent } from "@parley/client";

const [command = "", ...args] = process.argv.slice(2);
const pids = new Set<unknown>();
const agent = await connectAgent([command, ...args], {
  name: "terminal-login-client",
  version: "1",
  env: { TOKEN_FILE: process.env["TOKEN_FILE"] ?? "" },
  asker: {
    chooseLogin: async (methods) => methods[0]?.id,
    terminalLogin: (login) =>
      new Promise((resolve) => {
        const { env, cwd } = login;
        const child = spawn(login.command, login.args, { cwd, env, stdio: "inherit" });
        child.once("exit", (code) => resolve(code ?? 1));
      }),
  },
});
pids.add(agent.pid);
try {
  const { sessionId } = await agent.newSession({ cwd: "/" });
  pids.add(agent.pid);
  print({ sessionId, starts: pids.size });
} catch (error) {
  const { name, kind, message } = error as Error & { kind?: string };
  pids.add(agent.pid);
  print({ name, kind, message, starts: pids.size });
}
await agent.close();

function print(result: object): void {
  process.stdout.write(`${JSON.stringify(result)}\n`);
}
