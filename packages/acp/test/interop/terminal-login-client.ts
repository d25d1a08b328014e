// A program: a client that logs in to an agent in its own terminal, opens a session and prints the result as JSON. Its
// arguments are the agent's command.

import { client } from "@parley/acp";
import { agentProgram } from "@parley/acp/node";

const [command = "", ...args] = process.argv.slice(2);
const program = agentProgram(command, args);
const pids: unknown[] = [];
const start = () => {
  const transport = program.start();
  pids.push(program.process?.pid);
  return transport;
};
const agent = await client({
  name: "terminal-login-client",
  version: "1",
  authenticate: (methods) => methods[0]?.methodId,
  terminalLogin: program.terminalLogin,
  restart: start,
}).connect(start());
try {
  const { sessionId } = await agent.open({ cwd: "/" });
  print({ sessionId, starts: new Set(pids).size });
} catch (error) {
  const { name, kind, message, exitCode } = error as Error & { kind?: string; exitCode?: number };
  print({ name, kind, message, exitCode, starts: pids.length });
}
await agent.close();

function print(result: object): void {
  process.stdout.write(`${JSON.stringify(result)}\n`);
}
