// Stores the answers of the coding agent's users that outlive their session, where `parley permissions` lists and revokes them.

import { realpathSync } from "node:fs";
import type { LastingGrants, LastingSubject } from "@parley/agent";
import {
  directoryIdentity,
  type ExactTarget,
  isExactly,
  type RememberedRule,
  rememberedRules,
} from "@parley/client/policy";
import { permissionsPath } from "../settings/data-folder.ts";
import { escapedLine } from "../terminal/sanitise.ts";

export function lastingGrants(path = permissionsPath()): LastingGrants {
  const remembered = rememberedRules(path);
  const failed = (error: unknown): void =>
    console.error(`parley agent: ${escapedLine(error instanceof Error ? error.message : String(error))}`);
  return {
    allows(subject, workspace) {
      try {
        const about = remembered.list().filter((rule) => isAbout(rule, subject, workspace));
        // a later no counts as much as any
        return about.length > 0 && about.every(({ effect }) => effect === "allow");
      } catch (error) {
        failed(error);
        return false;
      }
    },
    remember(subject, scope, workspace) {
      try {
        const folder = realpathSync(workspace);
        remembered.add({
          effect: "allow",
          operation: subject.operation,
          exact: scope === "always" ? inAnyFolder(subject, folder) : subject,
          scope,
          ...(scope === "workspace" && { workspace: { path: folder, identity: directoryIdentity(folder) } }),
        });
      } catch (error) {
        failed(error);
        throw error;
      }
    },
  };
}

/** Exactly this, here or everywhere. Patterns are rules for what the client does. */
function isAbout({ exact, workspace }: RememberedRule, subject: LastingSubject, given: string): boolean {
  if (exact === undefined) return false;
  const folder = realpathSync(given);
  const wanted = exact.cwd === undefined ? inAnyFolder(subject, folder) : subject;
  if (!isExactly(exact, { origin: "op", ...wanted })) return false;
  return workspace === undefined || workspace.identity === directoryIdentity(folder);
}

/** A command in the session's own folder is allowed in the own folder of every session. */
function inAnyFolder(subject: LastingSubject, folder: string): ExactTarget {
  if (subject.operation !== "exec" || subject.cwd !== folder) return subject;
  const { cwd: _, ...command } = subject;
  return command;
}
