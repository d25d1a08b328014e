// `parley login`: prints the commands that log in.

import { type Command, type Invocation, printAnswer } from "../command/command.ts";

export function showLogins({ json }: Invocation, tables: readonly Command[]): number {
  const logins = tables
    .filter(({ name, internal }) => internal !== true && name.endsWith(" login"))
    .map(({ name, summary, examples = [] }) => ({ name, summary, example: examples[0] ?? `parley ${name}` }));
  const width = Math.max(...logins.map(({ example }) => example.length));
  const lines = logins.map(({ example, summary }) => `${example.padEnd(width)}  ${summary}`);
  return printAnswer(lines.join("\n"), { commands: logins }, json);
}
