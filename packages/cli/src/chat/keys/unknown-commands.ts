// A typed command that nobody knows is not sent to the model: a slip of the finger would cost a turn.

import { nearestWord } from "@parley/acp/internal";

export class UnknownCommands {
  /** What was refused last. */
  #refused: string | undefined;

  /** Why the text is not sent. The same text, given again, is sent: the user means it. */
  refusal(text: string, known: readonly string[]): string | undefined {
    // a path has a further slash
    const [, name] = /^\s*\/([^\s/]+)(?=\s|$)/.exec(text) ?? [];
    const isRepeated = text.trim() === this.#refused;
    this.#refused = undefined;
    if (name === undefined || known.includes(name) || isRepeated) return undefined;
    this.#refused = text.trim();
    const near = known.find((each) => each.startsWith(name)) ?? nearestWord(name, known);
    const meant = near === undefined ? "/help lists them." : `did you mean /${near}?`;
    return `there is no command /${name}: ${meant} If you send it again as it is, the agent gets it.`;
  }
}
