// Options of a permission gate.

import type { SessionSandboxOptions } from "@parley/sandbox";
import type { AuditLog } from "../audit/audit-log.ts";
import type { RememberedRules } from "../rules/remembered.ts";
import type { Rule } from "../rules/rule.ts";
import type { PermissionQuestion, PermissionReply } from "./permission-question.ts";

/** The person who answers, where there is one. */
export interface PermissionAsker {
  /** Asks a question. If it returns nothing, nothing is allowed. */
  permission?(question: PermissionQuestion): Promise<PermissionReply> | PermissionReply;
}

/** The sandbox that the commands of a gate run in, where one can start. */
export interface GateSandbox {
  /** What commands may do in it. */
  readonly profile: SessionSandboxOptions["profile"];
  /** Told in a line what a person should know: that none can start, or what a command left behind. */
  tell?(text: string): void;
}

/** The text of an editor that is not saved to disk yet. Paths are absolute, with all links resolved. */
export interface UnsavedTexts {
  /** Returns the unsaved text of a file, or undefined when the editor has none. */
  read(path: string): Promise<string | undefined> | string | undefined;
  /** Returns true when the editor has taken the text and will save it, false to have it written to disk. */
  readonly write?: ((path: string, content: string) => Promise<boolean> | boolean) | undefined;
}

export interface GateOptions {
  /** Directories beside those of the session, which the user has declared. Absolute. */
  readonly extraRoots?: readonly string[] | undefined;
  /** The unsaved text of an editor, which agents read and write instead of the files on disk. */
  readonly overlay?: UnsavedTexts | undefined;
  /** Called with the path of each file before the gate writes it, such as to keep what is there. It must not reject. */
  readonly beforeWrite?: ((path: string) => Promise<void>) | undefined;
  /** The environment of commands. Default: ours, without what is Parley's own. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Of files and flags; those of a workspace come from `workspaceRules`. */
  readonly rules?: readonly Rule[] | undefined;
  /** What a workspace says: only what forbids or has asked counts. */
  readonly workspaceRules?: ((root: string) => readonly Rule[]) | undefined;
  /** What the user has answered for a session in earlier processes, by the id of the session. */
  readonly sessionRules?: ((sessionId: string) => readonly Rule[]) | undefined;
  /** Answers that outlive a session. Without it `workspace` and `always` are not offered. */
  readonly remembered?: RememberedRules | undefined;
  /** The log of decisions and effects. Default: none. */
  readonly audit?: AuditLog | undefined;
  /** Asks the person. Default: the `requestPermission` of the client. Without either, everything that would be asked is refused at once. */
  readonly asker?: PermissionAsker | undefined;
  /** Asked before the asker, except about what is asked every time. Undefined where it leaves it open. */
  readonly reviewer?: ((question: PermissionQuestion) => Promise<PermissionReply>) | undefined;
  /** Whether it is the agent of this installation: what it says of why it asks is shown as the reason. Default false. */
  readonly isOwn?: boolean | undefined;
  /** Folders that hold rules, keys and logs of Parley: agents never write there. */
  readonly own?: readonly string[] | undefined;
  /** The sandbox of commands, which are then allowed unless a rule says otherwise. Default: they run in none. */
  readonly sandbox?: GateSandbox | undefined;
  /** How long a question may stay open. Default 10 minutes, then nobody has decided. */
  readonly answerMs?: number | undefined;
  /** The time, for rules that expire. Default: `Date.now`. */
  readonly now?: (() => number) | undefined;
}
