// Answers that outlive their session: for its workspace, or for every folder.

import { detailsKey, extensionIn } from "@parley/acp/extensions";
import type { Meta } from "@parley/acp/model";
import type { Access } from "../tools/base/tool.ts";

/** Exactly what a question was about. */
export type LastingSubject =
  | { readonly operation: "read"; readonly path: string }
  | { readonly operation: "write"; readonly path: string; readonly deletes?: boolean }
  /** A line for a shell, in this directory. */
  | { readonly operation: "exec"; readonly shellLine: string; readonly cwd: string }
  | { readonly operation: "net"; readonly host: string }
  /** `definition` is a hash of the tool's description and schema. */
  | {
      readonly operation: "mcp";
      readonly tool: { readonly server: string; readonly name: string; readonly definition: string };
    };

/** Stores answers that outlive their session. Another program may list and revoke them at any time. */
export interface LastingGrants {
  /** Whether it was allowed in this workspace, the working directory of the session, or everywhere. */
  allows(subject: LastingSubject, workspace: string): boolean;
  /** Throws where it cannot be stored: it is then remembered for the session. */
  remember(subject: LastingSubject, scope: "workspace" | "always", workspace: string): void;
}

/** How far an answer reaches beyond its session; undefined where it does not. */
export function lastingScope(_meta: Meta | undefined): "workspace" | "always" | undefined {
  // the dialect "scoped" says it
  const details = extensionIn(_meta, detailsKey);
  const scope = (details as { readonly scope?: unknown } | null | undefined)?.scope;
  return scope === "workspace" || scope === "always" ? scope : undefined;
}

/** Empty for what has no exact name: a move, or a folder with all that is in it. It is remembered for the session. */
function lastingSubjects(access: Access): readonly LastingSubject[] {
  switch (access.type) {
    case "read":
      return access.outside === "tree" ? [] : access.paths.map((path) => ({ operation: "read", path }));
    case "write": {
      const { verb, paths } = access;
      if (verb === "move") return [];
      return paths.map((path) => ({ operation: "write", path, ...(verb === "delete" && { deletes: true }) }));
    }
    case "run":
      return [{ operation: "exec", shellLine: access.command, cwd: access.cwd }];
    case "host":
      return [{ operation: "net", host: access.host }];
    case "mcp": {
      const { server, tool: name, definition } = access;
      return [{ operation: "mcp", tool: { server, name, definition } }];
    }
    case "none":
      return [];
  }
}

export function isLasting(access: Access, lasting: LastingGrants | undefined, workspace: string): boolean {
  const subjects = lastingSubjects(access);
  return (
    lasting !== undefined && subjects.length > 0 && subjects.every((each) => lasting.allows(each, workspace))
  );
}

/** False where the answer holds for the session alone, or could not be stored. */
export function rememberLasting(
  access: Access,
  lasting: LastingGrants | undefined,
  workspace: string,
  _meta: Meta | undefined,
): boolean {
  const scope = lastingScope(_meta);
  const subjects = lastingSubjects(access);
  if (lasting === undefined || scope === undefined || subjects.length === 0) return false;
  try {
    for (const each of subjects) lasting.remember(each, scope, workspace);
    return true;
  } catch {
    // whoever stores it has said why
    return false;
  }
}
