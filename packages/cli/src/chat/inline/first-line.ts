// The first line of a conversation: who works here, with which model, where, and how far it may go.

import { homedir } from "node:os";
import { sep } from "node:path";
import type { Conversation } from "@parley/client/conversation";
import { brokenLines, widthOf } from "../../draw/text-lines.ts";
import type { Paint } from "../../terminal/paint.ts";
import { safeLine } from "../../terminal/sanitise.ts";
import { modelOf, nameOf } from "./status-line.ts";

const separator = " · ";
/** Of the lines after the first. */
const indent = "  ";

/** Such as "Parley 0.1.0 · Offline · ~/project · mode Ask · sandbox workspace", in more lines where it is too long. */
export function firstLine(session: Conversation, width: number, paint: Paint): string[] {
  const { agent, view, cwd, sandbox, options } = session;
  const name = nameOf(fullName(agent));
  const facts = [
    modelOf(options),
    homeShortened(cwd),
    view.mode === undefined ? "" : `mode ${nameOf(view.mode.name)}`,
    sandbox,
  ].filter((fact) => fact !== "");
  const lines = factLines([name, ...facts], width);
  return lines.map((line) =>
    line.startsWith(name)
      ? `${paint("accent", name)}${paint("dim", line.slice(name.length))}`
      : paint("dim", line),
  );
}

/** A fact is in two lines only if it is wider than a line. */
function factLines(facts: readonly string[], width: number): string[] {
  const lines: string[] = [];
  for (const fact of facts) {
    const last = lines.at(-1);
    const longer = `${last}${separator}${fact}`;
    if (last !== undefined && widthOf(longer) <= width) {
      lines[lines.length - 1] = longer;
      continue;
    }
    const begin = last === undefined ? "" : indent;
    const [first = "", ...rest] = brokenLines(`${begin}${fact}`, width);
    lines.push(first, ...rest.map((part) => part.trimStart()));
  }
  return lines;
}

/** As the user calls it, and as it calls itself. */
function fullName({ name, title }: Conversation["agent"]): string {
  if (title === undefined) return name;
  return title.toLowerCase().startsWith(name.toLowerCase()) ? title : `${name} (${title})`;
}

function homeShortened(path: string): string {
  const home = homedir();
  return safeLine(path === home || path.startsWith(`${home}${sep}`) ? `~${path.slice(home.length)}` : path);
}
