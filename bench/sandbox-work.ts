// Starts `true` many times: bare, in our sandbox, or in that of sandbox-runtime. Prints the mean time of one start.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { openSandbox } from "@parley/sandbox";
import type { Entrant } from "./benchmark.ts";

/** What the program is given as JSON. */
export interface SandboxTask {
  readonly entrant: Entrant;
  readonly root: string;
  readonly count: number;
}

/** What it prints as JSON. */
export interface SandboxSample {
  /** The time until commands can be started. */
  readonly openMs: number;
  readonly commandMs: number;
}

interface Opened {
  start(): Promise<void>;
  close(): Promise<void>;
}

async function ended(command: string, args: readonly string[], env = process.env): Promise<void> {
  const child = spawn(command, args, { cwd: "/", env, stdio: "ignore", detached: true });
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${code}`);
}

const openers: Readonly<Record<Entrant, (root: string) => Promise<Opened>>> = {
  floor: async () => ({ start: () => ended("true", []), close: async () => undefined }),
  async ours(root) {
    const sandbox = await openSandbox({ roots: [root] });
    return {
      async start() {
        const run = sandbox.wrap({ command: "true", cwd: root, env: process.env, ownSession: true });
        await ended(run.command, run.args, { ...run.env });
        run.finished();
      },
      close: () => sandbox.close(),
    };
  },
  async sdk(root) {
    const { SandboxManager } = await import("@anthropic-ai/sandbox-runtime");
    await SandboxManager.initialize({
      network: { allowedDomains: [], deniedDomains: [] },
      filesystem: { denyRead: ["~/.ssh"], allowWrite: [root], denyWrite: [] },
    });
    return {
      async start() {
        await ended("/bin/sh", ["-c", await SandboxManager.wrapWithSandbox("true")]);
        SandboxManager.cleanupAfterCommand();
      },
      close: () => SandboxManager.reset(),
    };
  },
};

const { entrant, root, count }: SandboxTask = JSON.parse(process.argv[2] ?? "");
const opening = performance.now();
const opened = await openers[entrant](root);
const openMs = performance.now() - opening;
// the first start reads files that later ones find in memory
await opened.start();
const starting = performance.now();
for (let i = 0; i < count; i += 1) await opened.start();
const commandMs = (performance.now() - starting) / count;
await opened.close();
process.stdout.write(JSON.stringify({ openMs, commandMs } satisfies SandboxSample));
