// Options of a permission gate.

import type { AuditLog } from "../audit/audit-log.ts";
import type { RememberedRules } from "../rules/remembered.ts";
import type { Rule } from "../rules/rule.ts";
import type { Subject } from "../subjects/subject.ts";
import type { PermissionQuestion, PermissionReply } from "./question.ts";
import type { ServiceOptions } from "./service-options.ts";

/** The person who answers, where there is one. */
export interface PermissionAsker {
  permission?(question: PermissionQuestion): Promise<PermissionReply> | PermissionReply;
}

export interface GateOptions extends ServiceOptions {
  /** Of files and flags; those of a workspace come from `workspaceRules`. */
  readonly rules?: readonly Rule[] | undefined;
  /** What a workspace says: only what forbids or has asked counts. */
  readonly workspaceRules?: ((root: string) => readonly Rule[]) | undefined;
  /** Answers that outlive a session. Without it `workspace` and `always` are not offered. */
  readonly remembered?: RememberedRules | undefined;
  readonly audit?: AuditLog | undefined;
  /** Without one, everything that would be asked is refused at once. */
  readonly asker?: PermissionAsker | undefined;
  /** The agent's name, for the audit log. */
  readonly agent?: string | undefined;
  /** Folders that hold rules, keys and logs of Parley: agents never write there. */
  readonly own?: readonly string[] | undefined;
  /** Whether a command would run in a sandbox, where it is allowed unless a rule says otherwise. Default: none would. */
  readonly isSandboxed?: ((subject: Subject) => boolean) | undefined;
  /** How long a question may stay open. Default 10 minutes, then nobody has decided. */
  readonly answerMs?: number | undefined;
  readonly now?: (() => number) | undefined;
}
