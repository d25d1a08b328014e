// Decides whether a tool call is allowed, refused or needs a question, from the mode and remembered answers.

import { isProtected } from "../tools/base/protected-paths.ts";
import type { Access, CommandHolder } from "../tools/base/tool.ts";
import { type AutoApproval, type Mode, modes } from "./modes.ts";

export interface PermissionState {
  readonly mode: Mode;
  readonly autoApprove: AutoApproval;
  readonly grants: Grants;
  /** Whether an answer that outlives its session allows the call. */
  readonly isLasting?: (access: Access) => boolean;
  /** The folders of the workspace. */
  readonly roots?: readonly string[];
  /** Files that MCP servers of the project start or read. */
  readonly serverFiles?: readonly string[];
  /** Who holds what commands do. */
  readonly holder?: CommandHolder;
}

export type ModeVerdict =
  | { readonly type: "allow" }
  /** `reason` is shown to the model and the user. */
  | { readonly type: "refuse"; readonly reason: string }
  | {
      readonly type: "ask";
      readonly reason: string;
      /** The subjects that "always" would remember; empty when it cannot be remembered. */
      readonly subjects: readonly string[];
    };

const allow: ModeVerdict = { type: "allow" };

export function decideByMode(access: Access, state: PermissionState): ModeVerdict {
  const byMode = verdictOfMode(access, state);
  if (byMode.type !== "ask" || byMode.subjects.length === 0) return byMode;
  const { grants } = state;
  const remembered = grants.answerFor(byMode.subjects);
  if (remembered === false) return never(byMode.subjects);
  const changes = access.type === "write" ? subjectsOf({ type: "write", paths: access.paths }) : [];
  // "never change it" also forbids deleting and moving it
  if (grants.answerFor(changes) === false) return never(changes);
  return remembered || state.isLasting?.(access) ? allow : byMode;
}

/** The modes in which the call would run without a question. */
export function modesThatAllow(access: Access, state: PermissionState): readonly Mode[] {
  return modes.flatMap(({ value: mode }) =>
    decideByMode(access, { ...state, mode }).type === "allow" ? [mode] : [],
  );
}

function ask(reason: string, subjects: readonly string[] = []): ModeVerdict {
  return { type: "ask", reason, subjects };
}

function never(subjects: readonly string[]): ModeVerdict {
  return { type: "refuse", reason: `The user has chosen never to allow this: ${subjects.join(", ")}.` };
}

function verdictOfMode(access: Access, state: PermissionState): ModeVerdict {
  const { mode, autoApprove, roots, holder, serverFiles = [] } = state;
  if (access.type === "none") return allow;
  if (mode === "chat") return refusal("chat", "this mode only answers questions");
  switch (access.type) {
    case "read": {
      const secret = access.paths.find((path) => isProtected(path, "read"));
      if (secret !== undefined) return ask(`${secret} may hold secrets`);
      if (access.outside !== undefined) return askOutside(access);
      if (mode !== "ask" || autoApprove !== "off") return allow;
      return ask("automatic approval is off", subjectsOf(access));
    }
    case "write": {
      if (mode === "architect") return refusal(mode, "this mode only plans and does not change files");
      const guarded = access.paths.find((path) => isProtected(path, "write", roots));
      if (guarded !== undefined) return ask(`${guarded} is protected, because other programs run or obey it`);
      const started = access.paths.find((path) => serverFiles.includes(path));
      if (started !== undefined) return ask(`an MCP server that you trust runs ${started}`);
      if (access.losesFolder) return ask("deletes a folder and everything in it");
      if (mode === "code" || autoApprove === "edits") return allow;
      return ask("mode ask asks about every change", subjectsOf(access));
    }
    case "run":
      if (mode === "architect") return refusal(mode, "this mode only plans and does not run commands");
      return mode === "code" && isHeld(access, holder) ? allow : askToRun(access, holder);
    case "host":
      return ask("every new host is asked about", subjectsOf(access));
    case "mcp":
      if (mode === "architect")
        return refusal(mode, "this mode only plans, and this tool may change something");
      return ask("every tool of an MCP server is asked about", subjectsOf(access));
  }
}

function askOutside(access: Extract<Access, { type: "read" }>): ModeVerdict {
  const real = access.paths.at(-1) ?? "";
  const what = access.outside === "tree" ? `${real} and everything in it` : real;
  return ask(`${what}: outside the workspace`, subjectsOf(access));
}

/** A client that decides about commands also decides about those that leave its sandbox. */
function isHeld({ isOutside }: RunAccess, holder: CommandHolder | undefined): boolean {
  return holder?.by === "client" || (holder?.by === "sandbox" && isOutside !== true);
}

function askToRun(access: RunAccess, holder: CommandHolder | undefined): ModeVerdict {
  const { cwd, isOutside } = access;
  if (isOutside && holder?.by !== "nobody")
    return ask(
      `this command leaves the sandbox and runs in ${cwd} with all your rights; if it has already run inside, some effects may happen twice`,
    );
  if (holder !== undefined && holder.by !== "nobody")
    return ask("mode ask asks about every command", subjectsOf(access));
  const why = holder?.by === "nobody" && holder.reason !== undefined ? ` (${holder.reason})` : "";
  return ask(`this command runs in ${cwd} without a sandbox${why}`, subjectsOf(access));
}

type RunAccess = Extract<Access, { type: "run" }>;

function refusal(mode: Mode, why: string): ModeVerdict {
  return {
    type: "refuse",
    reason: `Not allowed in mode ${mode}: ${why}. The user can switch to mode ask or code.`,
  };
}

function subjectsOf(access: Exclude<Access, { type: "none" }>): string[] {
  switch (access.type) {
    case "read":
      return access.paths.map(
        (path) => `read ${path}${access.outside === "tree" ? " and all that is in it" : ""}`,
      );
    case "write":
      return access.paths.map((path) => `${access.verb ?? "write"} ${path}`);
    case "run":
      return [`run ${access.command} (in ${access.cwd})`];
    case "host":
      return [`host ${access.host}`];
    case "mcp":
      // "always" holds for this definition of the tool, "never" for any definition
      return [
        `mcp ${access.server}/${access.tool}`,
        `mcp ${access.server}/${access.tool} (as of ${access.definition})`,
      ];
  }
}

/** The user's "always" and "never" answers for the session. */
export class Grants {
  /** By subject, for example `run npm test`, `write /project/a.ts`, `host example.org`. */
  readonly #answers = new Map<string, boolean>();
  /** Whether answers are remembered here. False while the client has a gate, which remembers them itself. */
  isKept = true;

  remember(subjects: readonly string[], allows: boolean): void {
    if (!this.isKept) return;
    for (const subject of subjects) this.#answers.set(subject, allows);
  }

  /** True when every subject is allowed, false when one is refused, else undefined. */
  answerFor(subjects: readonly string[]): boolean | undefined {
    if (!this.isKept) return undefined;
    const answers = subjects.map((subject) => this.#answers.get(subject));
    if (answers.includes(false)) return false;
    return answers.length > 0 && answers.every((answer) => answer === true) ? true : undefined;
  }

  list(): { readonly subject: string; readonly allows: boolean }[] {
    return Array.from(this.#answers, ([subject, allows]) => ({ subject, allows }));
  }

  clear(): void {
    this.#answers.clear();
  }
}
