// The commands that the user runs in a session with `!`.

import { randomUUID } from "node:crypto";
import type { SessionUpdate } from "@parley/acp";
import type { AttachedText } from "@parley/client";

export class SessionShells {
  readonly #update: (update: SessionUpdate) => void;
  readonly #running = new Set<AbortController>();
  #cwd: string | undefined;

  constructor(update: (update: SessionUpdate) => void) {
    this.#update = update;
  }

  get isRunning(): boolean {
    return this.#running.size > 0;
  }

  /** Ends all of them. */
  stop(): void {
    for (const each of this.#running) each.abort();
  }

  /** Starts where the last one ended. Returns what the agent is told. */
  async run(command: string, cwd: string): Promise<AttachedText> {
    const shell = new AbortController();
    this.#running.add(shell);
    // an agent that knew the id could change what the command printed
    const id = `parley-shell-${randomUUID()}`;
    try {
      const { runShell } = await import("./user-shell.ts");
      const ended = await runShell({ id, command, cwd: this.#cwd ?? cwd }, this.#update, shell.signal);
      this.#cwd = ended.cwd;
      return { name: `the output of ${command}`, text: ended.told };
    } finally {
      this.#running.delete(shell);
    }
  }
}
