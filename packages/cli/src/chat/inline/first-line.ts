// The first line of a conversation: who works here, with which model, where, and how far it may go.

import { homedir } from "node:os";
import { sep } from "node:path";
import { wrappedWords } from "../../draw/text-lines.ts";
import type { Paint } from "../../terminal/paint.ts";
import { safeLine } from "../../terminal/sanitise.ts";
import type { LiveSession } from "../conversation/conversation.ts";
import { modelOf, nameOf } from "./status-line.ts";

/** Such as "Parley 0.1.0 · Offline · ~/project · mode Ask · sandbox workspace", in more lines where it is too long. */
export function firstLine(session: LiveSession, width: number, paint: Paint): string[] {
  const { agent, view, cwd, sandbox, options } = session;
  const name = nameOf(fullName(agent));
  const facts = [
    modelOf(options),
    homeShortened(cwd),
    view.mode === undefined ? "" : `mode ${nameOf(view.mode.name)}`,
    sandbox,
  ].filter((fact) => fact !== "");
  const [first = "", ...more] = wrappedWords([name, ...facts].join(" · "), width);
  return [
    first.startsWith(name)
      ? `${paint("accent", name)}${paint("dim", first.slice(name.length))}`
      : paint("dim", first),
    ...more.map((line) => paint("dim", line)),
  ];
}

/** As the user calls it, and as it calls itself. */
function fullName({ name, title }: LiveSession["agent"]): string {
  if (title === undefined) return name;
  return title.toLowerCase().startsWith(name.toLowerCase()) ? title : `${name} (${title})`;
}

function homeShortened(path: string): string {
  const home = homedir();
  return safeLine(path === home || path.startsWith(`${home}${sep}`) ? `~${path.slice(home.length)}` : path);
}
