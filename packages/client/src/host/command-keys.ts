// Carries out a command once, however often it is sent.

import { RequestError } from "@parley/acp";
import type { CommandBase } from "../conversation/session-link.ts";

/** Commands whose link was cut are sent again soon. */
const keptCommands = 1_000;

interface Done {
  readonly body: string;
  readonly outcome: Promise<unknown>;
}

export class CommandKeys {
  readonly #done = new Map<string, Done>();

  /** The outcome of the first command with this key. Rejects with "conflict" if that had another content. */
  async once<Outcome>(command: CommandBase, carryOut: () => Promise<Outcome>): Promise<Outcome> {
    const body = JSON.stringify(command);
    const before = this.#done.get(command.key);
    if (before === undefined) {
      const outcome = carryOut();
      this.#done.set(command.key, { body, outcome });
      const [oldest] = this.#done.keys();
      if (this.#done.size > keptCommands && oldest !== undefined) this.#done.delete(oldest);
      return outcome;
    }
    if (before.body !== body)
      throw new RequestError(
        "conflict",
        `the key ${JSON.stringify(command.key)} was used for another command: send each command with a key of its own`,
        { data: { reason: "key_reused" } },
      );
    return before.outcome as Promise<Outcome>; // the same command
  }
}
