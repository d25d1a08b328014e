// A pass process without a trace: the least that a process in the middle can do in Node.

import { spawn } from "node:child_process";

const [command = "", ...args] = process.argv.slice(2);
const agent = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
process.stdin.pipe(agent.stdin);
agent.stdout.pipe(process.stdout);
