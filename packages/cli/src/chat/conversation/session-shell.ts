// The commands that the user runs in a session.

import type { SessionUpdate } from "@parley/acp";

export interface ShellPlace {
  /** Where the first command starts. */
  cwd(): string;
  update(update: SessionUpdate): void;
  /** Tells the agent with the next prompt. */
  tell(text: string): void;
  /** One has begun or ended. */
  changed(): void;
}

export class SessionShell {
  readonly #place: ShellPlace;
  readonly #running = new Set<AbortController>();
  /** Where the last one ended. */
  #cwd: string | undefined;

  constructor(place: ShellPlace) {
    this.#place = place;
  }

  get isRunning(): boolean {
    return this.#running.size > 0;
  }

  async run(id: string, command: string): Promise<void> {
    const { cwd, update, tell, changed } = this.#place;
    const stop = new AbortController();
    this.#running.add(stop);
    changed();
    try {
      const { runShell } = await import("./user-shell.ts");
      const ended = await runShell({ id, command, cwd: this.#cwd ?? cwd() }, update, stop.signal);
      this.#cwd = ended.cwd;
      tell(ended.told);
    } finally {
      this.#running.delete(stop);
      changed();
    }
  }

  stop(): void {
    for (const running of this.#running) running.abort();
  }
}
