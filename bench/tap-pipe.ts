// A process that passes bytes on without a trace, as a lower bound for `parley tap`.

import { spawn } from "node:child_process";

const [command = "", ...args] = process.argv.slice(2);
const agent = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
process.stdin.pipe(agent.stdin);
agent.stdout.pipe(process.stdout);
