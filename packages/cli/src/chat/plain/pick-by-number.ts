// Lists of the plain face: something is chosen by its number.

import { safeLine } from "../../terminal/sanitise.ts";
import type { LineInput } from "./typed-lines.ts";

const mostShown = 20;

export interface Choice<Value> {
  readonly label: string;
  readonly value: Value;
}

export interface PickInput {
  readonly lines: LineInput;
  say(text: string): void;
}

/** Undefined without a choice. */
export async function pickByNumber<Value>(
  title: string,
  choices: readonly Choice<Value>[],
  { lines, say }: PickInput,
): Promise<Value | undefined> {
  if (choices.length === 0) {
    say(`${title}: none`);
    return undefined;
  }
  const shown = choices.slice(0, mostShown);
  const more = choices.length > shown.length ? [`and ${choices.length - shown.length} more`] : [];
  say([`${title}:`, ...shown.map(({ label }, at) => `${at + 1}. ${label}`), ...more].join("\n"));
  const answer = (await lines.ask(`Number, 1 to ${shown.length}, or Enter for none: `))?.trim();
  if (answer === undefined || answer === "") return undefined;
  const choice = /^\d+$/.test(answer) ? shown[Number(answer) - 1] : undefined;
  if (choice === undefined) say(`${safeLine(answer)} is not one of the numbers.`);
  return choice?.value;
}
