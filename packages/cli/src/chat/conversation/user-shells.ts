// The commands that the user runs in a session with `!`.

import { randomUUID } from "node:crypto";
import type { ConversationOptions } from "@parley/client/conversation";

/** Each command starts where the last one ended. */
export function userShell(): NonNullable<ConversationOptions["runShell"]> {
  let last: string | undefined;
  return async (command, { cwd, signal, show }) => {
    const { runShell } = await import("./user-shell.ts");
    // an agent that knew the id could change what the command printed
    const id = `parley-shell-${randomUUID()}`;
    const ended = await runShell({ id, command, cwd: last ?? cwd }, show, signal);
    last = ended.cwd;
    return { name: `the output of ${command}`, text: ended.told };
  };
}
