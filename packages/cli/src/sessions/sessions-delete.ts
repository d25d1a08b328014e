// `parley sessions delete`.

import type { Invocation } from "../command.ts";
import { usageError } from "../command-error.ts";
import { printAnswer } from "../print-answer.ts";
import { sessionNamed, withHistory } from "./opened-history.ts";

export async function run({ positionals, json }: Invocation): Promise<number> {
  if (positionals.length === 0) {
    throw usageError("delete which sessions?", "give their ids; parley sessions list has them");
  }
  const deleted = await withHistory(async (history) => {
    // all of them are looked up before the first is deleted
    const sessions = [];
    for (const word of positionals) sessions.push(await sessionNamed(history, word));
    for (const { id } of sessions) await history.delete(id);
    return sessions.map(({ id }) => id);
  });
  const text = `Deleted ${deleted.join(", ")} from the history. What the agent itself keeps is its own.`;
  printAnswer(text, { deleted }, json);
  return 0;
}
